"""Bucket, level and demand into a ``Projection``: how long is left, and how sure.

``worst_s`` is a guarantee: no spending is faster than the bucket's burst. The
other times rest on the demand seen lately, in credits per second. The level is as
old as its datapoint, so it is rolled forward to *now* before anything is computed.
"""

import math
from dataclasses import dataclass, replace

from burstwatch import bucket as tb
from burstwatch.bucket import Bucket
from burstwatch.forecast.demand import demand_now
from burstwatch.formatting import span
from burstwatch.history.observations import Observation, Resource, State
from burstwatch.history.points import FINE_S, NO_LIMIT, LevelPoint, Range, is_fine
from burstwatch.history.track import EMPTY_RATIO

#: Seconds after a start by which a five-minute metric has arrived.
STARTING_S = 900.0
# A served rate this close to the refill is one that an empty bucket holds back:
# published drains sit 1 to 5 % above their nominal baseline, never under it.
HELD_AT_ZERO = 0.97
#: Rates from here on are told as whole numbers.
WHOLE_FROM = 10.0
#: Where neither the size of a bucket nor what comes in is known.
BY_SLOPE = "judged by the balance alone, and the time left by its slope: the size of this bucket is not known"
STILL = Range(low=0.0, likely=0.0, high=0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Projection:
    """The time that one resource's credits last, as of ``at``.

    Seconds are ``inf`` for never and None where nothing can be said. ``level`` is
    the share of the bucket (0 to 1) rolled forward to ``at``, ``demand`` is in
    credits per second; ``low_s`` and ``high_s`` bound ``time_to_empty_s``, which is
    the likely one. ``worst_s`` is the guarantee. ``is_published`` is False where AWS has no balance
    of the resource at all: that is unknown for good, and no sign of blindness.
    """

    state: State
    reason: str
    at: float
    data_age_s: float | None = None
    level: Range | None = None
    demand: Range | None = None
    time_to_empty_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    worst_s: float | None = None
    time_to_full_s: float | None = None
    binding: str = NO_LIMIT
    is_published: bool = True

    def left_s(self, seconds: float | None, now: float) -> float | None:
        """Seconds left at ``now`` of a time that is counted from this projection on."""
        return None if seconds is None else max(0.0, seconds - max(0.0, now - self.at))


def project(  # noqa: PLR0911 - one for each way of not knowing
    observation: Observation, *, max_data_age_s: float
) -> Projection:
    """Project one observation.

    ``max_data_age_s`` is how old a datapoint's end may be, beyond its period, before the resource is
    taken as idle (others of its unit have fresh data) or unknown (none has).
    """
    resource, now = observation.resource, observation.at
    bucket = resource.bucket
    if bucket is None:
        return Projection(state="not_applicable", reason=resource.terms.no_bucket_reason, at=now)
    if observation.missing:
        return _unknown(now, observation.missing)
    history = observation.history
    newest = history.newest_slot() if history is not None else -1
    if history is None or newest < 0:
        return _without_levels(observation, bucket, max_data_age_s=max_data_age_s)
    period_s = history.period_s
    last = LevelPoint(
        start_s=history.start_s + newest * period_s,
        period_s=period_s,
        ratio=history.levels[newest],
        statistic=history.statistic,
    )
    age = max(0.0, now - last.end_s)
    if age > max_data_age_s + period_s:
        if resource.reporting.reports_when_idle:
            reason = f"the newest datapoint is {span(age)} old, although AWS publishes this metric without load too"
            return _unknown(now, reason, age=age)
        if observation.unit_is_fresh:
            reason = f"no datapoint for {span(age)} although data is not late: no I/O"
            late_s = max_data_age_s + (
                FINE_S if is_fine(last.start_s) else observation.unit_period_s
            )
            ended = level_at_end(bucket, last, STILL)
            projection = _idle(bucket, ended, reason, now=now, age=age, late_s=late_s)
            return replace(projection, data_age_s=age)
        reason = (
            f"the newest datapoint is {span(age)} old, and no other data shows whether it is late"
        )
        return _unknown(now, reason, age=age)
    demand = demand_now(history, limit=resource.limit.rate)
    held_back = history.newest_binding()
    binding = resource.limit.binding if held_back == NO_LIMIT else held_back
    empty_since = history.empty_since()
    projection = _active(
        bucket,
        last,
        demand,
        now=now,
        age=age,
        binding=binding,
        # What was published as empty twice did not refill, whatever the load is said to leave for it.
        stays_empty=empty_since is not None and empty_since < last.start_s,
        unit=resource.words.spend_unit,
    )
    if not resource.terms.is_sized:
        return replace(projection, reason=BY_SLOPE)
    oddity = history.oddity()
    if oddity:
        return replace(projection, reason=f"{projection.reason} ({oddity})")
    return projection


def level_at_end(bucket: Bucket, point: LevelPoint, demand: Range) -> Range:
    """Credits at the end of a datapoint's period.

    A Minimum bounds the level at the period's end from below; while the bucket
    refills it was the level at the start. An Average was the level somewhere
    inside, so the worst case spends at full burst from the period's start.
    """
    reported = point.ratio * bucket.capacity
    gain = max(0.0, bucket.refill - demand.likely) * point.period_s
    if point.statistic == "Minimum":
        highest = reported + bucket.refill * point.period_s
        ends = (reported, reported + gain, highest)
    else:
        half = point.period_s / 2
        low = reported - (bucket.burst - bucket.refill) * point.period_s
        ends = (
            low,
            reported + (bucket.refill - demand.likely) * half,
            reported + bucket.refill * point.period_s,
        )
    low, likely, high = (tb.clamp_level(bucket, end) for end in ends)
    return Range(low=low, likely=likely, high=high)


def _without_levels(
    observation: Observation, bucket: Bucket, *, max_data_age_s: float
) -> Projection:
    """Project a resource that has published no balance: idle for certain reasons only, else unknown."""
    resource, now = observation.resource, observation.at
    if not resource.reporting.in_use:
        reason = "not attached or not running, so nothing can spend its credits"
        return Projection(state="idle", reason=reason, at=now)
    if resource.reporting.reports_when_idle:
        return _never_reported(resource, now)
    cut = resource.reporting.history_from_s
    if cut is not None and cut > now - observation.looked_back_s:
        return _unknown(now, "its size or type was changed, and there is no datapoint since then")
    history = observation.history
    if history is not None and history.has_demand():
        return _unknown(now, "there is I/O, but AWS published no balance")
    if observation.unit_is_fresh:
        reason = "no datapoint although data is not late: no I/O"
        anything = Range(low=0.0, likely=0.0, high=bucket.capacity)
        silent_s, late_s = observation.looked_back_s, max_data_age_s + observation.unit_period_s
        return _idle(bucket, anything, reason, now=now, age=silent_s, late_s=late_s)
    return _unknown(now, "AWS has published no datapoint yet")


def _never_reported(resource: Resource, now: float) -> Projection:
    """Nothing of what is reported even without I/O: just started, or not published at all."""
    started = resource.reporting.history_from_s
    if started is not None and now - started < STARTING_S:
        return _unknown(
            now, f"started {span(now - started)} ago, and no {resource.level_metric} yet"
        )
    never = _unknown(now, f"no {resource.level_metric} yet, or AWS publishes none for it")
    return replace(never, is_published=False)


def _unknown(now: float, reason: str, *, age: float | None = None) -> Projection:
    return Projection(state="unknown", reason=reason, at=now, data_age_s=age)


def _idle(
    bucket: Bucket, level: Range, reason: str, *, now: float, age: float, late_s: float
) -> Projection:
    """No demand since the credits were at ``level``, ``age`` seconds ago: they come back.

    What was spent shows when its period is over and the datapoint no longer late. So for
    ``late_s`` anything may have been spent unseen; older silence is real.
    """
    late_s = min(age, late_s)
    before = tb.level_after(bucket, level=level.low, demand=0.0, seconds=age - late_s)
    worst = tb.level_after(bucket, level=before, demand=bucket.burst, seconds=late_s)
    ends = (level.low, level.likely, level.high)
    low, likely, high = (tb.level_after(bucket, level=end, demand=0.0, seconds=age) for end in ends)
    return Projection(
        state="idle",
        reason=reason,
        at=now,
        level=_ratio(bucket, Range(low=low, likely=likely, high=high)),
        demand=STILL,
        time_to_empty_s=math.inf,
        low_s=math.inf,
        high_s=math.inf,
        worst_s=tb.worst_time_to_empty(bucket, level=worst),
        time_to_full_s=tb.time_to_full(bucket, level=likely, demand=0.0),
    )


def _active(
    bucket: Bucket,
    last: LevelPoint,
    demand: Range,
    *,
    now: float,
    age: float,
    binding: str,
    stays_empty: bool,
    unit: str,
) -> Projection:
    """Carry the last level forward to now and project it under the demand's range."""
    ended = level_at_end(bucket, last, demand)

    def now_from(level: float, rate: float) -> float:
        return tb.level_after(bucket, level=level, demand=rate, seconds=age)

    level = Range(
        low=now_from(ended.low, demand.high),
        likely=now_from(ended.likely, demand.likely),
        high=now_from(ended.high, demand.low),
    )
    is_empty = last.ratio <= EMPTY_RATIO
    projection = project_level(
        bucket,
        level,
        demand,
        at=now,
        data_age_s=age,
        worst_level=now_from(ended.low, bucket.burst),
        held_at_zero=stays_empty or (is_empty and is_held_at_zero(bucket, demand)),
        unit=unit,
    )
    return replace(projection, binding=binding)


def is_held_at_zero(bucket: Bucket, demand: Range) -> bool:
    """True if so much is asked of an empty bucket that nothing can gather in it."""
    return demand.likely >= HELD_AT_ZERO * bucket.refill


def project_level(
    bucket: Bucket,
    level: Range,
    demand: Range,
    *,
    at: float,
    data_age_s: float,
    worst_level: float,
    held_at_zero: bool,
    unit: str = "credits/s",
) -> Projection:
    """Project credits that are known for ``at``, by whatever source.

    ``level`` is in credits; none are fewer than ``worst_level``. ``held_at_zero`` is
    whether the bucket was seen empty under a demand that keeps it so.
    """
    exhausted = held_at_zero or level.likely <= 0
    likely_s = tb.time_to_empty(bucket, level=level.likely, demand=demand.likely)
    low_s = tb.time_to_empty(bucket, level=level.low, demand=demand.high)
    high_s = tb.time_to_empty(bucket, level=level.high, demand=demand.low)
    if exhausted:
        likely_s, low_s = 0.0, 0.0
        level = Range(low=0.0, likely=0.0, high=level.high)
        state: State = "exhausted"
        reason = (
            "no credits left"
            if held_at_zero
            else "the projection says that no credits are left now"
        )
    elif math.isfinite(likely_s):
        state = "finite"
        reason = f"using {_rate(demand.likely)} {unit}, {_rate(bucket.refill)} are earned"
    else:
        state = "infinite"
        # A bucket that stays full shows how much is spent at most.
        most = "at most " if demand.low <= 0 < demand.likely else ""
        reason = f"using {most}{_rate(demand.likely)} {unit}, and {_rate(bucket.refill)} are earned"
    return Projection(
        state=state,
        reason=reason,
        at=at,
        data_age_s=data_age_s,
        level=_ratio(bucket, level),
        demand=demand,
        time_to_empty_s=likely_s,
        low_s=low_s,
        high_s=high_s,
        worst_s=0.0 if exhausted else tb.worst_time_to_empty(bucket, level=worst_level),
        time_to_full_s=tb.time_to_full(bucket, level=level.likely, demand=demand.likely),
    )


def _rate(value: float) -> str:
    """A rate in words: whole from 10 on, below that with at most two significant digits."""
    return f"{value:,.0f}" if value >= WHOLE_FROM or not value else f"{value:.2g}"


def _ratio(bucket: Bucket, level: Range) -> Range:
    return Range(
        low=level.low / bucket.capacity,
        likely=level.likely / bucket.capacity,
        high=level.high / bucket.capacity,
    )
