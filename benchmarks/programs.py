"""The sweep beside YACE and Prometheus' cloudwatch_exporter: one full round of each on the same fleet.

Each program runs by itself against the strict fake on the wire, with the account's quotas, and is measured
by the system. All ask for the same three metrics' worth of knowledge: balance, reads and writes; the sweep
is its own Lambda handler's path, publishing and alarms included. `make bench` gets the peers from their
registries (needs go, and a Java with Maven); a program that cannot be had is said to be left out.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from benchmarks.record import keep

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache" / "peers"
SIZES = (100, 1_000, 10_000, 100_000)
YACE = ("github.com/nerdswords/yet-another-cloudwatch-exporter", "v0.61.2")
MAVEN_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
#: The SDK that it ships with (2.27.7) cannot be told another address; the next minor one can.
EXPORTER_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>bench</groupId><artifactId>peers</artifactId><version>1</version>
<dependencyManagement><dependencies><dependency><groupId>software.amazon.awssdk</groupId>
<artifactId>bom</artifactId><version>2.28.29</version><type>pom</type><scope>import</scope></dependency>
</dependencies></dependencyManagement><dependencies><dependency><groupId>io.prometheus.cloudwatch</groupId>
<artifactId>cloudwatch_exporter</artifactId><version>0.16.0</version></dependency></dependencies></project>
"""
PATIENCE_S = 600.0
YACE_CONFIG = """apiVersion: v1alpha1
discovery:
  jobs:
    - type: AWS/EBS
      regions: [us-east-1]
      period: 300
      length: 300
      nilToZero: false
      metrics:
        - {name: BurstBalance, statistics: [Minimum]}
        - {name: VolumeReadOps, statistics: [Sum]}
        - {name: VolumeWriteOps, statistics: [Sum]}
"""
EXPORTER_CONFIG = """region: us-east-1
use_get_metric_data: true
delay_seconds: 60
metrics:
  - {aws_namespace: AWS/EBS, aws_metric_name: BurstBalance, aws_dimensions: [VolumeId], aws_statistics: [Minimum]}
  - {aws_namespace: AWS/EBS, aws_metric_name: VolumeReadOps, aws_dimensions: [VolumeId], aws_statistics: [Sum]}
  - {aws_namespace: AWS/EBS, aws_metric_name: VolumeWriteOps, aws_dimensions: [VolumeId], aws_statistics: [Sum]}
"""


@dataclass(frozen=True, kw_only=True)
class Program:
    """How one is started. One with a ``port`` is over when its page there has ``done`` in it."""

    name: str
    command: list[str]
    port: int | None = None
    done: str = ""


def main() -> None:
    """Every program at every size."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.programs", description=__doc__)
    parser.add_argument("--volumes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", help="one program by name")
    args = parser.parse_args()
    records = []
    for program in programs():
        if args.only not in {None, program.name}:
            continue
        for volumes in args.volumes:
            record = measured(program, volumes)
            records.append(record)
            print(
                f"{program.name:20} {volumes:7} volumes  {record['api_calls']:6} calls  {record['billed_metrics']:7} metrics"
                f"  {1_000_000 * record['cpu_s'] / volumes:7.0f} us/volume  {record['wall_s']:6.1f} s  {record['peak_mib']:5.0f} MiB",
                flush=True,
            )
    if args.only is None:
        keep("programs", records)


def programs() -> Iterator[Program]:
    """Those that can be had here."""
    CACHE.mkdir(parents=True, exist_ok=True)
    yield Program(name="burstwatch", command=[sys.executable, "-m", "benchmarks.one_sweep"])
    for name, get in (("yace", _yace), ("cloudwatch_exporter", _cloudwatch_exporter)):
        program = get()
        if program is None:
            print(f"{name} is left out: what builds it is not here")
        else:
            yield program


def measured(program: Program, volumes: int) -> dict[str, Any]:
    """One full round: from the start of the process until everything is there."""
    with fake(volumes) as (url, ended):
        env = environment(url)
        began = time.monotonic()
        log = (CACHE / f"{program.name}.log").open("w")
        child = subprocess.Popen(program.command, env=env, stdout=log, stderr=log, cwd=ROOT)  # noqa: S603 - our own list
        try:
            if program.port is None:
                _, status, used = os.wait4(child.pid, 0)
                if status:
                    msg = f"{program.name} failed, see {log.name}"
                    raise RuntimeError(msg)
                wall_s = time.monotonic() - began
            else:
                _await(program, child)
                wall_s = time.monotonic() - began
                child.kill()
                _, _, used = os.wait4(child.pid, 0)
        finally:
            child.poll()
        told = ended()
    return {
        "program": program.name,
        "volumes": volumes,
        "api_calls": sum(told["calls"].values()),
        "billed_metrics": told["billed_metrics"],
        "cpu_s": used.ru_utime + used.ru_stime,
        "wall_s": wall_s,
        "peak_mib": used.ru_maxrss / 1024,
        "calls": told["calls"],
        "refused": sum(told["refused"].values()),
    }


def environment(url: str) -> dict[str, str]:
    """What leads a program to the fake."""
    return {
        **os.environ,
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


@contextmanager
def fake(
    volumes: int,
    *,
    mixed: int = 0,
    others: float = 0.0,
    clock: Path | None = None,
    fleet: str = "mixed",
) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """The fake as a process of its own: its address, and what was asked of it when it ends.

    ``mixed`` are other things with credits. ``others`` is the share of EC2's quota that others in the account take.
    The ``fleet`` says what its volumes do (tests/fake/herd.py). With a ``clock``, a file with the time, there are no quotas: they are by the second.
    """
    command = [sys.executable, "-m", "tests.fake", "--volumes", str(volumes)]
    command += ["--mixed", str(mixed), "--others", str(others), "--fleet", fleet]
    command += ["--quotas"] if clock is None else ["--clock", str(clock)]
    child = subprocess.Popen(  # noqa: S603 - our own
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    if child.stdin is None or child.stdout is None:
        raise TypeError(child)
    url = child.stdout.readline().strip()

    def ended() -> dict[str, Any]:
        told, _ = child.communicate()
        found: dict[str, Any] = json.loads(told)
        return found

    try:
        yield url, ended
    finally:
        child.kill()
        child.wait()


def _await(program: Program, child: subprocess.Popen[bytes]) -> None:
    """Read its page until the last thing that it asks for is there."""
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends and child.poll() is None:
        time.sleep(0.2)
        try:
            with urlopen(f"http://127.0.0.1:{program.port}/metrics", timeout=PATIENCE_S) as page:
                if program.done in page.read().decode():
                    return
        except (URLError, OSError):
            continue
    msg = f"{program.name} did not finish, see {CACHE / program.name}.log"
    raise RuntimeError(msg)


def _yace() -> Program | None:
    if shutil.which("go") is None:
        return None
    folder = CACHE / "yace"
    binary = folder / "yace"
    if not binary.exists():
        folder.mkdir(exist_ok=True)
        module, version = YACE
        (folder / "go.mod").write_text(f"module bench/yace\ngo 1.23\nrequire {module} {version}\n")
        env = {**os.environ, "GOFLAGS": "-mod=mod"}
        print(f"building yace {version}")
        _run(["go", "get", f"{module}/cmd/yace@{version}"], folder, env)
        _run(["go", "build", "-o", "yace", f"{module}/cmd/yace"], folder, env)
    (folder / "config.yml").write_text(YACE_CONFIG)
    command = [str(binary), "-config.file", str(folder / "config.yml")]
    command += ["-listen-address", "127.0.0.1:5917", "-scraping-interval", "86400"]
    return Program(name="yace", command=command, port=5917, done="aws_ebs_volume_write_ops_sum{")


def _cloudwatch_exporter() -> Program | None:
    if shutil.which("mvn") is None or shutil.which("java") is None:
        return None
    folder = CACHE / "cloudwatch_exporter"
    if not (folder / "lib").exists():
        folder.mkdir(exist_ok=True)
        (folder / "pom.xml").write_text(EXPORTER_POM)
        print("getting cloudwatch_exporter")
        _run(
            [
                "mvn",
                "-q",
                "-f",
                str(folder / "pom.xml"),
                MAVEN_COPY,
                f"-DoutputDirectory={folder / 'lib'}",
            ],
            folder,
        )
    (folder / "config.yml").write_text(EXPORTER_CONFIG)
    command = ["java", "-cp", f"{folder / 'lib'}/*", "io.prometheus.cloudwatch.WebServer", "5918", str(folder / "config.yml")]  # fmt: skip
    return Program(
        name="cloudwatch_exporter", command=command, port=5918, done="aws_ebs_volume_write_ops_sum{"
    )


def _run(command: list[str], folder: Path, env: dict[str, str] | None = None) -> None:
    subprocess.run(command, cwd=folder, env=env, check=True)  # noqa: S603 - our own list


if __name__ == "__main__":
    main()
