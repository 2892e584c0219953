"""The families of demand that the chance is learnt from, and load that does not fit the balance."""

import zlib
from pathlib import Path

import pytest

from benchmarks.apart import DISAGREEMENTS, Disagreement, balance_alone, disagreeing
from benchmarks.made_up import DAY, EACH, SHAPES, WEEKS, make_up
from benchmarks.recordings import VM_FOLDS, Recording, made_up, recorded
from benchmarks.vm_disks import FIRST_S, MONTHS, STEP_S, read_vm, vm_names
from burstwatch.backtest.trials import make_trial
from burstwatch.backtest.workloads import Workload

HEADING = ";".join(["Timestamp [ms]", "CPU cores", *["-"] * 5, "read KB/s", "write KB/s"])


def month_of(steps: dict[int, float], *, cores: int = 2) -> str:
    """A file of one month: so many KB/s written at each step."""
    rows = [
        ";\t".join([str(FIRST_S + STEP_S * step), str(cores), *["0"] * 5, "0", str(rate)])
        for step, rate in steps.items()
    ]
    return "\n".join([HEADING, *rows, ""])


def put(folder: Path, number: int, months: list[str]) -> None:
    for month, text in zip(MONTHS, months, strict=True):
        (folder / month).mkdir(parents=True, exist_ok=True)
        (folder / month / f"{number}.csv").write_text(text)


def busy(first: int, last: int, rate: float = 160.0) -> dict[int, float]:
    return {step: rate + step % 7 for step in range(first, last)}


def test_the_months_of_a_machine_follow_one_another(tmp_path: Path) -> None:
    put(tmp_path, 4, [month_of(busy(n * 100, n * 100 + 100)) for n in range(3)])
    found = read_vm(tmp_path, "vm004")
    assert found is not None
    assert len(found.rates) == 300
    assert found.rates[0] == pytest.approx(160.0 * STEP_S / 16)  # operations of 16 KiB


def test_a_short_gap_holds_the_last_value_and_a_longer_one_is_silence(tmp_path: Path) -> None:
    steps = {**busy(0, 40), **busy(43, 50), **busy(54, 100)}
    put(tmp_path, 4, [month_of(steps), month_of(busy(100, 200)), month_of(busy(200, 300))])
    found = read_vm(tmp_path, "vm004")
    assert found is not None
    assert found.rates[40:43] == [found.rates[39]] * 3
    assert found.rates[50:54] == [0.0] * 4


@pytest.mark.parametrize(
    "months",
    [
        [month_of(busy(n * 100, n * 100 + 100), cores=n + 1) for n in range(3)],  # resized
        [month_of(busy(n * 100, n * 100 + 70)) for n in range(3)],  # too much is missing
        [month_of(busy(n * 100, n * 100 + 100, rate=0.1)) for n in range(3)],  # hardly used
        [month_of({**dict.fromkeys(range(n * 100, n * 100 + 100), 0.0), n * 100: 9e4}) for n in range(3)],  # idle
    ],
)  # fmt: skip
def test_what_is_no_busy_machine_of_one_size_is_left_out(months: list[str], tmp_path: Path) -> None:
    put(tmp_path, 4, months)
    assert read_vm(tmp_path, "vm004") is None


def test_another_folder_than_that_of_the_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no folder 2013-7"):
        vm_names(tmp_path)
    put(tmp_path, 4, [month_of(busy(n * 100, n * 100 + 100)) for n in range(3)])
    with pytest.raises(ValueError, match="machines to learn from, expected are 53"):
        vm_names(tmp_path)


def test_the_machines_that_check_the_result_are_not_opened(tmp_path: Path) -> None:
    odd = next(n for n in range(1, 99) if zlib.crc32(f"vm{n:03d}".encode()) % 2)
    put(tmp_path, odd, ["not to be read"] * 3)
    with pytest.raises(ValueError, match="has 0 machines"):
        vm_names(tmp_path)


@pytest.mark.parametrize("shape", SHAPES)
def test_made_up_demand_is_always_the_same_and_never_negative(shape: str) -> None:
    first, again, other = (make_up(f"{shape}-{n}") for n in (0, 0, 1))
    assert first == again != other
    assert len(first.rates) == WEEKS * 7 * DAY
    assert min(first.rates) >= 0 < max(first.rates)


def test_each_recording_has_a_model_that_has_not_seen_its_machine() -> None:
    assert {one.fold for one in recorded("servers")} == {one.machine for one in recorded("servers")}
    assert {one.fold for one in made_up()} == {"made-up"}
    assert len(made_up()) == EACH * len(SHAPES)
    vm = Recording(family="vm", machine="vm123", name="vm123")
    assert vm.fold == f"vm-{123 % VM_FOLDS}"
    assert {one.fold for one in recorded("services")} == {f"services-{n}" for n in range(5)}


@pytest.mark.parametrize("disagreement", DISAGREEMENTS, ids=lambda each: each.name)
def test_a_disagreement_changes_what_is_published_of_the_load_and_nothing_else(
    disagreement: Disagreement,
) -> None:
    workload = Workload(name="disk_w", step_s=300.0, rates=[0.0, 5.0, 80.0, 20.0] * 600)
    trial = make_trial(workload, volume_type="gp2", size_gib=100.0, rho=0.8)
    other = disagreeing(trial, disagreement)
    assert other.events == trial.events
    levels = [row.values["BurstBalance"] for row in trial.rows]
    assert [row.values["BurstBalance"] for row in other.rows] == levels
    changed = [a.values != b.values for a, b in zip(trial.rows, other.rows, strict=True)]
    assert any(changed) == (disagreement.name != "agree")
    alone = balance_alone(trial)
    assert [dict(row.values) for row in alone.rows] == [{"BurstBalance": level} for level in levels]
