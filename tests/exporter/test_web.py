"""Serving: what is answered to whom, over TLS too, and to a real Prometheus."""

import base64
import http.client
import json
import re
import resource
import socket
import ssl
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import cast

import bcrypt
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from burstwatch.web.address import parse_address
from burstwatch.web.app import App, network_of
from burstwatch.web.config import Tls, read_web_config
from burstwatch.web.exposition import Page
from burstwatch.web.passwords import Passwords
from burstwatch.web.refusals import Refusals
from burstwatch.web.server import Server, most_connections, open_server
from burstwatch_exporter.clock import system_clock
from burstwatch_exporter.credits.snapshot import Snapshot
from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.page.metrics import METRICS
from burstwatch_exporter.serve import serve
from burstwatch_exporter.settings import parse_options
from burstwatch_exporter.sources import Attempt
from tests.exporter.machine import Machine
from tests.exporter.pages import flags

PASSWORD = "correct horse"
HASH = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def exporter(machine: Machine) -> Exporter:
    return machine.starts()


@contextmanager
def served(app: App, tls: Tls | None = None) -> Iterator[Server]:
    server = Server(app, host="127.0.0.1", port=0, tls=tls)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def server(exporter: Exporter) -> Iterator[Server]:
    with served(App(exporter, Passwords({}), Refusals())) as made:
        yield made


@pytest.fixture
def port(server: Server) -> int:
    return server.port


def ask(
    port: int, path: str, *, method: str = "GET", headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, headers=headers or {})
    answer = connection.getresponse()
    found = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    connection.close()
    return found


def test_metrics_come_as_text_or_as_openmetrics_as_is_asked_for(port: int) -> None:
    status, headers, body = ask(port, "/metrics")
    assert (status, headers["content-type"].split(";")[0]) == (200, "text/plain")
    assert b"burstwatch_volume_info" in body
    accept = {"Accept": "application/openmetrics-text;version=1.0.0"}
    status, headers, body = ask(port, "/metrics", headers=accept)
    assert headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    families = list(text_string_to_metric_families(body.decode()))  # type: ignore[no-untyped-call]
    assert "burstwatch_volume_read_ops" in {family.name for family in families}


def test_it_is_healthy_at_once_and_ready_when_counters_could_be_read(
    port: int, exporter: Exporter
) -> None:
    assert ask(port, "/-/healthy")[0] == 200
    assert ask(port, "/-/ready")[0] == 503
    exporter.host.observe()
    assert ask(port, "/-/ready")[0] == 200


def test_the_landing_page_names_what_is_not_well_and_escapes_it(
    port: int, exporter: Exporter, machine: Machine
) -> None:
    (machine.root / "proc/diskstats").write_text("<script>\n")
    exporter.host.observe()
    page = ask(port, "/")[2].decode()
    assert '<a href="/metrics">' in page
    assert "diskstats: line not understood: &#x27;&lt;script&gt;&#x27;" in page


def test_what_is_not_there_is_404_and_nothing_can_be_changed(port: int) -> None:
    assert ask(port, "/nowhere")[0] == 404
    status, headers, _ = ask(port, "/metrics", method="POST")
    assert (status, headers["allow"]) == (405, "GET, HEAD")
    status, headers, body = ask(port, "/metrics", method="HEAD")
    assert (status, body) == (200, b"")


class Slow:
    """A site whose scrape waits for a test."""

    def __init__(self) -> None:
        self.gate, self.inside, self.scrapes = threading.Event(), threading.Semaphore(0), 0

    def scrape(self, _accept: str) -> tuple[str, bytes]:
        self.scrapes += 1
        self.inside.release()
        self.gate.wait(60)
        return "text/plain", b"a 1\n"

    def landing(self) -> str:
        raise NotImplementedError

    def is_ready(self) -> bool:
        return True


def test_scrapes_at_once_share_one_answer_and_hold_up_nothing_else() -> None:
    site, answers = Slow(), list[int]()
    with served(App(site, Passwords({}), Refusals())) as server:
        threads = [
            threading.Thread(target=lambda: answers.append(ask(server.port, "/metrics")[0]))
            for _ in range(50)
        ]
        for thread in threads:
            thread.start()
        assert site.inside.acquire(timeout=60)
        assert ask(server.port, "/-/healthy")[0] == 200
        until(lambda: server.requests == len(threads))
        site.gate.set()
        for thread in threads:
            thread.join()
    assert answers == [200] * len(threads)
    assert site.scrapes <= 3  # a request may reach its handler after the first has been answered


def test_clients_that_ask_for_other_formats_share_answers_too() -> None:
    site = Slow()
    with served(App(site, Passwords({}), Refusals())) as server:
        threads = [
            threading.Thread(
                target=ask,
                args=(server.port, "/metrics"),
                kwargs={"headers": {"Accept": f"text/plain; q=0.{n}"}},
            )
            for n in range(30)
        ]
        for thread in threads:
            thread.start()
        until(lambda: server.requests == len(threads))
        site.gate.set()
        for thread in threads:
            thread.join()
    assert site.scrapes <= 3


def until(holds: Callable[[], bool]) -> None:
    """Wait for a condition, as long as a busy machine may need."""
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


@contextmanager
def clients(port: int, count: int, *, says: bytes = b"") -> Iterator[list[socket.socket]]:
    """Connections that never send a whole request."""
    with ExitStack() as stack:
        made = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(count)
        ]
        for one in made:
            one.sendall(says)
        yield made


@pytest.mark.parametrize("says", [b"", b"GET /metrics HT"], ids=["idle", "trickling"])
def test_clients_that_never_end_their_request_silence_nobody(port: int, says: bytes) -> None:
    with clients(port, 200, says=says):
        for _ in range(5):
            assert ask(port, "/metrics")[0] == 200


def test_with_too_many_connections_the_oldest_idle_one_goes(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burstwatch.web.server.CONNECTIONS", 8)
    with clients(server.port, 20) as made:
        assert [one.recv(1) for one in made[:12]] == [b""] * 12
        assert ask(server.port, "/metrics")[0] == 200
        assert made[12].recv(1) == b""
        made[19].settimeout(0)
        with pytest.raises(BlockingIOError):
            made[19].recv(1)


def test_a_request_that_takes_too_long_is_cut_off(
    exporter: Exporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burstwatch.web.server.REQUEST_S", 0.1)
    with (
        served(App(exporter, Passwords({}), Refusals())) as server,
        clients(server.port, 3, says=b"GET / HTTP/1.1\r\n") as made,
    ):
        assert [one.recv(1) for one in made] == [b""] * 3


def test_an_answer_that_is_not_read_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("burstwatch.web.server.CONNECTION_S", 0.5)
    site = Slow()
    site.gate.set()
    asked = threading.Event()

    def scrape(_: object) -> tuple[str, bytes]:
        asked.set()
        return "text/plain", b"a" * 30_000_000

    monkeypatch.setattr(site, "scrape", scrape)
    with served(App(site, Passwords({}), Refusals())) as server, clients(server.port, 1) as (one,):
        one.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
        assert asked.wait(120)
        until(lambda: server.requests == 0)
        received = 0
        with suppress(ConnectionResetError):
            while some := one.recv(1_000_000):
                received += len(some)
        assert received < 30_000_000


def test_what_has_begun_is_answered_when_the_server_stops() -> None:
    site, answers = Slow(), list[int]()
    with served(App(site, Passwords({}), Refusals())) as server:
        thread = threading.Thread(target=lambda: answers.append(ask(server.port, "/metrics")[0]))
        thread.start()
        assert site.inside.acquire(timeout=60)
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        until(lambda: server.is_stopping)
        site.gate.set()
        thread.join()
        stopping.join()
    assert answers == [200]


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/openmetrics-text; version=99", "text/plain"),
        ("application/openmetrics-text; version=2.0.0, text/plain; version=0.0.4", "text/plain"),
        ("application/openmetrics-text; version=99, application/openmetrics-text; version=1.0.0", "application/openmetrics-text"),
        ("application/openmetrics-text", "application/openmetrics-text"),
        ("application/openmetrics-text; version=1.0.0; escaping=allow-utf-8; q=0.6", "application/openmetrics-text"),
    ],
)  # fmt: skip
def test_a_version_of_openmetrics_that_is_not_written_is_not_claimed(
    port: int, accept: str, kind: str
) -> None:
    _, headers, _ = ask(port, "/metrics", headers={"Accept": accept})
    content_type = headers["content-type"]
    assert content_type.split(";")[0] == kind
    assert "version=1.0.0" in content_type or kind == "text/plain"


@pytest.mark.parametrize(
    ("accept", "is_packed"),
    [
        ("gzip", True), ("br, gzip;q=0.5", True), ("*", True), ("GZIP", True), ("gzip; q=1.0, identity", True),
        ("gzip;q=0", False), ("gzip; q=0.000", False), ("*;q=0", False), ("identity", False), ("", False),
        ("*, gzip;q=0", False), ("x-gzip-like", False),
    ],
)  # fmt: skip
def test_only_who_takes_gzip_gets_it(port: int, accept: str, *, is_packed: bool) -> None:
    _, headers, _ = ask(port, "/metrics", headers={"Accept-Encoding": accept})
    assert (headers.get("content-encoding") == "gzip") == is_packed


@pytest.mark.parametrize(("files", "connections"), [(64, 32), (128, 96), (1_024, 512), (resource.RLIM_INFINITY, 512), (16, 1)])  # fmt: skip
def test_connections_leave_the_process_the_files_that_it_needs(
    monkeypatch: pytest.MonkeyPatch, files: int, connections: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    assert most_connections() == connections


def test_an_accept_header_that_is_none_gets_text(port: int) -> None:
    headers = {"Accept": "application/openmetrics-text; version=abc"}
    status, found, _ = ask(port, "/metrics", headers=headers)
    assert (status, found["content-type"].split(";")[0]) == (200, "text/plain")


# Refusals


def refused(refusals: Refusals) -> dict[str, float]:
    page = Page(METRICS)
    refusals.add_to(page, cast("Snapshot", None), Attempt())
    return {
        one.labels["reason"]: one.value
        for family in page.families()
        for one in family.with_samples().samples
        if one.value
    }


def test_every_refusal_is_counted_by_its_reason(
    exporter: Exporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burstwatch.web.server.CONNECTIONS", 4)
    refusals = Refusals()
    app = App(exporter, Passwords({"prometheus": HASH}), refusals)
    with served(app) as server:
        assert ask(server.port, "/metrics", headers=basic("prometheus", "wrong"))[0] == 401
        with clients(server.port, 3, says=b"GET / HT"):
            pass
        until(lambda: refused(refusals).get("incomplete") == 3)
        with clients(server.port, 6) as made:
            assert [one.recv(1) for one in made[:2]] == [b""] * 2
    # Who comes and goes without a word is a probe of the port, and is not refused.
    assert refused(refusals) == {"password": 1, "incomplete": 3, "crowded": 2}


def test_a_probe_of_the_port_of_a_tls_server_is_no_refusal(
    certificates: Path, exporter: Exporter
) -> None:
    tls = Tls(cert_file=certificates / "server.crt", key_file=certificates / "server.key")
    refusals = Refusals()
    with served(App(exporter, Passwords({}), refusals), tls) as server:
        for _ in range(20):
            with clients(server.port, 1):
                pass
        trusts = ssl.create_default_context(cafile=str(certificates / "server.crt"))
        assert fetch(server.port, trusts, {}) == 200
    assert refused(refusals) == {}


def test_who_guesses_passwords_keeps_nobody_at_another_address_from_being_checked(
    exporter: Exporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    passwords, gate = Passwords({"prometheus": HASH}), threading.Event()
    allow, refusals = passwords.allow, Refusals()

    def slow(authorization: str) -> bool:
        gate.wait(60)
        return allow(authorization)

    monkeypatch.setattr(passwords, "allow", slow)
    codes: list[int] = []
    with served(App(exporter, passwords, refusals)) as server:
        guesses = [
            threading.Thread(
                target=lambda: codes.append(ask(server.port, "/", headers=basic("a", "b"))[0])
            )
            for _ in range(20)
        ]
        for one in guesses:
            one.start()
        until(lambda: len(codes) == 18)
        honest = http.client.HTTPConnection(
            "127.0.0.1", server.port, timeout=60, source_address=("127.0.1.2", 0)
        )
        honest.request("GET", "/metrics", headers=basic("prometheus", PASSWORD))
        gate.set()
        assert honest.getresponse().status == 200
        for one in guesses:
            one.join()
    assert sorted(codes) == [401] * 2 + [503] * 18
    assert refused(refusals) == {"busy": 18, "password": 2}


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.1.2.3", "10.1.2.0/24"),
        ("::ffff:10.1.2.3", "10.1.2.0/24"),
        ("2001:db8::1:2:3:4", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
    ],
)
def test_who_has_an_address_is_taken_to_have_its_network(address: str, network: str) -> None:
    assert network_of(address) == network


def test_refusals_are_logged_at_once_and_then_once_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = 0.0
    refusals = Refusals(lambda: now)
    for second in range(600):
        now = float(second)
        for _ in range(50):
            refusals.note("password")
        refusals.note("crowded")
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 10
    assert lines[0] == "requests refused since the last message like this, by reason: 1 password"
    assert (
        lines[1]
        == "requests refused since the last message like this, by reason: 60 crowded, 3000 password"
    )


def test_a_probe_of_the_port_now_and_then_is_not_worth_a_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    refusals = Refusals(lambda: 0.0)
    for _ in range(59):
        refusals.note("incomplete")
    assert not caplog.records
    refusals.note("incomplete")
    assert "60 incomplete" in caplog.text


# Passwords


def test_how_long_a_name_takes_does_not_tell_whether_it_exists(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hashes: list[bytes] = []

    def check(_: bytes, its_hash: bytes) -> bool:
        hashes.append(its_hash)
        return False

    monkeypatch.setattr(bcrypt, "checkpw", check)
    passwords = Passwords({"ann": HASH, "bob": HASH.replace("$04$", "$12$")})
    for _ in range(2):  # always the same for the same name
        for number in range(40):
            passwords.allow(basic(f"nobody{number}", "x")["Authorization"])
    costs = [its_hash[4:6] for its_hash in hashes]
    assert costs[:40] == costs[40:]
    assert set(costs) == {b"04", b"12"}  # as those that exist


def allowed(header: str) -> bool:
    return Passwords({"prometheus": HASH}).allow(header)


def test_only_the_right_password_of_the_right_user_is_let_in() -> None:
    assert allowed(basic("prometheus", PASSWORD)["Authorization"])
    assert not allowed(basic("prometheus", "wrong")["Authorization"])
    assert not allowed(basic("nobody", PASSWORD)["Authorization"])
    assert not allowed(basic("prometheus", "x" * 100)["Authorization"])


@pytest.mark.parametrize(
    "header", ["", "Basic", "Basic !!", "Bearer abc", "Basic cHJvbQ==", "Basic /w==", "Basic é"]
)
def test_a_header_that_is_none_is_refused(header: str) -> None:
    assert not allowed(header)


def test_a_right_password_is_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    passwords, check = Passwords({"prometheus": HASH}), bcrypt.checkpw
    calls: list[bytes] = []

    def counted(password: bytes, its_hash: bytes) -> bool:
        calls.append(password)
        return check(password, its_hash)

    monkeypatch.setattr(bcrypt, "checkpw", counted)
    for _ in range(3):
        assert passwords.allow(basic("prometheus", PASSWORD)["Authorization"])
    assert len(calls) == 1
    assert not passwords.allow(basic("prometheus", PASSWORD + "x")["Authorization"])


# The web configuration

#: By its cost; the same in every process, as the names of tests must be.
SOME_HASH = "$2b${}$abcdefghijklmnopqrstuu5LoIPHzo9eG0S7rHGHDDY4xM3QvQh0e"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("tls_config: {}", "tls_config is unknown; allowed: tls_server_config"),
        ("http_server_config: {http2: true}", "http_server_config is unknown"),
        ("tls_server_config: {cert_file: a}", "tls_server_config.key_file is missing"),
        (
            "tls_server_config: {cert_file: a, key_file: b, ciphers: []}",
            "tls_server_config.ciphers is unknown",
        ),
        ("tls_server_config: {cert_file: a, key_file: b}", "No such file"),
        (
            "tls_server_config: {cert_file: a, key_file: b, min_version: TLS10}",
            "min_version has a wrong value; allowed: TLS12, TLS13",
        ),
        (
            "tls_server_config: {cert_file: a, key_file: b, client_auth_type: RequireAndVerifyClientCert}",
            "needs client_ca_file",
        ),
        (
            "tls_server_config: {cert_file: a, key_file: b, client_auth_type: RequestClientCert}",
            "client_auth_type has a wrong value; allowed: NoClientCert",
        ),
        (
            "tls_server_config: {cert_file: a, key_file: b, client_ca_file: c}",
            "client_ca_file has no effect",
        ),
        ("", "the file has a wrong value; allowed: a table of keys"),
        ("{}", "the file is empty"),
        ("tls_server_config:", "tls_server_config has a wrong value; allowed: a table of keys"),
        ("basic_auth_users:", "basic_auth_users has a wrong value; allowed: a table of keys"),
        ("basic_auth_users: {bob: secret}", "basic_auth_users.bob is no bcrypt hash"),
        ("basic_auth_users: {ann: secret, bob: 5}", "basic_auth_users.bob is no bcrypt hash"),
        ("basic_auth_users: {ann: secret, bob: }", "basic_auth_users.bob is no bcrypt hash"),
        ("basic_auth_users: {12: secret}", "basic_auth_users.12 is no bcrypt hash"),
        ("basic_auth_users: {[1]: secret}", "is not allowed YAML"),
        (
            "basic_auth_users: secret",
            "basic_auth_users has a wrong value; allowed: a table of keys",
        ),
        (
            "basic_auth_users: [bob]",
            "basic_auth_users has a wrong value; allowed: a table of keys",
        ),
        ("- a", "the file has a wrong value; allowed: a table of keys"),
        (
            f"basic_auth_users: {{ann: '{SOME_HASH.format(31)}'}}",
            "basic_auth_users.ann has a hash of cost 31; allowed: 4 to 14",
        ),
        (
            f"basic_auth_users: {{ann: '{SOME_HASH.format('03')}'}}",
            "basic_auth_users.ann has a hash of cost 03; allowed: 4 to 14",
        ),
        (
            f"basic_auth_users: {{'a:b': '{SOME_HASH.format(10)}'}}",
            "basic_auth_users.a:b has a colon",
        ),
    ],
)
def test_a_mistake_in_the_web_configuration_is_named(text: str, named: str, tmp_path: Path) -> None:
    path = tmp_path / "web.yml"
    path.write_text(text)
    with pytest.raises(ValueError) as error:
        read_web_config(path)
    assert named in str(error.value)
    assert "secret" not in str(error.value)


# TLS


@pytest.fixture
def certificates(tmp_path: Path, program: Callable[[str], str]) -> Path:
    """A key and certificate of a server and of a client, each its own authority."""
    for name in ("server", "client"):
        certify(program("openssl"), tmp_path, name)
    return tmp_path


def certify(openssl: str, folder: Path, name: str) -> None:
    subprocess.run(
        [
            openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
            "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt",
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip


def test_an_encrypted_key_is_an_error_and_nobody_is_asked_for_its_password(
    certificates: Path, program: Callable[[str], str]
) -> None:
    key, locked = certificates / "server.key", certificates / "locked.key"
    subprocess.run(
        [program("openssl"), "pkey", "-in", key, "-aes256", "-passout", "pass:x", "-out", locked],
        check=True,
        capture_output=True,
    )
    locked.replace(key)
    with pytest.raises(ValueError, match="the key is encrypted, which is not supported"):
        read_web_config(web_config(certificates))


def web_config(folder: Path, *more: str) -> Path:
    path = folder / "web.yml"
    tls = ["tls_server_config:", "  cert_file: server.crt", "  key_file: server.key", *more]
    path.write_text("\n".join([*tls, "basic_auth_users:", f"  prometheus: {HASH}", ""]))
    return path


@pytest.fixture
def running(machine: Machine) -> Iterator[Callable[[Path], int]]:
    """The whole exporter, with a web configuration; gives its port."""
    stop, threads = threading.Event(), []

    def start(web: Path) -> int:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port: int = free.getsockname()[1]
        options = parse_options(
            flags(
                machine.root,
                **{
                    "config.file": str(machine.root / "config.yml"),
                    "web.config.file": str(web),
                    "web.listen-address": f"127.0.0.1:{port}",
                    "sample.period": "0.2",
                },
            ),
            {},
        )
        thread = threading.Thread(
            target=serve,
            args=(options,),
            kwargs={"clock": system_clock(), "stop": stop, "hang_up": threading.Event()},
        )
        threads.append(thread)
        thread.start()
        wait_for(lambda: is_open(port))
        return port

    yield start
    stop.set()
    for thread in threads:
        thread.join(timeout=60)


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(what: Callable[[], object], seconds: float = 30.0) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.1)


def fetch(port: int, context: ssl.SSLContext, headers: dict[str, str]) -> int:
    request = urllib.request.Request(f"https://127.0.0.1:{port}/metrics", headers=headers)
    try:
        with urllib.request.urlopen(request, context=context, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_without_a_client_certificate_or_a_password_nobody_reads_anything(
    certificates: Path, running: Callable[[Path], int]
) -> None:
    port = running(
        web_config(
            certificates,
            "  client_ca_file: client.crt",
            "  client_auth_type: RequireAndVerifyClientCert",
        )
    )
    nobody = ssl.create_default_context(cafile=str(certificates / "server.crt"))
    with pytest.raises((ssl.SSLError, OSError)):
        fetch(port, nobody, basic("prometheus", PASSWORD))
    client = ssl.create_default_context(cafile=str(certificates / "server.crt"))
    client.load_cert_chain(certificates / "client.crt", certificates / "client.key")
    assert fetch(port, client, {}) == 401
    assert fetch(port, client, basic("prometheus", PASSWORD)) == 200


def test_a_new_certificate_is_taken_while_it_runs(
    certificates: Path, running: Callable[[Path], int], program: Callable[[str], str]
) -> None:
    port = running(web_config(certificates))
    old = ssl.create_default_context(cafile=str(certificates / "server.crt"))
    assert fetch(port, old, basic("prometheus", PASSWORD)) == 200
    certify(program("openssl"), certificates, "server")
    new = ssl.create_default_context(cafile=str(certificates / "server.crt"))
    assert fetch(port, new, basic("prometheus", PASSWORD)) == 200
    (certificates / "server.crt").write_text("broken")
    assert fetch(port, new, basic("prometheus", PASSWORD)) == 200
    # Each scrape has the source, and none makes it well again.
    for _ in range(3):
        until(lambda: 'burstwatch_source_up{source="certificate"} 0.0' in text_of(port, new))


def text_of(port: int, trusts: ssl.SSLContext) -> str:
    """The page, over TLS and with the password."""
    url = f"https://127.0.0.1:{port}/metrics"
    request = urllib.request.Request(url, headers=basic("prometheus", PASSWORD))
    with urllib.request.urlopen(request, context=trusts, timeout=60) as answer:
        text: str = answer.read().decode()
    return text


def test_a_certificate_that_is_not_taken_is_a_problem_until_it_is_whole_again(
    certificates: Path, exporter: Exporter
) -> None:
    tls = Tls(cert_file=certificates / "server.crt", key_file=certificates / "server.key")
    whole = (certificates / "server.crt").read_text()
    with served(App(exporter, Passwords({}), Refusals()), tls) as server:
        assert server.problem == ""
        (certificates / "server.crt").write_text("broken")
        assert "new certificate not taken, the old one stays" in server.problem
        (certificates / "server.crt").write_text(whole)
        assert server.problem == ""


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
@pytest.mark.parametrize("text", ["[::]:0", ":0"])
def test_every_address_is_of_both_families(text: str, exporter: Exporter) -> None:
    address = parse_address("web.listen-address", text)
    app = App(exporter, Passwords({}), Refusals())
    server = open_server(app, address, None, setting="web.listen-address")
    try:
        for host in ("127.0.0.1", "::1"):
            connection = http.client.HTTPConnection(host, server.port, timeout=60)
            connection.request("GET", "/-/healthy")
            assert connection.getresponse().status == 200
            connection.close()
    finally:
        server.stop()


@pytest.mark.real
def test_a_real_prometheus_scrapes_it_through_tls_and_a_password(
    certificates: Path, running: Callable[[Path], int], program: Callable[[str], str]
) -> None:
    port = running(web_config(certificates))
    (certificates / "prometheus.yml").write_text(
        json.dumps(
            {
                "global": {"scrape_interval": "1s"},
                "scrape_configs": [
                    {
                        "job_name": "burstwatch",
                        "scheme": "https",
                        "tls_config": {"ca_file": str(certificates / "server.crt")},
                        "basic_auth": {"username": "prometheus", "password": PASSWORD},
                        "static_configs": [{"targets": [f"127.0.0.1:{port}"]}],
                    }
                ],
            }
        )
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    prometheus = subprocess.Popen(
        [
            program("prometheus"),
            f"--config.file={certificates / 'prometheus.yml'}",
            f"--storage.tsdb.path={certificates / 'data'}",
            f"--web.listen-address={listen}",
        ],
        stderr=subprocess.DEVNULL,
    )

    def query(text: str) -> list[dict[str, object]]:
        try:
            with urllib.request.urlopen(f"http://{listen}/api/v1/query?query={text}") as answer:
                found: list[dict[str, object]] = json.load(answer)["data"]["result"]
                return found
        except OSError:
            return []

    try:
        wait_for(lambda: query("burstwatch_time_to_exhaustion_seconds"))
        assert [one["value"][1] for one in query("up")] == ["1"]  # type: ignore[index]
        (worst,) = query('burstwatch_time_to_exhaustion_seconds{bound="worst"}')
        assert re.fullmatch(r"[0-9.e+]+", worst["value"][1])  # type: ignore[index]
        (likely,) = query('burstwatch_time_to_exhaustion_seconds{bound="likely"}')
        assert likely["value"][1] == "+Inf"  # type: ignore[index]
    finally:
        prometheus.terminate()
        prometheus.wait(timeout=120)
