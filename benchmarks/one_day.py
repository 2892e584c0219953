"""A day of `burstwatch serve` without waiting for it, as a process that ``served_day`` measures.

Each minute it polls, and renders the page as for a scrape. The clock is a file, which the fake reads too.
"""

import json
import os
import sys
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
from burstwatch.web.exposition import encode


def _set(path: Path, now: float) -> None:
    """Put the time in the place of the one before, whole."""
    draft = path.with_suffix(".new")
    draft.write_text(f"{now:.0f}")
    draft.replace(path)


def main() -> int:
    """Play so many minutes. 0 if every poll was answered."""
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
    body, problems = b"", 0
    for _ in range(minutes):
        now += 60.0
        _set(path, now)
        poller.poll()
        problems += sum(len(reading.problems) for reading in poller.readings())
        body = encode(registry, "")[1]
    series = sum(not line.startswith(b"#") for line in body.splitlines())
    print(json.dumps({"series": series, "problems": problems}))
    return 0 if not problems else 1


if __name__ == "__main__":
    sys.exit(main())
