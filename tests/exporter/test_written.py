"""Files that real programs have written: the exporter believes them, and what tests make by hand is made of their lines."""

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from burstwatch_exporter.imds import read_identity
from burstwatch_exporter.kernel.blocks import EBS_MODEL, read_blocks
from burstwatch_exporter.kernel.diskstats import parse_diskstats
from burstwatch_exporter.kernel.mounts import container_files, read_mounts
from burstwatch_exporter.serve import make_exporter
from burstwatch_exporter.settings import parse_options
from tests.exporter import writers
from tests.exporter.box import Box
from tests.exporter.pages import Hands, flags, plant
from tests.exporter.scraped import value

HOST = yaml.safe_load((writers.WRITTEN / "host.yml").read_text())
FILES: dict[str, str] = HOST["files"]
LOOPS = ["loop0", "loop1", "loop2", "loop3"]
TREES = sorted(Path("tests/exporter/trees").glob("*.yml"))
#: Attributes of devices that no machine of the tests has: NVMe disks, device mapper and RAID.
OF_OTHER_DEVICES = re.compile(r"device/(model|serial|devtype)|dm/name|md/level|slaves/.+")


@pytest.fixture
def host(tmp_path: Path) -> Path:
    plant(FILES, tmp_path)
    plant({"proc/1/mountinfo": FILES["proc/self/mountinfo"]}, tmp_path)
    return tmp_path


def form(line: str) -> str:
    """What kind of line it is: of udev's record, the entry that it makes or the folder of its link."""
    match = re.match(r"(E:\w+=)|(S:disk/[\w-]+/)|(\w:)", line)
    return match[0] if match else line


def forms_of_records(files: dict[str, str]) -> set[str]:
    records = (text for name, text in files.items() if re.match(r"udev/b\d", name))
    return {form(line) for text in records for line in text.splitlines()}


def attributes(files: dict[str, str]) -> set[str]:
    """What is read of a disk or of a partition, by its path below that."""
    found = set()
    for name in files:
        match = re.fullmatch(r"sys/block/([\w-]+)/(?:\1\w+/)?(.+)", name)
        if match:
            found.add(match[2])
    return found


# What is written is believed


def test_udevs_own_record_says_since_when_each_disk_is_there(host: Path) -> None:
    stats = parse_diskstats(FILES["proc/diskstats"])
    blocks = read_blocks(
        host / "sys", host / "udev", named=dict.fromkeys(LOOPS, ""), devnos=stats.devnos
    )
    for name in LOOPS:
        record = FILES[f"udev/b{stats.devnos[name]}"]
        (usec,) = re.findall(r"^I:(\d+)$", record, re.MULTILINE)
        assert blocks.disks[name].appeared_s == int(usec) / 1e6
    assert blocks.problems == ()


def test_the_record_of_another_disk_of_that_number_is_not_believed(host: Path) -> None:
    plant({f"sys/block/{name}/diskseq": "999999\n" for name in LOOPS}, host)
    blocks = read_blocks(host / "sys", host / "udev", named=dict.fromkeys(LOOPS, ""), devnos={})
    assert [blocks.disks[name].appeared_s for name in LOOPS] == [None] * 4


@pytest.mark.parametrize("serial_of_disk", ["vol0aaaaaaaaaaaaaaa1", ""])
@pytest.mark.parametrize("sequence", ["7", ""], ids=["since Linux 5.15", "before Linux 5.15"])
@pytest.mark.parametrize("link", ["7", "8", ""], ids=["its link", "another's link", "no link"])
@pytest.mark.parametrize("serial", ["vol0aaaaaaaaaaaaaaa1", "vol0bbbbbbbbbbbbbbb2", ""])
def test_a_record_is_believed_where_what_it_says_is_of_this_disk_and_something_is(
    tmp_path: Path, serial_of_disk: str, sequence: str, link: str, serial: str
) -> None:
    """The link tells from systemd 250 on, and before that the serial number; a Xen disk of an old kernel has neither."""
    lines = ["I:2500000", f"S:disk/by-diskseq/{link}" * bool(link), f"E:ID_SERIAL_SHORT={serial}" * bool(serial)]  # fmt: skip
    files = {"dev": "259:1\n", "size": "2097152\n", "diskseq": f"{sequence}\n" * bool(sequence)}
    if serial_of_disk:
        files |= {"device/model": f"{EBS_MODEL}\n", "device/serial": f"{serial_of_disk}\n"}
    plant({f"sys/block/nvme1n1/{name}": text for name, text in files.items() if text}, tmp_path)
    plant({"udev/b259:1": "".join(f"{line}\n" for line in lines if line)}, tmp_path)
    named = {} if serial_of_disk else {"nvme1n1": ""}
    blocks = read_blocks(tmp_path / "sys", tmp_path / "udev", named=named, devnos={})
    contradicts = (sequence and link not in {"", sequence}) or (
        serial_of_disk and serial not in {"", serial_of_disk}
    )
    says_so = (sequence and link == sequence) or (serial_of_disk and serial == serial_of_disk)
    has_nothing_to_say = not sequence and not serial_of_disk
    is_believed = not contradicts and bool(says_so or has_nothing_to_say)
    assert (blocks.disks["nvme1n1"].appeared_s is not None) == is_believed


def test_every_line_of_the_kernels_counters_is_read_with_all_of_its_columns() -> None:
    stats = parse_diskstats(FILES["proc/diskstats"])
    assert not stats.problems
    for line in FILES["proc/diskstats"].splitlines():
        number, name, reads, writes = (line.split()[column] for column in (1, 2, 3, 7))
        counters = stats.of(name, ())
        assert counters is not None
        assert (counters.read_ops, counters.write_ops) == (int(reads), int(writes)), number


def test_the_first_page_of_a_real_host_says_what_the_documentation_promises(host: Path) -> None:
    """The counters reach back to when the device appeared: a day without much I/O leaves it nearly full."""
    plant({"config.yml": "devices: {loop0: {type: gp2}}\n"}, host)
    plant({"sys/block/loop0/size": f"{100 * 2**21}\n"}, host)
    (usec,) = re.findall(r"^I:(\d+)$", FILES["udev/b7:0"], re.MULTILINE)
    hands = Hands(boot=int(usec) / 1e6 + 24 * 3_600)
    options = flags(host, **{"config.file": str(host / "config.yml")})
    exporter = make_exporter(parse_options(options, {}), hands.clock)
    exporter.sample()
    page = exporter.scrape()[1].decode()
    assert 'origin="appeared"' in page
    low, high = (
        value(page, "burstwatch_credit_balance_ratio", bound=bound) for bound in ("low", "high")
    )
    assert low is not None
    assert low > 0.99
    assert high == 1


def test_mounts_are_found_by_their_devices_with_every_sign_in_their_names(host: Path) -> None:
    mounts = {mount.mountpoint: mount.source for mount in read_mounts(host / "proc")[0]}
    assert mounts["/srv/mounts/a backup # of it"] == "/dev/loop0"
    assert mounts["/srv/mounts/data"] == "/dev/loop1p1"
    plant({"proc/self/mountinfo": FILES["lxcfs/mountinfo"]}, host)
    assert container_files(host / "proc") == {"diskstats", "stat"}


# What is made by hand is made of what is written


@pytest.mark.parametrize("path", TREES, ids=[path.stem for path in TREES])
def test_a_tree_that_is_made_by_hand_has_no_line_that_nobody_writes(path: Path) -> None:
    files: dict[str, str] = yaml.safe_load(path.read_text())["files"]
    assert forms_of_records(files) <= forms_of_records(FILES) | {*HOST["of_nvme"]}
    unknown = {
        name
        for name in attributes(files) - attributes(FILES)
        if not OF_OTHER_DEVICES.fullmatch(name)
    }
    assert not unknown
    columns = {len(line.split()) for line in FILES["proc/diskstats"].splitlines()}
    if "old kernel" not in path.read_text():
        assert {len(line.split()) for line in files["proc/diskstats"].splitlines()} == columns


def test_the_hosts_of_the_tests_have_no_line_that_nobody_writes(tmp_path: Path) -> None:
    Box(tmp_path / "box")
    written = {
        str(path.relative_to(tmp_path / "box")): path.read_text()
        for path in (tmp_path / "box").rglob("*")
        if path.is_file()
    }
    assert forms_of_records(written) <= forms_of_records(FILES) | {*HOST["of_nvme"]}


@pytest.mark.real
def test_the_programs_of_this_machine_write_what_is_kept() -> None:
    names = writers.missing()
    if names and os.environ.get("REQUIRE_PROGRAMS"):
        pytest.fail(f"not here, and every test must run: {', '.join(names)}")
    if names:
        pytest.skip(f"not here: {', '.join(names)}")
    now = writers.written()["host"]
    files: dict[str, str] = now["files"]
    assert {
        form(line)
        for name, text in files.items()
        if name.startswith("udev/")
        for line in text.splitlines()
    } >= {"S:disk/by-diskseq/", "I:"}
    assert "E:DISKSEQ=" not in forms_of_records(files)
    assert {*now["of_nvme"]} >= {"E:ID_SERIAL_SHORT="}
    assert attributes(files) == attributes(FILES)
    assert {
        name for name in files if "loop" not in name and "btrfs" not in name and "udev" not in name
    } == {
        name for name in FILES if "loop" not in name and "btrfs" not in name and "udev" not in name
    }


# The identity of an instance


@pytest.mark.real
def test_what_the_metadata_service_of_aws_own_mock_says_is_read() -> None:
    if not writers.METADATA_MOCK.exists():
        pytest.skip(
            "ec2-metadata-mock was not built: make .cache/go/ec2-metadata-mock, which needs go"
        )
    with writers.metadata_mock() as endpoint:
        identity = read_identity(endpoint)
        document = json.loads(writers.identity_document(endpoint))
    kept = json.loads(yaml.safe_load((writers.WRITTEN / "identity.yml").read_text())["document"])
    assert document == kept
    assert (identity.instance_id, identity.instance_type) == (
        kept["instanceId"],
        kept["instanceType"],
    )
    assert (identity.region, identity.account) == (kept["region"], kept["accountId"])
    assert identity.pending_s == datetime(2019, 10, 31, 7, 2, 24, tzinfo=UTC).timestamp()
