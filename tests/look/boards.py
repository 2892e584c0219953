"""The dashboards of ``monitoring/grafana``, drawn with the data of a CloudWatch that the environment leads to."""

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3

from tests.look.answering import Answering
from tests.look.frames import LookError, Span
from tests.look.page import Wish, look, problems
from tests.look.sources import CloudWatch

ROOT = Path(__file__).parents[2]
#: The demo lasts minutes, and dashboards show hours.
BEFORE_S, AHEAD_S = 1500.0, 600.0
#: The volume that is shown: a recorded workload on gp2, which runs out.
SHOWN = "database"
NAMES = ("fleet", "volume", "resource")
#: What the pages load: Grafana's components in one script and its style (``make`` builds them).
BUNDLE = ROOT / ".cache" / "grafana"
#: The fleet of the demo is of volumes alone.
EMPTY_IN_THE_DEMO = "Least time left of other kinds: "


def draw(folder: Path) -> Iterator[str]:
    """Draw each dashboard as it is now, and say which panels failed or have nothing."""
    for path in BUNDLE.glob("look.*"):  # what is still being built, make copies when it is there
        shutil.copy(path, folder)
    region = os.environ["AWS_REGION"]
    client = Answering(boto3.client("cloudwatch", region_name=region))
    for name in NAMES:
        board = json.loads(
            (ROOT / "monitoring" / "grafana" / f"burstwatch-{name}.json").read_text()
        )
        now_s = time.time()
        ahead_s, chosen = (
            (AHEAD_S, {"volume": _shown_volume(region)}) if name == "volume" else (0.0, {})
        )
        span = Span(start_s=now_s - BEFORE_S, end_s=now_s + ahead_s)
        try:
            html, looked = look(
                board,
                CloudWatch(client=client, region=region),
                Wish(span=span, now_s=now_s, chosen=chosen),
                note="The data are the demo's: minutes instead of days.",
            )
        except LookError as error:  # nothing is there yet
            yield f"dashboard {name}: {error}"
            continue
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
        yield from (
            f"dashboard {name}: {one}"
            for one in problems(looked)
            if not one.startswith(EMPTY_IN_THE_DEMO)
        )


def _shown_volume(region: str) -> str:
    filters: Any = [{"Name": "tag:Name", "Values": [SHOWN]}]
    (volume,) = boto3.client("ec2", region_name=region).describe_volumes(Filters=filters)["Volumes"]
    volume_id: str = volume["VolumeId"]
    return volume_id
