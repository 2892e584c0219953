"""What a measurement refuses before it writes anything."""

import os
import re
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from burstwatch_exporter.measure import command
from tests.exporter.measuring import GOOD, fio, refused
from tests.exporter.planted import DISK, VOLUME, Planted, fake_program

pytestmark = pytest.mark.slow


def test_outside_of_what_is_allowed_nothing_is_written(host: Planted) -> None:
    host.config(measure={"directories": ["/somewhere/else"]})
    assert "is not allowed; allowed: /somewhere/else" in refused(host)
    host.config(measure=None)
    assert "name one in measure.directories" in refused(host)
    (host.data / "below").mkdir()
    host.config()
    fake = fio(host, f'cp {GOOD} "$out"')
    assert host.measure("--size-mib=1", f"--directory={host.data}/below", path=fake) == 0


def test_root_is_refused_unless_it_is_allowed(
    host: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "this is root" in refused(host)
    assert host.measure("--allow-root", path=fio(host, f'cp {GOOD} "$out"')) == 0


def test_a_block_device_a_file_and_nothing_are_no_directory(
    host: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    (host.data / "file").write_text("")
    assert "is no directory" in refused(host, f"--directory={host.data}/file")
    assert "No such file" in refused(host, f"--directory={host.data}/nothing")
    monkeypatch.setattr("stat.S_ISBLK", lambda _: True)
    assert "is a block device" in refused(host)


def test_tmpfs_is_no_volume(host: Planted) -> None:
    host.detach()
    mounts = host.root / "proc" / "1" / "mountinfo"
    mounts.write_text(f"27 1 0:2 / {host.data} rw - tmpfs tmpfs rw\n")
    assert "is on tmpfs of tmpfs, which is no volume of this host" in refused(host)


def test_a_btrfs_of_several_devices_is_refused_and_one_of_one_is_measured(host: Planted) -> None:
    mounts = host.root / "proc" / "1" / "mountinfo"
    mounts.write_text(f"27 1 0:2 / {host.data} rw - btrfs /dev/{DISK} rw\n")
    devices = host.root / "sys" / "fs" / "btrfs" / "0a1b" / "devices"
    for name in (DISK, "nvme2n1"):
        (devices / name).mkdir(parents=True)
    assert "is on a btrfs of several devices (nvme1n1, nvme2n1); allowed: one" in refused(host)
    (devices / "nvme2n1").rmdir()
    assert host.measure(path=fio(host, f'cp {GOOD} "$out"')) == 0


def test_a_volume_of_which_nobody_says_the_type_has_no_price(host: Planted) -> None:
    host.config(volumes={})
    assert f"the type of {VOLUME} is not known" in refused(host)


def test_with_less_than_the_floor_for_certain_it_does_not_begin(host: Planted) -> None:
    host.config(volumes={VOLUME: {"type": "gp2"}})  # from empty to full
    assert "from 0% to 100%; allowed: 50% or more for certain" in refused(host)
    assert host.measure("--floor-percent=0", path=fio(host, f'cp {GOOD} "$out"')) == 0


def test_a_volume_that_runs_dry_soon_is_left_alone(
    host: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "LOOK_S", 1.0)
    bucket = {"capacity": 200_000, "refill": 10, "burst": 3_000}
    made = datetime.now(tz=UTC).isoformat()
    host.config(
        volumes={}, devices={DISK: {"bucket": bucket, "volume_id": VOLUME, "created": made}}
    )
    with host.load(2_000):
        assert re.search(r"runs out in [\d a-z]+ already; allowed: 15 min", refused(host))
    host.config(volumes={VOLUME: {"type": "gp2"}})
    with host.load(2_000):
        assert "may run out in 0 s already" in refused(host, "--floor-percent=0")


def test_a_scratch_file_that_does_not_fit_is_refused(
    host: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = os.statvfs(host.data)
    fields = {name: getattr(found, name) for name in ("f_frsize",)}
    small = SimpleNamespace(f_bavail=100 * 2**20 // fields["f_frsize"], **fields)
    monkeypatch.setattr(os, "statvfs", lambda _: small)
    said = refused(host, "--profile=fio-16k-4jobs")
    assert "the scratch file is 5,120 MiB" in said
    assert "has 100 MiB free" in said
    assert "the scratch file is 95 MiB" in refused(host, "--profile=fio-16k-4jobs", "--size-mib=95")


def test_a_budget_under_the_price_of_the_scratch_file_is_refused(host: Planted) -> None:
    said = refused(host, "--profile=fio-4k-qd4", "--budget-percent=0.01")
    assert "writing the scratch file costs 4,096 credits, the budget is 540" in said


def test_a_stripe_is_wanted_where_the_profile_is_of_one(host: Planted) -> None:
    assert f"{DISK} is none" in refused(host, "--profile=dd-drain-raid0", "--size-mib=1")


def test_every_reason_is_said_at_once(host: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    host.config(volumes={VOLUME: {"type": "gp2"}}, measure={"directories": ["/a"]})
    said = refused(host)
    assert all(part in said for part in ("is not allowed", "this is root", "from 0% to 100%"))


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        (
            "--budget-percent=0",
            "budget-percent is '0'; allowed: a number of percent from 0.001 to 100",
        ),
        ("--budget-percent=-1", "allowed: a number"),
        ("--floor-percent=nan", "allowed: a number"),
        ("--profile=nothing", "unknown profile 'nothing'; allowed: "),
        ("--profile=../x", "allowed: the name of a profile"),
        ("--type=gp2", "type is for --plan alone"),
        ("--html=/nowhere/at/all.html", "cannot write the result: /nowhere/at is not writable"),
        ("--web.listen-address=:1", "unrecognized arguments"),
    ],
)
def test_a_wrong_flag_is_named(host: Planted, flag: str, said: str) -> None:
    assert said in refused(host, flag)


def test_a_drain_takes_a_word_in_the_configuration_and_one_on_the_command_line(
    host: Planted,
) -> None:
    assert "confirm-drain is ''" in refused(host, "--drain")
    assert "confirm-drain is 'vol-0b'" in refused(host, "--drain", "--confirm-drain=vol-0b")
    host.config(measure={"directories": [str(host.data)]})
    said = refused(host, "--drain", f"--confirm-drain={VOLUME}")
    assert f"{VOLUME} may not be drained" in said
    host.config(volumes={VOLUME: {"type": "gp3"}})
    assert "has no bucket to drain" in refused(host, "--drain", f"--confirm-drain={VOLUME}")


@pytest.mark.parametrize("version", ["fio-2.21", "nonsense"])
def test_a_fio_that_will_not_do_is_named(host: Planted, version: str) -> None:
    path = fake_program(host.root / "bin", "fio", [f"echo {version}"])
    assert host.measure(path=path) == 2
    assert version in host.err


def test_without_fio_it_says_so(host: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(host.root))
    assert "not installed: fio" in refused(host)
