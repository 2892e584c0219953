"""The commands, each with the policy that `burstwatch policy` prints for it and with nothing else."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstwatch.aws.client.session import Clients
from burstwatch.cli.policies import policy_of
from demo.localcloud.cloud import LocalCloud

LISTS_TARGETS = "events:ListTargetsByRule"


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a command ended, and the role and the policy that it had."""

    role: str
    policy: dict[str, Any]
    code: int
    out: str
    err: str


class Commands:
    """Runs commands against one deployment, each in a role of its own."""

    def __init__(
        self,
        cloud: LocalCloud,
        clients: Clients,
        *,
        deployment: str,
        topics: Sequence[str],
        has_roles: bool,
    ) -> None:
        """``topics`` are the topics of the deployment, which localemu does not name after its stack.

        ``has_roles`` is whether the emulator enforces rights.
        """
        self._cloud, self._clients, self.has_roles = cloud, clients, has_roles
        self._deployment, self._topics = deployment, list(topics)
        self._roles: set[str] = set()

    def run(self, command: str, *arguments: str) -> Ran:
        """Make the role, take it, and run the command with it."""
        role = f"as-{command}"
        policy = self._named(policy_of(command, deployment=self._deployment))
        if role not in self._roles:
            self._make(role, policy)
            self._roles.add(role)
        arn = f"arn:aws:iam::{self._cloud.account}:role/{role}"
        session = self._clients("sts").assume_role(RoleArn=arn, RoleSessionName=command)
        keys = session["Credentials"]
        done = subprocess.run(
            [str(Path(sys.executable).with_name("burstwatch")), command, *arguments],
            env={
                **self._cloud.environment(self._clients.region),
                "AWS_ACCESS_KEY_ID": keys["AccessKeyId"],
                "AWS_SECRET_ACCESS_KEY": keys["SecretAccessKey"],
                "AWS_SESSION_TOKEN": keys["SessionToken"],
            },
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return Ran(role=role, policy=policy, code=done.returncode, out=done.stdout, err=done.stderr)

    def _make(self, role: str, policy: dict[str, Any]) -> None:
        principal = {"AWS": f"arn:aws:iam::{self._cloud.account}:root"}
        trust = {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}],
        }
        iam = self._clients("iam")
        iam.create_role(RoleName=role, AssumeRolePolicyDocument=json.dumps(trust))
        iam.put_role_policy(RoleName=role, PolicyName="own", PolicyDocument=json.dumps(policy))

    def _named(self, policy: dict[str, Any]) -> dict[str, Any]:
        """The policy with the topics by their own ARNs.

        The emulator takes the event bus for the resource of ListTargetsByRule, which on AWS is the rule.
        """

        def resources(statement: dict[str, Any]) -> Any:
            named = statement["Resource"]
            if isinstance(named, str):
                return self._topics if ":sns:" in named else named
            bus = (
                ["arn:aws:events:*:*:event-bus/default"]
                if LISTS_TARGETS in statement["Action"]
                else []
            )
            return [arn for arn in named if ":sns:" not in arn] + self._topics + bus

        statements = [
            {**statement, "Resource": resources(statement)} for statement in policy["Statement"]
        ]
        return {**policy, "Statement": statements}
