"""The programs that measure: how each is started, ended and understood."""

import math
import shutil
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from burstwatch_exporter.measure import fio
from burstwatch_exporter.measure.jobs import KIB, Step, job_text
from burstwatch_exporter.measure.outputs import Outcome, OutputError, parse_dbench, parse_dd
from burstwatch_exporter.measure.process import Process, end_all
from burstwatch_exporter.measure.scratch import scratch_folder

#: In its first second dbench only warms up.
SHORTEST_DBENCH_S = 2


@dataclass(frozen=True, kw_only=True)
class Place:
    """The place of a step: the file without a name, the directory it is in, and room for notes elsewhere."""

    fd: int
    directory: Path
    folder: Path

    @property
    def scratch(self) -> str:
        """The path by which a program finds the file."""
        return f"/proc/self/fd/{self.fd}"


class Program(ABC):
    """A program under way: one process, unless it says otherwise."""

    ends_with = signal.SIGTERM
    _process: Process

    def is_running(self) -> bool:
        """True if it still does something; a part that has to run again is started again."""
        return self._process.is_running()

    def end(self, patience_s: float, *, may_write: Callable[[], bool]) -> bool:
        """Tell it to end, and make it after so long, later while it ``may_write`` its result.

        Returns whether it has ended.
        """
        return end_all([self._process], self.ends_with, patience_s=patience_s, may_write=may_write)

    @abstractmethod
    def outcome(self, ran_s: float, *, was_stopped: bool) -> Outcome:
        """Return what it measured in the ``ran_s`` seconds that it ran, from the files that it wrote.

        Raises:
            OutputError: if it did not.
        """


def find_programs(names: set[str]) -> dict[str, str]:
    """Find the programs.

    Raises:
        ValueError: naming each that is not there, or is too old.
    """
    path_by_name = {name: shutil.which(name) for name in sorted(names)}
    missing = [name for name, path in path_by_name.items() if path is None]
    if missing:
        msg = f"not installed: {', '.join(missing)} (Debian has packages of these names)"
        raise ValueError(msg)
    paths = {name: path for name, path in path_by_name.items() if path is not None}
    if "fio" in paths:
        try:
            printed = subprocess.run(  # noqa: S603 - fio, by its path
                [paths["fio"], "--version"], capture_output=True, text=True, check=False, timeout=10
            )
            fio.check_version(printed.stdout)
        except (OutputError, OSError, subprocess.TimeoutExpired) as error:
            msg = f"fio --version: {error}"
            raise ValueError(msg) from error
    return paths


def start(step: Step, place: Place, programs: dict[str, str], stack: ExitStack) -> Program:
    """The step's program, begun; when the stack ends nothing of it runs any more."""
    path = programs[step.tool]
    if step.tool == "fio":
        return _Fio(path, step, place, stack)
    if step.tool == "dbench":
        return _Dbench(path, step, place, stack)
    return _Dd(path, step, place, stack)


class _Fio(Program):
    ends_with = signal.SIGINT

    def __init__(self, path: str, step: Step, place: Place, stack: ExitStack) -> None:
        """Start fio with a job file of its own; ``stack`` ends it if all else fails."""
        folder = place.folder / step.name
        folder.mkdir()
        self._log = folder / "log"
        job = folder / "job.fio"
        job.write_text(job_text(step, scratch=place.scratch, log=str(self._log)))
        self._output = folder / "result.json"
        self._process = Process(
            args=[
                path,
                f"--output={self._output}",
                "--output-format=json",
                "--eta=never",
                str(job),
            ],
            printed=folder / "stdout",
            errors=folder / "stderr",
            fd=place.fd,
        )
        self._process.start(stack)

    def outcome(self, ran_s: float, *, was_stopped: bool) -> Outcome:  # noqa: ARG002 - fio has its own clock
        """Its exit status counts before its own word: some of its errors are only there."""
        self._process.check(was_stopped=was_stopped)
        if not self._output.exists():
            msg = f"fio printed no result{f': {complaint}' if (complaint := self._process.complaint()) else ''}"
            raise OutputError(msg)
        outcome = fio.parse_output(self._output.read_text(encoding="utf-8", errors="replace"))
        log = Path(f"{self._log}_lat.log")
        text = log.read_text(encoding="ascii", errors="replace") if log.exists() else ""
        return replace(outcome, latencies=fio.parse_latency_log(text))


class _Dbench(Program):
    def __init__(self, path: str, step: Step, place: Place, stack: ExitStack) -> None:
        """Start dbench; ``stack`` ends it if all else fails."""
        folder = place.folder / step.name
        folder.mkdir()
        scratch = stack.enter_context(scratch_folder(place.directory))
        self._process = Process(
            args=[
                path,
                "-t",
                str(max(SHORTEST_DBENCH_S, round(step.runtime_s))),
                "-D",
                str(scratch),
                str(step.jobs),
            ],
            printed=folder / "stdout",
            errors=folder / "stderr",
        )
        self._process.start(stack)

    def outcome(self, ran_s: float, *, was_stopped: bool) -> Outcome:  # noqa: ARG002 - dbench has its own clock
        self._process.check(was_stopped=was_stopped)
        return parse_dbench(self._process.text())


class _Dd(Program):
    """Several copies of dd, each over its own part of the file, started again when it is through."""

    def __init__(self, path: str, step: Step, place: Place, stack: ExitStack) -> None:
        """Start a dd for each job, on its own part of the scratch file; ``stack`` ends them if all else fails."""
        folder = place.folder / step.name
        folder.mkdir()
        self._block = round(step.block_kib * KIB)
        part = max(1, round(step.size_mib * KIB * KIB) // step.jobs // self._block)
        most = step.most_ios_per_job
        self._largest = part if most is None else min(part, most)
        self._ios_left = math.inf if most is None else most * step.jobs
        self._until, self._stack = time.monotonic() + step.runtime_s, stack
        self._copies = [
            Process(
                args=[
                    path, "if=/dev/zero", f"of={place.scratch}", f"bs={self._block}",
                    f"seek={part * i}", "oflag=direct", "conv=notrunc,nocreat",
                ],
                printed=folder / f"{i}.stdout",
                errors=folder / f"{i}.stderr",
                fd=place.fd,
            )
            for i in range(step.jobs)
        ]  # fmt: skip
        for copy in self._copies:
            self._start(copy)

    def _start(self, copy: Process) -> None:
        """Let it write its part, or what the bound leaves of it."""
        count = int(min(self._largest, self._ios_left))
        self._ios_left -= count
        copy.start(self._stack, f"count={count}")

    def is_running(self) -> bool:
        ended = [copy for copy in self._copies if not copy.is_running()]
        if time.monotonic() >= self._until or any(copy.process.returncode for copy in ended):
            return False
        resting = 0
        for copy in ended:
            if self._ios_left > 0:
                self._start(copy)
            else:
                resting += 1
        return resting < len(self._copies)

    def end(self, patience_s: float, *, may_write: Callable[[], bool]) -> bool:
        """Stop all copies of dd at once, and kill those that go on. Returns whether all have ended."""
        self._failed = [copy for copy in self._copies if copy.process.poll()]
        return end_all(self._copies, signal.SIGINT, patience_s=patience_s, may_write=may_write)

    def outcome(self, ran_s: float, *, was_stopped: bool) -> Outcome:
        for copy in self._failed:
            copy.check(was_stopped=was_stopped)
        text = "\n".join(
            copy.errors.read_text(encoding="utf-8", errors="replace") for copy in self._copies
        )
        return parse_dd(text, block_bytes=self._block, seconds=ran_s)
