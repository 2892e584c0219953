"""Everything that can go wrong while a measurement runs."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from burstwatch_exporter.measure import command
from burstwatch_exporter.measure.process import UNWATCHED_S, Process
from burstwatch_exporter.measure.watch import Watch
from tests.exporter.kill_trials import survivors
from tests.exporter.measuring import GOOD, OUTPUT, VERSION, fio, step
from tests.exporter.planted import DISK, Planted, fake_program

pytestmark = pytest.mark.slow

FAILURES = {
    "kill -9 $$": "was killed by signal 9",
    f'head -c 300 {GOOD} > "$out"': "not whole",
    f'cp {GOOD} "$out"; echo "fio: it hurts" >&2; exit 1': "ended with exit status 1: fio: it hurts",
    'echo "fio: words" > "$out"': "printed no result, but: fio: words",
    "exit 0": "printed no result",
    f"""sed 's/"error" : 0/"error" : 5/' {GOOD} > "$out\"""": "error 5",
}


@pytest.mark.parametrize("does", FAILURES, ids=lambda does: FAILURES[does])
def test_a_fio_that_fails_is_an_error_and_what_was_spent_is_counted(
    does: str, host: Planted
) -> None:
    with host.load(500):
        code = host.measure("--size-mib=1", path=fio(host, "sleep 0.4", does))
    assert code == 1
    assert FAILURES[does] in step(host)["failed"]
    volumes: Any = host.record()["volumes"]
    assert 100 < volumes[0]["credit"]["spent_most"] <= 1.1 * host.ops
    assert host.left_behind() == []


def test_one_step_that_fails_ends_no_other(host: Planted) -> None:
    path = fio(host, f'case "$*" in *randread*) exit 1;; esac; cp {GOOD} "$out"')
    assert host.measure("--profile=fio-4k-qd4", "--size-mib=1", path=path) == 1
    failed = {one["name"] for one in host.record("fio-4k-qd4")["steps"] if one["failed"]}  # type: ignore[attr-defined]
    assert failed == {"randread"}


def test_a_full_disk_and_a_read_only_one_are_named(
    host: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    path = fio(host, f'cp {GOOD} "$out"')
    monkeypatch.setattr(os, "pwrite", full)
    assert host.measure("--size-mib=1", path=path) == 1
    assert "No space left on device" in str(host.record()["failed"])
    monkeypatch.undo()
    monkeypatch.setattr(os, "geteuid", lambda: 1_000)

    def read_only(*_: object) -> int:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("burstwatch_exporter.measure.session.scratch_file", read_only)
    assert host.measure("--size-mib=1", path=path) == 1
    assert "Read-only file system" in str(host.record()["failed"])
    assert host.left_behind() == []


def test_a_volume_that_is_detached_ends_it(host: Planted) -> None:
    began = time.monotonic()
    path = fio(host, host.once_started(host.detach), "sleep 30")
    assert host.measure("--size-mib=1", path=path) == 1
    assert time.monotonic() - began < 25
    assert f"{DISK} is gone" in str(host.record()["stopped"])
    assert host.left_behind() == []


def test_control_c_ends_it_and_keeps_what_was_spent(
    host: Planted, program: Callable[[str], str]
) -> None:
    program("fio")
    host.when(lambda: host.has_read(20), host.stop.set)
    with host.load(200):
        code = host.measure("--size-mib=1")
    assert code == 1
    assert host.record()["stopped"] == "interrupted"
    assert step(host)["read"]["iops"] > 0
    volumes: Any = host.record()["volumes"]
    # All I/O of the volume counts, and no more than there was.
    assert 0 < volumes[0]["credit"]["spent_most"] <= 1.1 * host.ops


def test_it_stops_within_two_seconds_when_others_take_the_balance_under_the_floor(
    host: Planted, program: Callable[[str], str]
) -> None:
    """With 5.4 M credits and a floor of 99.3 %, 20,000 a second are there in 2 s."""
    program("fio")
    with host.load(20_000):
        host.measure("--size-mib=1", "--floor-percent=99.3", "--budget-percent=100")
    record: Any = host.record()
    assert "may be under its floor" in record["stopped"]
    credit = record["volumes"][0]["credit"]
    seconds_late = (0.993 - credit["after_low"]) * 5_400_000 / 20_000
    assert 0 < seconds_late < 2


def test_a_result_that_cannot_be_kept_is_not_paid_for(host: Planted) -> None:
    (host.root / "results").write_text("a file, and no folder")
    before = host.left_behind()
    assert host.measure(path=fio(host, f'cp {GOOD} "$out"')) == 2
    assert "file exists" in host.err
    assert host.left_behind() == before


def test_one_file_that_cannot_be_written_hides_no_other(
    host: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(command, "page", fails)
    path = fio(host, f'cp {GOOD} "$out"')
    args = (f"--html={host.root}/a.html", f"--markdown={host.root}/a.md", "--size-mib=1")
    assert host.measure(*args, path=path) == 1
    assert "probe on" in host.out
    assert (host.root / "a.md").exists()
    assert host.record()["profile"] == "probe"
    assert not (host.root / "a.html").exists()


def test_on_a_disk_that_others_use_it_ends_as_soon(host: Planted) -> None:
    """What others have in flight never comes back all at once."""
    host.in_flight = 4
    host.write()
    began = time.monotonic()
    path = fio(host, host.once_started(host.stop.set), "exec sleep 30")
    assert host.measure("--size-mib=1", path=path) == 1
    assert time.monotonic() - began < 20


def test_a_stopped_program_without_a_result_says_why(host: Planted) -> None:
    path = fio(host, host.once_started(host.stop.set), "exec sleep 30")
    assert host.measure("--size-mib=1", path=path) == 1
    assert "(stopped: interrupted)" in step(host)["failed"]


def test_a_slow_result_is_waited_for_after_control_c_and_no_longer_than_the_budget_lasts(
    host: Planted,
) -> None:

    def writes_for(seconds: float) -> str:
        host.stop.clear()
        trap = f"trap 'sleep {seconds}; cp {GOOD} \"$out\"; exit 128' INT"
        path = fio(host, trap, host.once_started(host.stop.set), "sleep 60 & wait")
        assert host.measure("--size-mib=1", "--budget-percent=1", path=path) == 1
        return str(step(host)["failed"])

    assert not writes_for(4)
    assert step(host)["stopped"] == "interrupted"
    assert step(host)["ran_s"] < 4
    with host.load(20_000):  # 1 % of 5.4 million lasts 2.7 s
        assert "fio printed no result" in writes_for(8)


def test_in_a_shell_s_background_where_control_c_is_ignored_a_program_is_still_told_to_end(
    host: Planted,
) -> None:
    trap = f"trap 'cp {GOOD} \"$out\"; exit 128' INT"
    path = fio(host, trap, host.once_started(host.stop.set), "sleep 60 & wait")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert host.measure("--size-mib=1", path=path) == 1
    finally:
        signal.signal(signal.SIGINT, before)
    assert step(host)["failed"] == ""


def test_what_is_spent_until_it_begins_is_charged(host: Planted) -> None:
    """Before the first look of the measurement itself, fio is asked for its version."""
    counters, asked, answered = (
        host.root / name for name in ("proc/diskstats", "asked", "answered")
    )
    version = f'if [ "$1" = --version ]; then cp {counters} {asked}; sleep 0.5; cp {counters} {answered}; fi'
    path = fake_program(host.root / "bin", "fio", [version, VERSION, OUTPUT, f'cp {GOOD} "$out"'])
    began_s = time.monotonic()
    with host.load(20_000):
        host.measure("--size-mib=1", "--budget-percent=50", path=path)
    refilled = 300 * (time.monotonic() - began_s)
    first, last = (int(copy.read_text().split()[3]) for copy in (asked, answered))
    assert last - first > 1_000
    record: Any = host.record()
    assert record["volumes"][0]["credit"]["after_low"] <= 1 - (last - first - refilled) / 5_400_000


def test_a_program_that_is_begun_again_holds_no_more_descriptors(tmp_path: Path) -> None:
    program = Process(args=["/bin/true"], printed=tmp_path / "out", errors=tmp_path / "err")
    counts = []
    with ExitStack() as stack:
        for _ in range(10):
            program.start(stack)
            assert program.process.wait(60) == 0
            counts.append(len(os.listdir("/proc/self/fd")))  # noqa: PTH208 - no descriptor more
    assert counts == [counts[0]] * 10
    assert len(os.listdir("/proc/self/fd")) == counts[0] - 1  # noqa: PTH208 - as above


def test_a_program_ends_as_itself_whoever_keeps_it(tmp_path: Path) -> None:
    for script, code in (("exit 7", 7), ("kill -TERM $$", -15), ("kill -KILL $$", -9)):
        program = Process(
            args=["/bin/sh", "-c", script], printed=tmp_path / "out", errors=tmp_path / "err"
        )
        with ExitStack() as stack:
            program.start(stack)
            assert program.process.wait(60) == code


def test_a_program_that_nobody_watches_any_more_is_killed_and_its_record_says_why(
    host: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped by Ctrl-Z this process keeps no budget, so the keeper ends what would spend it."""
    running, ended = host.root / "running", host.root / "ended"
    path = fio(host, f"touch {running}", f"sleep 20; touch {ended}")
    was_stopped: list[float] = []

    def pause(_: Watch) -> None:
        time.sleep(0.05)
        if running.exists() and not was_stopped:
            was_stopped.append(time.monotonic())
            while survivors(str(host.root / "bin" / "fio")):
                time.sleep(0.05)

    monkeypatch.setattr(Watch, "pause", pause)
    assert host.measure("--size-mib=1", path=path) == 1
    assert "nobody watched fio for 1 s" in step(host)["failed"]
    assert not ended.exists()
    assert host.left_behind() == []


def test_a_program_that_is_watched_is_let_run_however_long(tmp_path: Path) -> None:
    program = Process(
        args=["/bin/sleep", f"{3 * UNWATCHED_S}"],
        printed=tmp_path / "out",
        errors=tmp_path / "err",
    )
    with ExitStack() as stack:
        program.start(stack)
        while program.is_running():
            time.sleep(0.05)
    assert program.process.returncode == 0


def test_more_spent_than_allowed_is_said(host: Planted) -> None:
    """Somebody else takes more between two looks than there was left."""
    path = fio(
        host, f'cp {GOOD} "$out"', host.once_started(lambda: spend(host, 200_000)), "sleep 1"
    )
    assert host.measure("--size-mib=1", "--budget-percent=2", path=path) in {0, 1}
    record: Any = host.record()
    overspent = record["volumes"][0]["credit"]["spent_most"] - record["budget"]
    assert overspent > 90_000
    assert record["overspent"] == pytest.approx(overspent)
    assert "credits more than the budget of 108,000 were spent" in host.out


def spend(host: Planted, ops: int) -> None:
    host.ops += ops
    host.write()
