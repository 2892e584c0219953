"""Answers what-if: a volume of this type and size meets this demand. No AWS, no clock."""

import math
from dataclasses import dataclass

from burstwatch.ebs.volume_types import find_type
from burstwatch.ebs.volumes import (
    KIB_PER_MIB,
    Access,
    InstanceLimits,
    Served,
    VolumeSpec,
    served_load,
    volume_spec,
)
from burstwatch.forecast.whatif import Answer, check_balance
from burstwatch.formatting import InputError, number
from burstwatch.kinds._disk import RATE_UNITS

#: Limits of a demand; a limit of 0 would be no volume.
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


def answer_for_volume(question: Question) -> Answer:
    """Work the question out in closed form.

    Raises:
        ValueError: naming the value.
    """
    volume = volume_spec(
        question.volume_type,
        question.size_gib,
        iops=question.provisioned_iops,
        mib_s=question.provisioned_mib_s,
    )
    _check(question)
    _check_provisioned(question)
    iops, io_kib = _stream(question, volume)
    access: Access = question.access or ("sequential" if volume.unit == "MiB" else "random")
    instance = InstanceLimits(
        iops=math.inf if question.instance_iops is None else question.instance_iops,
        mib_s=math.inf if question.instance_mib_s is None else question.instance_mib_s,
    )

    def served(*, has_credits: bool) -> Served:
        return served_load(
            volume,
            iops=iops,
            io_kib=io_kib,
            access=access,
            has_credits=has_credits,
            instance=instance,
        )

    full, empty = served(has_credits=True), served(has_credits=False)
    now = full if question.balance_percent > 0 else empty
    answer = Answer(
        state="not_applicable",
        reason=volume.no_bucket_reason,
        baseline=volume.baseline,
        burst=volume.burst,
        capacity=None if volume.bucket is None else volume.bucket.capacity,
        credit_unit=volume.unit,
        limit_mib_s=volume.limit_mib_s,
        limit_mib_s_when_empty=volume.limit_mib_s_when_empty,
        binding=now.binding,
        at_zero=""
        if volume.bucket is None
        else f"{number(empty.iops)} IOPS, {number(empty.mib_s)} MiB/s",
        io_kib=io_kib,
        access=access,
        served_iops=now.iops,
        served_mib_s=now.mib_s,
        served_iops_when_empty=empty.iops,
        served_mib_s_when_empty=empty.mib_s,
    )
    if volume.bucket is None:
        return answer
    return answer.for_bucket(
        volume.bucket,
        level=question.balance_percent / 100 * volume.bucket.capacity,
        spend=full.credits_per_s,
        rate_unit=RATE_UNITS[volume.unit],
    )


def _check(question: Question) -> None:
    """Raise ValueError for a number that is out of its range, with the name and the range."""
    for name in ("iops", "mib_s", *LIMITS):
        value = getattr(question, name)
        lowest = SMALLEST if name in LIMITS else 0.0
        if value is not None and not (value == lowest or SMALLEST <= value <= LARGEST):
            is_bounded = name in LIMITS or value > LARGEST
            span_of_values = f"from {lowest:g} to {LARGEST:g}" if is_bounded else "0 or more"
            msg = f"must be {span_of_values}, got {value:g}"
            raise InputError(msg, name=name)
    if question.io_kib is not None and not SMALLEST <= question.io_kib <= LARGEST:
        msg = f"must be above 0 and at most {LARGEST:g}, got {question.io_kib:g}"
        raise InputError(msg, name="io_kib")
    check_balance(question.balance_percent)


def _check_provisioned(question: Question) -> None:
    """Refuse rates that AWS does not provision for this type and size."""
    kind = find_type(question.volume_type)
    chosen = kind.provisioned
    iops, mib_s = question.provisioned_iops, question.provisioned_mib_s
    if iops is not None:
        if chosen is None:
            msg = f"is {iops:g}, and {kind.name} has none: only gp3, io1 and io2 do"
            raise InputError(msg, name="provisioned_iops")
        most = chosen.most_iops(kind, question.size_gib)
        if not chosen.iops.value <= iops <= most:
            msg = f"must be {chosen.iops.value:g} to {most:g} for {kind.name} of {question.size_gib:g} GiB, got {iops:g}"
            raise InputError(msg, name="provisioned_iops")
    if mib_s is not None:
        if chosen is None or chosen.mib_s is None:
            msg = f"is {mib_s:g}, and {kind.name} has none: only gp3 does"
            raise InputError(msg, name="provisioned_mib_s")
        most = chosen.most_mib_s(kind, chosen.iops.value if iops is None else iops)
        if not chosen.mib_s.value <= mib_s <= most:
            msg = f"must be {chosen.mib_s.value:g} to {most:g} at {chosen.iops.value if iops is None else iops:g} IOPS, got {mib_s:g}"
            raise InputError(msg, name="provisioned_mib_s")


def _stream(question: Question, volume: VolumeSpec) -> tuple[float, float]:
    """The demand as operations per second and KiB per operation."""
    iops, io_kib, mib_s = question.iops, question.io_kib, question.mib_s
    if iops is None and mib_s is None:
        msg = "give the load: --iops, --mib-s or both"
        raise ValueError(msg)
    default_io_kib = 16.0 if volume.unit == "io" else volume.io_kib
    if iops is None or mib_s is None:
        size = io_kib or default_io_kib
        rate = iops if iops is not None else (mib_s or 0.0) * KIB_PER_MIB / size
        return rate, size
    if iops == 0 and mib_s == 0:
        return 0.0, io_kib or default_io_kib
    if iops == 0 or mib_s == 0:
        msg = f"{iops:g} and mib_s {mib_s:g} contradict each other, leave one of them out"
        raise InputError(msg, name="iops")
    implied = mib_s * KIB_PER_MIB / iops
    if io_kib is not None and not math.isclose(implied, io_kib, rel_tol=0.01):
        msg = f"{iops:g} x io_kib {io_kib:g} is not mib_s {mib_s:g}, leave one of them out"
        raise InputError(msg, name="iops")
    return iops, implied
