"""Advises a resource by its history: what it needed, which change would serve that, and what it costs then.

The history is played on the bucket after each change that AWS would take. What is advised without credits has never run
out in it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal, TypeAlias, get_args

from burstwatch.backtest.replay import Recorded
from burstwatch.bucket import DAY_S, level_after
from burstwatch.fixes.fix import SOONEST_FIRST, Afterwards, Fix
from burstwatch.fixes.surplus import Charge
from burstwatch.fixes.templates import cloudformation_lines, terraform_lines
from burstwatch.history.observations import Resource, after_first_credits
from burstwatch.history.points import NO_LIMIT, DemandPoint, LevelPoint
from burstwatch.history.track import EMPTY_RATIO
from burstwatch.kinds.base import SERVED_SHARE, PastLoad, RatesByMetric, is_by_hand, peak
from burstwatch.recordings.samples import Points, rates_by_period

#: The diagnosis of a resource: it ran out, its lowest levels fall, it could cost less, it is as
#: it should be, or its history does not tell.
Diagnosis: TypeAlias = Literal[
    "runs out", "falls", "could cost less", "fits", "too short", "no load known"
]
WORST_FIRST: tuple[Diagnosis, ...] = get_args(Diagnosis)
#: The findings that call for a change.
CHANGED = frozenset({"runs out", "falls", "could cost less"})
#: A history that is shorter has not seen a weekend, nor the job of the week.
SHORT_S = 7 * DAY_S
#: A trend needs so many days, and is told if it ends within as many as these.
TREND_DAYS, TREND_AHEAD_DAYS = 4, 60.0
#: Less is no saving that is worth a change.
LEAST_USD = 0.01


@dataclass(frozen=True, kw_only=True, slots=True)
class PlayedLoad:
    """A history played on a bucket: how often and how long it was empty, its lowest share, and seconds beyond its rate.

    ``lowest_ratio`` is None without credits.
    """

    dry_count: int
    dry_s: float
    lowest_ratio: float | None
    beyond_s: float
    played_s: float

    @property
    def is_served(self) -> bool:
        """True if it was never empty, and a limit throttled it for a thousandth of the time at the most."""
        return self.dry_count == 0 and self.beyond_s <= (1 - SERVED_SHARE) * self.played_s


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """One resource: what it needed over its history, and what to change, if anything.

    ``needed`` is the most and ``mean`` the mean of what was asked for, in ``rate_unit``; ``is_censored`` where a limit
    held it back, so that it may have been more. ``dry_count``, ``dry_s`` and ``lowest_ratio`` are measured, and ``last_dry_s`` is when it last came to zero, the
    ``outcome`` is what a replay says of them after the change, and ``alternatives`` are changes that
    would serve as well. ``usd_month`` is the price now, None where it is not known, ``exceeded`` the share of the time in which AWS says that each limit was exceeded,
    ``empty_in_s`` when the lowest levels of the days reach zero, if they fall, and ``charge`` what AWS has charged for
    credits in the history, None where that is not known.
    """

    resource_id: str
    name: str
    kind: str
    unit: str
    type: str
    history_s: float
    finding: Diagnosis
    needed: float
    mean: float
    rate_unit: str
    is_censored: bool
    dry_count: int
    dry_s: float
    last_dry_s: float | None
    lowest_ratio: float | None
    empty_in_s: float | None
    usd_month: float | None
    exceeded: Mapping[str, float]
    charge: Charge | None
    fix: Fix | None
    outcome: PlayedLoad | None
    alternatives: tuple[Fix, ...] = ()

    @property
    def saved_usd(self) -> float:
        """The USD that the change saves in a month; less than 0 where it costs more, and 0 where that is not known."""
        return 0.0 if self.fix is None or self.fix.usd_month is None else -self.fix.usd_month

    @property
    def order(self) -> tuple[int, float, str]:
        """The order for people: the findings, and in each what saves or spares most."""
        weight = self.dry_s if self.finding == "runs out" else self.saved_usd
        return WORST_FIRST.index(self.finding), -weight, self.resource_id

    def record(self) -> dict[str, Any]:
        """The advice as one object for ``--json``; what is not known is null."""
        fix, now, charge = self.fix, self.usd_month, self.charge
        more = None if fix is None else fix.usd_month
        return {
            "id": self.resource_id,
            "name": self.name,
            "kind": self.kind,
            "unit": self.unit,
            "type": self.type,
            "history_s": self.history_s,
            "finding": self.finding,
            "needed": self.needed,
            "mean": self.mean,
            "rate_unit": self.rate_unit,
            "is_censored": self.is_censored,
            "run_out_count": self.dry_count,
            "run_out_s": self.dry_s,
            "run_out_last_at": self.last_dry_s,
            "balance_lowest": self.lowest_ratio,
            "time_to_empty_s": self.empty_in_s,
            "exceeded": dict(self.exceeded),
            "charged_credits": charge.credits if charge else None,
            "charged_usd": charge.usd if charge else None,
            "charged_usd_month": charge.usd_month if charge else None,
            "charged_s": charge.lasts_s if charge else None,
            "usd_month": now,
            "usd_month_afterwards": None if now is None or more is None else now + more,
            "best_fix": None if fix is None else fix.record(),
            "alternatives": [alternative.record() for alternative in self.alternatives],
            "cloudformation": cloudformation_lines(fix.commands) if fix else (),
            "terraform": terraform_lines(fix.commands) if fix else (),
            "run_out_count_afterwards": self.outcome.dry_count if self.outcome else None,
            "balance_lowest_afterwards": self.outcome.lowest_ratio if self.outcome else None,
        }


def advise(recorded: Recorded, *, is_load_enough: bool = False) -> Advice:
    """Advise the resource of a recording: what serves all that it serves today, or only its load."""
    resource = recorded.resource
    levels, demand = _since_last_size(recorded)
    throttling = levels if resource.terms.is_throttled else []
    is_censored = _is_censored(throttling, demand)
    needed = served = peak(point.nominal for point in demand)
    if is_censored and resource.bucket is not None:  # nobody knows how much was asked for
        served = max(needed, min(resource.bucket.burst, resource.limit.rate))
    past_load = PastLoad(
        periods=rates_by_period(recorded.samples, recorded.kind, recorded.period_s),
        asked=_asked_in_periods(throttling, demand),
        period_s=recorded.period_s,
        charge=recorded.charge,
        is_enough=is_load_enough,
    )
    changes = recorded.kind.changes(
        resource, served, peaks_of(past_load.periods), past_load=past_load
    )
    played = _played(changes, _asked(demand, served, resource), _first_ratio(levels))
    dry_count, dry_s = dry_spells(throttling)
    # Where only the load is known.
    if not levels and resource.bucket is not None and resource.terms.is_throttled:
        today = play_on(Afterwards(bucket=resource.bucket), demand)
        dry_count, dry_s = today.dry_count, today.dry_s
    empty_in_s = empty_in(throttling)
    chosen = _chosen(played)
    history_s = _length_s(levels, demand)
    finding = _finding(dry_count, empty_in_s, chosen, has_load=bool(demand))
    if finding == "could cost less" and history_s < SHORT_S:
        finding = "too short"
    if finding not in CHANGED:
        chosen = None
    fix, outcome = chosen or (None, None)
    if chosen is None and finding in CHANGED and changes:
        fix = changes[0]  # to wait, to ask who owns it, or what leads to nothing certain
    return Advice(
        resource_id=resource.id,
        name=resource.name,
        kind=resource.kind,
        unit=resource.unit,
        type=resource.words.facts.get("type", resource.kind),
        history_s=history_s,
        finding=finding,
        needed=needed,
        mean=fmean(point.nominal for point in demand) if demand else 0.0,
        rate_unit=resource.words.rate_unit,
        is_censored=is_censored,
        dry_count=dry_count,
        dry_s=dry_s,
        last_dry_s=_last_dry(throttling, recorded.period_s),
        lowest_ratio=min((point.ratio for point in levels), default=None),
        empty_in_s=empty_in_s,
        usd_month=recorded.kind.present_usd(resource),
        exceeded=recorded.exceeded,
        charge=recorded.charge,
        fix=fix,
        outcome=outcome,
        alternatives=_alternatives(played, fix) if finding in CHANGED else (),
    )


def _alternatives(played: Sequence[tuple[Fix, PlayedLoad]], chosen: Fix | None) -> tuple[Fix, ...]:
    """The other changes that would serve, each once and with its price where that is known."""
    others: list[Fix] = []
    for fix, played_load in played:
        if not played_load.is_served or (chosen is not None and fix.is_same_change(chosen)):
            continue
        same = next((n for n, other in enumerate(others) if fix.is_same_change(other)), None)
        if same is None:
            others.append(fix)
        elif others[same].usd_month is None:
            others[same] = fix
    return tuple(others)


def _played(
    changes: Sequence[Fix], load: Sequence[DemandPoint], first_ratio: float
) -> list[tuple[Fix, PlayedLoad]]:
    """Each change that leads to something certain, with the load played on it.

    Without a known load only a resource without credits is known to serve it.
    """
    return [
        (fix, play_on(fix.afterwards, load, first_ratio))
        for fix in changes
        if fix.afterwards is not None and (load or fix.afterwards.bucket is None)
    ]


def _length_s(levels: Sequence[LevelPoint], demand: Sequence[DemandPoint]) -> float:
    """Seconds from the first datapoint to the end of the last."""
    begins = [points[0].start_s for points in (levels, demand) if points]
    ends = [points[-1].end_s for points in (levels, demand) if points]
    return max(ends) - min(begins) if ends else 0.0


def _since_last_size(recorded: Recorded) -> Points:
    """The levels and the load since the last change of the resource, without the credits that a new one has yet to get."""
    levels, demand = recorded.points
    cut = recorded.resource.reporting.history_from_s
    if cut is not None and not is_by_hand(recorded.resource.unit):
        levels = [level for level in levels if level.start_s >= cut]
        demand = [point for point in demand if point.start_s >= cut]
    return list(after_first_credits(levels, recorded.resource)), demand


def _finding(
    dry_count: int,
    empty_in_s: float | None,
    chosen: tuple[Fix, PlayedLoad] | None,
    *,
    has_load: bool,
) -> Diagnosis:
    if dry_count:
        return "runs out"
    if not has_load:
        return "no load known"
    if empty_in_s is not None and empty_in_s <= TREND_AHEAD_DAYS * DAY_S:
        return "falls"
    usd = chosen[0].usd_month if chosen else None
    return "could cost less" if usd is not None and usd <= -LEAST_USD else "fits"


def _chosen(played: Sequence[tuple[Fix, PlayedLoad]]) -> tuple[Fix, PlayedLoad] | None:
    """The cheapest change that holds nothing back, the soonest of those; an unknown price comes last."""

    def rank(pair: tuple[Fix, PlayedLoad]) -> tuple[float, int]:
        fix, _ = pair
        usd = math.inf if fix.usd_month is None else fix.usd_month
        return usd, SOONEST_FIRST.index(fix.takes)

    return min((pair for pair in played if pair[1].is_served), key=rank, default=None)


def peaks_of(periods: Sequence[RatesByMetric]) -> RatesByMetric:
    """The peak of each metric over periods; two of them need not have been at the same time."""
    names = {name for rates in periods for name in rates}
    return {name: peak(rates[name] for rates in periods if name in rates) for name in names}


def _is_censored(levels: Sequence[LevelPoint], demand: Sequence[DemandPoint]) -> bool:
    """True if a limit or an empty bucket held the load back at any time."""
    return any(map(_is_held, demand)) or any(point.ratio <= EMPTY_RATIO for point in levels)


def _asked(
    demand: Sequence[DemandPoint], needed: float, resource: Resource
) -> Sequence[DemandPoint]:
    """The load that a change is tried with: ``needed`` where a limit held it back, and never more than is served today."""
    if resource.bucket is None:
        return demand
    most = min(resource.bucket.burst, resource.limit.rate)
    return [
        point._replace(
            nominal=min(most, max(point.nominal, needed) if _is_held(point) else point.nominal)
        )
        for point in demand
    ]


def _asked_in_periods(
    levels: Sequence[LevelPoint], demand: Sequence[DemandPoint]
) -> list[float | None]:
    """What each period asked for, to the last, None where nothing is known of it.

    An empty bucket serves less than that: where ``levels`` are zero, it is taken to be what it was before. A history
    that begins with an empty bucket begins here a whole number of days later, if it is so long.
    """
    if not demand:
        return []
    period_s, empty = demand[0].period_s, {p.start_s for p in levels if p.ratio <= EMPTY_RATIO}
    count = 1 + round((demand[-1].start_s - demand[0].start_s) / period_s)
    asked: list[float | None] = [None] * count
    before: float | None = None
    was_empty = True
    for point in demand:
        is_empty = point.start_s in empty
        if not is_empty:
            before = point.nominal
        elif not was_empty and before is not None:  # credits served a part of it
            before = max(before, point.nominal)
        was_empty = is_empty
        number = round((point.start_s - demand[0].start_s) / period_s)
        asked[number] = None if before is None else max(before, point.nominal)
    first = next((number for number, load in enumerate(asked) if load is not None), count)
    whole_days = math.ceil(first * period_s / DAY_S) * round(DAY_S / period_s)
    return asked[whole_days:] or asked[first:]


def _is_held(point: DemandPoint) -> bool:
    return point.binding != NO_LIMIT


def _first_ratio(levels: Sequence[LevelPoint]) -> float:
    return levels[0].ratio if levels else 1.0


def play_on(
    afterwards: Afterwards, demand: Sequence[DemandPoint], first_ratio: float = 1.0
) -> PlayedLoad:
    """Play a load on a bucket that has ``first_ratio`` of its credits at the start."""
    bucket, rate = afterwards.bucket, afterwards.rate
    played_s = sum(point.period_s for point in demand)
    beyond_s = sum(point.period_s for point in demand if point.nominal > rate * (1 + 1e-9))
    if bucket is None:
        return PlayedLoad(
            dry_count=0, dry_s=0.0, lowest_ratio=None, beyond_s=beyond_s, played_s=played_s
        )
    level = lowest = first_ratio * bucket.capacity
    dry_count, dry_s, was_dry = 0, 0.0, False
    for point in demand:
        level = level_after(bucket, level=level, demand=point.nominal, seconds=point.period_s)
        is_dry = level <= EMPTY_RATIO * bucket.capacity and point.nominal > bucket.refill
        dry_count += is_dry and not was_dry
        dry_s += point.period_s if is_dry else 0.0
        lowest, was_dry = min(lowest, level), is_dry
    return PlayedLoad(
        dry_count=dry_count,
        dry_s=dry_s,
        lowest_ratio=lowest / bucket.capacity,
        beyond_s=beyond_s,
        played_s=played_s,
    )


def dry_spells(levels: Sequence[LevelPoint]) -> tuple[int, float]:
    """How often a measured level came to zero, and for how many seconds it was there."""
    dry_s = sum(point.period_s for point in levels if point.ratio <= EMPTY_RATIO)
    return len([*_ran_out(levels)]), dry_s


def _ran_out(levels: Sequence[LevelPoint]) -> Iterator[float]:
    """The starts of the periods in which a measured level came to zero."""
    was_empty = False
    for point in levels:
        is_empty = point.ratio <= EMPTY_RATIO
        if is_empty and not was_empty:
            yield point.start_s
        was_empty = is_empty


def _last_dry(levels: Sequence[LevelPoint], period_s: float) -> float | None:
    """The end of the period in which the level last came to zero, as ``explain`` says it."""
    starts = list(_ran_out(levels))
    return starts[-1] + period_s if starts else None


def empty_in(levels: Sequence[LevelPoint]) -> float | None:
    """Seconds from the last level until the lowest level of a day reaches zero; None where they do not fall.

    It is the straight line through the lowest level of each whole day: one long night is no trend.
    """
    lows = list(_daily_lows(levels))
    if len(lows) < TREND_DAYS:
        return None
    mean_day, mean_low = fmean(day for day, _ in lows), fmean(low for _, low in lows)
    spread = sum((day - mean_day) ** 2 for day, _ in lows)
    slope = sum((day - mean_day) * (low - mean_low) for day, low in lows) / spread
    halves = [low for _, low in lows[: len(lows) // 2]], [low for _, low in lows[len(lows) // 2 :]]
    falls = slope < 0 and max(halves[1]) < min(halves[0])
    last_day, _ = lows[-1]
    on_line = mean_low + slope * (last_day - mean_day)
    return max(0.0, on_line / -slope) * DAY_S if falls else None


def _daily_lows(levels: Sequence[LevelPoint]) -> Iterator[tuple[int, float]]:
    """The lowest share of each whole day, by the number of the day."""
    if not levels:
        return
    by_day: dict[int, list[LevelPoint]] = {}
    for point in levels:
        by_day.setdefault(int((point.start_s - levels[0].start_s) // DAY_S), []).append(point)
    for day, points in by_day.items():
        if points[-1].end_s - points[0].start_s > DAY_S / 2:
            yield day, min(point.ratio for point in points)
