"""What people paste runs nothing that somebody else has written: every command's output, in three shells."""

import shutil
import subprocess
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import pytest

from burstwatch.cli.main import command_names
from burstwatch.formatting import command_line, printable
from burstwatch.owner_tags import OWNER_TAGS
from tests.aws.commands import burstwatch
from tests.aws.invoking import put_alarm
from tests.aws.sweeping import Disk, run_sweep
from tests.conftest import NOW, Cloud

SHELLS = {
    "sh": ["sh", "-i"],
    "bash": ["bash", "--norc", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}
#: What somebody may call a thing. No shell may make F.
RUNS = ("touch F", "$(touch F)", "`touch F`", "x; touch F", "x && touch F", "x | touch F", "x & touch F", "x > F", ">F", "x\ntouch F")  # fmt: skip
QUOTES = (
    "{}",
    "'; {}; '",
    '"; {}; "',
    "'{}'",
    '"{}"',
    "\\'; {} #",
    "aws {}",
    "burstwatch {}",
    "# {}",
    "!! {}",
)
HOSTILE = tuple(dict.fromkeys(quotes.format(runs) for runs in RUNS for quotes in QUOTES))
#: How the names stand in the account: volumes, their owners, alarms.
VOLUMES = 40
READ_AT_ONCE = 4_000
#: What prints commands beside names, and all else that has an output.
BY_NAME = (("scan",), ("advise", "--days", "3"), ("cleanup",))
COMMANDS = (
    ("scan", "--ended", "2"),
    ("top",),
    ("advise", "--days", "3", "--markdown"),
    ("audit-alarms",),
    ("doctor",),
    ("episodes",),
    ("explain", "ID"),
    ("explain", "ID", "--hours", "2"),
    ("snooze", "ID", "4h", "--reason", "INC-1"),
    ("unsnooze", "ID"),
    # Near to names that others chose, which are suggested.
    ("snooze", "touch", "4h", "--reason", "INC-1"),
    ("explain", "touch file"),
    ("scan", "--only", "touch file"),
    ("policy", "scan"),
)
#: Forty of them, with each way to run something and each way to get out of quotes.
MIXED = (*HOSTILE[::3][:30], *(f"\"';{runs};'\"" for runs in RUNS))
TAKES_TEXT = (
    ("scan", "--only", "TEXT"), ("scan", "--kinds", "TEXT"), ("scan", "--regions", "TEXT"), ("explain", "TEXT", "--type", "TEXT"),
    ("explain", "--example", "--timezone", "TEXT"), ("explain", "--example", "--metric", "TEXT"), ("whatif", "--type", "TEXT", "--size-gib", "TEXT"),
    ("whatif", "--kind", "TEXT"), ("backtest", "TEXT", "--size-gib", "100"), ("snooze", "TEXT", "4h", "--reason", "TEXT"),
    ("snooze", "ID", "TEXT", "--reason", "x"), ("snooze", "ID", "4h", "--reason", "TEXT"), ("export", "TEXT", "--days", "TEXT"),
    ("cleanup", "--deployment", "TEXT"), ("advise", "--days", "TEXT"), ("episodes", "--since", "TEXT"), ("doctor", "--deployment", "TEXT"),
    ("audit-alarms", "--regions", "TEXT"), ("help", "TEXT"), ("completion", "TEXT"),
)  # fmt: skip


@pytest.fixture
def crowd(cloud: Cloud) -> Cloud:
    """An account in which everything has a name that wants to be a command."""
    texts = cycle(HOSTILE)
    for number in range(VOLUMES):
        disk = Disk(cloud, percent=0 if number % 2 else 100)
        for hour in range(1, 72, 3):
            disk.put(NOW - 3_600 * hour, 0 if hour < 40 else 60, iops=300 if hour < 40 else 2_000)
        tags = [{"Key": "Name", "Value": next(texts)}]
        tags += [{"Key": tag, "Value": next(texts)} for tag in sorted(OWNER_TAGS)[: number % 3]]
        cloud.aws.regions["us-east-1"].volumes[disk.id]["Tags"] = tags
    for text in HOSTILE:
        if "\n" in text:
            continue
        put_alarm(cloud, f"burstwatch-burstwatch-floor-{text}")
        put_alarm(cloud, f"burstwatch.{text}")
    run_sweep(cloud)
    return cloud


def printed(cloud: Cloud, command: tuple[str, ...]) -> str:
    """All that a command prints, of the first volume where it wants one."""
    volume = next(iter(cloud.aws.regions["us-east-1"].volumes))
    _, out, err = burstwatch(cloud, *(volume if word == "ID" else word for word in command))
    return out + err


def paste(shell: list[str], text: str, folder: Path) -> None:
    """Type it at a prompt, where nothing but the shell and what it has built in is a real program."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    for name in ("aws", "burstwatch"):
        path = programs / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    touch = programs / "touch"
    if not touch.exists():
        touch.symlink_to(shutil.which("touch") or "/usr/bin/touch")
    subprocess.run(
        shell, input=text.encode(), cwd=folder, capture_output=True, check=False, timeout=120,
        start_new_session=True, env={"PATH": str(programs), "HOME": str(folder), "TERM": "dumb", "PS1": ""},
    )  # fmt: skip


def to_be_copied(output: str) -> list[str]:
    """The lines that look as if they were for a shell, as many at a time as a shell reads from a pipe at once.

    After an error dash forgets what it has read, and goes on in the middle of a line. From a terminal it reads lines.
    """
    marks = ("aws ", "burstwatch ", "#")
    lines = [line for line in output.splitlines() if any(mark in line for mark in marks)]
    pieces = [""]
    for line in lines:
        if len(pieces[-1].encode()) + len(line.encode()) > READ_AT_ONCE:
            pieces.append("")
        pieces[-1] += f"{line.strip()}\n"
    return pieces


@pytest.mark.parametrize(
    "command",
    [
        *BY_NAME,
        *(pytest.param(command, marks=pytest.mark.many) for command in COMMANDS),
    ],
    ids=" ".join,
)
def test_no_shell_runs_a_name_out_of_what_a_command_prints(
    crowd: Cloud, command: tuple[str, ...], tmp_path: Path
) -> None:
    made = tmp_path / "F"
    shells = [[program, *shell[1:]] for name, shell in SHELLS.items() if (program := shutil.which(name))]  # fmt: skip
    for piece in to_be_copied(printed(crowd, command)):
        for shell in shells:
            paste(shell, piece, tmp_path)
            assert not made.exists(), f"{shell[0]}:\n{piece}"


def typed(text: str) -> list[tuple[str, ...]]:
    """Every command with a text that somebody has copied from elsewhere: as a word, as a flag, and where it takes one."""
    anywhere = [words for name in command_names() for words in ((name, text), (name, f"--{text}"))]
    return [
        (text,),
        *anywhere,
        *[tuple(text if word == "TEXT" else word for word in words) for words in TAKES_TEXT],
    ]


@pytest.mark.parametrize(
    "texts", [MIXED[-3:], pytest.param(MIXED, marks=pytest.mark.many)], ids=len
)
def test_no_shell_runs_what_somebody_has_typed_out_of_what_a_command_answers(
    texts: Sequence[str], cloud: Cloud, tmp_path: Path
) -> None:
    Disk(cloud, percent=40)
    made = tmp_path / "F"
    shells = [[program, *shell[1:]] for name, shell in SHELLS.items() if (program := shutil.which(name))]  # fmt: skip
    answers = [printed(cloud, command) for text in texts for command in typed(text)]
    for piece in to_be_copied("".join(answers)):
        for shell in shells:
            paste(shell, piece, tmp_path)
            assert not made.exists(), f"{shell[0]}:\n{piece}"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_name_that_is_pasted_as_it_is_does_run(shell: str, tmp_path: Path) -> None:
    """Else the tests above could not fail."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    made = tmp_path / "F"
    paste([program, *SHELLS[shell][1:]], "aws x; touch F\n", tmp_path)
    assert made.exists()
    made.unlink()


@pytest.mark.parametrize("name", HOSTILE)
def test_the_words_of_a_command_come_to_the_program_as_they_are(name: str, tmp_path: Path) -> None:
    line = command_line("printf", "[%s]", name)
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=True, cwd=tmp_path)  # fmt: skip
    assert done.stdout == f"[{printable(name)}]"
    assert list(tmp_path.iterdir()) == []
