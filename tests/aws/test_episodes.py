"""What is left of an episode when its alarms are gone: a line in the log, and a row of `burstwatch episodes`."""

import json

import pytest

from burstwatch.aws.memory import Memory
from burstwatch.messages.episode import Episode, lowest_and_empty
from burstwatch.messages.timeline import Timeline, read_timeline
from tests.aws.test_cli_account import burstwatch
from tests.aws.test_lambda import Context, load
from tests.aws.test_sweep import Disk, run_sweep
from tests.conftest import Cloud

LOG = "burstwatch-logs"


@pytest.fixture
def logged(
    cloud: Cloud, aws_env: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[Cloud, Disk]:
    """A volume that was empty for some minutes, swept by the function, whose log is kept."""
    aws_env.setenv("BURSTWATCH_DEPLOYMENT", "test")
    aws_env.setenv("BURSTWATCH_PAGE_TOPIC_ARN", "arn:aws:sns:us-east-1:123456789012:page")
    function = load("lambdas.sweep")
    aws_env.setattr(function.time, "time", lambda: cloud.clock.now)
    disk = Disk(cloud, percent=60)
    lines: list[tuple[float, str]] = []
    for minute in range(170):
        disk.minute(iops=3_000 if minute < 25 else 0)
        if minute < 30 or minute > 160 or minute % 10 == 0:
            function.handler({}, Context())
            cloud.aws.evaluate_alarms()
            lines += [(cloud.clock.now, line) for line in capsys.readouterr().out.splitlines()]
    closed = [line for line in lines if "episode closed" in line[1]]
    cloud.aws.logs[LOG] = [*lines, *closed]  # two sweeps that overlap both say it
    cloud.aws.outputs["Burstwatch-test"] = {"LogGroupName": LOG}
    return cloud, disk


def test_an_episode_is_listed_once_with_its_lead_and_its_time_at_zero(
    logged: tuple[Cloud, Disk],
) -> None:
    cloud, disk = logged
    code, out, err = burstwatch(
        cloud, "episodes", "--deployment", "test", "--since", "1d", "--json"
    )
    assert (code, err) == (0, "")
    (episode,) = map(json.loads, out.splitlines())
    assert episode["resource_id"] == disk.id
    assert episode["severity"] == "critical"
    assert episode["lead_s"] >= 900
    assert episode["lowest_ratio"] == 0
    assert 240 <= episode["at_zero_s"] <= 480
    assert episode["fix"].startswith("change to gp3 with 3,000 IOPS")
    assert episode["closed_s"] - episode["opened_s"] == episode["lasted_s"]
    _, out, _ = burstwatch(cloud, "episodes", "--deployment", "test")
    heading, row, count = out.splitlines()
    assert heading.split()[:3] == ["began", "resource", "name"]
    assert row.split()[1:4] == [disk.id, "db", "critical"]
    assert (
        f"https://console.aws.amazon.com/ec2/home?region=us-east-1#VolumeDetails:volumeId={disk.id}"
        in row
    )
    assert count == "1 episode in the last 7d"
    _, out, _ = burstwatch(cloud, "episodes", "--deployment", "test", "--annotations")
    note = json.loads(out)
    assert note["timeEnd"] - note["time"] == 1000 * episode["lasted_s"]
    assert note["tags"] == ["burstwatch", "critical", "ebs_volume", disk.id]
    assert note["text"].startswith("db: critical, ")


def test_an_episode_that_is_not_over_is_listed_as_open(cloud: Cloud) -> None:
    cloud.aws.logs[LOG] = [
        (cloud.clock.now, "no JSON: episode closed"),
        (cloud.clock.now, '{"episode closed": 1}'),
    ]
    cloud.aws.outputs["Burstwatch"] = {"LogGroupName": LOG}
    assert burstwatch(cloud, "episodes") == (0, "no episodes in the last 7d\n", "")
    disk = Disk(cloud, percent=40)
    for _ in range(5):
        disk.minute(iops=3_000)
    run_sweep(cloud, Memory())
    _, out, _ = burstwatch(cloud, "episodes")
    assert "still open" in out.splitlines()[1]
    _, out, _ = burstwatch(cloud, "episodes", "--json")
    assert json.loads(out)["closed_s"] is None


def test_an_episode_that_never_ran_dry_has_its_lowest_level_and_no_lead(cloud: Cloud) -> None:
    disk, memory = Disk(cloud, percent=40), Memory()
    closed: list[Episode] = []
    for minute in range(140):
        disk.minute(iops=3_000 if minute < 5 else 0)
        if minute < 8 or minute > 90:
            swept = run_sweep(cloud, memory)
            closed += swept.closed
            cloud.aws.evaluate_alarms()
    (episode,) = closed
    assert episode.lowest_ratio == pytest.approx(0.25, abs=0.02)
    assert episode.at_zero_s == 0
    assert episode.lead_s is None


@pytest.mark.parametrize("since", ["", "7", "31d", "0h", "1w"])
def test_a_time_that_is_not_understood_is_refused(cloud: Cloud, since: str) -> None:
    code, _, err = burstwatch(cloud, "episodes", "--since", since)
    assert code == 2
    assert f"since is {since!r}, allowed are hours or days" in err


def test_a_log_that_is_not_there_is_an_error_and_not_an_empty_list(cloud: Cloud) -> None:
    cloud.aws.outputs["Burstwatch"] = {"LogGroupName": LOG}
    code, out, err = burstwatch(cloud, "episodes")
    assert (code, out) == (2, "")
    assert f"log {LOG}: FilterLogEvents: ResourceNotFoundException" in err


@pytest.mark.parametrize(
    ("levels", "found"),
    [
        ([], (None, None)),
        ([(0.0, 0.5), (60.0, 0.4)], (0.4, 0.0)),
        ([(0.0, 0.5), (60.0, 0.0), (120.0, 0.0), (180.0, 0.1)], (0.0, 120.0)),
        ([(0.0, 0.0), (300.0, 0.2)], (0.0, 300.0)),
        ([(0.0, 0.0), (3_600.0, 0.2)], (0.0, 300.0)),
        ([(0.0, 0.0)], (0.0, 60.0)),
    ],
)
def test_an_empty_bucket_is_so_until_the_next_datapoint(
    levels: list[tuple[float, float]], found: tuple[float | None, float | None]
) -> None:
    assert lowest_and_empty(levels) == found


def test_the_times_of_an_episode_are_read_back_from_the_words_of_its_alarm() -> None:
    times = Timeline(opened_s=1e9, paged_s=1e9 + 60, empty_s=1e9 + 120, over_s=1e9 + 180)
    text = "\n".join(["db: recovered", *times.lines(), "Runbook: https://x"])
    assert read_timeline(text, made_at=0.0) == times
    assert read_timeline("Opened: today", made_at=7.0) == Timeline(opened_s=7.0)
