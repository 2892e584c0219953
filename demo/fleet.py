"""The fleet of the demo: its volumes, and the load of each.

Every volume lives through a day, most of it in the past: calm recorded load first,
then its *episode*, which reaches into the minutes that are played in real time.
Episodes are recordings of real machines or the published drain runs. Times are
seconds relative to the moment the real time begins.
"""

import math
from dataclasses import dataclass, field, replace
from pathlib import Path

from burstwatch import bucket as tb
from burstwatch.backtest.simulate import Phase, Simulation
from burstwatch.backtest.workloads import read_workload, scaled_loads
from burstwatch.bucket import Bucket
from burstwatch.ebs.volumes import Access, VolumeSpec, volume_spec

#: Recordings of real machines; see the README there.
WORKLOADS = Path(__file__).parent / "workloads"
DAY_S = 86_400.0
MINUTE_S = 60.0
HOLD_S = 600.0
#: By then the first sweep has been, also where everything is played fast.
SOONEST_DRY_S = 120.0
#: With the live minutes over, loads go on for as long as anybody watches.
AFTER_S = 24 * 3600.0
#: Sustains more than the whole fleet asks of it, so that only volumes run out.
LARGE = "m5.8xlarge"
#: Have balances of their own, which AWS publishes, and one volume each.
SMALL, MEDIUM = "m5.large", "m5.xlarge"
#: It bursts, and AWS publishes no balance of a size above 4xlarge: it cannot be watched.
UNPUBLISHED = "m7i-flex.8xlarge"


@dataclass(frozen=True, kw_only=True)
class Spec:
    """One volume, with its loads over the day before and the time after the start."""

    name: str
    volume_type: str
    size_gib: int
    history: str = "smd/machine-2-4_w"
    episode: list[Phase] = field(default_factory=list)
    episode_from_s: float = 0.0
    silent: bool = False
    instance_type: str = LARGE

    @property
    def spec(self) -> VolumeSpec:
        """The promise of its type and size."""
        return volume_spec(self.volume_type, self.size_gib)

    @property
    def bucket(self) -> Bucket:
        """Its bucket, or one that nothing drains where the type has none."""
        spec = self.spec
        return spec.bucket or Bucket(capacity=1, refill=spec.burst, burst=spec.burst)

    def simulation(self) -> Simulation:
        """The volume as CloudWatch reports it, by the minute."""
        return Simulation(spec=self.spec, bucket=self.bucket, period_s=MINUTE_S)

    def loads(self) -> list[Phase]:
        """All loads, from a day before the start on."""
        return [*_calm(self.history, self.spec, DAY_S + self.episode_from_s), *self.episode]


def build_fleet(*, dry_earlier_s: float = 0.0) -> list[Spec]:
    """Sixteen volumes: six run out, four come close and recover, the others need no one."""

    def _dry(spec: Spec, episode: list[Phase], *, at_s: float) -> Spec:
        return _drained(spec, episode, at_s=max(SOONEST_DRY_S, at_s - dry_earlier_s))

    return [
        _dry(_gp2("drain-1", 1), _published(2894, 2964.8, 2982.9), at_s=330),
        _dry(_gp2("drain-10", 10), _published(2945, 2945.1, 2943.9), at_s=360),
        _dry(_gp2("drain-100", 100), _published(2945.7, 2944.9, 2944.9), at_s=390),
        _dry(_gp2("drain-500", 500), _published(2946.9, 3164, 2944.8), at_s=400),
        _dry(
            replace(_gp2("database", 250), instance_type=MEDIUM),
            _saturating("smd/machine-3-10_w", 33_801),
            at_s=410,
        ),
        _dry(
            Spec(name="log-archive", volume_type="st1", size_gib=500, history="smd/machine-1-8_w"),
            _steady(mib_s=130),
            at_s=380,
        ),
        _close(_gp2("ci-runner", 214), _recorded("smd/machine-1-2_w", 43_566), ratio=0.47),
        _close(_gp2("search", 500), _recorded("smd/machine-1-3_w", 20_966), ratio=0.43),
        _close(_gp2("mail", 750), _recorded("smd/machine-1-2_r", 14_834), ratio=0.41),
        _close(_gp2("wiki", 750), _recorded("smd/machine-3-10_r", 10_346), ratio=0.41),
        replace(
            _gp2("web", 334),
            history="nab/nab_1ef3de",
            episode=_recorded("smd/machine-2-7_w", 3_000, minutes=60, peak_iops=900),
            instance_type=SMALL,
        ),
        Spec(
            name="backup",
            volume_type="sc1",
            size_gib=1024,
            history="nab/nab_c0d644",
            episode=_steady(mib_s=10),
        ),
        replace(_gp2("cold-spare", 100), silent=True, instance_type=UNPUBLISHED),
        Spec(name="cache", volume_type="gp3", size_gib=100, episode=_steady(iops=2500)),
        replace(_gp2("warehouse", 1000), episode=_steady(iops=3000)),
        replace(_gp2("lake", 3334), episode=_steady(iops=6000)),
    ]


def recorded_rates(name: str) -> list[float]:
    """Operations of one recording by step, in the recording's own unit."""
    return read_workload(WORKLOADS / f"{name}.csv.gz").rates


def load_for(seconds: float, *, iops: float) -> Phase:
    """Random I/O at a rate, half of it reads."""
    return Phase(seconds=seconds, read_iops=iops / 2, write_iops=iops / 2)


def _gp2(name: str, size_gib: int) -> Spec:
    return Spec(name=name, volume_type="gp2", size_gib=size_gib)


def _drained(spec: Spec, episode: list[Phase], *, at_s: float) -> Spec:
    """``episode`` from a full bucket on, begun so early that it is empty at ``at_s``."""
    points = spec.simulation().play(episode)
    takes_s = next(point.emptied_at for point in points if point.emptied_at is not None)
    return replace(spec, episode=episode, episode_from_s=at_s - takes_s)


def _close(spec: Spec, live: list[Phase], *, ratio: float) -> Spec:
    """A job takes the balance to ``ratio``, ten minutes hold it there, then ``live`` begins."""
    bucket = spec.bucket
    job_s = (1 - ratio) * tb.worst_time_to_empty(bucket, level=bucket.capacity)
    job = Phase(seconds=job_s, read_iops=0.0, write_iops=bucket.burst)
    hold = Phase(seconds=HOLD_S, read_iops=0.0, write_iops=bucket.refill)
    return replace(spec, episode=[job, hold, *live], episode_from_s=-(job_s + HOLD_S))


def _published(*rates: float) -> list[Phase]:
    """A drain run of gp2_observed_drain.csv: one writer with 512-byte blocks, by the minute."""
    minutes = int(AFTER_S // MINUTE_S)
    return [
        Phase(seconds=MINUTE_S, read_iops=0.0, write_iops=rates[i % len(rates)], io_kib=0.5)
        for i in range(minutes)
    ]


def _recorded(name: str, start: int, *, minutes: int = 12, peak_iops: float = 3000) -> list[Phase]:
    """Minutes of a recording with its peak at ``peak_iops``, then its last minute on and on."""
    rates = recorded_rates(name)[start : start + minutes]
    mean = peak_iops * sum(rates) / len(rates) / max(rates)
    loads = scaled_loads(rates, step_s=MINUTE_S, mean_iops=mean, reads=0.5)
    return [*loads, replace(loads[-1], seconds=AFTER_S)]


def _saturating(name: str, start: int) -> list[Phase]:
    """An hour and a half of a recording, never asking for less than a gp2 volume's burst."""
    rates = recorded_rates(name)[start : start + 90]
    mean = 3000 * sum(rates) / len(rates) / min(rates)
    loads = scaled_loads(rates, step_s=MINUTE_S, mean_iops=mean, reads=0.7)
    return [*loads, replace(loads[-1], seconds=AFTER_S)]


def _steady(*, iops: float = 0.0, mib_s: float = 0.0) -> list[Phase]:
    if mib_s:
        return [
            Phase(seconds=AFTER_S, read_iops=mib_s, write_iops=0, io_kib=1024, access="sequential")
        ]
    return [load_for(AFTER_S, iops=iops)]


def _calm(name: str, spec: VolumeSpec, seconds: float) -> list[Phase]:
    """``seconds`` of a recording at 0.4 x baseline on average, capped at the baseline.

    The cap keeps the bucket full: to drain it is left to the episode.
    """
    step_s = 300.0 if name.startswith("nab/") else MINUTE_S
    sequential = spec.unit == "MiB"
    access: Access = "sequential" if sequential else "random"
    day = recorded_rates(name)[-int(DAY_S // step_s) :]
    loads = scaled_loads(
        day,
        step_s=step_s,
        mean_iops=0.4 * spec.baseline,
        reads=0.4,
        io_kib=1024.0 if sequential else 16.0,
    )
    capped = [
        replace(
            load,
            access=access,
            read_iops=min(load.read_iops, 0.4 * spec.baseline),
            write_iops=min(load.write_iops, 0.6 * spec.baseline),
        )
        for load in loads
    ]
    whole, rest = int(seconds // step_s), math.fmod(seconds, step_s)
    return [replace(capped[-1], seconds=rest), *capped[len(capped) - whole :]]
