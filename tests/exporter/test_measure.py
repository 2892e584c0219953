"""Measurements of a directory with real fio and dbench, and everything that can go wrong with them."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from burstwatch_exporter.clock import system_clock
from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.main import build_measure_parser
from burstwatch_exporter.measure import command
from burstwatch_exporter.measure.jobs import read_jobs
from burstwatch_exporter.measure.profiles import profiles
from burstwatch_exporter.measure.scratch import (
    PREFIX,
    lay_out,
    remove_left_behind,
    scratch_file,
    scratch_folder,
)
from burstwatch_exporter.measure.target import read_stripe
from burstwatch_exporter.serve import make_exporter
from burstwatch_exporter.settings import parse_options
from tests.exporter.planted import DISK, SECTORS, VOLUME, Planted, fake_program, plant_host
from tests.exporter.scraped import value

JOBS = Path(__file__).parents[2] / "exporter" / "burstwatch_exporter" / "jobs"
GOOD = Path(__file__).parent / "fio_output" / "mix.json"
#: A fio that knows its version, and finds the file that its result is to go to.
VERSION = 'if [ "$1" = --version ]; then echo fio-3.33; exit 0; fi'
OUTPUT = 'for arg in "$@"; do case "$arg" in --output=*) out="${arg#--output=}";; esac; done'


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Planted:
    monkeypatch.setattr(os, "geteuid", lambda: 1_000)
    monkeypatch.setattr(command, "LOOK_S", 0.05)
    return plant_host(tmp_path / "host", tmp_path / "data")


def fio(host: Planted, *lines: str) -> Path:
    return fake_program(host.root / "bin", "fio", [VERSION, OUTPUT, *lines])


def step(host: Planted, profile: str = "probe", index: int = 0) -> Any:
    steps = host.record(profile)["steps"]
    assert isinstance(steps, list)
    return steps[index]


# Real programs


SHORT = {
    "probe": "--runtime-s=1", "probe-hdd": "--runtime-s=1", "fio-16k-16jobs": "--runtime-s=0.3",
    "dd-drain": "--runtime-s=0.5", "dbench": "--runtime-s=2", "fio-4k-qd4": "--runtime-s=0.3",
    "fio-16k-4jobs": "--runtime-s=0.3",
}  # fmt: skip
#: Many steps, or long ones: not for the inner loop.
LONG = {*SHORT} - {"probe", "dd-drain"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.real] if one in LONG else []) for one in SHORT],
)
def test_every_profile_runs_to_its_end_and_leaves_nothing_behind(
    name: str, host: Planted, program: Callable[[str], str]
) -> None:
    program("dbench" if name == "dbench" else "dd" if name == "dd-drain" else "fio")
    code = host.measure(
        f"--profile={name}", "--size-mib=32", SHORT[name],
        f"--html={host.root}/page.html", f"--markdown={host.root}/page.md",
    )  # fmt: skip
    assert (code, host.err) == (0, "")
    record = host.record(name)
    steps = record["steps"]
    assert isinstance(steps, list)
    assert [one["name"] for one in steps] == [one.name for one in profiles()[name].steps]
    assert all(not one["failed"] and not one["stopped"] for one in steps)
    assert all(one["read"] or one["write"] or one["files_mib_s"] for one in steps)
    assert host.left_behind() == []
    assert VOLUME in (host.root / "page.html").read_text()
    assert f"| {steps[-1]['name']} |" in (host.root / "page.md").read_text()


def test_every_profile_is_run_above_or_on_the_throttled_disk() -> None:
    elsewhere = {"drain", "drain-hdd", "scaling", "dd-drain-raid0"}
    assert set(SHORT) | elsewhere == set(profiles())


@pytest.mark.parametrize("path", sorted(JOBS.glob("*.fio")), ids=lambda path: path.stem)
def test_fio_itself_takes_every_job_file(path: Path, program: Callable[[str], str]) -> None:
    checked = subprocess.run(
        [program("fio"), "--parse-only", path],
        env={"SCRATCH": "/nowhere", "JOBS": "4", "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stderr) == (0, "")


def test_the_result_is_shown_and_drawn_again_from_its_file(
    host: Planted, program: Callable[[str], str]
) -> None:
    program("fio")
    assert host.measure("--runtime-s=1", "--json") == 0
    first = json.loads(host.out)
    kept = host.root / "results" / f"probe-{VOLUME}.json"
    assert host.measure(f"--from={kept}", "--json") == 0
    assert json.loads(host.out) == first
    assert first["steps"][0]["verdict"]["word"] == "too short"


# What is refused


def refused(host: Planted, *args: str) -> str:
    before = host.left_behind()
    assert host.measure(*args) == 2
    assert host.left_behind() == before
    assert not (host.root / "results").exists()
    return host.err


def test_outside_of_what_is_allowed_nothing_is_written(host: Planted) -> None:
    host.config(measure={"directories": ["/somewhere/else"]})
    assert "is not allowed, allowed are /somewhere/else" in refused(host)
    host.config(measure=None)
    assert "name one in measure.directories" in refused(host)
    (host.data / "below").mkdir()
    host.config()
    fake = fio(host, f'cp {GOOD} "$out"')
    assert host.measure("--size-mib=1", f"--directory={host.data}/below", path=fake) == 0


def test_root_is_refused_unless_it_is_allowed(
    host: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "this is root" in refused(host)
    assert host.measure("--allow-root", path=fio(host, f'cp {GOOD} "$out"')) == 0


def test_a_block_device_a_file_and_nothing_are_no_directory(
    host: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    (host.data / "file").write_text("")
    assert "is no directory" in refused(host, f"--directory={host.data}/file")
    assert "No such file" in refused(host, f"--directory={host.data}/nothing")
    monkeypatch.setattr("stat.S_ISBLK", lambda _: True)
    assert "is a block device" in refused(host)


def test_tmpfs_is_no_volume(host: Planted) -> None:
    host.detach()
    mounts = host.root / "proc" / "1" / "mountinfo"
    mounts.write_text(f"27 1 0:2 / {host.data} rw - tmpfs tmpfs rw\n")
    assert "is on tmpfs of tmpfs, which is no volume of this host" in refused(host)


def test_a_volume_of_which_nobody_says_the_type_has_no_price(host: Planted) -> None:
    host.config(volumes={})
    assert f"the type of {VOLUME} is not known" in refused(host)


def test_with_less_than_the_floor_for_certain_it_does_not_begin(host: Planted) -> None:
    host.config(volumes={VOLUME: {"type": "gp2"}})  # from empty to full
    assert "from 0% to 100%, allowed is 50% or more for certain" in refused(host)
    assert host.measure("--floor-percent=0", path=fio(host, f'cp {GOOD} "$out"')) == 0


@pytest.mark.slow
def test_a_volume_that_runs_dry_soon_is_left_alone(
    host: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "LOOK_S", 1.0)
    bucket = {"capacity": 200_000, "refill": 10, "burst": 3_000}
    made = datetime.now(tz=UTC).isoformat()
    host.config(
        volumes={}, devices={DISK: {"bucket": bucket, "volume_id": VOLUME, "created": made}}
    )
    with host.load(2_000):
        assert re.search(r"runs dry in \d+ s already, allowed is 15 min", refused(host))
    host.config(volumes={VOLUME: {"type": "gp2"}})
    with host.load(2_000):
        assert "may run dry in 0 s already" in refused(host, "--floor-percent=0")


def test_a_scratch_file_that_does_not_fit_is_refused(
    host: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = os.statvfs(host.data)
    fields = {name: getattr(found, name) for name in ("f_frsize",)}
    small = SimpleNamespace(f_bavail=100 * 2**20 // fields["f_frsize"], **fields)
    monkeypatch.setattr(os, "statvfs", lambda _: small)
    said = refused(host, "--profile=fio-16k-4jobs")
    assert "the scratch file is 5,120 MiB" in said
    assert "has 100 MiB free" in said
    assert "the scratch file is 95 MiB" in refused(host, "--profile=fio-16k-4jobs", "--size-mib=95")


def test_a_budget_under_the_price_of_the_scratch_file_is_refused(host: Planted) -> None:
    said = refused(host, "--profile=fio-4k-qd4", "--budget-percent=0.01")
    assert "writing the scratch file costs 4,096 credits, the budget is 540" in said


def test_a_stripe_is_wanted_where_the_profile_is_of_one(host: Planted) -> None:
    assert f"{DISK} is none" in refused(host, "--profile=dd-drain-raid0", "--size-mib=1")


def test_every_reason_is_said_at_once(host: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    host.config(volumes={VOLUME: {"type": "gp2"}}, measure={"directories": ["/a"]})
    said = refused(host)
    assert all(part in said for part in ("is not allowed", "this is root", "from 0% to 100%"))


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        (
            "--budget-percent=0",
            "budget-percent is '0', allowed is a number of percent from 0.001 to 100",
        ),
        ("--budget-percent=-1", "allowed is a number"),
        ("--floor-percent=nan", "allowed is a number"),
        ("--profile=nothing", "unknown profile 'nothing', allowed are"),
        ("--profile=../x", "allowed is the name of a profile"),
        ("--type=gp2", "type is for --plan alone"),
        ("--html=/nowhere/at/all.html", "/nowhere/at is where the result is to go"),
        ("--web.listen-address=:1", "unrecognized arguments"),
    ],
)
def test_a_wrong_flag_is_named(host: Planted, flag: str, said: str) -> None:
    assert said in refused(host, flag)


def test_a_drain_takes_a_word_in_the_configuration_and_one_on_the_command_line(
    host: Planted,
) -> None:
    assert "confirm-drain is ''" in refused(host, "--drain")
    assert "confirm-drain is 'vol-0b'" in refused(host, "--drain", "--confirm-drain=vol-0b")
    host.config(measure={"directories": [str(host.data)]})
    said = refused(host, "--drain", f"--confirm-drain={VOLUME}")
    assert f"{VOLUME} may not be drained" in said
    host.config(volumes={VOLUME: {"type": "gp3"}})
    assert "has no bucket to drain" in refused(host, "--drain", f"--confirm-drain={VOLUME}")


@pytest.mark.parametrize("version", ["fio-2.21", "nonsense"])
def test_a_fio_that_will_not_do_is_named(host: Planted, version: str) -> None:
    path = fake_program(host.root / "bin", "fio", [f"echo {version}"])
    assert host.measure(path=path) == 2
    assert version in host.err


def test_without_fio_it_says_so(host: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(host.root))
    assert "not installed: fio" in refused(host)


# What goes wrong on the way

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
    assert 100 < volumes[0]["credit"]["spent_most"] < 2_000
    assert host.left_behind() == []


def test_words_before_the_json_are_no_failure(host: Planted) -> None:
    path = fio(host, f'(echo "fio: a word"; cat {GOOD}) > "$out"')
    assert host.measure("--size-mib=1", path=path) == 0


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
    assert 0 < seconds_late < 1


def test_a_result_that_cannot_be_kept_is_not_paid_for(host: Planted) -> None:
    (host.root / "results").write_text("a file, and no folder")
    before = host.left_behind()
    assert host.measure(path=fio(host, f'cp {GOOD} "$out"')) == 2
    assert "File exists" in host.err
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


@pytest.mark.slow
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
    path = fake_program(
        host.root / "bin", "fio", ["sleep 0.5", VERSION, OUTPUT, f'cp {GOOD} "$out"']
    )
    with host.load(20_000):
        began = host.ops
        host.measure("--size-mib=1", "--budget-percent=50", path=path)
        spent = host.ops - began
    record: Any = host.record()
    assert record["volumes"][0]["credit"]["after_low"] <= 1 - (spent - 20_000 * 0.2) / 5_400_000


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--profile=dd-drain", "--rate-iops=50"), "rate-iops is for fio, dd-drain runs dd"),
        (("--profile=scaling", "--rate-iops=50"), "randread-64 of scaling cannot do less than 64"),
        (("--profile=fio-4k-qd4", "--rate-iops=2"), "mix70 of fio-4k-qd4 cannot do less than 3.3"),
        (
            ("--drain", "--budget-percent=1", "--floor-percent=90"),
            "budget-percent, floor-percent would be ignored",
        ),
    ],
)
def test_flags_that_could_not_be_kept_are_refused(
    host: Planted, args: tuple[str, ...], said: str
) -> None:
    assert said in refused(host, *args)
    assert said in refused(host, "--plan", *args)


def test_a_drain_whose_fall_could_not_be_seen_is_refused(host: Planted) -> None:
    bucket = {"capacity": 5_400_000, "refill": 2_850, "burst": 3_000}
    made = datetime.now(tz=UTC).isoformat()
    host.config(
        volumes={}, devices={DISK: {"bucket": bucket, "volume_id": VOLUME, "created": made}}
    )
    said = refused(host, "--drain", f"--confirm-drain={VOLUME}")
    assert "a baseline of 2,850 of a burst of 3,000 here, allowed is 92%" in said


@pytest.mark.slow
def test_a_drain_that_is_interrupted_after_its_knee_has_one_and_no_refill(host: Planted) -> None:
    bucket = {"capacity": 10_800, "refill": 300, "burst": 3_000}
    made = datetime.now(tz=UTC).isoformat()
    host.config(
        volumes={}, devices={DISK: {"bucket": bucket, "volume_id": VOLUME, "created": made}}
    )
    began: list[float] = []

    def serve() -> None:
        """3,000 a second, and 300 from 4 s on."""
        began[:] = began or [time.monotonic()]
        for_s = time.monotonic() - began[0]
        host.ops = round(3_000 * min(for_s, 4.0) + 300 * max(0.0, for_s - 4.0))
        host.write()
        if again.exists():
            host.stop.set()
        if not host.stop.is_set():
            host.after(0.05, serve)

    first, again = host.root / "first", host.root / "again"
    host.after(0.5, serve)
    path = fio(
        host,
        # It takes its time to write down what it found: nothing is spent meanwhile.
        f"trap 'sleep 2; cp {GOOD} \"$out\"; exit 128' INT",
        f"if [ -e {first} ]; then touch {again}; fi; touch {first}",
        "sleep 60 & wait",
    )
    args = ("--drain", f"--confirm-drain={VOLUME}", "--recover-s=1", "--size-mib=1")
    assert host.measure(*args, path=path) == 1
    record: Any = host.record("drain")
    assert record["stopped"] == "interrupted"
    assert record["drain"]["burst"] == pytest.approx(3_000, rel=0.15)
    assert record["drain"]["baseline"] == pytest.approx(300, rel=0.15)
    assert record["drain"]["refill"] is None


@pytest.mark.slow
def test_both_volumes_of_a_stripe_are_charged_and_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1_000)
    monkeypatch.setattr(command, "LOOK_S", 0.05)
    host = plant_host(tmp_path / "host", tmp_path / "data", disks=2)
    assert host.measure("--plan", "--profile=dd-drain-raid0", "--json") == 0
    plan = json.loads(host.out)
    assert plan["steps"][0]["iops"] == 6_000
    assert plan["steps"][0]["time_to_empty_s"] == pytest.approx(2_000)
    with host.load(20_000):
        code = host.measure("--size-mib=1", "--floor-percent=99.3", path=fio(host, "exec sleep 30"))
    assert code == 1
    record: Any = host.record()
    assert "may be under its floor" in record["stopped"]
    assert record["stripe"] == "raid0 of 2"
    assert [one["credit"]["spent_most"] > 5_000 for one in record["volumes"]] == [True, True]


def test_volumes_that_are_not_alike_have_no_price_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1_000)
    monkeypatch.setattr(command, "LOOK_S", 0.05)
    host = plant_host(tmp_path / "host", tmp_path / "data", disks=2)
    (host.root / "sys" / "block" / "nvme2n1" / "size").write_text(f"{2 * SECTORS}\n")
    assert "are not alike (gp2 100 GiB, gp2 200 GiB)" in refused(host)


def test_the_budget_ends_a_step_and_the_next_one_has_its_share(
    host: Planted, program: Callable[[str], str]
) -> None:
    program("fio")
    with host.load(9_000):
        code = host.measure("--profile=fio-16k-16jobs", "--size-mib=1", "--budget-percent=0.2")
    assert code == 0
    record: Any = host.record("fio-16k-16jobs")
    assert all("budget is spent" in one["stopped"] for one in record["steps"])
    shares = [one["spent"] for one in record["steps"]]
    assert shares == pytest.approx([5_400, 5_400], rel=0.25)
    # What others spend until it has looked again is beyond it: a third of a second on a busy machine.
    assert record["volumes"][0]["credit"]["spent_most"] <= 10_800 + 9_000 / 3


# The scratch file and the folder


def test_a_scratch_file_has_no_name_and_is_full_of_what_is_not_zero(tmp_path: Path) -> None:
    with scratch_file(tmp_path) as fd:
        assert lay_out(fd, 3, go_on=lambda share: share < 2)
        assert list(tmp_path.iterdir()) == []
        assert os.fstat(fd).st_size == 3 * 2**20
        assert os.fstat(fd).st_blocks * 512 >= 3 * 2**20
        assert b"\0" * 4_096 not in os.pread(fd, 2**20, 2**21)


def test_writing_it_ends_when_it_is_told_to(tmp_path: Path) -> None:
    with scratch_file(tmp_path) as fd:
        assert not lay_out(fd, 100, go_on=lambda share: share < 0.02)
        assert os.fstat(fd).st_size == 2 * 2**20


def test_folders_of_the_dead_are_removed_and_those_of_the_living_are_not(tmp_path: Path) -> None:
    dead, other = tmp_path / f"{PREFIX}dead", tmp_path / "precious"
    for folder in (dead, other):
        folder.mkdir()
        (folder / "data").write_text("x")
    with scratch_folder(tmp_path) as living:
        assert remove_left_behind(tmp_path) == [dead]
        assert living.exists()
    assert sorted(tmp_path.iterdir()) == [other]


# Plans without a volume


def test_a_plan_of_a_type_needs_no_volume(host: Planted) -> None:
    assert (
        host.measure("--plan", "--type=gp2", "--size-gib=100", "--profile=dd-drain", "--json") == 0
    )
    plan = json.loads(host.out)
    assert plan["steps"][0]["time_to_empty_s"] == pytest.approx(2_000)
    assert plan["budget"] == 108_000
    assert host.measure("--plan", "--type=gp3", "--size-gib=100") == 0
    assert "no credits to spend" in host.out
    assert host.measure("--plan", "--type=pd-ssd", "--size-gib=100") == 0
    assert "no credits to spend" in host.out
    assert host.measure("--plan", "--type=gp2") == 2
    assert "size-gib is missing" in host.err


def test_a_plan_of_the_volume_that_is_there_says_what_it_will_leave(host: Planted) -> None:
    assert host.measure("--plan", "--profile=fio-16k-16jobs") == 0
    assert "the budget is 108,000 (2.0%)" in host.out
    assert host.left_behind() == []


def test_the_profiles_are_listed(host: Planted) -> None:
    assert host.measure("--list") == 0
    assert len(host.out.splitlines()) == len(profiles())


# Job files and stripes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a]\nrw=read\n", "must have filename=${SCRATCH}"),
        ("[a]\nfilename=${SCRATCH}\nsize=1m\nruntime=1\n", "[a] has no rw"),
        ("[a]\nfilename=${SCRATCH}\nrw=trim\nsize=1m\nruntime=1\n", "rw=trim, allowed are"),
        ("[a]\nfilename=${SCRATCH}\nrw=read\nsize=lots\nruntime=1\n", "size=lots, allowed is"),
        ("[a]\nfilename=${SCRATCH}\nrw=read\nsize=1m\nruntime=0\n", "runtime=0, allowed is"),
        ("[global]\nrw=read\n", "no section but global"),
        ("rw=read\n", "no section headers"),
    ],
)
def test_a_job_file_that_cannot_be_used_says_why(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.fio"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(said)):
        read_jobs(path)


@pytest.fixture
def md(tmp_path: Path) -> Path:
    files = {"level": "raid0\n", "raid_disks": "2\n"}
    folder = tmp_path / "block" / "md0" / "md"
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_text(content)
    (tmp_path / "block" / "md0" / "md0p1").mkdir()
    slaves = tmp_path / "block" / "dm-0" / "slaves"
    slaves.mkdir(parents=True)
    (slaves / "md0").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", ["md0", "md0p1", "dm-0"])
def test_a_stripe_is_seen_through_what_lies_on_it(md: Path, name: str) -> None:
    stripe = read_stripe(md, name)
    assert stripe is not None
    assert (stripe.level, stripe.members, stripe.is_even) == ("raid0", 2, True)


def test_a_mirror_is_no_stripe_and_a_disk_is_none_at_all(md: Path) -> None:
    (md / "block" / "md0" / "md" / "level").write_text("raid1\n")
    mirror = read_stripe(md, "md0")
    assert mirror is not None
    assert not mirror.is_even
    (md / "block" / "sda").mkdir()
    assert read_stripe(md, "sda") is None
    assert read_stripe(md, "nothing") is None


def test_a_stripe_that_cannot_be_is_refused(md: Path) -> None:
    (md / "block" / "md0" / "md" / "raid_disks").write_text("many\n")
    with pytest.raises(ValueError, match="raid_disks 'many'"):
        read_stripe(md, "md0")


# What the exporter shows of it


def page_of(host: Planted) -> str:
    out = io.StringIO()
    flags = {
        "path.procfs": "proc", "path.sysfs": "sys", "path.udev.data": "udev",
        "config.file": "config.yml", "measure.results": "results",
    }  # fmt: skip
    options = parse_options({name: f"{host.root}/{path}" for name, path in flags.items()}, {})
    exporter = make_exporter(options, system_clock())
    out.write(exporter.scrape()[1].decode())
    return out.getvalue()


def test_the_exporter_shows_the_newest_result_of_each_profile_and_hides_none_for_a_broken_one(
    host: Planted,
) -> None:
    path = fio(host, f'cp {GOOD} "$out"')
    assert host.measure("--size-mib=1", path=path) == 0
    assert host.measure("--size-mib=1", "--profile=probe-hdd", path=path) == 0
    (host.root / "results" / "half.json").write_text('{"format": 1,')
    (host.root / "results" / "note.txt").write_text("not a result")
    shutil.copy(host.root / "results" / f"probe-{VOLUME}.json", host.root / "results" / "copy.json")
    page = page_of(host)
    probe = {"volume_id": VOLUME, "device": DISK, "profile": "probe"}
    assert value(page, "burstwatch_source_up", source="measure") == 0
    assert value(page, "burstwatch_fio_success", **probe) == 1
    assert value(page, "burstwatch_fio_success", profile="probe-hdd") == 1
    step = {"step": "randread", "direction": "read"}
    assert value(page, "burstwatch_fio_ops_per_second", **probe, **step)
    assert page.count("burstwatch_fio_success{") == 2
    age_s = value(page, "burstwatch_fio_result_age_seconds", **probe)
    assert age_s is not None
    assert 0 <= age_s < 60


def test_a_result_of_a_volume_that_is_gone_is_not_shown(host: Planted) -> None:
    assert host.measure("--size-mib=1", path=fio(host, f'cp {GOOD} "$out"')) == 0
    host.detach()
    assert "burstwatch_fio_" not in page_of(host)


def test_a_result_that_failed_is_no_success_and_has_no_figures(host: Planted) -> None:
    assert host.measure("--size-mib=1", path=fio(host, "exit 1")) == 1
    page = page_of(host)
    assert value(page, "burstwatch_fio_success", profile="probe") == 0
    assert "burstwatch_fio_ops_per_second{" not in page


def test_disks_of_other_makers_have_limits_and_no_bucket(host: Planted) -> None:
    host.config(volumes={}, devices={DISK: {"type": "pd-ssd", "volume_id": VOLUME}})
    assert host.measure("--size-mib=1", path=fio(host, f'cp {GOOD} "$out"')) == 0
    record: Any = host.record()
    assert record["volumes"][0]["credit"] is None
    assert record["budget"] is None
    page = page_of(host)
    volume = {"volume_id": VOLUME, "device": DISK}
    assert value(page, "burstwatch_volume_limit_ops_per_second", **volume) == 3_000
    host.config(volumes={}, devices={DISK: {"type": "pd-hdd", "volume_id": VOLUME}})
    assert host.measure() == 2
    assert "allowed are gp2, st1" in host.err
    assert "instance-store, pd-ssd, local-ssd" in host.err


def test_the_wrong_rules_of_a_configuration_are_named(host: Planted) -> None:
    host.config(measure={"directories": ["data"], "drain": "vol-1", "floor": 2})
    assert host.measure() == 2
    assert "measure.directories is ['data']: Expected `str` matching regex '^/'" in host.err
    assert "measure.drain is 'vol-1': Expected `array" in host.err
    assert "measure.floor is unknown, allowed are directories, drain" in host.err


def test_with_an_alarm_up_it_does_not_begin(host: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Exporter, "ask_aws", lambda _: None)
    monkeypatch.setattr(Exporter, "alarms_up", lambda _: {VOLUME: "burstwatch/a/critical"})
    assert f"{VOLUME} is in alarm: burstwatch/a/critical" in refused(host, "--aws=ec2")
    monkeypatch.undo()
    monkeypatch.setattr(os, "geteuid", lambda: 1_000)
    monkeypatch.setattr(Exporter, "ask_aws", lambda _: None)
    assert "its alarms are not known" in refused(host, "--aws=ec2")


def test_the_units_flags_are_known() -> None:
    folder = JOBS.parents[1] / "systemd"
    unit = (folder / "burstwatch-exporter-measure.service").read_text()
    default = (folder / "burstwatch-exporter-measure.default").read_text()
    (line,) = re.findall(r"^ExecStart=\S+ measure (.*) \$ARGS$", unit, re.MULTILINE)
    (args,) = re.findall(r'^ARGS="(.*)"$', default, re.MULTILINE)
    parsed = vars(build_measure_parser().parse_args([*line.split(), *args.split()]))
    assert parsed["directory"] == "/data/burstwatch"
    assert parsed["measure.results"] == "${STATE_DIRECTORY}/measured"
