"""What outlives the process, and what the next one makes of it."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from burstwatch import files
from burstwatch.files import put_in_place
from burstwatch_exporter.credits.state import SavedState, read_state, write_state
from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.settings import parse_options
from tests.exporter.machine import CONFIG, Machine
from tests.exporter.pages import flags, plant
from tests.exporter.states import some

pytestmark = pytest.mark.slow


def seen(exporter: Exporter) -> tuple[float, float, str]:
    """Low and high in credits, and what they rest on."""
    view = exporter.host.observe().views[0]
    assert view.account is not None
    return view.account.interval.low, view.account.interval.high, view.account.origin


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_all_io_while_the_exporter_was_down_is_counted(machine: Machine) -> None:
    first = machine.starts()
    machine.hands.move(2_000)
    assert seen(first) == (100_000, 100_000, "appeared")
    first.save()
    machine.does(30_000, seconds=100)
    low, high, origin = seen(machine.starts())
    assert (low, origin) == (70_000, "restored")
    assert high == 100_000  # sixteen to a credit, if EBS merged them all: less than came in


def test_across_a_reboot_the_time_that_nobody_saw_is_charged_a_full_burst(machine: Machine) -> None:
    first = machine.starts()
    machine.hands.move(2_000)
    first.host.observe()
    first.save()
    machine.reboots(down_s=30)
    machine.does(500)
    low, high, origin = seen(machine.starts())
    # The device has been there for ten of the thirty seconds.
    assert low == pytest.approx(100_000 - 20 * 1.05 * 1_000 + 10 * 100 - 500)
    assert (high, origin) == (100_000, "rebooted")


@pytest.mark.parametrize("has_serial", [True, False])
def test_a_device_that_was_unplugged_and_came_back_has_a_gap_or_may_be_another_volume(
    machine: Machine,
    has_serial: bool,  # noqa: FBT001 - drawn
) -> None:
    if has_serial:
        model = {"model": "Amazon Elastic Block Store", "serial": "vol0123456789abcdef0"}
        plant({f"sys/block/sdb/device/{name}": text for name, text in model.items()}, machine.root)
        record = machine.root / "udev/b8:16"
        record.write_text(f"{record.read_text()}E:ID_SERIAL_SHORT={model['serial']}\n")
    exporter = machine.starts()
    machine.hands.move(2_000)
    exporter.host.observe()
    plant({"proc/diskstats": ""}, machine.root)
    (machine.root / "sys/block/sdb/size").rename(machine.root / "size")
    machine.hands.move(10)
    assert exporter.host.observe().views == ()
    plant({"sys/block/sdb/diskseq": "6\n", "sys/block/sdb/size": f"{2**31}\n"}, machine.root)
    (machine.root / "udev/b8:16").unlink()
    machine.ops = 0
    machine.does(5, seconds=20)
    low, high, origin = seen(exporter)
    if has_serial:
        assert low == pytest.approx(100_000 - 30 * 1_050)
        assert origin == "reattached"
    else:  # only its name says which volume it is
        assert (low, high, origin) == (0, 100_000, "unknown")


def test_a_wall_clock_that_was_set_back_across_a_reboot_leaves_nothing_to_go_by(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    first = machine.starts()
    machine.hands.move(2_000)
    first.host.observe()
    first.save()
    machine.reboots(down_s=-50_000)
    with caplog.at_level("INFO"):
        low, high, origin = seen(machine.starts())
    assert (low, high, origin) == (1_000, 100_000, "appeared")
    assert "was the clock set back?" in caplog.text


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
def test_a_wall_clock_that_jumps_is_told_and_moves_no_balance(
    machine: Machine, jump: float
) -> None:
    exporter = machine.starts()
    machine.hands.move(2_000)
    exporter.host.observe()
    machine.hands.wall += jump
    machine.does(1_000, seconds=1)
    assert seen(exporter)[:2] == (99_000, 100_000)
    machine.hands.move(300)
    exporter.host.observe()
    assert not exporter.sources.outcomes["clock"].is_up  # or no scrape would see it
    machine.hands.move(300)
    exporter.host.observe()
    assert exporter.sources.outcomes["clock"].is_up


def test_another_bucket_than_was_saved_begins_anew(machine: Machine) -> None:
    first = machine.starts()
    machine.hands.move(2_000)
    first.host.observe()
    first.save()
    plant({"config.yml": CONFIG.replace("100000", "50000")}, machine.root)
    assert seen(machine.starts()) == (0, 50_000, "resized")


# The file


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    assert read_state(path) == SavedState(format=1, volumes=())
    write_state(path, SavedState(format=1, volumes=[some(3.0)]))
    assert read_state(path).by_key == {"vol-0123456789abcdef0": some(3.0)}


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_file_may_be_read_by_whom_the_umask_lets(tmp_path: Path, mask: int, mode: int) -> None:
    path, before = tmp_path / "page.html", os.umask(mask)
    try:
        put_in_place(path, lambda file: file.write("for all"))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_state_is_on_the_disk_before_it_takes_the_place_of_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    sync, replace = os.fsync, Path.replace

    def synced(handle: int) -> None:
        done.append("sync")
        sync(handle)

    def replaced(one: Path, other: Path) -> Path:
        done.append("replace")
        return replace(one, other)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    write_state(tmp_path / "state.json", SavedState(format=1, volumes=[some(1.0)]))
    assert done == ["sync", "replace", "sync"]  # the file, then its name


BAD = {
    "empty": "",
    "half": '{"format": 1, "volumes": [{"key": "vol',
    "not utf-8": b"\xff\xfe",
    "another format": '{"format": 2, "volumes": []}',
    "a list": "[]",
    "nothing in it": "{}",
    "no format": '{"volumes": []}',
    "no volumes": '{"format": 1}',
    "no number": json.dumps({"format": 1, "volumes": [{"key": "x"}]}),
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD.keys())
def test_a_corrupt_state_is_named_and_it_starts_without_it(
    content: str | bytes, machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    path = machine.root / "state.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    exporter = machine.starts()
    assert seen(exporter)[2] == "appeared"
    assert caplog.text.count("is not a valid state file") == 1
    page = exporter.scrape()[1].decode()
    (up,) = [
        sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name == "burstwatch_source_up" and sample.labels["source"] == "state"
    ]
    assert up == 0
    exporter.save()
    exporter.save()
    (kept,) = machine.root.glob("state.json.kept-*")
    assert kept.read_bytes() == (content if isinstance(content, bytes) else content.encode())
    exporter.save()
    assert read_state(path).volumes


def test_a_state_that_is_too_large_is_kept_and_one_that_is_gone_stops_nothing(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST_BYTES", 4_096)
    path, database = machine.root / "state.json", b"somebody's database" * 1_000
    path.write_bytes(database)
    machine.starts().save()
    (kept,) = machine.root.glob("state.json.kept-*")
    assert kept.read_bytes() == database
    path.write_bytes(database)
    exporter = machine.starts()
    path.unlink()
    exporter.save()
    assert path.exists()
    assert exporter.sources.outcomes["state"].is_up


def test_two_that_write_one_state_file_are_told_and_one_alone_never_is(machine: Machine) -> None:
    first = machine.starts()
    first.save()
    first.save()
    assert first.sources.outcomes["state"].is_up
    second = machine.starts()
    for exporter in (second, second, first):
        exporter.save()
    assert second.sources.outcomes["state"].is_up
    (problem,) = first.sources.outcomes["state"].problems
    assert problem.startswith(f"another process has written {machine.root}/state.json")
    second.save()
    assert not second.sources.outcomes["state"].is_up
    second.save()
    assert second.sources.outcomes["state"].is_up


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("interval", "low"), float("nan")),
        (("interval", "low"), -1),
        (("interval", "high"), -1),
        (("at",), "soon"),
        (("at",), True),
        (("counters", "read_ops"), -3),
        (("counters", "read_ops"), 1.5),
        (("bucket", "capacity"), 0),
        (("key",), 7),
    ],
)
def test_no_value_that_cannot_be_is_taken_from_a_state(
    tmp_path: Path, where: tuple[str, ...], value: object
) -> None:
    path = tmp_path / "state.json"
    write_state(path, SavedState(format=1, volumes=[some(3.0)]))
    whole = json.loads(path.read_text())
    inner = whole["volumes"][0]
    for name in where[:-1]:
        inner = inner[name]
    inner[where[-1]] = value
    path.write_text(json.dumps(whole))
    with pytest.raises(ValueError):
        read_state(path)


def test_killed_before_any_of_its_calls_a_write_leaves_the_state_before_or_the_new_one(
    tmp_path: Path,
) -> None:
    """In a process of its own, which forks: a child is killed before its first call, its second…"""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.exporter.killed", str(tmp_path / "state.json")],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": "exporter"},
        capture_output=True,
        text=True,
        check=True,
    )
    survived = json.loads(ran.stdout)
    assert len(survived) > 20  # calls, each of which the write was killed before
    assert survived == sorted(survived)  # the one before, and from some call on the new one
    assert {survived[0], survived[-1]} == {1.0, 2.0}


def test_a_disk_that_names_no_volume_may_be_another_after_a_reboot(machine: Machine) -> None:
    plant({"config.yml": CONFIG.replace("volume_id: vol-0123456789abcdef0, ", "")}, machine.root)
    first = machine.starts()
    machine.hands.move(2_000)
    first.host.observe()
    first.save()
    assert seen(machine.starts())[2] == "restored"  # in the same start of the host it is the same
    machine.reboots(down_s=30)
    assert seen(machine.starts()) == (1_000, 100_000, "appeared")


def test_without_a_boot_id_nothing_is_taken_for_the_same_start_of_the_host(
    machine: Machine,
) -> None:
    (machine.root / "proc/sys/kernel/random/boot_id").unlink()
    first = machine.starts()
    machine.hands.move(2_000)
    assert seen(first)[2] == "appeared"
    assert not first.sources.outcomes["boot_id"].is_up
    first.save()
    machine.does(10, seconds=1)
    assert seen(machine.starts())[2] == "rebooted"


def test_the_page_is_written_for_the_textfile_collector_and_a_folder_that_is_not_there_is_named(
    machine: Machine,
) -> None:
    options = flags(machine.root, textfile=str(machine.root / "out" / "burstwatch.prom"))
    exporter = Exporter(parse_options(options, {}), machine.hands.clock)
    exporter.sample()
    assert "No such file" in exporter.sources.outcomes["textfile"].problems[0]
    (machine.root / "out").mkdir()
    exporter.sample()
    page = (machine.root / "out" / "burstwatch.prom").read_text()
    assert 'burstwatch_source_up{source="textfile"} 0.0' in page  # as of the time before
    exporter.sample()
    page = (machine.root / "out" / "burstwatch.prom").read_text()
    assert 'burstwatch_source_up{source="textfile"} 1.0' in page
    assert list(machine.root.glob("out/*")) == [machine.root / "out" / "burstwatch.prom"]


AT_A_BAD_MOMENT = """
import os, signal, threading
from burstwatch_exporter.main import stop_on_signals
stop = threading.Event()
stop_on_signals(stop)
with stop._cond:  # as for a moment of every stop.wait
    os.kill(os.getpid(), signal.SIGTERM)
assert stop.wait()
"""


def test_a_signal_at_any_moment_of_a_wait_ends_it() -> None:
    subprocess.run([sys.executable, "-c", AT_A_BAD_MOMENT], check=True, timeout=120)


HANGING = """
import os, signal, sys, threading
from burstwatch_exporter import main
def run(args, world):
    threading.Thread(target=threading.Event().wait).start()
    return 0
main.run = run
main.main()
"""


def test_a_thread_that_hangs_does_not_keep_the_process() -> None:
    assert subprocess.run([sys.executable, "-c", HANGING], check=True, timeout=120).returncode == 0


def test_told_to_stop_it_saves_and_ends_well(machine: Machine) -> None:
    root = machine.root
    process = subprocess.Popen(
        [
            Path(sys.executable).with_name("burstwatch-exporter"), "--web.listen-address=127.0.0.1:0",
            *(f"--{name}={value}" for name, value in flags(root).items()),
            f"--config.file={root}/config.yml", f"--state.file={root}/state.json",
        ],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if "vol-0123456789abcdef0" in line:
            break
    process.terminate()
    assert process.wait(timeout=120) == 0
    assert "stopped" in process.stderr.read()
    process.stderr.close()
    assert list(read_state(root / "state.json").by_key) == ["vol-0123456789abcdef0"]


def test_without_a_disk_sequence_one_that_came_later_is_another(machine: Machine) -> None:
    (machine.root / "sys/block/sdb/diskseq").unlink()  # before Linux 5.15
    first = machine.starts()
    machine.hands.move(2_000)
    first.host.observe()
    first.save()
    machine.does(400, seconds=10)
    assert seen(machine.starts())[2] == "restored"
    machine.hands.move(7_200)  # detached, drained elsewhere, and back ten seconds ago
    plant({"udev/b8:16": f"I:{int((machine.hands.boot - 10) * 1e6)}\n"}, machine.root)
    machine.does(100)
    low, high, origin = seen(machine.starts())
    # Only its name says that it is the same volume.
    assert (low, high, origin) == (1_000 - 500, 100_000, "appeared")


@pytest.mark.parametrize("slept_s", [0.0, 36_000.0])
def test_without_a_disk_sequence_a_disk_is_the_same_after_the_host_has_slept(
    machine: Machine, slept_s: float
) -> None:
    """The disk's age is without sleep, and the time since the account was saved is with it."""
    (machine.root / "sys/block/sdb/diskseq").unlink()
    first = machine.starts()
    machine.hands.move(2_000)
    first.host.observe()
    first.save()
    machine.hands.asleep_s += slept_s
    machine.hands.move(slept_s)
    machine.does(400, seconds=10)
    assert seen(machine.starts())[2] == "restored"


def test_another_size_begins_anew_though_its_bucket_is_the_same(machine: Machine) -> None:
    plant(
        {
            "config.yml": "devices: {sdb: {volume_id: vol-0123456789abcdef0, type: gp2}}\n",
            "sys/block/sdb/size": f"{8 * 2**21}\n",
        },
        machine.root,
    )
    exporter = machine.starts()
    machine.hands.move(60_000)
    assert seen(exporter) == (5_400_000, 5_400_000, "appeared")
    plant({"sys/block/sdb/size": f"{30 * 2**21}\n"}, machine.root)
    exporter.host.look()
    assert seen(exporter) == (0, 5_400_000, "resized")


def test_while_the_host_sleeps_credits_come_in(machine: Machine) -> None:
    """udev's clock stops then, so a device's age is the least that it can be."""
    hands = machine.hands
    hands.boot, hands.asleep_s = 36_000.0, 28_800.0
    machine.ops = 0
    plant({"udev/b8:16": "I:1000000\nS:disk/by-diskseq/5\n"}, machine.root)
    plant(
        {"proc/diskstats": f"8 16 sdb {900_000} 0 {900_000 * 512} 0 0 0 0 0 0 0 0\n"}, machine.root
    )
    exporter = machine.starts()
    low, high, _ = seen(exporter)
    assert high == 100_000  # 900,000 spent in two hours awake, and all night to fill
    assert low == 0


def test_after_one_reading_nobody_says_that_it_will_never_run_dry(machine: Machine) -> None:
    exporter = machine.starts()
    (view,) = exporter.host.observe().views
    assert view.account is not None
    assert view.account.projection.state == "unknown"
    assert view.account.projection.low_s == view.account.projection.worst_s
    assert view.account.projection.time_to_empty_s is None
    machine.does(0, seconds=1)
    (view,) = exporter.host.observe().views
    assert view.account is not None
    assert view.account.projection.state == "idle"
