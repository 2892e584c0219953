"""Projects how long the credits of one volume last, from its ledger and what it moves now."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from burstwatch import bucket as tb
from burstwatch.ebs.load import Load
from burstwatch.ebs.volumes import Binding
from burstwatch.forecast.demand import expected
from burstwatch.forecast.projection import Projection, is_held_at_zero, project_level
from burstwatch.history.points import Range
from burstwatch.kinds._volume import held_back
from burstwatch_exporter.credits.ledger import CONTRADICTION, Ledger

#: Served this close to the refill, a volume may be held at it; published drains sit there.
AT_BASELINE = (0.97, 1.06)
#: With less than this share left by count, one that is held at its baseline has none.
ALMOST_EMPTY = 0.1
#: Why nothing is likely to be left, by what metrics call it.
Missing: TypeAlias = Literal["wide", "unseen", "cheaper"]
REASONS: Mapping[Missing, str] = MappingProxyType(
    {
        "wide": "more is spent than comes in, and how much is left is not known",
        "unseen": "more was spent than is counted here when CloudWatch's last balance came, and there is no newer one",
        "cheaper": "more is served than an empty bucket allows, so an operation costs less than one credit",
    }
)


def project(ledger: Ledger, load: Load, instance_binding: Binding) -> Projection:
    """Project how long the credits last.

    ``load`` is what the volume moves now, ``instance_binding`` what holds all volumes back.
    """
    if ledger.doubt is not None and ledger.doubt.is_told:
        return _unknown(ledger, ledger.doubt.reason)
    if not ledger.recent.has_looked:
        return _unknown(ledger, "seen once, so its load is not known yet")
    if ledger.has_lost_sight:
        return _unknown(ledger, REASONS["unseen"])
    # The demand from here on, in credits a second.
    bucket = ledger.bucket
    demand = expected(ledger.recent.lately(limit=ledger.spec.limit.rate), burst=bucket.burst)
    binding = held_back(ledger.spec.volume, iops=load.iops, mib_s=load.mib_s)
    if binding == "none" and load.iops > 0:
        binding = instance_binding
    interval = ledger.seen()
    likely, missing = likely_level(ledger)
    if missing is not None and demand.high > bucket.refill:
        return replace(
            _unknown(ledger, REASONS[missing]),
            demand=demand,
            low_s=tb.time_to_empty(bucket, level=interval.low, demand=demand.high),
            binding=binding,
        )
    guess = interval.high if likely is None else likely
    projection = project_level(
        bucket,
        Range(low=interval.low, likely=guess, high=interval.high),
        demand,
        at=ledger.reading.wall_s,
        data_age_s=0.0,
        worst_level=interval.low,
        held_at_zero=ledger.is_published_empty or (guess <= 0 and is_held_at_zero(bucket, demand)),
    )
    projection = replace(projection, binding=binding)
    if demand.high == 0:
        projection = replace(projection, state="idle", reason="no I/O in the last minutes")
    if likely is None:  # it never empties, whatever is left; full it is at the latest then
        latest = tb.time_to_full(bucket, level=interval.low, demand=demand.likely)
        return replace(projection, time_to_full_s=latest)
    return projection


def likely_level(ledger: Ledger) -> tuple[float | None, Missing | None]:
    """The credits that are likely to be left at the newest reading, or None and why that cannot be said.

    That a volume is served at its baseline is believed where the bucket may be empty and little is left by count:
    it moves what is likely, and no bound.
    """
    interval = ledger.seen()
    capacity = ledger.own_bucket.capacity
    if ledger.is_published_empty:
        return 0.0, None
    if ledger.has_lost_sight:
        return None, "unseen"
    if _is_cheaper(ledger):
        return None, "cheaper"
    if interval.likely is None:
        return None, "wide"
    is_almost_empty = interval.likely <= ALMOST_EMPTY * capacity
    may_be_empty = interval.low <= CONTRADICTION * capacity and is_almost_empty
    if may_be_empty and is_served_at_baseline(ledger):
        return 0.0, None
    return interval.likely, None


def is_served_at_baseline(ledger: Ledger) -> bool:
    """True if a volume is served just what comes in, and asks for more: a hint, and never a bound.

    It asks for more if I/O is waiting, or if it had more in the last minutes. An
    instance's limit, a snapshot that is read or a cgroup look the same.
    """
    rate = ledger.recent.newest()
    low, high = (share * ledger.bucket.refill for share in AT_BASELINE)
    if rate is None or not low <= rate <= high:
        return False
    return ledger.reading.counters.in_flight > 0 or ledger.recent.recent() > high


def _unknown(ledger: Ledger, reason: str) -> Projection:
    """Nothing is likely; at the soonest the credits run out at full burst from now on."""
    soonest = tb.worst_time_to_empty(ledger.bucket, level=ledger.seen().low)
    return Projection(
        state="unknown", reason=reason, at=ledger.reading.wall_s, low_s=soonest, worst_s=soonest
    )


def _is_cheaper(ledger: Ledger) -> bool:
    """True if more was served than the likely level and an empty bucket can have given."""
    rate = ledger.recent.newest()
    return (
        ledger.overdraft.likely > CONTRADICTION * ledger.own_bucket.capacity
        and rate is not None
        and rate > AT_BASELINE[1] * ledger.bucket.refill
    )
