"""Answers requests: the metrics, a page for people, and the program's health.

Tornado calls the handlers on its loop. What takes time runs in threads: scrapes in some,
passwords in one of their own, so that guessing them cannot hold up a scrape.
"""

import asyncio
import gzip
import re
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from ipaddress import IPv6Address, ip_address, ip_network
from threading import Barrier
from typing import Protocol

from tornado.web import Application, HTTPError, RequestHandler

from burstwatch.web.exposition import content_type_of
from burstwatch.web.passwords import Passwords
from burstwatch.web.refusals import Refusals

#: Threads for scrapes. All begin with the server: later there may be no room for one.
SCRAPE_THREADS = 2
#: Most passwords that wait to be checked, and most of one network. One more is refused.
GUESSES, GUESSES_OF_ONE = 32, 2
IPV4 = 4
#: Bytes from which an answer is compressed for clients that accept it.
WORTH_PACKING = 1_024
TEXT, HTML = "text/plain; charset=utf-8", "text/html; charset=utf-8"


#: Content type, content encoding or nothing, and the body.
RenderedPage = tuple[str, str, bytes]


class Site(Protocol):
    """The content to serve."""

    def scrape(self, accept: str, /) -> tuple[str, bytes]:
        """The content type and the metrics, in the format that is accepted."""

    def is_ready(self) -> bool:
        """True if what the metrics are made of could be read when that was last tried."""

    def landing(self) -> str:
        """The page for people, as HTML."""


class App(Application):
    """The application, with its threads."""

    def __init__(self, site: Site, passwords: Passwords, refusals: Refusals) -> None:
        """All threads are there from the beginning: those that render pages, and one that checks passwords."""
        self.site, self._passwords, self.refusals = site, passwords, refusals
        self._scrapes, self._checks = _threads(SCRAPE_THREADS), _threads(1)
        # Pages that are being rendered, by content type and whether they are packed.
        self._under_way: dict[tuple[str, bool], asyncio.Future[RenderedPage]] = {}
        # Passwords that wait to be checked, by the network they come from.
        self._waiting: Counter[str] = Counter()
        super().__init__(
            [
                ("/metrics", _Metrics),
                ("/-/healthy", _Healthy),
                ("/-/ready", _Ready),
                ("/", _Landing),
            ],
            default_handler_class=_Handler,
            log_function=lambda _: None,
        )

    async def scrape(self, accept: str, *, packs: bool) -> RenderedPage:
        """The metrics. Requests for the same format share the answer that is under way."""
        return await self._shared(
            (content_type_of(accept), packs), lambda: self._render(accept, packs=packs)
        )

    async def landing(self) -> bytes:
        """The page for people, of now as a scrape is."""
        _, _, body = await self._shared(
            (HTML, False), lambda: (HTML, "", self.site.landing().encode())
        )
        return body

    async def _shared(
        self, key: tuple[str, bool], answer: Callable[[], RenderedPage]
    ) -> RenderedPage:
        """Run ``answer`` in a thread, once for all requests that want the same meanwhile."""
        future = self._under_way.get(key)
        if future is None:
            future = asyncio.get_running_loop().run_in_executor(self._scrapes, answer)
            self._under_way[key] = future
            future.add_done_callback(lambda _: self._under_way.pop(key))
        return await asyncio.shield(future)

    def _render(self, accept: str, *, packs: bool) -> RenderedPage:
        content_type, body = self.site.scrape(accept)
        if not packs or len(body) <= WORTH_PACKING:
            return content_type, "", body
        return content_type, "gzip", gzip.compress(body, compresslevel=1)

    async def allow(self, authorization: str, address: str) -> bool:
        """True if an ``Authorization`` header from an address lets its sender in.

        Raises:
            HTTPError: 503 where too many wait to be checked, of that network or of all.
        """
        network = network_of(address)
        if self._passwords.is_known(authorization):
            return True
        if self._waiting[network] >= GUESSES_OF_ONE or self._waiting.total() >= GUESSES:
            self.refusals.note("busy")
            raise HTTPError(503)
        self._waiting[network] += 1
        try:
            check = self._passwords.allow
            return await asyncio.get_running_loop().run_in_executor(
                self._checks, check, authorization
            )
        finally:
            self._waiting -= Counter([network])


def network_of(address: str) -> str:
    """The network that a client is taken for: who has one address of it mostly has many. Anything else as it is."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):  # a socket for both gives IPv4 as ::ffff:10.0.0.1
        parsed = parsed.ipv4_mapped or parsed
    return str(ip_network(f"{parsed}/{24 if parsed.version == IPV4 else 64}", strict=False))


def _threads(count: int) -> ThreadPoolExecutor:
    pool, together = ThreadPoolExecutor(count, thread_name_prefix="web"), Barrier(count)
    wait([pool.submit(together.wait) for _ in range(count)])
    return pool


class _Handler(RequestHandler):
    application: App
    SUPPORTED_METHODS = ("GET", "HEAD")

    def set_default_headers(self) -> None:
        self.set_header("Server", "burstwatch")
        self.set_header("Content-Type", TEXT)
        self.set_header("Allow", "GET, HEAD")

    async def prepare(self) -> None:
        authorization = self.request.headers.get("Authorization", "")
        if not await self.application.allow(authorization, self.request.remote_ip or ""):
            self.application.refusals.note("password")
            self.set_header("WWW-Authenticate", 'Basic realm="burstwatch"')
            self.set_status(401)
            self.finish("unauthorized\n")

    async def get(self) -> None:
        raise HTTPError(404)

    async def head(self) -> None:
        await self.get()

    def write_error(self, status_code: int, **_: object) -> None:
        self.finish(f"{status_code} {self._reason}\n")


class _Metrics(_Handler):
    async def get(self) -> None:
        headers = self.request.headers
        content_type, encoding, body = await self.application.scrape(
            headers.get("Accept", ""), packs=_takes_gzip(headers.get("Accept-Encoding", ""))
        )
        if encoding:
            self.set_header("Content-Encoding", encoding)
        self.set_header("Content-Type", content_type)
        self.set_header("Vary", "Accept, Accept-Encoding")
        self.write(body)


def _takes_gzip(accept_encoding: str) -> bool:
    """True if a client takes gzip: it names it, or all, and not with the weight 0."""
    weights: dict[str, str] = {}
    for entry in accept_encoding.lower().split(","):
        coding, _, parameter = entry.partition(";")
        weights[coding.strip()] = parameter.strip()
    weight = weights.get("gzip", weights.get("*", "q=0"))
    return re.fullmatch(r"q\s*=\s*0(\.0*)?", weight) is None


class _Healthy(_Handler):
    async def get(self) -> None:
        self.write("healthy\n")


class _Ready(_Handler):
    async def get(self) -> None:
        if self.application.site.is_ready():
            self.write("ready\n")
        else:
            self.set_status(503)
            self.write("not ready: nothing could be read\n")


class _Landing(_Handler):
    async def get(self) -> None:
        self.set_header("Content-Type", HTML)
        self.write(await self.application.landing())
