"""The mixin puts together what is in the YAML and JSON, and follows its configuration."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import rjsonnet
import yaml

FOLDER = Path(__file__).parents[2] / "monitoring"
ALERTS = [
    group
    for name in ("burstwatch", "burstwatch-exporter")
    for group in yaml.safe_load((FOLDER / "prometheus" / f"{name}.alerts.yml").read_text())[
        "groups"
    ]
]


def mixin(**config: object) -> dict[str, Any]:
    """What the mixin gives, with a configuration over its own."""
    text = f"""
      local m = (import 'mixin.libsonnet') + {{ _config+:: {json.dumps(config)} }};
      {{ rules: m.prometheusRules, alerts: m.prometheusAlerts, dashboards: m.grafanaDashboards }}
    """
    found: dict[str, Any] = json.loads(
        rjsonnet.evaluate_snippet(str(FOLDER / "a.jsonnet"), text, jpathdir=[str(FOLDER)])
    )
    return found


def rules_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [rule for group in found["alerts"]["groups"] for rule in group["rules"]]


def test_without_a_word_it_gives_the_files_as_they_are() -> None:
    found = mixin()
    expected = [rule for group in ALERTS for rule in group["rules"]]
    shown = rules_of(found)
    assert [{**rule, "expr": ""} for rule in shown] == [{**rule, "expr": ""} for rule in expected]
    for ours, rule in zip(shown, expected, strict=True):  # 6 * 3600 is 21600
        product = re.sub(r"(\d) \* 3600", lambda match: str(3600 * int(match[1])), rule["expr"])
        assert ours["expr"] in {rule["expr"], product}
    rules = yaml.safe_load((FOLDER / "prometheus" / "burstwatch.rules.yml").read_text())
    assert found["rules"] == rules
    names = {
        path.name: json.loads(path.read_text()) for path in (FOLDER / "grafana").glob("*.json")
    }
    assert found["dashboards"] == names


def test_runbooks_and_the_job_are_where_its_user_has_them() -> None:
    found = mixin(runbooksUrl="https://wiki.example.org/r", jobSelector='job=~"ebs-.+"')
    text = json.dumps(found["alerts"])
    assert "monitoring/runbooks" not in text
    assert "https://wiki.example.org/r/host-runs-dry.md" in text
    (down,) = [
        rule
        for group in found["alerts"]["groups"]
        for rule in group["rules"]
        if rule["alert"] == "BurstwatchExporterDown"
    ]
    assert down["expr"] == 'up{job=~"ebs-.+"} == 0'


@pytest.mark.parametrize("exporter", ["yace", "ebs-csi"])
def test_with_another_exporter_its_rules_stand_in_and_nothing_is_said_of_ours(
    exporter: str,
) -> None:
    found = mixin(exporter=exporter)
    (group,) = found["rules"]["groups"]
    assert group["name"] == f"burstwatch.from_{exporter.replace('-', '_')}"
    assert [one["name"] for one in found["alerts"]["groups"]] == ["burstwatch.volumes"]


def test_with_the_address_of_grafana_every_alert_links_to_its_dashboard() -> None:
    for address in ("", "https://grafana.example.org"):
        found = mixin(grafanaUrl=address)["alerts"]["groups"]
        links = [
            rule["annotations"].get("dashboard_url") for group in found for rule in group["rules"]
        ]
        assert links
        if address:
            assert all(link.startswith(f"{address}/d/burstwatch-host?") for link in links)
        else:
            assert set(links) == {None}


def test_severities_and_names_are_those_of_its_user() -> None:
    found = mixin(severities={"critical": "page", "warning": "ticket"}, alertPrefix="Ebs", dashboardPrefix="Storage / ", dashboardTags=["storage"], dashboardRefresh="5m")  # fmt: skip
    assert {rule["labels"]["severity"] for rule in rules_of(found)} == {"page", "ticket"}
    names = {rule["alert"] for rule in rules_of(found)}
    assert "EbsRunsDry" in names
    assert all(name.startswith("Ebs") for name in names)
    (alerts,) = found["dashboards"]["burstwatch-host.json"]["annotations"]["list"]
    assert 'alertname=~"Ebs.*"' in alerts["expr"]
    for board in found["dashboards"].values():
        assert board["title"].startswith("Storage / ")
        assert board["refresh"] == "5m"
        linked = [link["tags"] for link in board["links"] if link["type"] == "dashboards"]
        assert [board["tags"], *linked] == [["storage"], ["storage"]]


def test_thresholds_are_those_of_its_user() -> None:
    found = mixin(diskCriticalWithin=1_200, diskWarningWithin=7_777, cpuWarningWithin=5_000, limitReachedFrom=0.25)  # fmt: skip
    texts = {(rule["alert"], rule["labels"]["severity"]): rule["expr"] for rule in rules_of(found)}
    assert texts["BurstwatchRunsDry", "critical"].count("< 1200") == 2
    assert texts["BurstwatchRunsDry", "warning"].count("< 7777") == 2
    assert "< 5000" in texts["BurstwatchCpuCreditsRunOut", "warning"]
    assert "> 0.25" in texts["BurstwatchLimitReached", "warning"]
