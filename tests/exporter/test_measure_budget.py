"""Drains, stripes, shares of a budget, and what the exporter shows of results."""

import io
import json
import os
import re
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from burstwatch_exporter.clock import system_clock
from burstwatch_exporter.cloud import Cloud
from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.main import build_measure_parser
from burstwatch_exporter.measure import command
from burstwatch_exporter.serve import make_exporter
from burstwatch_exporter.settings import parse_options
from tests.exporter.measuring import GOOD, JOBS, fio, refused
from tests.exporter.planted import DISK, SECTORS, VOLUME, Planted, plant_host
from tests.exporter.scraped import value

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--profile=dd-drain", "--rate-iops=50"), "rate-iops is for fio, dd-drain runs dd"),
        (("--profile=scaling", "--rate-iops=50"), "randread-64 of scaling cannot do less than 64"),
        (("--profile=fio-4k-qd4", "--rate-iops=2"), "mix70 of fio-4k-qd4 cannot do less than 3.3"),
        (
            ("--drain", "--budget-percent=1", "--floor-percent=90"),
            "--budget-percent, --floor-percent would be ignored",
        ),
    ],
)
def test_flags_that_could_not_be_kept_are_refused(
    host: Planted, args: tuple[str, ...], said: str
) -> None:
    assert said in refused(host, *args)
    assert said in refused(host, "--plan", *args)


def test_a_drain_whose_fall_could_not_be_seen_is_refused(host: Planted) -> None:
    bucket = {"capacity": 5_400_000, "refill": 2_850, "burst": 3_000}
    made = datetime.now(tz=UTC).isoformat()
    host.config(
        volumes={}, devices={DISK: {"bucket": bucket, "volume_id": VOLUME, "created": made}}
    )
    said = refused(host, "--drain", f"--confirm-drain={VOLUME}")
    assert (
        "a baseline of 2,850 and a burst of 3,000 here; allowed: a baseline of at most 92%" in said
    )


def test_a_drain_that_is_interrupted_after_its_knee_has_one_and_no_refill(host: Planted) -> None:
    bucket = {"capacity": 10_800, "refill": 300, "burst": 3_000}
    made = datetime.now(tz=UTC).isoformat()
    host.config(
        volumes={}, devices={DISK: {"bucket": bucket, "volume_id": VOLUME, "created": made}}
    )
    began: list[float] = []

    def serve() -> None:
        """3,000 a second, and 300 from 4 s on."""
        began[:] = began or [time.monotonic()]
        for_s = time.monotonic() - began[0]
        host.ops = round(3_000 * min(for_s, 4.0) + 300 * max(0.0, for_s - 4.0))
        host.write()
        if again.exists():
            host.stop.set()
        if not host.stop.is_set():
            host.after(0.05, serve)

    first, again = host.root / "first", host.root / "again"
    host.after(0.5, serve)
    path = fio(
        host,
        # It takes its time to write down what it found: nothing is spent meanwhile.
        f"trap 'sleep 2; cp {GOOD} \"$out\"; exit 128' INT",
        f"if [ -e {first} ]; then touch {again}; fi; touch {first}",
        "sleep 60 & wait",
    )
    args = ("--drain", f"--confirm-drain={VOLUME}", "--recover-s=1", "--size-mib=1")
    assert host.measure(*args, path=path) == 1
    record: Any = host.record("drain")
    assert record["stopped"] == "interrupted"
    assert record["drain"]["burst"] == pytest.approx(3_000, rel=0.15)
    assert record["drain"]["baseline"] == pytest.approx(300, rel=0.15)
    assert record["drain"]["refill"] is None


def test_a_drain_that_never_falls_is_given_up_at_half_as_much_again_as_there_was(
    host: Planted,
) -> None:
    # A custom device with 5.4 M credits says what it has, and serves far more.
    args = ("--drain", f"--confirm-drain={VOLUME}", "--recover-s=1", "--size-mib=1")
    running = host.root / "running"
    path = fio(host, f"touch {running}", "exec sleep 600")
    with host.load(2_000_000, while_true=running.exists):
        assert host.measure(*args, path=path) == 1
    record: Any = host.record("drain")
    assert record["stopped"] == "no knee was found"
    (step,) = record["steps"]
    assert 1.5 * 5_400_000 < step["spent"] < 1.5 * 5_400_000 + 4 * 2_000_000 + 1e6


def test_both_volumes_of_a_stripe_are_charged_and_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1_000)
    monkeypatch.setattr(command, "LOOK_S", 0.05)
    host = plant_host(tmp_path / "host", tmp_path / "data", disks=2)
    assert host.measure("--plan", "--profile=dd-drain-raid0", "--json") == 0
    plan = json.loads(host.out)
    assert plan["steps"][0]["iops"] == 6_000
    assert plan["steps"][0]["time_to_empty_s"] == pytest.approx(2_000)
    with host.load(20_000):
        code = host.measure("--size-mib=1", "--floor-percent=99.3", path=fio(host, "exec sleep 30"))
    assert code == 1
    record: Any = host.record()
    assert "may be under its floor" in record["stopped"]
    assert record["stripe"] == "raid0 of 2"
    assert [one["credit"]["spent_most"] > 5_000 for one in record["volumes"]] == [True, True]


def test_volumes_that_are_not_alike_have_no_price_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1_000)
    monkeypatch.setattr(command, "LOOK_S", 0.05)
    host = plant_host(tmp_path / "host", tmp_path / "data", disks=2)
    (host.root / "sys" / "block" / "nvme2n1" / "size").write_text(f"{2 * SECTORS}\n")
    assert "differ (gp2 100 GiB, gp2 200 GiB)" in refused(host)


def test_the_budget_ends_a_step_and_the_next_one_has_its_share(host: Planted) -> None:
    running = host.root / "running"
    trap = f"trap 'rm {running}; cp {GOOD} \"$out\"; exit 0' INT"
    path = fio(host, trap, f"touch {running}", "sleep 60 & wait")
    with host.load(2_000, while_true=running.exists):
        code = host.measure(
            "--profile=fio-16k-16jobs", "--size-mib=1", "--budget-percent=0.2", path=path
        )
    assert code == 0
    record: Any = host.record("fio-16k-16jobs")
    assert all("budget is spent" in one["stopped"] for one in record["steps"])
    shares = [one["spent"] for one in record["steps"]]
    assert shares == pytest.approx([5_400, 5_400], rel=0.25)
    # What others spend until it has looked again is beyond it: a second on a busy machine.
    assert record["volumes"][0]["credit"]["spent_most"] <= 10_800 + 2_000


def page_of(host: Planted) -> str:
    out = io.StringIO()
    flags = {
        "path.procfs": "proc", "path.sysfs": "sys", "path.udev.data": "udev",
        "config.file": "config.yml", "measure.results": "results",
    }  # fmt: skip
    options = parse_options({name: f"{host.root}/{path}" for name, path in flags.items()}, {})
    exporter = make_exporter(options, system_clock())
    out.write(exporter.scrape()[1].decode())
    return out.getvalue()


def test_the_exporter_shows_the_newest_result_of_each_profile_and_hides_none_for_a_broken_one(
    host: Planted,
) -> None:
    path = fio(host, f'cp {GOOD} "$out"')
    assert host.measure("--size-mib=1", path=path) == 0
    assert host.measure("--size-mib=1", "--profile=probe-hdd", path=path) == 0
    (host.root / "results" / "half.json").write_text('{"format": 1,')
    (host.root / "results" / "note.txt").write_text("not a result")
    shutil.copy(host.root / "results" / f"probe-{VOLUME}.json", host.root / "results" / "copy.json")
    page = page_of(host)
    probe = {"volume_id": VOLUME, "device": DISK, "profile": "probe"}
    assert value(page, "burstwatch_source_up", source="measure") == 0
    assert value(page, "burstwatch_fio_success", **probe) == 1
    assert value(page, "burstwatch_fio_success", profile="probe-hdd") == 1
    step = {"step": "randread", "direction": "read"}
    assert value(page, "burstwatch_fio_ops_per_second", **probe, **step)
    assert page.count("burstwatch_fio_success{") == 2
    age_s = value(page, "burstwatch_fio_result_age_seconds", **probe)
    assert age_s is not None
    assert 0 <= age_s < 60


def test_a_result_of_a_volume_that_is_gone_is_not_shown(host: Planted) -> None:
    assert host.measure("--size-mib=1", path=fio(host, f'cp {GOOD} "$out"')) == 0
    host.detach()
    assert "burstwatch_fio_" not in page_of(host)


def test_a_result_that_failed_is_no_success_and_has_no_figures(host: Planted) -> None:
    assert host.measure("--size-mib=1", path=fio(host, "exit 1")) == 1
    page = page_of(host)
    assert value(page, "burstwatch_fio_success", profile="probe") == 0
    assert "burstwatch_fio_ops_per_second{" not in page


def test_disks_of_other_makers_have_limits_and_no_bucket(host: Planted) -> None:
    host.config(volumes={}, devices={DISK: {"type": "pd-ssd", "volume_id": VOLUME}})
    assert host.measure("--size-mib=1", path=fio(host, f'cp {GOOD} "$out"')) == 0
    record: Any = host.record()
    assert record["volumes"][0]["credit"] is None
    assert record["budget"] is None
    page = page_of(host)
    volume = {"volume_id": VOLUME, "device": DISK}
    assert value(page, "burstwatch_volume_limit_ops_per_second", **volume) == 3_000
    host.config(volumes={}, devices={DISK: {"type": "pd-hdd", "volume_id": VOLUME}})
    assert host.measure() == 2
    assert "allowed: gp2, st1" in host.err
    assert "instance-store, pd-ssd, local-ssd" in host.err


def test_the_wrong_rules_of_a_configuration_are_named(host: Planted) -> None:
    host.config(measure={"directories": ["data"], "drain": "vol-1", "floor": 2})
    assert host.measure() == 2
    assert "measure.directories is ['data']; allowed: text that begins with /" in host.err
    assert "measure.drain is 'vol-1'; allowed: a list" in host.err
    assert "measure.floor is unknown; allowed: directories, drain" in host.err


def test_with_an_alarm_up_it_does_not_begin(host: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Exporter, "ask_aws", lambda _: None)
    monkeypatch.setattr(Cloud, "alarms_up", lambda _: {VOLUME: "burstwatch.critical/a/burstwatch"})
    assert f"{VOLUME} is in alarm: burstwatch.critical/a/burstwatch" in refused(host, "--aws=ec2")
    monkeypatch.undo()
    monkeypatch.setattr(os, "geteuid", lambda: 1_000)
    monkeypatch.setattr(Exporter, "ask_aws", lambda _: None)
    assert "its alarms are not known" in refused(host, "--aws=ec2")


def test_the_units_flags_are_known() -> None:
    folder = JOBS.parents[1] / "systemd"
    unit = (folder / "burstwatch-exporter-measure.service").read_text()
    default = (folder / "burstwatch-exporter-measure.default").read_text()
    (line,) = re.findall(r"^ExecStart=\S+ measure (.*) \$ARGS$", unit, re.MULTILINE)
    (args,) = re.findall(r'^ARGS="(.*)"$', default, re.MULTILINE)
    parsed = vars(build_measure_parser().parse_args([*line.split(), *args.split()]))
    assert parsed["directory"] == "/data/burstwatch"
    assert parsed["measure.results"] == "/var/lib/burstwatch-exporter/measured"
