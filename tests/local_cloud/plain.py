"""The template of plain CloudFormation, deployed by boto3 as somebody without CDK would, on the local cloud."""

import json
import platform
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from botocore.exceptions import WaiterError

from burstwatch.aws.client.names import HEARTBEAT_METRIC, NAMESPACE, part_dimensions
from burstwatch.aws.client.session import Clients
from demo.fleet import MINUTE_S
from demo.inbox import Inbox, Message
from demo.localcloud.cloud import LocalCloud
from demo.pace import FULL
from tests.local_cloud.before import build_before
from tests.local_cloud.queued import draining_volume
from tools.dist import function_and_template

DEPLOYMENT = "plain"
BEFORE_KEY = "burstwatch-lambda-before.zip"
ATTEMPTS, PATIENCE_S, EVERY_S = 3, 400.0, 10.0
#: Sweeps of a version that has just been deployed: the first may have begun before.
SWEEPS = 1


@dataclass(frozen=True, kw_only=True)
class Plain:
    """The volume that drains, what its topic page heard, and what is left when the stack is gone.

    ``changes`` are the versions that were deployed one after the other, each with the state of the alarm and since when it
    has it, after sweeps of that version; empty where the history does not have the version before.
    """

    volume: str
    pages: list[Message]
    left: list[str]
    changes: list[tuple[str, str, str]]


def play_plain(cloud: LocalCloud, region: str, folder: Path, paged: threading.Event) -> Plain:
    """Deploy it, drain a volume, hear the page, change versions, and delete it. ``paged`` is set once it was heard."""
    credentials = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    clients = Clients(region, endpoint_url=cloud.endpoint, credentials=credentials)
    before = build_before(folder)
    outputs = deploy_plain(clients, folder, before)
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
        paged.set()  # what waits for it goes on beside the change of versions
        changes = [] if before is None else _change_versions(clients, folder, before[1], volume)
        pages = _pages(inbox, volume)
    finally:
        paged.set()
        inbox.close()
    rule = next(value for key, value in outputs.items() if "RuleName" in key)
    targets = clients("events").list_targets_by_rule(Rule=rule)["Targets"]
    clients("events").remove_targets(Rule=rule, Ids=[target["Id"] for target in targets])
    clients("cloudformation").delete_stack(StackName=DEPLOYMENT)
    clients("cloudformation").get_waiter("stack_delete_complete").wait(StackName=DEPLOYMENT)
    functions = clients("lambda").list_functions()["Functions"]
    left = [one["FunctionName"] for one in functions]
    return Plain(volume=volume, pages=pages, left=left, changes=changes)


def _change_versions(
    clients: Clients, folder: Path, before: str, volume: str
) -> list[tuple[str, str, str]]:
    """Upgrade the stack, and roll it back, with the episode of a volume open."""
    now = (folder / "burstwatch-template.json").read_text(encoding="utf-8")
    changes = []
    for version, template, key in (
        ("now", now, "burstwatch-lambda.zip"),
        ("before", before, BEFORE_KEY),
    ):
        _update_stack(clients, template, key)
        _await_sweeps(clients, since=time.time())
        (alarm,) = clients("cloudwatch").describe_alarms(
            AlarmNames=[f"burstwatch/{DEPLOYMENT}/{volume}/critical"]
        )["MetricAlarms"]
        since = alarm.get("StateTransitionedTimestamp") or alarm["StateUpdatedTimestamp"]
        changes.append((version, alarm["StateValue"], since.isoformat()))
    return changes


def _await_sweeps(clients: Clients, *, since: float) -> None:
    """Wait until sweeps that began in later minutes have completed."""
    account = clients.unit().account
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        points = clients("cloudwatch").get_metric_statistics(
            Namespace=NAMESPACE,
            MetricName=HEARTBEAT_METRIC,
            Dimensions=part_dimensions(DEPLOYMENT, f"{account}/{clients.region}"),
            StartTime=datetime.fromtimestamp(since - MINUTE_S, tz=UTC),
            EndTime=datetime.now(tz=UTC) + timedelta(minutes=1),
            Period=int(MINUTE_S),
            Statistics=["Sum"],
        )["Datapoints"]
        later = [point for point in points if point["Timestamp"].timestamp() >= since + MINUTE_S]
        if len(later) >= SWEEPS:
            return
        time.sleep(EVERY_S)
    msg = f"no sweep of {DEPLOYMENT} has completed after the change"
    raise RuntimeError(msg)


def deploy_plain(
    clients: Clients, folder: Path, before: tuple[Path, str] | None = None
) -> dict[str, str]:
    """Build the package and the template in a folder, and deploy them, or those ``before``. Returns the outputs."""
    function_and_template(folder, at=0)
    bucket = f"plain-{clients.region}"
    clients("s3").create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": clients.region}
    )
    package = folder / "burstwatch-lambda.zip"
    clients("s3").put_object(Bucket=bucket, Key=package.name, Body=package.read_bytes())
    if before is not None:
        clients("s3").put_object(Bucket=bucket, Key=BEFORE_KEY, Body=before[0].read_bytes())
        return _make_stack(clients, before[1], BEFORE_KEY)
    template = (folder / "burstwatch-template.json").read_text(encoding="utf-8")
    return _make_stack(clients, template, "burstwatch-lambda.zip")


def _parameters(clients: Clients, key: str) -> list[dict[str, str]]:
    machine = "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64"
    given = {
        "CodeBucket": f"plain-{clients.region}",
        "CodeKey": key,
        "Deployment": DEPLOYMENT,
        "Architecture": machine,
        "LeadS": FULL.settings["lead_s"],
        "AlarmPathS": FULL.settings["alarm_path_s"],
        "AlarmEmail": "plain@example.org",
    }
    return [{"ParameterKey": name, "ParameterValue": value} for name, value in given.items()]


def _update_stack(clients: Clients, template: str, key: str) -> None:
    clients("cloudformation").update_stack(
        StackName=DEPLOYMENT,
        TemplateBody=template,
        Capabilities=["CAPABILITY_IAM"],
        Parameters=_parameters(clients, key),
    )
    _await_stack(clients, "stack_update_complete")


def _make_stack(clients: Clients, template: str, key: str) -> dict[str, str]:
    clients("cloudformation").create_stack(
        StackName=DEPLOYMENT,
        TemplateBody=template,
        Capabilities=["CAPABILITY_IAM"],
        Parameters=_parameters(clients, key),
    )
    _await_stack(clients, "stack_create_complete")
    (stack,) = clients("cloudformation").describe_stacks(StackName=DEPLOYMENT)["Stacks"]
    return {one["OutputKey"]: one["OutputValue"] for one in stack["Outputs"]}


def _await_stack(clients: Clients, state: str) -> None:
    cloudformation = clients("cloudformation")
    try:
        cloudformation.get_waiter(state).wait(StackName=DEPLOYMENT, WaiterConfig={"Delay": 3})
    except WaiterError as error:
        events = cloudformation.describe_stack_events(StackName=DEPLOYMENT)["StackEvents"]
        failed = [one for one in events if "FAILED" in one["ResourceStatus"]]
        raise RuntimeError(json.dumps(failed, default=str)) from error


def _pages(inbox: Inbox, volume: str) -> list[Message]:
    return [
        one
        for one in inbox.collect()
        if one.alarm and volume in one.alarm["AlarmName"] and one.alarm["NewStateValue"] == "ALARM"
    ]
