"""One process under way: in a session of its own, told to end in good order, and never outliving this one."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from burstwatch_exporter.measure.outputs import OutputError

#: One that was killed is gone by then, unless the kernel holds it.
DEAD_S = 5.0
#: How often one that may still write is looked at.
TICK_S = 0.05
#: Starts a program, and kills it with all that it has started when our end of the pipe is closed:
#: the kernel does that however this process ends, and at whatever instant. It ends as the program does.
KEEPER = """
import os, select, signal, sys
pipe = int(sys.argv[1])
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
    os.execv(sys.argv[2], sys.argv[2:])
ended = 0
while not ended:
    if any(fd == pipe for fd, _ in poll.poll()):
        os.killpg(0, signal.SIGKILL)
    os.read(wakes, 1)
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
    """One process and what it prints, in a session of its own, which dies with this one."""

    args: Sequence[str]
    printed: Path
    errors: Path
    fd: int | None = None
    process: subprocess.Popen[bytes] = field(init=False)
    _ours: int | None = field(init=False, default=None)

    def start(self, stack: ExitStack) -> None:
        """Begin it; what it prints is added to what was printed before."""
        self._let_go()
        theirs, self._ours = os.pipe()
        stack.callback(self._let_go)
        with (
            open(theirs, "rb"),  # noqa: PTH123 - to close it
            self.printed.open("ab") as out,
            self.errors.open("ab") as err,
        ):
            self.process = subprocess.Popen(  # noqa: S603 - fio, dbench or dd, by path, without a shell
                [sys.executable, "-I", "-S", "-c", KEEPER, str(theirs), *self.args],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=self.printed.parent,
                env={"LC_ALL": "C", "PATH": os.environ.get("PATH", os.defpath)},
                pass_fds=(theirs,) if self.fd is None else (theirs, self.fd),
                start_new_session=True,
            )
        stack.callback(self.kill)  # if nobody has ended it in good order

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

    def end(
        self, begin_with: signal.Signals, *, patience_s: float, may_write: Callable[[], bool]
    ) -> bool:
        """Tell it and all that it has started to end, then kill them.

        A disk may be slow to take the result: it is not killed while it ``may_write``.
        """
        if self.process.poll() is None:
            self.tell(begin_with)
            self._wait(patience_s)
        while self.process.poll() is None and may_write():
            self._wait(TICK_S)
        self.tell(signal.SIGKILL)
        self._wait(DEAD_S)
        return self.process.poll() is not None

    def _wait(self, seconds: float) -> None:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=seconds)

    def complaint(self) -> str:
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
            complaint = self.complaint()
            msg = f"{name} ended with exit status {code}{f': {complaint}' if complaint else ''}"
            raise OutputError(msg)

    def text(self) -> str:
        """All that it printed."""
        return self.printed.read_text(encoding="utf-8", errors="replace")
