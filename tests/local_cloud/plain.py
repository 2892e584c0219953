"""The template of plain CloudFormation, deployed by boto3 as somebody without CDK would, on the local cloud."""

import json
import platform
import time
from dataclasses import dataclass
from pathlib import Path

from botocore.exceptions import WaiterError

from burstwatch.aws.client.session import Clients
from demo.inbox import Inbox, Message
from demo.localcloud.cloud import LocalCloud
from demo.pace import FULL
from tests.local_cloud.queued import draining_volume
from tools.dist import function_and_template

DEPLOYMENT = "plain"
ATTEMPTS, PATIENCE_S, EVERY_S = 3, 400.0, 10.0


@dataclass(frozen=True, kw_only=True)
class Plain:
    """The volume that drains, what its topic page heard, and what is left when the stack is gone."""

    volume: str
    pages: list[Message]
    left: list[str]


def play_plain(cloud: LocalCloud, region: str, folder: Path) -> Plain:
    """Deploy it, drain a volume, hear the page, and delete it."""
    credentials = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    clients = Clients(region, endpoint_url=cloud.endpoint, credentials=credentials)
    outputs = deploy_plain(clients, folder)
    topic = next(value for key, value in outputs.items() if "PageTopicArn" in key)
    inbox = Inbox(clients("sns"), clients("sqs"), endpoint=cloud.endpoint)
    inbox.subscribe(f"page-of-{DEPLOYMENT}", topic, http=False)
    try:
        # Somebody listens before there is anything to page for. On a machine that is too slow for the volume's three
        # minutes, its data are old before the sweep has seen them, and another begins.
        for _ in range(ATTEMPTS):
            volume = draining_volume(clients)
            deadline = time.monotonic() + PATIENCE_S
            while time.monotonic() < deadline and not (pages := _pages(inbox, volume)):
                time.sleep(EVERY_S)
            if pages:
                break
    finally:
        inbox.close()
    rule = next(value for key, value in outputs.items() if "RuleName" in key)
    targets = clients("events").list_targets_by_rule(Rule=rule)["Targets"]
    clients("events").remove_targets(Rule=rule, Ids=[target["Id"] for target in targets])
    clients("cloudformation").delete_stack(StackName=DEPLOYMENT)
    clients("cloudformation").get_waiter("stack_delete_complete").wait(StackName=DEPLOYMENT)
    functions = clients("lambda").list_functions()["Functions"]
    return Plain(volume=volume, pages=pages, left=[one["FunctionName"] for one in functions])


def deploy_plain(clients: Clients, folder: Path) -> dict[str, str]:
    """Build the package and the template in a folder, and deploy them. Returns the outputs."""
    function_and_template(folder, at=0)
    bucket = f"plain-{clients.region}"
    clients("s3").create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": clients.region}
    )
    clients("s3").upload_file(
        str(folder / "burstwatch-lambda.zip"), bucket, "burstwatch-lambda.zip"
    )
    template = (folder / "burstwatch-template.json").read_text(encoding="utf-8")
    return _make_stack(clients, template, bucket)


def _make_stack(clients: Clients, template: str, bucket: str) -> dict[str, str]:
    cloudformation = clients("cloudformation")
    machine = "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64"
    given = {
        "CodeBucket": bucket,
        "Deployment": DEPLOYMENT,
        "Architecture": machine,
        "LeadS": FULL.settings["lead_s"],
        "AlarmPathS": FULL.settings["alarm_path_s"],
        "AlarmEmail": "plain@example.org",
    }
    cloudformation.create_stack(
        StackName=DEPLOYMENT,
        TemplateBody=template,
        Capabilities=["CAPABILITY_IAM"],
        Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in given.items()],
    )
    try:
        cloudformation.get_waiter("stack_create_complete").wait(
            StackName=DEPLOYMENT, WaiterConfig={"Delay": 3}
        )
    except WaiterError as error:
        events = cloudformation.describe_stack_events(StackName=DEPLOYMENT)["StackEvents"]
        failed = [one for one in events if "FAILED" in one["ResourceStatus"]]
        raise RuntimeError(json.dumps(failed, default=str)) from error
    (stack,) = cloudformation.describe_stacks(StackName=DEPLOYMENT)["Stacks"]
    return {one["OutputKey"]: one["OutputValue"] for one in stack["Outputs"]}


def _pages(inbox: Inbox, volume: str) -> list[Message]:
    return [
        one
        for one in inbox.collect()
        if one.alarm and volume in one.alarm["AlarmName"] and one.alarm["NewStateValue"] == "ALARM"
    ]
