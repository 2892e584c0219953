"""EBS's own statistics: the page as AWS lays it out, the helper that reads it, and the metrics."""

import ctypes
import errno
import fcntl
import math
import re
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families

from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.kernel.ebs_stats import parse_stats
from burstwatch_exporter.kernel.nvme_helper import MOST_CLIENTS, Helper, open_socket, read_page
from burstwatch_exporter.serve import make_exporter
from burstwatch_exporter.settings import parse_options
from tests.exporter.box import VOLUMES, Box, told
from tests.exporter.pages import TREES, Hands, flags, plant
from tests.exporter.scraped import value

BINS = [(0, 100, 7), (100, 1_000, 3), (1_000, 2**40, 1)]


def a_page(
    *,
    magic: int = 0x3C23B510,
    bins: list[tuple[int, int, int]] | None = None,
    read_ops: int = 1_000,
) -> bytes:
    """By the offsets of AWS's table, one by one."""
    page = bytearray(4096)
    struct.pack_into("<I", page, 0, magic)
    for offset, found in (
        (8, read_ops), (16, 2_000), (24, 4_096_000), (32, 8_192_000), (40, 5_000_000), (48, 6_000_000),
        (56, 7_000_000), (64, 8_000_000), (72, 9_000_000), (80, 10_000_000), (88, 3),
    ):  # fmt: skip
        struct.pack_into("<Q", page, offset, found)
    for start in (512, 2056):
        some = BINS if bins is None else bins
        struct.pack_into("<Q", page, start, len(some))
        for index, (lower, upper, count) in enumerate(some[:64]):
            struct.pack_into("<QQI", page, start + 8 + 24 * index, lower, upper, count)
    return bytes(page)


def test_every_field_is_where_aws_puts_it_and_microseconds_become_seconds() -> None:
    stats = parse_stats(a_page())
    assert (stats.read_ops, stats.write_ops) == (1_000, 2_000)
    assert (stats.read_bytes, stats.write_bytes) == (4_096_000, 8_192_000)
    assert (stats.read_s, stats.write_s) == (5, 6)
    assert (stats.exceeded_iops_s, stats.exceeded_tp_s) == (7, 8)
    assert (stats.ec2_exceeded_iops_s, stats.ec2_exceeded_tp_s) == (9, 10)
    assert stats.queue_length == 3
    assert stats.read_latencies == ((1e-4, 7), (1e-3, 10), (2**40 / 1e6, 11), (math.inf, 11))
    assert stats.write_latencies[-1] == (math.inf, 11)


@pytest.mark.parametrize(
    ("page", "named"),
    [
        (b"", "0 bytes, and not 4096"),
        (a_page()[:-1], "4095 bytes"),
        (bytes(4096), "begins with 0x00000000, and not with 0x3c23b510"),
        (a_page(magic=0xEC2C0D7E), "an instance store"),
        (a_page(bins=[(0, 1, 1)] * 65), "65 bins, known are 64"),
        (a_page(bins=[(5, 5, 1)]), "bin from 5 to 5"),
        (a_page(bins=[(0, 9, 1), (3, 12, 1)]), "bin from 3 to 12 after 9"),
    ],
)
def test_a_page_of_another_make_is_refused_with_its_reason(page: bytes, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        parse_stats(page)


@given(st.binary(min_size=3584, max_size=3584))
def test_no_page_makes_the_parser_fail_otherwise(rest: bytes) -> None:
    page = a_page()[:512] + rest
    try:
        stats = parse_stats(page)
    except ValueError:
        return
    counts = [count for _, count in stats.read_latencies]
    assert counts == sorted(counts)


# The helper


class Disks:
    """Reads pages of disks that a test thinks up."""

    def __init__(self, **pages: bytes | OSError) -> None:
        self.pages, self.asked = {f"/dev/{name}": page for name, page in pages.items()}, 0

    def read(self, device: str) -> bytes:
        self.asked += 1
        page = self.pages.get(device, OSError(errno.ENOENT, "No such file or directory"))
        if isinstance(page, OSError):
            raise page
        return page


def test_a_disk_is_asked_at_most_once_a_second() -> None:
    disks, now = Disks(nvme1n1=a_page()), 0.0
    helper = Helper(disks.read, lambda: now)
    assert helper.answer(b"nvme1n1\n") == b"ok\n" + a_page()
    helper.answer(b"nvme1n1\n")
    assert disks.asked == 1
    now = 1.0
    helper.answer(b"nvme1n1\n")
    assert disks.asked == 2


@pytest.mark.parametrize(
    "line", [b"", b"sda", b"../etc/shadow", b"nvme0", b"nvme0n1p1", b"nvme0n1\x00", b"nvme00000n1"]
)
def test_nothing_but_a_disks_name_is_taken(line: bytes) -> None:
    disks = Disks()
    assert Helper(disks.read, lambda: 0.0).answer(line) == b"error: no name of an NVMe disk\n"
    assert disks.asked == 0


def test_the_command_is_the_one_that_aws_sends(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sent: list[bytes] = []

    def ioctl(_: int, number: int, command: bytearray) -> int:
        assert number == 0xC0484E41
        sent.append(bytes(command))
        address, length = (
            struct.unpack_from("<Q", command, 24)[0],
            struct.unpack_from("<I", command, 36)[0],
        )
        ctypes.memmove(address, a_page(), length)
        return 0

    monkeypatch.setattr(fcntl, "ioctl", ioctl)
    device = tmp_path / "nvme0n1"
    device.touch()
    assert read_page(str(device)) == a_page()
    (command,) = sent
    assert len(command) == 72
    assert command[0] == 0x02
    assert struct.unpack_from("<I", command, 4)[0] == 1
    assert struct.unpack_from("<I", command, 40)[0] == 0xD0 | 1024 << 16


def test_what_the_kernel_refuses_is_an_error_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    device = tmp_path / "nvme0n1"
    device.touch()
    monkeypatch.setattr(fcntl, "ioctl", lambda *_: 8457)  # what an instance store answers
    with pytest.raises(OSError, match="NVMe status 0x2109"):
        read_page(str(device))


# The exporter and the helper


@contextmanager
def helping(path: Path, disks: Disks) -> Iterator[None]:
    listener = open_socket(str(path), {})
    helper, stop = Helper(disks.read, time.monotonic), threading.Event()

    def serve() -> None:
        while not stop.is_set():
            helper.serve_one(listener)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        with socket.socket(socket.AF_UNIX) as last:
            last.connect(str(path))
        thread.join()
        listener.close()


def scraped(tmp_path: Path, accept: str = "") -> tuple[Exporter, str]:
    tree = yaml.safe_load((TREES / "nitro.yml").read_text())
    plant(tree["files"], tmp_path)
    more = {"nvme.socket": str(tmp_path / "nvme.sock")}
    exporter = make_exporter(parse_options(flags(tmp_path, **more), {}), Hands().clock)
    return exporter, exporter.scrape(accept)[1].decode()


def test_statistics_of_each_volume_join_by_its_id_and_one_that_fails_hides_no_other(
    tmp_path: Path, program: Callable[[str], str]
) -> None:
    disks = Disks(nvme0n1=a_page(), nvme1n1=a_page(magic=1), nvme2n1=a_page(), nvme4n1=a_page())
    with helping(tmp_path / "nvme.sock", disks):
        exporter, text = scraped(tmp_path)
        _, openmetrics = scraped(tmp_path, "application/openmetrics-text; version=1.0.0")
    volume = {"volume_id": "vol-0123456789abcdef0", "device": "nvme0n1"}
    assert value(text, "burstwatch_ebs_exceeded_iops_seconds_total", **volume) == 7
    latency = "burstwatch_ebs_read_io_latency_seconds"
    assert value(text, f"{latency}_bucket", **volume, le="0.0001") == 7
    assert value(text, f"{latency}_bucket", **volume, le="+Inf") == 11
    assert value(text, f"{latency}_sum", **volume) == 5
    assert text.count("burstwatch_ebs_volume_queue_length{") == 3
    assert exporter.sources.outcomes["nvme"].problems == (
        "vol-0aaaaaaaaaaaaaaa1 (nvme1n1): the log page begins with 0x00000001, and not with 0x3c23b510",
        "vol-0ddddddddddddddd4 (nvme5n1): No such file or directory",
    )
    assert list(parse_openmetrics(openmetrics))  # type: ignore[no-untyped-call]
    histograms = [f for f in text_string_to_metric_families(text) if f.type == "histogram"]
    assert len(histograms) == 2
    checked = subprocess.run(
        [program("promtool"), "check", "metrics"],
        input=text.encode(),
        capture_output=True,
        check=False,
    )
    assert (checked.returncode, checked.stderr) == (0, b"")


def test_an_instance_store_that_the_configuration_names_is_not_asked(tmp_path: Path) -> None:
    tree = yaml.safe_load((TREES / "nitro.yml").read_text())
    plant(tree["files"], tmp_path)
    config = tmp_path / "config.yml"
    config.write_text("devices: {nvme3n1: {type: instance-store}}")
    more = {"nvme.socket": str(tmp_path / "nvme.sock"), "config.file": str(config)}
    exporter = make_exporter(parse_options(flags(tmp_path, **more), {}), Hands().clock)
    asked = [f"nvme{number}n1" for number in range(6) if number != 3]
    with helping(tmp_path / "nvme.sock", Disks(**dict.fromkeys(asked, a_page()))):
        exporter.scrape("")
    assert "nvme3n1" in {view.disk.name for view in exporter.host.observe().views}
    assert exporter.sources.outcomes["nvme"].problems == ()


@pytest.mark.slow
def test_disks_after_one_that_is_slow_are_asked_at_the_next_scrape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disks = Disks(nvme0n1=a_page(), nvme1n1=a_page(), nvme2n1=a_page(), nvme4n1=a_page())
    read, is_over = disks.read, threading.Event()

    def hangs_once(device: str) -> bytes:
        if device == "/dev/nvme0n1" and not is_over.is_set():
            time.sleep(1)
            is_over.set()
        return read(device)

    monkeypatch.setattr(disks, "read", hangs_once)
    with helping(tmp_path / "nvme.sock", disks):
        exporter, text = scraped(tmp_path)
        assert "burstwatch_ebs_" not in text
        problems = str(exporter.sources.outcomes["nvme"].problems)
        assert "(nvme0n1): the helper does not answer: timed out" in problems
        assert "not asked this time: nvme0n1 did not answer" in problems
        assert is_over.wait(60)
        text = exporter.scrape()[1].decode()
    assert text.count("burstwatch_ebs_volume_queue_length{") == 3
    assert "(nvme0n1): did not answer; polled in" in str(exporter.sources.outcomes["nvme"].problems)


def test_where_ebs_has_done_more_than_the_kernel_counted_the_range_widens_and_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burstwatch_exporter.kernel.nvme_helper.FRESH_S", 0.0)
    box = Box(tmp_path, options={"nvme.socket": str(tmp_path / "nvme.sock")})
    disks = Disks(nvme1n1=a_page(), nvme2n1=a_page())
    with helping(tmp_path / "nvme.sock", disks):
        exporter = box.starts()
        assert box.bounds(exporter) == (1, 1)
        for scrape in range(1, 4):  # the kernel counts nothing of it
            disks.pages["/dev/nvme1n1"] = a_page(read_ops=1_000 + 180_000 * scrape)
            box.passes(exporter, 60)
            exporter.scrape()
            exporter.sample()
            said = "EBS has done 180,000 operations more than the kernel has counted"
            assert said in told(exporter, "counters")
        low, high = box.bounds(exporter)
        assert high == 1
        assert low < 1 - 180 * (3_000 - 300) / 5_400_000
        assert box.bounds(exporter, VOLUMES["nvme2n1"]) == (1, 1)
        box.passes(exporter, 60)
        exporter.scrape()
        exporter.sample()
        assert told(exporter, "counters") == ""


@pytest.mark.slow
@pytest.mark.parametrize("iops", [350, 600, 700, 3_000])
@pytest.mark.parametrize("every_s", [15, 60])
def test_however_slowly_other_io_is_done_it_is_found_and_the_truth_is_in_the_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, iops: int, every_s: int
) -> None:
    """I/O past the block layer on 100 GiB of gp2. Of it 2 s of the fastest and 4,096 operations may be unseen at any time."""
    monkeypatch.setattr("burstwatch_exporter.kernel.nvme_helper.FRESH_S", 0.0)
    box = Box(tmp_path, options={"nvme.socket": str(tmp_path / "nvme.sock")})
    disks = Disks(nvme1n1=a_page(read_ops=0), nvme2n1=a_page())
    capacity, refill, unseen = 5_400_000, 300, 2 * 3_000 + 4_096
    level, outside, times_told = float(capacity), 0, 0
    with helping(tmp_path / "nvme.sock", disks):
        exporter = box.starts()
        for scrape in range(1, 7_200 // every_s):
            disks.pages["/dev/nvme1n1"] = a_page(read_ops=iops * every_s * scrape)
            level = max(0.0, min(capacity, level + (refill - iops) * every_s))
            box.passes(exporter, every_s, every_s=every_s)
            low, high = box.bounds(exporter)
            times_told += "more than the kernel has counted" in told(exporter, "counters")
            # What is found in one scrape widens the range of the next.
            slack = unseen + 2 * iops * every_s
            outside += not low * capacity - slack <= level <= high * capacity + slack
    assert outside == 0
    assert times_told > 0


@pytest.mark.slow
def test_a_little_other_io_costs_a_little_of_the_range_however_long_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a program that reads a page now and then: hours of it are not hours of full burst."""
    monkeypatch.setattr("burstwatch_exporter.kernel.nvme_helper.FRESH_S", 0.0)
    box = Box(tmp_path, options={"nvme.socket": str(tmp_path / "nvme.sock")})
    disks = Disks(nvme1n1=a_page(read_ops=0), nvme2n1=a_page())
    lows, times_told = [], 0
    with helping(tmp_path / "nvme.sock", disks):
        exporter = box.starts()
        for scrape in range(1, 6 * 60):
            disks.pages["/dev/nvme1n1"] = a_page(read_ops=2 * 60 * scrape)
            box.passes(exporter, 60, every_s=60)
            lows.append(box.bounds(exporter)[0])
            times_told += "more than the kernel has counted" in told(exporter, "counters")
    assert times_told > 0
    assert min(lows) > 0.9


@pytest.mark.slow
def test_disks_that_the_time_was_too_short_for_come_first_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burstwatch_exporter.page.nvme.DISK_WITHIN_S", 60.0)
    monkeypatch.setattr("burstwatch_exporter.page.nvme.ALL_S", 0.1)
    monkeypatch.setattr("burstwatch_exporter.kernel.nvme_helper.FRESH_S", 0.0)
    disks = Disks(nvme0n1=a_page(), nvme1n1=a_page(), nvme2n1=a_page(), nvme4n1=a_page())
    read, seen = disks.read, set[str]()

    def slowly(device: str) -> bytes:
        time.sleep(0.2)
        return read(device)

    monkeypatch.setattr(disks, "read", slowly)
    with helping(tmp_path / "nvme.sock", disks):
        exporter, _ = scraped(tmp_path)
        for _ in range(8):
            page = exporter.scrape()[1].decode()
            seen |= set(re.findall(r'burstwatch_ebs_volume_queue_length{device="(\w+)"', page))
    assert seen == {"nvme0n1", "nvme1n1", "nvme2n1", "nvme4n1"}


def test_twenty_silent_clients_and_a_disk_that_hangs_hold_nobody_else_up(tmp_path: Path) -> None:
    hangs, path = threading.Event(), tmp_path / "nvme.sock"
    disks = Disks(nvme0n1=a_page(), nvme1n1=a_page())
    read = disks.read

    def hangs_for_one(device: str) -> bytes:
        if device == "/dev/nvme0n1":
            hangs.wait(60)
        return read(device)

    disks.read = hangs_for_one  # type: ignore[method-assign]
    with helping(path, disks), ExitStack() as clients:
        for line in [b""] * 20 + [b"nvme0n1\n"]:
            client = clients.enter_context(socket.socket(socket.AF_UNIX))
            client.connect(str(path))
            client.sendall(line)
        with socket.socket(socket.AF_UNIX) as honest:
            honest.settimeout(60)
            honest.connect(str(path))
            honest.sendall(b"nvme1n1\n")
            assert honest.recv(3) == b"ok\n"
        hangs.set()


def test_more_clients_than_there_are_seats_are_closed_and_a_seat_is_free_when_a_silent_one_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burstwatch_exporter.kernel.nvme_helper.CLIENT_WITHIN_S", 0.3)
    path = tmp_path / "nvme.sock"
    with helping(path, Disks(nvme1n1=a_page())), ExitStack() as clients:
        for _ in range(MOST_CLIENTS):
            clients.enter_context(socket.socket(socket.AF_UNIX)).connect(str(path))
        deadline, answer = time.monotonic() + 60, b""
        while not answer and time.monotonic() < deadline:
            with socket.socket(socket.AF_UNIX) as honest, suppress(OSError):
                honest.settimeout(60)
                honest.connect(str(path))
                honest.sendall(b"nvme1n1\n")
                answer = honest.recv(3)
        assert answer == b"ok\n"


@contextmanager
def stalling(path: Path, *, takes: bool, says: bytes) -> Iterator[list[float]]:
    """A helper that takes connections or does not, and says a byte now and then. Gives when it was asked."""
    asked: list[float] = []
    with socket.socket(socket.AF_UNIX) as listener, ExitStack() as held:
        listener.bind(str(path))
        listener.listen(0 if not takes else 128)
        listener.settimeout(0.05)
        stop = threading.Event()

        def serve() -> None:
            open_ones: list[socket.socket] = []
            while not stop.is_set():
                if takes:
                    with suppress(TimeoutError):
                        open_ones.append(held.enter_context(listener.accept()[0]))
                        asked.append(time.monotonic())
                for one in open_ones:
                    with suppress(OSError):
                        one.sendall(says)
                stop.wait(0.02)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield asked
        finally:
            stop.set()
            thread.join()


@pytest.mark.parametrize(("kind", "says"), [("silent", b""), ("trickling", b"o"), ("deaf", b"")])
def test_a_helper_that_stalls_is_asked_again_in_a_minute_and_delays_no_other_scrape(
    tmp_path: Path, kind: str, says: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    takes = kind != "deaf"
    monkeypatch.setattr("burstwatch_exporter.page.nvme.DISK_WITHIN_S", 0.1)
    with stalling(tmp_path / "nvme.sock", takes=takes, says=says) as asked:
        exporter, text = scraped(tmp_path)
        assert "burstwatch_ebs_" not in text
        for _ in range(10):
            text = exporter.scrape()[1].decode()
            assert "burstwatch_volume_read_ops_total{" in text
        # One disk a scrape, until each has been tried.
        assert len(asked) == (5 if takes else 0)
        assert "polled in" in str(exporter.sources.outcomes["nvme"].problems)


def test_without_its_helper_the_source_is_down_and_all_else_is_there(tmp_path: Path) -> None:
    exporter, text = scraped(tmp_path)
    assert 'burstwatch_source_up{source="nvme"} 0' in text
    assert "burstwatch_ebs_" not in text
    assert "burstwatch_volume_read_ops_total{" in text
    (problem,) = exporter.sources.outcomes["nvme"].problems
    assert problem.startswith(f"the helper at {tmp_path / 'nvme.sock'}: ")


@pytest.mark.parametrize("there", ["a file", "a link to a file", "a folder", "another helper"])
def test_a_helper_takes_away_only_a_socket_that_nobody_answers_at(
    tmp_path: Path, there: str
) -> None:
    path, data = tmp_path / "nvme.sock", tmp_path / "data.db"
    data.write_text("precious")
    if there == "a file":
        path.write_text("precious")
    elif there == "a link to a file":
        path.symlink_to(data)
    elif there == "a folder":
        path.mkdir()
    with open_socket(str(path), {}) if there == "another helper" else nullcontext():
        before = path.lstat()
        with pytest.raises(OSError, match=r"no socket|another helper"):
            open_socket(str(path), {})
        assert path.lstat() == before
    assert data.read_text() == "precious"


def test_a_socket_that_a_dead_helper_has_left_is_taken(tmp_path: Path) -> None:
    path = str(tmp_path / "nvme.sock")
    open_socket(path, {}).close()
    with open_socket(path, {}), socket.socket(socket.AF_UNIX) as asking:
        asking.connect(path)


def test_nothing_is_remembered_of_disks_that_are_not_there() -> None:
    disks = Disks(nvme1n1=a_page())
    helper = Helper(disks.read, lambda: 0.0)
    helper.answer(b"nvme1n1\n")
    for number in range(10_000):
        helper.answer(f"nvme{number}n7\n".encode())
    assert [list(kept) for kept in vars(helper).values() if isinstance(kept, dict)] == [[b"nvme1n1"]] * 2  # fmt: skip


def test_only_the_owner_and_the_group_may_ask_the_helper(tmp_path: Path) -> None:
    path = tmp_path / "nvme.sock"
    open_socket(str(path), {}).close()
    assert oct(path.stat().st_mode & 0o777) == "0o660"
