"""Rows of a recording, and what was seen of them."""

from dataclasses import dataclass

from burstwatch.backtest.replay import volume
from burstwatch.backtest.simulate import Phase, Simulation
from burstwatch.ebs.volumes import volume_spec
from burstwatch.forecast.projection import Projection, project
from burstwatch.history.observations import Observation, Resource, observe
from burstwatch.history.points import DemandPoint, LevelPoint
from burstwatch.recordings.samples import Sample, to_points
from tests.recorded import volume_samples, write_series


def rows_of(loads: list[Phase], *, size: float = 100, period_s: float = 60.0) -> list[Sample]:
    spec = volume_spec("gp2", size)
    assert spec.bucket is not None
    simulation = Simulation(spec=spec, bucket=spec.bucket, period_s=period_s)
    return volume_samples(write_series(simulation.play(loads)))


AGE = 300.0


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Datapoints, which a test may thin out before they are looked at."""

    resource: Resource
    at: float
    levels: list[LevelPoint]
    demand: list[DemandPoint]

    def project(self) -> Projection:
        return project(self.observation, max_data_age_s=AGE)

    @property
    def observation(self) -> Observation:
        return observe(self.resource, self.at, self.levels, self.demand)


def watch(
    loads: list[Phase], *, ratio: float = 1.0, size: float = 100, volume_type: str = "gp2",
    charge_ratio: float = 1.0, age_s: float = 0.0, io: bool = True, period_s: float = 60.0,
) -> tuple[Seen, float]:  # fmt: skip
    """What CloudWatch shows at the end of ``loads``, and the true level then."""
    spec = volume_spec(volume_type, size)
    assert spec.bucket is not None
    simulation = Simulation(
        spec=spec, bucket=spec.bucket, charge_ratio=charge_ratio, period_s=period_s
    )
    points = list(simulation.play(loads, ratio=ratio))
    rows = volume_samples(write_series(points))
    resource = volume(volume_type, size)
    levels, demand = to_points(rows, resource, period_s)
    now = points[-1].start_s + period_s
    seen = Seen(
        resource=resource,
        at=now,
        levels=[p for p in levels if p.end_s <= now - age_s],
        demand=[p for p in demand if p.end_s <= now - age_s] if io else [],
    )
    return seen, points[-1].level_ratio


def steady(iops: float, minutes: float, io_kib: float = 16) -> list[Phase]:
    return [Phase(seconds=60 * minutes, read_iops=iops / 2, write_iops=iops / 2, io_kib=io_kib)]
