"""A day of `burstwatch serve` beside YACE and Prometheus' cloudwatch_exporter, on the same fleet and the strict fake.

burstwatch plays minute by minute on a clock that both it and the fake read from a file. The peers ask
for the same at each round, whatever the fleet does: some rounds are measured, and a day has so many of them. All are
scraped once a minute. At equal notice they ask every minute; by default YACE does every five, and a page is then up to
four minutes later. burstwatch looks every minute and asks by the deadline of each volume. `make bench` gets the peers from their registries (needs go, and a Java with Maven).
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks.one_day import COLD_MINUTES
from benchmarks.programs import CACHE, PATIENCE_S, ROOT, Program, environment, fake, programs
from benchmarks.record import keep
from burstwatch.ebs.watching_prices import usd_of

DAY_MINUTES = 1_440
#: Minutes of burstwatch's day that are played, by the number of volumes.
PLAYED_MINUTES = {1_000: 120, 10_000: 38}
#: Volumes of the fleet whose whole day is played, to see whether memory grows.
MEMORY_VOLUMES = 200
#: Seconds between two rounds of the peers in a day: as often as burstwatch looks, and as they do by default; and while
#: they are measured.
PERIODS_S, MEASURED_ROUND_S = (60, 300), 20
ROUNDS, SCRAPES = 2, 10
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Every program at every size."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.served_day", description=__doc__)
    parser.add_argument("--volumes", type=int, nargs="+", default=[*PLAYED_MINUTES])
    parser.add_argument("--minutes", type=int, help="of burstwatch's day that are played")
    parser.add_argument("--only", help="one program by name")
    args = parser.parse_args()
    records = []
    for volumes in args.volumes:
        minutes = args.minutes or PLAYED_MINUTES.get(volumes, DAY_MINUTES)
        for program in programs():
            if args.only not in {None, program.name}:
                continue
            days = (
                [day_of_serve(volumes, minutes=minutes)]
                if program.name == "burstwatch"
                else days_of_peer(program, volumes)
            )
            for day in days:
                records.append(day)
                print(
                    f"{day['program']:20} every {day['asks_every_s']:3} s {volumes:7} volumes  {day['billed_metrics']:10.0f} metrics"
                    f"  {day['usd']:7.2f} USD  {day['calls']:7.0f} calls  {day['cpu_s']:7.0f} s of CPU  {day['peak_mib']:5.0f} MiB",
                    flush=True,
                )
    if args.only is None:
        keep("served_day", records)
        keep("served_memory", [day_of_serve(MEMORY_VOLUMES, minutes=DAY_MINUTES)])


def day_of_serve(volumes: int, *, minutes: int) -> dict[str, Any]:
    """Play so many minutes in a process of its own. A day is its cold start, and the rest at the pace of what comes after."""
    with tempfile.TemporaryDirectory() as folder:
        clock = Path(folder) / "now"
        clock.write_text(f"{time.time() // 60 * 60:.0f}")
        with fake(volumes, clock=clock) as (url, ended):
            command = [sys.executable, "-m", "benchmarks.one_day", str(clock), str(minutes)]
            done = subprocess.run(  # noqa: S603 - our own
                command, env=environment(url), stdout=subprocess.PIPE, cwd=ROOT, check=True
            )
            ended()
    marks: list[dict[str, float]] = json.loads(done.stdout)
    cold = next(mark for mark in marks if mark["minute"] == COLD_MINUTES)
    last = marks[-1]
    times = (DAY_MINUTES - COLD_MINUTES) / (last["minute"] - COLD_MINUTES)

    def in_a_day(name: str) -> float:
        return cold[name] + (last[name] - cold[name]) * times

    return {
        "program": "burstwatch serve",
        "asks_every_s": 60,
        "volumes": volumes,
        "minutes_played": last["minute"],
        "billed_metrics": in_a_day("metrics"),
        "usd": usd_of("metric_request", in_a_day("metrics")),
        "calls": in_a_day("calls"),
        "cpu_s": in_a_day("cpu_s"),
        "peak_mib": max(mark["resident_mib"] for mark in marks),
        "series": last["series"],
        "resident_mib_by_hour": [
            round(mark["resident_mib"]) for mark in marks if mark["minute"] % 60 == 0
        ],
    }


@contextmanager
def _running(
    program: Program, volumes: int, *, round_s: int
) -> Iterator[tuple[subprocess.Popen[bytes], Callable[[], dict[str, Any]]]]:
    """A program that asks a fake of so many volumes every so many seconds, and what stops it and says what it asked for."""
    with fake(volumes) as (url, ended):
        log = (CACHE / f"{program.name}.log").open("w")
        command = [str(round_s) if word == "86400" else word for word in program.command]
        child = subprocess.Popen(command, env=environment(url), stdout=log, stderr=log, cwd=ROOT)  # noqa: S603 - our own list

        def stop() -> dict[str, Any]:
            child.send_signal(signal.SIGKILL)
            child.wait()
            return ended()

        try:
            yield child, stop
        finally:
            child.kill()


def days_of_peer(program: Program, volumes: int) -> Iterator[dict[str, Any]]:
    """Measure some rounds of a program that asks again and again. A day has as many as its period gives."""
    with _running(program, volumes, round_s=DAY_MINUTES * 60) as (child, ended):
        page = _page(program, child)
        in_round = ended()
    with _running(program, volumes, round_s=MEASURED_ROUND_S) as (child, ended):
        _page(program, child)
        scrape_s = _of_scrape(program, child)
        before_s = _cpu_s(child.pid)
        for _ in range(ROUNDS):
            time.sleep(MEASURED_ROUND_S)
            page = _page(program, child)
        spent_s, peak_mib = _cpu_s(child.pid) - before_s, _peak_mib(child.pid)
        asked = ended()
    rounds = asked["billed_metrics"] / in_round["billed_metrics"] - 1
    spent_s -= ROUNDS * scrape_s
    for period_s in PERIODS_S:
        per_day = 86_400 / period_s
        metrics = in_round["billed_metrics"] * per_day
        yield {
            "program": program.name,
            "asks_every_s": period_s,
            "volumes": volumes,
            "billed_metrics": metrics,
            "usd": usd_of("metric_request", metrics),
            "calls": sum(in_round["calls"].values()) * per_day,
            "cpu_s": spent_s / rounds * per_day + scrape_s * DAY_MINUTES,
            "peak_mib": peak_mib,
            "series": sum(not line.startswith("#") for line in page.splitlines()),
        }


def _page(program: Program, child: "subprocess.Popen[bytes]") -> str:
    """The page of a peer, when the last thing that it asks for is there."""
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends and child.poll() is None:
        try:
            with urlopen(f"http://127.0.0.1:{program.port}/metrics", timeout=PATIENCE_S) as answer:
                page: str = answer.read().decode()
        except OSError:
            page = ""
        if program.done in page:
            return page
        time.sleep(0.2)
    msg = f"{program.name} did not finish, see {CACHE / program.name}.log"
    raise RuntimeError(msg)


def _of_scrape(program: Program, child: "subprocess.Popen[bytes]") -> float:
    """CPU time of one scrape of a page that is there already, in seconds. One that asks AWS at each scrape has none."""
    if program.name == "cloudwatch_exporter":
        return 0.0
    before_s = _cpu_s(child.pid)
    for _ in range(SCRAPES):
        _page(program, child)
    return (_cpu_s(child.pid) - before_s) / SCRAPES


def _cpu_s(pid: int) -> float:
    """CPU time that a process has used, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _peak_mib(pid: int) -> float:
    match = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(match[1]) / 1024 if match else 0.0


if __name__ == "__main__":
    main()
