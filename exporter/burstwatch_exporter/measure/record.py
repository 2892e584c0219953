"""Stores a measurement as a file: written whole or not at all, and checked when read."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from burstwatch.files import put_in_place, read_json
from burstwatch_exporter.credits.disk_spec import GIB
from burstwatch_exporter.credits.snapshot import View
from burstwatch_exporter.measure.jobs import Step
from burstwatch_exporter.measure.meter import MeterReading
from burstwatch_exporter.measure.outputs import Way
from burstwatch_exporter.measure.run import Run
from burstwatch_exporter.measure.verdict import PromiseVerdict

FORMAT: Literal[1] = 1


class RecordError(ValueError):
    """A file that is no result of this program, and why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepRecord:
    """One step: what was asked, what was found, and what cut it short (or nothing).

    ``samples`` are seconds from its start, operations and MiB a second of the device;
    ``latencies`` seconds from its start with the latency then: fio's mean, dbench's greatest. ``spent`` is the most that any volume was charged.
    """

    name: str
    tool: str
    version: str
    block_kib: float
    jobs: int
    depth: int
    read_share: float
    is_random: bool
    rate_iops: float | None
    wanted_s: float
    ran_s: float
    spent: float
    stopped: str
    failed: str
    iops: float | None
    mib_s: float | None
    mean_s: float | None
    files_mib_s: float | None
    read: Way | None
    write: Way | None
    verdict: PromiseVerdict | None
    samples: Sequence[tuple[float, float, float]] = ()
    latencies: Sequence[tuple[float, float]] = ()
    raw: Any = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CreditRecord:
    """A bucket, the balance as shares of it before and after, and what it was charged meanwhile."""

    capacity: float
    refill: float
    burst: float
    before_low: float
    before_high: float
    after_low: float
    after_high: float
    spent_least: float
    spent_nominal: float
    spent_most: float


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeRecord:
    """A volume; ``credit`` is None where it has no bucket, or is not ``is_counted``: its counters cannot be right."""

    volume_id: str
    device: str
    volume_type: str
    size_gib: float
    unit: str
    credit: CreditRecord | None
    is_counted: bool = True

    @property
    def key(self) -> str:
        """As it is known on its host."""
        return self.volume_id or f"device:{self.device}"


@dataclass(frozen=True, kw_only=True, slots=True)
class DrainRecord:
    """The bucket as a drain shows it, beside the catalogue's; None where it cannot be said."""

    knee_s: float
    burst: float
    baseline: float
    drained: float
    capacity: float | None
    refill: float | None
    catalogue_burst: float
    catalogue_baseline: float
    catalogue_capacity: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """A whole measurement. ``stopped`` and ``failed`` are empty where it went to its end.

    ``overspent`` is the most that any volume was charged beyond the budget, by whatever I/O.
    """

    format: Literal[1]
    profile: str
    host: str
    kernel: str
    instance_type: str
    directory: str
    device: str
    fstype: str
    stripe: str
    began_s: float
    ended_s: float
    budget: float | None
    predicted: float
    floor_ratio: float
    stopped: str
    failed: str
    volumes: Sequence[VolumeRecord]
    steps: Sequence[StepRecord]
    drain: DrainRecord | None = None
    overspent: float = 0.0

    @property
    def is_whole(self) -> bool:
        """True if every step has a result, and nothing failed or was stopped."""
        return (
            not self.failed
            and not self.stopped
            and all(not step.failed and step.iops is not None for step in self.steps)
        )

    @property
    def filename(self) -> str:
        """The name of the newest result of a profile on a volume."""
        key = self.volumes[0].key if self.volumes else self.device
        return f"{self.profile}-{key.replace(':', '-').replace('/', '-')}.json"


def result_json(record: Record) -> str:
    """One object; what never was is null."""
    return json.dumps(asdict(record), allow_nan=False)


def write_record(path: Path, record: Record) -> None:
    """Put it in place of the one before.

    Raises:
        OSError: if that cannot be done; what was there before is there still.
    """
    put_in_place(path, lambda file: file.write(result_json(record)))


def read_result(path: Path) -> Record:
    """A result of this program.

    Raises:
        RecordError: naming the file and what is wrong in it.
        OSError: if it cannot be read.
    """
    try:
        return read_json(path, Record)
    except ValueError as error:
        msg = f"{path} is no result of a measurement ({error})"
        raise RecordError(msg) from error


def iops_of(run: Run) -> float | None:
    """By the program's own count, which has its own I/O alone; else by the device's. None without a result."""
    outcome = run.outcome
    if outcome is None:
        return None
    return run.device_iops if outcome.read is None and outcome.write is None else outcome.iops


def step_record(step: Step, run: Run, verdict: PromiseVerdict | None) -> StepRecord:
    """One step with what came of it."""
    outcome = run.outcome
    mib_s = None
    if outcome is not None:
        mib_s = (
            run.device_mib_s if outcome.read is None and outcome.write is None else outcome.mib_s
        )
    return StepRecord(
        name=step.name,
        tool=step.tool,
        version="" if outcome is None else outcome.version,
        block_kib=step.block_kib,
        jobs=step.jobs,
        depth=step.depth,
        read_share=step.read_share,
        is_random=step.is_random,
        rate_iops=step.rate_iops,
        wanted_s=step.runtime_s,
        ran_s=run.ran_s,
        spent=run.spent,
        stopped=run.stopped.why if run.stopped else "",
        failed=run.failed,
        iops=iops_of(run),
        mib_s=mib_s,
        mean_s=None if outcome is None else outcome.mean_s,
        files_mib_s=None if outcome is None else outcome.files_mib_s,
        read=None if outcome is None else outcome.read,
        write=None if outcome is None else outcome.write,
        verdict=verdict,
        samples=[(sample.at, sample.iops, sample.mib_s) for sample in run.samples],
        latencies=list(outcome.latencies) if outcome else [],
        raw=None if outcome is None else outcome.raw,
    )


def volume_record(
    view: View, before: MeterReading, after: MeterReading, *, is_counted: bool
) -> VolumeRecord:
    """A volume with what it had and, unless its counters do not count, what it spent."""
    name, spec = view.disk.name, view.spec
    credit = None
    if is_counted and spec is not None and spec.own_bucket is not None and name in before.intervals:
        bucket, spent = spec.own_bucket, after.spent[name]
        credit = CreditRecord(
            capacity=bucket.capacity,
            refill=bucket.refill,
            burst=bucket.burst,
            before_low=before.intervals[name].low / bucket.capacity,
            before_high=before.intervals[name].high / bucket.capacity,
            after_low=after.intervals[name].low / bucket.capacity,
            after_high=after.intervals[name].high / bucket.capacity,
            spent_least=spent.least,
            spent_nominal=spent.nominal,
            spent_most=spent.most,
        )
    return VolumeRecord(
        volume_id=view.disk.volume_id,
        device=name,
        volume_type="" if spec is None else spec.volume_spec.volume_type,
        size_gib=view.disk.size_bytes / GIB,
        unit="" if spec is None else spec.volume_spec.unit,
        credit=credit,
        is_counted=is_counted,
    )
