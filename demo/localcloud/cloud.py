"""The local cloud's life: environments, start, wait, stop."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from demo.localcloud.emulators import LOCALSTACK, RUNTIME_PYTHON, Emulator

START_TIMEOUT_S = 300.0
#: Folders of local clouds begin with this, and name in a file the process that made them.
PREFIX, OWNER = "burstwatch-", "owner.pid"
STOP_TIMEOUT_S = 20.0


class LocalCloudError(RuntimeError):
    """The local cloud could not be brought up; the message says where its log is."""


@dataclass(frozen=True, kw_only=True)
class LocalCloud:
    """A running local cloud."""

    emulator: Emulator
    port: int
    folder: Path
    log: Path

    @property
    def endpoint(self) -> str:
        """Its address for clients, over TLS where it has a certificate."""
        return f"http{'s' if self.emulator.certificate else ''}://127.0.0.1:{self.port}"

    @property
    def account(self) -> str:
        """The account whose resources it has."""
        return self.emulator.account

    def environment(self, region: str = "us-east-1") -> dict[str, str]:
        """The environment in which the AWS SDKs and CLIs reach it, and only it."""
        certificate = self.emulator.certificate and str(self.folder / self.emulator.certificate)
        trusted = dict.fromkeys(("AWS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"), certificate)
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHON") if name in os.environ}
        return {
            **kept,
            **(trusted if certificate else {}),
            "HOME": str(self.folder / "home"),  # the CDK CLI caches account ids under it
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": region,
            "AWS_DEFAULT_REGION": region,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ENDPOINT_URL_S3": self.endpoint,  # an address, so path-style and no DNS
            "CDK_DISABLE_CLI_TELEMETRY": "1",
            "NO_COLOR": "1",
        }


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def local_cloud(*, port: int, log: Path, emulator: Emulator = LOCALSTACK) -> Iterator[LocalCloud]:
    """Start it, yield it when it is ready, and stop it whatever happens.

    Raises:
        LocalCloudError: if the port is taken or it does not come up.
    """
    with contextlib.closing(socket.socket()) as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            msg = f"port {port} is taken, choose another with --port"
            raise LocalCloudError(msg)
    # Its metric store is a database that is many times faster in memory than on disk.
    shared = Path("/dev/shm")  # noqa: S108 - the standard tmpfs; the folder in it is made by mkdtemp
    base = shared if shared.is_dir() and os.access(shared, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
    _remove_leftovers(folder.parent)
    (folder / OWNER).write_text(str(os.getpid()), encoding="utf-8")
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with log.open("w") as output:
            process = _start(emulator, folder, port, output)
            try:
                cloud = LocalCloud(emulator=emulator, port=port, folder=folder, log=log)
                _wait(cloud, process)
                yield cloud
            finally:
                _stop(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_leftovers(base: Path) -> None:
    """Folders of clouds whose owner was killed before it could remove them."""
    for owner in base.glob(f"{PREFIX}*/{OWNER}"):
        if not Path("/proc", owner.read_text(encoding="utf-8")).exists():
            shutil.rmtree(owner.parent, ignore_errors=True)


def _start(emulator: Emulator, folder: Path, port: int, output: IO[str]) -> subprocess.Popen[bytes]:
    for name in ("home", "root", "tmp"):
        (folder / name).mkdir()
    command, settings = emulator.started_with(port=port, folder=folder)
    environment: Mapping[str, str] = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        **settings,
    }
    return subprocess.Popen(  # noqa: S603 - our own launcher
        command, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
    )


def _wait(cloud: LocalCloud, process: subprocess.Popen[bytes]) -> None:
    health = f"http://127.0.0.1:{cloud.port}{cloud.emulator.health}"
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError, ValueError):
            with urllib.request.urlopen(health, timeout=2) as reply:
                json.load(reply)
            return
        time.sleep(0.2)
    msg = f"the local cloud did not come up, see {cloud.log}"
    raise LocalCloudError(msg)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End it with all that it started: functions run in sessions of their own below it."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    _end_functions()


def _end_functions() -> None:
    """Lambda processes whose LocalStack is gone: they wait on a dead port for ever."""
    marker = str(RUNTIME_PYTHON).encode()
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if entry.read_bytes().startswith(marker) and _parent(entry.parent) == 1:
                os.kill(int(entry.parent.name), signal.SIGKILL)


def _parent(process: Path) -> int:
    return int((process / "stat").read_text().rpartition(")")[2].split()[1])
