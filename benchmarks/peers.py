"""The peers and the fake that ``day`` measures: YACE and Prometheus' cloudwatch_exporter, from their registries.

All ask for the same three metrics of a volume: balance, reads and writes. A program that cannot be had (YACE needs go,
cloudwatch_exporter a Java with Maven) is said to be left out.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache" / "peers"
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
    """How one is started, and its port. A round of it is over when its page there has ``done`` in it."""

    name: str
    command: list[str]
    port: int
    done: str


def peers() -> Iterator[Program]:
    """Those that can be had here."""
    CACHE.mkdir(parents=True, exist_ok=True)
    for name, get in (("yace", _yace), ("cloudwatch_exporter", _cloudwatch_exporter)):
        program = get()
        if program is None:
            print(f"{name} is left out: what builds it is not here")
        else:
            yield program


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
    volumes: int, *, clock: Path | None = None, fleet: str = "mixed"
) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """The fake as a process of its own: its address, and what was asked of it when it ends.

    The ``fleet`` says what its volumes do (tests/fake/herd.py). With a ``clock``, a file with the time, there are no quotas: they are by the second.
    """
    command = [sys.executable, "-m", "tests.fake", "--volumes", str(volumes)]
    command += ["--fleet", fleet]
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
