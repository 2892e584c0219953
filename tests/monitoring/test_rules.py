"""The Prometheus rules: checked and played by promtool, on what a real exporter said of a disk."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from burstwatch.fleet.metrics import served_metrics
from burstwatch_exporter.page.metrics import METRICS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "monitoring" / "prometheus"
CASES = sorted((FOLDER / "tests").glob("*.yml"))
RULES = sorted([*FOLDER.glob("*.rules.yml"), *FOLDER.glob("*.alerts.yml")])
ALERTS = [
    FOLDER / f"{name}.alerts.yml"
    for name in ("burstwatch", "burstwatch-exporter", "burstwatch-fleet")
]
#: What the mappings read, as those exporters name it (YACE v0.61, aws-ebs-csi-driver v1.5x).
OF_OTHERS = {
    "aws_ebs_burst_balance_minimum", "node_textfile_mtime_seconds",
    "aws_ebs_csi_exceeded_iops_seconds_total", "aws_ebs_csi_exceeded_tp_seconds_total",
    "aws_ebs_csi_ec2_exceeded_iops_seconds_total", "aws_ebs_csi_ec2_exceeded_tp_seconds_total",
}  # fmt: skip


def rules(path: Path) -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(path.read_text())["groups"] for rule in group["rules"]]


def alerts() -> list[dict[str, Any]]:
    return [rule for path in ALERTS for rule in rules(path)]


def recorded(path: Path) -> set[str]:
    return {rule["record"] for rule in rules(path)}


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_promtool_has_nothing_to_say_of_the_rules(
    path: Path, program: Callable[[str], str]
) -> None:
    command = [program("promtool"), "check", "rules", "--lint=all", "--lint-fatal", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_the_alerts_fire_and_end_as_their_cases_say(
    path: Path, program: Callable[[str], str]
) -> None:
    command = [program("promtool"), "test", "rules", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def counts(case: dict[str, Any], alert: dict[str, Any]) -> list[tuple[int, bool]]:
    """The minutes at which a case counts the firing alerts of that name and severity, and whether there are any."""
    found = []
    for expected in case["promql_expr_test"]:
        name = re.search(r'alertname(=~|!~|=)"([^"]*)"', expected["expr"])
        severity = re.search(r'severity="([^"]*)"', expected["expr"])
        if name is None or (severity and severity[1] != alert["labels"]["severity"]):
            continue
        if bool(re.fullmatch(name[2], alert["alert"])) is not (name[1] == "!~"):
            minute = int(expected["eval_time"].removesuffix("m"))
            found.append((minute, bool(expected["exp_samples"])))
    return sorted(found)


def test_every_alert_fires_in_a_case_and_ends_in_it() -> None:
    cases = [case for path in CASES for case in yaml.safe_load(path.read_text())["tests"]]
    for alert in alerts():
        orders = [[fires for _, fires in counts(case, alert)] for case in cases]
        assert any(True in order and order[-1] is False for order in orders), alert["alert"]


def test_the_series_of_a_case_have_the_labels_that_burstwatch_writes() -> None:
    labels_by_name = {one.printed: {*one.labels} for one in (*METRICS, *served_metrics())}
    names = set()
    for path in CASES:
        for case in yaml.safe_load(path.read_text())["tests"]:
            for series in (one["series"] for one in case["input_series"]):
                name, labels = series.partition("{")[0], {*re.findall(r'(\w+)="', series)}
                if name in labels_by_name:
                    assert labels == labels_by_name[name] | {"instance", "job"}, series
                    names.add(name)
                else:
                    assert name in OF_OTHERS | {"up"}
    assert names


def test_every_metric_of_a_rule_is_one_that_somebody_exports_or_records() -> None:
    of_burstwatch = {metric.printed for metric in (*METRICS, *served_metrics())}
    exported = of_burstwatch | OF_OTHERS | {"up"}
    every = set().union(*(recorded(path) for path in RULES if path not in ALERTS))
    for path in RULES:
        for rule in rules(path):
            plain = re.sub(r'"[^"]*"', "", rule["expr"])
            found = set(
                re.findall(r"\b(?:\w+:)?(?:burstwatch|aws|node)_\w+(?::\w+)?|\bup\b", plain)
            )
            assert found, rule
            assert found <= exported | every, found - exported - every


def test_those_with_other_exporters_record_the_names_that_the_alerts_ask_for() -> None:
    own = recorded(FOLDER / "burstwatch.rules.yml")
    asked = {
        name
        for rule in rules(ALERTS[0])
        for name in re.findall(r"\b\w+:burstwatch_\w+:\w+", rule["expr"])
    }
    assert asked <= own
    yace, csi = (recorded(FOLDER / f"from-{name}.rules.yml") for name in ("yace", "ebs-csi"))
    assert asked == (asked & yace) | (asked & csi)


@pytest.mark.parametrize(
    "rule", alerts(), ids=lambda rule: f"{rule['alert']} {rule['labels']['severity']}"
)
def test_an_alert_says_how_bad_it_is_and_what_to_do(rule: dict[str, Any]) -> None:
    assert re.fullmatch(r"Burstwatch[A-Z]\w+", rule["alert"])
    assert rule["labels"]["severity"] in {"warning", "critical"}
    assert rule["for"]
    notes = rule["annotations"]
    assert notes["summary"]
    assert notes["description"].endswith(".")
    folder = "https://github.com/burstwatch/burstwatch/blob/main/"
    assert notes["runbook_url"].startswith(folder)
    runbook = (ROOT / notes["runbook_url"].removeprefix(folder)).read_text()
    assert f"`{rule['alert']}`" in runbook.split("\n\n")[1]


def test_the_docs_name_every_alert_and_no_other() -> None:
    text = (ROOT / "docs" / "monitoring.md").read_text()
    assert set(re.findall(r"`(Burstwatch\w+)`", text)) == {rule["alert"] for rule in alerts()}


def test_the_alertmanager_heeds_only_alerts_that_there_are() -> None:
    config = yaml.safe_load((FOLDER / "alertmanager.yml").read_text())
    names = {rule["alert"] for rule in alerts()}
    for inhibition in config["inhibit_rules"]:
        for matchers in (inhibition["source_matchers"], inhibition["target_matchers"]):
            named = set(re.findall(r"Burstwatch\w+", " ".join(matchers)))
            assert named
            assert named <= names
            # Two labels that are missing are equal to it: what must be equal must be there.
            for label in {"device", "volume_id"} & set(inhibition.get("equal", ())):
                assert f'{label}!=""' in matchers
