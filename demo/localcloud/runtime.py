"""The side of Lambda that a function's process sees: the Runtime API, and the pipe that it prints to."""

import queue
import selectors
import subprocess
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import IO

API = "/2018-06-01/runtime"


@dataclass
class Turn:
    """One invocation on its way through the runtime."""

    request_id: str
    arn: str
    payload: bytes
    trace_id: str
    deadline_ms: int
    done: threading.Event = field(default_factory=threading.Event)
    result: bytes = b""
    is_error: bool = False

    def finish(self, result: bytes, *, is_error: bool) -> None:
        """Hand the result over."""
        self.result, self.is_error = result, is_error
        self.done.set()


class RuntimeApi(ThreadingHTTPServer):
    """The side of the Runtime API that AWS has."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.turns: queue.Queue[Turn | None] = queue.Queue()
        self.current: Turn | None = None
        self.ready = threading.Event()
        self.init_error = b""

    def hang_up(self) -> None:
        """Let go of a process that has ended and still waits for an event."""
        waiting, self.turns = self.turns, queue.Queue()
        waiting.put(None)

    @property
    def address(self) -> str:
        """Host and port, as AWS_LAMBDA_RUNTIME_API wants them."""
        return f"127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    """next, response, error and init error."""

    server: RuntimeApi
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each warm call costs 45 ms more

    def do_GET(self) -> None:
        turns = self.server.turns
        self.server.ready.set()
        turn = turns.get()
        if turn is None:
            self.close_connection = True
            return
        self.server.current = turn
        self.send_response(200)
        self.send_header("Lambda-Runtime-Aws-Request-Id", turn.request_id)
        self.send_header("Lambda-Runtime-Invoked-Function-Arn", turn.arn)
        self.send_header("Lambda-Runtime-Deadline-Ms", str(turn.deadline_ms))
        self.send_header("Lambda-Runtime-Trace-Id", turn.trace_id)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(turn.payload)))
        self.end_headers()
        self.wfile.write(turn.payload)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == f"{API}/init/error":
            self.server.init_error = body
            self.server.ready.set()
        elif self.server.current is not None:
            self.server.current.finish(body, is_error=self.path.endswith("/error"))
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing: LocalStack's log is for LocalStack."""


class Output:
    """The lines that a process prints, taken from its pipe as they come."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._begun = b""
        self._lock = threading.Lock()

    def follow(self, process: subprocess.Popen[bytes]) -> None:
        """Take what comes until the process has ended."""
        is_open = True
        while is_open:
            _is_readable(process, timeout_s=None)
            with self._lock:
                is_open = self._take(process)

    def take_all(self, process: subprocess.Popen[bytes] | None) -> None:
        """Take what is in the pipe now."""
        with self._lock:
            while process is not None and _is_readable(process, timeout_s=0):
                if not self._take(process):
                    return

    def _take(self, process: subprocess.Popen[bytes]) -> bool:
        """Take one piece, if there is one. Returns False at the end of all output."""
        if not _is_readable(process, timeout_s=0):
            return True
        piece = _pipe(process).read(65_536)
        *whole, self._begun = (self._begun + (piece or b"")).split(b"\n")
        self.lines += [line.decode(errors="replace") for line in whole]
        return bool(piece)


def _pipe(process: subprocess.Popen[bytes]) -> IO[bytes]:
    if process.stdout is None:
        raise TypeError(process)
    return process.stdout


def _is_readable(process: subprocess.Popen[bytes], *, timeout_s: float | None) -> bool:
    """Whether the process has printed something or has ended, waiting at most so long; for ever with None."""
    with selectors.DefaultSelector() as selector:
        selector.register(_pipe(process), selectors.EVENT_READ)
        return bool(selector.select(timeout_s))
