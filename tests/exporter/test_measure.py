"""Measurements of a directory with real fio and dbench, their plans, and their job files."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from burstwatch_exporter.credits.snapshot import View
from burstwatch_exporter.measure import run as measure_run
from burstwatch_exporter.measure.fio import parse_output
from burstwatch_exporter.measure.jobs import Step, job_text, read_jobs
from burstwatch_exporter.measure.profiles import profiles
from burstwatch_exporter.measure.scratch import (
    lay_out,
    scratch_file,
)
from burstwatch_exporter.measure.target import Target, read_stripe
from tests.exporter.events import LXCFS
from tests.exporter.measuring import JOBS
from tests.exporter.pages import plant
from tests.exporter.planted import VOLUME, Planted

pytestmark = pytest.mark.slow

SHORT = {
    "probe": "--runtime-s=1", "probe-hdd": "--runtime-s=1", "fio-16k-16jobs": "--runtime-s=0.3",
    "dd-drain": "--runtime-s=0.5", "dbench": "--runtime-s=2", "fio-4k-qd4": "--runtime-s=0.3",
    "fio-16k-4jobs": "--runtime-s=0.3",
}  # fmt: skip
#: More jobs are no other case, and take long to start.
MANY_JOBS = 8
#: Many steps, or long ones: not for the inner loop.
LONG = {*SHORT} - {"probe", "dd-drain"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.real] if one in LONG else []) for one in SHORT],
)
def test_every_profile_runs_to_its_end_and_leaves_nothing_behind(
    name: str, host: Planted, program: Callable[[str], str]
) -> None:
    program("dbench" if name == "dbench" else "dd" if name == "dd-drain" else "fio")
    code = host.measure(
        # Of the default budget a fast disk spends a step's share in a third of a second.
        f"--profile={name}", "--size-mib=32", "--budget-percent=50", SHORT[name],
        f"--html={host.root}/page.html", f"--markdown={host.root}/page.md",
    )  # fmt: skip
    assert (code, host.err) == (0, "")
    record = host.record(name)
    steps = record["steps"]
    assert isinstance(steps, list)
    assert [one["name"] for one in steps] == [one.name for one in profiles()[name].steps]
    assert [(one["failed"], one["stopped"]) for one in steps] == [("", "")] * len(steps)
    assert all(one["read"] or one["write"] or one["files_mib_s"] for one in steps)
    assert host.left_behind() == []
    assert VOLUME in (host.root / "page.html").read_text()
    assert f"| {steps[-1]['name']} |" in (host.root / "page.md").read_text()


def test_every_profile_is_run_above_or_on_the_throttled_disk() -> None:
    elsewhere = {"drain", "drain-hdd", "scaling", "dd-drain-raid0"}
    assert set(SHORT) | elsewhere == set(profiles())


@pytest.mark.parametrize("path", sorted(JOBS.glob("*.fio")), ids=lambda path: path.stem)
def test_fio_itself_takes_every_job_file(path: Path, program: Callable[[str], str]) -> None:
    checked = subprocess.run(
        [program("fio"), "--parse-only", path],
        env={"SCRATCH": "/nowhere", "JOBS": "4", "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stderr) == (0, "")


STEPS = [
    step
    for profile in profiles().values()
    for step in profile.steps
    if step.tool == "fio" and step.jobs <= MANY_JOBS
]


@pytest.mark.parametrize(
    "step", STEPS, ids=lambda step: f"{step.name}-{step.block_kib:g}-{step.depth}"
)
def test_fio_itself_ends_at_its_bound_with_nobody_looking(
    step: Step, tmp_path: Path, program: Callable[[str], str]
) -> None:
    """A quarter more than its file has, so that it has to begin it again, and not one operation beyond."""
    size_mib = max(1.0, step.block_kib * step.jobs / 1024)
    blocks = size_mib * 1024 / step.block_kib
    bounded = replace(
        step, size_mib=size_mib, rate_iops=None, most_ios=max(1.25 * blocks, step.jobs)
    )
    scratch = tmp_path / "scratch"
    scratch.write_bytes(bytes(round(size_mib * 2**20)))
    job = tmp_path / "job.fio"
    job.write_text(job_text(bounded, scratch=str(scratch), log=str(tmp_path / "log")))
    printed = subprocess.check_output(
        [program("fio"), "--output-format=json", "--eta=never", job],
        cwd=tmp_path,
        text=True,
        timeout=60,
    )
    total_ios = parse_output(printed).total_ios
    assert total_ios == (bounded.most_ios_per_job or 0) * step.jobs <= bounded.most_ios


def test_the_result_is_shown_and_drawn_again_from_its_file(
    host: Planted, program: Callable[[str], str]
) -> None:
    program("fio")
    assert host.measure("--runtime-s=1", "--json") == 0
    first = json.loads(host.out)
    kept = host.root / "results" / f"probe-{VOLUME}.json"
    assert host.measure(f"--from={kept}", "--json") == 0
    assert json.loads(host.out) == first
    assert first["steps"][0]["verdict"]["word"] == "too short"
    for name in ("html", "markdown"):
        assert host.measure(f"--from={kept}", f"--{name}={kept}") == 2
        assert f"{name} is {kept}, the input, which is never overwritten" in host.err
        assert host.measure(f"--from={kept}", f"--{name}={host.root}/none/x") == 2
        assert f"cannot write the result: {host.root}/none is not writable" in host.err
    assert json.loads(kept.read_text())


def test_a_plan_of_a_type_needs_no_volume(host: Planted) -> None:
    assert (
        host.measure("--plan", "--type=gp2", "--size-gib=100", "--profile=dd-drain", "--json") == 0
    )
    plan = json.loads(host.out)
    assert plan["steps"][0]["time_to_empty_s"] == pytest.approx(2_000)
    assert plan["budget"] == 108_000
    assert host.measure("--plan", "--type=gp3", "--size-gib=100") == 0
    assert "no credits to spend" in host.out
    assert host.measure("--plan", "--type=pd-ssd", "--size-gib=100") == 0
    assert "no credits to spend" in host.out
    assert host.measure("--plan", "--type=gp2") == 2
    assert "size-gib is missing" in host.err


def test_a_plan_of_the_volume_that_is_there_says_what_it_will_leave(host: Planted) -> None:
    assert host.measure("--plan", "--profile=fio-16k-16jobs") == 0
    assert "the budget is 108,000 (2.0%)" in host.out
    assert host.left_behind() == []


def test_the_profiles_are_listed(host: Planted) -> None:
    assert host.measure("--list") == 0
    assert len(host.out.splitlines()) == len(profiles())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a]\nrw=read\n", "must have filename=${SCRATCH}"),
        ("[a]\nfilename=${SCRATCH}\nsize=1m\nruntime=1\n", "[a] has no rw"),
        ("[a]\nfilename=${SCRATCH}\nrw=trim\nsize=1m\nruntime=1\n", "rw=trim; allowed: "),
        ("[a]\nfilename=${SCRATCH}\nrw=read\nsize=lots\nruntime=1\n", "size=lots; allowed: "),
        ("[a]\nfilename=${SCRATCH}\nrw=read\nsize=1m\nruntime=0\n", "runtime=0; allowed: "),
        ("[global]\nrw=read\n", "no section but global"),
        ("rw=read\n", "no section headers"),
    ],
)
def test_a_job_file_that_cannot_be_used_says_why(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.fio"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(said)):
        read_jobs(path)


@pytest.fixture
def md(tmp_path: Path) -> Path:
    files = {"level": "raid0\n", "raid_disks": "2\n"}
    folder = tmp_path / "block" / "md0" / "md"
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_text(content)
    (tmp_path / "block" / "md0" / "md0p1").mkdir()
    slaves = tmp_path / "block" / "dm-0" / "slaves"
    slaves.mkdir(parents=True)
    (slaves / "md0").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", ["md0", "md0p1", "dm-0"])
def test_a_stripe_is_seen_through_what_lies_on_it(md: Path, name: str) -> None:
    stripe = read_stripe(md, name)
    assert stripe is not None
    assert (stripe.level, stripe.members) == ("raid0", 2)


def test_a_mirror_is_no_stripe_and_a_disk_is_none_at_all(md: Path) -> None:
    (md / "block" / "md0" / "md" / "level").write_text("raid1\n")
    mirror = read_stripe(md, "md0")
    assert mirror is not None
    assert mirror.level == "raid1"
    two = cast("tuple[View, ...]", (None, None))
    where = Target(directory=md, fstype="ext4", device="md0", views=two)
    striped = replace(where, stripe=replace(mirror, level="raid0"))
    assert [one.members for one in (where, replace(where, stripe=mirror), striped)] == [1, 1, 2]
    (md / "block" / "sda").mkdir()
    assert read_stripe(md, "sda") is None
    assert read_stripe(md, "nothing") is None


def test_a_stripe_that_cannot_be_is_refused(md: Path) -> None:
    (md / "block" / "md0" / "md" / "raid_disks").write_text("many\n")
    with pytest.raises(ValueError, match="raid_disks 'many'"):
        read_stripe(md, "md0")


def test_a_scratch_file_has_no_name_and_is_full_of_what_is_not_zero(tmp_path: Path) -> None:
    with scratch_file(tmp_path) as fd:
        assert lay_out(fd, 3, go_on=lambda share: share < 2)
        assert list(tmp_path.iterdir()) == []
        assert os.fstat(fd).st_size == 3 * 2**20
        assert os.fstat(fd).st_blocks * 512 >= 3 * 2**20
        assert b"\0" * 4_096 not in os.pread(fd, 2**20, 2**21)


def test_writing_it_ends_when_it_is_told_to(tmp_path: Path) -> None:
    with scratch_file(tmp_path) as fd:
        assert not lay_out(fd, 100, go_on=lambda share: share < 0.02)
        assert os.fstat(fd).st_size == 2 * 2**20


def test_a_spend_is_refused_where_fio_has_moved_more_than_the_counters_show(
    host: Planted, program: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program("fio")
    monkeypatch.setattr(measure_run, "LEAST_MIB", 1.0)
    code = host.measure(
        "--profile=fio-4k-qd4", "--runtime-s=0.5", "--size-mib=32"
    )  # the counters stand still
    assert code == 1
    record = host.record("fio-4k-qd4")
    assert "so nobody knows what was spent" in str(record["failed"])
    volumes = record["volumes"]
    assert isinstance(volumes, list)
    assert [volume["credit"] for volume in volumes] == [None]
    assert "nobody knows how many credits were spent" in host.out


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("sys/block/nvme1n1/queue/iostats", "0\n", "the kernel does not count its I/O"),
        ("proc/self/mountinfo", LXCFS, "/proc/diskstats is that of lxcfs"),
    ],
)
def test_a_volume_whose_counters_are_not_believed_is_not_measured(
    host: Planted, program: Callable[[str], str], file: str, content: str, says: str
) -> None:
    program("fio")
    plant({file: content}, host.root)
    assert host.measure("--profile=probe", "--runtime-s=1") == 2
    assert says in host.err
