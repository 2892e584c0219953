"""Programs as a person runs them against the local cloud."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demo.localcloud.cloud import LocalCloud
from demo.localcloud.emulators import ROOT

AWS = ROOT / ".cache" / "localstack" / "bin" / "aws"


@dataclass(frozen=True, kw_only=True)
class Drilled:
    """How a drill ended, and its hops by name."""

    code: int
    errors: str
    hops: dict[str, dict[str, Any]]


def drill(cloud: LocalCloud, region: str, deployment: str, topic: str) -> Drilled:
    done = burstwatch(
        cloud, region, "drill", "--json", "--deployment", deployment, "--topic", topic
    )
    hops = [json.loads(line) for line in done.stdout.splitlines()]
    return Drilled(
        code=done.returncode, errors=done.stderr, hops={hop["step"]: hop for hop in hops}
    )


def burstwatch(
    cloud: LocalCloud, region: str, *arguments: str, **settings: str
) -> subprocess.CompletedProcess[str]:
    return _run(
        [str(Path(sys.executable).with_name("burstwatch")), *arguments],
        {**cloud.environment(region), **settings},
    )


def _run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=900
    )
