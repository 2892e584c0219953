"""Fleets in as many shards as they take, each shard in a process of its own as in a function of its own.

Every one is the Lambda handler's first sweep, with nothing in memory, against the strict fake with the account's
quotas, measured by the system. A function has the share of a core that goes with its memory: so each process is
stopped for the rest of the time. They run one after the other, for the machine has not as many cores. Then all of
them start at once, as on the minute in an account, half of whose quota for EC2 others take: that shows what is refused.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from benchmarks.programs import ROOT, environment, fake
from benchmarks.record import keep
from burstwatch.kinds import find_kinds

#: Volumes, in how many shards, the MiB of each, and how often in minutes.
FLEETS = (
    (1_000, 1, 512, 1),
    (5_000, 1, 1_024, 1),
    (25_000, 4, 1_024, 1),
    (100_000, 16, 1_024, 2),
    (100_000, 1, 3_008, 2),
)
#: A function has a whole core at so many MiB (https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html).
CORE_MIB = 1_769
#: So much less than its period a sweep may take (cdk/lib/props.ts), and the share of that that the first one
#: should: with nothing in memory it waits for EC2's quota, which all shards and others in the account share.
RESERVE_S, SHARE = 10.0, 0.75
#: As long as a function may take, however long its period is.
MOST_S = 110.0
#: The calls to EC2 of the kind of the fleet.
EC2_CALLS = [listing.operation for listing in find_kinds()["ebs_volume"].listings]
#: The share of the memory that it may take.
FILLED = 0.75
#: So often a process is stopped for its turn.
TURN_S = 0.1


@dataclass(frozen=True, kw_only=True)
class Run:
    """One shard's sweep."""

    cpu_s: float
    wall_s: float
    peak_mib: float


def main() -> int:
    """Every fleet. 0 if each fits its functions."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shards", description=__doc__)
    parser.add_argument("--volumes", type=int, nargs="+", help="only fleets of these sizes")
    parser.add_argument("--shards", type=int, help="only fleets in so many shards")
    args = parser.parse_args()
    records = []
    for volumes, shards, memory_mib, minutes in FLEETS:
        is_wanted = args.volumes is None or volumes in args.volumes
        if is_wanted and args.shards in {None, shards}:
            records.append(record := measured(volumes, shards, memory_mib, minutes))
            print(
                f"{volumes:7} volumes in {shards:2} shards of {memory_mib} MiB: "
                f"{record['slowest_s']:.1f} s of {record['timeout_s']:.0f} s, {record['peak_mib']:.0f} MiB, "
                f"{1_000 * record['cpu_s'] / volumes:.2f} ms of CPU a volume, "
                f"{record['refused']} calls refused, {record['refused_at_once']} of {record['ec2_calls']} to EC2 "
                f"where all start at once{'' if record['fits'] else ', does not fit'}",
                flush=True,
            )
    if args.volumes is None and args.shards is None:
        keep("shards", records)
    else:
        print(json.dumps(records))
    return 0 if all(record["fits"] for record in records) else 1


def measured(volumes: int, shards: int, memory_mib: int, minutes: int) -> dict[str, Any]:
    """All shards of a fleet: what the slowest and the largest took."""
    with fake(volumes) as (url, ended):
        names = [f"{number + 1}/{shards}" for number in range(shards)]
        runs = [sweep(name, url, core=min(1.0, memory_mib / CORE_MIB)) for name in names]
        told = ended()
    with fake(volumes, others=0.5) as (url, ended), ThreadPoolExecutor(shards) as pool:
        list(pool.map(lambda name: sweep(name, url, core=1.0), names))
        at_once = ended()
    slowest_s, peak_mib = max(run.wall_s for run in runs), max(run.peak_mib for run in runs)
    timeout_s = min(60 * minutes - RESERVE_S, MOST_S)
    return {
        "volumes": volumes,
        "shards": shards,
        "memory_mib": memory_mib,
        "minutes": minutes,
        "timeout_s": timeout_s,
        "slowest_s": slowest_s,
        "peak_mib": peak_mib,
        "cpu_s": sum(run.cpu_s for run in runs),
        "fits": slowest_s <= SHARE * timeout_s and peak_mib <= FILLED * memory_mib,
        "billed_metrics": told["billed_metrics"],
        "refused": sum(told["refused"].values()),
        "refused_at_once": at_once["refused"].get("ec2", 0),
        "ec2_calls": sum(at_once["calls"][name] for name in EC2_CALLS if name in at_once["calls"]),
    }


def sweep(shard: str, url: str, *, core: float, kinds: str = "ebs_volume") -> Run:
    """One shard in a process of its own, with a share of a core; no ``kinds`` are all.

    Raises:
        RuntimeError: if its sweep was not whole.
    """
    began = time.monotonic()
    with tempfile.TemporaryFile() as log:
        child = subprocess.Popen(  # noqa: S603 - our own
            [sys.executable, "-m", "benchmarks.one_sweep", shard],
            env={**environment(url), "BURSTWATCH_KINDS": kinds}, stdout=log, stderr=log, cwd=ROOT,
        )  # fmt: skip
        is_over = threading.Event()
        brake = threading.Thread(target=hold_back, args=(child.pid, core, is_over))
        brake.start()
        _, status, used = os.wait4(child.pid, 0)
        is_over.set()
        child.returncode = status
        brake.join()
        if status:
            log.seek(0)
            msg = f"shard {shard} failed: {log.read()[-500:].decode()}"
            raise RuntimeError(msg)
    return Run(
        cpu_s=used.ru_utime + used.ru_stime,
        wall_s=time.monotonic() - began,
        peak_mib=used.ru_maxrss / 1024,
    )


def hold_back(pid: int, core: float, is_over: threading.Event) -> None:
    """Let a process run for ``core`` of the time only."""
    while core < 1 and not is_over.wait(core * TURN_S):
        try:
            os.kill(pid, signal.SIGSTOP)
            is_over.wait((1 - core) * TURN_S)
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            return


if __name__ == "__main__":
    sys.exit(main())
