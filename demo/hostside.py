"""The host of the demo: a real exporter on a host of files, scraped by a real Prometheus.

Its disks are volumes of the fleet and serve the same loads, so what the exporter counts and what
CloudWatch publishes are of the same disks; it asks the local cloud for their types and balances.
"""

import contextlib
import json
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from burstwatch.backtest.simulate import Phase
from demo.fleet import DAY_S, LARGE
from demo.host import Disk, PlayedHost, log_pages
from demo.localcloud.cloud import free_port
from demo.localcloud.emulators import LOCALSTACK, ROOT
from demo.play import Volume

#: The volumes of the fleet's largest instance that this host has, and where they are mounted.
MOUNTED = {
    "drain-100": "/var/lib/postgresql", "log-archive": "/srv/logs", "drain-500": "/var/lib/mysql", "wiki": "/srv/wiki",
}  # fmt: skip
#: A disk that was measured once: its results are of a disk that the kernel throttled.
MEASURED = ROOT / "demo" / "measured"
MEASURED_VOLUME = "vol-0aaaaaaaaaaaaaaa1"
MEASURED_AGO_S = 20 * 3600.0
SCRAPE_S, START_S = 5.0, 180.0
#: The rules are asked every half minute, those of the alerts after those that they are made of; and each scrape is late too.
SAID_AFTER_S = 90.0
#: On a busy machine scrapes and rules come later than that. What is said only then is right too.
SAID_WITHIN_S, ASKED_EVERY_S = 300.0, 5.0


class HostSideError(RuntimeError):
    """A program of the host side did not come up; the message ends with its log."""


@dataclass(frozen=True, kw_only=True)
class HostSide:
    """The host, and where its Prometheus answers."""

    prometheus: str
    host: PlayedHost


@contextlib.contextmanager
def host_side(
    volumes: Sequence[Volume], *, live_at: float, environment: Mapping[str, str], folder: Path
) -> Iterator[HostSide | None]:
    """Everything running until the end; None where there is no Prometheus on this machine."""
    prometheus = shutil.which("prometheus")
    if prometheus is None:
        yield None
        return
    folder.mkdir(parents=True)
    begun_at = max(volume.ratios[-1][0] for volume in volumes)
    host = PlayedHost(folder / "host", _disks(volumes, live_at, begun_at), start_s=begun_at)
    _plant_results(folder / "results", now_s=time.time())
    instance_id = next(volume.instance_id for volume in volumes if volume.spec.name in MOUNTED)
    with contextlib.ExitStack() as ending:
        ending.enter_context(_playing(host))
        ending.enter_context(log_pages(host, folder / "nvme.sock"))
        metadata = ending.enter_context(_metadata(instance_id, environment["AWS_REGION"]))
        exporter = f"127.0.0.1:{free_port()}"
        flags = {
            **host.flags,
            "web.listen-address": exporter,
            "sample.period": "1",
            "state.file": str(folder / "state.json"),
            "nvme.socket": str(folder / "nvme.sock"),
            "measure.results": str(folder / "results"),
            "aws": "cloudwatch",
            "aws.period": "60",
            "imds.endpoint": metadata,
        }
        command = [str(Path(sys.executable).with_name("burstwatch-exporter"))]
        command += [f"--{name}={value}" for name, value in flags.items()]
        log = folder / "exporter.log"
        ending.enter_context(_running(command, environment, log, f"http://{exporter}/-/ready"))
        server = f"127.0.0.1:{free_port()}"
        config = folder / "prometheus.yml"
        config.write_text(yaml.safe_dump(_scraping(exporter)), encoding="utf-8")
        command = [
            prometheus, f"--config.file={config}", f"--storage.tsdb.path={folder / 'tsdb'}",
            f"--web.listen-address={server}",
        ]  # fmt: skip
        log = folder / "prometheus.log"
        ending.enter_context(_running(command, environment, log, f"http://{server}/-/ready"))
        yield HostSide(prometheus=f"http://{server}", host=host)


def alerts_of(host: HostSide) -> dict[str, set[str]]:
    """The critical alerts that Prometheus has, waiting or firing, by volume."""
    with urllib.request.urlopen(f"{host.prometheus}/api/v1/alerts", timeout=10) as answer:  # noqa: S310 - our own server
        alerts = json.load(answer)["data"]["alerts"]
    found: dict[str, set[str]] = {}
    for alert in alerts:
        labels = alert["labels"]
        if labels["severity"] == "critical":
            found.setdefault(labels.get("volume_id", ""), set()).add(labels["alertname"])
    return found


def broken_on_host(host: HostSide, volumes: Sequence[Volume]) -> list[str]:
    """Name what the rules should have said of the host's disks, and have not within ``SAID_WITHIN_S``."""
    until = time.monotonic() + SAID_WITHIN_S
    while (broken := _broken_now(host, volumes, now_s=time.time())) and time.monotonic() < until:
        time.sleep(ASKED_EVERY_S)
    return broken


def _broken_now(host: HostSide, volumes: Sequence[Volume], *, now_s: float) -> list[str]:
    """Name what the rules should have said by now, and have not.

    That a disk runs out they say from half an hour on, and the demo has minutes.
    """
    alerts = alerts_of(host)
    broken = [f"Prometheus says {name}" for name in sorted(alerts.get("", set()))]
    if host.host.error is not None:
        broken.append(f"the host's disks stood still: {host.host.error}")
    for volume in volumes:
        if volume.spec.name not in MOUNTED:
            continue
        said = alerts.get(volume.id, set())
        if not volume.emptied and "BurstwatchThrottledNow" in said:
            broken.append(
                f"Prometheus says that {volume.spec.name} is throttled, and it is not dry"
            )
        is_late = bool(volume.emptied) and volume.emptied[0] < now_s - SAID_AFTER_S
        if is_late and "BurstwatchThrottledNow" not in said:
            broken.append(f"{volume.spec.name} ran out, and Prometheus says nothing of it")
    return broken


def _disks(volumes: Sequence[Volume], live_at: float, begun_at: float) -> list[Disk]:
    """The host's disks with what is in their buckets now, and the loads that are still to come."""
    disks: list[Disk] = []
    for volume in volumes:
        if volume.spec.name in MOUNTED:
            loads = _after(volume.spec.loads(), begun_at - (live_at - DAY_S))
            disks.append(
                Disk(
                    name=f"nvme{len(disks) + 1}n1",
                    volume_id=volume.id,
                    volume_type=volume.spec.volume_type,
                    size_gib=volume.spec.size_gib,
                    loads=loads,
                    mountpoint=MOUNTED[volume.spec.name],
                    ratio=volume.ratios[-1][1],
                )
            )
    calm = next(volume.spec for volume in volumes if volume.spec.name == "wiki").loads()
    measured = Disk(
        name=f"nvme{len(disks) + 1}n1", volume_id=MEASURED_VOLUME, volume_type="gp2", size_gib=100,
        loads=[replace(load, read_iops=load.read_iops / 10, write_iops=load.write_iops / 10) for load in calm],
        mountpoint="/data",
    )  # fmt: skip
    return [*disks, measured]


def _after(loads: Sequence[Phase], seconds: float) -> list[Phase]:
    """The rest of loads when so much time is over."""
    left = []
    for load in loads:
        over = min(load.seconds, seconds)
        seconds -= over
        if load.seconds > over:
            left.append(replace(load, seconds=load.seconds - over))
    return left


def _plant_results(folder: Path, *, now_s: float) -> None:
    """The recorded results as if they were of yesterday: how old they are is shown."""
    folder.mkdir()
    for path in MEASURED.glob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        later_s = now_s - MEASURED_AGO_S - record["ended_s"]
        record["began_s"] += later_s
        record["ended_s"] += later_s
        (folder / path.name).write_text(json.dumps(record), encoding="utf-8")


def _scraping(exporter: str) -> dict[str, Any]:
    rules = ROOT / "monitoring" / "prometheus"
    return {
        "global": {"scrape_interval": f"{SCRAPE_S:g}s", "evaluation_interval": f"{SCRAPE_S:g}s"},
        "rule_files": [
            str(rules / f"{name}.yml")
            for name in ("burstwatch.rules", "burstwatch.alerts", "burstwatch-exporter.alerts")
        ],
        "scrape_configs": [
            {
                "job_name": "burstwatch",
                "static_configs": [{"targets": [exporter]}],
                "relabel_configs": [{"target_label": "instance", "replacement": "db-1"}],
            }
        ],
    }


@contextlib.contextmanager
def _playing(host: PlayedHost) -> Iterator[None]:
    """The disks live on, second by second."""
    stop = threading.Event()

    def play() -> None:
        while not stop.wait(0.5):
            try:
                host.move_to(time.time())
            except Exception as error:  # noqa: BLE001 - told at the end, with what else was not as promised
                host.error = error
                return

    host.move_to(time.time())
    player = threading.Thread(target=play, daemon=True)
    player.start()
    try:
        yield
    finally:
        stop.set()
        player.join()


@contextlib.contextmanager
def _metadata(instance_id: str, region: str) -> Iterator[str]:
    """An instance metadata service that says which instance this is."""
    document = json.dumps(
        {"instanceId": instance_id, "instanceType": LARGE, "region": region, "accountId": LOCALSTACK.account}
    )  # fmt: skip

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self._answer("token")

        def do_GET(self) -> None:
            self._answer(document)

        def log_message(self, *_: object) -> None:
            """Nothing."""

        def _answer(self, text: str) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


@contextlib.contextmanager
def _running(
    command: Sequence[str], environment: Mapping[str, str], log: Path, ready: str
) -> Iterator[None]:
    """A program until the end, once it answers. It ends with us, even if we are killed and cannot say so."""
    tie = shutil.which("setpriv")
    tied = [*([tie, "--pdeathsig", "TERM"] if tie else []), *command]
    with log.open("w") as output:
        process = subprocess.Popen(tied, env=dict(environment), stdout=output, stderr=output)  # noqa: S603 - our own command
    try:
        deadline = time.monotonic() + START_S
        while True:
            try:
                with urllib.request.urlopen(ready, timeout=2):  # noqa: S310 - our own server
                    break
            except OSError as error:
                if process.poll() is not None or time.monotonic() > deadline:
                    said = "\n".join(log.read_text(encoding="utf-8").splitlines()[-5:])
                    msg = f"{Path(command[0]).name} does not come up:\n{said}"
                    raise HostSideError(msg) from error
                time.sleep(0.2)
        yield
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
