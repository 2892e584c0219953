"""A real disk, real fio, the real exporter: what it says, and what then happens."""

import json
import math
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from burstwatch.bucket import Bucket
from tests.exporter.delivery import repeats_when_busy
from tests.exporter.throttled import TICK_S, NoDiskError, ThrottledDisk, throttled_disk

pytestmark = pytest.mark.real

#: Full, it lasts 40 s at full burst.
BUCKET = Bucket(capacity=108_000, refill=300, burst=3_000)
PORT = 10_948
#: Slots of demand before a rate is believed, and how near the end a second is still 10 %.
SETTLED_S, NEAR_S = 4.0, 6.0
#: By how much a load may change and be the same.
HELD = 0.05
Samples = dict[tuple[str, str], float]


@dataclass(frozen=True, kw_only=True)
class Scrape:
    """One page, with the least and the most that was truly left while it was fetched."""

    at: float
    low: float
    high: float
    likely_s: float | None
    earliest_s: float
    worst_s: float
    state: str
    truth: tuple[float, float]
    page: Samples


def page_of(name: str) -> Samples:
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    wanted = ("bound", "state", "origin", "source", "constraint")
    return {
        (
            sample.name,
            next((sample.labels[one] for one in wanted if one in sample.labels), ""),
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels.get("device", name) == name
    }


def scrape(disk: ThrottledDisk) -> Scrape:
    before = time.monotonic()
    disk.truth()
    at = time.monotonic()
    page = page_of(disk.name)
    disk.truth()
    time_left, balance = "burstwatch_time_to_exhaustion_seconds", "burstwatch_credit_balance_ratio"
    (state,) = [
        s for (name, s), value in page.items() if name == "burstwatch_credit_state" and value
    ]
    return Scrape(
        at=at,
        low=page[balance, "low"] * BUCKET.capacity,
        high=page[balance, "high"] * BUCKET.capacity,
        likely_s=page.get((time_left, "likely")),
        earliest_s=page[time_left, "low"],
        worst_s=page[time_left, "worst"],
        state=state,
        truth=disk.between(before, time.monotonic()),
        page=page,
    )


@contextmanager
def exporter(folder: Path, disk: ThrottledDisk, made: datetime) -> Iterator[subprocess.Popen[str]]:
    config = {
        "devices": {
            disk.name: {
                "bucket": {
                    "capacity": BUCKET.capacity,
                    "refill": BUCKET.refill,
                    "burst": BUCKET.burst,
                },
                "created": made.isoformat(),
            }
        }
    }
    (folder / "config.yml").write_text(json.dumps(config))
    with (folder / "log.txt").open("a") as log:
        process = subprocess.Popen(
            [
                Path(sys.executable).with_name("burstwatch-exporter"),
                f"--config.file={folder / 'config.yml'}", f"--state.file={folder / 'state.json'}",
                f"--web.listen-address=127.0.0.1:{PORT}", "--sample.period=1", "--state.period=1",
            ],
            stderr=log, text=True,
        )  # fmt: skip
        try:
            until = time.monotonic() + 120
            while True:
                try:
                    if page_of(disk.name):
                        break
                except OSError:
                    assert process.poll() is None, (folder / "log.txt").read_text()
                    assert time.monotonic() < until, "the exporter does not answer"
                time.sleep(0.05)
            yield process
        finally:
            process.terminate()
            process.wait(timeout=120)


@contextmanager
def fio(program: str, disk: ThrottledDisk, *, kind: str) -> Iterator[None]:
    process = subprocess.Popen(
        disk.throttle.command(
            program, "--name=drain", f"--filename={disk.path}", f"--rw={kind}", "--bs=16k",
            "--direct=1", "--ioengine=libaio", "--iodepth=8", "--time_based",
            "--runtime=150", "--size=256m", "--eta=never",
        ),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=120)


def watch(disk: ThrottledDisk, until: Callable[[], bool], seconds: float) -> list[Scrape]:
    """A scrape a second, until that is so."""
    seen: list[Scrape] = []
    end = time.monotonic() + seconds
    while not until() and time.monotonic() < end:
        seen.append(scrape(disk))
        time.sleep(1)
    return seen


def outside(seen: list[Scrape]) -> list[str]:
    """Where the truth lies outside the interval, by more than comes in between two looks at it."""
    unseen = 2 * BUCKET.refill * TICK_S
    return [
        f"{one.truth} not in {one.low} to {one.high}"
        for one in seen
        if one.low > one.truth[1] + unseen or one.high < one.truth[0] - unseen
    ]


def told(one: Scrape) -> float:
    return math.inf if one.likely_s is None else one.likely_s


def ends(disk: ThrottledDisk, one: Scrape, started: float) -> tuple[float, float]:
    """When it truly ends if the load stays as in one of the last seconds, or as it was so far."""
    seconds = [(one.at - ago - 1, one.at - ago) for ago in range(3)]
    drains = [disk.drain(*times) for times in (*seconds, (started, one.at))]
    low, high = one.truth
    return low / max(drains), high / min(drains) if min(drains) > 0 else math.inf


def held(disk: ThrottledDisk, one: Scrape, end: float) -> bool:
    """Whether the load stayed as it was, which is what a forecast is of."""
    was, became = disk.drain(one.at - 3, one.at), disk.drain(one.at, end)
    return abs(became - was) <= HELD * was


@pytest.mark.timeout(900)
@repeats_when_busy
def test_the_truth_lies_in_the_interval_and_the_end_comes_when_it_is_said(
    tmp_path: Path, program: Callable[[str], str]
) -> None:
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    try:
        with throttled_disk(BUCKET, folder) as disk:
            drain_it(disk, folder, program("fio"))
    except NoDiskError as error:
        pytest.skip(f"no throttled disk here: {error}")


def drain_it(disk: ThrottledDisk, folder: Path, program: str) -> None:
    made = datetime.now(tz=UTC)
    began = time.monotonic()
    with exporter(folder, disk, made) as process, fio(program, disk, kind="randread"):
        started = time.monotonic()
        first = watch(disk, lambda: disk.level < BUCKET.capacity / 2, 60)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with exporter(folder, disk, made):
            second = watch(disk, lambda: disk.emptied_at is not None, 60)
            again = second[0].at
            empty = watch(disk, lambda: False, 8)
            with fio(program, disk, kind="randwrite"):
                written = watch(disk, lambda: False, 4)
            rested = watch(disk, lambda: False, 4)
    assert disk.emptied_at is not None
    seen = [*first, *second, *empty, *written, *rested]
    assert outside(seen) == []
    assert second[0].page["burstwatch_credit_interval_info", "restored"] == 1

    settled = [
        one
        for one in (*first, *second)
        if one.at > started + SETTLED_S
        and not again <= one.at < again + SETTLED_S
        and disk.emptied_at - one.at > NEAR_S
    ]
    assert len(settled) > 12
    wrong = [
        f"{one.likely_s} s said of {soonest:.1f} to {latest:.1f}"
        for one in settled
        for soonest, latest in [ends(disk, one, started)]
        if not 0.9 * soonest <= told(one) <= 1.1 * latest
    ]
    assert wrong == []
    errors = [
        told(one) / (disk.emptied_at - one.at) - 1
        for one in settled
        if held(disk, one, disk.emptied_at)
    ]
    print(
        f"{len(seen)} scrapes in {time.monotonic() - began:.0f} s; the load held after {len(errors)} of {len(settled)}; "
        f"likely off by {min(errors, default=0):+.1%} to {max(errors, default=0):+.1%}"
    )
    assert max(map(abs, errors), default=0) <= 0.1, [f"{error:+.3f}" for error in errors]
    assert all(one.worst_s <= disk.emptied_at - one.at + 1 for one in (*first, *second))

    # Within eight seconds, five of which it takes to be sure of a rate.
    assert any(one.state == "exhausted" for one in empty)
    assert any(one.page["burstwatch_served_at_baseline", ""] == 1 for one in empty)
    assert (folder / "state.json").stat().st_size > 0
