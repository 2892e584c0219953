"""Prices a month of watching a fleet, and counts what runs out unannounced.

A simulated month of volumes under recorded and quiet loads, minute by minute. Every look is the product's: its schedule, its questions, its policy; only CloudWatch is played.
Its datapoints are three minutes late, each. `make bench` keeps the figures in ``benchmarks/results``.
"""

import math
import random
import sys
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from statistics import fmean

from benchmarks.month_bill import SIZES, Spell, month_bill, spells
from benchmarks.month_fleet import FLEET, Member, fleet
from benchmarks.record import keep
from burstwatch.aws.client.session import Deadline
from burstwatch.aws.look.reading import Reader, ask
from burstwatch.backtest.replay import volume
from burstwatch.backtest.simulate import Datapoint, Simulation
from burstwatch.backtest.workloads import read_workload, scaled_loads
from burstwatch.config import Config
from burstwatch.ebs.volumes import volume_spec
from burstwatch.ebs.watching_prices import METRIC_REQUEST
from burstwatch.forecast.policy import PAGED
from burstwatch.history.observations import Resource, Verdict
from burstwatch.history.track import RECOVERED_RATIO
from burstwatch.kinds import find_kinds
from burstwatch.polling.queries import Allowance
from burstwatch.polling.sampling import Task
from burstwatch.polling.schedule import Schedule
from tests.fake.quick import QuickCloudWatch

KIND = find_kinds()["ebs_volume"]
START = 1_790_000_100.0
MINUTE, DAY = 60.0, 1_440
DAYS = 30
#: Balance, read and write operations every five minutes, as it is mostly done.
FIXED = 3 * DAYS * DAY // 5
#: So many processes' worth of volumes: what one holds in memory at a time.
PARTS = 6
#: The first minute of which something can have been reported.
FIRST = 10
METRICS: dict[str, Callable[[Datapoint], float]] = {
    "BurstBalance": lambda point: 100 * point.balance_minimum,
    "VolumeReadOps": lambda point: point.read_ops,
    "VolumeWriteOps": lambda point: point.write_ops,
    "VolumeReadBytes": lambda point: point.read_bytes,
    "VolumeWriteBytes": lambda point: point.write_bytes,
}


@dataclass(frozen=True, kw_only=True)
class Watching:
    """How a fleet is watched. ``every`` looks at all of it so often, in minutes, whatever it says.

    Each sweep is made by one of ``environments``, by chance, which know nothing of one another.
    """

    config: Config
    delay_s: float
    every: int = 0
    environments: int = 1


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What one volume cost, and how it went. ``late`` ran out with less than the lead announced."""

    member: Member
    billed: int
    looks: int
    alarms: tuple[Spell, ...]
    dry: int
    late: int


def main() -> None:
    """Play the month under each way of watching."""
    delay_s = 180.0
    worst = Config(page_on="worst", lead_s=900.0, max_data_age_s=delay_s)
    members = fleet(FLEET)
    hot = [member for member in members if member.path]
    policies = {
        "deadline": (members, Watching(config=worst, delay_s=delay_s)),
        "deadline, balanced": (members, Watching(config=replace(worst, page_on="balanced"), delay_s=delay_s)),
        # What is quiet cannot be late, and costs what it costs.
        "fixed 5 min": (hot, Watching(config=replace(worst, sweep_period_s=300.0), delay_s=delay_s, every=5)),
    }  # fmt: skip
    records = []
    with ProcessPoolExecutor() as pool:
        for name, (some, watching) in policies.items():
            costs = played(pool, some, watching, days=DAYS, what=name)
            billed = FIXED * len(members) if watching.every else sum(one.billed for one in costs)
            usd = billed * METRIC_REQUEST.value / len(members)
            records.append(
                {
                    "policy": name,
                    "volumes": len(members),
                    "billed_metrics": billed,
                    "usd_per_volume_month": usd,
                    "dry": sum(one.dry for one in costs),
                    "late": sum(one.late for one in costs),
                    "bill": {} if watching.every else bills(costs, watching.config),
                    "share_of_fixed": billed / (FIXED * len(members)),
                    "by_size": {} if watching.every else cents_by(costs, "size_gib"),
                    "by_load": {} if watching.every else cents_by(costs, "load"),
                }
            )
            one = records[-1]
            print(
                f"{name:18} {billed / len(members):7.0f} metrics, {100 * usd:5.2f} cents a volume-month,"
                f" {one['share_of_fixed']:.3f} of fixed, {one['dry']} dry, {one['late']} late"
            )
    keep("month", records)


def played(
    pool: ProcessPoolExecutor,
    members: Sequence[Member],
    watching: Watching,
    *,
    days: int,
    what: str,
) -> list[Cost]:
    """A time of all of them, some in each process."""
    parts = [members[first::PARTS] for first in range(PARTS) if members[first::PARTS]]
    costs = []
    jobs = pool.map(play, parts, [watching] * len(parts), [days] * len(parts))
    for number, some in enumerate(jobs, start=1):
        costs += some
        if sys.stderr.isatty():
            print(f"\r{what} {number}/{len(parts)}\033[K", end="\r", file=sys.stderr)
    return costs


def play(members: Sequence[Member], watching: Watching, days: int) -> list[Cost]:
    """Some volumes, minute by minute, as one unit."""
    clock = _Clock()
    cloudwatch = QuickCloudWatch(clock, delay_s=watching.delay_s)
    truth = {member.id: _load(cloudwatch, member, days) for member in members}
    disks = {member.id: replace(volume("gp2", member.size_gib), id=member.id) for member in members}
    witness = replace(volume("gp2", 100), id="vol-witness")
    minutes = array("d", [START + MINUTE * n for n in range(days * DAY)])
    cloudwatch.series[witness.id, "BurstBalance"] = (minutes, array("d", [100.0] * len(minutes)))
    schedules = [Schedule() for _ in range(watching.environments)]
    chance = random.Random(len(members))  # noqa: S311 - which of them a sweep falls to
    looks: Counter[str] = Counter()
    changes: dict[str, list[tuple[float, Verdict]]] = {name: [(0.0, "ok")] for name in disks}
    # By environment, what it looks at again and when.
    waits: list[dict[int, list[Resource]]] = [{FIRST: list(disks.values())} for _ in schedules]
    for minute in range(FIRST, days * DAY):
        mine = chance.randrange(len(schedules)) if len(schedules) > 1 else 0
        schedule, waiting = schedules[mine], waits[mine]
        due = [disk for at in sorted(waiting) if at <= minute for disk in waiting.pop(at)]
        if not due:
            continue
        clock.now = START + MINUTE * minute
        task = Task(kind=KIND, config=watching.config, schedule=schedule, now=clock.now)
        reader = Reader(
            clients=cloudwatch, now=clock.now, allowance=Allowance(),  # type: ignore[arg-type]
            deadline=Deadline(lambda: 0.0, at=3_600.0),
        )  # fmt: skip
        # In a fleet there is always one with fresh data; it is not counted.
        for judged in ask(task, reader, [*due, witness], list).judgements:
            disk = judged.resource
            if disk is witness:
                continue
            schedule.note(judged, watching.config, clock.now)
            looks[disk.id] += 1
            changes[disk.id].append((clock.now, judged.assessment.verdict))
            wait = (schedule.looks[disk.key].due_at - clock.now) / MINUTE
            following = minute + (watching.every or max(1, math.ceil(wait)))
            waiting.setdefault(following, []).append(disk)
    return [
        _cost(
            member,
            watching.config,
            truth[member.id],
            changes[member.id],
            billed=cloudwatch.requested[member.id],
            looks=looks[member.id],
            end_s=START + MINUTE * days * DAY,
        )
        for member in members
    ]


def _load(cloudwatch: QuickCloudWatch, member: Member, days: int) -> list[float]:
    """Put what is reported of one volume. Returns when it ran out, once an incident."""
    if member.path is None:
        _put_quiet(cloudwatch, member, days)
        return []
    spec = volume_spec("gp2", member.size_gib)
    if spec.bucket is None:
        raise TypeError(member)
    workload = read_workload(member.path)
    loads = scaled_loads(
        workload.rates,
        step_s=workload.step_s,
        mean_iops=member.rho * spec.baseline,
        reads=0.0 if workload.name.endswith("_w") else 1.0,
    )
    simulation = Simulation(spec=spec, bucket=spec.bucket, period_s=MINUTE)
    points = list(simulation.play(loads, start_s=START))[: days * DAY]
    starts = array("d", [point.start_s for point in points])
    for metric, value_of in METRICS.items():
        cloudwatch.series[member.id, metric] = (starts, array("d", map(value_of, points)))
    emptied, is_back = [], True
    for point in points:
        if is_back and point.emptied_at is not None:
            emptied.append(point.emptied_at)
            is_back = False
        is_back = is_back or point.level_ratio >= RECOVERED_RATIO
    return emptied


def _put_quiet(cloudwatch: QuickCloudWatch, member: Member, days: int) -> None:
    """A little I/O each minute, now and then, or none at all: by turns. Always full."""
    every = (1, 10, 0)[int(member.id[4:], 16) % 3]
    starts = array("d", [START + MINUTE * n for n in range(0, days * DAY, every)] if every else [])
    for metric in METRICS:
        value = 100.0 if metric == KIND.level_metrics[0] else 60.0
        cloudwatch.series[member.id, metric] = (starts, array("d", [value] * len(starts)))


def _cost(
    member: Member,
    config: Config,
    emptied: Sequence[float],
    changes: Sequence[tuple[float, Verdict]],
    *,
    billed: int,
    looks: int,
    end_s: float,
) -> Cost:
    times = [at for at, _ in changes]

    def announced(at: float) -> bool:
        return changes[bisect_right(times, at) - 1][1] in PAGED

    needed_s = config.lead_s + config.alarm_path_s
    # What runs out before it can have been announced is no sign of anything.
    counted = [at for at in emptied if at - START > 2 * needed_s]
    return Cost(
        member=member,
        billed=billed,
        looks=looks,
        alarms=tuple(spells(changes, end_s=end_s)),
        dry=len(counted),
        late=sum(not announced(at - needed_s) for at in counted),
    )


def bills(costs: Sequence[Cost], config: Config) -> dict[str, list[Mapping[str, object]]]:
    """USD a month by line, for fleets of several sizes of the same mix."""
    billed, alarms = sum(one.billed for one in costs), [one.alarms for one in costs]
    return {str(size): month_bill(billed, alarms, volumes=size, config=config) for size in SIZES}


def cents_by(costs: Sequence[Cost], what: str, days: int = DAYS) -> dict[str, float]:
    """Cents a volume-month by size or by load."""
    groups: dict[str, list[int]] = defaultdict(list)
    for one in costs:
        groups[str(getattr(one.member, what))].append(one.billed)
    cents = 100 * METRIC_REQUEST.value * DAYS / days
    return {name: cents * fmean(billed) for name, billed in groups.items()}


class _Clock:
    """The time that the round is told."""

    now = START

    def __call__(self) -> float:
        return self.now


if __name__ == "__main__":
    main()
