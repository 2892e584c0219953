"""A node that an Auto Scaling group has just made knows that its root volume is full, and one that was only started again does not."""

import json
import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

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


@pytest.mark.parametrize("is_first", [True, False])
def test_the_root_volume_of_a_new_node_is_known_to_be_full_and_no_other(
    tmp_path: Path, metadata: Metadata, *, is_first: bool
) -> None:
    box = Box(tmp_path / "host")
    box.hands.boot = 60.0
    for number, (name, volume_id) in enumerate(VOLUMES.items(), start=1):
        box.disk(name, volume_id, sequence=number)
        box.put(f"udev/b259:{number}", f"I:1500000\nS:disk/by-diskseq/{number}\n")
    booted_s = box.hands.wall - box.hands.boot
    box.put("proc/1/mountinfo", "26 1 259:1 / / rw - xfs /dev/nvme1n1 rw\n")
    mark(tmp_path / "cloud", ID, at=booted_s + (10 if is_first else -86_400))
    pending = datetime.fromtimestamp(booted_s - 15, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    written = yaml.safe_load((WRITTEN / "identity.yml").read_text())["document"]
    own = {"instanceId": ID, "instanceType": "m5.large", "region": "eu-west-1", "accountId": "111111111111", "pendingTime": pending}  # fmt: skip
    metadata.document = json.dumps(json.loads(written) | own).encode()
    box.options = {
        "instance.type": "imds",
        "imds.endpoint": metadata.url,
        "path.cloud-init": str(tmp_path / "cloud"),
    }
    page = box.starts().scrape()[1].decode()
    origins = {
        name: [origin for origin in ("created", "appeared") if value(page, "burstwatch_credit_interval_info", device=name, origin=origin)]
        for name in VOLUMES
    }  # fmt: skip
    assert origins == {"nvme1n1": ["created" if is_first else "appeared"], "nvme2n1": ["appeared"]}
    likely = value(page, "burstwatch_credit_balance_ratio", device="nvme1n1", bound="likely")
    assert (likely is not None) == is_first
