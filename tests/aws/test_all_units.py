"""``--all-units``: a command looks at every account and region of a deployment, each by its role."""

import json
from typing import Any

import pytest

from burstwatch.cli.commands.serve import make_fleet
from burstwatch.cli.main import build_parser
from burstwatch.config import Config
from burstwatch.polling.bill import Extent, deployment_lines
from tests.aws.commands import burstwatch
from tests.aws.doctored import RULE, deploy
from tests.aws.looking import FULL_BURST, drain
from tests.conftest import Cloud
from tests.fake.aws import ACCOUNT
from tests.fake.organization import ORGANIZATION, Member
from tests.terminals import terminal_of

pytestmark = pytest.mark.slow

ROLE = "burstwatch-member"
FIXED, FOUND, ROLELESS = "222222222222", "333333333333", "444444444444"
QUESTION = {"parts": [ORGANIZATION], "role": ROLE, "external_id": "watch-me"}


def arn(account: str) -> str:
    return f"arn:aws:iam::{account}:role/{ROLE}"


def member_event(account: str) -> dict[str, Any]:
    unit = {
        "account": account,
        "region": "us-east-1",
        "role_arn": arn(account),
        "external_id": "watch-me",
    }
    return {"unit": unit}


@pytest.fixture
def deployed(cloud: Cloud) -> Cloud:
    """A deployment with its home, one member that is named, and two that it finds, one of them without a role."""
    deploy(cloud)
    cloud.aws.targets[RULE] = [
        {"unit": {}},
        member_event(FIXED),
        {"find": QUESTION, "queue_url": "q"},
    ]
    for account in (FIXED, FOUND):
        cloud.aws.roles[arn(account)] = "watch-me"
    for account in (FOUND, ROLELESS):
        cloud.aws.members[account] = Member(account, "team")
    instance = cloud.aws.add_instance("m5.large")
    volume = cloud.aws.add_volume("gp2", 100, instance_id=instance, name="orders-db")
    drain(cloud, volume, to_percent=40, **FULL_BURST)
    return cloud


def test_a_scan_has_the_resources_of_all_and_names_who_does_not_answer(deployed: Cloud) -> None:
    code, out, err = burstwatch(deployed, "scan", "--all-units", "--json")
    assert code == 1
    places = {(one["account"], one["region"]) for one in map(json.loads, out.splitlines())}
    assert {account for account, _ in places} == {ACCOUNT, FIXED, FOUND}
    assert f"{ROLELESS}/us-east-1: AssumeRole: AccessDenied" in err
    code, out, _ = burstwatch(deployed, "scan", "--all-units")
    assert f"{FIXED}/us-east-1" in out
    assert "4 accounts and regions of burstwatch" in out


def test_the_bill_of_all_units_has_the_requests_of_each_and_the_deployment_once(
    deployed: Cloud,
) -> None:
    _, out, _ = burstwatch(deployed, "scan", "--all-units", "--cost", "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    usd = {line["cost_line"]: line["usd_month"] for line in lines if "cost_line" in line}
    extent = Extent(units=2, found_units=2, functions=1)
    fixed = {line.name: line.usd for line in deployment_lines(Config(), extent)}
    assert {name: usd[name] for name in fixed} == pytest.approx(fixed)
    asked = sum(line["usd_month"] for line in lines if "type" in line)
    assert usd["all"] == pytest.approx(asked + sum(fixed.values()))
    _, alone, _ = burstwatch(deployed, "scan", "--cost", "--json")
    once = sum(one["usd_month"] for one in map(json.loads, alone.splitlines()) if "type" in one)
    assert asked == pytest.approx(3 * once)


def test_openmetrics_says_who_does_not_answer(deployed: Cloud) -> None:
    code, out, _ = burstwatch(deployed, "scan", "--all-units", "--openmetrics")
    assert code == 1
    assert f'burstwatch_unit_up{{account_id="{ROLELESS}",region="us-east-1"}} 0.0' in out
    assert f'burstwatch_unit_up{{account_id="{FOUND}",region="us-east-1"}} 1.0' in out


def test_serve_polls_every_unit_of_the_deployment(deployed: Cloud) -> None:
    args = build_parser().parse_args(["serve", "--all-units"])
    fleet, _ = make_fleet(args, terminal_of(deployed))
    fleet.poll()
    errors = {str(reading.unit): bool(reading.error) for reading in fleet.readings()}
    assert errors == {
        f"{ACCOUNT}/us-east-1": False,
        f"{FIXED}/us-east-1": False,
        f"{FOUND}/us-east-1": False,
        f"{ROLELESS}/us-east-1": True,
    }


def test_serve_asks_for_the_regions_of_an_account_once_an_hour(deployed: Cloud) -> None:
    args = build_parser().parse_args(["serve", "--all-units"])
    _, options = make_fleet(args, terminal_of(deployed))
    assert options.relist is not None

    def asked() -> int:
        return [operation for _, operation, _ in deployed.aws.calls].count("ListRegions")

    before = asked()
    for _ in range(12):
        specs, _ = options.relist()
        assert {spec.account for spec in specs} == {"", FIXED, FOUND, ROLELESS}
        deployed.clock.now += 300
    once = asked() - before
    assert once == len({FOUND, ROLELESS})
    options.relist()
    assert asked() - before == 2 * once


def test_an_organisation_that_cannot_be_listed_leaves_the_units_that_are_named(
    deployed: Cloud,
) -> None:
    deployed.aws.denied.add("ListAccounts")
    code, out, err = burstwatch(deployed, "scan", "--all-units", "--json")
    assert code == 1
    assert {one["account"] for one in map(json.loads, out.splitlines())} == {ACCOUNT, FIXED}
    assert "accounts of the organisation: ListAccounts: AccessDenied" in err


def test_the_doctor_tries_the_role_of_each_account(deployed: Cloud) -> None:
    _, out, _ = burstwatch(deployed, "doctor")
    assert f"role in {ROLELESS}" in out
    assert "2 of 3 accounts let us in" in out
    deployed.aws.roles[arn(ROLELESS)] = "watch-me"
    _, out, _ = burstwatch(deployed, "doctor", "--all")
    assert "3 of 3 accounts let us in" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("scan", "--all-units", "--all-regions"), "give either --all-units or --all-regions"),
        (("serve", "--all-units", "--units", "units.yml"), "give either --units or --all-units, not both"),
        (("scan", "--all-units", "--deployment", "other"), "stack 'Burstwatch-other' in us-east-1 was not found"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(
    deployed: Cloud, arguments: tuple[str, ...], words: str
) -> None:
    code, out, err = burstwatch(deployed, *arguments)
    assert (code, out) == (2, "")
    assert words in err
