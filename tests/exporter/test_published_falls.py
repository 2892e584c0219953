"""CloudWatch's balance is believed on the host too: what the counters do not explain is spent all the same."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

import pytest

from burstwatch.bucket import Bucket
from burstwatch.forecast.projection import Projection
from burstwatch.history.points import LevelPoint
from burstwatch_exporter.credits import interval as iv
from burstwatch_exporter.credits.ledger import Ledger, Reading
from burstwatch_exporter.credits.outlook import project
from burstwatch_exporter.kernel.diskstats import STILL
from tests.exporter.ledgers import a_ledger, a_promise, done

BUCKET = Bucket(capacity=5_400_000, refill=300, burst=3_000)
READ_S, MINUTE_S = 10.0, 60.0
QUIET_S = 1_800.0
IO_KIB = 16
#: How slow each shape is at the least, as a share of its mean.
SLOWEST = {"straight": 1.0, "noisy": 0.5, "bent": 0.6}
#: A fall is seen that goes on for so long.
SEEN_S = 900.0
#: A balance is published to so much of the bucket.
ROUNDING = 0.0005


@dataclass(frozen=True, kw_only=True)
class Instant:
    """What the host says when AWS has just been asked, beside the truth."""

    at: float
    truth: float
    told: tuple[LevelPoint, ...]
    ledger: Ledger
    projection: Projection
    charged: float


@dataclass(kw_only=True)
class Fall:
    """A balance that stands, falls to nothing in ``fall_s`` seconds, and stays there."""

    seed: int
    shape: str = field(init=False)
    fall_s: float = field(init=False)
    explained: float = field(init=False)
    top: float = field(init=False)
    period_s: float = field(init=False)
    asked_s: float = field(init=False)
    late_s: float = field(init=False)
    random: Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = random = Random(self.seed)  # noqa: S311 - the same each time
        self.shape = random.choice([*SLOWEST])
        self.fall_s = 60.0 * 100 / (0.2 * 15 ** random.random())
        self.explained = random.choice([0.0, 0.1, 0.3, 0.6])
        self.top = 0.3 + 0.6 * random.random()
        self.period_s = random.choice([60.0, 60.0, 300.0])
        self.asked_s = random.choice([60.0, 300.0, 300.0])
        self.late_s = random.uniform(60.0, 300.0)

    def pace(self, at: float) -> float:
        if self.shape == "noisy":
            return self.random.uniform(0.5, 1.5)
        if self.shape == "bent":
            return 0.6 if at < self.fall_s / 4 else 1.4
        return 1.0

    def instants(self) -> Iterator[Instant]:
        ledger = a_ledger(iv.unknown(BUCKET), a_promise(BUCKET))
        level, lowest, ops, pace = self.top, self.top, 0.0, 1.0
        published: list[LevelPoint] = []
        told: dict[LevelPoint, None] = {}
        for tick in range(1, round((QUIET_S + self.fall_s * self.top + 3_600.0) / READ_S)):
            at = tick * READ_S
            falls = at > QUIET_S
            if falls and at % MINUTE_S == 0:
                pace = self.pace(at - QUIET_S)
            if falls:
                level = max(0.0, level - READ_S / self.fall_s * pace)
                spent = BUCKET.refill + SLOWEST[self.shape] * BUCKET.capacity / self.fall_s
                ops += READ_S * (self.explained * spent if level else min(BUCKET.refill, spent))
            else:
                ops += BUCKET.refill * READ_S
            lowest = min(lowest, level)
            counters = done(int(ops), int(ops) * IO_KIB)
            ledger.note(Reading(at=at, wall_s=at, slack_s=0.0, counters=counters))
            if at % self.period_s == 0:
                start_s = at - self.period_s
                published.append(LevelPoint(start_s, self.period_s, round(lowest, 4), "Minimum"))
                lowest = level
            arrived = [point for point in published if point.end_s <= at - self.late_s]
            if at % self.asked_s or not arrived:
                continue
            ledger.reconcile(arrived[-1])
            told[arrived[-1]] = None
            yield Instant(
                at=at,
                truth=level,
                told=tuple(told),
                ledger=ledger,
                projection=project(ledger, STILL, "none"),
                charged=ledger.charged.nominal,
            )


def wrong(fall: Fall) -> Iterator[str]:
    charges = [(0.0, 0.0)]
    for instant in fall.instants():
        at, said = instant.at, instant.projection
        case = f"seed {fall.seed} {fall.shape} in {fall.fall_s / 60:.0f} min explains {fall.explained}, {at - QUIET_S:.0f} s"
        charges.append((at, instant.charged))
        seen, credits_left = instant.ledger.seen(), instant.truth * BUCKET.capacity
        net = BUCKET.capacity / fall.fall_s
        # What was lost since the newest balance, and a rounding, nobody can know.
        lost_s = at - instant.told[-1].start_s
        error = ROUNDING * BUCKET.capacity + (1.5 * net + BUCKET.refill) * lost_s
        is_seen_falling = instant.told[-1].ratio < fall.top - 4 * ROUNDING
        if is_seen_falling and not seen.low - error <= credits_left <= seen.high + error:
            yield f"{case}: {credits_left:.0f} are left, and the range is {seen.low:.0f} to {seen.high:.0f}"
        lately = [point.ratio for point in instant.told if point.start_s >= at - SEEN_S]
        fell = instant.told[0].start_s < at - SEEN_S > QUIET_S and all(
            after < before - 2 * ROUNDING for before, after in pairwise(lately)
        )
        if [point.ratio for point in instant.told[-2:]] == [0.0, 0.0]:
            if said.state != "exhausted":
                yield f"{case}: published as 0% twice, and {said.state}: {said.reason}"
        elif fell and instant.truth > 0:
            if said.state not in {"finite", "exhausted"}:
                yield f"{case}: {said.state}: {said.reason}"
            likely, left = said.time_to_empty_s or 0.0, instant.truth * fall.fall_s
            if fall.shape == "straight" and likely > 1.25 * left + fall.period_s + 300:
                yield f"{case}: {likely:.0f} s left of {left:.0f}"
            half_hour_ago = max(charge for charge in charges if charge[0] <= at - 1_800)
            rate = (instant.charged - half_hour_ago[1]) / (at - half_hour_ago[0])
            slowest = SLOWEST[fall.shape] * net
            if at > QUIET_S + 2_700 and rate < BUCKET.refill + 0.5 * slowest:
                yield f"{case}: charged {rate:.0f} a second, {BUCKET.refill + slowest:.0f} were spent"


@pytest.mark.parametrize("seed", range(24))
def test_the_host_follows_a_balance_that_falls_under_load_that_does_not_explain_it(
    seed: int,
) -> None:
    assert [*wrong(Fall(seed=seed))] == []


def test_load_that_explains_the_fall_is_what_is_charged() -> None:
    fall = Fall(seed=1)
    fall.shape, fall.explained = "straight", 1.0
    *_, last = fall.instants()
    assert last.charged == pytest.approx(int(last.ledger.reading.counters.ops), rel=0.02)


@pytest.mark.many
@pytest.mark.parametrize("first", range(100, 1_000, 100))
def test_the_host_follows_many_balances_that_fall_under_load_that_does_not_explain_them(
    first: int,
) -> None:
    assert [text for seed in range(first, first + 100) for text in wrong(Fall(seed=seed))] == []
