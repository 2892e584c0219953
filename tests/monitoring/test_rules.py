"""The Prometheus rules: checked and played by promtool, on what a real exporter said of a disk."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from burstwatch.fleet.metrics import served_metrics
from burstwatch_exporter.metrics import METRICS
from tools.rule_cases import CASES, CASES_BY_NAME, render
from tools.rule_replay import FOLDER

ROOT = Path(__file__).parents[2]
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


#: One case is enough to see in the inner loop that the exporter or the rules say something else now.
IN_THE_LOOP = "drain"
EACH_CASE = [
    name if name == IN_THE_LOOP else pytest.param(name, marks=pytest.mark.slow)
    for name in CASES_BY_NAME
]


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_promtool_has_nothing_to_say_of_the_rules(
    path: Path, program: Callable[[str], str]
) -> None:
    command = [program("promtool"), "check", "rules", "--lint=all", "--lint-fatal", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", EACH_CASE)
def test_the_rules_do_in_a_case_what_is_said_of_it(
    name: str, program: Callable[[str], str]
) -> None:
    command = [program("promtool"), "test", "rules", str(CASES / f"{name}.yml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", EACH_CASE)
def test_a_case_is_what_the_exporter_says_today(name: str) -> None:
    assert (CASES / f"{name}.yml").read_text() == render(CASES_BY_NAME[name])


def test_there_is_no_case_that_nobody_writes() -> None:
    assert {path.stem for path in CASES.glob("*.yml")} == {*CASES_BY_NAME}


def test_every_alert_fires_in_a_case_and_ends_in_one() -> None:
    """That it ends: it does not fire at a later instant of a case in which it fired, or its case shows it gone."""
    expected = [one for case in CASES_BY_NAME.values() for one in case.expected]
    assert {name for _, name, _, count in expected if count} == {rule["alert"] for rule in alerts()}
    ended = {
        name
        for case in CASES_BY_NAME.values()
        for minute, name, severity, count in case.expected
        if count
        and any(m > minute and (n, s, c) == (name, severity, 0) for m, n, s, c in case.expected)
    }
    # A bucket that is empty and a limit that is reached end with the load: the recovery shows that of the drain.
    assert {rule["alert"] for rule in alerts()} - ended == {
        "BurstwatchThrottledNow",
        "BurstwatchLimitReached",
    }


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
