"""A day of burstwatch beside YACE and Prometheus' cloudwatch_exporter, on the same fleets and the strict fake.

burstwatch plays on a clock that both it and the fake read from a file, as the function that sweeps and as `burstwatch serve`.
The peers ask for the same at each round, whatever a fleet does: some rounds are measured, and a day has so many of them.
`serve` and the peers are scraped once a minute. At equal notice all look every minute, or all every five, which is YACE's
default. `make bench` gets the peers from their registries (needs go, and a Java with Maven).
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks.one_day import COLD_LOOKS
from benchmarks.peers import CACHE, PATIENCE_S, ROOT, Program, environment, fake, peers
from benchmarks.record import RESULTS, keep
from burstwatch.ebs.watching_prices import usd_of
from tests.fake.herd import FLEETS

DAY_S, DAY_MINUTES = 86_400, 1_440
RESULT = RESULTS / "day.json"
SIZES = (1_000, 10_000)
#: Looks of burstwatch's day that are played after the first ones, by the number of volumes.
PLAYED_LOOKS = {1_000: 90, 10_000: 30}
#: Seconds between two rounds in a day, and between two of the peers while they are measured.
PERIODS_S, MEASURED_ROUND_S = (60, 300), 20
ROUNDS, SCRAPES = 2, 10
TICKS = os.sysconf("SC_CLK_TCK")
OURS = ("burstwatch", "burstwatch serve")


def main() -> None:
    """Every program with every fleet."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.day", description=__doc__)
    parser.add_argument("--volumes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--fleets", nargs="+", choices=FLEETS, default=FLEETS)
    parser.add_argument("--looks", type=int, help="of burstwatch's day that are played")
    parser.add_argument("--only", help="one program by name")
    args = parser.parse_args()
    records: list[dict[str, Any]] = []
    for volumes in args.volumes:
        looks = args.looks or PLAYED_LOOKS.get(volumes, DAY_MINUTES)
        for fleet in args.fleets:
            records += [
                _shown(day_of_ours(name, volumes, fleet, period_s, looks))
                for name in OURS
                if args.only in {None, name}
                for period_s in PERIODS_S
            ]
        for program in peers():
            if args.only in {None, program.name}:
                for day in days_of_peer(program, volumes):
                    records += [_shown({**day, "fleet": fleet}) for fleet in FLEETS]
    keep("day", _with_earlier(records))


def _with_earlier(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records, and those of earlier runs that were not measured again."""
    known = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else []
    by_key = {
        (day["volumes"], day["fleet"], day["program"], day["asks_every_s"]): day
        for day in [*known, *records]
    }
    return [
        by_key[key]
        for key in sorted(by_key, key=lambda key: (key[0], FLEETS.index(key[1]), *key[2:]))
    ]


def _shown(day: dict[str, Any]) -> dict[str, Any]:
    print(
        f"{day['program']:20} every {day['asks_every_s']:3} s {day['volumes']:7} volumes {day['fleet']:10}"
        f"  {day['billed_metrics_per_volume_day']:7.1f} metrics  {day['usd_per_volume_day']:.5f} USD"
        f"  {1_000 * day['cpu_s_per_volume_day']:6.1f} ms of CPU  {day['calls_per_day']:7.0f} calls  {day['peak_mib']:5.0f} MiB",
        flush=True,
    )
    return day


def _day(
    program: str, volumes: int, period_s: int, *, cpu_s: float, metrics: float, calls: float
) -> dict[str, Any]:
    """The numbers of a day, a volume."""
    return {
        "program": program,
        "volumes": volumes,
        "asks_every_s": period_s,
        "cpu_s_per_volume_day": cpu_s / volumes,
        "billed_metrics_per_volume_day": metrics / volumes,
        "usd_per_volume_day": usd_of("metric_request", metrics) / volumes,
        "calls_per_day": calls,
    }


def day_of_ours(
    program: str, volumes: int, fleet: str, period_s: int, looks: int
) -> dict[str, Any]:
    """Play so many looks after the first ones in a process of its own. A day is the first ones, and the rest at the pace of what comes after."""
    with tempfile.TemporaryDirectory() as folder:
        clock = Path(folder) / "now"
        clock.write_text(f"{time.time() // 300 * 300:.0f}")
        with fake(volumes, clock=clock, fleet=fleet) as (url, ended):
            mode = program.removeprefix("burstwatch").strip() or "sweep"
            command = [sys.executable, "-m", "benchmarks.one_day", str(clock)]
            command += [mode, str(period_s), str(COLD_LOOKS + looks)]
            done = subprocess.run(  # noqa: S603 - our own
                command, env=environment(url), stdout=subprocess.PIPE, cwd=ROOT, check=True
            )
            ended()
    marks: list[dict[str, float]] = json.loads(done.stdout)
    cold = next(mark for mark in marks if mark["look"] == COLD_LOOKS)
    last = marks[-1]
    times = (DAY_S / period_s - COLD_LOOKS) / (last["look"] - COLD_LOOKS)

    def in_a_day(name: str) -> float:
        return cold[name] + (last[name] - cold[name]) * times

    numbers = _day(
        program, volumes, period_s,
        cpu_s=in_a_day("cpu_s"), metrics=in_a_day("metrics"), calls=in_a_day("calls"),
    )  # fmt: skip
    return numbers | {
        "fleet": fleet,
        "looks_played": last["look"],
        "peak_mib": max(mark["resident_mib"] for mark in marks),
        "series": last["series"],
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
        per_day = DAY_S / period_s
        numbers = _day(
            program.name, volumes, period_s,
            cpu_s=spent_s / rounds * per_day + scrape_s * DAY_MINUTES,
            metrics=in_round["billed_metrics"] * per_day,
            calls=sum(in_round["calls"].values()) * per_day,
        )  # fmt: skip
        series = sum(not line.startswith("#") for line in page.splitlines())
        yield numbers | {"peak_mib": peak_mib, "series": series}


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
