"""Makes the volumes that a paging rule is tried on, and finds when each really ran out."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from burstwatch.backtest.replay import volume
from burstwatch.backtest.simulate import Datapoint, Simulation, to_sample
from burstwatch.backtest.workloads import Workload, scaled_loads
from burstwatch.ebs.volumes import volume_spec
from burstwatch.forecast.judge import BACK_RATIO
from burstwatch.history.observations import Resource
from burstwatch.history.track import EMPTY_RATIO, RECOVERED_RATIO
from burstwatch.kinds.base import Kind
from burstwatch.kinds.ebs_volume import KIND
from burstwatch.recordings.samples import Sample, to_points


@dataclass(frozen=True, kw_only=True, slots=True)
class Incident:
    """One run-out: from empty until back at 20%, in seconds; infinite if not in the data.

    ``full_s`` is when the bucket was last as good as full before.
    """

    empty_s: float
    recovered_s: float
    full_s: float = -math.inf


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One volume over time: what is shown of it by period, and when it really ran out.

    ``group`` is what is independent of the others: one machine, however many of its
    disks and at however many sizes it is played. ``kind`` is a name, for a ``Kind`` cannot be
    sent to another process. ``points`` is what a simulation really did; it is empty for a recording.
    """

    name: str
    group: str
    scenario: str
    resource: Resource
    rows: list[Sample]
    step_s: float
    events: list[Incident]
    points: Sequence[Datapoint] = ()
    kind: str = KIND.name


def make_trial(workload: Workload, *, volume_type: str, size_gib: float, rho: float) -> Trial:
    """A volume under a workload whose mean is ``rho`` times its baseline.

    Raises:
        ValueError: for a volume without a bucket, which can never run out.
    """
    spec = volume_spec(volume_type, size_gib)
    if spec.bucket is None:
        raise ValueError(spec.no_bucket_reason)
    sequential = spec.unit == "MiB"
    loads = scaled_loads(
        workload.rates,
        step_s=workload.step_s,
        mean_iops=rho * spec.baseline,
        reads=0.0 if workload.name.endswith("_w") else 1.0,
        io_kib=1024.0 if sequential else 16.0,
        access="sequential" if sequential else "random",
    )
    simulation = Simulation(spec=spec, bucket=spec.bucket, period_s=workload.step_s)
    points = list(simulation.play(loads))
    return Trial(
        name=workload.name,
        group=workload.name.removesuffix("_r").removesuffix("_w"),
        scenario=f"{size_gib:g} GiB at {rho:g}",
        resource=volume(volume_type, size_gib),
        rows=[to_sample(point) for point in points],
        step_s=workload.step_s,
        events=_true_events(points),
        points=points,
    )


def recorded_trial(
    rows: Sequence[Sample], resource: Resource, *, name: str, step_s: float, kind: Kind = KIND
) -> Trial:
    """A resource's own recorded history: its level says when it ran out.

    Raises:
        ValueError: for a resource without a bucket, which can never run out.
    """
    if resource.bucket is None:
        msg = f"{name}: {resource.terms.no_bucket_reason}"
        raise ValueError(msg)
    levels = to_points(rows, resource, step_s, kind)[0]
    events = incidents(
        (point.start_s + step_s, point.ratio <= EMPTY_RATIO, point.ratio) for point in levels
    )
    return Trial(
        name=name,
        group=name,
        scenario="as recorded",
        resource=resource,
        rows=list(rows),
        step_s=step_s,
        kind=kind.name,
        events=events,
    )


def _true_events(points: Sequence[Datapoint]) -> list[Incident]:
    return incidents(
        (point.start_s + point.period_s, point.emptied_at is not None, point.level_ratio)
        for point in points
    )


def incidents(steps: Iterable[tuple[float, bool, float]]) -> list[Incident]:
    """Incidents from (end of the step, whether it turned empty in it, level at the end).

    An event's time is the end of its step: that is when a datapoint first shows it.
    """
    events: list[Incident] = []
    is_open, full_s = False, -math.inf
    for end_s, turned_empty, ratio in steps:
        full_s = end_s if ratio >= BACK_RATIO else full_s
        if is_open and ratio >= RECOVERED_RATIO:
            events[-1] = replace(events[-1], recovered_s=end_s)
            is_open = False
        elif not is_open and turned_empty:
            events.append(Incident(empty_s=end_s, recovered_s=math.inf, full_s=full_s))
            is_open = True
    return events
