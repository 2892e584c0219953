"""The template and the sweep on fakecloud, which was written from nothing and evaluates every kind of policy.

By hand: `make other-clouds CLOUD=fakecloud FAKECLOUD=PATH`. It speaks no TLS, so that the topics' own policy
refuses what the sweep publishes. It runs no function without Docker, so that the function's handler runs in a
process of its own, with the function's settings and its role. It enforces the rights of SNS, SQS and STS, and
lets every call of CloudWatch and EC2 pass.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from burstwatch.aws.client.session import Clients
from demo.localcloud.cloud import LocalCloud, free_port, local_cloud
from demo.localcloud.emulators import FAKECLOUD, FAKECLOUD_STRICT, ROOT
from tests.local_cloud.plain import deploy_plain
from tests.other_clouds.account import NAME, Metrics, find_resources
from tests.other_clouds.rights import Policy, policy_of_role, without

pytestmark = pytest.mark.fakecloud
REGION = "us-west-2"
PATIENCE_S = 150.0
#: Runs the handler once, and prints its answer after its log.
HANDLER = """
import json
from types import SimpleNamespace
from lambdas.sweep import handler
context = SimpleNamespace(get_remaining_time_in_millis=lambda: 50_000)
print(json.dumps({"answer": handler({}, context)}))
"""
CALLER = {"Effect": "Allow", "Action": "sts:GetCallerIdentity", "Resource": "*"}


@dataclass(frozen=True, kw_only=True)
class Swept:
    """The answer of a sweep, and the parts that failed with AWS's words."""

    answer: dict[str, Any]
    parts: dict[str, str]


class Deployment:
    """The plain template on fakecloud, and its function's role."""

    def __init__(self, cloud: LocalCloud, folder: Path) -> None:
        self.cloud = cloud
        credentials = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        self.clients = Clients(REGION, endpoint_url=cloud.endpoint, credentials=credentials)
        outputs = deploy_plain(self.clients, folder)
        (name,) = (value for key, value in outputs.items() if "SweepFunctionName" in key)
        configuration = self.clients("lambda").get_function_configuration(FunctionName=name)
        self._variables = configuration["Environment"]["Variables"]
        self._role = configuration["Role"]
        self._name = self._role.rpartition("/")[2]
        ((self._policy_name, self.policy),) = policy_of_role(self.clients, self._name).items()
        self._let_the_test_take_the_role()

    def sweep(self, policy: Policy) -> Swept:
        """One sweep with the function's role, and this policy."""
        allowed = {**policy, "Statement": [*policy["Statement"], CALLER]}
        self.clients("iam").put_role_policy(
            RoleName=self._name, PolicyName=self._policy_name, PolicyDocument=json.dumps(allowed)
        )
        keys = self.clients("sts").assume_role(RoleArn=self._role, RoleSessionName="sweep")[
            "Credentials"
        ]
        done = subprocess.run(
            [sys.executable, "-c", HANDLER],
            env={
                **self.cloud.environment(REGION),
                **self._variables,
                "PYTHONPATH": str(ROOT),
                "AWS_ACCESS_KEY_ID": keys["AccessKeyId"],
                "AWS_SECRET_ACCESS_KEY": keys["SecretAccessKey"],
                "AWS_SESSION_TOKEN": keys["SessionToken"],
            },
            capture_output=True, text=True, check=True, timeout=120,
        )  # fmt: skip
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        (answer,) = (line["answer"] for line in lines if "answer" in line)
        parts = {
            line["part"]: line["error"] for line in lines if line.get("message") == "part failed"
        }
        return Swept(answer=answer, parts=parts)

    def _let_the_test_take_the_role(self) -> None:
        """Only Lambda may take it."""
        sts = self.clients("sts")
        with pytest.raises(sts.exceptions.ClientError, match="AccessDenied"):
            sts.assume_role(RoleArn=self._role, RoleSessionName="stranger")
        principal = {"AWS": f"arn:aws:iam::{self.cloud.account}:root"}
        trust = {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}],
        }
        self.clients("iam").update_assume_role_policy(
            RoleName=self._name, PolicyDocument=json.dumps(trust)
        )

    def alarms(self) -> dict[str, str]:
        """State by name, of the alarms that sweeps made."""
        pages = self.clients("cloudwatch").describe_alarms(AlarmNamePrefix="burstwatch/")
        return {alarm["AlarmName"]: alarm["StateValue"] for alarm in pages["MetricAlarms"]}


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    if not FAKECLOUD.exists():
        pytest.skip(f"fakecloud is not at {FAKECLOUD}: name it by FAKECLOUD, or build it by cargo")
    log = tmp_path_factory.mktemp("fakecloud") / "fakecloud.log"
    with local_cloud(port=free_port(), log=log, emulator=FAKECLOUD_STRICT) as cloud:
        yield Deployment(cloud, tmp_path_factory.mktemp("plain"))


def make_volumes(clients: Clients) -> None:
    """One that is named and drains, and one that is well, within the quota of a new account."""
    ec2 = clients("ec2")
    (host,) = ec2.run_instances(
        ImageId="ami-12345678", InstanceType="m5.large", MinCount=1, MaxCount=1
    )["Instances"]
    tags = [{"ResourceType": "volume", "Tags": [{"Key": "Name", "Value": NAME}]}]
    for device, options in (("f", {"TagSpecifications": tags}), ("g", {})):
        volume = ec2.create_volume(
            AvailabilityZone=f"{REGION}a", Size=100, VolumeType="gp2", **options
        )["VolumeId"]
        ec2.attach_volume(VolumeId=volume, InstanceId=host["InstanceId"], Device=f"/dev/sd{device}")
    clients("elasticache").create_cache_cluster(
        CacheClusterId="carts", CacheNodeType="cache.t3.micro", Engine="redis", NumCacheNodes=1
    )
    clients("efs").create_file_system(CreationToken="home")


def test_the_sweep_pages_with_the_rights_of_the_template(
    deployment: Deployment,
) -> None:
    make_volumes(deployment.clients)
    resources = [
        (kind, resource)
        for kind, resource in find_resources(
            deployment.clients, deployment.cloud.account, without=FAKECLOUD_STRICT.without
        )
        if kind.name in {"ebs_volume", "elasticache_node_cpu"}
    ]
    Metrics(deployment.clients, resources).put_past(lambda resource: resource.name == NAME)
    swept = deployment.sweep(deployment.policy)
    denied = {part for part, error in swept.parts.items() if "AccessDenied" in error}
    # What is published over plain HTTP is refused by the topic, as it is on AWS.
    assert denied == {part for part in swept.parts if part.startswith("event ")}
    assert denied
    assert swept.answer["ResourcesCritical"] == 1
    deadline = time.monotonic() + PATIENCE_S
    while "ALARM" not in deployment.alarms().values():
        assert time.monotonic() < deadline, deployment.alarms()
        time.sleep(5.0)
    deployment.clients("cloudwatch").delete_alarms(AlarmNames=[*deployment.alarms()])
    without_a_list = without(deployment.policy, "sns:ListSubscriptionsByTopic")
    parts = deployment.sweep(without_a_list).parts
    assert {part for part, error in parts.items() if "ListSubscriptionsByTopic" in error} == {
        "topic page", "topic notice",
    }  # fmt: skip
