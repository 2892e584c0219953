"""Answers what-if for a resource of any kind, described by hand. No AWS, no clock."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, isfinite, isinf

from burstwatch import bucket as tb
from burstwatch.bucket import Bucket
from burstwatch.formatting import InputError, number
from burstwatch.history.observations import Resource, State
from burstwatch.history.points import NO_LIMIT
from burstwatch.kinds._by_hand import described_by_hand
from burstwatch.kinds._disk import IOPS, MIB_S
from burstwatch.kinds.base import LARGEST, Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """How long credits last under a load: one object of `burstwatch whatif --json`.

    None is "never", "not known" or "does not apply". ``baseline`` and ``burst`` are credits a second, ``capacity``
    is credits, all in AWS's own ``credit_unit``. ``at_zero`` says what is left without credits. From ``io_kib`` on an
    EBS volume's own: the stream that was asked for, and what is served of it.
    """

    state: State
    reason: str
    baseline: float | None = None
    burst: float | None = None
    capacity: float | None = None
    credit_unit: str
    time_to_empty_s: float | None = None
    worst_s: float | None = None
    time_to_full_s: float | None = None
    refill_from_empty_s: float | None = None
    limit_mib_s: float | None = None
    limit_mib_s_when_empty: float | None = None
    binding: str = NO_LIMIT
    at_zero: str = ""
    is_estimate: bool = False
    io_kib: float | None = None
    access: str | None = None
    served_iops: float | None = None
    served_mib_s: float | None = None
    served_iops_when_empty: float | None = None
    served_mib_s_when_empty: float | None = None

    def for_bucket(self, bucket: Bucket, *, level: float, spend: float, rate_unit: str) -> "Answer":
        """The same with how long the credits of a bucket last, from ``level`` on, at ``spend`` credits a second."""
        to_empty = tb.time_to_empty(bucket, level=level, demand=spend)
        income = f"{number(bucket.refill)} {rate_unit}"
        state: State = "finite"
        reason = f"the load uses {number(spend)} {rate_unit}, and {income} are earned"
        if level == 0 and spend >= bucket.refill:
            to_empty = 0.0
            state = "exhausted"
            reason = f"no credits left, and none come back at {number(spend)} {rate_unit}"
        elif isinf(to_empty):
            state = "infinite"
            reason = f"the load of {number(spend)} {rate_unit} is within the baseline of {income}"
        return replace(
            self,
            state=state,
            reason=reason,
            time_to_empty_s=_finite(to_empty),
            worst_s=_finite(tb.worst_time_to_empty(bucket, level=level)),
            time_to_full_s=_finite(tb.time_to_full(bucket, level=level, demand=spend)),
            refill_from_empty_s=_finite(tb.time_to_full(bucket, level=0.0, demand=0.0)),
        )


def _finite(seconds: float) -> float | None:
    return seconds if isfinite(seconds) else None


def check_balance(percent: float) -> None:
    """Refuse what is no percentage.

    Raises:
        ValueError: naming the value.
    """
    if not 0 <= percent <= 100:  # noqa: PLR2004 - a percentage
        msg = f"must be 0 to 100, got {percent:g}"
        raise InputError(msg, name="balance_percent")


def answer_for(
    kind: Kind,
    spec: Mapping[str, str],
    load: Mapping[str, float],
    *,
    balance_percent: float = 100.0,
) -> Answer:
    """Work the question out for the bucket that is empty first.

    Raises:
        ValueError: naming the value.
    """
    check_balance(balance_percent)
    if not load:
        loads = [name for name in kind.example.load if name != "io_kib"]
        flags = (f"--{name.replace('_', '-')}" for name in loads)
        msg = f"give the load: {' or '.join(flags)}"
        raise ValueError(msg)
    for name, value in load.items():
        if name not in kind.example.load:
            msg = f"{kind.name} has no {name!r}; allowed: {', '.join(kind.example.load)}"
            raise ValueError(msg)
        most = 100.0 if name == "cpu_percent" else LARGEST
        if not 0 <= value <= most:
            msg = f"must be from 0 to {most:g}, got {value:g}"
            raise InputError(msg, name=name)
    answers = [
        _for_resource(kind, resource, load, balance_percent / 100)
        for resource in described_by_hand(kind, spec)
    ]
    return min(answers, key=_empties_at)


def _empties_at(answer: Answer) -> float:
    return inf if answer.time_to_empty_s is None else answer.time_to_empty_s


def _for_resource(
    kind: Kind, resource: Resource, load: Mapping[str, float], ratio: float
) -> Answer:
    """Predict how long a resource's bucket lasts under a load, in the kind's own units."""
    unit, size = kind.example.unit, kind.example.unit_size
    bucket = resource.bucket
    if bucket is None:
        if resource.terms.not_watched:
            return Answer(state="unknown", reason=resource.terms.not_watched, credit_unit=unit)
        return Answer(
            state="not_applicable", reason=resource.terms.no_bucket_reason, credit_unit=unit
        )
    point = kind.spent(resource, kind.totals(resource, load), 0.0, 1.0)
    demand = 0.0 if point is None else point.nominal
    is_mib = resource.words.rate_unit == MIB_S
    if is_mib:
        unit = "MiB"
    elif resource.words.rate_unit == IOPS:  # of a kind with a bucket of each
        unit = "io"
    answer = Answer(
        state="unknown",
        reason="",
        capacity=bucket.capacity / size,
        baseline=bucket.refill / size,
        burst=min(bucket.burst, resource.limit.rate) / size,
        credit_unit=unit,
        limit_mib_s=resource.limit.rate if is_mib else None,
        limit_mib_s_when_empty=bucket.refill if is_mib else None,
        binding=resource.limit.binding if demand >= resource.limit.rate else NO_LIMIT,
        at_zero=kind.at_zero(resource).text,
        is_estimate=not resource.terms.is_documented,
    )
    return answer.for_bucket(
        bucket,
        level=ratio * bucket.capacity,
        spend=min(demand, resource.limit.rate),
        rate_unit=resource.words.rate_unit,
    )
