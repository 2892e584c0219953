"""Answers what-if: a volume of this type and size meets this demand. No AWS, no clock."""

import math
from dataclasses import dataclass

from burstwatch import bucket as tb
from burstwatch.ebs.volume_types import CreditUnit
from burstwatch.ebs.volumes import (
    KIB_PER_MIB,
    Access,
    Binding,
    InstanceLimits,
    Served,
    VolumeSpec,
    serve,
    volume_spec,
)
from burstwatch.history.observations import State

#: What limits a demand; a limit of 0 would be no volume.
LIMITS = ("instance_iops", "instance_mib_s", "provisioned_iops", "provisioned_mib_s")
#: Far beyond any disk, and far from what a float cannot hold.
SMALLEST, LARGEST = 1e-6, 1e9


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A volume, how full its bucket is, and what is asked of it.

    Of ``iops``, ``io_kib`` and ``mib_s`` any two give the third; of all three at
    once only a consistent set is taken.
    """

    volume_type: str
    size_gib: float
    iops: float | None = None
    io_kib: float | None = None
    mib_s: float | None = None
    access: Access | None = None
    balance_percent: float = 100.0
    instance_iops: float | None = None
    instance_mib_s: float | None = None
    provisioned_iops: float | None = None
    provisioned_mib_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """One object of `burstwatch whatif --json`. None is "never" or "does not apply"."""

    state: State
    reason: str
    baseline: float
    burst: float
    capacity: float | None
    unit: CreditUnit
    time_to_empty_s: float | None
    worst_time_to_empty_s: float | None
    time_to_full_s: float | None
    refill_from_empty_s: float | None
    limit_mib_s: float
    limit_mib_s_when_empty: float
    binding: Binding
    served_iops: float
    served_mib_s: float
    served_iops_when_empty: float
    served_mib_s_when_empty: float


def answer(question: Question) -> Answer:
    """Work the question out in closed form.

    Raises:
        ValueError, ValueError: naming the value.
    """
    volume = volume_spec(
        question.volume_type,
        question.size_gib,
        iops=question.provisioned_iops,
        mib_s=question.provisioned_mib_s,
    )
    _check(question)
    iops, io_kib = _stream(question, volume)
    access: Access = question.access or ("sequential" if volume.unit == "MiB" else "random")
    instance = InstanceLimits(
        iops=_or_unlimited(question.instance_iops), mib_s=_or_unlimited(question.instance_mib_s)
    )

    def served(*, has_credits: bool) -> Served:
        return serve(
            volume,
            iops=iops,
            io_kib=io_kib,
            access=access,
            has_credits=has_credits,
            instance=instance,
        )

    full, empty = served(has_credits=True), served(has_credits=False)
    times = _Times.of(volume, question.balance_percent / 100, full.credits_per_s)
    return Answer(
        state=times.state,
        reason=times.reason,
        baseline=volume.baseline,
        burst=volume.burst,
        capacity=volume.bucket.capacity if volume.bucket else None,
        unit=volume.unit,
        time_to_empty_s=_or_none(times.to_empty),
        worst_time_to_empty_s=_or_none(times.worst),
        time_to_full_s=_or_none(times.to_full),
        refill_from_empty_s=volume.bucket.capacity / volume.bucket.refill
        if volume.bucket
        else None,
        limit_mib_s=volume.limit_mib_s,
        limit_mib_s_when_empty=volume.limit_mib_s_when_empty,
        binding=full.binding,
        served_iops=full.iops,
        served_mib_s=full.mib_s,
        served_iops_when_empty=empty.iops,
        served_mib_s_when_empty=empty.mib_s,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Times:
    state: State
    reason: str
    to_empty: float = math.inf
    worst: float = math.inf
    to_full: float = math.inf

    @classmethod
    def of(cls, volume: VolumeSpec, ratio: float, spend: float) -> "_Times":
        bucket = volume.bucket
        if bucket is None:
            return cls(state="not_applicable", reason=volume.no_bucket_reason)
        level = ratio * bucket.capacity
        to_empty = tb.time_to_empty(bucket, level=level, demand=spend)
        to_full = tb.time_to_full(bucket, level=level, demand=spend)
        unit = "IOPS" if volume.unit == "io" else "MiB/s"
        state: State
        if level == 0 and spend >= bucket.refill:
            to_empty = 0.0
            state, reason = "exhausted", f"no credits left and none can gather at {spend:g} {unit}"
        elif math.isfinite(to_empty):
            state = "finite"
            reason = f"{spend:g} {unit} charged against {bucket.refill:g} {unit} that come in"
        else:
            state = "infinite"
            reason = (
                f"{spend:g} {unit} charged is at or under the baseline of {bucket.refill:g} {unit}"
            )
        return cls(
            state=state,
            reason=reason,
            to_empty=to_empty,
            worst=tb.worst_time_to_empty(bucket, level=level),
            to_full=to_full,
        )


def _check(question: Question) -> None:
    for name in ("iops", "mib_s", *LIMITS):
        value = getattr(question, name)
        lowest = SMALLEST if name in LIMITS else 0.0
        if value is not None and not (value == lowest or SMALLEST <= value <= LARGEST):
            msg = f"{name} must be 0 or more, got {value:g}"
            if name in LIMITS or value > LARGEST:
                msg = f"{name} must be from {lowest:g} to {LARGEST:g}, got {value:g}"
            raise ValueError(msg)
    if question.io_kib is not None and not SMALLEST <= question.io_kib <= LARGEST:
        msg = f"io_kib must be above 0 and at most {LARGEST:g}, got {question.io_kib:g}"
        raise ValueError(msg)
    if not 0 <= question.balance_percent <= 100:  # noqa: PLR2004 - a percentage
        msg = f"balance_percent must be 0 to 100, got {question.balance_percent:g}"
        raise ValueError(msg)


def _stream(question: Question, volume: VolumeSpec) -> tuple[float, float]:
    """The demand as operations per second and KiB per operation."""
    iops, io_kib, mib_s = question.iops, question.io_kib, question.mib_s
    if iops is None and mib_s is None:
        msg = "say what is asked of the volume: iops, mib_s or both"
        raise ValueError(msg)
    default_io_kib = 16.0 if volume.unit == "io" else volume.io_kib
    if iops is None or mib_s is None:
        size = io_kib or default_io_kib
        rate = iops if iops is not None else (mib_s or 0.0) * KIB_PER_MIB / size
        return rate, size
    if iops == 0 and mib_s == 0:
        return 0.0, io_kib or default_io_kib
    if iops == 0 or mib_s == 0:
        msg = f"iops {iops:g} and mib_s {mib_s:g} contradict each other, leave one of them out"
        raise ValueError(msg)
    implied = mib_s * KIB_PER_MIB / iops
    if io_kib is not None and not math.isclose(implied, io_kib, rel_tol=0.01):
        msg = f"iops {iops:g} x io_kib {io_kib:g} is not mib_s {mib_s:g}, leave one of them out"
        raise ValueError(msg)
    return iops, implied


def _or_unlimited(value: float | None) -> float:
    return math.inf if value is None else value


def _or_none(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) else None
