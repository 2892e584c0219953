"""The whole page, for hosts of every make."""

import math
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from prometheus_client.registry import Collector

from burstwatch.web.exposition import Page, encode
from burstwatch_exporter.kernel.blocks import device_of, read_blocks
from burstwatch_exporter.kernel.capture import capture
from burstwatch_exporter.kernel.diskstats import parse_diskstats
from burstwatch_exporter.kernel.mounts import read_mounts
from burstwatch_exporter.page import metrics as m
from burstwatch_exporter.page.metrics import METRICS
from burstwatch_exporter.serve import make_exporter
from burstwatch_exporter.settings import parse_options
from tests.exporter.pages import TREES, Hands, flags, landing_page, page, plant

HOSTS = sorted(TREES.glob("*.yml"))
OPENMETRICS = "application/openmetrics-text; version=1.0.0"


@pytest.mark.parametrize("tree", HOSTS, ids=lambda tree: tree.stem)
def test_the_page_is_the_golden_one(tree: Path) -> None:
    assert page(tree) == tree.with_suffix(".prom").read_text(), "run 'make gen'"


@pytest.mark.parametrize("tree", HOSTS, ids=lambda tree: tree.stem)
def test_the_page_for_people_is_the_golden_one(tree: Path) -> None:
    assert landing_page(tree) == tree.with_suffix(".html").read_text(), "run 'make gen'"


@pytest.mark.parametrize("tree", HOSTS, ids=lambda tree: tree.stem)
def test_promtool_finds_nothing(tree: Path, program: Callable[[str], str]) -> None:
    checked = subprocess.run(
        [program("promtool"), "check", "metrics"],
        input=page(tree).encode(),
        capture_output=True,
        check=False,
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


@pytest.mark.parametrize("tree", HOSTS, ids=lambda tree: tree.stem)
@pytest.mark.parametrize("escaping", ["", "; escaping=underscores", "; escaping=allow-utf-8"])
def test_openmetrics_are_the_bytes_that_the_client_writes_however_names_are_escaped(
    tree: Path, escaping: str
) -> None:
    families = list(parse_text(tree.with_suffix(".prom").read_text()))
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Lines(families))
    content_type, body = encode(registry, OPENMETRICS + escaping)
    assert body == generate_openmetrics(registry)  # type: ignore[no-untyped-call]
    assert content_type.startswith(OPENMETRICS)


def values(tree: str, name: str, **labels: str) -> list[float]:
    families = parse_text((TREES / f"{tree}.prom").read_text())
    return [
        sample.value
        for family in families
        for sample in family.samples
        if sample.name == f"burstwatch_{name}" and labels.items() <= sample.labels.items()
    ]


def test_a_raid_and_its_partition_lie_on_both_volumes() -> None:
    assert len(values("raid0", "device_volume_info", device="md0p1")) == 2
    assert len(values("raid0", "mount_info", mountpoint="/data")) == 2


def test_lvm_on_a_partition_of_a_raid_and_btrfs_on_lvm_lie_on_both_volumes(tmp_path: Path) -> None:
    """Also where a mount point has characters that Python takes for ends of lines."""
    tree = yaml.safe_load((TREES / "raid0.yml").read_text())
    files = tree["files"]
    files["proc/1/mountinfo"] += (
        "32 26 253:0 / /db\u2028\x0c\r rw shared:14 - ext4 /dev/mapper/vg-data rw\n"
        "33 26 0:50 / /home rw shared:15 - btrfs /dev/mapper/vg-data rw\n"
        "34 26 0:51 / /nas rw shared:16 - nfs4 nas.example:/export/vg-data rw\n"
    )
    files["proc/diskstats"] += (
        " 253 0 dm-0 180000 0 2880000 0 80010 0 1280100 0 0 0 0 0 0 0 0 0 0\n"
    )
    files |= {
        "sys/block/dm-0/dm/name": "vg-data\n",
        "sys/block/dm-0/size": "1677721600\n",
        "sys/block/dm-0/slaves/md0p1": "",
    }
    plant(files, tmp_path)
    exporter = make_exporter(parse_options(flags(tmp_path), {}), Hands().clock)
    families = list(parse_text(exporter.scrape("")[1].decode()))
    mounted = [
        (sample.labels["mountpoint"], sample.labels["device"])
        for family in families
        for sample in family.samples
        if sample.name == "burstwatch_mount_info" and sample.labels["device"] == "dm-0"
    ]
    assert len(mounted) == 4  # two volumes for each
    assert "/home" in {point for point, _ in mounted}
    assert exporter.sources.outcomes["mounts"].problems == ()


def test_encryption_over_lvm_is_resolved_to_the_volumes_at_the_bottom() -> None:
    assert len(values("lvm", "mount_info", mountpoint="/data")) == 2
    assert len(values("lvm", "mount_info", mountpoint="/var/log")) == 1


def test_a_path_of_a_multipath_volume_is_not_counted_beside_it() -> None:
    assert len(values("multi_attach", "volume_info")) == 2
    assert values("multi_attach", "source_up", source="sysfs") == [1]


def test_an_instance_store_is_no_volume_and_what_nobody_speaks_of_has_rates_only() -> None:
    assert not values("nitro", "volume_info", device="nvme3n1")
    unknown = "vol-0ddddddddddddddd4"
    assert values("nitro", "volume_read_ops_total", volume_id=unknown) == [300]
    assert not values("nitro", "credit_state", volume_id=unknown)


def test_an_instance_of_3600_iops_and_81_mib_a_second_holds_two_volumes_back() -> None:
    assert values("raid0", "binding_constraint_info", constraint="instance_iops") == [1, 1]
    assert values("raid0", "binding_constraint_info") == [1, 1]


def test_a_size_that_the_device_does_not_have_is_told_and_the_device_is_believed() -> None:
    assert values("xen", "source_up", source="config") == [0]
    assert values("xen", "credit_refill_per_second", device="xvdf") == [750]


def test_every_metric_of_the_catalogue_is_on_some_page() -> None:
    pages = "".join(page(tree) for tree in HOSTS)
    missing = [one.name for one in METRICS if f"# HELP {one.printed} " not in pages]
    of_other_tests = (
        "burstwatch_ebs_",
        "burstwatch_cloudwatch_",
        "burstwatch_reconciliation_",
        "burstwatch_network_",
        "burstwatch_kubernetes_",
    )
    elsewhere = [one for one in missing if not one.startswith(of_other_tests)]
    # Without a state file, and not served.
    assert elsewhere == ["burstwatch_web_refusals", "burstwatch_state_saved_timestamp_seconds"]


anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(st.lists(st.tuples(anything, anything), max_size=4, unique=True), st.floats(min_value=0))
def test_whatever_a_label_holds_the_page_is_one_that_can_be_read(
    labels: list[tuple[str, str]], value: float
) -> None:
    page = Page((m.VOLUME_INFO, m.READ_OPS, m.EXHAUSTION, m.SIZE))
    for one, other in labels:
        page.add(m.READ_OPS, (one, other), value)
        page.add(m.EXHAUSTION, (one, other, "io", "low"), math.inf)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Lines(list(page.families())))
    for accept, parse in (("", parse_text), (OPENMETRICS, parse_openmetrics)):
        found = list(parse(encode(registry, accept)[1].decode()))
        assert {family.name for family in found} <= {m.READ_OPS.name, m.EXHAUSTION.name}
        values = {
            (sample.labels["volume_id"], sample.labels["device"]): sample.value
            for family in found
            for sample in family.samples
            if family.name == m.READ_OPS.name
        }
        assert values == pytest.approx(dict.fromkeys(labels, value), nan_ok=True)


@given(
    st.lists(st.tuples(anything, anything, st.floats()), max_size=4),
    st.lists(st.tuples(anything, anything, st.floats(0, 1e9), st.integers(0, 10**6)), max_size=2),
)
def test_every_line_is_the_one_that_the_client_writes(
    gauges: list[tuple[str, str, float]], latencies: list[tuple[str, str, float, int]]
) -> None:
    page = Page((m.READ_OPS, m.SIZE, m.EBS_READ_LATENCY))
    for volume_id, device, value in gauges:
        page.add(m.SIZE, (volume_id, device), value)
        page.add(m.READ_OPS, (volume_id, device), value)
    for volume_id, device, total, count in latencies:
        bins = [(0.5, count), (math.inf, count)]
        page.add_histogram(m.EBS_READ_LATENCY, (volume_id, device), bins, total=total)
    ours, plain = (CollectorRegistry(auto_describe=False) for _ in range(2))
    ours.register(Lines([*page.families()]))
    plain.register(Lines([family.with_samples() for family in page.families()]))
    assert encode(ours, "")[1] == generate_latest(plain)
    assert encode(ours, OPENMETRICS)[1] == generate_openmetrics(plain)  # type: ignore[no-untyped-call]
    for escaping in ("dots", "values"):
        accept = f"{OPENMETRICS}; escaping={escaping}"
        assert encode(ours, accept) == encode(plain, accept)


class Lines(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self.families = families

    def collect(self) -> Iterator[Metric]:
        return iter(self.families)


# A report of a host


def serials_of(tree: str) -> set[str]:
    """The serial numbers in the files of a host, of EBS volumes and of other disks."""
    return set(re.findall(r"(?:/device/serial: |ID_SERIAL_SHORT=)'?(\w+)", tree))


@pytest.mark.parametrize("tree", HOSTS, ids=lambda tree: tree.stem)
def test_what_is_captured_is_read_as_the_host_was_and_names_nothing(
    tree: Path, tmp_path: Path
) -> None:
    plant(yaml.safe_load(tree.read_text())["files"], tmp_path / "host")
    roots = parse_options(flags(tmp_path / "host"), {}).roots
    captured = capture(roots)
    ids = set(re.findall(r"vol-?([0-9a-f]{17})", tree.read_text()))
    assert not ids & set(re.findall(r"[0-9a-f]{17}", captured))
    assert not serials_of(tree.read_text()) & serials_of(captured)
    assert not any(name in captured for name in ("postgresql", "backup", "/data", "/shared"))
    plant(yaml.safe_load(captured)["files"], tmp_path / "copy")

    def shape(root: Path) -> object:
        numbers = parse_diskstats((root / "proc/diskstats").read_text())
        blocks = read_blocks(root / "sys", root / "udev", named={}, devnos=numbers.devnos)
        mounts, _ = read_mounts(root / "proc")
        disks = [replace(disk, volume_id="") for disk in blocks.disks.values()]
        stacked = blocks.stacked.values()
        on = [
            (one.devno, device_of(one.source, stacked))
            for one in mounts
            if one.source.startswith("/dev/")
        ]
        return numbers, disks, {one.name: one.disks for one in stacked}, blocks.problems, on

    assert shape(tmp_path / "copy") == shape(tmp_path / "host")
    mapped = (tmp_path / "host/sys/block").glob("dm-*/dm/name")
    assert not [path for path in mapped if path.read_text().strip() in captured]


def test_no_name_that_people_gave_a_source_of_a_mount_is_captured(tmp_path: Path) -> None:
    plant(yaml.safe_load(HOSTS[0].read_text())["files"], tmp_path)
    sources = ("/dev/vg_acme/payroll", "/dev/disk/by-label/ACME", "/dev/md/acme:0", "/dev/mapper/acme-a\\040b", "/dev/drbd/by-res/acme/0")  # fmt: skip
    lines = (
        f"9{number} 26 8:1 / /srv/acme\udcff rw - ext4 {source} rw\n"
        for number, source in enumerate(sources)
    )
    text = "".join(["26 1 259:1 / / rw - xfs /dev/nvme0n1p1 rw\n", *lines])
    (tmp_path / "proc/1/mountinfo").write_bytes(text.encode("utf-8", "surrogateescape"))
    captured = capture(parse_options(flags(tmp_path), {}).roots)
    assert "acme" not in captured.lower()
    assert "payroll" not in captured
    assert "/dev/nvme0n1p1" in captured


def test_two_captures_have_other_names_for_the_same_host(tmp_path: Path) -> None:
    """So that nobody can try names until one has the digest."""
    plant(yaml.safe_load(HOSTS[0].read_text())["files"], tmp_path)
    roots = parse_options(flags(tmp_path), {}).roots
    first, second = (set(re.findall(r"vol[0-9a-f]{17}", capture(roots))) for _ in range(2))
    assert first
    assert first.isdisjoint(second)
    assert capture(roots, key=b"1") == capture(roots, key=b"1")


def test_the_serial_number_of_a_disk_that_is_no_volume_is_not_captured(tmp_path: Path) -> None:
    files = yaml.safe_load(HOSTS[0].read_text())["files"]
    store = {
        "sys/block/nvme9n1/size": "1000\n",
        "sys/block/nvme9n1/device/model": "Amazon EC2 NVMe Instance Storage\n",
        "sys/block/nvme9n1/device/serial": "AWS22B1C0D8E3A0A1F2\n",
        "udev/b259:9": "I:1\nE:ID_SERIAL_SHORT=AWS22B1C0D8E3A0A1F2\n",
    }
    plant(files | store, tmp_path)
    roots = parse_options(flags(tmp_path), {}).roots
    assert "AWS22B" not in capture(roots)
    assert "AWS22B" in capture(roots, keeps_names=True)
