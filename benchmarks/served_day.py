"""A day of `burstwatch serve` beside YACE and Prometheus' cloudwatch_exporter, on the same fleet and the strict fake.

burstwatch plays the whole day, minute by minute, on a clock that both it and the fake read from a file. The peers ask
for the same at each round, whatever the fleet does: some rounds are measured, and a day has so many of them. All are
scraped once a minute. They ask every five minutes, as YACE does by default; burstwatch asks by the deadline of each
volume, and looks every minute. `make bench` gets the peers from their registries (needs go, and a Java with Maven).
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
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks.programs import CACHE, PATIENCE_S, ROOT, Program, environment, fake, programs
from benchmarks.record import keep

SIZES = (1_000, 10_000)
DAY_MINUTES = 1_440
#: Seconds between two rounds of the peers in a day, and while they are measured.
ROUND_S, MEASURED_ROUND_S = 300, 20
ROUNDS, SCRAPES = 4, 10
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Every program at every size."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.served_day", description=__doc__)
    parser.add_argument("--volumes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", help="one program by name")
    args = parser.parse_args()
    records = []
    for volumes in args.volumes:
        for program in programs():
            if args.only not in {None, program.name}:
                continue
            is_ours = program.name == "burstwatch"
            record = day_of_serve(volumes) if is_ours else day_of_peer(program, volumes)
            records.append(record)
            print(
                f"{record['program']:20} {volumes:7} volumes  {record['billed_metrics']:9.0f} metrics  {record['usd']:7.2f} USD"
                f"  {record['calls']:7.0f} calls  {record['cpu_s']:7.0f} s of CPU  {record['peak_mib']:5.0f} MiB",
                flush=True,
            )
    if args.only is None:
        keep("served_day", records)


def day_of_serve(volumes: int, *, minutes: int = DAY_MINUTES) -> dict[str, Any]:
    """Play a day in a process of its own, and measure that."""
    with tempfile.TemporaryDirectory() as folder:
        clock = Path(folder) / "now"
        clock.write_text(f"{time.time() // 60 * 60:.0f}")
        with fake(volumes, clock=clock) as (url, ended):
            command = [sys.executable, "-m", "benchmarks.one_day", str(clock), str(minutes)]
            env = environment(url)
            child = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, cwd=ROOT)  # noqa: S603 - our own
            if child.stdout is None:
                raise TypeError(child)
            told = json.loads(child.stdout.read())
            _, status, used = os.wait4(child.pid, 0)
            if status:
                msg = "benchmarks.one_day failed"
                raise RuntimeError(msg)
            asked = ended()
    return _record(
        "burstwatch serve",
        volumes,
        billed=asked["billed_metrics"],
        calls=sum(asked["calls"].values()),
        cpu_s=used.ru_utime + used.ru_stime,
        peak_mib=used.ru_maxrss / 1024,
        series=told["series"],
    )


def day_of_peer(program: Program, volumes: int) -> dict[str, Any]:
    """Measure some rounds of a program that asks again and again, and count those of a day."""
    with fake(volumes) as (url, ended):
        log = (CACHE / f"{program.name}.log").open("w")
        command = [str(MEASURED_ROUND_S) if word == "86400" else word for word in program.command]
        child = subprocess.Popen(command, env=environment(url), stdout=log, stderr=log, cwd=ROOT)  # noqa: S603 - our own list
        try:
            page = _page(program, child)
            began, before_s = time.monotonic(), _cpu_s(child.pid)
            scrape_s = _of_scrape(program, child)
            for _ in range(ROUNDS):
                time.sleep(MEASURED_ROUND_S)
                page = _page(program, child)
            rounds = (time.monotonic() - began) / MEASURED_ROUND_S
            spent_s = _cpu_s(child.pid) - before_s
            peak_mib = _peak_mib(child.pid)
        finally:
            child.send_signal(signal.SIGKILL)
            child.wait()
        asked = ended()
    per_day = 86_400 / ROUND_S
    rounds_asked = round(rounds) + 1
    return _record(
        program.name,
        volumes,
        billed=asked["billed_metrics"] / rounds_asked * per_day,
        calls=sum(asked["calls"].values()) / rounds_asked * per_day,
        cpu_s=spent_s / rounds * per_day + scrape_s * (DAY_MINUTES - per_day),
        peak_mib=peak_mib,
        series=sum(not line.startswith("#") for line in page.splitlines()),
    )


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


def _record(program: str, volumes: int, **figures: float) -> dict[str, Any]:
    return {
        "program": program,
        "volumes": volumes,
        "usd": figures["billed"] * 1e-5,
        "billed_metrics": figures.pop("billed"),
        **figures,
    }


if __name__ == "__main__":
    main()
