"""The dashboards on the demo's own data: every query answered, every page looked at in a browser."""

import json
from collections.abc import Callable
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from demo.localcloud.cloud import LocalCloud
from tests.local_cloud.conftest import DEMO_REGION, Played, client
from tools.looks import look_at, pages_of

pytestmark = [pytest.mark.local_cloud, pytest.mark.timeout(3_000)]


def test_every_panel_of_every_dashboard_has_data_and_the_host_is_scraped(
    demo: Future[Played], demo_out: Path, program: Callable[[str], str]
) -> None:
    """A panel that fails or has nothing is a promise of the demo that is broken."""
    played = demo.result()
    if played.code and played.result["too_slow"]:
        pytest.skip(f"this machine was too slow: {played.result['too_slow']}")
    assert played.code == 0
    pages = pages_of(demo_out)
    assert all(path.exists() for path in pages.values())
    program("prometheus")
    assert "Disks with a bucket" in pages["host"].read_text()


def test_a_demo_that_is_kept_serves_the_report_and_the_dashboards_live(
    demo: Future[Played],
) -> None:
    played = demo.result()
    pages = played.pages.result()
    wiki = next(volume["id"] for volume in played.result["volumes"] if volume["name"] == "wiki")
    for path, (status, text) in pages.items():
        assert status == (404 if path == "nowhere" else 200), text
        assert ('http-equiv="refresh"' in text) is (status == 200)
    assert "What on-call received" in pages[""][1]
    assert "burstwatch / Fleet" in pages["d/burstwatch-fleet"][1]
    assert "kind ec2_instance_cpu" in pages["d/burstwatch-resource"][1]
    assert f"volume {wiki}" in pages[f"d/burstwatch-volume?var-volume={wiki}"][1]
    assert "/d/burstwatch-host" in pages["nowhere"][1]


def test_the_worst_comes_first(demo: Future[Played], demo_out: Path) -> None:
    result = demo.result().result
    report = (demo_out / "report.html").read_text()
    dry = sorted(
        (volume for volume in result["volumes"] if volume["exhausted_at"]),
        key=lambda volume: volume["exhausted_at"],
    )
    calm = next(volume for volume in result["volumes"] if volume["name"] == "cache")
    order = [volume["id"] for volume in [*dry, calm]]
    places = [report.index(f'<td data-name="id">{volume}</td>') for volume in order]
    assert places == sorted(places)


def test_the_pages_fit_and_can_be_read_in_light_and_dark_on_a_phone_and_on_a_desk(
    demo: Future[Played], demo_out: Path, program: Callable[[str], str]
) -> None:
    demo.result()
    program("chromium")
    assert look_at(pages_of(demo_out), empty={"resource"}).wrong == []


def test_every_widget_of_the_stacks_own_dashboard_has_data(
    cloud: LocalCloud, demo: Future[Played]
) -> None:
    demo.result()
    (template,) = (cloud.folder / f"cdk-{DEMO_REGION}-burstwatch").glob("*.template.json")
    resources = json.loads(template.read_text())["Resources"].values()
    (dashboard,) = [one for one in resources if one["Type"] == "AWS::CloudWatch::Dashboard"]
    body = dashboard["Properties"]["DashboardBody"]["Fn::Join"][1]
    text = "".join(part if isinstance(part, str) else DEMO_REGION for part in body)
    cloudwatch = client(cloud, "cloudwatch", DEMO_REGION)
    now = datetime.now(tz=UTC)
    empty, asked = [], 0
    for widget in json.loads(text)["widgets"]:
        entries = widget["properties"].get("metrics", [])
        # The local cloud measures no function.
        entries = [one for one in entries if one[0] != "AWS/Lambda" and "ms0" not in str(one[0])]
        if not entries:
            continue
        queries = [query_of(entry, number) for number, entry in enumerate(entries)]
        answer = cloudwatch.get_metric_data(
            MetricDataQueries=queries, StartTime=now - timedelta(minutes=30), EndTime=now
        )
        found = {one["Id"] for one in answer["MetricDataResults"] if one["Values"]}
        shown = {one["Id"] for one in queries if one["ReturnData"]}
        asked += len(shown)
        if shown - found:
            empty.append((widget["properties"]["title"], shown - found))
    assert asked >= 18
    assert empty == []


def query_of(entry: list[Any], number: int) -> dict[str, Any]:
    """A MetricDataQuery of one line of a widget."""
    *words, options = entry if isinstance(entry[-1], dict) else [*entry, {}]
    query = {
        "Id": options.get("id", f"q{number}"),
        "ReturnData": options.get("visible", True),
        "Label": options.get("label", ""),
    }
    if not words:
        return {**query, "Expression": options["expression"]}
    namespace, name, *dimensions = words
    pairs = zip(dimensions[::2], dimensions[1::2], strict=True)
    metric = {
        "Namespace": namespace,
        "MetricName": name,
        "Dimensions": [{"Name": key, "Value": value} for key, value in pairs],
    }
    stat = {
        "Metric": metric,
        "Stat": options.get("stat", "Average"),
        "Period": options.get("period", 60),
    }
    return {**query, "MetricStat": stat}
