"""Attacks a running exporter in every way that needs no password, while an honest client scrapes it.

The exporter serves 128 devices, as many as an instance can attach, over TLS and with passwords. The honest client is
at an address of its own and scrapes five times a second over new connections.
"""

import http.client
import multiprocessing
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import bcrypt

from tests.exporter.pages import plant

DEVICES, EVERY_S = 128, 0.2
HONEST, ATTACKER = "127.0.1.2", "127.0.0.1"
USER, PASSWORD = "prometheus", "correct horse"
TIMEOUT_S = 30.0
THREADS = 8


class Stop(Protocol):
    """An event of another process."""

    def is_set(self) -> bool:
        """Whether it is time to stop."""

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for it."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """The exporter that is attacked: its process, its port and its files."""

    pid: int
    port: int
    folder: Path


def descriptors(pid: int) -> int:
    """Files and connections that a process holds open."""
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The honest client's scrapes during an attack. ``failed`` are those without a page."""

    attack: str
    scrapes: int
    failed: int
    refused: float


Attack = Callable[[Target, Stop], None]


def connect(target: Target, source: str = ATTACKER) -> socket.socket:
    """A new connection, without a handshake."""
    return socket.create_connection(
        ("127.0.0.1", target.port), timeout=TIMEOUT_S, source_address=(source, 0)
    )


def secure() -> ssl.SSLContext:
    """Encrypted, whoever answers."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def request(
    target: Target, authorization: str, source: str, path: str = "/metrics"
) -> tuple[int, bytes]:
    """The status and the body."""
    connection = http.client.HTTPSConnection(
        "127.0.0.1", target.port, timeout=TIMEOUT_S, source_address=(source, 0), context=secure()
    )
    try:
        connection.request("GET", path, headers={"Authorization": authorization})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def basic(password: str) -> str:
    """The header of basic authentication."""
    return "Basic " + b64encode(f"{USER}:{password}".encode()).decode()


def hold(target: Target, stop: Stop, *, count: int, says: bytes, again_s: float) -> None:
    """Keep ``count`` connections, each of which says something now and then and never ends its request."""
    held: list[socket.socket] = []
    while not stop.is_set():
        with suppress(OSError):
            while len(held) < count and not stop.is_set():
                held.append(connect(target))
        still = []
        for one in held:
            try:
                one.sendall(says)
                still.append(one)
            except OSError:
                one.close()
        held = still
        stop.wait(again_s)
    for one in held:
        one.close()


def nothing(_: Target, stop: Stop) -> None:
    """No attack, to compare with."""
    stop.wait()


def idle(target: Target, stop: Stop) -> None:
    """Connections that say nothing."""
    hold(target, stop, count=600, says=b"", again_s=0.2)


def trickle(target: Target, stop: Stop) -> None:
    """Connections that begin a handshake and send a byte of it now and then."""
    hold(target, stop, count=600, says=b"\x16", again_s=0.5)


def half_open(target: Target, stop: Stop) -> None:
    """Connections whose requests end in the middle, after the handshake."""
    held = []
    while not stop.is_set():
        with suppress(OSError):
            made = secure().wrap_socket(connect(target), server_hostname="localhost")
            made.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: ")
            held.append(made)
        if len(held) > 600:
            held.pop(0).close()


def resets(target: Target, stop: Stop) -> None:
    """Connections that are opened and reset at once."""
    while not stop.is_set():
        with suppress(OSError), connect(target) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def garbage(target: Target, stop: Stop) -> None:
    """What is no TLS at all."""
    while not stop.is_set():
        with suppress(OSError), connect(target) as one:
            one.sendall(os.urandom(4_096))
            one.recv(1)


def guesses(target: Target, stop: Stop) -> None:
    """Wrong passwords, each of which takes bcrypt as long as it takes."""
    number = 0
    while not stop.is_set():
        number += 1
        with suppress(OSError, http.client.HTTPException):
            request(target, basic(f"guess {number}"), ATTACKER)


def scrapers(target: Target, stop: Stop) -> None:
    """Clients with the right password that scrape all the time."""
    while not stop.is_set():
        with suppress(OSError, http.client.HTTPException):
            request(target, basic(PASSWORD), ATTACKER)


def huge(target: Target, stop: Stop) -> None:
    """Headers without an end."""
    while not stop.is_set():
        with (
            suppress(OSError),
            connect(target) as plain,
            secure().wrap_socket(plain, server_hostname="localhost") as one,
        ):
            one.sendall(b"GET / HTTP/1.1\r\n")
            while not stop.is_set():
                one.sendall(b"X-A: " + b"a" * 4_000 + b"\r\n")


def slow_readers(target: Target, stop: Stop) -> None:
    """Clients with the right password that do not read their page."""
    held = []
    while not stop.is_set():
        with suppress(OSError):
            plain = connect(target)
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
            made = secure().wrap_socket(plain, server_hostname="localhost")
            made.sendall(
                f"GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: {basic(PASSWORD)}\r\n\r\n".encode()
            )
            held.append(made)
        stop.wait(0.01)
    for one in held:
        one.close()


def broken_certificates(target: Target, stop: Stop) -> None:
    """The certificate is replaced by nothing, by half of it and by itself, again and again."""
    path = target.folder / "server.crt"
    whole = path.read_bytes()
    while not stop.is_set():
        for content in (b"", whole[: len(whole) // 2], whole):
            draft = path.with_suffix(".new")
            draft.write_bytes(content)
            draft.replace(path)
            stop.wait(0.02)
    path.write_bytes(whole)


#: What is done, by how many threads at once.
ATTACKS: dict[str, tuple[Attack, int]] = {
    "none": (nothing, 1),
    "600 idle connections": (idle, 1),
    "600 trickling handshakes": (trickle, 1),
    "600 half-open requests": (half_open, 2),
    "connections reset at once": (resets, 2),
    "noise instead of TLS": (garbage, 2),
    "headers without an end": (huge, 2),
    "wrong passwords": (guesses, THREADS),
    "200 scrapers": (scrapers, 200),
    "pages that are not read": (slow_readers, 1),
    "broken certificates": (broken_certificates, 1),
}


def build(devices: int, root: Path) -> None:
    """A host with so many gp2 volumes."""
    files = {
        "proc/diskstats": tree(devices, 0),
        "proc/1/mountinfo": "",
        "proc/sys/kernel/random/boot_id": "b\n",
        "config.yml": 'volumes: {"*": {type: gp2}}\n',
    }
    for index in range(devices):
        block = f"sys/block/nvme{index}n1"
        files |= {
            f"{block}/size": f"{(1 + index % 900) * 2**21}\n",
            f"{block}/diskseq": f"{index}\n",
            f"{block}/queue/max_sectors_kb": "256\n",
            f"{block}/device/model": "Amazon Elastic Block Store\n",
            f"{block}/device/serial": f"vol{index:017x}\n",
            f"udev/b259:{index}": "I:1000000\nE:ID_MODEL=Amazon Elastic Block Store\n",
        }
    plant(files, root)


def tree(devices: int, seconds: int) -> str:
    """The counters of so many busy volumes after so many seconds."""
    lines = []
    for index in range(devices):
        ops = 1_000_000 + (100 + index) * seconds
        line = f" 259 {index} nvme{index}n1 {ops} 0 {ops * 32} {ops} {ops} 0 {ops * 32} {ops} 2 {ops} {ops} 0 0 0 0 9 9"
        lines.append(line)
    return "\n".join(lines) + "\n"


def free_port() -> int:
    """One that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Exposed:
    """The exporter as it is installed, with passwords and TLS, of a host of files."""

    def __init__(self, folder: Path, *more: str) -> None:
        """``more`` are further flags."""
        self._folder, self._port = folder, free_port()
        subprocess.run(
            [
                "/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-days", "2", "-subj", "/CN=server", "-keyout", folder / "server.key", "-out", folder / "server.crt",
            ],
            check=True, capture_output=True,
        )  # fmt: skip
        hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(10)).decode()
        (folder / "web.yml").write_text(
            f"tls_server_config: {{cert_file: server.crt, key_file: server.key}}\nbasic_auth_users: {{{USER}: {hashed}}}\n"
        )
        self._command = [
            str(Path(sys.executable).with_name("burstwatch-exporter")),
            f"--path.procfs={folder}/proc", f"--path.sysfs={folder}/sys", f"--path.udev.data={folder}/udev",
            f"--config.file={folder}/config.yml", f"--web.config.file={folder}/web.yml",
            f"--web.listen-address=127.0.0.1:{self._port}", *more,
        ]  # fmt: skip

    def start(self) -> Target:
        """Start it, and wait until it has answered.

        Raises:
            TimeoutError: with its log, if it does not within a minute.
        """
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        target = Target(pid=self._process.pid, port=self._port, folder=self._folder)
        until = time.monotonic() + 60
        while True:
            with suppress(OSError):
                request(target, basic(PASSWORD), HONEST)
                return target
            if time.monotonic() > until:
                raise TimeoutError((self._folder / "log").read_text())
            time.sleep(0.1)

    def kill(self) -> None:
        """As the kernel kills."""
        self._process.kill()
        self._process.wait()


@contextmanager
def exporter(folder: Path) -> Iterator[Target]:
    """An exporter of 128 volumes."""
    build(DEVICES, folder)
    exposed = Exposed(folder)
    try:
        yield exposed.start()
    finally:
        exposed.kill()


#: So long an attack goes on until it is refused once.
PATIENCE_S = 120.0


def refusals(page: bytes) -> float:
    """All that the page counts as refused."""
    lines = (
        line
        for line in page.decode().splitlines()
        if line.startswith("burstwatch_web_refusals_total")
    )
    return sum(float(line.rpartition(" ")[2]) for line in lines)


def in_threads(attack: Attack, threads: int, target: Target, stop: Stop) -> None:
    """Attack with so many threads until ``stop``."""
    attackers = [threading.Thread(target=attack, args=(target, stop)) for _ in range(threads)]
    for one in attackers:
        one.start()
    for one in attackers:
        one.join()


def attacked(target: Target, name: str, *, seconds: float, until_refused: bool) -> Outcome:
    """Scrape as an honest client while it is attacked, and once after it; ``until_refused`` at least, on a machine as busy as it likes."""
    attack, threads = ATTACKS[name]
    fork = multiprocessing.get_context("fork")
    stop, scrapes, failed = fork.Event(), 0, 0
    (target.folder / "proc" / "diskstats").write_text(tree(DEVICES, int(time.time()) % 1_000))
    _, page = request(target, basic(PASSWORD), HONEST)
    before = refusals(page)
    # In a process of its own, whose work does not delay the honest client's.
    attackers = fork.Process(target=in_threads, args=(attack, threads, target, stop))
    attackers.start()
    end = time.monotonic() + seconds
    last = end + PATIENCE_S
    while (now := time.monotonic()) < end or (
        until_refused and now < last and refusals(page) == before
    ):
        began = time.monotonic()
        try:
            status, page = request(target, basic(PASSWORD), HONEST)
            failed += status != http.client.OK or b"burstwatch_credit_balance" not in page
        except (OSError, http.client.HTTPException):
            failed += 1
        scrapes += 1
        time.sleep(max(0.0, began + EVERY_S - time.monotonic()))
    stop.set()
    attackers.join()
    _, page = request(target, basic(PASSWORD), HONEST)
    return Outcome(
        attack=name,
        scrapes=scrapes,
        failed=failed,
        refused=refusals(page) - before,
    )
