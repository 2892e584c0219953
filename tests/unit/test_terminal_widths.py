"""Whatever is printed fits the terminal: help, answers, tables and errors, at 40, 80 and 200 columns."""

import shlex
import subprocess

import pytest

from burstwatch.cli.main import command_names, run
from burstwatch.formatting import command_line, folded, folded_command, table, width_of
from tests.terminals import Screen

WIDTHS = (40, 80, 200)
CALLS = (
    "", "version", "catalog", "catalog --settings", "policy", "explain --example", "explain --example --every-period",
    "explain --example --timezone Asia/Kolkata", "advise --example",
    "whatif --type gp2 --size-gib 100 --iops 3000", "whatif --type t3.medium --cpu-percent 60",
    "whatif --kind fsx_file_server --spec-of nothing", "explain nowhere.csv --type gp2 --size-gib 100", "help nothing",
    "whatif --type gp2 --size-gib 100", "scan --fail-on nothing",
)  # fmt: skip


def printed(columns: int, *args: str) -> list[str]:
    out, err = Screen(), Screen()
    run(args, stdout=out, stderr=err, env={"COLUMNS": f"{columns}", "NO_COLOR": "1"}, clock=lambda: 0.0)  # fmt: skip
    return [*out.lines(), *err.lines()]


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("command", ["", *command_names()])
def test_each_help_fits(command: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", f"{columns}")
    lines = printed(columns, "help", *command.split())
    assert [line for line in lines if len(line) > columns] == []


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("call", CALLS)
def test_each_answer_and_each_error_fits(
    call: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", f"{columns}")
    lines = printed(columns, *shlex.split(call))
    longest_word = max(
        (len(word) for line in lines if line.endswith("\\") for word in line.split()), default=0
    )
    assert [line for line in lines if len(line) > max(columns, longest_word + 6)] == []


@pytest.mark.parametrize("columns", WIDTHS)
def test_folding_loses_and_adds_no_word(columns: int) -> None:
    text = "a line that is longer than a narrow terminal, with words of every length\n  and one further in that is as long as the other one was"
    lines = folded(text, columns).split("\n")
    assert all(len(line) <= columns for line in lines)
    assert " ".join(lines).split() == text.split()


@pytest.mark.parametrize("columns", [20, 40, 80])
def test_a_command_that_is_folded_runs_as_the_same_words(columns: int) -> None:
    words = ("printf", "%s\n", "--name", "a b", "$(touch F)", "it's", "x" * 50, "", "--last")
    line = command_line(*words)
    shell = ["sh", "-c"]
    whole, parts = (
        subprocess.run([*shell, text], capture_output=True, check=True).stdout
        for text in (line, folded_command(line, columns))
    )
    assert parts == whole


@pytest.mark.parametrize("columns", [20, 60, 100])
def test_the_command_of_a_fix_is_the_same_in_a_narrow_terminal(columns: int) -> None:
    line = "aws ec2 stop-instances --instance-ids i-1 && aws ec2 wait instance-stopped --filters 'Name=tag:a,Values=b' && echo \"it's done\""
    joined = folded_command(f"  {line}", columns).replace(" \\\n", "").split()
    assert joined == line.split()


@pytest.mark.parametrize(
    "text", ["", " " * 50, "\t" * 30, "# it's a comment of some length", "x" * 500]
)
def test_odd_lines_are_folded_too(text: str) -> None:
    assert all(width_of(line) <= 20 for line in folded(text, 20).split("\n"))
    assert folded_command(text, 1_000) == text
    folded_command(text, 10)


@pytest.mark.parametrize("columns", WIDTHS)
def test_characters_that_take_two_columns_are_counted_as_two(columns: int) -> None:
    name = "データベース本番環境の残高" * 6
    assert width_of("データ") == 6
    assert width_of("e\u0301") == 1
    drawn = table(("name", "text"), [(name, "x")], columns=columns, elastic={"name"})
    for line in (
        *folded(f"a file: {name}.csv is missing", columns).split("\n"),
        *drawn.split("\n"),
    ):
        assert width_of(line) <= columns


def test_a_table_that_is_wider_than_the_terminal_is_a_paragraph_for_each_row() -> None:
    rows = [("one", "a long text about one"), ("two", "")]
    assert table(("name", "text"), rows, columns=80).count("\n") == 2
    assert table(("name", "text"), rows, columns=20) == (
        "name: one\n  text: a long text\n    about one\n\nname: two"
    )
