"""CloudWatch's balance is believed on the host too: what the counters do not explain is spent all the same."""

import math
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


@dataclass(kw_only=True)
class Life:
    """Hours of counted I/O that comes and goes, and for some of them I/O that no counter has."""

    seed: int
    hidden: float
    ledger: Ledger = field(init=False)
    counted: float = 0.0
    level: float = 0.0
    hidden_end_s: float = 0.0

    def instants(self) -> Iterator[tuple[float, float]]:
        """The time and the level, each time that AWS has just been asked."""
        random = Random(self.seed)  # noqa: S311 - the same each time
        period_s, asked_s = random.choice([60.0, 60.0, 300.0]), random.choice([60.0, 300.0, 300.0])
        late_s, end_s = random.uniform(60.0, 300.0), random.uniform(3.0, 6.0) * 3_600
        hidden_from_s = random.uniform(1_800.0, end_s / 2)
        self.hidden_end_s = hidden_from_s + random.uniform(300.0, 3_600.0)
        self.level = random.random() * BUCKET.capacity
        self.ledger = a_ledger(iv.unknown(BUCKET), a_promise(BUCKET))
        published: list[LevelPoint] = []
        phase_end_s, rate, lowest = 0.0, 0, self.level
        for tick in range(1, round(end_s / READ_S)):
            at = tick * READ_S
            if at >= phase_end_s:
                rate = random.choice([0, 0, 50, 280, 300, 500, 1_000, 3_000])
                phase_end_s = at + random.choice([30, 60, 120, 600, 1_800, 3_600])
            self.spend(rate, self.hidden if hidden_from_s < at <= self.hidden_end_s else 0.0)
            lowest = min(lowest, self.level)
            counters = done(int(self.counted), int(self.counted) * IO_KIB)
            self.ledger.note(Reading(at=at, wall_s=at, slack_s=0.0, counters=counters))
            if at % period_s == 0:
                ratio = round(lowest / BUCKET.capacity, 4)
                published.append(LevelPoint(at - period_s, period_s, ratio, "Minimum"))
                lowest = self.level
            arrived = [point for point in published if point.end_s <= at - late_s]
            if at % asked_s == 0 and arrived:
                self.ledger.reconcile(arrived[-1])
                yield at, self.level

    def spend(self, rate: float, hidden: float) -> None:
        there = self.level + BUCKET.refill * READ_S
        counted = min(rate * READ_S, there)
        unseen = min(hidden * READ_S, there - counted)
        self.counted += counted
        self.level = min(BUCKET.capacity, there - counted - unseen)


@pytest.mark.parametrize("seed", range(16))
def test_where_all_io_is_counted_nothing_else_is_charged(seed: int) -> None:
    life = Life(seed=seed, hidden=0.0)
    for at, level in life.instants():
        seen, error = life.ledger.seen(), ROUNDING * BUCKET.capacity
        assert seen.low - error <= level <= seen.high + error, at
        assert abs(life.ledger.charged.nominal - life.counted) <= 0.02 * BUCKET.capacity, at


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("hidden", [200.0, 2_000.0])
def test_what_no_counter_had_is_charged_no_more_once_it_has_ended(seed: int, hidden: float) -> None:
    life = Life(seed=seed, hidden=hidden)
    before = math.inf
    for at, _ in life.instants():
        beside = life.ledger.charged.nominal - life.counted
        if at > life.hidden_end_s + 2_700:
            before = min(before, beside)
            assert beside - before <= 0.01 * BUCKET.capacity, at


def test_an_hour_after_ten_minutes_of_unseen_io_each_credit_is_charged_once() -> None:
    ledger = a_ledger(iv.unknown(BUCKET), a_promise(BUCKET))
    level, ops, hidden = 0.9 * BUCKET.capacity, 0, 0.0
    for tick in range(1, 720):
        at = tick * READ_S
        unseen = 2_000 * READ_S if 3_600 < at <= 4_200 else 0.0
        ops, hidden = ops + 50 * round(READ_S), hidden + unseen
        level = min(BUCKET.capacity, level + (BUCKET.refill - 50) * READ_S - unseen)
        ledger.note(Reading(at=at, wall_s=at, slack_s=0.0, counters=done(ops, ops * IO_KIB)))
        if at % MINUTE_S == 0:
            ledger.reconcile(
                LevelPoint(at - MINUTE_S, MINUTE_S, level / BUCKET.capacity, "Minimum")
            )
        if at == 5_400:  # by the mean of the last 45 minutes it would go on
            assert project(ledger, STILL, "none").state == "infinite"
    assert ledger.charged.nominal == pytest.approx(ops + hidden, rel=0.3)
    assert ledger.charged.nominal <= 1.05 * (ops + hidden)


def test_a_clock_that_is_set_back_forgets_what_was_spent_unseen() -> None:
    ledger, level = a_ledger(iv.unknown(BUCKET), a_promise(BUCKET)), 0.9
    for tick in range(1, 360):
        at = tick * READ_S
        level -= 2_000 * READ_S / BUCKET.capacity
        ledger.note(Reading(at=at, wall_s=at, slack_s=0.0, counters=done()))
        if at % MINUTE_S == 0:
            ledger.reconcile(LevelPoint(at - MINUTE_S, MINUTE_S, max(0.0, level), "Minimum"))
    ledger.forget_times()
    charged = ledger.charged.nominal
    assert charged > BUCKET.capacity / 2
    for tick in range(360, 720):
        at = tick * READ_S
        ledger.note(Reading(at=at, wall_s=at - 7_200, slack_s=0.0, counters=done()))
    assert ledger.charged.nominal == charged
    assert project(ledger, STILL, "none").state == "unknown"
    for minute in range(10):  # it stands now, at what comes in
        at = 7_200.0 + minute * MINUTE_S
        wall_s = at - 7_200
        ledger.note(Reading(at=at + 60, wall_s=wall_s + 60, slack_s=0.0, counters=done()))
        ledger.reconcile(LevelPoint(wall_s, MINUTE_S, 0.3 + minute / 300, "Minimum"))
    assert project(ledger, STILL, "none").state == "idle"


def test_without_newer_balances_unseen_spending_makes_the_credits_unknown() -> None:
    ledger, level = a_ledger(iv.unknown(BUCKET), a_promise(BUCKET)), 0.9
    states = []
    for tick in range(1, 780):
        at = tick * READ_S
        level -= 500 * READ_S / BUCKET.capacity
        ledger.note(Reading(at=at, wall_s=at, slack_s=0.0, counters=done(tick * 100, tick * 1_600)))
        if at % MINUTE_S == 0 and at <= 1_800:
            ledger.reconcile(LevelPoint(at - MINUTE_S, MINUTE_S, level, "Minimum"))
        states.append(project(ledger, STILL, "none"))
    assert states[200].state == "finite"
    assert states[400].state == "unknown"
    assert "there is no newer one" in states[400].reason
    assert states[-1].state == "unknown"  # and stays so


@pytest.mark.many
@pytest.mark.parametrize("first", range(100, 1_000, 100))
def test_the_host_follows_many_balances_that_fall_under_load_that_does_not_explain_them(
    first: int,
) -> None:
    assert [text for seed in range(first, first + 100) for text in wrong(Fall(seed=seed))] == []
