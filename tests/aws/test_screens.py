"""What the commands of an account print fits the terminal, at 40, 80 and 200 columns."""

import os

import pytest

from burstwatch.cli.main import run
from tests.aws.doctored import deploy
from tests.aws.sweeping import Disk, run_sweep
from tests.conftest import NOW, Cloud
from tests.terminal import WIDEST, WIDTHS, misfits, shown_by
from tests.terminals import Screen

CALLS = (
    ("scan",), ("scan", "--past", "1d"), ("scan", "--cost"), ("advise", "--days", "3"), ("audit-alarms",),
    ("doctor",), ("doctor", "--all"), ("episodes",), ("cleanup",), ("explain", "ID"), ("explain", "ID", "--every-period"),
    ("snooze", "ID", "4h", "--reason", "INC-1"), ("unsnooze", "ID"), ("explain", "nothing-of-this-name"),
    ("backtest", "--from-account", "ID"),
)  # fmt: skip


@pytest.fixture
def account(cloud: Cloud) -> str:
    """A deployment, and a volume whose page is open. Returns the volume's id."""
    deploy(cloud)
    disk = Disk(cloud, percent=30)
    for _ in range(20):
        disk.minute(iops=3_000)
    run_sweep(cloud)
    return disk.id


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_each_answer_fits(call: tuple[str, ...], columns: int, cloud: Cloud, account: str) -> None:
    words = tuple(account if word == "ID" else word for word in call)
    out, err = Screen(), Screen()
    env = {**os.environ, "COLUMNS": f"{columns}", "NO_COLOR": "1"}
    run(words, stdout=out, stderr=err, env=env, clock=cloud.clock)
    lines = [*out.lines(), *err.lines()]
    assert any(lines)
    assert [line for line in lines if len(line) > columns and " " in line.strip()] == []


#: The time of the fake in the place of that of the machine.
PROGRAM = f"import time, sys; time.time = lambda: {NOW + 1_200}; from burstwatch.cli.main import main; main()"


@pytest.mark.many
@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_on_a_real_terminal_of_each_width_every_line_fits_and_no_word_is_broken(
    call: tuple[str, ...], cloud: Cloud, account: str
) -> None:
    words = [account if word == "ID" else word for word in call]
    cloud.aws.keeps_calls = False

    def seen(columns: int) -> str:
        return shown_by(["-c", PROGRAM, *words], columns=columns, env={"AWS_ENDPOINT_URL": cloud.url})  # fmt: skip

    whole = seen(WIDEST)
    assert whole.strip()
    for columns in WIDTHS:
        assert misfits(seen(columns), whole, columns=columns) == []


def test_resources_of_one_name_are_told_apart_on_a_narrow_terminal(cloud: Cloud) -> None:
    cloud.aws.add_instance_type("m5.large", iops=18_750, mb_s=593.75)
    ids = [Disk(cloud, percent=100).id for _ in range(3)]
    out = Screen()
    env = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    run(("scan",), stdout=out, stderr=Screen(), env=env, clock=cloud.clock)
    assert [one for one in ids if any(one in line for line in out.lines())] == ids
