"""What is answered: the metrics, a page for people, and whether the exporter is well."""

from __future__ import annotations

import gzip
import threading
from html import escape
from typing import TYPE_CHECKING

from prometheus_client.exposition import choose_encoder, gzip_accepted

import burstwatch
from burstwatch_exporter.exposition import OPENMETRICS
from burstwatch_exporter.exposition import TEXT as PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from wsgiref.types import StartResponse, WSGIEnvironment

    from burstwatch_exporter.exposition import Page
    from burstwatch_exporter.web.passwords import Passwords

#: Scrapes at a time; one more is refused rather than let them all starve.
AT_ONCE = 8
#: From so many bytes on an answer is sent packed to whom takes it so.
WORTH_PACKING = 1_024
TEXT, HTML = "text/plain; charset=utf-8", "text/html; charset=utf-8"
OK, NOT_FOUND, NOT_ALLOWED = "200 OK", "404 Not Found", "405 Method Not Allowed"
UNAUTHORIZED, UNAVAILABLE = "401 Unauthorized", "503 Service Unavailable"
LANDING = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>burstwatch exporter</title></head>
<body><h1>burstwatch exporter {version}</h1>
<p>How long the burst credits of this host's volumes last.</p>
<ul><li><a href="/metrics">metrics</a></li><li><a href="/-/healthy">healthy</a></li>
<li><a href="/-/ready">ready</a></li></ul>
{problems}</body></html>
"""
Answer = tuple[str, str, str]  # status, content type, body


class App:
    """The application, to be run by any WSGI server."""

    def __init__(
        self,
        page: Callable[[], Page],
        passwords: Passwords,
        *,
        is_ready: Callable[[], bool],
        problems: Callable[[], Iterable[str]],
    ) -> None:
        """``page`` gives the metrics, ``problems`` are what the landing page says is wrong."""
        self._metrics, self._passwords = page, passwords
        self._is_ready, self._problems = is_ready, problems
        self._places = threading.BoundedSemaphore(AT_ONCE)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        if not self._passwords.allow(environ.get("HTTP_AUTHORIZATION", "")):
            headers = [("WWW-Authenticate", 'Basic realm="burstwatch"')]
            return _send(environ, start_response, (UNAUTHORIZED, TEXT, "unauthorized\n"), headers)
        if environ["REQUEST_METHOD"] not in {"GET", "HEAD"}:
            headers = [("Allow", "GET, HEAD")]
            return _send(environ, start_response, (NOT_ALLOWED, TEXT, "GET or HEAD\n"), headers)
        path = environ.get("PATH_INFO", "/")
        if path == "/metrics":
            return self._scrape(environ, start_response)
        return _send(environ, start_response, self._page(path), [])

    def _scrape(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not self._places.acquire(blocking=False):
            busy = (UNAVAILABLE, TEXT, f"{AT_ONCE} scrapes at a time are enough\n")
            return _send(environ, start_response, busy, [])
        try:
            page = self._metrics()
            _, content_type = choose_encoder(environ.get("HTTP_ACCEPT", ""))
            if content_type.startswith("application/openmetrics-text"):
                answer = (OK, OPENMETRICS, page.openmetrics())
            else:
                answer = (OK, PLAIN, page.text())
            return _send(environ, start_response, answer, [("Vary", "Accept, Accept-Encoding")])
        finally:
            self._places.release()

    def _page(self, path: str) -> Answer:
        if path == "/-/healthy":
            return OK, TEXT, "healthy\n"
        if path == "/-/ready":
            if self._is_ready():
                return OK, TEXT, "ready\n"
            return UNAVAILABLE, TEXT, "not ready: no counters could be read\n"
        if path in {"", "/"}:
            items = "".join(f"<li>{escape(problem)}</li>" for problem in self._problems())
            problems = f"<h2>Not well</h2><ul>{items}</ul>" if items else ""
            return OK, HTML, LANDING.format(version=burstwatch.__version__, problems=problems)
        return NOT_FOUND, TEXT, "not found\n"


def _send(
    environ: WSGIEnvironment,
    start_response: StartResponse,
    answer: Answer,
    headers: list[tuple[str, str]],
) -> list[bytes]:
    status, content_type, text = answer
    body = text.encode()
    if len(body) > WORTH_PACKING and gzip_accepted(environ.get("HTTP_ACCEPT_ENCODING", "")):
        body = gzip.compress(body, compresslevel=1)
        headers = [*headers, ("Content-Encoding", "gzip")]
    start_response(
        status,
        [("Content-Type", content_type), ("Content-Length", str(len(body))), *headers],
    )
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]
