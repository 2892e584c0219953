"""A day of burstwatch without waiting for it, as a process that ``day`` measures: one look after the other.

`sweep` is what the function does at each invocation, publishing and alarms included. `serve` polls, and renders the page
of each minute as for a scrape. Prints what that took. The clock is a file, which the fake reads too.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from prometheus_client import CollectorRegistry

from burstwatch.aws.client import pace
from burstwatch.aws.client.session import Clients, Deadline
from burstwatch.aws.sweep.fleet_metrics import fleet_metrics
from burstwatch.aws.sweep.units import Units
from burstwatch.aws.watched.units import Connections, UnitSpec, connect
from burstwatch.config import Config
from burstwatch.fleet.page import FleetCollector
from burstwatch.fleet.poller import Poller
from burstwatch.kinds import find_kinds
from burstwatch.web.exposition import encode

#: Looks after which what a start costs is over: all balances have been seen, and the days before of those that are near.
COLD_LOOKS = 30
SCRAPE_S = 60.0


@dataclass
class Spent:
    """All looks so far: metrics requested, answers of AWS, and the series of the last page."""

    metrics: int = 0
    calls: int = 0
    series: int = 0


def _set(path: Path, now: float) -> None:
    """Put the time in the place of the one before, whole."""
    draft = path.with_suffix(".new")
    draft.write_text(f"{now:.0f}")
    draft.replace(path)


def sweeping(config: Config, spent: Spent) -> Callable[[float], None]:
    """One sweep at a time. Raises RuntimeError for one that is not whole."""
    home = Clients(os.environ["AWS_REGION"])
    units, kinds = Units(home=home, connect=connect, most_known=10**6), find_kinds("ebs_volume")

    def look(now: float) -> None:
        ends = Deadline(time.monotonic, at=time.monotonic() + 900)
        result = units.sweep(UnitSpec(), [*kinds.values()], config, now=now, deadline=ends)
        if not result.completed:
            raise RuntimeError(result.problems)
        json.dumps(fleet_metrics(result))
        spent.metrics += result.snapshot.metrics_requested
        spent.calls = home.answers

    return look


def serving(config: Config, spent: Spent) -> Callable[[float], None]:
    """One poll at a time, with the scrapes up to the next. Raises RuntimeError for one that is not whole."""
    clock = [0.0]
    poller = Poller(
        [UnitSpec(region=os.environ["AWS_REGION"])],
        Connections(home=Clients(os.environ["AWS_REGION"]), connect=connect),
        [*find_kinds("ebs_volume").values()],
        config,
        clock=lambda: clock[0],
    )
    registry = CollectorRegistry(auto_describe=False)
    registry.register(
        FleetCollector(
            poller.readings,
            clock=lambda: clock[0],
            period_s=config.sweep_period_s,
            most_resources=200_000,
        )
    )

    def look(now: float) -> None:
        clock[0] = now
        poller.poll()
        (reading,) = poller.readings()
        if reading.problems:
            raise RuntimeError(reading.problems)
        for _ in range(int(config.sweep_period_s // SCRAPE_S)):
            body = encode(registry, "")[1]
            clock[0] += SCRAPE_S
        spent.metrics, spent.calls = reading.spent.metrics, reading.spent.answers
        spent.series = sum(not line.startswith(b"#") for line in body.splitlines())

    return look


def main() -> int:
    """Play so many looks of the mode, one in each period."""
    path, mode, period_s, looks = (
        Path(sys.argv[1]),
        sys.argv[2],
        float(sys.argv[3]),
        int(sys.argv[4]),
    )
    # Looks come at once here, and pages would wait for a quota of the real time.
    pace.LISTINGS = replace(pace.LISTINGS, value=1e9)
    now, spent = float(path.read_text()), Spent()
    look = (serving if mode == "serve" else sweeping)(Config(sweep_period_s=period_s), spent)
    marks: list[dict[str, float]] = []
    for number in range(1, looks + 1):
        now += period_s
        _set(path, now)
        look(now)
        if number in {COLD_LOOKS, looks} or number * period_s % 3_600 == 0:
            mark = {"look": number, "cpu_s": time.process_time(), "resident_mib": _resident_mib()}
            marks.append(mark | vars(spent))
    print(json.dumps(marks))
    return 0


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    sys.exit(main())
