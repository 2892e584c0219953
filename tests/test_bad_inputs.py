"""Every input of ``bad_inputs.toml`` is refused in one line that has the words beside it.

``commands`` are arguments of burstwatch and ``exporter`` those of burstwatch-exporter;
``environment`` is a setting, ``recordings`` and ``host_config`` are the content of a file,
``tags`` are an owner's tag on a resource.
"""

import io
import shlex
import threading
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from burstwatch.cli.main import run as run_burstwatch
from burstwatch.owner_tags import read_owner_tags
from burstwatch_exporter.clock import World, system_clock
from burstwatch_exporter.main import run as run_exporter
from tests.terminals import Screen

pytestmark = pytest.mark.slow

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").with_stem("bad_inputs").read_text())
RECORDING = "t_s,read_ops,write_ops,balance_percent\n" + "".join(
    f"{1_700_000_000 + 60 * minute},60000,1000,{90 - minute}\n" for minute in range(6)
)
WORKLOAD = "t_s,rate\n0,100\n60,200\n120,500\n180,20\n"
LOAD = "t_seconds,read_ops,write_ops,read_bytes,write_bytes\n0,100,0,1e6,0\n60,200,0,1e6,0\n"
FILES = {
    "good.csv": RECORDING,
    "other.csv": RECORDING,
    "workload.csv": WORKLOAD,
    "load.csv": LOAD,
    "node.prom": "# HELP node_x\n",
}
GP2 = ("--type", "gp2", "--size-gib", "100")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with good files, which no bad command may change."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    yield tmp_path
    assert {name: (tmp_path / name).read_text() for name in FILES} == FILES


def refused(table: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("text", "words"), TABLES[table].items())


def check(code: int, out: str, err: str, words: str) -> None:
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.partition(": ")[2].startswith(words)


def burstwatch(*args: str, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = run_burstwatch(args, stdout=out, stderr=err, env=env or {}, clock=lambda: 0.0)
    return code, out.getvalue(), err.getvalue()


def exporter(*args: str) -> tuple[int, str, str]:
    out, err, stop = io.StringIO(), io.StringIO(), threading.Event()
    stop.set()
    world = World(stdout=out, stderr=err, env={}, clock=system_clock(), stop=stop)
    code = run_exporter([*args], world)
    return code, out.getvalue(), err.getvalue()


def test_there_are_hundreds_of_them() -> None:
    assert sum(map(len, TABLES.values())) >= 400


@refused("commands")
def test_a_bad_command_is_refused(text: str, words: str) -> None:
    code, out, err = burstwatch(*shlex.split(text))
    check(code, out, err, words)
    screen = Screen()
    run_burstwatch(
        shlex.split(text), stdout=screen, stderr=screen, env={"COLUMNS": "80"}, clock=lambda: 0.0
    )
    lines = screen.lines()
    assert all(len(line) <= 80 for line in lines)
    assert "".join("".join(lines).split()) == "".join(err.split())


@refused("environment")
def test_a_bad_setting_is_refused(text: str, words: str) -> None:
    name, _, value = text.partition("=")
    check(*burstwatch("catalog", "--settings", env={name: value}), words)


@refused("recordings")
def test_a_bad_recording_is_refused(text: str, words: str) -> None:
    Path("f.csv").write_bytes(text.encode())
    described = () if text.startswith("# burstwatch kind=") else GP2
    check(*burstwatch("explain", "f.csv", *described), words)


@refused("tags")
def test_a_bad_tag_is_ignored_and_named(text: str, words: str) -> None:
    tag, _, value = text.partition("=")
    found = read_owner_tags({tag: value})
    assert words in found.refused[tag]
    assert (found.watch, found.lead_s, found.windows, found.snooze) == (True, None, (), None)


@refused("exporter")
def test_a_bad_flag_of_the_exporter_is_refused(text: str, words: str) -> None:
    check(*exporter(*shlex.split(text)), words)


@refused("host_config")
def test_a_bad_file_of_the_host_is_refused(text: str, words: str) -> None:
    Path("v.yml").write_text(f"{text}\n")
    check(*exporter("--config.file", "v.yml", "--once"), words)
