"""Writes the golden files: what on-call reads, whole. Run by `make gen`, compared by a test."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from burstwatch.aws.alarms import alarm_request
from burstwatch.aws.names import MASS
from burstwatch.backtest.replay import points, totals_of, volume
from burstwatch.backtest.series import read_series, write_series
from burstwatch.backtest.simulate import Phase, Simulation
from burstwatch.config import Config
from burstwatch.ebs.volumes import volume_spec
from burstwatch.forecast.policy import assess
from burstwatch.history.background import make_background, recent_rates
from burstwatch.history.observations import Verdict, observe
from burstwatch.kinds.ebs_volume import KIND, TRAFFIC
from burstwatch.messages.brief import Brief, make_brief
from burstwatch.messages.chat import chat_message, mass_chat_message, recovery_chat_message
from burstwatch.messages.text import NAMED_IN_MASS, alarm_description, mass_description
from burstwatch.polling.unit import Unit
from tools.pages import TREES, page

FOLDER = Path(__file__).parents[1] / "tests" / "golden"
START_S = 1_790_000_040.0
#: Type, size, the load by minutes, and the balance at the start.
CASES: dict[str, tuple[str, float, list[Phase], float]] = {
    "gp2_draining": ("gp2", 100, [Phase(seconds=1_200, read_iops=1_000, write_iops=2_000)], 0.9),
    "gp2_exhausted": ("gp2", 100, [Phase(seconds=1_800, read_iops=1_000, write_iops=2_000)], 0.5),
    "gp2_recovering": (
        "gp2",
        100,
        [
            Phase(seconds=1_200, read_iops=0, write_iops=3_000),
            Phase(seconds=600, read_iops=50, write_iops=0),
        ],
        0.9,
    ),
    "st1_draining": (
        "st1",
        500,
        [Phase(seconds=3_600, read_iops=120, write_iops=0, io_kib=1024, access="sequential")],
        0.9,
    ),
}
#: The file of the messages that are not of one resource's danger.
CROWD = "crowd"
CONFIG = Config(
    page_topic_arn="arn:aws:sns:eu-central-1:123456789012:page",
    notice_topic_arn="arn:aws:sns:eu-central-1:123456789012:notice",
    dashboard_url="https://console.aws.amazon.com/cloudwatch/home?region=eu-central-1#dashboards/dashboard/burstwatch-burstwatch-eu-central-1",
    runbooks_url="https://wiki.example.org/runbooks",
)


def messages(name: str) -> dict[str, Any]:
    """The alarm and the event of one case, as they are sent."""
    brief = golden_brief(name)
    unit = Unit(account="123456789012", region="eu-central-1")
    severity: Verdict = "warning" if brief.verdict == "warning" else "critical"
    text = alarm_description(brief, CONFIG.links)
    return {
        "verdict": brief.verdict,
        "alarm": alarm_request(unit, (brief.kind, brief.resource_id), text, severity, CONFIG),
        "event": json.loads(chat_message(brief, CONFIG.links)),
    }


def crowd() -> dict[str, Any]:
    """The alarm and the event that stand for many, and the message of a recovery."""
    briefs = [
        replace(golden_brief(name), resource_id=f"vol-0123456789abcde{number:02}")
        for number, name in enumerate(4 * ("gp2_exhausted", "gp2_draining", "st1_draining"))
    ]
    unit, links = Unit(account="123456789012", region="eu-central-1"), CONFIG.links
    text = mass_description(briefs[:NAMED_IN_MASS], len(briefs), str(unit), "critical", links)
    recovered = golden_brief("gp2_recovering")
    at = {"since": START_S, "at": START_S + 5_400.0}
    return {
        "alarm": alarm_request(unit, (MASS, str(unit)), text, "critical", CONFIG),
        "event": json.loads(
            mass_chat_message(briefs[:NAMED_IN_MASS], len(briefs), str(unit), "critical", links)
        ),
        "recovery": json.loads(
            recovery_chat_message(recovered, recovered.resource_id, str(unit), links=links, **at)
        ),
        "gone": json.loads(
            recovery_chat_message(None, recovered.resource_id, str(unit), links=links, **at)
        ),
    }


def golden_path(name: str) -> Path:
    """The path of a case's golden file."""
    return FOLDER / f"{name}.json"


def rendered(name: str) -> str:
    """A golden file's text."""
    found = crowd() if name == CROWD else messages(name)
    return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def golden_brief(name: str) -> Brief:
    """The brief of one case."""
    volume_type, size_gib, loads, ratio = CASES[name]
    spec = volume_spec(volume_type, size_gib)
    if spec.bucket is None:
        raise AssertionError(volume_type)
    simulation = Simulation(spec=spec, bucket=spec.bucket)
    played = list(simulation.play(loads, ratio=ratio, start_s=START_S))
    resource = volume(volume_type, size_gib)
    rows = read_series(write_series(played), name="golden")
    levels, demand = points(rows, resource, 60)
    resource = replace(
        resource,
        id="vol-0123456789abcdef0",
        name="orders-db",
        unit="123456789012/eu-central-1",
        place="/dev/sdf of i-0123456789abcdef0",
    )
    seen = observe(resource, levels[-1].end_s + 120, levels, demand)
    rates = recent_rates(TRAFFIC.metrics, {row.t_s: totals_of(row) for row in rows}, 60.0)
    background = make_background(seen.history, rates, seen.at)
    return make_brief(resource, assess(seen, CONFIG), KIND, background)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for case in (*CASES, CROWD):
        golden_path(case).write_text(rendered(case), encoding="utf-8")
    for tree in sorted(TREES.glob("*.yml")):
        tree.with_suffix(".prom").write_text(page(tree), encoding="utf-8")
