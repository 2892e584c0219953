"""The demo's pages, served live while it is kept running."""

import contextlib
import mimetypes
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from demo.boards import BUNDLE, BUNDLED, NAMES, Boards
from demo.page import report

#: How often a page loads itself anew.
REFRESH_S = 15


@dataclass(frozen=True, kw_only=True)
class Live:
    """The report at ``/`` and the dashboards where their links lead. ``address`` is a file for the address."""

    boards: Boards
    result: Callable[[], Mapping[str, Any]]
    address: Path

    @contextlib.contextmanager
    def serving(self) -> Iterator[str]:
        """Everything served, each page drawn anew whenever it is asked for."""
        pages = {f"/d/burstwatch-{name}": partial(self._board, name) for name in NAMES}
        files = {f"/d/{name}": partial(_bundled, name) for name in BUNDLED}
        with serving({"/": self._report, **pages, **files}) as address:
            self.address.write_text(address, encoding="utf-8")
            yield address

    def _report(self, _: Mapping[str, str]) -> str:
        links = [(f"dashboard {name}", f"/d/burstwatch-{name}") for name in NAMES]
        now_s = time.time()
        return report(
            self.boards.volumes, self.result(), now_s=now_s, links=links, refresh_s=REFRESH_S
        )

    def _board(self, name: str, asked: Mapping[str, str]) -> str:
        chosen = {key: value for key, value in asked.items() if key in {"volume", "resource"}}
        return self.boards.draw(name, now_s=time.time(), chosen=chosen, refresh_s=REFRESH_S)[0]


def _bundled(name: str, _: Mapping[str, str]) -> str:
    return (BUNDLE / name).read_text(encoding="utf-8")


@contextlib.contextmanager
def serving(pages: Mapping[str, Callable[[Mapping[str, str]], str]]) -> Iterator[str]:
    """Each page drawn anew from what its address asks for, whenever it is asked for. Yields the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            draw = pages.get(address.path)
            # A link to a dashboard is Grafana's, and its variables begin with var-.
            asked = {name.removeprefix("var-"): value for name, value in parse_qsl(address.query)}
            if draw is None:
                self._answer(404, f"there is {', '.join(sorted(pages))} here", "text/plain")
                return
            try:
                kind = mimetypes.guess_type(address.path)[0] or "text/html"
                self._answer(200, draw(asked), kind)
            except Exception as error:  # noqa: BLE001 - one page that fails must not end the demo
                self._answer(500, f"{type(error).__name__}: {error}", "text/plain")

        def log_message(self, *_: object) -> None:
            """Nothing: the demo's terminal is for the demo."""

        def _answer(self, status: int, text: str, kind: str) -> None:
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
