"""The server: a thread for each connection, TLS that follows its files, an end without haste."""

from __future__ import annotations

import contextlib
import logging
import socket
import ssl
import sys
import threading
from socketserver import TCPServer, ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from burstwatch_exporter.web.app import App
    from burstwatch_exporter.web.config import Tls

LOG = logging.getLogger("burstwatch_exporter")
#: A client that is silent for so long is let go.
PATIENCE_S = 15.0
#: And a whole request with its answer takes no longer than this.
ALL_S = 60.0
#: Connections at a time; one more is closed at once.
CONNECTIONS = 64
#: How often it looks whether it is to stop.
LOOK_UP_S = 0.1
#: So long what has begun may take when the server stops.
GRACE_S = 5.0


class Server(ThreadingMixIn, WSGIServer):
    """Serves an application until ``stop``. The socket is bound when this is made."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, app: App, *, host: str, port: int, tls: Tls | None) -> None:
        """An empty ``host`` is every address; ``port`` 0 is any that is free.

        Raises:
            OSError: if it cannot be bound.
        """
        family, address = _address(host, port)
        self.address_family = family
        self._tls = _Follower(tls) if tls is not None else None
        self._places = threading.BoundedSemaphore(CONNECTIONS)
        super().__init__(address, _Handler)
        self.set_app(app)

    @property
    def port(self) -> int:
        """The port that it really has."""
        return int(self.server_address[1])

    def stop(self) -> None:
        """Take no more connections, and let those that are there end."""
        self.shutdown()
        self.server_close()
        for _ in range(CONNECTIONS):
            if not self._places.acquire(timeout=GRACE_S):
                break

    def server_bind(self) -> None:
        """Without WSGIServer's look-up of the host's own name, which may take long."""
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", int(self.server_address[1])
        self.setup_environ()

    def get_request(self) -> tuple[Any, Any]:
        """A connection; its handshake waits for the thread that will serve it."""
        connection, client = super().get_request()
        connection.settimeout(PATIENCE_S)
        if self._tls is not None:
            connection = self._tls.context().wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False
            )
        return connection, client

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - socketserver's
        """Serve it in a thread of its own, if there is a place for one more."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - socketserver's
        """What the thread does. Who trickles a request, or an answer's taking, is cut off."""
        end = threading.Timer(ALL_S, _cut_off, args=(request,))
        end.daemon = True
        end.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            end.cancel()
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - socketserver's
        """A client that went away or speaks no TLS is its own affair."""
        del request
        LOG.debug("connection from %s failed", client_address, exc_info=sys.exception())


def _cut_off(request: socket.socket) -> None:
    with contextlib.suppress(OSError):
        request.shutdown(socket.SHUT_RDWR)


class _Handler(WSGIRequestHandler):
    server_version = "burstwatch-exporter"
    sys_version = ""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 - http.server's
        """One line for each scrape helps nobody."""


class _Follower:
    """A TLS context that is made anew when its files change; a bad one is told, and not taken."""

    def __init__(self, tls: Tls) -> None:
        self._tls = tls
        self._stamps = self._look()
        self._context = tls.context()

    def context(self) -> ssl.SSLContext:
        stamps = self._look()
        if stamps != self._stamps:
            self._stamps = stamps
            try:
                self._context = self._tls.context()
            except (OSError, ssl.SSLError) as error:
                LOG.warning("new certificate not taken, the old one stays: %s", error)
        return self._context

    def _look(self) -> tuple[object, ...]:
        stamps: list[object] = []
        for path in self._tls.files:
            try:
                found = path.stat()
                stamps.append((found.st_mtime_ns, found.st_ino, found.st_size))
            except OSError:
                stamps.append(None)
        return tuple(stamps)


def _address(host: str, port: int) -> tuple[socket.AddressFamily, tuple[Any, ...]]:
    if not host:
        every = ("::", port) if socket.has_dualstack_ipv6() else ("0.0.0.0", port)  # noqa: S104 - asked for
        return (socket.AF_INET6 if every[0] == "::" else socket.AF_INET), every
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = found[0]
    return family, address


def serving(server: Server) -> Callable[[], None]:
    """Begin to serve in a thread; what is returned waits for its end."""
    thread = threading.Thread(
        target=server.serve_forever, args=(LOOK_UP_S,), name="web", daemon=True
    )
    thread.start()
    return thread.join
