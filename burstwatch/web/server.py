"""Tornado's server on a loop of its own: deadlines, a cap on connections, TLS that follows its files."""

import asyncio
import contextlib
import logging
import resource
import signal
import socket
import ssl
from collections import Counter
from functools import partial
from threading import Event, Thread
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream

from burstwatch.files import Stamp, stamp_of
from burstwatch.web.address import Address
from burstwatch.web.app import App, network_of
from burstwatch.web.config import Tls
from burstwatch.web.refusals import Reason

LOG = logging.getLogger("burstwatch")
#: A handshake and the headers of a request together take no longer than this.
REQUEST_S = 5.0
#: A connection ends this long after it was opened, however slowly its client reads.
CONNECTION_S = 30.0
#: Connections at a time. One more closes the oldest idle one of the network that has the most.
CONNECTIONS = 512
#: Files that a process opens for all else: what it reads, what it writes, and its libraries.
OTHER_FILES = 32
#: How long requests may still take when the server stops.
GRACE_S = 5.0
#: How often to check whether they are done.
TICK_S = 0.02


def stop_on_signals(stop: Event, hang_up: Event | None = None) -> None:
    """Set ``stop`` when this process is told to end, and ``hang_up`` at SIGHUP; without it that ends the process too.

    A thread sets it: the handler may interrupt ``stop.wait`` while that holds the event's own lock.
    """
    events = {signal.SIGTERM: stop, signal.SIGINT: stop, signal.SIGHUP: hang_up or stop}
    for number, event in events.items():
        signal.signal(number, partial(_set_in_a_thread, event))


def _set_in_a_thread(event: Event, *_: object) -> None:
    Thread(target=event.set).start()


def open_server(app: App, address: Address, tls: Tls | None, *, setting: str) -> "Server":
    """Serve an application from now on.

    Raises:
        OSError: if the address cannot be bound, naming the ``setting`` that has it.
    """
    try:
        server = Server(app, host=address.host, port=address.port, tls=tls)
    except OSError as error:
        msg = f"{setting} {address.host}:{address.port}: {error}"
        raise OSError(msg) from error
    server.start()
    LOG.info("serving on %s:%d", address.host or "every address", server.port)
    return server


class Server:
    """Serves an application in a thread, until ``stop``. The socket is bound when this is made."""

    def __init__(self, app: App, *, host: str, port: int, tls: Tls | None) -> None:
        """Bind the address; nothing is served before ``start``.

        An empty ``host`` means every address, ``port`` 0 any free port.

        Raises:
            OSError: if the address cannot be bound.
        """
        self._socket = _listen(host, port)
        self._loop, self._stopping = asyncio.new_event_loop(), asyncio.Event()
        self._http = _Http(app, _CurrentTls(tls) if tls is not None else None, self._loop)
        self._thread = Thread(target=self._run, name="web", daemon=True)

    @property
    def port(self) -> int:
        """The port that it really has."""
        return int(self._socket.getsockname()[1])

    @property
    def problem(self) -> str:
        """Why a new certificate is not served; empty where it is, or there is none."""
        return self._http.problem

    @property
    def requests(self) -> int:
        """How many are being answered."""
        return len(self._http.busy)

    @property
    def is_stopping(self) -> bool:
        """True from the call of ``stop`` on."""
        return self._stopping.is_set()

    def start(self) -> None:
        """Take connections."""
        self._thread.start()

    def stop(self) -> None:
        """Take no more connections, let the requests that are there end, and wait for that."""
        with contextlib.suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def _run(self) -> None:
        logging.getLogger("tornado").setLevel(logging.ERROR)  # it logs every bad client
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._http.add_socket(self._socket)
        await self._stopping.wait()
        self._http.stop()
        until = self._loop.time() + GRACE_S
        while self._http.busy and self._loop.time() < until:  # noqa: ASYNC110 - until none is left
            await asyncio.sleep(TICK_S)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._http.close_all_connections(), 1)


def _listen(host: str, port: int) -> socket.socket:
    """Open the listening socket, on every address of both families where no host is named, or ``::``."""
    if host in {"", "::"} and socket.has_dualstack_ipv6():
        listener = socket.create_server(
            ("", port), family=socket.AF_INET6, backlog=CONNECTIONS, dualstack_ipv6=True
        )
    else:
        (family, _, _, _, address), *_ = socket.getaddrinfo(
            host or "0.0.0.0",  # noqa: S104 - every address, as asked for
            port,
            type=socket.SOCK_STREAM,
            flags=socket.AI_PASSIVE,
        )
        listener = socket.create_server(address, family=family, backlog=CONNECTIONS)
    listener.setblocking(False)  # noqa: FBT003 - the socket's own signature
    return listener


class _Http(HTTPServer):
    """Tornado's server with a cap on connections."""

    def initialize(  # type: ignore[override]
        self, app: App, tls: "_CurrentTls | None", loop: asyncio.AbstractEventLoop
    ) -> None:
        self._app, self._tls, self._loop = app, tls, loop
        #: Each open connection, the oldest first, with its end and its network.
        self._open: dict[IOStream, tuple[asyncio.TimerHandle, str]] = {}
        #: Connections with a whole request.
        self.busy: set[IOStream] = set()
        super().initialize(
            self._answer,
            no_keep_alive=True,
            idle_connection_timeout=REQUEST_S,
            body_timeout=REQUEST_S,
            max_header_size=16_384,
            max_body_size=1_024,
        )

    @property
    def problem(self) -> str:
        """Why a new certificate is not taken."""
        if self._tls is None:
            return ""
        self._tls.context()
        return self._tls.problem

    @property
    def ssl_options(self) -> ssl.SSLContext | None:
        """The TLS context of the next connection."""
        return None if self._tls is None else self._tls.context()

    @ssl_options.setter
    def ssl_options(self, _: object) -> None:
        """Tornado sets what it was given, which is nothing."""

    def _handle_connection(self, connection: socket.socket, address: Any) -> None:  # noqa: ANN401 - a socket's address
        """Count a connection reset before its handshake, which Tornado would log as an error of the loop."""
        try:
            super()._handle_connection(connection, address)
        except OSError:
            connection.close()
            self._app.refusals.note("incomplete")

    def handle_stream(self, stream: IOStream, address: Any) -> None:  # noqa: ANN401 - a socket's address
        """Take a connection, in place of another where there are too many."""
        if len(self._open) >= most_connections():
            ((most, _),) = Counter(host for _, host in self._open.values()).most_common(1)
            theirs = [stream for stream, (_, host) in self._open.items() if host == most]
            idle = (stream for stream in theirs if stream not in self.busy)
            self._drop(next(idle, theirs[0]), "crowded")
        end = self._loop.call_later(CONNECTION_S, self._expire, stream)
        self._open[stream] = end, network_of(address[0])
        super().handle_stream(stream, address)

    def on_close(self, server_conn: Any) -> None:  # noqa: ANN401 - Tornado does not export it
        """Note that a connection has ended."""
        super().on_close(server_conn)
        stream = server_conn.stream
        if stream in self._open:
            end = self._open.pop(stream)[0]
            end.cancel()
            lasted_s = self._loop.time() - (end.when() - CONNECTION_S)
            if stream not in self.busy and not _is_probe(stream, lasted_s):
                self._app.refusals.note("incomplete")
        self.busy.discard(stream)

    def _answer(self, request: Any) -> None:  # noqa: ANN401 - as Tornado types its callback
        self.busy.add(request.connection.stream)
        self._app(request)

    def _expire(self, stream: IOStream) -> None:
        self._drop(stream, "slow" if stream in self.busy else "incomplete")

    def _drop(self, stream: IOStream, reason: Reason) -> None:
        self._open.pop(stream)[0].cancel()
        self._app.refusals.note(reason)
        stream.close()


def most_connections() -> int:
    """How many connections leave this process the files that it needs beside them, in a shell or a container with few."""
    most_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most_files == resource.RLIM_INFINITY:
        return CONNECTIONS
    return max(1, min(CONNECTIONS, most_files - OTHER_FILES))


def _is_probe(stream: IOStream, lasted_s: float) -> bool:
    """True if a client came and went without a word, as a probe of the port does."""
    # Tornado has no public name for the bytes that have come and are not read.
    return lasted_s < REQUEST_S / 2 and not getattr(stream, "_read_buffer_size", 1)


class _CurrentTls:
    """A TLS context that is made anew when its files change. A broken one is logged, and not taken."""

    def __init__(self, tls: Tls) -> None:
        self._tls = tls
        self._stamps = self._look()
        self._context = tls.context()
        self.problem = ""

    def context(self) -> ssl.SSLContext:
        """The newest certificate's context; one that cannot be read leaves the old one."""
        stamps = self._look()
        if stamps != self._stamps:
            self._stamps = stamps
            try:
                self._context = self._tls.context()
                self.problem = ""
            except (OSError, ssl.SSLError) as error:
                self.problem = f"new certificate not taken, the old one stays: {error}"
                LOG.warning("%s", self.problem)
        return self._context

    def _look(self) -> tuple[Stamp | None, ...]:
        return tuple(map(stamp_of, self._tls.files))
