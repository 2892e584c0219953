"""What was found, as it is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstwatch_exporter.measure import record as rec
from burstwatch_exporter.promise import GIB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burstwatch_exporter.host import View
    from burstwatch_exporter.measure.jobs import Step
    from burstwatch_exporter.measure.meter import Seen
    from burstwatch_exporter.measure.outcome import Way
    from burstwatch_exporter.measure.run import Run
    from burstwatch_exporter.measure.verdict import Verdict


def iops_of(run: Run) -> float | None:
    """By the program's own count, which has its own I/O alone; else by the device's. None without a result."""
    found = run.outcome
    if found is None:
        return None
    return run.device_iops if found.read is None and found.write is None else found.iops


def step_record(
    step: Step, run: Run, verdict: Verdict | None, published: Sequence[rec.PublishedRecord]
) -> rec.StepRecord:
    """One step with what came of it."""
    found = run.outcome
    mib_s = None
    if found is not None:
        mib_s = run.device_mib_s if found.read is None and found.write is None else found.mib_s
    return rec.StepRecord(
        name=step.name,
        tool=step.tool,
        version="" if found is None else found.version,
        block_kib=step.block_kib,
        jobs=step.jobs,
        depth=step.depth,
        read_share=step.read_share,
        is_random=step.is_random,
        rate_iops=step.rate_iops,
        wanted_s=step.runtime_s,
        ran_s=run.ran_s,
        spent=run.spent,
        stopped=run.stopped,
        failed=run.failed,
        iops=iops_of(run),
        mib_s=mib_s,
        mean_s=None if found is None else found.mean_s,
        files_mib_s=None if found is None else found.files_mib_s,
        read=_way(None if found is None else found.read),
        write=_way(None if found is None else found.write),
        verdict=verdict,
        published=published,
        samples=[[one.at, one.iops, one.mib_s] for one in run.samples],
        latencies=[list(pair) for pair in (found.latencies if found else ())],
        raw=None if found is None else found.raw,
    )


def volume_record(view: View, before: Seen, after: Seen) -> rec.VolumeRecord:
    """A volume with what it had and spent."""
    name, promise = view.disk.name, view.promise
    purse = None
    if promise is not None and promise.own_bucket is not None and name in before.left:
        bucket, spent = promise.own_bucket, after.spent[name]
        purse = rec.PurseRecord(
            capacity=bucket.capacity,
            refill=bucket.refill,
            burst=bucket.burst,
            before_low=before.left[name].low / bucket.capacity,
            before_high=before.left[name].high / bucket.capacity,
            after_low=after.left[name].low / bucket.capacity,
            after_high=after.left[name].high / bucket.capacity,
            spent_least=spent.least,
            spent_nominal=spent.nominal,
            spent_most=spent.most,
        )
    return rec.VolumeRecord(
        volume_id=view.disk.volume_id,
        device=name,
        volume_type="" if promise is None else promise.profile.volume_type,
        size_gib=view.disk.size_bytes / GIB,
        unit="" if promise is None else promise.profile.unit,
        purse=purse,
    )


def _way(way: Way | None) -> rec.WayRecord | None:
    if way is None:
        return None
    return rec.WayRecord(
        iops=way.iops,
        mib_s=way.mib_s,
        mean_s=way.mean_s,
        percentiles_s={f"{percent:g}": value for percent, value in way.percentiles_s.items()},
    )
