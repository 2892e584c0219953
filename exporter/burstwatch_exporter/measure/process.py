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
#: A process that becomes a program, and is killed if this one dies first. Not setpriv: it sets
#: capabilities too, which a service with a filter of system calls may not.
LAUNCH = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored where a shell began us in its background
try:
    import ctypes
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
except Exception:
    pass  # without it the program ends by itself when its time is over
os.execv(sys.argv[1], sys.argv[1:])
"""


@dataclass(kw_only=True)
class Process:
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

    def end(
        self, first: signal.Signals, *, patience_s: float, may_write: Callable[[], bool]
    ) -> bool:
        """Tell it and all that it has started to end, then kill them.

        A disk may be slow to take the result: it is not killed while it ``may_write``.
        """
        if self.process.poll() is None:
            self.tell(first)
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
