"""Answers what-if for a resource of any kind, described by hand. No AWS, no clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from burstwatch.forecast.whatif import check_balance, how_long
from burstwatch.formatting import InputError
from burstwatch.history.observations import Resource, State
from burstwatch.history.points import NO_LIMIT
from burstwatch.kinds._disk import IOPS, MIB_S
from burstwatch.kinds.base import BY_HAND, LARGEST, Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class KindAnswer:
    """One object of `burstwatch whatif --kind --json`. None is "never" or "does not apply".

    ``baseline`` and ``burst`` are credits a second, ``capacity`` is credits, both in AWS's own ``unit``.
    """

    state: State
    reason: str
    baseline: float | None = None
    burst: float | None = None
    capacity: float | None = None
    unit: str
    time_to_empty_s: float | None = None
    worst_time_to_empty_s: float | None = None
    time_to_full_s: float | None = None
    refill_from_empty_s: float | None = None
    limit_mib_s: float | None = None
    limit_mib_s_when_empty: float | None = None
    binding: str = NO_LIMIT
    at_zero: str = ""
    is_estimate: bool = False


def described_by_hand(
    kind: Kind, spec: Mapping[str, str], *, region: str = ""
) -> tuple[Resource, ...]:
    """The buckets of a resource that nobody has listed, at the prices of a region.

    Raises:
        ValueError: naming the value that is missing, unknown or out of range.
    """
    allowed = kind.example.spec
    for name in spec:
        if name not in allowed:
            msg = f"{kind.name} has no {name!r}; allowed: {', '.join(allowed)}"
            raise ValueError(msg)
    try:
        item, related = kind.example.item(spec)
    except KeyError as error:
        msg = f"{kind.name} needs {error.args[0]}: {allowed[error.args[0]]}"
        raise ValueError(msg) from None
    thing = replace(
        kind.inventory.identify(item), unit=f"{BY_HAND}/{region}" if region else BY_HAND
    )
    resources = tuple(kind.describe(thing, related, 0.0))
    if not resources:
        stated = ", ".join(f"{name} {value}" for name, value in spec.items())
        needed = "; ".join(f"{name}: {text}" for name, text in allowed.items())
        msg = f"{kind.name} with {stated} has no credits; allowed: {needed}"
        raise ValueError(msg)
    return resources


def answer_for(
    kind: Kind,
    spec: Mapping[str, str],
    load: Mapping[str, float],
    *,
    balance_percent: float = 100.0,
) -> KindAnswer:
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
        _of_bucket(kind, resource, load, balance_percent / 100)
        for resource in described_by_hand(kind, spec)
    ]
    return _first_empty(answers)


def _of_bucket(
    kind: Kind, resource: Resource, load: Mapping[str, float], ratio: float
) -> KindAnswer:
    """Predict how long a resource's bucket lasts under a load, in the kind's own units."""
    unit, size = kind.example.unit, kind.example.unit_size
    bucket = resource.bucket
    if bucket is None:
        if resource.not_watched:
            return KindAnswer(state="unknown", reason=resource.not_watched, unit=unit)
        return KindAnswer(state="not_applicable", reason=resource.no_bucket_reason, unit=unit)
    point = kind.spent(resource, kind.example.totals(resource, load), 0.0, 1.0)
    demand = 0.0 if point is None else point.nominal
    spend = min(demand, resource.limit.rate)
    lasts = how_long(
        bucket, level=ratio * bucket.capacity, spend=spend, rate_unit=resource.rate_unit
    )
    is_mib = resource.rate_unit == MIB_S
    if resource.rate_unit == IOPS:  # of a kind with a bucket of each
        unit = "io"
    return KindAnswer(
        **{**lasts, "capacity": bucket.capacity / size},
        baseline=bucket.refill / size,
        burst=min(bucket.burst, resource.limit.rate) / size,
        unit="MiB" if is_mib else unit,
        limit_mib_s=resource.limit.rate if is_mib else None,
        limit_mib_s_when_empty=bucket.refill if is_mib else None,
        binding=resource.limit.binding if demand >= resource.limit.rate else NO_LIMIT,
        at_zero=kind.at_zero(resource).text,
        is_estimate=not resource.is_documented,
    )


def _first_empty(answers: Sequence[KindAnswer]) -> KindAnswer:
    return min(
        answers,
        key=lambda answer: inf if answer.time_to_empty_s is None else answer.time_to_empty_s,
    )
