"""CPU credits on a host: the truth is in the interval, and an instance that is held back shows it."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch import bucket as tb
from burstwatch.kinds._cpu import cpu_spec
from burstwatch.web.exposition import Page
from burstwatch_exporter.clock import Clock
from burstwatch_exporter.credits.snapshot import Snapshot
from burstwatch_exporter.kernel.roots import Roots
from burstwatch_exporter.page.cpu import CpuSource, CpuTimes, parse_stat
from burstwatch_exporter.page.metrics import METRICS
from burstwatch_exporter.sources import Attempt

SPEC = cpu_spec("t3.micro")
STEP_S = 15.0
NOTHING = Snapshot(at=0.0, views=(), stacked=(), mounts=())


class Machine:
    """An instance that is served what its credits allow, and whose kernel counts it.

    In Unlimited mode it is served everything. A level below 0 is owed, and what cannot be owed is paid.
    """

    def __init__(self, folder: Path, *, level: float, is_unlimited: bool = False) -> None:
        self.level, self.at, self.asleep_s = level, 0.0, 0.0
        self._is_unlimited = is_unlimited
        self.used = self.stolen = 0.0
        self._folder = folder
        self.problems: list[str] = []
        self.source = CpuSource(
            "t3.micro",
            SPEC,
            roots=Roots(procfs=folder, sysfs=folder, udev=folder),
            clock=Clock(
                boot=lambda: self.at + self.asleep_s,
                awake=lambda: self.at,
                wall=lambda: 1_790_000_000.0 + self.at + self.asleep_s,
            ),
            slot_s=STEP_S,
        )

    def work(self, seconds: float, vcpus: float) -> None:
        """Ask for so much for a while; what an empty bucket does not serve is stolen."""
        bucket = SPEC.bucket
        if self._is_unlimited:
            level = self.level + (bucket.refill - vcpus) * seconds
            self.level = min(bucket.capacity, max(-bucket.capacity, level))
            self.at += seconds
            self.used += vcpus * seconds
            return
        has_s = min(seconds, tb.time_to_empty(bucket, level=self.level, demand=vcpus))
        used = vcpus * has_s + min(vcpus, bucket.refill) * (seconds - has_s)
        self.level = tb.level_after(bucket, level=self.level, demand=vcpus, seconds=seconds)
        self.at += seconds
        self.used += used
        self.stolen += vcpus * seconds - used

    def read(self) -> dict[tuple[str, str], float]:
        """What the page says, by metric and bound."""
        self.write(f"cpu  {self.used * 100:.0f} 0 0 0 0 0 0 {self.stolen * 100:.0f} 0 0\n")
        page, attempt = Page(METRICS), Attempt()
        self.source.add_to(page, NOTHING, attempt)
        self.problems = attempt.problems
        return {
            (
                sample.name.removeprefix("burstwatch_cpu_"),
                sample.labels.get("bound", ""),
            ): sample.value
            for family in page.families()
            for sample in family.with_samples().samples
        }

    def write(self, text: str) -> None:
        (self._folder / "stat").write_text(text, encoding="ascii")


def test_only_what_the_cpus_did_counts_as_used_and_the_guests_time_once() -> None:
    text = "cpu  1000 200 300 90000 400 50 60 700 800 900\ncpu0 1 2 3\n"
    assert parse_stat(text) == CpuTimes(used_s=16.1, stolen_s=7.0)


@pytest.mark.parametrize(
    "text", ["", "cpu\n", "cpu 1 2 3\n", "intr 1 2 3 4 5 6 7 8\n", "cpu a b c d e f g h\n"]
)
def test_counters_that_are_not_there_are_named(text: str) -> None:
    with pytest.raises(ValueError, match="begins with"):
        parse_stat(text)


@given(
    full=st.floats(-1, 1),
    is_unlimited=st.booleans(),
    since_start=st.lists(st.tuples(st.floats(15, 400_000), st.floats(0, 2)), max_size=4),
    loads=st.lists(st.tuples(st.floats(15, 200_000), st.floats(0, 2)), min_size=1, max_size=20),
)
def test_the_true_balance_is_never_outside_the_interval(
    tmp_path_factory: pytest.TempPathFactory,
    full: float,
    is_unlimited: bool,  # noqa: FBT001 - hypothesis passes it by name
    since_start: list[tuple[float, float]],
    loads: list[tuple[float, float]],
) -> None:
    """Also if the exporter starts long after the host, and in the mode that the host cannot see."""
    level = (full if is_unlimited else abs(full)) * SPEC.bucket.capacity
    machine = Machine(tmp_path_factory.mktemp("proc"), level=level, is_unlimited=is_unlimited)
    for seconds, vcpus in since_start:
        machine.work(seconds, vcpus)
    for seconds, vcpus in loads:
        machine.work(seconds, vcpus)
        found = machine.read()
        true = max(0.0, machine.level) / SPEC.bucket.capacity
        assert found["credit_balance_ratio", "low"] <= true + 1e-3
        assert found["credit_balance_ratio", "high"] >= true - 1e-3


def test_an_instance_that_rested_for_two_days_is_full_and_its_end_is_known(tmp_path: Path) -> None:
    """One day pays back what may be owed, and the next fills the bucket."""
    machine = Machine(tmp_path, level=0.0)
    machine.work(2 * 86_400, 0.0)
    machine.read()
    machine.work(STEP_S, 1.2)
    machine.work(STEP_S, 1.2)
    found = machine.read()
    assert found["credit_balance_ratio", "low"] > 0.99
    assert found["time_to_exhaustion_seconds", "likely"] == pytest.approx(
        machine.level / (1.2 - SPEC.baseline), rel=0.02
    )
    assert found["held_back", ""] == 0


def test_an_instance_without_credits_that_asks_for_more_is_held_back(tmp_path: Path) -> None:
    machine = Machine(tmp_path, level=0.0)
    for _ in range(10):
        machine.work(STEP_S, 1.0)
        found = machine.read()
    assert found["held_back", ""] == 1
    assert found["credit_balance_ratio", "likely"] == 0
    assert found["time_to_exhaustion_seconds", "likely"] == 0


def test_an_instance_that_works_at_its_baseline_and_asks_for_no_more_is_not(tmp_path: Path) -> None:
    machine = Machine(tmp_path, level=SPEC.bucket.capacity)
    for _ in range(10):
        machine.work(STEP_S, SPEC.baseline)
        found = machine.read()
    assert found["held_back", ""] == 0
    assert found["time_to_exhaustion_seconds", "worst"] < math.inf


@pytest.mark.slow
def test_what_an_instance_in_unlimited_mode_owes_is_not_taken_for_credits(tmp_path: Path) -> None:
    machine = Machine(tmp_path, level=0.0, is_unlimited=True)
    for vcpus in (2.0, 0.0):
        for _ in range(12 * 240):
            machine.work(STEP_S, vcpus)
            found = machine.read()
    assert machine.level < 0
    assert found["credit_balance_ratio", "low"] == 0
    assert found["credit_balance_ratio", "high"] == 0
    assert found["credit_balance_ratio", "likely"] == 0


def test_after_a_stop_with_hibernation_the_credits_may_be_lost_and_none_came_in(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path, level=SPEC.bucket.capacity)
    machine.work(2 * 86_400, 0.0)
    assert machine.read()["credit_balance_ratio", "low"] > 0.99
    machine.work(86_400, 0.5)  # empty
    assert machine.read()["credit_balance_ratio", "high"] == pytest.approx(0, abs=1e-3)
    machine.work(STEP_S, 0.0)
    machine.asleep_s += 86_400
    found = machine.read()
    assert found["credit_balance_ratio", "low"] == 0
    assert found["credit_balance_ratio", "high"] < 0.01


def test_a_full_bucket_may_be_lost_in_a_stop_with_hibernation(tmp_path: Path) -> None:
    machine = Machine(tmp_path, level=SPEC.bucket.capacity)
    machine.work(2 * 86_400, 0.0)
    machine.read()
    machine.asleep_s += 3_600
    machine.work(STEP_S, 0.0)
    found = machine.read()
    assert found["credit_balance_ratio", "low"] < 0.01
    assert found["credit_balance_ratio", "high"] == 1


def test_a_host_that_was_stopped_before_the_exporter_began_may_have_lost_its_credits(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path, level=SPEC.bucket.capacity)
    machine.work(2 * 86_400, 0.0)
    machine.asleep_s += 3_600
    machine.work(60, 0.0)
    found = machine.read()
    assert found["credit_balance_ratio", "low"] == 0
    assert ("credit_balance_ratio", "likely") not in found


@pytest.mark.parametrize(("name", "is_sure"), [("t2.nano", False), ("t3.nano", True)])
def test_launch_credits_of_a_t2_are_no_sign_of_unlimited_mode(
    tmp_path: Path, name: str, *, is_sure: bool
) -> None:
    """A T2 spends them beside those that it earns."""
    spec = cpu_spec(name)
    now = [0.0]
    clock = Clock(boot=lambda: now[0], awake=lambda: now[0], wall=lambda: 1_790_000_000.0 + now[0])
    roots = Roots(procfs=tmp_path, sysfs=tmp_path, udev=tmp_path)
    source = CpuSource(name, spec, roots=roots, clock=clock, slot_s=STEP_S)
    beyond_s = (
        spec.bucket.capacity + 0.9 * 1_800
    )  # a full bucket, and most of the launch credits of a vCPU
    for used in (0.0, beyond_s + 0.99 * spec.baseline * 10_000):
        (tmp_path / "stat").write_text(f"cpu  {used * 100:.0f} 0 0 0 0 0 0 0 0 0\n")
        source.add_to(Page(METRICS), NOTHING, Attempt())
        now[0] += 10_000
    (tmp_path / "stat").write_text(f"cpu  {used * 100:.0f} 0 0 0 0 0 0 0 0 0\n")
    page = Page(METRICS)
    source.add_to(page, NOTHING, Attempt())
    found = {
        sample.labels["bound"]: sample.value
        for family in page.families()
        for sample in family.with_samples().samples
        if sample.name == "burstwatch_cpu_credit_balance_ratio"
    }
    # Surplus credits that are owed are paid back before anything is left.
    assert (found["high"] == 0) is is_sure


def test_counters_that_go_back_are_named_and_everything_is_possible_again(tmp_path: Path) -> None:
    machine = Machine(tmp_path, level=SPEC.bucket.capacity)
    machine.work(2 * 86_400, 0.0)
    machine.work(600, 0.5)
    assert machine.read()["credit_balance_ratio", "low"] > 0.5
    machine.used, machine.at = 1.0, machine.at + STEP_S
    found = machine.read()
    assert found["credit_balance_ratio", "low"] == 0
    assert "went back" in machine.problems[0]
