"""What is odd is named once, in its source's metric and in the log; the rest goes on."""

import io
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch_exporter.clock import World, system_clock
from burstwatch_exporter.config_file import read_config_file
from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.kernel.diskstats import WRAP, Counters, parse_diskstats
from burstwatch_exporter.kernel.mounts import read_mounts
from burstwatch_exporter.main import run
from burstwatch_exporter.settings import parse_options
from tests.exporter.machine import CONFIG, Machine
from tests.exporter.pages import plant

pytestmark = pytest.mark.slow

LINE = "8 16 sdb 10 0 320 0 5 0 160 0 1 0 0"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def problems(exporter: Exporter, source: str) -> str:
    return "; ".join(exporter.sources.outcomes[source].problems)


@pytest.mark.parametrize(
    "odd",
    [
        "8 16",
        "8 16 sdc",
        "8 16 sdc 1 2 3",
        "8 16 sdc 1 2 x 4 5 6 7 8 9 0 0",
        "8 16 sdc 1 0 320 0 5 0 1",
        f"8 x sdc {' 1' * 11}",
        f"8 16 sdc {' -1' * 11}",
    ],
)
def test_a_line_that_is_not_understood_hides_no_other(odd: str) -> None:
    stats = parse_diskstats(f"{odd}\n{LINE}\n")
    assert list(stats.counters) == ["sdb"]
    assert len(stats.problems) == 1
    assert odd[:20] in stats.problems[0]


@given(st.text())
def test_no_text_makes_the_parser_fail(text: str) -> None:
    stats = parse_diskstats(text)
    assert len(stats.counters) + len(stats.problems) <= len(text.splitlines())


@pytest.mark.parametrize(("columns", "other"), [(11, 0), (15, 7), (17, 16)])
def test_kernels_of_every_age_are_understood(columns: int, other: int) -> None:
    line = [
        "8",
        "16",
        "sdb",
        "10",
        "0",
        "320",
        "0",
        "5",
        "0",
        "160",
        "0",
        "1",
        "0",
        "0",
        "7",
        "0",
        "0",
        "0",
        "9",
        "0",
    ][: 3 + columns]
    (counters,) = parse_diskstats(" ".join(line)).counters.values()
    assert counters == Counters(10, 320 * 512, 5, 160 * 512, other, 1)


def test_a_counter_that_wraps_goes_on_and_one_that_is_reset_does_not() -> None:
    before = Counters(WRAP - 10, 0, 0, (WRAP - 8) * 512, 0, 0)
    after = Counters(5, 0, 0, 8 * 512, 0, 0)
    assert after.since(before) == Counters(15, 0, 0, 16 * 512, 0, 0)
    assert after.since(Counters(1_000, 0, 0, 0, 0, 0)) is None


def test_the_counters_cannot_be_read_and_then_they_can(machine: Machine) -> None:
    exporter = machine.starts()
    (machine.root / "proc/diskstats").unlink()
    assert exporter.host.observe().views == ()
    assert "No such file" in problems(exporter, "diskstats")
    assert not exporter.is_ready()
    machine.does(0)
    assert exporter.host.observe().views
    assert exporter.is_ready()


def test_a_disk_that_vanishes_while_it_is_looked_at_hides_no_other(machine: Machine) -> None:
    exporter = machine.starts()
    plant(
        {
            "config.yml": CONFIG + "  sdc: {type: gp2}\n",
            "sys/block/sdc/device/model": "",
        },
        machine.root,
    )
    exporter = machine.starts()
    assert [view.disk.name for view in exporter.host.observe().views] == ["sdb"]
    assert problems(exporter, "sysfs").startswith("sdc: ")


def test_a_serial_number_that_is_none_of_a_volume_is_named(machine: Machine) -> None:
    block = "sys/block/nvme1n1/"
    plant(
        {
            block + "device/model": "Amazon Elastic Block Store",
            block + "device/serial": "vol12",
            block + "size": "1",
        },
        machine.root,
    )
    exporter = machine.starts()
    assert len(exporter.host.observe().views) == 1
    assert (
        problems(exporter, "sysfs") == "nvme1n1: serial number 'vol12' is not one of an EBS volume"
    )


def test_the_same_reason_is_logged_once_until_it_is_gone(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    exporter = machine.starts()
    diskstats = machine.root / "proc/diskstats"
    good = diskstats.read_text()
    for content in ("odd\n" + good,) * 3 + (good, "odd\n" + good):
        diskstats.write_text(content)
        exporter.host.observe()
    assert caplog.text.count("line not understood: 'odd'") == 2
    assert caplog.text.count("source diskstats: well again") == 1


def test_a_volume_of_the_configuration_that_is_not_here_is_named(machine: Machine) -> None:
    plant({"config.yml": CONFIG + "volumes: {vol-0aaaaaaaaaaaaaaaa: {type: st1}}\n"}, machine.root)
    exporter = machine.starts()
    exporter.host.observe()
    assert problems(exporter, "config") == "vol-0aaaaaaaaaaaaaaaa is not on this host"


def test_a_size_that_a_type_is_not_made_in_is_named_and_the_others_have_their_buckets(
    machine: Machine,
) -> None:
    plant(
        {
            "config.yml": CONFIG + "  sdc: {type: st1}\n",
            "sys/block/sdc/size": "2097152",
            "proc/diskstats": f"{LINE}\n{LINE.replace('sdb', 'sdc')}\n",
        },
        machine.root,
    )
    exporter = machine.starts()
    assert [view.account is not None for view in exporter.host.observe().views] == [True, False]
    assert "st1 size 1 GiB is out of range" in problems(exporter, "config")


def test_mounts_that_are_not_understood_hide_no_other(tmp_path: Path) -> None:
    plant({"proc/1/mountinfo": "x\n31 26 8:16 / /a\\040b rw - xfs /dev/sdb rw\n"}, tmp_path)
    mounts, odd = read_mounts(tmp_path / "proc")
    assert [mount.mountpoint for mount in mounts] == ["/a b"]
    assert len(odd) == 1


# The configuration


@pytest.mark.parametrize(
    "text", ["2026-11-21", "'2026-11-21'", "2026-11-21T00:00", "2026-11-21T02:00:00+02:00"]
)
def test_a_date_and_a_time_are_read_with_a_zone_or_without(text: str, tmp_path: Path) -> None:
    path = tmp_path / "config.yml"
    path.write_text(f"volumes: {{vol-0123456789abcdef0: {{created: {text}}}}}")
    found = read_config_file(path).of("vol-0123456789abcdef0", "xvdf")
    assert found is not None
    assert found.created_s == datetime(2026, 11, 21, tzinfo=UTC).timestamp()


def test_a_device_may_name_its_volume_beside_the_volumes_own_entry(tmp_path: Path) -> None:
    path, volume = tmp_path / "config.yml", "vol-0fffffffffffffff1"
    path.write_text(
        f"volumes: {{{volume}: {{type: st1}}}}\ndevices: {{xvdf: {{volume_id: {volume}}}}}"
    )
    found = read_config_file(path)
    assert found.devices == {"xvdf": volume}
    known = found.of(volume, "xvdf")
    assert known is not None
    assert known.volume_type == "st1"
    path.write_text(
        f"volumes: {{{volume}: {{type: st1}}}}\ndevices: {{xvdf: {{volume_id: {volume}, type: gp2}}}}"
    )
    with pytest.raises(
        ValueError, match=f"devices.xvdf and volumes.{volume} both describe {volume}; allowed"
    ):
        read_config_file(path)
    entry = f"{{volume_id: {volume}, type: gp2}}"
    path.write_text(f"devices: {{xvdf: {entry}, xvdg: {entry}}}")
    with pytest.raises(ValueError, match=r"devices\.xvdg and devices\.xvdf both describe"):
        read_config_file(path)
    path.write_text(f"volumes: {{'*': {{type: gp2}}}}\ndevices: {{xvdf: {{volume_id: {volume}}}}}")
    known = read_config_file(path).of(volume, "xvdf")
    assert known is not None
    assert known.volume_type == "gp2"


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "config.yml"
    path.write_text("volumes: {a: {type: gp9}, b: {size_gib: x}}\nfoo: 1\n")
    with pytest.raises(ValueError, match=r"foo is unknown.*gp9.*volumes\.b\.size_gib is 'x'"):
        read_config_file(path)


# The command line


def outcome(*args: str, env: dict[str, str] | None = None) -> tuple[int, str, str]:
    out, err, stop = io.StringIO(), io.StringIO(), threading.Event()
    stop.set()
    world = World(stdout=out, stderr=err, env=env or {}, clock=system_clock(), stop=stop)
    code = run(args, world)
    return code, out.getvalue(), err.getvalue()


def test_the_environment_sets_what_the_flags_do_not_and_a_misspelt_variable_is_an_error() -> None:
    assert parse_options({}, {"BURSTWATCH_EXPORTER_SAMPLE_PERIOD": "2"}).sample_period_s == 2
    given = {"sample.period": "3"}
    assert parse_options(given, {"BURSTWATCH_EXPORTER_SAMPLE_PERIOD": "2"}).sample_period_s == 3
    code, _, err = outcome(env={"BURSTWATCH_EXPORTER_SAMPLE_PERIODE": "2"})
    assert code == 2
    assert "unknown variable BURSTWATCH_EXPORTER_SAMPLE_PERIODE" in err


def test_what_kubernetes_sets_for_a_service_of_that_name_is_none_of_ours() -> None:
    env = {
        "BURSTWATCH_EXPORTER_SERVICE_HOST": "10.0.0.1", "BURSTWATCH_EXPORTER_SERVICE_PORT_METRICS": "1",
        "BURSTWATCH_EXPORTER_PORT": "tcp://10.0.0.1:1", "BURSTWATCH_EXPORTER_PORT_1_TCP_ADDR": "10.0.0.1",
    }  # fmt: skip
    assert parse_options({}, env) == parse_options({}, {})


def test_with_no_address_nobody_is_served_and_the_textfile_is_written(machine: Machine) -> None:
    root = machine.root
    code, _, err = outcome(
        "--web.listen-address", "", "--textfile", f"{root}/page.prom",
        "--path.procfs", f"{root}/proc", "--path.sysfs", f"{root}/sys",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "burstwatch_exporter_build_info" in (root / "page.prom").read_text()


def test_what_ebs_gives_an_instance_is_not_for_a_disk_that_is_none_of_ebs(machine: Machine) -> None:
    plant({"config.yml": CONFIG + "instance: {iops: 300, mib_s: 5}\n"}, machine.root)
    (view,) = machine.starts().host.observe().views
    assert view.spec is not None
    assert view.spec.bucket is not None
    assert view.spec.bucket.burst == 1_000


def test_once_prints_the_page_and_ends(machine: Machine) -> None:
    root = machine.root
    code, out, _ = outcome(
        "--once", "--path.procfs", f"{root}/proc", "--path.sysfs", f"{root}/sys",
        "--config.file", f"{root}/config.yml", "--state.file", f"{root}/state.json",
    )  # fmt: skip
    assert code == 0
    assert (
        'burstwatch_credit_capacity{bucket="io",device="sdb",volume_id="vol-0123456789abcdef0"} 100000.0\n'
        in out
    )
    assert (root / "state.json").exists()


def test_who_has_seen_enough_of_the_page_is_no_error(machine: Machine) -> None:
    root = machine.root
    process = subprocess.Popen(
        [
            Path(sys.executable).with_name("burstwatch-exporter"), "--once", "--sample.period=0.1",
            f"--path.procfs={root}/proc", f"--path.sysfs={root}/sys",
        ],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    said = process.stderr.read().decode()
    process.stderr.close()
    assert (process.wait(timeout=120), "Error" in said, "pipe" in said) == (0, False, False)
