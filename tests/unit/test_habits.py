"""What people expect of any command line."""

import io
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import burstwatch
from burstwatch.cli.main import run
from burstwatch.cli.output import painter
from burstwatch.cli.progress import track
from burstwatch.cli.targets import check_target
from burstwatch.formatting import recorded_time

pytestmark = pytest.mark.slow

PROGRAM = [sys.executable, "-m", "burstwatch"]
GP2 = ["--type", "gp2", "--size-gib", "100"]


def run_in_memory(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = run(args, stdout=out, stderr=err, env={}, clock=lambda: 0.0)
    return code, out.getvalue(), err.getvalue()


def program(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *args], capture_output=True, text=True, check=False, env={**os.environ, **env}
    )


def in_terminal(*args: str, **env: str) -> str:
    """What a terminal would show."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [*PROGRAM, *args], stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm", **env}
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65_536):
            shown += part
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(ours)
        assert child.wait() == 0
    return shown.decode()


def test_it_runs_as_a_module_and_says_its_version() -> None:
    found = program("--version")
    assert (found.returncode, found.stdout.strip()) == (0, burstwatch.__version__)


def test_a_closed_standard_output_is_said_in_one_line() -> None:
    found = subprocess.run(
        ["/bin/bash", "-c", f"{sys.executable} -m burstwatch whatif --type gp2 --size-gib 100 --iops 1 >&-"],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert found.returncode == 2
    assert found.stderr == "burstwatch: standard output is closed, so nothing can be printed\n"


@pytest.mark.parametrize(
    ("command", "code", "out", "err"),
    [
        ("catalog <&-", 0, "gp2", ""),
        ("explain - --type gp2 --size-gib 100 <&-", 2, "", "standard input is closed"),
        ("explain --example --every-period 2>&-", 0, "critical", ""),
        ("whatif 2>&-", 2, "", ""),
    ],
)
def test_a_closed_stream_ends_no_command_that_does_not_need_it(
    command: str, code: int, out: str, err: str
) -> None:
    found = subprocess.run(
        ["/bin/bash", "-c", f"{sys.executable} -m burstwatch {command}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == code
    assert out in found.stdout
    assert bool(out) == bool(found.stdout)
    assert err in found.stderr
    assert "Traceback" not in found.stderr


def test_what_standard_input_is_read_from_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "seen.csv"
    text = "t_s,balance_percent,read_ops,write_ops,read_bytes,write_bytes\n0,90,0,0,0,0\n60,89,0,0,0,0\n"
    path.write_text(text)
    with path.open() as stdin:
        found = subprocess.run(
            [*PROGRAM, "explain", "-", *GP2, "--html", str(path)],
            stdin=stdin, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert found.returncode == 2
    assert "is the input, which is never overwritten" in found.stderr
    assert path.read_text() == text


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_a_backtest_that_is_ended_leaves_no_process(by: int, tmp_path: Path) -> None:
    path = tmp_path / "load.csv"
    rows = "".join(f"{60 * n},{n % 97},0,0,0\n" for n in range(30_000))
    path.write_text(f"t_seconds,read_ops,write_ops,read_bytes,write_bytes\n{rows}")
    command = [*PROGRAM, "backtest", str(path), "--size-gib", "100,200,500", "--jobs", "2"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    workers = Path(f"/proc/{child.pid}/task/{child.pid}/children")
    while not workers.read_text():
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(by)
    child.communicate(timeout=60)  # a worker that is left would hold these pipes
    assert child.returncode == -by


def test_a_terminal_without_unicode_ends_no_command() -> None:
    found = program("explain", "--example", PYTHONIOENCODING="ascii")
    assert (found.returncode, found.stderr) == (0, "")
    assert "Fri 2014-04-11 18:25Z  said 17 min" in found.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_completion_of_the_commands_and_takes_it(
    shell: str, tmp_path: Path
) -> None:
    code, out, err = run_in_memory("completion", shell)
    assert (code, err) == (0, "")
    assert "whatif" in out
    assert "size-gib" in out
    program_of_shell = shutil.which(shell)
    if program_of_shell is None:
        pytest.skip(f"{shell} is not on this machine")
    script = tmp_path / "completion"
    script.write_text(out)
    subprocess.run([program_of_shell, "-n", str(script)], check=True)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("burstwatch s", {"scan", "serve", "snooze"}),
        ("burstwatch scan --fa", {"--fail-on"}),
        ("burstwatch whatif --kind ebs_v", {"ebs_volume"}),
        ("burstwatch whatif --type gp", {"gp2", "gp3"}),
        ("burstwatch policy dr", {"drill"}),
        ("burstwatch completion f", {"fish"}),
        ("burstwatch explain --timezone Europe/Berl", {"Europe/Berlin"}),
    ],
)
@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_completion_offers_commands_flags_and_their_values(
    shell: str, typed: str, offered: set[str], tmp_path: Path
) -> None:
    program_of_shell = shutil.which(shell)
    if program_of_shell is None:
        pytest.skip(f"{shell} is not on this machine")
    script = tmp_path / "completion"
    script.write_text(run_in_memory("completion", shell)[1])
    words = typed.split(" ")
    asked = f"source {script}; " + (
        f'COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _burstwatch; printf "%s\\n" "${{COMPREPLY[@]}}"'
        if shell == "bash"
        else f"complete -C '{typed}'"
    )
    done = subprocess.run(
        [program_of_shell, "-c", asked], capture_output=True, text=True, check=True
    )
    assert {line.split("\t")[0] for line in done.stdout.splitlines()} == offered, done.stderr


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        # Bash takes the sign for a word of its own.
        ("burstwatch whatif --kind = ebs_v", "ebs_volume"),
        ("burstwatch whatif --kind =", "docdb_instance_cpu"),
        ("burstwatch scan --kind ebs_volume,fsx_h", "ebs_volume,fsx_hdd_volume"),
        ("burstwatch scan --region eu-cen", "eu-central-1"),
    ],
)
def test_bash_completes_a_value_behind_a_sign_and_the_last_of_a_list(
    typed: str, offered: str, tmp_path: Path
) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not on this machine")
    script = tmp_path / "completion"
    script.write_text(run_in_memory("completion", "bash")[1])
    words = typed.split(" ")
    asked = f'source {script}; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _burstwatch; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run([bash, "-c", asked], capture_output=True, text=True, check=True)
    assert offered in done.stdout.splitlines(), done.stderr


def test_verdicts_have_colours_on_a_terminal_and_none_elsewhere() -> None:
    shown = in_terminal("explain", "--example", "--every-period", NO_COLOR="")
    assert "\033[1;31mcritical" in shown
    # A bar, where the work takes long, moves the cursor, and that is no colour.
    assert not re.search(
        r"\033\[[\d;]*m", in_terminal("explain", "--example", "--every-period", NO_COLOR="1")
    )
    assert "\033" not in in_terminal(
        "explain", "--example", "--every-period", TERM="dumb", NO_COLOR=""
    )
    assert "\033" not in program("explain", "--example", "--every-period").stdout


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_only_a_verdict_is_painted() -> None:
    paint = painter(Terminal(), {"TERM": "xterm"})
    assert paint("critical, silent  ") == "\033[1;31mcritical, silent  \033[0m"
    assert paint("critical-db") == "critical-db"


def test_progress_is_shown_on_a_terminal_after_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burstwatch.cli.progress.QUIET_S", 0.0)
    shown = Terminal()
    assert list(track(iter("abc"), total=3, label="trying", stderr=shown)) == ["a", "b", "c"]
    assert "trying" in shown.getvalue()
    silent = io.StringIO()
    assert list(track(iter("abc"), total=3, label="trying", stderr=silent)) == ["a", "b", "c"]
    assert silent.getvalue() == ""


def test_work_that_is_over_at_once_shows_no_progress() -> None:
    shown = Terminal()
    list(track(iter("abc"), total=3, label="trying", stderr=shown))
    assert "trying" not in shown.getvalue()


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["explain", "{csv}", *GP2, "--html", "{csv}"], "is the input, which is never overwritten"),
        (
            ["explain", "{csv}", *GP2, "--html", "{link}"],
            "is the input, which is never overwritten",
        ),
        (["explain", "{csv}", *GP2, "--html", "{dir}"], "is a folder"),
        (["explain", "{csv}", *GP2, "--html", "/nosuch/p.html"], "there is no folder /nosuch"),
        (["explain", "{csv}", *GP2, "--hours", "3"], "--hours is for a resource of the account"),
        (["backtest", "{csv}", "--size-gib", "100", "--picture", "{csv}"], "never overwritten"),
        (["backtest", "{csv}", "--size-gib", "100", "--picture", "/nosuch/p.svg"], "no folder"),
        (["completion", "tcsh"], "invalid choice: 'tcsh'"),
        (["export", "vol-1", "--days", "0"], "--days is 0; allowed: above 0 to 63"),
        (["export", "vol-1", "--days", "64"], "--days is 64; allowed: above 0 to 63"),
        (["export", "vol-1", "-o", "/nosuch/x.csv"], "there is no folder /nosuch"),
    ],
)
def test_what_would_lose_something_is_refused_before_the_work(
    args: list[str], named: str, tmp_path: Path
) -> None:
    csv = tmp_path / "own.csv"
    csv.write_text("t_s,balance_percent,read_ops,write_ops,read_bytes,write_bytes\n0,9,1,1,1,1\n")
    link = tmp_path / "link.csv"
    link.symlink_to(csv)
    before = csv.read_bytes()
    places = {"csv": csv, "dir": tmp_path, "link": link}
    code, out, err = run_in_memory(*(one.format(**places) for one in args))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert named in err
    assert csv.read_bytes() == before


def test_a_new_file_beside_the_input_is_allowed(tmp_path: Path) -> None:
    check_target(str(tmp_path / "new.html"), inputs=[str(tmp_path / "nowhere.csv")])


@pytest.mark.parametrize(
    ("at", "shown"),
    [(0, "+0:00"), (3_900, "+1:05"), (-600, "-0:10"), (1_793_577_600, "2026-11-02 00:00Z")],
)
def test_a_time_of_a_recording_is_a_date_or_counts_from_its_start(at: float, shown: str) -> None:
    assert recorded_time(at) == shown


def test_a_kind_that_is_not_there_is_named_wherever_it_comes_from() -> None:
    out = io.StringIO()
    code = run(
        ["catalog", "--settings"],
        stdout=out,
        stderr=out,
        env={"BURSTWATCH_KINDS": "ebs"},
        clock=lambda: 0.0,
    )
    assert code == 2
    assert "unknown kind 'ebs'; allowed: docdb_instance_cpu" in out.getvalue()
