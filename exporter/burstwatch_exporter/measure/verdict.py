"""Judges a run against the disk's promise, in one word and with the reason."""

import math
from dataclasses import dataclass
from typing import Literal

from burstwatch.formatting import number
from burstwatch_exporter.measure.expect import (
    DiskLimits,
    Expectation,
    ExpectedRates,
    IoPattern,
    expect,
)
from burstwatch_exporter.measure.outputs import MS_PER_S

Word = Literal[
    "bursting",
    "at baseline",
    "instance-limited",
    "as promised",
    "as asked",
    "below its promise",
    "not this type",
    "no promise",
    "too short",
]
#: A measured rate this close to a promised one, as a share, is that one.
NEAR = 0.1
#: Seconds at the start of a program that say nothing of what it is served.
LEAST_S = 3.0


@dataclass(frozen=True, kw_only=True, slots=True)
class PromiseVerdict:
    """The word, why, and the promise that it rests on; None where nothing is promised."""

    word: Word
    reason: str
    promised_iops: float | None
    promised_mib_s: float | None
    promised_latency_s: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Credits:
    """The credits left by count when a run ended, as shares of the bucket."""

    low: float
    high: float


def judge(
    pattern: IoPattern, disk: DiskLimits, *, iops: float, ran_s: float, credits_left: Credits | None
) -> PromiseVerdict:
    """Judge ``iops`` in ``ran_s`` seconds; ``credits_left`` is None for a disk without a bucket."""
    expected = expect(pattern, disk)
    best = expected.best
    if ran_s < LEAST_S:
        reason = f"it ran {ran_s:.1f} s, and less than {LEAST_S:g} s do not tell"
        return _verdict("too short", reason, best if math.isfinite(best.iops) else None)
    if not disk.is_known or not math.isfinite(best.iops):
        reason = "nobody publishes what this disk gives"
        if not disk.is_known:
            reason = "several volumes, and no stripe: how they share the work is not known"
        return _verdict("no promise", reason, None)
    if best.holds == "asked":
        return _asked(pattern, iops, best)
    if iops > (1 + NEAR) * best.iops:
        return _above(pattern, disk, iops, best)
    if _is_near(iops, best.iops):
        return _at_best(disk, iops, expected)
    return _below(pattern, iops, expected, credits_left)


def _below(
    pattern: IoPattern, iops: float, expected: Expectation, credits_left: Credits | None
) -> PromiseVerdict:
    """Say why fewer IOPS were served than promised, as far as the credits tell."""
    best, empty = expected.best, expected.empty
    in_flight = "nothing was served"
    if iops > 0:
        in_flight = (
            f"{pattern.in_flight} in flight of {pattern.in_flight / iops * MS_PER_S:.2g} ms each"
        )
    if empty is not None and _is_near(iops, empty.iops):
        if credits_left is None or credits_left.low <= 0:
            return _verdict("at baseline", f"{_beside(iops, empty)}: out of credits", empty)
        reason = (
            f"{number(iops)} IOPS are its baseline, but by count {credits_left.low:.0%} to {credits_left.high:.0%} of the credits "
            f"are left. Possible causes: {in_flight} are too few, a limit of the instance, first reads from a "
            "snapshot, or a cgroup limit"
        )
        return _verdict("below its promise", reason, best)
    if empty is not None and iops > empty.iops:
        reason = (
            f"{number(iops)} IOPS: above the baseline of {number(empty.iops)}, so it spends credits, and under the "
            f"{number(best.iops)} that it may have: {in_flight} ask for no more, or the credits ran out on the way"
        )
        return _verdict("bursting", reason, best)
    floor = best if empty is None else empty
    reason = (
        f"{_beside(iops, floor)}: {in_flight}. Repeat with more in flight. If it stays slow, the cause is one of: "
        "first reads from a snapshot, other load, or a limit on this host"
    )
    return _verdict("below its promise", reason, floor)


def _asked(pattern: IoPattern, iops: float, best: ExpectedRates) -> PromiseVerdict:
    if iops >= (1 - NEAR) * best.iops:
        return _verdict("as asked", f"{number(iops)} IOPS, and no more were asked for", best)
    reason = (
        f"{number(iops)} of {number(best.iops)} IOPS asked for: "
        f"{pattern.in_flight} in flight {'is' if pattern.in_flight == 1 else 'are'} not enough, or the disk is busy"
    )
    return _verdict("below its promise", reason, best)


def _above(
    pattern: IoPattern, disk: DiskLimits, iops: float, best: ExpectedRates
) -> PromiseVerdict:
    """Say how more IOPS than promised can be: merged operations, or something else than the volume answered."""
    merged = expect(pattern, disk, merged=True).best.iops
    if iops <= (1 + NEAR) * merged:
        reason = (
            f"{_beside(iops, best)} if each operation is counted. EBS may merge sequential operations, "
            f"up to {number(merged)} IOPS"
        )
        has_bucket = disk.volume_spec is not None and disk.volume_spec.bucket is not None
        return _verdict("bursting" if has_bucket else "as promised", reason, best)
    reason = f"{_beside(iops, best)}: a cache on the way answered, or the volume is of another type or size"
    return _verdict("not this type", reason, best)


def _at_best(disk: DiskLimits, iops: float, expected: Expectation) -> PromiseVerdict:
    """Say what held the rate, when all was served that can be."""
    best = expected.best
    if best.holds in {"instance_iops", "instance_throughput"}:
        reason = f"{_beside(iops, best)}: the instance's limit, which is under the volume's"
        return _verdict("instance-limited", reason, best)
    if expected.empty is None or disk.volume_spec is None:
        return _verdict("as promised", _beside(iops, best), best)
    if expected.empty.iops >= (1 - NEAR) * best.iops:
        return _verdict("as promised", f"{_beside(iops, best)}, with credits or without", best)
    spent = best.credits_per_s / disk.members - disk.volume_spec.baseline
    reason = f"{_beside(iops, best)}: it spends {number(max(0.0, spent))} credits a second more than it earns"
    return _verdict("bursting", reason, best)


def _is_near(iops: float, promised: float) -> bool:
    return abs(iops - promised) <= NEAR * promised


def _beside(iops: float, spec: ExpectedRates) -> str:
    return f"{number(iops)} IOPS, promised are {number(spec.iops)}"


def _verdict(word: Word, reason: str, spec: ExpectedRates | None) -> PromiseVerdict:
    return PromiseVerdict(
        word=word,
        reason=reason,
        promised_iops=None if spec is None else spec.iops,
        promised_mib_s=None if spec is None else spec.mib_s,
        promised_latency_s=None if spec is None else spec.latency_s,
    )
