"""A sweep follows the tags that owners set."""

import json
import sys
from dataclasses import replace

import pytest

from burstwatch.aws.look.memory import Memory
from burstwatch.aws.sweep.fleet_metrics import fleet_metrics, other_counts
from tests.aws.commands import burstwatch
from tests.aws.doctored import LOG, deploy
from tests.aws.invoking import Context, load
from tests.aws.sweeping import CONFIG, EVERY_KIND, Disk, alarms, run_sweep
from tests.conftest import Cloud

pytestmark = pytest.mark.slow


def tag(cloud: Cloud, disk: Disk, key: str, value: str) -> None:
    volume = cloud.aws.regions["us-east-1"].volumes[disk.id]
    volume["Tags"] = [*volume["Tags"], {"Key": key, "Value": value}]


def drain(disk: Disk, minutes: int = 5) -> Disk:
    for _ in range(minutes):
        disk.minute(iops=3_000)
    return disk


def test_a_volume_that_asks_not_to_be_watched_is_counted_and_costs_nothing(cloud: Cloud) -> None:
    disk = drain(Disk(cloud, percent=40))
    tag(cloud, disk, "burstwatch:watch", "no")
    swept = run_sweep(cloud)
    assert disk.id not in swept.snapshot.assessments
    assert other_counts(swept.snapshot)["excluded"] == 1
    assert swept.snapshot.metrics_requested == 0
    assert alarms(cloud) == {}


def test_a_scan_says_how_many_were_left_out(cloud: Cloud) -> None:
    tag(cloud, Disk(cloud, percent=40), "burstwatch:watch", "no")
    _, out, _ = burstwatch(cloud, "scan")
    assert out.splitlines()[-1] == (
        "1 resource, 0 unknown, 1 without burst credits (--all shows them), 1 left out by tag; 0 metrics requested"
    )


def test_the_alarm_of_a_volume_that_is_excluded_ends_cleanly(cloud: Cloud) -> None:
    disk, schedule = drain(Disk(cloud, percent=40)), Memory()
    run_sweep(cloud, schedule)
    cloud.aws.evaluate_alarms()
    tag(cloud, disk, "burstwatch:watch", "no")
    for _ in range(4):
        cloud.clock.now += 60
        run_sweep(cloud, schedule)
        cloud.aws.evaluate_alarms()
    assert [change[2] for change in cloud.aws.notifications] == ["ALARM", "OK"]
    assert alarms(cloud) == {}


def test_a_longer_lead_of_its_own_pages_sooner(cloud: Cloud) -> None:
    patient, schedule = Disk(cloud, percent=90), Memory()
    anxious = Disk(cloud, percent=90)
    tag(cloud, anxious, "burstwatch:lead_s", "1500")
    paged: dict[str, float] = {}
    for _ in range(25):
        now = cloud.clock.now
        patient.minute(iops=3_000)
        cloud.clock.now = now
        anxious.minute(iops=3_000)
        for resource_id, severity in run_sweep(cloud, schedule).created:
            if severity == "critical":
                paged[resource_id] = cloud.clock.now
    assert paged[patient.id] - paged[anxious.id] >= 240


def test_a_maintenance_window_makes_no_new_alarm_and_after_it_what_is_still_wrong_is_said(
    cloud: Cloud,
) -> None:
    # The test's clock stands at 14:14 UTC of a Monday.
    disk, schedule = Disk(cloud, percent=40), Memory()
    tag(cloud, disk, "burstwatch:maintenance", "Mon 14:00-14:22")
    for minute in range(12):
        disk.minute(iops=3_000)
        swept = run_sweep(cloud, schedule)
        resource, assessment = swept.snapshot.assessments[disk.id]
        if minute == 5:
            assert assessment.verdict == "critical"
            assert "in maintenance until 14:22Z" in " ".join(resource.words.caveats)
            assert other_counts(swept.snapshot)["in_maintenance"] == 1
            assert fleet_metrics(swept)["ResourcesCritical"] == 0
            assert alarms(cloud) == {}
    assert [name.partition("/")[0] for name in alarms(cloud)] == ["burstwatch.critical"]


def test_what_was_said_before_the_window_is_still_counted_in_it(cloud: Cloud) -> None:
    drain(Disk(cloud, percent=40))
    run_sweep(cloud)
    drain(Disk(cloud, percent=40))
    swept = run_sweep(cloud, config=replace(CONFIG, maintenance="00:00-00:00"))
    verdicts = [assessment.verdict for _, assessment in swept.snapshot.assessments.values()]
    assert verdicts.count("critical") == 2
    assert fleet_metrics(swept)["ResourcesCritical"] == 1
    cloud.aws.denied = {"DescribeAlarms"}  # what was said is not known: it is not taken back
    swept = run_sweep(cloud, config=replace(CONFIG, maintenance="00:00-00:00"))
    assert fleet_metrics(swept)["ResourcesCritical"] == 2


def test_a_refused_item_that_asks_not_to_be_watched_is_left_out(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("x99.huge")
    cloud.aws.regions["us-east-1"].instances[instance]["Tags"] = [
        {"Key": "burstwatch:watch", "Value": "no"}
    ]
    swept = run_sweep(cloud, config=EVERY_KIND)
    assert swept.problems == ()
    assert swept.snapshot.assessments == {}
    assert other_counts(swept.snapshot)["excluded"] == 1


def test_a_maintenance_window_takes_no_alarm_away(cloud: Cloud) -> None:
    drain(Disk(cloud, percent=40))
    run_sweep(cloud)
    cloud.aws.evaluate_alarms()
    config = replace(CONFIG, maintenance="00:00-00:00")
    for _ in range(4):
        cloud.clock.now += 60
        run_sweep(cloud, config=config)
        cloud.aws.evaluate_alarms()
    assert list(alarms(cloud).values()) == ["ALARM"]


def test_a_tag_that_is_not_understood_is_a_problem_and_the_volume_is_watched(cloud: Cloud) -> None:
    disk = drain(Disk(cloud, percent=40))
    tag(cloud, disk, "burstwatch:lead_s", "soon")
    swept = run_sweep(cloud)
    (problem,) = swept.problems
    assert problem.part == f"tag burstwatch:lead_s of {disk.id}"
    assert "'soon'; allowed: a number of seconds" in problem.error
    assert len(alarms(cloud)) == 1


def test_a_snooze_ends_by_itself_and_the_alarm_that_was_there_stays(cloud: Cloud) -> None:
    disk, memory = drain(Disk(cloud, percent=40)), Memory()
    run_sweep(cloud, memory)
    cloud.aws.evaluate_alarms()
    other = drain(Disk(cloud, percent=40))
    code, out, _ = burstwatch(cloud, "snooze", other.id, "15m", "--reason", "being replaced")
    assert (code, out.split(".")[0]) == (0, f"db {other.id} is snoozed until 14:39Z")
    memory = Memory()
    swept = run_sweep(cloud, memory)
    assert [name.split("/")[-2] for name in alarms(cloud)] == [disk.id]
    (resource, _) = swept.snapshot.assessments[other.id]
    note = "snoozed until 14:39Z, no new alarm is made: being replaced"
    assert note in resource.words.caveats
    _, table, _ = burstwatch(cloud, "scan")
    assert f"{other.id} {note}" in table.splitlines()
    assert "critical, silent" in table
    _, story, _ = burstwatch(cloud, "explain", other.id)
    assert "no new alarm is made: being replaced" in story
    drain(other, minutes=16)
    run_sweep(cloud, memory)
    assert {name.split("/")[-2] for name in alarms(cloud)} == {disk.id, other.id}


def test_who_is_silenced_for_long_is_a_line_of_the_digest_and_a_row_of_the_doctor(
    cloud: Cloud, aws_env: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    deploy(cloud)
    aws_env.setenv("BURSTWATCH_DEPLOYMENT", "test")
    function = load("lambdas.sweep")
    aws_env.delenv("BURSTWATCH_DEPLOYMENT")  # the command's own is that of the stack
    aws_env.setattr(function.time, "time", lambda: cloud.clock.now)
    aws_env.setattr(function.logger.registered_handler, "stream", sys.stdout)
    unwatched, endless, short = (Disk(cloud, percent=90) for _ in range(3))
    tag(cloud, unwatched, "burstwatch:watch", "no")
    tag(cloud, endless, "burstwatch:snooze", "9999-12-31T23:59Z someday")
    tag(cloud, short, "burstwatch:snooze", "2026-09-30T00:00Z a disk is replaced")

    def sweep_for(days: int) -> None:
        for _ in range(days):
            for _ in range(3):
                cloud.clock.now += 28_800
                function.handler({}, Context())
                cloud.aws.logs[LOG] += [
                    (cloud.clock.now, line) for line in capsys.readouterr().out.splitlines()
                ]

    def told() -> tuple[list[str], dict[str, str]]:
        _, out, _ = burstwatch(cloud, "episodes", "--digest")
        lines = [line for line in out.splitlines() if line.startswith("Silenced")]
        _, out, _ = burstwatch(cloud, "doctor", "--json")
        rows = {row["check"]: row["detail"] for row in map(json.loads, out.splitlines())}
        return lines, rows

    row = "resources silenced by a tag"
    sweep_for(1)
    lines, rows = told()
    assert lines == [f"Silenced by a tag: {rows[row]}"]
    assert rows[row].endswith(f": db ({endless.id}) until 31 Dec 9999 23:59Z")
    sweep_for(8)
    lines, rows = told()
    assert f"db ({unwatched.id}) without an end; db ({endless.id}) until 31 Dec 9999" in rows[row]
    assert short.id not in rows[row]
    for disk in (unwatched, endless):
        cloud.aws.regions["us-east-1"].volumes[disk.id]["Tags"].pop()
    sweep_for(2)
    lines, rows = told()
    assert (lines, rows[row]) == ([], "none for more than a week")
    said = sum("silenced by tag" in line for _, line in cloud.aws.logs[LOG])
    assert said in {11, 12}, "once a day"


def test_a_list_without_what_could_not_be_listed_is_not_the_list_of_the_day(cloud: Cloud) -> None:
    tag(cloud, Disk(cloud, percent=90), "burstwatch:watch", "no")
    memory = Memory()
    firsts = []
    for denied in ({"DescribeVolumes"}, set(), set()):
        cloud.aws.denied = denied
        swept = run_sweep(cloud, memory)
        firsts.append((swept.is_first_of_day, len(swept.snapshot.silences)))
        cloud.clock.now += 600
    assert firsts == [(False, 0), (True, 1), (False, 1)]
