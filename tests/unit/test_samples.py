"""What a sample of one bucket knows, beside what it kept from the last look."""

from array import array
from dataclasses import replace
from typing import Any

import pytest

from burstwatch.backtest.replay import volume
from burstwatch.config import Config
from burstwatch.forecast.policy import Assessment
from burstwatch.forecast.projection import Projection
from burstwatch.history.points import LevelPoint, Levels, Series
from burstwatch.kinds import find_kinds
from burstwatch.polling.queries import Answers
from burstwatch.polling.samples import GLANCE_S, LevelSample
from burstwatch.polling.schedule import LastLook, Schedule, SeenLevel, fingerprint

NOW = 1_789_999_980.0


@pytest.mark.parametrize("kept_minutes", [60, 6 * 60])
def test_kept_levels_reach_back_as_far_as_they_were_kept_and_no_further(kept_minutes: int) -> None:
    resource = volume("gp2", 100)
    kept = Levels(
        start_s=NOW - 60 * kept_minutes, values=array("d", [50.0] * kept_minutes), until_s=NOW - 60
    )
    assessment = Assessment(
        verdict="warning", reason="", projection=Projection(state="finite", reason="", at=NOW - 60)
    )
    schedule = Schedule()
    schedule.looks[resource.key] = LastLook(
        fingerprint=fingerprint(resource), assessment=assessment, at=NOW - 60, due_at=NOW, late_at=NOW,
        is_near=True, levels=kept,
    )  # fmt: skip
    sample = LevelSample(resource, find_kinds()["ebs_volume"], schedule, Config(), NOW)
    newest = {sample.level_key: Series([NOW - 120], [49.0])}
    sample.take_levels(Answers(series=newest), GLANCE_S)
    assert sample.is_deep == (60 * kept_minutes >= sample.look_back_s)
    assert sample.from_s == pytest.approx(NOW - 60 * kept_minutes, abs=1)
    assert sample.series is not None
    assert sample.series[-1] == (NOW - 120, 49.0)


#: The datapoints that the last look saw, as far back as the next one asks.
SEEN = {NOW - 60 * minutes: 52.0 for minutes in range(round(GLANCE_S) // 60, 2, -1)} | {
    NOW - 120: 50.0
}


@pytest.mark.parametrize(
    ("answer", "last", "is_still"),
    [
        (SEEN, {}, True),
        (SEEN | {NOW - 60: 50.0}, {}, True),
        (SEEN | {NOW - 60: 51.0, NOW: 53.0}, {}, True),
        (SEEN | {NOW - 60: 49.0}, {}, False),
        (SEEN | {NOW - 60: 55.0, NOW: 51.0}, {}, False),  # a rise hides no fall
        (SEEN | {NOW - 180: 51.0, NOW - 60: 50.0}, {}, False),  # another than before
        (SEEN | {NOW - 150: 50.5}, {}, False),  # a late one between them
        (SEEN, {"is_near": False}, False),
        (SEEN, {"level_seen": None}, False),
        ({}, {}, False),
    ],
)
def test_it_has_not_fallen_if_no_datapoint_is_below_the_one_before_and_none_has_changed(
    answer: dict[float, float], last: dict[str, Any], *, is_still: bool
) -> None:
    sample = sample_after(last, kept_minutes=24 * 60)
    times = sorted(answer)
    series = Series(times, [answer[at] for at in times])
    sample.take_levels(Answers(series={sample.level_key: series}), GLANCE_S)
    assert sample.has_not_fallen() == is_still


def test_what_is_not_known_of_enough_hours_or_not_answered_is_judged_in_full() -> None:
    series = Series(list(SEEN), list(SEEN.values()))
    short = sample_after({}, kept_minutes=60)
    short.take_levels(Answers(series={short.level_key: series}), GLANCE_S)
    assert not short.is_deep
    assert not short.has_not_fallen()
    refused = sample_after({}, kept_minutes=24 * 60)
    answers = Answers(series={refused.level_key: series}, failed={refused.level_key: "Forbidden"})
    refused.take_levels(answers, GLANCE_S)
    assert not refused.has_not_fallen()


def sample_after(last: dict[str, Any], *, kept_minutes: int) -> LevelSample:
    """A sample of a volume that the last look saw fall to ``SEEN``, but for what ``last`` says."""
    resource = volume("gp2", 100)
    values = array("d", [*[52.0] * (kept_minutes - 1), 50.0])
    kept = Levels(start_s=NOW - 60 * kept_minutes - 60, values=values, until_s=NOW - 60)
    newest = LevelPoint(NOW - 120, 60.0, 0.5)
    seen = SeenLevel(newest=newest, since_s=NOW - 60, until_s=NOW - 60)
    assessment = Assessment(
        verdict="watch", reason="", projection=Projection(state="finite", reason="", at=NOW - 60)
    )
    last_look = LastLook(
        fingerprint=fingerprint(resource), assessment=assessment, at=NOW - 60, due_at=NOW, late_at=NOW,
        is_near=True, level_seen=seen, levels=kept,
    )  # fmt: skip
    schedule = Schedule()
    schedule.looks[resource.key] = replace(last_look, **last)
    return LevelSample(resource, find_kinds()["ebs_volume"], schedule, Config(), NOW)
