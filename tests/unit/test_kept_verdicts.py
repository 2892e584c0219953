"""What the judge keeps of past instants, and the bound by which it looks at none, change no verdict."""

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Literal

import pytest

from burstwatch.backtest.replay import volume
from burstwatch.config import Config
from burstwatch.forecast.judge import KeptMarks, marks_to_keep, recall_marks
from burstwatch.forecast.policy import Assessment, assess
from burstwatch.history.observations import Observation, Verdict
from burstwatch.history.past import to_past
from burstwatch.history.points import DemandPoint
from tests.unit.played import steady, watch

pytestmark = pytest.mark.slow

DISK = volume("gp2", 100)
CONFIG = Config()
OTHER_DAYS = to_past([DemandPoint(300.0 * slot, 300.0, 50.0, 50.0, 50.0) for slot in range(600)])


def observation_of(seed: int, *, is_slow: bool = False) -> Observation:
    """Some hours with bursts, which can have ended a while ago."""
    draw = random.Random(seed)  # noqa: S311 - loads of a test
    loads = [*steady(3_000, draw.randint(10, 26)), *steady(250, draw.randint(20, 60))]
    for _ in range(3):
        loads += steady(draw.choice((150, 600, 3_000)), draw.randint(2, 15))
        loads += steady(draw.choice((100, 280)), draw.randint(1, 40))
    resource = replace(DISK, least_lead_s=1_200.0) if is_slow else DISK
    return replace(watch(loads)[0], resource=resource).observation


def told_of_the_past() -> Iterator[tuple[int, Assessment]]:
    """The seeds whose verdict is one of an instant before, and that verdict."""
    for seed in range(30):
        assessment = assess(observation_of(seed), CONFIG)
        if assessment.danger.startswith("was "):
            yield seed, assessment


def marked(observation: Observation, verdict: Verdict) -> KeptMarks:
    """What a look at it keeps, had it found that verdict at each instant."""
    assess(observation, CONFIG)
    assert observation.history is not None
    kept = marks_to_keep(observation.history)
    assert kept is not None
    return replace(kept, verdicts=dict.fromkeys(kept.verdicts, verdict))


def test_kept_verdicts_hold_as_far_as_the_datapoints_are_the_same() -> None:
    cases = used = 0
    for seed, fresh in told_of_the_past():
        cases += 1
        calm = marked(observation_of(seed), "ok")
        again, later = observation_of(seed), observation_of(seed)
        assert again.history is not None
        assert later.history is not None
        recall_marks(again.history, calm, until_s=math.inf)
        used += assess(again, CONFIG) != fresh
        recall_marks(later.history, calm, until_s=0.0)
        assert assess(later, CONFIG) == fresh
    assert used > cases / 2 > 3


def test_kept_verdicts_hold_for_the_same_days_before_and_the_same_settings_alone() -> None:
    cases = 0
    for seed, fresh in told_of_the_past():
        cases += 1
        calm = marked(observation_of(seed), "ok")
        again = observation_of(seed)
        assert again.history is not None
        recall_marks(again.history, replace(calm, past=OTHER_DAYS), until_s=math.inf)
        assert assess(again, CONFIG) == fresh
        again = observation_of(seed)
        assert again.history is not None
        recall_marks(again.history, replace(calm, terms=("marks", 1.0)), until_s=math.inf)
        assert assess(again, CONFIG) == fresh
    assert cases > 3


@pytest.mark.parametrize("page_on", ["likely", "worst"])
@pytest.mark.parametrize("is_slow", [False, True])
def test_the_bound_of_all_instants_hides_no_verdict(
    page_on: Literal["likely", "worst"], *, is_slow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config(page_on=page_on)
    observations = [observation_of(seed, is_slow=is_slow) for seed in range(40)]
    by_bound = [assess(observation, config) for observation in observations]
    monkeypatch.setattr("burstwatch.forecast.judge.highest_hazard", lambda *_: math.inf)
    anew = [observation_of(seed, is_slow=is_slow) for seed in range(40)]
    assert by_bound == [assess(observation, config) for observation in anew]
    assert len(list(groupby(sorted(assessment.verdict for assessment in by_bound)))) > 1
