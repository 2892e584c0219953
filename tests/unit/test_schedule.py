"""When a resource is asked again."""

import math
from dataclasses import replace

import pytest

from burstwatch.backtest.replay import volume
from burstwatch.bucket import Bucket
from burstwatch.config import Config
from burstwatch.forecast.policy import Assessment
from burstwatch.forecast.projection import Projection
from burstwatch.history.background import CAUSE_KEPT_S, make_background
from burstwatch.history.observations import BucketTerms, Reporting, Verdict
from burstwatch.history.points import LevelPoint
from burstwatch.polling.schedule import (
    LATEST_S,
    Judgement,
    Schedule,
    SeenLevel,
    surely_far_s,
    wait_s,
)

CONFIG = Config()
SLACK_S = CONFIG.sweep_period_s / 2


def assessed(verdict: Verdict = "ok", **projection: object) -> Assessment:
    told = Projection(**{"state": "infinite", "reason": "", "at": 0.0, **projection})  # type: ignore[arg-type]
    return Assessment(verdict=verdict, reason="", projection=told)


@pytest.mark.parametrize(
    ("assessment", "seconds"),
    [
        (assessed(worst_s=3_600), 3_600 - CONFIG.margin_s),
        (assessed(worst_s=CONFIG.margin_s + 1), 60),
        (assessed(worst_s=1e9), LATEST_S),
        (assessed(state="not_applicable"), LATEST_S),
        (assessed("watch", worst_s=600), 60),
        (assessed("warning", worst_s=600), 60),
        (assessed("critical", state="finite", low_s=300), 60),
        (assessed("critical", state="finite", low_s=1_200), 120),
        (assessed("critical", worst_s=600), 300),
        (assessed("exhausted", state="exhausted", low_s=0), 300),
    ],
)
def test_the_wait_is_as_long_as_nothing_can_be_missed_by_it(
    assessment: Assessment, seconds: float
) -> None:
    assert wait_s(volume("gp2", 100), assessment, CONFIG) == seconds - SLACK_S


def test_what_cannot_be_known_is_asked_for_less_and_less_often() -> None:
    schedule, disk = Schedule(), volume("gp2", 100)
    waits = []
    for now in range(7):
        schedule.note(
            Judgement(resource=disk, assessment=assessed("unknown", state="unknown")),
            CONFIG,
            float(now),
        )
        waits.append(schedule.looks[disk.key].due_at - now + SLACK_S)
    assert waits == [60, 120, 180, 240, 300, 300, 300]
    schedule.note(
        Judgement(resource=disk, assessment=assessed(worst_s=CONFIG.margin_s)), CONFIG, 8.0
    )
    assert schedule.looks[disk.key].blind == 0


def test_what_aws_may_never_publish_is_asked_for_once_an_hour_in_the_end() -> None:
    schedule, disk = Schedule(), replace(volume("gp2", 100), terms=BucketTerms(is_documented=False))
    waits = []
    for now in range(20):
        silent = assessed("unknown", state="unknown", is_published=False)
        schedule.note(Judgement(resource=disk, assessment=silent), CONFIG, float(now))
        waits.append(schedule.looks[disk.key].due_at - now + SLACK_S)
    assert waits[:9] == [300] * 7 + [600, 900]
    assert waits[-1] == LATEST_S


def test_what_may_be_too_late_is_asked_for_at_every_sweep_while_asking_fails() -> None:
    schedule, disk = Schedule(), volume("gp2", 100)
    schedule.note(
        Judgement(resource=disk, assessment=assessed(worst_s=CONFIG.margin_s + 120)), CONFIG, 0.0
    )
    waits = []
    for now in (60.0, 120.0, 180.0, 240.0, 300.0):
        failed = Judgement(
            resource=disk, assessment=assessed("unknown", state="unknown"), failure="unanswered"
        )
        schedule.note(failed, CONFIG, now)
        waits.append(schedule.looks[disk.key].due_at - now + SLACK_S)
    assert waits == [60, 60, 60, 60, 60]


def test_a_look_that_could_not_tell_forgets_nothing() -> None:
    schedule, disk = Schedule(), volume("gp2", 100)
    schedule.note(
        Judgement(resource=disk, assessment=assessed("watch", worst_s=600), is_near=True),
        CONFIG,
        0.0,
    )
    schedule.note(
        Judgement(resource=disk, assessment=assessed("unknown", state="unknown")), CONFIG, 60.0
    )
    known = schedule.looks[disk.key]
    assert known.judgement.is_near
    assert known.late_at == 600 - CONFIG.margin_s


def test_what_is_near_and_cannot_be_known_is_asked_for_at_every_sweep() -> None:
    schedule, disk = Schedule(), volume("gp2", 100)
    for now in range(0, 600, 60):
        schedule.note(
            Judgement(
                resource=disk,
                assessment=assessed("unknown", state="unknown"),
                is_near=now == 0,  # a glance said so once
                failure="unanswered",
            ),
            CONFIG,
            float(now),
        )
        assert schedule.is_due(disk, now + 60.0)


def test_the_load_that_was_seen_is_told_for_half_an_hour_and_no_longer() -> None:
    schedule, disk = Schedule(), volume("gp2", 100)
    rates = {"VolumeReadOps": 3_000.0}

    def told(
        now: float, rates: dict[str, float] | None = None, *, verdict: Verdict = "critical"
    ) -> bool:
        background = make_background(None, rates or {}, now) if verdict == "critical" else None
        one = Judgement(resource=disk, assessment=assessed(verdict), background=background)
        schedule.note(one, CONFIG, now)
        known = schedule.background_of(disk)
        return known is not None and known.rates == {"VolumeReadOps": 3_000.0}

    assert told(0.0, rates)
    assert told(300.0)
    assert told(600.0, verdict="unknown")
    assert told(CAUSE_KEPT_S)
    assert not told(CAUSE_KEPT_S + 1)
    assert told(2_000.0, rates)
    assert not told(2_060.0, verdict="ok")
    assert not told(2_120.0)


def test_another_size_is_another_bucket_and_due_at_once() -> None:
    schedule, disk = Schedule(), volume("gp2", 100)
    schedule.note(Judgement(resource=disk, assessment=assessed(worst_s=1e9)), CONFIG, 0.0)
    assert not schedule.is_due(disk, 60.0)
    assert schedule.is_due(replace(volume("gp2", 200), id=disk.id), 60.0)
    assert schedule.is_due(replace(disk, reporting=Reporting(in_use=False)), 60.0)
    assert schedule.is_due(replace(disk, reporting=Reporting(statistic="Average")), 60.0)
    assert schedule.is_due(replace(disk, terms=BucketTerms(reach=3_000.0)), 60.0)


def test_a_resource_with_a_lead_of_its_own_is_asked_by_that() -> None:
    disk = replace(volume("gp2", 500), lead_s=1_800.0)
    schedule = Schedule()
    schedule.note(Judgement(resource=disk, assessment=assessed(worst_s=3_600)), CONFIG, 0.0)
    assert schedule.looks[disk.key].due_at == 3_600 - (CONFIG.margin_s + 900) - SLACK_S


#: As the I/O bucket of an m5.large, whose full bucket lasts half an hour at its maximum.
UNPUBLISHED = replace(
    volume("gp2", 100),
    bucket=Bucket(capacity=27_270_000, refill=3_600, burst=18_750),
    terms=BucketTerms(is_documented=False),
    reporting=Reporting(statistic="Average"),
)
#: With disks that reach 11,000 a second, all above the margin lasts so many times as long.
TIMES = 15_150 / 7_400


@pytest.mark.parametrize(
    ("reach", "ratio", "unseen_s", "seconds"),
    [
        (11_000.0, 1.0, 480.0, (1_800 - CONFIG.margin_s) * TIMES - 480),
        (11_000.0, 0.98, 0.0, (0.98 * 1_800 - CONFIG.margin_s) * TIMES),
        (18_750.0, 1.0, 480.0, 1_800 - CONFIG.margin_s - 480),
        (90_000.0, 1.0, 480.0, 1_800 - CONFIG.margin_s - 480),
        (3_600.0, 1.0, 480.0, math.inf),
        (None, 1.0, 0.0, 0.0),
    ],
)
def test_a_full_bucket_of_no_published_size_is_far_for_as_long_as_its_disks_need(
    reach: float | None, ratio: float, unseen_s: float, seconds: float
) -> None:
    resource = replace(UNPUBLISHED, terms=replace(UNPUBLISHED.terms, reach=reach))
    assert surely_far_s(resource, CONFIG, ratio=ratio, unseen_s=unseen_s) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("level", "verdict", "waits_s"),
    [
        # An average was the level at some instant of its five minutes.
        (LevelPoint(0.0, 300.0, 1.0, "Average"), "ok", 660 * TIMES - 480),
        (LevelPoint(0.0, 300.0, 1.0, "Minimum"), "ok", 660 * TIMES - 180),
        (LevelPoint(0.0, 300.0, 0.97, "Average"), "ok", 300),
        (LevelPoint(0.0, 300.0, 1.0, "Average"), "watch", 60),
    ],
)
def test_such_a_bucket_is_polled_again_before_it_can_be_within_its_margin(
    level: LevelPoint, verdict: Verdict, waits_s: float
) -> None:
    schedule, resource = (
        Schedule(),
        replace(UNPUBLISHED, terms=replace(UNPUBLISHED.terms, reach=11_000.0)),
    )
    seen = SeenLevel(newest=level, since_s=level.end_s, until_s=480.0)
    judgement = Judgement(
        resource=resource, assessment=assessed(verdict, worst_s=1_300), level_seen=seen
    )
    schedule.note(judgement, CONFIG, 480.0)
    due_s = schedule.looks[resource.key].due_at
    assert due_s - 480.0 + SLACK_S == pytest.approx(waits_s)
