"""Who was allowed what: the emulator's own log of decisions, beside the policies of the roles."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from burstwatch.aws.client.session import Clients
from demo.localcloud.cloud import LocalCloud

Policy = Mapping[str, Any]
#: Permissions that nothing calls on the emulator, and who needs them on AWS.
NOT_CALLED_HERE = {
    "logs:CreateLogStream": "Lambda writes the log with the function's role",
    "logs:PutLogEvents": "Lambda writes the log with the function's role",
    "sqs:SendMessage": "Lambda hands a failed event to the dead letters with the function's role",
    "sqs:GetQueueAttributes": "CDK grants it together with sqs:SendMessage",
    "sqs:GetQueueUrl": "CDK grants it together with sqs:SendMessage",
    "kms:Decrypt": "SNS uses the key of the topic with the publisher's role",
    "kms:GenerateDataKey*": "SNS uses the key of the topic with the publisher's role",
    "cloudwatch:GetAlarmMuteRule": "the emulator has no mute rules",
    "tag:GetResources": "only nodes of ElastiCache need it, and the emulator lists none",
}


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What the enforcer said of one call."""

    caller: str
    action: str
    resource: str
    allowed: bool

    @property
    def role(self) -> str:
        """The name of the role that called; empty where it was none."""
        kind, _, path = self.caller.rpartition(":")[2].partition("/")
        return path.partition("/")[0] if kind == "assumed-role" else ""


def read_decisions(cloud: LocalCloud) -> list[Decision]:
    """Every decision so far, in order."""
    lines = (cloud.folder / "decisions.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        Decision(
            caller=line["caller"],
            action=line["action"],
            resource=line["resource"],
            allowed=line["allowed"],
        )
        for line in map(json.loads, lines)
    ]


def policy_of_role(clients: Clients, role: str) -> dict[str, Policy]:
    """The inline policies of a role, by name: it must have no others."""
    iam = clients("iam")
    assert not iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]
    return {
        name: iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
        for name in iam.list_role_policies(RoleName=role)["PolicyNames"]
    }


def permissions(policy: Policy) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each action that a policy allows, with its resources."""
    for statement in policy["Statement"]:
        for action in _listed(statement["Action"]):
            yield action, tuple(_listed(statement["Resource"]))


def unused(policies: Sequence[Policy], decisions: Sequence[Decision]) -> set[str]:
    """Actions that the policies allow and no call needed: one with several resources must be needed once."""

    def is_used(action: str, resources: Sequence[str]) -> bool:
        return any(
            fnmatchcase(decision.action, action)
            and any(fnmatchcase(decision.resource, resource) for resource in resources)
            for decision in decisions
            if decision.allowed
        )

    return {
        action
        for policy in policies
        for action, resources in permissions(policy)
        if not is_used(action, resources)
    }


def without(policy: Policy, action: str) -> dict[str, Any]:
    """The policy with one action taken away."""
    statements = []
    for statement in policy["Statement"]:
        actions = [name for name in _listed(statement["Action"]) if name != action]
        if actions:
            statements.append({**statement, "Action": actions})
    return {**policy, "Statement": statements}


def _listed(value: str | Sequence[str]) -> Sequence[str]:
    return [value] if isinstance(value, str) else value
