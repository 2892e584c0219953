"""The network of a host: read from the kernel without a privilege, shown for ENA alone, and missed by nobody."""

import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from burstwatch.web.exposition import Page
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
from tests.exporter.networks import PACKET, Allowance
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
        for what in ("bytes", "packets"):
            path = folder / "statistics" / f"{way}_{what}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{count}\n")
    if driver is not None:
        (folder / "device").mkdir()
        (folder / "device" / "uevent").write_text(f"DRIVER={driver}\nPCI_CLASS=20000\n")
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


@pytest.mark.parametrize("file", ["rx_bytes", "rx_packets", "tx_bytes", "tx_packets"])
@pytest.mark.parametrize("written", ["-5", f"{2**64}", "1_0", "\u0663", "", "1.5", "many"])
def test_a_counter_that_cannot_be_is_told_and_hides_no_other_interface(
    rig: Rig, file: str, written: str
) -> None:
    plant_interface(rig.roots.sysfs, "ens5", driver="ena")
    (plant_interface(rig.roots.sysfs, "ens6", driver="ena") / file).write_text(f"{written}\n")
    rig.answers["ens6"] = STATISTICS
    problems: list[str] = []
    interfaces = read_interfaces(rig.roots.sysfs, problems, rig.answers.__getitem__)
    assert [problem.partition(":")[0] for problem in problems] == ["ens6"]
    assert [*interfaces] == ["ens5"]


@pytest.mark.parametrize(
    ("name", "address", "is_here"),
    [
        ("lo", "00:00:00:00:00:00", True),
        ("lo", "0e:5a:1c:00:00:01", False),
        ("ens5", "0e:5a:1c:00:00:01", False),
    ],
)
def test_an_interface_of_another_network_is_left_out_and_fails_nothing(
    rig: Rig, name: str, address: str, *, is_here: bool
) -> None:
    """A pod is shown the host's interfaces in /sys, and the kernel knows its own by the same names."""
    folder = plant_interface(rig.roots.sysfs, name, driver="ena").parent
    (folder / "address").write_text(f"{address}\n")
    problems: list[str] = []
    interfaces = read_interfaces(rig.roots.sysfs, problems, lambda _: STATISTICS)
    assert problems == []
    assert [*interfaces] == ([name] if is_here else [])


def test_a_driver_that_counts_no_allowance_is_named_once(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    plant_interface(rig.roots.sysfs, "ens5", driver="ena")
    rig.answers["ens5"] = {"tx_timeout": 0}
    caplog.set_level("INFO")
    source = rig.starts()
    for _ in range(2):
        assert read(source)[1] == []
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("ens5: its driver counts no packets beyond an allowance")


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
    rig.answers["ens5"] = dict.fromkeys(STATISTICS, 0)  # the driver began anew
    assert throttled() == set()
    rig.answers["ens5"] = dict.fromkeys(STATISTICS, 0) | {name: 8}
    assert throttled() == {allowance}
    rig.answers["ens5"] = dict.fromkeys(STATISTICS, 0) | {
        name: 3
    }  # and again, and has refused three since
    assert throttled() == {allowance}


def test_of_a_type_without_credits_there_is_the_bandwidth_and_nothing_to_run_out(rig: Rig) -> None:
    plant_interface(rig.roots.sysfs, "ens5", driver="ena")
    source = rig.starts()
    source.set_type("m5.24xlarge", Bandwidth(baseline=3e9, peak=3e9))
    samples, _ = read(source)
    assert samples["baseline_bytes_per_second", "m5.24xlarge"] == 3e9
    assert not [
        key for key in samples if key[0] in {"held_at_baseline", "time_to_exhaustion_seconds"}
    ]
    assert source.observe(Attempt()) == []


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
                packets = self.totals[way] // PACKET
                (self.counters / f"{prefix}_packets").write_text(f"{packets}\n")
            self.rig.answers["ens5"] = {
                f"bw_{way}_allowance_exceeded": count for way, count in self.exceeded.items()
            }
            self.rig.hands.move(SAMPLE_S)
            source.observe(Attempt())


SIMULATED = Bandwidth(baseline=1e4, peak=1e5)


@pytest.fixture
def wire(rig: Rig) -> Wire:
    return Wire(rig=rig, counters=plant_interface(rig.roots.sysfs, "ens5", driver="ena"))


def learns(source: NetworkSource, wire: Wire) -> None:
    """Two bursts that end, and half of the bucket again."""
    wire.does(source, 1e5, 300)
    wire.does(source, 0.0, 2_000)
    wire.does(source, 1e5, 300)
    wire.does(source, 0.0, 450)


def gauges(source: NetworkSource) -> tuple[float | None, float | None]:
    """The number of credits and the share that is left, of what goes out."""
    samples, _ = read(source)
    return samples.get(("credit_capacity_bytes", "out")), samples.get(
        ("credit_balance_ratio", "out")
    )


def started(wire: Wire, saved: SavedState | None = None) -> NetworkSource:
    source = wire.rig.starts(saved)
    source.set_type("made.up", SIMULATED)
    return source


@pytest.fixture
def learned(wire: Wire, tmp_path: Path) -> Path:
    """The state file of an exporter that has learned the credits, with half of them left."""
    source = started(wire)
    learns(source, wire)
    size, level = gauges(source)
    assert size == pytest.approx(9e6, rel=0.2)
    assert level == pytest.approx(0.5, abs=0.1)
    assert read(source)[0]["last_burst_seconds", "in"] == pytest.approx(100, rel=0.15)
    path = tmp_path / "state.json"
    write_state(path, SavedState(format=1, volumes=(), network=source.saved()))
    return path


def test_what_was_learned_of_the_network_outlives_the_process(wire: Wire, learned: Path) -> None:
    size, level = gauges(started(wire, read_state(learned)))
    assert size == pytest.approx(9e6, rel=0.2)
    assert level == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    "happens", ["a reboot", "ten minutes without the exporter", "a clock that went back"]
)
def test_a_balance_is_not_restored_where_a_burst_may_not_have_been_seen(
    wire: Wire, learned: Path, happens: str
) -> None:
    if happens == "a reboot":
        plant({"proc/sys/kernel/random/boot_id": "another\n"}, wire.rig.root)
    wire.rig.hands.move({"a clock that went back": -5.0}.get(happens, 600.0))
    size, level = gauges(started(wire, read_state(learned)))
    assert size == pytest.approx(9e6, rel=0.2)
    assert level is None


def test_without_a_balance_it_is_known_again_once_the_bucket_must_be_full(
    wire: Wire, learned: Path
) -> None:
    wire.rig.hands.move(600.0)
    source = started(wire, read_state(learned))
    wire.does(source, 0.0, 600)
    assert gauges(source)[1] is None
    wire.does(source, 0.0, 400)
    assert gauges(source)[1] == 1.0


def test_while_nobody_has_said_the_type_nothing_that_was_learned_is_lost(
    wire: Wire, learned: Path
) -> None:
    before = read_state(learned).network
    source = wire.rig.starts(read_state(learned))
    source.observe(Attempt())
    assert source.saved() == before
    source.set_type("made.up", None)  # not in the table, and EC2 has not answered yet
    wire.does(source, 0.0, 30)
    assert source.saved() == before
    source.set_type("made.up", SIMULATED)
    assert gauges(source)[0] == pytest.approx(9e6, rel=0.2)


def test_a_type_that_was_wrong_for_a_while_learns_nothing_and_loses_nothing(wire: Wire) -> None:
    source = started(wire)
    learns(source, wire)
    source.set_type("another.type", Bandwidth(baseline=1e6, peak=1e7))
    wire.does(source, 1e5, 300)
    assert gauges(source) == (None, None)
    assert {entry.instance_type for entry in source.saved()} == {"made.up", "another.type"}
    source.set_type("made.up", SIMULATED)
    size, level = gauges(source)
    assert size == pytest.approx(9e6, rel=0.2)
    assert level is None


def test_a_pause_of_the_exporter_hides_a_burst_and_no_balance_is_told_after_it(wire: Wire) -> None:
    source = started(wire)
    learns(source, wire)
    wire.rig.hands.move(600.0)
    size, level = gauges(source)
    assert size == pytest.approx(9e6, rel=0.2)
    assert level is None


def test_an_interface_that_is_gone_when_the_state_is_saved_costs_nothing_of_it(
    wire: Wire, learned: Path
) -> None:
    other = plant_interface(wire.rig.roots.sysfs, "ens6", driver="ena")
    (other / "rx_bytes").write_text(f"{10**15}\n")
    wire.rig.answers["ens6"] = STATISTICS
    assert gauges(started(wire, read_state(learned)))[1] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("name", "value"),
    [("lasted_s", -5.0), ("sizes", [1e308]), ("sizes", [0.0]), ("low", -1.0), ("high", 1e30), ("drawn_low", -1.0), ("drawing_s", -1.0)],
)  # fmt: skip
def test_no_amount_that_cannot_be_is_taken_from_a_state(
    learned: Path, name: str, value: object
) -> None:
    whole = json.loads(learned.read_text())
    whole["network"][0]["learned"][name] = value
    learned.write_text(json.dumps(whole))
    with pytest.raises(ValueError, match="amounts that cannot be"):
        read_state(learned)


def test_a_host_whose_network_cannot_be_read_says_nothing_old(wire: Wire) -> None:
    source = started(wire)
    learns(source, wire)
    wire.rig.answers.clear()
    attempt = Attempt()
    with pytest.raises(KeyError):
        source.observe(attempt)
    (wire.counters / "rx_bytes").unlink()
    wire.rig.answers["ens5"] = STATISTICS
    assert source.observe(attempt) == []
    assert "rx_bytes" in attempt.problems[0]


def test_an_interface_that_cannot_be_read_for_a_while_leaves_no_balance(wire: Wire) -> None:
    source = started(wire)
    learns(source, wire)
    plant_interface(wire.rig.roots.sysfs, "ens6", driver="ena")  # which is not answered
    wire.rig.answers["ens6"] = STATISTICS
    (wire.rig.roots.sysfs / "class/net/ens6/statistics/tx_bytes").unlink()
    wire.does(source, 0.0, 10)
    size, level = gauges(source)
    assert size == pytest.approx(9e6, rel=0.2)
    assert level is None


@pytest.mark.parametrize("share", [1.25, 2.0])
def test_a_bandwidth_that_was_wrong_for_a_while_teaches_no_wrong_size(
    wire: Wire, share: float
) -> None:
    source = wire.rig.starts()
    wrong = Bandwidth(baseline=share * SIMULATED.baseline, peak=SIMULATED.peak)
    source.set_type("made.up", wrong)
    wire.does(source, 5e3, 3_000)
    source.set_type("made.up", SIMULATED)
    wire.does(source, 1e5, 300)
    wire.does(source, 0.0, 2_000)
    wire.does(source, 1e5, 300)
    assert gauges(source)[0] == pytest.approx(9e6, rel=0.2)


def test_a_driver_that_does_not_count_what_it_refuses_is_not_said_to_refuse_nothing(
    wire: Wire,
) -> None:
    source = started(wire)
    wire.does(source, 5e3, 30)
    wire.rig.answers["ens5"] = {"bw_in_allowance_exceeded": 0}
    wire.rig.hands.move(SAMPLE_S)
    samples, _ = read(source)
    assert samples["held_at_baseline", "in"] == 0
    assert ("held_at_baseline", "out") not in samples


def test_before_two_readings_nothing_is_told_to_be_throttled_or_not(wire: Wire) -> None:
    source = started(wire)
    assert not [key for key in read(source)[0] if key[0] in {"throttled", "held_at_baseline"}]
    wire.does(source, 1e3, 10)
    throttled = {key[1] for key in read(source)[0] if key[0] == "throttled"}
    assert throttled == {"bw_in", "bw_out"}  # which is all that this driver counts


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
    (account, _) = source.observe(Attempt())
    assert account.credits.learned.drawn_high == 0.0
    assert account.lasts_s == float("inf")


def test_a_network_that_has_run_out_is_on_the_page_for_people(wire: Wire) -> None:
    source = wire.rig.starts()
    source.set_type("made.up", SIMULATED)

    def page() -> str:
        return landing(EMPTY, problems=(), hints=(), network=source.observe(Attempt()))

    wire.does(source, 1e5, 50)
    assert "network" not in page()
    wire.does(source, 1e5, 250)
    assert "The inbound network (made.up) and 1 more have run out of credits" in page()
    wire.does(source, 0.0, 2_000)
    wire.does(source, 1e5, 300)
    wire.does(source, 0.0, 2_000)
    assert "Nothing runs out at this load." in page()
    assert "about 100%" in page()
    wire.does(source, 2e4, 300)
    assert (
        "The inbound network (made.up) runs out in about 10 min at this load, and 1 more" in page()
    )


def test_a_capture_has_the_counters_of_the_network(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = wire.rig.roots
    plant({"proc/diskstats": "", "proc/1/mountinfo": "", "proc/stat": ""}, wire.rig.root)
    (roots.sysfs / "block").mkdir()

    def answer(name: str) -> Mapping[str, int]:
        if name not in wire.rig.answers:
            raise OSError(95, "Operation not supported")
        return wire.rig.answers[name]

    monkeypatch.setattr(
        capture_module,
        "read_interfaces",
        lambda sysfs, problems: read_interfaces(sysfs, problems, answer),
    )
    plant_interface(roots.sysfs, "acme-payroll", driver="ena")
    plant_interface(roots.sysfs, "acme-broken", driver="ena")
    wire.rig.answers["acme-payroll"] = STATISTICS
    captured = capture(roots)
    assert "acme" not in captured
    document = yaml.safe_load(captured)
    files = document["files"]
    assert files["sys/class/net/ens5/statistics/rx_bytes"] == "1000\n"
    assert "     bw_in_allowance_exceeded: 5\n" in files["ethtool/ens5"]
    assert len(document["problems"]) == 1
    copy = wire.rig.root / "copy"
    plant(files, copy)
    replayed = read_interfaces(copy / "sys", [], lambda _: STATISTICS)
    original = read_interfaces(roots.sysfs, [], answer)
    assert replayed["ens5"] == original["ens5"]
    assert len(replayed) == 2


@pytest.mark.real
def test_the_kernel_says_the_driver_of_a_device_in_its_uevent_as_by_its_link() -> None:
    for path in Path("/sys/class/net").iterdir():
        link, uevent = path / "device" / "driver", path / "device" / "uevent"
        if link.exists():
            assert f"DRIVER={link.resolve().name}" in uevent.read_text().split("\n")


@pytest.mark.parametrize("name", ["", "x" * 16, "no-such-one"])
def test_what_is_no_interface_is_an_error(name: str) -> None:
    with pytest.raises((OSError, ValueError)):
        read_statistics(name)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two ends of a wire in a network namespace of their own, whose /sys is mounted at ``sysfs``."""

    near: str
    far: str
    sysfs: Path


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    """A pair of interfaces of the kernel's own. This thread is in their namespace as long as the test runs."""
    ip, mount = shutil.which("ip"), shutil.which("mount")
    if os.geteuid() != 0 or ip is None or mount is None:
        pytest.skip("a pair of interfaces in a namespace takes root, ip and mount")
    ends = Pair(near="bw0a", far="bw0b", sysfs=tmp_path / "sys-of-namespace")
    ends.sysfs.mkdir()
    with own_namespace():
        for options in (["--make-rprivate", "/"], ["-t", "sysfs", "sysfs", str(ends.sysfs)]):
            if subprocess.run([mount, *options], check=False).returncode:
                pytest.skip("nothing can be mounted here")
        made = subprocess.run(
            [ip, "link", "add", ends.near, "type", "veth", "peer", "name", ends.far], check=False
        )
        if made.returncode:
            pytest.skip("the kernel makes no pair of interfaces here")
        assert {path.name for path in (ends.sysfs / "class/net").iterdir()} >= {"bw0a", "bw0b"}
        yield ends


@contextmanager
def own_namespace() -> Iterator[None]:
    """This thread, and what it starts, have network and mounts of their own."""
    libc = ctypes.CDLL(None, use_errno=True)
    network, mounts = 0x40000000, 0x00020000
    with ExitStack() as opened:
        here = opened.enter_context(closed_after(os.open(".", os.O_RDONLY | os.O_DIRECTORY)))
        homes = {
            kind: opened.enter_context(
                closed_after(os.open(f"/proc/thread-self/ns/{name}", os.O_RDONLY))
            )
            for kind, name in ((network, "net"), (mounts, "mnt"))
        }
        if libc.unshare(network | mounts):
            pytest.skip(f"a namespace of its own: {os.strerror(ctypes.get_errno())}")
        try:
            yield
        finally:
            for kind, home in homes.items():
                assert libc.setns(home, kind) == 0
            os.fchdir(here)


@contextmanager
def closed_after(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@pytest.mark.real
def test_the_kernel_answers_with_its_own_names_and_without_a_privilege(pair: Pair) -> None:
    statistics = read_statistics(pair.near)
    index = int((pair.sysfs / "class/net" / pair.far / "ifindex").read_text())
    assert statistics["peer_ifindex"] == index
    code = f"from burstwatch_exporter.kernel.ethtool import read_statistics as r; print(r({pair.near!r})['peer_ifindex'])"
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
    pair: Pair, rig: Rig
) -> None:
    """Packets go over the pair as far as a planted allowance lets them; the kernel counts them."""
    plant_interface(rig.roots.sysfs, "ens5", driver="ena")
    counters = rig.roots.sysfs / "class" / "net" / "ens5" / "statistics"
    shutil.rmtree(counters)
    counters.symlink_to(pair.sysfs / "class/net" / pair.near / "statistics")
    for end in (pair.near, pair.far):
        subprocess.run([shutil.which("ip") or "ip", "link", "set", end, "up"], check=True)
    allowance = Allowance(baseline=1e4, peak=1e5, size=9e6, balance=5e6)
    exceeded = 0
    source = rig.starts()
    source.set_type("made.up", SIMULATED)
    frame = b"\xff" * 12 + b"\x88\xb5" + b"\0" * 1_486

    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as wire:
        wire.bind((pair.near, 0))

        def counted() -> int:
            return int((counters / "tx_packets").read_text())

        def does(demand: float, seconds: float) -> None:
            nonlocal exceeded
            for _ in range(round(seconds / SAMPLE_S)):
                served, refused = allowance.move(demand, SAMPLE_S)
                # A busy machine drops some of them before they are counted.
                until = counted() + round(served / len(frame))
                while (missing := until - counted()) > 0:
                    for _ in range(missing):
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
