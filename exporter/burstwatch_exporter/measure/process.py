"""One process under way: in a session of its own, told to end in good order, and never outliving this one."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from burstwatch_exporter.measure.outputs import OutputError

#: One that was killed is gone by then, unless the kernel holds it.
DEAD_S = 5.0
#: How often one that ends is looked at.
TICK_S = 0.05
#: A program that nobody has looked at for so long is killed: whoever should keep its budget is stopped.
UNWATCHED_S = 1.0
#: Starts a program, and kills it with all that it has started when our end of the pipe is closed, or when
#: nothing has come through it for so long. The kernel closes it however this process ends, and at whatever
#: instant. It ends as the program does.
KEEPER = """
import os, select, signal, sys, time
pipe, unwatched_s = int(sys.argv[1]), float(sys.argv[2])
os.set_blocking(pipe, False)
os.set_inheritable(pipe, False)
told = (signal.SIGINT, signal.SIGTERM)  # for the program, which is in the same group
for number in told:
    signal.signal(number, signal.SIG_IGN)
wakes, woken = os.pipe()
os.set_blocking(woken, False)
signal.set_wakeup_fd(woken)
signal.signal(signal.SIGCHLD, lambda *_: None)
poll = select.poll()
poll.register(pipe, select.POLLIN)
poll.register(wakes, select.POLLIN)
child = os.fork()
if not child:
    for number in told:
        signal.signal(number, signal.SIG_DFL)
    os.execv(sys.argv[3], sys.argv[3:])
ended, until = 0, time.monotonic() + unwatched_s
while not ended:
    ready = [fd for fd, _ in poll.poll(1000 * max(0.0, until - time.monotonic()))]
    if pipe in ready:
        if not os.read(pipe, 4096):
            os.killpg(0, signal.SIGKILL)
        until = time.monotonic() + unwatched_s
    elif not ready:
        os.killpg(0, signal.SIGKILL)
    if wakes in ready:
        os.read(wakes, 4096)
    ended, status = os.waitpid(child, os.WNOHANG)
code = os.waitstatus_to_exitcode(status)
if code < 0:
    if -code in told:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


@dataclass(kw_only=True)
class Process:
    """One process and what it prints, in a session of its own, which dies with this one, and when this one is stopped."""

    args: Sequence[str]
    printed: Path
    errors: Path
    fd: int | None = None
    process: subprocess.Popen[bytes] = field(init=False)
    _ours: int | None = field(init=False, default=None)
    _looked_at: float = field(init=False, default=0.0)
    _was_unwatched: bool = field(init=False, default=False)

    def start(self, stack: ExitStack, *more_args: str) -> None:
        """Begin it; what it prints is added to what was printed before."""
        self._let_go()
        theirs, self._ours = os.pipe()
        os.set_blocking(self._ours, False)
        stack.callback(self._let_go)
        with (
            open(theirs, "rb"),  # noqa: PTH123 - to close it
            self.printed.open("ab") as out,
            self.errors.open("ab") as err,
        ):
            self.process = subprocess.Popen(  # noqa: S603 - fio, dbench or dd, by path, without a shell
                [
                    sys.executable,
                    "-I",
                    "-S",
                    "-c",
                    KEEPER,
                    str(theirs),
                    str(UNWATCHED_S),
                    *self.args,
                    *more_args,
                ],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=self.printed.parent,
                env={"LC_ALL": "C", "PATH": os.environ.get("PATH", os.defpath)},
                pass_fds=(theirs,) if self.fd is None else (theirs, self.fd),
                start_new_session=True,
            )
        self._looked_at = time.monotonic()
        stack.callback(self.kill)  # if nobody has ended it in good order

    def is_running(self) -> bool:
        """True while it runs. Whoever asks watches it: without that it is killed after ``UNWATCHED_S``."""
        now, is_running = time.monotonic(), self.process.poll() is None
        # What still runs was not killed for that.
        self._was_unwatched = not is_running and (
            self._was_unwatched or now - self._looked_at > UNWATCHED_S
        )
        self._looked_at = now
        if self._ours is not None:
            with suppress(BlockingIOError, BrokenPipeError):
                os.write(self._ours, b".")
        return is_running

    def tell(self, number: signal.Signals) -> None:
        """Send a signal to it and all that it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """End at once what has not ended."""
        self.tell(signal.SIGKILL)

    def _let_go(self) -> None:
        """Close our end of the pipe: whatever is still there of the group is killed."""
        if self._ours is not None:
            os.close(self._ours)
            self._ours = None

    def complaint(self) -> str:
        """The end of what it complained about, on one line."""
        text = self.errors.read_text(encoding="utf-8", errors="replace")
        return " ".join(text.split())[-300:]

    def check(self, *, was_stopped: bool) -> None:
        """Refuse what was killed, or ended with an error that nobody here asked for."""
        code = self.process.returncode
        name = Path(self.args[0]).name
        if code == -signal.SIGKILL and self._was_unwatched:
            msg = f"nobody watched {name} for {UNWATCHED_S:g} s, because this process was stopped; it was killed to keep the budget"
            raise OutputError(msg)
        if code < 0 and not was_stopped:
            msg = f"{name} was killed by signal {-code}"
            raise OutputError(msg)
        if code and not was_stopped:
            complaint = self.complaint()
            msg = f"{name} ended with exit status {code}{f': {complaint}' if complaint else ''}"
            raise OutputError(msg)

    def text(self) -> str:
        """All that it printed."""
        return self.printed.read_text(encoding="utf-8", errors="replace")


def end_all(
    processes: Sequence[Process],
    begin_with: signal.Signals,
    *,
    patience_s: float,
    may_write: Callable[[], bool],
) -> bool:
    """Tell them and all that they have started to end, all at once, then kill them. Returns whether all have ended.

    A disk may be slow to take a result: none is killed while it ``may_write``.
    """
    for process in processes:
        if process.is_running():
            process.tell(begin_with)
    patient_until = time.monotonic() + patience_s
    while _any_runs(processes) and (time.monotonic() < patient_until or may_write()):
        time.sleep(TICK_S)
    for process in processes:
        process.kill()
    dead_until = time.monotonic() + DEAD_S
    while _any_runs(processes) and time.monotonic() < dead_until:
        time.sleep(TICK_S)
    return not _any_runs(processes)


def _any_runs(processes: Sequence[Process]) -> bool:
    """Look at each of them, even if the first one still runs."""
    running = [process for process in processes if process.is_running()]
    return bool(running)
