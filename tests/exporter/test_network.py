"""The allowances of a network: read from the kernel without a privilege, shown for ENA alone, and missed by nobody."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from burstwatch.web.exposition import Page
from burstwatch_exporter.credits.snapshot import Snapshot
from burstwatch_exporter.kernel.ethtool import read_statistics
from burstwatch_exporter.page.metrics import METRICS
from burstwatch_exporter.page.network import NO_ENA, NetworkSource
from burstwatch_exporter.sources import Attempt

EMPTY = Snapshot(at=0.0, views=(), stacked=(), mounts=())
#: As AWS's page names them. An older driver has fewer.
STATISTICS = {
    "bw_in_allowance_exceeded": 5, "bw_out_allowance_exceeded": 0, "pps_allowance_exceeded": 7,
    "conntrack_allowance_exceeded": 0, "linklocal_allowance_exceeded": 2, "conntrack_allowance_available": 136_812, "tx_timeout": 0,
}  # fmt: skip


def plant_interface(sysfs: Path, name: str, *, driver: str | None) -> None:
    """An interface as /sys shows it; one of the kernel's own has no device."""
    folder = sysfs / "class" / "net" / name
    for way, count in (("rx", 1_000), ("tx", 2_000)):
        path = folder / "statistics" / f"{way}_bytes"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{count}\n")
    if driver is not None:
        target = sysfs / "bus" / "pci" / "drivers" / driver
        target.mkdir(parents=True, exist_ok=True)
        (folder / "device").mkdir()
        (folder / "device" / "driver").symlink_to(target)


def read(source: NetworkSource) -> tuple[dict[tuple[str, ...], float], list[str]]:
    """The samples by their labels, and what was odd."""
    page, attempt = Page(METRICS), Attempt()
    source.add_to(page, EMPTY, attempt)
    samples = {
        (sample.name.removeprefix("burstwatch_network_"), *sample.labels.values()): sample.value
        for family in page.families()
        for sample in family.with_samples().samples
    }
    return samples, attempt.problems


def test_each_interface_of_ena_is_shown_with_every_allowance_that_its_driver_counts(
    tmp_path: Path,
) -> None:
    plant_interface(tmp_path, "ens5", driver="ena")
    plant_interface(tmp_path, "ens6", driver="ena")
    plant_interface(tmp_path, "lo", driver=None)
    plant_interface(tmp_path, "eth9", driver="virtio_net")
    older = {"pps_allowance_exceeded": 1}
    answers = {"ens5": STATISTICS, "ens6": older}
    samples, problems = read(NetworkSource(tmp_path, answers.__getitem__))
    assert problems == []
    exceeded = {key[1:]: value for key, value in samples.items() if key[0].startswith("allowance")}
    assert exceeded == {
        ("ens5", "bw_in"): 5, ("ens5", "bw_out"): 0, ("ens5", "pps"): 7, ("ens5", "conntrack"): 0,
        ("ens5", "linklocal"): 2, ("ens6", "pps"): 1,
    }  # fmt: skip
    assert samples["receive_bytes_total", "ens6"] == 1_000
    assert samples["transmit_bytes_total", "ens6"] == 2_000


def test_an_interface_that_cannot_be_asked_hides_no_other(tmp_path: Path) -> None:
    plant_interface(tmp_path, "ens5", driver="ena")
    plant_interface(tmp_path, "ens6", driver="ena")

    def answer(name: str) -> dict[str, int]:
        if name == "ens5":
            raise OSError(95, "Operation not supported")
        return STATISTICS

    samples, problems = read(NetworkSource(tmp_path, answer))
    assert [problem.partition(":")[0] for problem in problems] == ["ens5"]
    assert samples["allowance_exceeded_total", "ens6", "pps"] == 7


def test_where_there_is_no_ena_one_line_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plant_interface(tmp_path, "eth0", driver="virtio_net")
    source = NetworkSource(tmp_path)
    with caplog.at_level("INFO"):
        for _ in range(3):
            assert read(source) == ({}, [])
    assert caplog.messages == [NO_ENA]


@pytest.mark.parametrize("name", ["", "x" * 16, "no-such-one"])
def test_what_is_no_interface_is_an_error(name: str) -> None:
    with pytest.raises((OSError, ValueError)):
        read_statistics(name)


@pytest.fixture
def pair() -> Iterator[str]:
    """A pair of interfaces of the kernel's own, in this network namespace."""
    ip = shutil.which("ip")
    if os.geteuid() != 0 or ip is None:
        pytest.skip("a pair of interfaces takes root and ip")
    name = f"bw{os.getpid()}"
    made = subprocess.run(
        [ip, "link", "add", f"{name}a", "type", "veth", "peer", "name", f"{name}b"], check=False
    )
    if made.returncode:
        pytest.skip("the kernel makes no pair of interfaces here")
    yield f"{name}a"
    subprocess.run([ip, "link", "del", f"{name}a"], check=True)


@pytest.mark.real
def test_the_kernel_answers_with_its_own_names_and_without_a_privilege(pair: str) -> None:
    statistics = read_statistics(pair)
    index = int(Path(f"/sys/class/net/{pair[:-1]}b/ifindex").read_text())
    assert statistics["peer_ifindex"] == index
    code = f"from burstwatch_exporter.kernel.ethtool import read_statistics as r; print(r({pair!r})['peer_ifindex'])"
    without = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
    asked = subprocess.run(
        [*without, sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": "exporter:."},
    )
    assert asked.stdout.strip() == str(index), asked.stderr
