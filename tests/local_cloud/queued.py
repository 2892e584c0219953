"""The stack with its sweeps through a queue, in four shards, on the local cloud."""

import json
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from burstwatch.aws.client.session import Clients
from demo.localcloud.cloud import LocalCloud
from demo.pace import FULL
from demo.stack import Stack
from tests.local_cloud.episode import put

SHARDS = 4
CONTEXT = {"fanOut": "queue", "shards": str(SHARDS), "sweepsPerInvocation": "2"}
PATIENCE_S = 900.0
EVERY_S = 10.0
MINUTE_S = 60
NOT_A_UNIT = '{"unit": {"shard": "3/5"}}'
#: Longer than a sweep's period: by then the next one is due.
LATE_S = 70


@dataclass(kw_only=True)
class Queued:
    """The volume in danger, the alarms that were made, and what the function's log says.

    ``swept`` has by run what was swept, whole or in part; ``left_out`` is why others were not;
    ``dead`` are the bodies of the messages that failed, ``unexplained`` is what was not swept
    whole although no part of it failed.
    """

    volume: str
    alarms: set[str] = field(default_factory=set)
    swept: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    left_out: list[str] = field(default_factory=list)
    dead: list[str] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    heartbeats: set[str] = field(default_factory=set)


def play_queued(cloud: LocalCloud, region: str) -> Queued:
    """Deploy it, put one message beside the schedule's that names nothing and one that is late."""
    credentials = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    clients = Clients(region, endpoint_url=cloud.endpoint, credentials=credentials)
    found = Queued(volume=draining_volume(clients))
    stack = Stack(cloud, region=region, settings=FULL.settings, context=CONTEXT)
    stack.synth()
    stack.bootstrap()
    rule = stack.deploy()["RuleName"]
    queue, dead_letters = _queues(clients, cloud)
    sqs, cloudwatch, logs = clients("sqs"), clients("cloudwatch"), clients("logs")
    sqs.send_message(QueueUrl=queue, MessageBody=NOT_A_UNIT)
    sqs.send_message(QueueUrl=queue, MessageBody='{"unit": {}}', DelaySeconds=LATE_S)
    deadline = time.monotonic() + PATIENCE_S
    dead: dict[str, str] = {}
    while time.monotonic() < deadline and not (found.dead and found.alarms and found.left_out):
        alarms = cloudwatch.describe_alarms(AlarmNamePrefix="burstwatch/")["MetricAlarms"]
        found.alarms |= {alarm["AlarmName"] for alarm in alarms}
        received = sqs.receive_message(QueueUrl=dead_letters).get("Messages", ())
        # What is not deleted is handed over again, and counts once.
        dead |= {message["MessageId"]: message["Body"] for message in received}
        found.dead = [*dead.values()]
        _read(logs, found)
        time.sleep(EVERY_S)
    beats = cloudwatch.list_metrics(Namespace="Burstwatch", MetricName="SweepCompleted")
    dimensions = (one for metric in beats["Metrics"] for one in metric["Dimensions"])
    found.heartbeats = {one["Value"] for one in dimensions if one["Name"] == "Unit"}
    targets = clients("events").list_targets_by_rule(Rule=rule)["Targets"]
    clients("events").remove_targets(Rule=rule, Ids=[target["Id"] for target in targets])
    return found


def draining_volume(clients: Clients) -> str:
    """Eight volumes, one of which has drained at full burst for a quarter of an hour."""
    ec2, cloudwatch = clients("ec2"), clients("cloudwatch")
    instance = ec2.run_instances(
        ImageId="ami-12345678", InstanceType="m5.8xlarge", MinCount=1, MaxCount=1
    )["Instances"][0]["InstanceId"]
    volumes = []
    for device in "fghijklm":
        volume = ec2.create_volume(
            AvailabilityZone=f"{clients.region}a", Size=100, VolumeType="gp2"
        )["VolumeId"]
        ec2.attach_volume(VolumeId=volume, InstanceId=instance, Device=f"/dev/sd{device}")
        volumes.append(volume)
    last = int(time.time()) // MINUTE_S * MINUTE_S
    for back in range(1, 61):
        ratio = 10.0 + 3 * back if back <= 15 else 56.0
        put(
            cloudwatch,
            volumes[0],
            last - MINUTE_S * back,
            percent=ratio,
            iops=3_000 if back <= 15 else 100,
        )
    return str(volumes[0])  # fmt: skip


def _queues(clients: Clients, cloud: LocalCloud) -> tuple[str, str]:
    """The addresses of the queue and of its dead letters."""
    names = [url.rpartition("/")[2] for url in clients("sqs").list_queues()["QueueUrls"]]
    (dead,) = (name for name in names if "SweepDead" in name)
    (queue,) = (name for name in names if "SweepQueue" in name)
    where = clients("sts").get_caller_identity()["Account"]
    # The local cloud names them by a host that needs DNS.
    return f"{cloud.endpoint}/{where}/{queue}", f"{cloud.endpoint}/{where}/{dead}"


def _read(logs: Any, found: Queued) -> None:
    found.swept.clear()
    sweeps: list[tuple[str, str, bool]] = []
    failed: dict[tuple[str, str], list[str]] = defaultdict(list)
    for group in logs.describe_log_groups()["logGroups"]:
        pages = logs.get_paginator("filter_log_events").paginate(logGroupName=group["logGroupName"])
        for event in (one for page in pages for one in page["events"]):
            line = json.loads(event["message"]) if event["message"].startswith("{") else {}
            if line.get("message") == "swept":
                sweeps.append((line["run"], line["unit"], line["completed"]))
            elif line.get("message") == "part failed":
                failed[line["run"], line["unit"]].append(line["error"])
    late = {one for one, errors in failed.items() if any("its message waited" in e for e in errors)}
    found.left_out = [unit for _, unit in late]
    for run, unit, _ in (one for one in sweeps if one[:2] not in late):
        found.swept[run].append(unit)
    # On a busy machine a call may get no answer in time: that sweep is not whole, and says why.
    found.unexplained = [
        f"{unit} in {run}" for run, unit, whole in sweeps if not whole and (run, unit) not in failed
    ]
