"""The policies of the commands, against AWS's own list of actions, resources and condition keys."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import boto3
import pytest
from policy_sentry.querying.actions import get_action_data

from burstwatch.cli.policies import PARTITIONS, commands, policy_of
from burstwatch.kinds import find_kinds

#: Newer than the list that policy_sentry has: AWS's service model has them.
NEWER = {
    "cloudwatch:ListAlarmMuteRules",
    "cloudwatch:GetAlarmMuteRule",
    "ec2:GetManagedResourceVisibility",
}
#: Writes that AWS cannot narrow to a resource.
NOT_NARROWED = {"sns:Unsubscribe"}


def statements(command: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = policy_of(command, deployment="blue")["Statement"]
    return found


def listed_as(action: str) -> list[dict[str, Any]]:
    """The rows of an action in AWS's list, one for each type of resource."""
    service, _, name = action.partition(":")
    rows: list[dict[str, Any]] = (get_action_data(service, name) or {}).get(service, [])
    return rows


def fits(resource: str, arn_format: str) -> bool:
    """True if a pattern of a policy can name a resource of this form."""
    form = re.sub(r"\\\$\\\{\w+\\\}", ".+", re.escape(arn_format))
    return re.fullmatch(form, resource.replace(":*:*:", ":region:account:")) is not None


def each() -> Iterator[tuple[str, dict[str, Any], str]]:
    for command in commands():
        for statement in statements(command):
            for action in statement["Action"]:
                yield command, statement, action


def test_each_action_exists() -> None:
    missing = {action for _, _, action in each() if not listed_as(action)}
    assert missing <= NEWER
    for action in NEWER:
        service, _, operation = action.partition(":")
        operations = boto3.client(service, region_name="eu-west-1").meta.method_to_api_mapping
        assert operation in operations.values()


def test_each_action_takes_resources_of_the_statement() -> None:
    """A statement that names resources which AWS does not check for an action allows nothing."""
    for command, statement, action in each():
        resources = statement["Resource"]
        if resources == "*":
            continue
        named = [resources] if isinstance(resources, str) else resources
        forms = [row["resource_arn_format"] for row in listed_as(action)]
        assert any(fits(resource, form) for resource in named for form in forms if form != "*"), (
            f"{command}: AWS takes no such resource for {action}"
        )


def test_a_write_is_narrowed_wherever_aws_can() -> None:
    for command, statement, action in each():
        rows = listed_as(action)
        changes = any(row["access_level"] not in {"Read", "List"} for row in rows)
        if changes and statement["Resource"] == "*":
            assert action in NOT_NARROWED, f"{command} may {action} on everything"
            assert all(row["resource_arn_format"] == "*" for row in rows)


def test_each_condition_key_is_one_of_the_action() -> None:
    for command, statement, action in each():
        keys = {key for test in statement.get("Condition", {}).values() for key in test}
        allowed = {key for row in listed_as(action) for key in row["condition_keys"]}
        assert keys <= allowed, f"{command}: {action}"


def test_a_condition_on_all_values_demands_that_there_are_some() -> None:
    """ForAllValues is true of none: DeleteTags without a key would remove every tag."""
    conditions = [s["Condition"] for c in commands() for s in statements(c) if "Condition" in s]
    assert conditions
    for condition in conditions:
        keys = {key for test in condition for key in condition[test] if test.startswith("ForAll")}
        assert condition.get("Null", {}) == dict.fromkeys(keys, "false")


@pytest.mark.parametrize("length", [1, 12, 13, 14, 20, 32])
def test_the_policies_of_a_long_name_match_what_cloudformation_makes_of_it(length: int) -> None:
    """It keeps 24 characters or more of the stack's name in those of a function and a rule, 32 in a queue's."""
    deployment = "d" * length
    stack = f"Burstwatch-{deployment}"
    names = {
        "lambda": f"{stack[:25]}-BurstWatchSweepFunction4-IEFF0H8P7RYQ",
        "events": f"{stack[:24]}-BurstWatchSweepRule352F6-IEFF0H8P7RYQ",
        "sqs": f"{stack[:33]}-BurstWatchSweepDeadLetters12D7C3-IEFF0H8P7RYQ",
        "sns": f"{stack}-BurstWatchTopicsPageE38868B7-9A7B85GNI24A",
        "logs": f"{stack}-BurstWatchSweepFunctionLogs24B3AC64-WOL3TFC0A1XK",
    }
    for command in ("doctor", "drill", "episodes"):
        for statement in policy_of(command, deployment=deployment)["Statement"]:
            named = statement["Resource"]
            for resource in [named] if isinstance(named, str) else named:
                service = resource.split(":")[2] if resource != "*" else ""
                if service in names and "burstwatch-drill" not in resource:
                    assert fnmatchcase(names[service], re.split("[:/]", resource)[-1]), resource


def test_a_drill_may_not_call_the_function_that_deletes_alarms() -> None:
    (resource,) = (
        s["Resource"] for s in statements("drill") if "lambda:InvokeFunction" in s["Action"]
    )
    cleanup = (
        "arn:aws:lambda:eu-west-1:111111111111:function:Burstwatch-blue-BurstWatchCleanupFunction-1"
    )
    assert not fnmatchcase(cleanup, resource)
    assert fnmatchcase(cleanup.replace("Cleanup", "Sweep"), resource)


def test_a_snooze_may_be_put_on_every_kind_and_taken_away() -> None:
    for kind in find_kinds().values():
        assert kind.tagging.put_action in {
            action for statement in statements("snooze") for action in statement["Action"]
        }
        assert kind.tagging.remove_action in {
            action for statement in statements("unsnooze") for action in statement["Action"]
        }


@pytest.mark.parametrize("partition", PARTITIONS)
def test_the_resources_are_in_the_partition_and_of_the_deployment(partition: str) -> None:
    policy = policy_of("drill", deployment="blue", partition=partition)
    arns = [
        statement["Resource"] for statement in policy["Statement"] if statement["Resource"] != "*"
    ]
    assert all(arn.startswith(f"arn:{partition}:") for arn in arns)
    assert f"arn:{partition}:lambda:*:*:function:Burstwatch-blue-BurstWatchSweep*" in arns
