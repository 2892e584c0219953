"""Measurements of a planted host with programs that are played, for the tests of ``measure``."""

from pathlib import Path
from typing import Any

from tests.exporter.planted import Planted, fake_program

JOBS = Path(__file__).parents[2] / "exporter" / "burstwatch_exporter" / "jobs"
GOOD = Path(__file__).parent / "fio_output" / "mix.json"
#: A fio that knows its version, and finds the file that its result is to go to.
VERSION = 'if [ "$1" = --version ]; then echo fio-3.33; exit 0; fi'
OUTPUT = 'for arg in "$@"; do case "$arg" in --output=*) out="${arg#--output=}";; esac; done'


def fio(host: Planted, *lines: str) -> Path:
    return fake_program(host.root / "bin", "fio", [VERSION, OUTPUT, *lines])


def step(host: Planted, profile: str = "probe", index: int = 0) -> Any:
    steps = host.record(profile)["steps"]
    assert isinstance(steps, list)
    return steps[index]


def refused(host: Planted, *args: str) -> str:
    before = host.left_behind()
    assert host.measure(*args) == 2
    assert host.left_behind() == before
    assert not (host.root / "results").exists()
    return host.err
