"""A day of `burstwatch serve` without waiting for it, as a process that ``served_day`` measures.

Each minute it polls, and renders the page as for a scrape. Prints what that took, an hour a record. The clock is a file, which the fake reads too.
"""

import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

from prometheus_client import CollectorRegistry

from burstwatch.aws.client import pace
from burstwatch.aws.client.session import Clients
from burstwatch.aws.watched.units import Connections, UnitSpec, connect
from burstwatch.config import Config
from burstwatch.fleet.page import FleetCollector
from burstwatch.fleet.poller import Poller
from burstwatch.kinds import find_kinds
from burstwatch.polling.garbage import collect_seldom
from burstwatch.web.exposition import encode

#: Minutes after which what a start costs is over.
COLD_MINUTES = 30


def _set(path: Path, now: float) -> None:
    """Put the time in the place of the one before, whole."""
    draft = path.with_suffix(".new")
    draft.write_text(f"{now:.0f}")
    draft.replace(path)


def main() -> int:
    """Play so many minutes. 0 if every poll was answered."""
    collect_seldom()  # as the command does
    path, minutes = Path(sys.argv[1]), int(sys.argv[2])
    # Minutes come at once here, and pages would wait for a quota of the real time.
    pace.LISTINGS = replace(pace.LISTINGS, value=1e9)
    now = float(path.read_text())
    poller = Poller(
        [UnitSpec(region=os.environ["AWS_REGION"])],
        Connections(home=Clients(os.environ["AWS_REGION"]), connect=connect),
        [*find_kinds("ebs_volume").values()],
        Config(),
        clock=lambda: now,
    )
    registry = CollectorRegistry(auto_describe=False)
    registry.register(
        FleetCollector(poller.readings, clock=lambda: now, period_s=60.0, most_resources=200_000)
    )
    marks: list[dict[str, float]] = []
    for minute in range(1, minutes + 1):
        now += 60.0
        _set(path, now)
        poller.poll()
        (reading,) = poller.readings()
        if reading.problems:
            print(reading.problems, file=sys.stderr)
            return 1
        body = encode(registry, "")[1]
        if minute in {COLD_MINUTES, minutes} or minute % 60 == 0:
            marks.append(
                {
                    "minute": minute,
                    "cpu_s": time.process_time(),
                    "metrics": reading.spent.metrics,
                    "calls": reading.spent.answers,
                    "resident_mib": _resident_mib(),
                    "series": sum(not line.startswith(b"#") for line in body.splitlines()),
                }
            )
    print(json.dumps(marks))
    return 0


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    sys.exit(main())
