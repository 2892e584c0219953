"""A node that an Auto Scaling group has just made knows that its root volume is full, and one that was only started again does not."""

import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from burstwatch_exporter.exporter import FIRST_START_S, IMDS_AGAIN_S
from burstwatch_exporter.kernel.first_boot import made_with_instance_s
from tests.exporter.box import VOLUMES, Box
from tests.exporter.metadata import Handler, Metadata
from tests.exporter.scraped import value
from tests.exporter.writers import WRITTEN

BOOTED, ID = 1_790_000_000.0, "i-0aaaaaaaaaaaaaaa1"


@pytest.fixture
def metadata() -> Iterator[Metadata]:
    server = Metadata(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def mark(root: Path, instance_id: str, *, at: float) -> None:
    """What cloud-init leaves when it has run on an instance for the first time."""
    path = root / "instances" / instance_id / "sem" / "config_ssh"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (at, at))


@pytest.mark.parametrize(
    ("pending_s", "marks", "is_new"),
    [
        pytest.param(BOOTED - 20, {ID: BOOTED + 12}, True, id="its first start"),
        pytest.param(BOOTED - 20, {ID: BOOTED - 86_400}, False, id="stopped and started again"),
        pytest.param(BOOTED - 86_400, {ID: BOOTED - 86_300}, False, id="rebooted"),
        pytest.param(BOOTED - 20, {}, False, id="without cloud-init"),
        pytest.param(BOOTED - 20, {"i-0bbb": BOOTED + 12}, False, id="marks of another instance"),
        pytest.param(
            BOOTED - 20, {"i-0bbb": BOOTED - 9e6, ID: BOOTED + 12}, True, id="of an image"
        ),
        pytest.param(None, {ID: BOOTED + 12}, False, id="AWS does not say when"),
        pytest.param(BOOTED + 7_200, {ID: BOOTED + 12}, False, id="its clock is behind"),
        pytest.param(BOOTED - 7_200, {ID: BOOTED + 12}, False, id="its clock is ahead"),
    ],
)
def test_only_the_first_start_of_an_instance_says_when_its_root_volume_was_new(
    tmp_path: Path, pending_s: float | None, marks: dict[str, float], *, is_new: bool
) -> None:
    for instance_id, at in marks.items():
        mark(tmp_path, instance_id, at=at)
    made_s = made_with_instance_s(tmp_path, ID, pending_s=pending_s, booted_s=BOOTED)
    assert made_s == (pending_s if is_new else None)


@dataclass(kw_only=True)
class Node:
    """A node with a root volume and another one, a minute after its boot, whose metadata service answers."""

    root: Path
    metadata: Metadata
    is_first: bool = True
    box: Box = field(init=False)

    def __post_init__(self) -> None:
        self.box = Box(self.root / "host")
        self.box.hands.boot = 60.0
        for number, (name, volume_id) in enumerate(VOLUMES.items(), start=1):
            self.box.disk(name, volume_id, sequence=number)
            self.appears(number, at_s=1.5)
        self.box.put("proc/1/mountinfo", "26 1 259:1 / / rw - xfs /dev/nvme1n1 rw\n")
        pending = datetime.fromtimestamp(self.booted_s - 15, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        written = yaml.safe_load((WRITTEN / "identity.yml").read_text())["document"]
        own = {"instanceId": ID, "instanceType": "m5.large", "region": "eu-west-1", "accountId": "111111111111", "pendingTime": pending}  # fmt: skip
        self.metadata.document = json.dumps(json.loads(written) | own).encode()
        self.box.options = {
            "instance.type": "auto",
            "imds.endpoint": self.metadata.url,
            "path.cloud-init": str(self.root / "cloud"),
            "state.file": str(self.root / "state.json"),
        }

    @property
    def booted_s(self) -> float:
        return self.box.hands.wall - self.box.hands.boot

    def appears(self, number: int, *, at_s: float) -> None:
        self.box.put(f"udev/b259:{number}", f"I:{at_s * 1e6:.0f}\nS:disk/by-diskseq/{number}\n")

    def marks(self) -> None:
        mark(self.root / "cloud", ID, at=self.booted_s + (10 if self.is_first else -86_400))


def origins_of(page: str) -> dict[str, str]:
    return {
        name: origin
        for name in VOLUMES
        for origin in ("created", "appeared", "unknown", "rebooted", "saved", "restarted")
        if value(page, "burstwatch_credit_interval_info", device=name, origin=origin)
    }


@pytest.mark.parametrize("asks", ["auto", "imds"])
@pytest.mark.parametrize("is_first", [True, False])
def test_the_root_volume_of_a_new_node_is_known_to_be_full_and_no_other(
    tmp_path: Path, metadata: Metadata, asks: str, *, is_first: bool
) -> None:
    node = Node(root=tmp_path, metadata=metadata, is_first=is_first)
    node.marks()
    node.box.options["instance.type"] = asks
    page = node.box.starts().scrape()[1].decode()
    assert origins_of(page) == {
        "nvme1n1": "created" if is_first else "appeared",
        "nvme2n1": "appeared",
    }
    likely = value(page, "burstwatch_credit_balance_ratio", device="nvme1n1", bound="likely")
    assert (likely is not None) == is_first


@pytest.mark.parametrize("late_s", [60.0, 300.0, 900.0])
@pytest.mark.parametrize("what", ["the metadata service", "cloud-init"])
def test_what_comes_later_than_the_exporter_is_taken_when_it_comes(
    tmp_path: Path, metadata: Metadata, what: str, late_s: float
) -> None:
    node = Node(root=tmp_path, metadata=metadata)
    is_service = what == "the metadata service"
    metadata.refused = is_service
    if is_service:
        node.marks()
    exporter = node.box.starts()
    assert origins_of(exporter.scrape()[1].decode())["nvme1n1"] == "appeared"
    node.box.passes(exporter, late_s)
    metadata.refused = False
    node.marks()
    node.box.passes(exporter, IMDS_AGAIN_S + 10)
    page = exporter.scrape()[1].decode()
    assert value(page, "burstwatch_credit_balance_ratio", device="nvme1n1", bound="likely") == 1
    assert exporter.sources.outcomes["instance"].problems == ()


def test_where_there_is_no_metadata_service_auto_fails_nothing_and_imds_says_so(
    tmp_path: Path, metadata: Metadata
) -> None:
    node = Node(root=tmp_path, metadata=metadata)
    metadata.refused = True
    for asks, is_told in (("auto", False), ("imds", True)):
        node.box.options["instance.type"] = asks
        exporter = node.box.starts()
        assert (exporter.sources.outcomes["instance"].problems != ()) == is_told
        assert exporter.hints() == []


@pytest.mark.parametrize(("asks", "is_given_up"), [("auto", True), ("imds", False)])
def test_a_metadata_service_that_may_be_missing_is_given_up_after_half_an_hour(
    tmp_path: Path, metadata: Metadata, asks: str, *, is_given_up: bool
) -> None:
    node = Node(root=tmp_path, metadata=metadata)
    metadata.refused = True
    node.box.options["instance.type"] = asks
    exporter = node.box.starts()
    node.box.passes(exporter, FIRST_START_S + 120, every_s=IMDS_AGAIN_S)
    asked = metadata.asked
    assert asked >= 30
    node.box.passes(exporter, 600, every_s=IMDS_AGAIN_S)
    assert (metadata.asked == asked) == is_given_up
    metadata.refused = False
    exporter.reload()
    assert exporter.known_type == "m5.large"


@pytest.mark.parametrize("restarts", [False, True])
def test_an_old_volume_that_joins_the_root_later_is_not_taken_for_new(
    tmp_path: Path, metadata: Metadata, *, restarts: bool
) -> None:
    node = Node(root=tmp_path, metadata=metadata)
    node.marks()
    node.appears(2, at_s=400.0)
    node.box.hands.move(400.0)
    exporter = node.box.starts()
    folder = "sys/fs/btrfs/u1/devices"
    node.box.put("proc/1/mountinfo", "26 1 0:39 / / rw - btrfs /dev/nvme1n1 rw\n")
    node.box.put(f"{folder}/nvme1n1", "")
    node.box.put(f"{folder}/nvme2n1", "")
    exporter.host.look()
    node.box.passes(exporter, 60)
    if restarts:
        exporter.save()
        exporter = node.box.starts()
    low, _ = node.box.bounds(exporter, VOLUMES["nvme2n1"])
    assert low < 0.01
    assert node.box.bounds(exporter, VOLUMES["nvme1n1"]) == (1, 1)


@pytest.mark.parametrize("instance_type", ["", None, 5])
def test_an_identity_without_a_type_is_no_identity(
    tmp_path: Path, metadata: Metadata, instance_type: object
) -> None:
    node = Node(root=tmp_path, metadata=metadata)
    document = json.loads(metadata.document) | {"instanceType": instance_type}
    metadata.document = json.dumps(document).encode()
    node.box.options["instance.type"] = "imds"
    exporter = node.box.starts()
    assert "instanceType is" in exporter.sources.outcomes["instance"].problems[0]
    assert exporter.known_type == ""
