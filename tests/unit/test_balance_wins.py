"""The balance is the truth: published load that does not explain its fall never makes a page later."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import pytest

from burstwatch.backtest.replay import Played
from burstwatch.config import Config
from burstwatch.forecast.policy import PAGED, Assessment, assess
from burstwatch.history.observations import Resource
from burstwatch.history.points import DemandPoint, LevelPoint
from burstwatch.history.spending import BALANCE_STEP, TOLERANCE
from burstwatch.kinds.base import Kind
from burstwatch.recordings.samples import Sample
from tests.unit.every_bucket import START, buckets

QUIET_S = 3 * 3_600.0
#: How late each datapoint comes, and less of a fall than that is rounding.
LATE_S, NOISE = 120.0, 0.001
NOISY_PERIODS = 4
#: How slow each shape is at the least, as a share of its mean.
SLOWEST = {"straight": 1.0, "noisy": 0.5, "stepped": 0.0, "bent": 0.6}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A bucket that falls, and the share of the fall that the published load explains at the most."""

    kind: Kind
    resource: Resource
    shape: str
    fall_s: float
    explained: float
    period_s: float
    seed: int

    def levels(self) -> list[LevelPoint]:
        """Flat, and then down to nothing in ``fall_s`` seconds."""
        random = Random(self.seed)  # noqa: S311 - the same each time
        top = 0.3 + 0.6 * random.random()
        seconds = QUIET_S + self.fall_s * top + 600.0
        points, level = [], top
        for slot in range(round(seconds / self.period_s)):
            at = (slot + 1) * self.period_s - QUIET_S
            if at > 0:
                level = max(0.0, level - self.period_s / self.fall_s * self.pace(at, random))
            points.append(
                LevelPoint(
                    START + slot * self.period_s,
                    self.period_s,
                    level,
                    self.resource.reporting.statistic,
                )
            )
        return points

    def pace(self, at: float, random: Random) -> float:
        """How fast it falls at a time, as a multiple of the mean."""
        if self.shape == "noisy":
            return random.uniform(0.5, 1.5)
        if self.shape == "stepped":
            return 2.0 if at // 600 % 2 else 0.0
        if self.shape == "bent":
            return 0.6 if at < self.fall_s / 4 else 1.4
        return 1.0

    def demand(self, levels: Sequence[LevelPoint]) -> list[DemandPoint]:
        """Published load that explains a share of the least that the balance shows, everywhere the same."""
        bucket = self.resource.bucket
        assert bucket is not None
        error = BALANCE_STEP * bucket.capacity / 3_600.0
        spent = bucket.refill + SLOWEST[self.shape] * bucket.capacity / self.fall_s
        most = max(0.0, self.explained * (spent / TOLERANCE - error))
        scale = 1.0 if most == 0 else most / self.costs(1.0)[2]
        least, nominal, most = self.costs(scale) if most else (0.0, 0.0, 0.0)
        return [
            DemandPoint(
                start_s=point.start_s,
                period_s=self.period_s,
                least=least,
                nominal=nominal,
                most=most,
            )
            for point in levels
        ]

    def costs(self, rate: float) -> tuple[float, float, float]:
        """What a load of ``rate`` may cost: the uncertainty of the kind about it."""
        point = self.kind.spent(
            self.resource, self.kind.totals(self.resource, self.load()), START, 1.0
        )
        assert point is not None
        scale = rate / point.nominal
        return point.least * scale, point.nominal * scale, point.most * scale

    def load(self) -> dict[str, float]:
        """Some load in the terms of the kind."""
        if "cpu_percent" in self.kind.example.load:
            return {"cpu_percent": 10.0}
        return {"iops": 100.0} if "iops" in self.kind.example.load else {"mib_s": 5.0}

    def first_page_s(self, levels: list[LevelPoint], demand: list[DemandPoint]) -> float:
        """The time of the first page, in seconds of the recording; infinite without one."""
        return next(
            (at for at, verdict in self.verdicts(levels, demand) if verdict.verdict in PAGED),
            math.inf,
        )

    def verdicts(
        self, levels: list[LevelPoint], demand: list[DemandPoint]
    ) -> Iterator[tuple[float, Assessment]]:
        rows = [Sample(t_s=point.start_s, values={}) for point in levels]
        played = Played(rows, self.resource, self.period_s, self.kind, (levels, demand))
        config = Config()
        for slot in range(round(QUIET_S / self.period_s), len(levels)):
            now = START + (slot + 1) * self.period_s + LATE_S
            yield now - START, assess(played.at(now, LATE_S, config), config)


def cases(seeds: range) -> Iterator[Case]:
    for seed in seeds:
        random = Random(seed)  # noqa: S311 - the same each time
        for kind, resource in buckets():
            bucket = resource.bucket
            assert bucket is not None
            fastest = 1.5 * bucket.capacity / (bucket.burst - bucket.refill)
            shape = random.choice([*SLOWEST])
            percent_a_minute = 0.2 * 15 ** random.random()
            yield Case(
                kind=kind,
                resource=resource,
                shape=shape,
                fall_s=max(2 * fastest, 60.0 * 100 / percent_a_minute),
                explained=random.choice([0.0, 0.1, 0.3, 0.6, 0.9]),
                period_s=300.0
                if kind.name == "ec2_instance_ebs"
                else resource.reporting.published_every_s,
                seed=seed,
            )


def late(case: Case) -> str:
    """By how much the load makes the first page late, or nothing."""
    levels = case.levels()
    alone = case.first_page_s(levels, [])
    loaded = case.first_page_s(levels, case.demand(levels))
    # A fall of which each period is up to half of it off needs some more of them to be seen beside load.
    periods = NOISY_PERIODS if case.shape == "noisy" else 1
    if loaded <= alone + periods * case.period_s:
        return ""
    return (
        f"{case.kind.name} {case.resource.level_metric} {case.shape} in {case.fall_s / 60:.0f} min, "
        f"explains {case.explained}: {(loaded - alone) / 60:.0f} min late, seed {case.seed}"
    )


@pytest.mark.parametrize("seed", range(4))
def test_load_that_does_not_explain_a_fall_makes_no_page_later(seed: int) -> None:
    assert [text for case in cases(range(seed, seed + 1)) if (text := late(case))] == []


@pytest.mark.many
@pytest.mark.parametrize("first", range(100, 400, 20))
def test_many_loads_that_do_not_explain_a_fall_make_no_page_later(first: int) -> None:
    assert [text for case in cases(range(first, first + 20)) if (text := late(case))] == []


def test_no_balance_that_falls_is_called_not_running_out() -> None:
    for case in cases(range(10, 12)):
        levels = case.levels()
        newest = {START + (slot + 1) * case.period_s: slot for slot in range(len(levels))}
        for at, assessment in case.verdicts(levels, case.demand(levels)):
            slot = newest[START + at - LATE_S]
            lasted = [level.ratio for level in levels[max(0, slot - 4) : slot + 1]]
            fell = all(later < earlier - NOISE for earlier, later in pairwise(lasted))
            if fell and assessment.projection.state == "infinite":
                pytest.fail(f"{case}: {assessment.reason}")


def test_load_that_should_have_cost_more_than_the_balance_lost_does_not_overrule_it() -> None:
    kind, resource = next(buckets())
    levels = [LevelPoint(START + 60 * n, 60, 0.9 - 0.002 * n, "Minimum") for n in range(90)]
    demand = [
        DemandPoint(start_s=at, period_s=60, least=2_800, nominal=3_000, most=3_000)
        for at, *_ in levels
    ]
    rows = [Sample(t_s=point.start_s, values={}) for point in levels]
    seen = Played(rows, resource, 60.0, kind, (levels, demand)).at(levels[-1].end_s, 0.0, Config())
    reason = assess(seen, Config()).reason
    assert "using 480 credits/s" in reason
    assert "the published I/O would cost 5.8 times what the balance lost" in reason


def test_a_balance_that_stays_at_zero_has_run_out_whatever_load_is_published() -> None:
    for case in cases(range(20, 24)):
        fall = [level for level in case.levels() if level.ratio > 0]
        zeros = [
            LevelPoint(fall[-1].start_s + case.period_s * n, case.period_s, 0.0, fall[-1].statistic)
            for n in range(1, 1 + round(2 * 3_600 / case.period_s))
        ]
        levels = fall + zeros
        for at, assessment in case.verdicts(levels, case.demand(levels)):
            is_second_zero_known = START + at - LATE_S > zeros[1].start_s
            if is_second_zero_known and assessment.projection.state != "exhausted":
                pytest.fail(f"{case}: {assessment.reason}")
