"""A mixed account: how long one sweep of everything takes, and what it costs to watch each kind.

The account has 10,000 things: half of them volumes, the others burstable instances, databases,
file systems and caches. One sweep of the Lambda handler, with nothing in memory, runs against the strict fake with the
account's quotas. Then each kind is watched through a simulated day, minute by minute, after two
hours that fill the memory: a fifth of the things stand off full, the others are full.
"""

import sys
from collections.abc import Iterator
from typing import Any

from benchmarks.programs import fake
from benchmarks.record import keep
from benchmarks.shards import CORE_MIB, FILLED, MOST_S, RESERVE_S, SHARE, sweep
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import look
from burstwatch.config import Config
from burstwatch.ebs.watching_prices import METRIC_REQUEST, MONTH_S
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind
from tests.conftest import fake_cloud
from tests.fake.mixed import Mixed

VOLUMES, OTHERS = 5_000, 5_000
MEMORY_MIB, MINUTES = 1_024, 1
#: Things of each kind that are watched for a day.
FEW = 200
MINUTE_S, HOUR_S, DAY_S = 60.0, 3_600.0, 86_400.0
WARM_UP_S = 2 * HOUR_S
#: What the fleet of the second part has.
KINDS = (
    "ec2_instance_cpu",
    "ec2_instance_ebs",
    "rds_storage",
    "rds_instance_ebs",
    "rds_instance_cpu",
    "efs_file_system",
    "elasticache_node_cpu",
)


def main() -> int:
    """Both parts. 0 if the sweep fits."""
    swept = one_sweep()
    print(
        f"{swept['volumes'] + swept['others']} things: {swept['wall_s']:.1f} s of {swept['timeout_s']:.0f} s, "
        f"{swept['peak_mib']:.0f} MiB of {MEMORY_MIB}, {swept['billed_metrics']} metrics, {swept['refused']} calls refused"
        f"{'' if swept['fits'] else ', does not fit'}",
        flush=True,
    )
    kinds = []
    for kind in map(find_kinds().__getitem__, KINDS):
        kinds.append(found := a_day(kind))
        print(
            f"{kind.name:22} {found['resources']:4} resources {found['metrics_a_month']:7.0f} metrics a month "
            f"{100 * found['usd_month']:5.2f} cents each",
            flush=True,
        )
    keep("mixed", [{"sweep": swept, "kinds": kinds}])
    return 0 if swept["fits"] else 1


def one_sweep() -> dict[str, float]:
    """The first sweep of the whole account, in a process with the share of a core of its memory."""
    with fake(VOLUMES, mixed=OTHERS) as (url, ended):
        run = sweep("1/1", url, core=MEMORY_MIB / CORE_MIB, kinds="")
        told = ended()
    timeout_s = min(60 * MINUTES - RESERVE_S, MOST_S)
    return {
        "volumes": VOLUMES,
        "others": OTHERS,
        "memory_mib": MEMORY_MIB,
        "wall_s": run.wall_s,
        "timeout_s": timeout_s,
        "peak_mib": run.peak_mib,
        "cpu_s": run.cpu_s,
        "billed_metrics": told["billed_metrics"],
        "refused": sum(told["refused"].values()),
        "fits": run.wall_s <= SHARE * timeout_s and run.peak_mib <= FILLED * MEMORY_MIB,
    }


def a_day(kind: Kind) -> dict[str, Any]:
    """What one kind asks for in a day, for each of its resources and in USD a month."""
    with fake_cloud() as cloud:
        cloud.aws.add_mixed(Mixed(FEW))
        cloud.aws.keeps_calls = False
        memory, began, before = Memory(), cloud.clock.now, 0
        for now in _minutes(began, WARM_UP_S + DAY_S):
            if now < began + WARM_UP_S:
                before = cloud.aws.billed_metrics
            cloud.clock.now = now
            found = look(
                cloud.unit, [kind], cloud.clients, Config(), memory, now=now, deadline=cloud.never()
            )  # fmt: skip
        resources = sum(one.bucket is not None for one, _ in found.assessments.values())
        metrics = (cloud.aws.billed_metrics - before) / resources * MONTH_S / DAY_S
    return {
        "kind": kind.name,
        "resources": resources,
        "metrics_a_month": metrics,
        "usd_month": metrics * METRIC_REQUEST.value,
    }


def _minutes(began: float, seconds: float) -> Iterator[float]:
    return (began + minute * MINUTE_S for minute in range(int(seconds / MINUTE_S)))


if __name__ == "__main__":
    sys.exit(main())
