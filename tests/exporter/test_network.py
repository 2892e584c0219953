"""The network of a host: read from the kernel without a privilege, shown for ENA alone, and missed by nobody."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from burstwatch.web.exposition import Page
from burstwatch_exporter.credits.network import Learned
from burstwatch_exporter.credits.snapshot import Snapshot
from burstwatch_exporter.credits.state import SavedState, read_state, write_state
from burstwatch_exporter.instance_types import Bandwidth
from burstwatch_exporter.kernel import capture as capture_module
from burstwatch_exporter.kernel.capture import capture
from burstwatch_exporter.kernel.ena import read_interfaces
from burstwatch_exporter.kernel.ethtool import read_statistics
from burstwatch_exporter.kernel.roots import Roots
from burstwatch_exporter.page.landing import landing
from burstwatch_exporter.page.metrics import METRICS
from burstwatch_exporter.page.network import NO_ENA, NetworkSource
from burstwatch_exporter.sources import Attempt
from tests.exporter.networks import Allowance
from tests.exporter.pages import Hands, plant

EMPTY = Snapshot(at=0.0, views=(), stacked=(), mounts=())
#: As AWS's page names them. An older driver has fewer.
STATISTICS = {
    "bw_in_allowance_exceeded": 5, "bw_out_allowance_exceeded": 0, "pps_allowance_exceeded": 7,
    "conntrack_allowance_exceeded": 0, "linklocal_allowance_exceeded": 2, "conntrack_allowance_available": 136_812, "tx_timeout": 0,
}  # fmt: skip
SAMPLE_S = 10.0


def plant_interface(sysfs: Path, name: str, *, driver: str | None) -> Path:
    """An interface as /sys shows it; one of the kernel's own has no device. Returns the folder of its counters."""
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
    return folder / "statistics"


@dataclass(kw_only=True)
class Rig:
    """A host with interfaces of ENA, whose statistics are ``answers``."""

    root: Path
    answers: dict[str, Mapping[str, int]]
    hands: Hands = field(default_factory=Hands)

    def __post_init__(self) -> None:
        plant({"proc/sys/kernel/random/boot_id": "b\n"}, self.root)

    @property
    def roots(self) -> Roots:
        return Roots(procfs=self.root / "proc", sysfs=self.root / "sys", udev=self.root / "udev")

    def starts(self, saved: SavedState | None = None) -> NetworkSource:
        return NetworkSource(
            roots=self.roots,
            clock=self.hands.clock,
            slot_s=SAMPLE_S,
            saved=() if saved is None else saved.network,
            read=self.answers.__getitem__,
        )


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(root=tmp_path, answers={"ens5": STATISTICS})


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
    rig: Rig,
) -> None:
    plant_interface(rig.roots.sysfs, "ens5", driver="ena")
    plant_interface(rig.roots.sysfs, "ens6", driver="ena")
    plant_interface(rig.roots.sysfs, "lo", driver=None)
    plant_interface(rig.roots.sysfs, "eth9", driver="virtio_net")
    rig.answers["ens6"] = {"pps_allowance_exceeded": 1}
    samples, problems = read(rig.starts())
    assert problems == []
    exceeded = {key[1:]: value for key, value in samples.items() if key[0].startswith("allowance")}
    assert exceeded == {
        ("ens5", "bw_in"): 5, ("ens5", "bw_out"): 0, ("ens5", "pps"): 7, ("ens5", "conntrack"): 0,
        ("ens5", "linklocal"): 2, ("ens6", "pps"): 1,
    }  # fmt: skip
    assert samples["receive_bytes_total", "ens6"] == 1_000
    assert samples["transmit_bytes_total", "ens6"] == 2_000


def test_an_interface_that_cannot_be_asked_hides_no_other(rig: Rig) -> None:
    plant_interface(rig.roots.sysfs, "ens5", driver="ena")
    plant_interface(rig.roots.sysfs, "ens6", driver="ena")

    def answer(name: str) -> Mapping[str, int]:
        if name == "ens5":
            raise OSError(95, "Operation not supported")
        return STATISTICS

    problems: list[str] = []
    interfaces = read_interfaces(rig.roots.sysfs, problems, answer)
    assert [problem.partition(":")[0] for problem in problems] == ["ens5"]
    assert interfaces["ens6"].exceeded["pps"] == 7


def test_where_there_is_no_ena_one_line_says_so_once(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    plant_interface(rig.roots.sysfs, "eth0", driver="virtio_net")
    source = rig.starts()
    source.set_type("m5.large", Bandwidth(baseline=1e6, peak=1e7))
    with caplog.at_level("INFO"):
        for _ in range(3):
            assert read(source) == ({}, [])
    assert caplog.messages == [NO_ENA]


@pytest.mark.parametrize("allowance", ["bw_in", "bw_out", "pps", "conntrack", "linklocal"])
def test_whatever_is_throttled_is_told_one_sample_later_and_no_longer(
    rig: Rig, allowance: str
) -> None:
    plant_interface(rig.roots.sysfs, "ens5", driver="ena")
    source = rig.starts()

    def throttled() -> set[str]:
        rig.hands.move(SAMPLE_S)
        samples, _ = read(source)
        return {key[1] for key, value in samples.items() if key[0] == "throttled" and value}

    assert throttled() == set()
    name = f"{allowance}_allowance_exceeded"
    rig.answers["ens5"] = STATISTICS | {name: STATISTICS[name] + 1}
    assert throttled() == {allowance}
    assert throttled() == set()
    rig.answers["ens5"] = STATISTICS  # the driver began anew
    assert throttled() == set()


def test_of_a_type_without_credits_there_is_the_bandwidth_and_nothing_to_run_out(rig: Rig) -> None:
    plant_interface(rig.roots.sysfs, "ens5", driver="ena")
    source = rig.starts()
    source.set_type("m5.24xlarge", Bandwidth(baseline=3e9, peak=3e9))
    samples, _ = read(source)
    assert samples["baseline_bytes_per_second", "m5.24xlarge"] == 3e9
    assert not [
        key for key in samples if key[0] in {"held_at_baseline", "time_to_exhaustion_seconds"}
    ]
    assert source.accounts() == []


@dataclass(kw_only=True)
class Wire:
    """The counters of an instance's network behind an allowance that sustains 10 kB/s of 100 kB/s, in both directions."""

    rig: Rig
    counters: Path
    allowances: dict[str, Allowance] = field(
        default_factory=lambda: {
            way: Allowance(baseline=1e4, peak=1e5, size=9e6, balance=5e6) for way in ("in", "out")
        }
    )
    totals: dict[str, int] = field(default_factory=lambda: {"in": 0, "out": 0})
    exceeded: dict[str, int] = field(default_factory=lambda: {"in": 0, "out": 0})

    def does(self, source: NetworkSource, demand: float, seconds: float) -> None:
        """Ask for so many bytes a second in both directions, and let the source read what came of it each sample."""
        for _ in range(round(seconds / SAMPLE_S)):
            for way, prefix in (("in", "rx"), ("out", "tx")):
                served, refused = self.allowances[way].move(demand, SAMPLE_S)
                self.totals[way] += round(served)
                self.exceeded[way] += refused
                (self.counters / f"{prefix}_bytes").write_text(f"{self.totals[way]}\n")
            self.rig.answers["ens5"] = {
                f"bw_{way}_allowance_exceeded": count for way, count in self.exceeded.items()
            }
            self.rig.hands.move(SAMPLE_S)
            source.observe(Attempt())


SIMULATED = Bandwidth(baseline=1e4, peak=1e5)


@pytest.fixture
def wire(rig: Rig) -> Wire:
    return Wire(rig=rig, counters=plant_interface(rig.roots.sysfs, "ens5", driver="ena"))


def test_what_was_learned_of_the_network_outlives_the_process_and_the_balance_that_start_of_the_host(
    wire: Wire, tmp_path: Path
) -> None:
    first = wire.rig.starts()
    first.set_type("made.up", SIMULATED)
    wire.does(first, 1e5, 300)
    wire.does(first, 0.0, 2_000)
    wire.does(first, 1e5, 300)
    wire.does(first, 0.0, 450)  # half full
    samples, _ = read(first)
    assert samples["credit_capacity_bytes", "in"] == pytest.approx(9e6, rel=0.2)
    assert samples["credit_balance_ratio", "out"] == pytest.approx(0.5, abs=0.1)
    assert samples["last_burst_seconds", "in"] == pytest.approx(100, rel=0.15)
    path = tmp_path / "state.json"
    write_state(path, SavedState(network=first.saved()))
    second = wire.rig.starts(read_state(path))
    assert second.saved() == read_state(path).network  # nothing is lost before the first reading
    second.set_type("made.up", SIMULATED)
    after, _ = read(second)
    assert after["credit_balance_ratio", "in"] == pytest.approx(0.5, abs=0.1)
    assert "learned" in json.loads(path.read_text())["network"][0]
    plant({"proc/sys/kernel/random/boot_id": "another\n"}, wire.rig.root)
    third = wire.rig.starts(read_state(path))
    third.set_type("made.up", SIMULATED)
    rebooted, _ = read(third)
    assert rebooted["credit_capacity_bytes", "in"] == samples["credit_capacity_bytes", "in"]
    assert ("credit_balance_ratio", "in") not in rebooted
    fourth = wire.rig.starts(read_state(path))
    fourth.set_type("another.type", SIMULATED)
    assert ("credit_capacity_bytes", "in") not in read(fourth)[0]


def test_an_interface_that_comes_or_begins_anew_moves_nothing_at_that_moment(wire: Wire) -> None:
    source = wire.rig.starts()
    source.set_type("made.up", SIMULATED)
    wire.does(source, 5e3, 100)
    (wire.counters / "rx_bytes").write_text("0\n")
    other = plant_interface(wire.rig.roots.sysfs, "ens6", driver="ena")
    (other / "rx_bytes").write_text(f"{10**15}\n")
    wire.rig.answers["ens6"] = STATISTICS
    wire.rig.hands.move(SAMPLE_S)
    source.observe(Attempt())
    (account, _) = source.accounts()
    assert account.credits.learned == Learned()
    assert account.lasts_s == float("inf")


def test_a_network_that_has_run_out_is_on_the_page_for_people(wire: Wire) -> None:
    source = wire.rig.starts()
    source.set_type("made.up", SIMULATED)

    def page() -> str:
        return landing(EMPTY, problems=(), hints=(), network=source.accounts())

    wire.does(source, 1e5, 50)
    assert "network" not in page()
    wire.does(source, 1e5, 250)
    assert "the inbound network (made.up) and 1 more have run out of credits" in page()
    wire.does(source, 0.0, 2_000)
    wire.does(source, 1e5, 300)
    wire.does(source, 0.0, 2_000)
    assert "Nothing runs out at this load." in page()
    assert "about 100%" in page()
    wire.does(source, 2e4, 300)
    assert "the inbound network (made.up) runs out in 10 min at this load, and 1 more" in page()


def test_a_capture_has_the_counters_of_the_network(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = wire.rig.roots
    plant({"proc/diskstats": "", "proc/1/mountinfo": "", "proc/stat": ""}, wire.rig.root)
    (roots.sysfs / "block").mkdir()
    monkeypatch.setattr(
        capture_module,
        "read_interfaces",
        lambda sysfs, problems: read_interfaces(sysfs, problems, wire.rig.answers.__getitem__),
    )
    files = yaml.safe_load(capture(roots))["files"]
    assert files["sys/class/net/ens5/statistics/rx_bytes"] == "1000\n"
    assert "     bw_in_allowance_exceeded: 5\n" in files["ethtool/ens5"]


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


@pytest.mark.real
def test_credits_are_learned_from_the_counters_of_a_real_pair_of_interfaces(
    pair: str, rig: Rig
) -> None:
    """Packets go over the pair as far as a planted allowance lets them; the kernel counts them."""
    plant_interface(rig.roots.sysfs, "ens5", driver="ena")
    counters = rig.roots.sysfs / "class" / "net" / "ens5" / "statistics"
    shutil.rmtree(counters)
    counters.symlink_to(f"/sys/class/net/{pair}/statistics")
    for end in (pair, f"{pair[:-1]}b"):
        subprocess.run([shutil.which("ip") or "ip", "link", "set", end, "up"], check=True)
    allowance = Allowance(baseline=1e4, peak=1e5, size=9e6, balance=5e6)
    exceeded = 0
    source = rig.starts()
    source.set_type("made.up", SIMULATED)
    frame = b"\xff" * 12 + b"\x88\xb5" + b"\0" * 1_486

    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as wire:
        wire.bind((pair, 0))

        def does(demand: float, seconds: float) -> None:
            nonlocal exceeded
            for _ in range(round(seconds / SAMPLE_S)):
                served, refused = allowance.move(demand, SAMPLE_S)
                for _ in range(round(served / len(frame))):
                    wire.send(frame)
                exceeded += refused
                rig.answers["ens5"] = {"bw_out_allowance_exceeded": exceeded}
                rig.hands.move(SAMPLE_S)
                source.observe(Attempt())

        for _ in range(2):
            does(1e5, 400)
            assert read(source)[0]["throttled", "bw_out"] == 1.0
            does(0.0, 2_000)
    samples, problems = read(source)
    assert problems == []
    assert samples["credit_capacity_bytes", "out"] == pytest.approx(9e6, rel=0.2)
    assert samples["credit_balance_ratio", "out"] == 1.0
