"""Counters are believed only where nothing speaks against them: each sign, and random lives of hosts."""

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from burstwatch.history.points import LevelPoint
from burstwatch_exporter.credits.published import CloudAnswer
from burstwatch_exporter.exporter import IMDS_AGAIN_S
from burstwatch_exporter.kernel import evidence
from burstwatch_exporter.kernel.mounts import container_files
from tests.exporter.box import INSTANCE_STORE, VOLUMES, Box, told
from tests.exporter.events import LXCFS, broken
from tests.exporter.ledgers import a_disk
from tests.exporter.metadata import Handler, Metadata
from tests.exporter.pages import plant
from tests.exporter.scraped import value


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(20, 100, 20))]
)
def test_whatever_happens_to_a_host_no_level_is_outside_of_its_range(first: int) -> None:
    assert [text for seed in range(first, first + 20) if (text := broken(seed))] == []


@pytest.mark.many
@pytest.mark.parametrize("first", range(1_000, 3_000, 500))
def test_in_thousands_of_lives_of_hosts_no_level_is_outside_of_its_range(first: int) -> None:
    assert [text for seed in range(first, first + 500) if (text := broken(seed))] == []


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


# Whether they count


def test_while_the_kernel_does_not_count_the_range_widens_and_the_source_says_why(box: Box) -> None:
    exporter = box.starts()
    assert box.bounds(exporter) == (1, 1)
    box.put("sys/block/nvme1n1/queue/iostats", "0\n")
    box.passes(exporter, 600)
    low, high = box.bounds(exporter)
    assert low < 1 - 600 * (3_000 - 300) / 5_400_000
    assert high == 1
    assert "(nvme1n1): the kernel does not count its I/O: queue/iostats is 0" in told(
        exporter, "counters"
    )
    assert box.bounds(exporter, VOLUMES["nvme2n1"]) == (1, 1)  # the other member of a stripe
    box.put("sys/block/nvme1n1/queue/iostats", "1\n")
    box.passes(exporter, 10)
    assert told(exporter, "counters") == ""
    assert box.bounds(exporter)[0] < low
    box.passes(exporter, 20_000, every_s=1_000)
    assert box.bounds(exporter) == (1, 1)  # what comes in is counted again


@pytest.mark.parametrize(
    ("head", "paths"),
    [
        (0, {"nvme1c0n1": 60_000}),
        (0, {"nvme1c0n1": 40_000, "nvme1c1n1": 20_000}),
        (60_000, {"nvme1c0n1": 60_000}),
        (60_000, {"nvme1c0n1": 0}),
    ],
)
def test_a_multipath_disk_is_counted_once_by_itself_or_by_its_paths(
    box: Box, head: int, paths: dict[str, int]
) -> None:
    for path in paths:
        plant({f"sys/block/{path}/hidden": "1\n"}, box.root)

    def counts(share: float) -> None:
        box.ops["nvme1n1"] = round(head * share)
        box.counts(
            *(
                f"0 0 {name} {round(n * share)} 0 {round(n * share) * 32} 0 0 0 0 0 0 0 0\n"
                for name, n in paths.items()
            )
        )

    counts(0)
    exporter = box.starts()
    for share in (0.5, 1.0):
        box.hands.move(10)
        counts(share)
        exporter.sample()
    page = exporter.scrape()[1].decode()
    labels = {"volume_id": VOLUMES["nvme1n1"], "device": "nvme1n1"}
    assert value(page, "burstwatch_volume_read_ops_total", **labels) == 60_000
    assert box.bounds(exporter)[0] == pytest.approx(
        1 - (60_000 - 20 * 300 + 3_000) / 5_400_000, abs=0.002
    )


def test_a_line_that_is_missing_once_alarms_nobody_and_one_that_stays_away_is_told(
    box: Box,
) -> None:
    exporter = box.starts()
    box.hands.move(2)
    box.counts(hidden=("nvme1n1",))
    exporter.sample()
    assert told(exporter, "counters") == ""
    box.passes(exporter, 60)
    assert "(nvme1n1): it has no line in /proc/diskstats" in told(exporter, "counters")
    low, high = box.bounds(exporter)
    assert low < 1
    assert high == 1
    box.counts()
    box.passes(exporter, 10)
    assert told(exporter, "counters") == ""
    assert box.bounds(exporter) == (1, 1)  # the counters have counted meanwhile


def test_an_empty_diskstats_is_not_a_host_without_volumes(box: Box) -> None:
    box.put("proc/diskstats", "")
    exporter = box.starts()
    assert exporter.hints() == []
    assert "(nvme2n1): it has no line in /proc/diskstats" in told(exporter, "counters")
    assert 'burstwatch_volume_info{device="nvme1n1"' in exporter.scrape()[1].decode()


def test_the_diskstats_of_lxcfs_are_those_of_one_container(box: Box) -> None:
    box.put("proc/self/mountinfo", LXCFS)
    exporter = box.starts()
    box.passes(exporter, 18_000, every_s=600)
    assert box.bounds(exporter)[0] == 0
    assert "/proc/diskstats is that of lxcfs" in told(exporter, "counters")


@pytest.mark.parametrize("process", ["self", "1"])
@pytest.mark.parametrize("reads", ["its own /proc", "the host's /proc, mounted elsewhere"])
@pytest.mark.parametrize("covers", ["its own /proc", "what it reads"])
def test_files_of_lxcfs_count_where_they_lie_over_what_is_read(
    tmp_path: Path, process: str, reads: str, covers: str
) -> None:
    """A pod can have them over its own /proc, and read the host's: the other way round nobody would see them."""
    procfs = tmp_path / "proc"
    is_elsewhere = reads != "its own /proc"
    read = str(procfs) if is_elsewhere and process == "self" else "/proc"
    own = LXCFS.replace(
        "/proc/diskstats", f"{read if covers == 'what it reads' else '/proc'}/diskstats"
    )
    mounted = f"602 600 0:5 / {procfs} ro - proc proc ro\n" if is_elsewhere else ""
    plant({"proc/self/mountinfo": mounted, "proc/1/mountinfo": ""}, tmp_path)
    plant({f"proc/{process}/mountinfo": own + (mounted if process == "self" else "")}, tmp_path)
    is_read = process == "1" or not is_elsewhere or covers == "what it reads"
    assert container_files(procfs) == ({"diskstats"} if is_read else frozenset())


def test_the_stat_of_lxcfs_shows_no_cpu_credits(box: Box) -> None:
    box.options = {"instance.type": "t3.medium"}
    box.put("proc/stat", "cpu  900000 0 0 17000000 0 0 0 0 0 0\n")
    assert "burstwatch_cpu_credit_balance_ratio" in box.starts().scrape()[1].decode()
    box.put("proc/self/mountinfo", LXCFS.replace("diskstats", "stat"))
    exporter = box.starts()
    assert "burstwatch_cpu_credit_balance_ratio" not in exporter.scrape()[1].decode()
    assert "/proc/stat is that of lxcfs" in told(exporter, "cpu")


@pytest.mark.parametrize("in_flight", [-1, 2**32 - 1, 2**64 - 1])
def test_a_count_of_requests_that_cannot_be_hides_no_volume_and_is_over_when_it_is(
    box: Box, in_flight: int
) -> None:
    exporter = box.starts()
    box.counts(in_flight=in_flight)
    box.passes(exporter, 60)
    assert f"{in_flight} of its requests are in flight, which cannot be" in told(
        exporter, "counters"
    )
    assert box.bounds(exporter)[0] < 1
    box.counts()
    box.passes(exporter, 10)
    assert box.bounds(exporter) == (1, 1)


def test_two_disks_of_one_serial_number_are_one_volume_of_which_nobody_knows_what_it_does(
    box: Box,
) -> None:
    exporter = box.starts()
    box.disk("nvme3n1", VOLUMES["nvme1n1"], sequence=3)
    box.ops["nvme3n1"] = 0
    box.counts()
    box.passes(exporter, 1_800)
    assert "nvme1n1, nvme3n1 have one serial number" in told(exporter, "counters")
    low, high = box.bounds(exporter)
    assert low < 1 - 1_800 * (3_000 - 300) / 5_400_000
    assert high == 1


def test_of_several_signs_one_by_which_time_is_lost_comes_before_one_that_is_waited_for() -> None:
    appearance = evidence.Appearance(
        disk=a_disk(), counters=None, missing_s=60.0, container_files=frozenset({"diskstats"})
    )
    doubt = evidence.doubt_of(appearance)
    assert doubt is not None
    assert doubt.is_lost
    waits = evidence.doubt_of(replace(appearance, container_files=frozenset()))
    assert waits is not None
    assert not waits.is_lost


def test_a_state_that_was_saved_while_nobody_counted_is_not_gone_on_with_as_if_somebody_had(
    box: Box,
) -> None:
    box.options = {"state.file": str(box.root / "state.json")}
    exporter = box.starts()
    box.put("sys/block/nvme1n1/queue/iostats", "0\n")
    box.passes(exporter, 10)
    exporter.save()
    box.hands.move(600)
    box.put("sys/block/nvme1n1/queue/iostats", "1\n")
    low, high = box.bounds(box.starts())
    assert low <= 1 - 610 * (3_000 - 300) / 5_400_000
    assert high == 1


# Whether they are this volume's


def test_names_that_the_kernel_has_given_to_three_others_are_those_of_their_serial_numbers(
    box: Box,
) -> None:
    ids = {**VOLUMES, "nvme3n1": "vol-0ccccccccccccccc3"}
    box.config = "devices:\n" + "".join(
        f"  {name}: {{volume_id: {its}, type: gp2}}\n" for name, its in ids.items()
    )
    for number, (name, its) in enumerate(
        zip(ids, [*list(ids.values())[1:], VOLUMES["nvme1n1"]], strict=True), start=1
    ):
        box.disk(name, its, sequence=number)
        box.ops[name] = 0
    box.counts()
    exporter = box.starts()
    box.ops["nvme1n1"] += 300_000  # of vol-0bbb
    box.hands.move(100)
    box.counts()
    exporter.sample()
    assert box.bounds(exporter, VOLUMES["nvme1n1"]) == (1, 1)
    assert box.bounds(exporter, VOLUMES["nvme2n1"])[0] < 0.96
    said = told(exporter, "sysfs")
    assert said.count("the serial number is believed") == 3


def test_a_name_of_the_configuration_that_is_an_instance_store_now_is_left_out(box: Box) -> None:
    box.config = f"devices: {{nvme2n1: {{volume_id: {VOLUMES['nvme2n1']}, type: gp2}}}}\n"
    box.disk("nvme2n1", VOLUMES["nvme2n1"], sequence=2, **INSTANCE_STORE)
    exporter = box.starts()
    assert VOLUMES["nvme2n1"] not in exporter.scrape()[1].decode()
    assert "its model is Amazon EC2 NVMe Instance Storage: it is left out" in told(
        exporter, "sysfs"
    )


def test_a_type_that_the_configuration_gives_a_device_is_that_of_the_volume_which_the_device_tells(
    box: Box,
) -> None:
    box.config = "devices: {nvme1n1: {type: gp2}}\n"
    exporter = box.starts()
    assert box.bounds(exporter) == (1, 1)
    assert told(exporter, "config") == ""


def test_another_volume_that_gets_the_name_between_two_readings_is_not_charged_for_it(
    box: Box,
) -> None:
    exporter = box.starts()
    shutil.rmtree(box.root / "sys/block/nvme1n1")
    box.disk("nvme1n1", "vol-0ddddddddddddddd4", sequence=9)
    box.ops["nvme1n1"] = 60_000
    box.counts()
    box.hands.move(60)
    exporter.sample()
    page = exporter.scrape()[1].decode()
    assert VOLUMES["nvme1n1"] not in page
    (saved,) = [one for one in exporter.host.saved() if one.key == VOLUMES["nvme1n1"]]
    assert saved.interval.high == 5_400_000
    assert box.bounds(exporter, "vol-0ddddddddddddddd4")[1] == 1


# Whether they are whole


@pytest.mark.parametrize("seconds", [20.0, 150.0, 36_000.0])
def test_what_is_done_while_the_host_sleeps_is_in_no_counter(box: Box, seconds: float) -> None:
    box.options = {"state.file": str(box.root / "state.json")}
    exporter = box.starts()
    box.passes(exporter, 10)
    exporter.save()
    box.hands.move(seconds)
    box.hands.asleep_s += seconds
    exporter.sample()
    again = box.starts()
    least = max(0.0, 1 - seconds * (3_000 - 300) / 5_400_000)
    for one in (exporter, again):
        low, high = box.bounds(one)
        assert low <= least
        assert high == 1


def test_io_of_while_the_exporter_was_down_is_charged_by_the_largest_requests_of_then_and_now(
    box: Box,
) -> None:
    box.options = {"state.file": str(box.root / "state.json")}
    box.put("sys/block/nvme1n1/queue/max_sectors_kb", "1280\n")
    exporter = box.starts()
    box.passes(exporter, 10)
    exporter.save()
    seconds = 600  # 600 requests of 260 KiB, two credits each, and 1,700 of 4 KiB a second
    kib = (600 * 260 + 1_700 * 4) * seconds
    box.put("proc/diskstats", f"259 1 nvme1n1 {2_300 * seconds} 0 {kib * 2} 0 0 0 0 0 0 0 0\n")
    box.put("sys/block/nvme1n1/queue/max_sectors_kb", "128\n")
    box.hands.move(seconds)
    low, high = box.bounds(box.starts())
    assert low <= 1 - (2_900 - 300) * seconds / 5_400_000 <= high


def test_counters_that_have_fallen_are_not_counted_by_while_they_may_still_be_wrong(
    box: Box,
) -> None:
    box.ops["nvme1n1"] = 1_000_000
    box.counts()
    exporter = box.starts()
    box.passes(exporter, 20)
    for second in range(0, 590, 10):  # meanwhile the disk does as much as it can
        box.ops["nvme1n1"] = 1_000 + second
        box.counts()
        box.passes(exporter, 10)
    low, _ = box.bounds(exporter)
    assert low <= 1 - 590 * (3_000 - 300) / 5_400_000


def test_a_balance_is_not_compared_by_a_clock_that_was_set_since_aws_was_asked(box: Box) -> None:
    box.options = {"aws": "cloudwatch", "imds.endpoint": "http://127.0.0.1:9"}
    (box.root / "udev/b259:1").unlink()  # so nothing is known of the time before
    exporter = box.starts()
    point = LevelPoint(start_s=box.hands.wall - 60, period_s=60, ratio=1.0, statistic="Average")
    volume = VOLUMES["nvme1n1"]
    exporter.host.apply(CloudAnswer(specs={}, balances={volume: point}, ahead_s=0.0))
    box.hands.wall -= 130  # so that by this clock the datapoint's minute comes again
    for _ in range(60):
        box.hands.move(5)
        box.ops["nvme1n1"] += 5 * 3_000
        box.counts()
        exporter.sample()
    low, high = box.bounds(exporter, volume)
    assert low <= 1 - 300 * (3_000 - 300) / 5_400_000 <= high


@pytest.mark.parametrize("way", ["between two readings", "gone for one reading", "without udev"])
def test_a_balance_of_cloudwatch_is_not_that_of_another_disk_under_its_name(
    tmp_path: Path, way: str
) -> None:
    volume_id = "vol-0ccccccccccccccc3"
    box = Box(
        tmp_path,
        config=f"devices: {{xvdf: {{volume_id: {volume_id}, type: gp2}}}}\n",
        options={"aws": "cloudwatch", "imds.endpoint": "http://127.0.0.1:9"},
    )

    def attach(*, appeared_s: float, ops: int) -> None:
        box.put("sys/block/xvdf/size", f"{100 * 2**21}\n")
        box.put("udev/b202:80", f"I:{int(appeared_s * 1e6)}\n")
        box.put("proc/diskstats", f"202 80 xvdf {ops} 0 {ops * 8} 0 0 0 0 0 0 0 0\n")

    attach(appeared_s=100, ops=1_000)
    if way == "without udev":
        (box.root / "udev/b202:80").unlink()
    exporter = box.starts()
    box.passes(exporter, 60)
    if way == "gone for one reading":
        shutil.rmtree(box.root / "sys/block/xvdf")
        box.put("proc/diskstats", "")
        box.passes(exporter, 10)
    attach(appeared_s=box.hands.boot, ops=0)
    if way == "without udev":
        (box.root / "udev/b202:80").unlink()
    box.passes(exporter, 10)
    point = LevelPoint(start_s=box.hands.wall - 120, period_s=60, ratio=1.0, statistic="Average")
    exporter.host.apply(CloudAnswer(specs={}, balances={volume_id: point}, ahead_s=0.0))
    assert box.bounds(exporter, volume_id) == (0, 1)


# What is lost without a word


def test_mounts_of_this_process_alone_are_said_to_be_that_and_those_of_a_container_are_not_shown(
    box: Box,
) -> None:
    (box.root / "proc/1/mountinfo").unlink()
    line = "26 1 259:1 / / rw - ext4 /dev/nvme1n1 rw\n"
    box.put("proc/self/mountinfo", line)
    exporter = box.starts()
    assert 'mountpoint="/"' in exporter.scrape()[1].decode()
    assert "is /proc mounted with hidepid, or does SELinux deny it?" in told(exporter, "mounts")
    container = "25 1 0:61 / / rw - overlay overlay rw\n"
    box.put("proc/self/mountinfo", container + line.replace(" / / ", " /x /etc/hosts "))
    exporter = box.starts()
    assert "burstwatch_mount_info" not in exporter.scrape()[1].decode()
    assert "this process is in a container" in told(exporter, "mounts")


def test_a_btrfs_over_two_volumes_is_mounted_on_both(box: Box) -> None:
    folder = "sys/fs/btrfs/0b1c2d3e-0000-4000-8000-000000000001/devices"
    plant({f"{folder}/{name}": "" for name in VOLUMES}, box.root)
    box.put("proc/1/mountinfo", "26 1 0:31 / / rw - btrfs /dev/nvme1n1 rw,subvolid=5\n")
    page = box.starts().scrape()[1].decode()
    for name, volume in VOLUMES.items():
        labels = {
            "mountpoint": "/",
            "volume_id": volume,
            "volume_device": name,
            "device": name,
            "fstype": "btrfs",
        }
        assert value(page, "burstwatch_mount_info", **labels) == 1


@pytest.fixture
def metadata() -> Iterator[Metadata]:
    server = Metadata(("127.0.0.1", 0), Handler)
    server.document = json.dumps(
        {"instanceId": "i-1", "instanceType": "t3.medium", "region": "us-east-1", "accountId": "1"}
    ).encode()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_metadata_service_that_is_late_is_asked_again(box: Box, metadata: Metadata) -> None:
    metadata.refused = True
    box.options = {"instance.type": "imds", "imds.endpoint": metadata.url}
    box.put("proc/stat", "cpu  900000 0 0 17000000 0 0 0 0 0 0\n")
    exporter = box.starts()
    assert "need a hop limit of 2" in told(exporter, "instance")
    metadata.refused = False
    box.passes(exporter, IMDS_AGAIN_S)
    page = exporter.scrape()[1].decode()
    assert "burstwatch_cpu_credit_balance_ratio" in page
    assert told(exporter, "instance") == ""


@pytest.mark.parametrize("forgets", [False, True])
def test_before_linux_5_15_a_disk_that_udev_has_forgotten_is_one_that_came_since(
    box: Box, *, forgets: bool
) -> None:
    """A volume was detached and is back, and udev has heard of the first alone."""
    (box.root / "sys/block/nvme1n1/diskseq").unlink()
    exporter = box.starts()
    assert box.bounds(exporter) == (1, 1)
    if forgets:
        (box.root / "udev/b259:1").unlink()
    box.passes(exporter, 60, every_s=60)
    low, high = box.bounds(exporter)
    assert (low < 0.99, high) == (forgets, 1)


@pytest.mark.parametrize("lower", ["read_ops", "read_sectors", "write_ops", "write_sectors"])
def test_a_disk_that_nothing_identifies_is_another_one_if_any_of_its_counters_is_lower(
    tmp_path: Path, lower: str
) -> None:
    box = Box(tmp_path, config="devices: {xvdf: {type: gp2}}\n")
    plant({f"sys/block/xvdf/{name}": text for name, text in (("size", f"{100 * 2**21}\n"), ("queue/iostats", "1\n"), ("dev", "202:80\n"))}, tmp_path)  # fmt: skip
    counted = {"read_ops": 1_000, "read_sectors": 64_000, "write_ops": 1_000, "write_sectors": 64_000}  # fmt: skip

    def line(counts: Mapping[str, int]) -> str:
        reads, read_sectors, writes, write_sectors = counts.values()
        return f"202 80 xvdf {reads} 0 {read_sectors} 0 {writes} 0 {write_sectors} 0 0 0 0\n"

    def bounds() -> tuple[float | None, float | None]:
        page = exporter.scrape()[1].decode()
        low, high = (value(page, "burstwatch_credit_balance_ratio", device="xvdf", bound=bound) for bound in ("low", "high"))  # fmt: skip
        return low, high

    box.counts(line(counted))
    exporter = box.starts()
    box.passes(exporter, 40_000, every_s=2_000)
    assert bounds() == (1, 1)
    box.counts(line({name: count + 1_000 for name, count in counted.items()} | {lower: 10}))
    box.passes(exporter, 10)
    assert bounds()[0] == 0
