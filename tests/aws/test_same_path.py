"""The sweep and a replay say the same of the same data, and what an account has can be replayed."""

import io
import json
import os
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import look
from burstwatch.backtest.replay import Moment, Played, Replay, volume
from burstwatch.backtest.simulate import Phase, Simulation
from burstwatch.cli.main import run
from burstwatch.config import Config
from burstwatch.ebs.volumes import volume_spec
from burstwatch.forecast.policy import SEVERITY
from burstwatch.history.observations import Verdict
from burstwatch.kinds import find_kinds
from burstwatch.recordings.samples import Sample, volume_sample
from tests.conftest import NOW, Cloud

#: Whole sweeps of large fleets, or of days: not for the inner loop.
pytestmark = pytest.mark.slow


DELAY_S = 120.0
DAYS = 3


def replay(rows: list[Sample], size: float, *, delay_s: float) -> list[Moment]:
    played = Played(rows, volume("gp2", size), 60.0)
    return list(Replay(played, Config(), delay_s=delay_s).moments())


def load(iops: float, minutes: float) -> Phase:
    return Phase(seconds=60 * minutes, read_iops=iops / 3, write_iops=iops * 2 / 3)


def recorded(size: float) -> list[Sample]:
    """Three days with a job each noon, the last time longer, and a calm evening."""
    base = volume_spec("gp2", size).baseline
    day = [load(0.9 * base, 660), load(3_000, 12), load(1.2 * base, 60), load(0.3 * base, 708)]
    last = [load(0.9 * base, 660), load(3_000, 28), load(0, 7), load(1.4 * base, 60), load(10, 180)]
    return played([*day * (DAYS - 1), *last], size)


def bursts(size: float) -> list[Sample]:
    """A day of short bursts, then less left than ever, and the bursts as before."""
    often = [load(3_000, 8), load(100, 112)]
    return played([*often * 12, load(1_200, 55), load(295, 100), *often * 2], size)


def played(loads: list[Phase], size: float) -> list[Sample]:
    spec = volume_spec("gp2", size)
    assert spec.bucket is not None
    points = Simulation(spec=spec, bucket=spec.bucket).play(loads)
    rows = [
        volume_sample(
            point.start_s,
            balance_percent=round(100 * point.balance_minimum, 2),
            read_ops=round(point.read_ops),
            write_ops=round(point.write_ops),
            read_bytes=round(point.read_bytes),
            write_bytes=round(point.write_bytes),
        )
        for point in points
    ]
    shift = NOW - 60 * len(rows)
    return [replace(row, t_s=row.t_s + shift) for row in rows]


def put(cloud: Cloud, rows: list[Sample], size: int, volume_type: str = "gp2") -> str:
    volume_id = cloud.aws.add_volume(
        volume_type, size, instance_id=cloud.aws.add_instance("m5.large")
    )
    for row in rows:
        for name, value in row.values.items():
            cloud.aws.put("AWS/EBS", name, {"VolumeId": volume_id}, row.t_s, value)
    return volume_id


@pytest.mark.parametrize(
    ("story", "size", "worst", "said"),
    [
        (recorded, 100, "critical", "chance of running out within "),
        (recorded, 400, "warning", "was warning "),
        (bursts, 100, "warning", "similar moments of the last week"),
    ],
)
def test_a_sweep_says_what_replay_says_at_every_moment(
    cloud: Cloud, story: Callable[[float], list[Sample]], size: int, worst: Verdict, said: str
) -> None:
    rows = story(size)
    volume_id = put(cloud, rows, size)
    cloud.aws.delay_s = DELAY_S
    moments = replay(rows, size, delay_s=DELAY_S)
    verdicts, reasons = set(), []
    schedule = Memory()
    last_hours = [moment for moment in moments if NOW - 5 * 3_600 < moment.t_s <= NOW]
    for moment in last_hours[::17]:
        cloud.clock.now = moment.t_s
        schedule.looks.clear()  # everything is due; the days before are kept, as in a function
        found = look(
            cloud.unit,
            find_kinds().values(),
            cloud.clients,
            Config(),
            schedule,
            now=moment.t_s,
            deadline=cloud.never(),
            demand_horizon_s=1e9,
        )
        assessment = found.assessments[volume_id][1]
        projection = assessment.projection
        assert (assessment.verdict, projection.state) == (moment.assessment, moment.state), moment
        assert assessment.reason == moment.reason
        for name in ("worst_s", "time_to_empty_s", "low_s", "high_s"):
            assert getattr(projection, name) == pytest.approx(getattr(moment, name), rel=1e-6), name
        verdicts.add(assessment.verdict)
        reasons.append(assessment.reason)
    assert len(verdicts) >= 2
    assert max(map(SEVERITY.__getitem__, verdicts)) >= SEVERITY[worst]
    assert any(said in reason for reason in reasons)


def burstwatch(cloud: Cloud, *args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = run(args, stdout=out, stderr=err, env=dict(os.environ), clock=cloud.clock)
    return code, out.getvalue(), err.getvalue()


def test_a_volume_of_the_account_is_explained_from_its_own_metrics(
    cloud: Cloud, tmp_path: Path
) -> None:
    volume_id = put(cloud, recorded(100)[-1_200:], 100)
    page = tmp_path / "page.html"
    code, out, err = burstwatch(cloud, "explain", volume_id, "--hours", "12", "--html", str(page))
    assert (code, err) == (0, "")
    answer, subject, *_ = out.splitlines()
    assert answer.startswith("Credits did not run out; would have paged once, ")
    assert subject == f"gp2 100 GiB, 12 h in periods of 1 min: {volume_id}"
    assert "   page " in out
    assert page.read_text().count("<polyline") > 2


def test_a_story_of_the_account_ends_now_however_late_its_datapoints_are(cloud: Cloud) -> None:
    rows = recorded(100)
    page_s = next(one.t_s for one in replay(rows, 100, delay_s=300.0) if one.assessment == "critical")  # fmt: skip
    volume_id = put(cloud, [one for one in rows if one.t_s < page_s], 100)
    cloud.clock.now = page_s + 60
    code, out, err = burstwatch(cloud, "explain", volume_id, "--hours", "6", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["pages"]
    assert found["last"]["at"] <= cloud.clock.now


def test_a_volume_of_the_account_is_scored_from_its_own_metrics(cloud: Cloud) -> None:
    five = 300 * round(NOW / 300)
    rows = [
        volume_sample(
            five - 300.0 * n,
            balance_percent=30.0 if 20 < n < 60 else 90.0,
            read_ops=100,
            write_ops=0,
            read_bytes=100,
            write_bytes=0,
        )
        for n in range(8 * 288, 0, -1)
    ]
    volume_id = put(cloud, rows, 100)
    code, out, err = burstwatch(
        cloud, "backtest", "--from-account", volume_id, "--policy", "static 40 %", "--json"
    )
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["trials"][0]["name"] == volume_id
    assert found["trials"][0]["scenario"] == "as recorded"
    assert found["policies"]["static 40 %"]["needless_pages"] == 1


def test_a_volume_that_is_younger_than_the_warm_up_cannot_be_scored(cloud: Cloud) -> None:
    volume_id = put(cloud, recorded(100)[-60:], 100)
    code, _, err = burstwatch(cloud, "backtest", "--from-account", volume_id)
    assert code == 2
    assert f"{volume_id} lasts 0.0 days, needed is more than 7: these first days are history" in err


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("explain", "vol-00000000000000bad"), "vol-00000000000000bad is no resource"),
        (("explain", "vol-1", "--hours", "0"), "--hours is 0; allowed: above 0"),
        (
            ("explain", "vol-1", "--size-gib", "100"),
            "for a resource of the account leave out --type",
        ),
        (("backtest", "--from-account", "vol-1"), "vol-1 is no resource with credits"),
    ],
)
def test_what_the_account_does_not_have_is_one_line_and_exit_code_2(
    cloud: Cloud, args: tuple[str, ...], named: str
) -> None:
    code, _, err = burstwatch(cloud, *args)
    assert (code, err.count("\n")) == (2, 1)
    assert named in err


def test_a_volume_that_has_become_gp3_is_explained_and_not_scored(cloud: Cloud) -> None:
    volume_id = put(cloud, recorded(100)[-60:], 100, "gp3")
    code, out, err = burstwatch(cloud, "explain", volume_id, "--hours", "1")
    assert (code, err) == (0, "")
    assert "gp3 has no burst credits" in out
    code, _, err = burstwatch(cloud, "backtest", "--from-account", volume_id)
    assert code == 2
    assert f"{volume_id}: gp3 has no burst credits" in err


def test_a_volume_without_a_datapoint_is_named(cloud: Cloud) -> None:
    volume_id = cloud.aws.add_volume("gp2", 100)
    code, _, err = burstwatch(cloud, "explain", volume_id)
    assert code == 2
    assert f"no datapoint of {volume_id}" in err


def test_a_denied_metric_is_named_and_nothing_is_guessed(cloud: Cloud) -> None:
    volume_id = put(cloud, recorded(100)[-60:], 100)
    cloud.aws.denied = {"GetMetricData"}
    code, _, err = burstwatch(cloud, "explain", volume_id)
    assert code == 2
    assert "AccessDenied" in err


def test_moments_are_json_as_they_are() -> None:
    rows = recorded(100)[:30]
    moments = replay(rows, 100, delay_s=0.0)
    assert set(asdict(moments[-1])) == set(Moment.__dataclass_fields__)
