"""Runs one step: starts its program, watches, ends it in time, and reads what it printed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from burstwatch_exporter.measure import dbench, dd, fio
from burstwatch_exporter.measure.jobs import job_text
from burstwatch_exporter.measure.outcome import Outcome, OutputError
from burstwatch_exporter.measure.scratch import scratch_folder
from burstwatch_exporter.measure.watch import BUDGET_SPENT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from burstwatch_exporter.measure.jobs import Step
    from burstwatch_exporter.measure.watch import Served, Watch

#: A program that is told to end has so long beside what it waits for, before it is killed, and
#: then so long to be gone.
PATIENCE_S, DEAD_S = 1.0, 5.0
#: A process that becomes a program, and is killed if this one dies first. Not setpriv: it sets
#: capabilities too, which a service with a filter of system calls may not.
LAUNCH = """
import os, signal, sys
try:
    import ctypes
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
except Exception:
    pass  # without it the program ends by itself when its time is over
os.execv(sys.argv[1], sys.argv[1:])
"""
#: Over its time by so much, it hangs.
OVERTIME_S = 30.0
HUNG, HELD = "it did not end", "the kernel holds it"
#: In its first second dbench only warms up.
SHORTEST_DBENCH_S = 2
KIB = 2**10


class ProgramError(ValueError):
    """A program that is needed and not there, or that is too old."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """What came of a step. ``stopped`` is why it did not run its time, ``failed`` what went wrong."""

    ran_s: float
    spent: float
    samples: Sequence[Served]
    device_iops: float
    device_mib_s: float
    stopped: str = ""
    failed: str = ""
    outcome: Outcome | None = None


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a step runs: the file without a name, the directory it is in, and room for notes elsewhere."""

    fd: int
    directory: Path
    notes: Path

    @property
    def scratch(self) -> str:
        """How a program finds the file."""
        return f"/proc/self/fd/{self.fd}"


class _Program(Protocol):
    """A program under way."""

    def is_running(self) -> bool:
        """Whether it still does something. What has to be begun again is."""

    def end(self, patience_s: float) -> bool:
        """Tell it to end, and make it after so long. Returns whether it has."""

    def outcome(self, seconds: float, *, was_stopped: bool) -> Outcome:
        """What it measured.

        Raises:
            OutputError: if it did not.
        """


def find_programs(names: set[str]) -> dict[str, str]:
    """Where the programs are.

    Raises:
        ProgramError: naming each that is not there, or is too old.
    """
    found = {name: shutil.which(name) for name in sorted(names)}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        msg = f"not installed: {', '.join(missing)} (Debian's packages are called so too)"
        raise ProgramError(msg)
    paths = {name: path for name, path in found.items() if path is not None}
    if "fio" in paths:
        try:
            said = subprocess.run(  # noqa: S603 - fio, by its path
                [paths["fio"], "--version"], capture_output=True, text=True, check=False, timeout=10
            )
            fio.check_version(said.stdout)
        except (OutputError, OSError, subprocess.TimeoutExpired) as error:
            msg = f"fio --version: {error}"
            raise ProgramError(msg) from error
    return paths


def run_step(
    step: Step,
    place: Place,
    watch: Watch,
    *,
    programs: dict[str, str],
    allowed: float,
    in_flight: float,
    patience_s: float,
    until: Callable[[Sequence[Served]], bool] = lambda _: False,
) -> Run:
    """Run it until its time is over, the volumes have spent ``allowed`` in all, or ``until`` is so.

    ``in_flight`` is what the operations cost that it has on the way at a time, ``patience_s`` how
    long an empty bucket takes to serve them: fio ends when all have come back.
    """
    watch.begin(step.name, in_flight=in_flight)
    stopped, is_enough = "", False
    with ExitStack() as stack:
        began = time.monotonic()
        program = _start(step, place, programs, stack)
        try:
            while program.is_running() and not stopped and not is_enough:
                watch.pause()
                stopped = watch.reason(allowed)
                is_enough = until(watch.samples)
                if not stopped and time.monotonic() - began > step.runtime_s + OVERTIME_S:
                    stopped = HUNG
        finally:
            has_ended = program.end(PATIENCE_S + patience_s)
        ran_s = time.monotonic() - began
        watch.look()
        was_stopped = bool(stopped)
        if stopped == BUDGET_SPENT and ran_s >= step.runtime_s:  # it was about to end
            stopped = ""
        iops, mib_s = watch.rates
        run = Run(
            ran_s=min(ran_s, watch.elapsed_s) or ran_s,
            spent=watch.spent,
            samples=list(watch.samples),
            device_iops=iops,
            device_mib_s=mib_s,
            stopped=stopped,
        )
        if not has_ended:
            return replace(run, stopped=HELD, failed=f"{step.tool} cannot be ended")
        try:
            outcome = program.outcome(ran_s, was_stopped=was_stopped or is_enough)
        except OutputError as error:
            return replace(run, failed=f"{error} (stopped: {stopped})" if stopped else str(error))
    return replace(run, outcome=outcome)


def _start(step: Step, place: Place, programs: dict[str, str], stack: ExitStack) -> _Program:
    path = programs[step.tool]
    if step.tool == "fio":
        return _Fio(path, step, place, stack)
    if step.tool == "dbench":
        return _Dbench(path, step, place, stack)
    return _Dd(path, step, place, stack)


@dataclass(kw_only=True)
class _Process:
    """One process and what it prints, in a session of its own, which dies with this one."""

    args: Sequence[str]
    printed: Path
    errors: Path
    fd: int | None = None
    process: subprocess.Popen[bytes] = field(init=False)

    def start(self, stack: ExitStack) -> None:
        """Begin it; what it prints is added to what was printed before."""
        with self.printed.open("ab") as out, self.errors.open("ab") as err:
            self.process = subprocess.Popen(  # noqa: S603 - fio, dbench or dd, by path, without a shell
                [sys.executable, "-I", "-S", "-c", LAUNCH, *self.args],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=self.printed.parent,
                env={"LC_ALL": "C", "PATH": os.environ.get("PATH", os.defpath)},
                pass_fds=() if self.fd is None else (self.fd,),
                start_new_session=True,
            )
        stack.callback(self.kill)  # if nobody has ended it in good order

    def tell(self, number: signal.Signals) -> None:
        """A signal to it and all that it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """End it at once, if it has not ended."""
        if self.process.poll() is None:
            self.tell(signal.SIGKILL)

    def end(self, first: signal.Signals, *, patience_s: float) -> bool:
        """Tell it and all that it has started to end, then kill them."""
        for number, waits_s in ((first, patience_s), (signal.SIGKILL, DEAD_S)):
            if self.process.poll() is None or number is signal.SIGKILL:
                self.tell(number)
            try:
                self.process.wait(timeout=waits_s)
            except subprocess.TimeoutExpired:
                continue
        return self.process.poll() is not None

    def said(self) -> str:
        """The end of what it complained about, on one line."""
        text = self.errors.read_text(encoding="utf-8", errors="replace")
        return " ".join(text.split())[-300:]

    def check(self, *, was_stopped: bool) -> None:
        """Refuse what was killed, or ended with an error that nobody here asked for."""
        code = self.process.returncode
        name = Path(self.args[0]).name
        if code < 0 and not was_stopped:
            msg = f"{name} was killed by signal {-code}"
            raise OutputError(msg)
        if code and not was_stopped:
            said = self.said()
            msg = f"{name} ended with exit status {code}{f': {said}' if said else ''}"
            raise OutputError(msg)

    def text(self) -> str:
        """All that it printed."""
        return self.printed.read_text(encoding="utf-8", errors="replace")


class _Fio:
    def __init__(self, path: str, step: Step, place: Place, stack: ExitStack) -> None:
        notes = place.notes / step.name
        notes.mkdir()
        self._log = notes / "log"
        job = notes / "job.fio"
        job.write_text(job_text(step, scratch=place.scratch, log=str(self._log)))
        self._output = notes / "result.json"
        self._process = _Process(
            args=[
                path,
                f"--output={self._output}",
                "--output-format=json",
                "--eta=never",
                str(job),
            ],
            printed=notes / "stdout",
            errors=notes / "stderr",
            fd=place.fd,
        )
        self._process.start(stack)

    def is_running(self) -> bool:
        return self._process.process.poll() is None

    def end(self, patience_s: float) -> bool:
        return self._process.end(signal.SIGINT, patience_s=patience_s)

    def outcome(self, seconds: float, *, was_stopped: bool) -> Outcome:  # noqa: ARG002 - fio has its own clock
        """Its exit status counts before its own word: some of its errors are only there."""
        self._process.check(was_stopped=was_stopped)
        if not self._output.exists():
            msg = f"fio printed no result{f': {said}' if (said := self._process.said()) else ''}"
            raise OutputError(msg)
        found = fio.parse_output(self._output.read_text(encoding="utf-8", errors="replace"))
        log = Path(f"{self._log}_lat.log")
        text = log.read_text(encoding="ascii", errors="replace") if log.exists() else ""
        return Outcome(
            version=found.version,
            read=found.read,
            write=found.write,
            latencies=fio.parse_latency_log(text),
            raw=found.raw,
        )


class _Dbench:
    def __init__(self, path: str, step: Step, place: Place, stack: ExitStack) -> None:
        notes = place.notes / step.name
        notes.mkdir()
        folder = stack.enter_context(scratch_folder(place.directory))
        self._process = _Process(
            args=[
                path,
                "-t",
                str(max(SHORTEST_DBENCH_S, round(step.runtime_s))),
                "-D",
                str(folder),
                str(step.jobs),
            ],
            printed=notes / "stdout",
            errors=notes / "stderr",
        )
        self._process.start(stack)

    def is_running(self) -> bool:
        return self._process.process.poll() is None

    def end(self, patience_s: float) -> bool:
        return self._process.end(signal.SIGTERM, patience_s=patience_s)

    def outcome(self, seconds: float, *, was_stopped: bool) -> Outcome:  # noqa: ARG002 - dbench has its own clock
        self._process.check(was_stopped=was_stopped)
        return dbench.parse_output(self._process.text())


class _Dd:
    """So many copies of dd, each over its own part of the file, begun again when it is through."""

    def __init__(self, path: str, step: Step, place: Place, stack: ExitStack) -> None:
        notes = place.notes / step.name
        notes.mkdir()
        self._block = round(step.block_kib * KIB)
        count = max(1, round(step.size_mib * KIB * KIB) // step.jobs // self._block)
        self._until, self._stack = time.monotonic() + step.runtime_s, stack
        self._copies = [
            _Process(
                args=[
                    path, "if=/dev/zero", f"of={place.scratch}", f"bs={self._block}",
                    f"count={count}", f"seek={count * i}", "oflag=direct", "conv=notrunc,nocreat",
                ],
                printed=notes / f"{i}.stdout",
                errors=notes / f"{i}.stderr",
                fd=place.fd,
            )
            for i in range(step.jobs)
        ]  # fmt: skip
        for copy in self._copies:
            copy.start(stack)

    def is_running(self) -> bool:
        if time.monotonic() >= self._until:
            return False
        for copy in self._copies:
            code = copy.process.poll()
            if code:
                return False
            if code == 0:
                copy.start(self._stack)
        return True

    def end(self, patience_s: float) -> bool:
        self._failed = [copy for copy in self._copies if copy.process.poll()]
        for copy in self._copies:  # all at once, or the last would go on meanwhile
            copy.tell(signal.SIGINT)
        ended = [copy.end(signal.SIGINT, patience_s=patience_s) for copy in self._copies]
        return all(ended)

    def outcome(self, seconds: float, *, was_stopped: bool) -> Outcome:
        for copy in self._failed:
            copy.check(was_stopped=was_stopped)
        text = "\n".join(
            copy.errors.read_text(encoding="utf-8", errors="replace") for copy in self._copies
        )
        return dd.parse_output(text, block_bytes=self._block, seconds=seconds)
