"""The stack with its sweeps through a queue, in four shards, on the local cloud."""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from burstwatch.aws.client.session import Clients
from demo.localcloud.cloud import LocalCloud
from demo.pace import FULL
from demo.stack import Stack
from tests.clouds.account import Metrics, find_resources
from tests.clouds.waiting import NotSeenError, clients_of, silence, until

SHARDS = 4
CONTEXT = {"fanOut": "queue", "shards": str(SHARDS), "sweepsPerInvocation": "2"}
REGION = "ap-northeast-1"
NOT_A_UNIT = '{"unit": {"shard": "3/5"}}'
#: Longer than a sweep's period: by then the next one is due.
LATE_S = 70
#: Runs of the schedule in which every shard was swept.
RUNS = 3


@dataclass(kw_only=True)
class Queued:
    """The volume in danger, the alarms that were made, and what the function's log says.

    ``swept`` has by run what was swept, whole or in part; ``left_out`` is why others were not;
    ``dead`` are the bodies of the messages that failed, ``unexplained`` is what was not swept
    whole although no part of it failed. ``missed`` are the steps that did not come.
    """

    volume: str
    alarms: set[str] = field(default_factory=set)
    swept: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    left_out: list[str] = field(default_factory=list)
    dead: list[str] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    heartbeats: set[str] = field(default_factory=set)
    missed: list[str] = field(default_factory=list)


def play_queued(cloud: LocalCloud) -> Queued:
    """Deploy it, put one message beside the schedule's that names nothing and one that is late."""
    clients = clients_of(cloud, REGION)
    found = Queued(volume=draining_volume(clients, cloud.account))
    stack = Stack(cloud, region=REGION, settings=FULL.settings, context=CONTEXT)
    stack.synth()
    stack.bootstrap()
    rule = stack.deploy()["RuleName"]
    queue, dead_letters = _queues(clients, cloud)
    sqs, cloudwatch, logs = clients("sqs"), clients("cloudwatch"), clients("logs")
    sqs.send_message(QueueUrl=queue, MessageBody=NOT_A_UNIT)
    sqs.send_message(QueueUrl=queue, MessageBody='{"unit": {}}', DelaySeconds=LATE_S)
    dead: dict[str, str] = {}

    def look() -> None:
        alarms = cloudwatch.describe_alarms(AlarmNamePrefix="burstwatch.")["MetricAlarms"]
        found.alarms |= {alarm["AlarmName"] for alarm in alarms}
        received = sqs.receive_message(QueueUrl=dead_letters).get("Messages", ())
        # What is not deleted is handed over again, and counts once.
        dead.update({message["MessageId"]: message["Body"] for message in received})
        found.dead = [*dead.values()]
        _read(logs, found)

    def is_seen() -> bool:
        look()
        runs = [run for run, units in found.swept.items() if len(units) >= SHARDS]
        return bool(found.dead and found.alarms and found.left_out) and len(runs) >= RUNS

    try:
        until(
            "dead letters, the alarm, what is left out and some whole runs",
            is_seen,
            progress=lambda: sum(map(len, found.swept.values())),
        )
    except NotSeenError as error:
        found.missed.append(str(error))
    beats = cloudwatch.list_metrics(Namespace="Burstwatch", MetricName="SweepCompleted")
    dimensions = (one for metric in beats["Metrics"] for one in metric["Dimensions"])
    found.heartbeats = {one["Value"] for one in dimensions if one["Name"] == "Unit"}
    silence(clients, rule)
    return found


def draining_volume(clients: Clients, account: str) -> str:
    """Eight volumes, one of which has drained at full burst for forty minutes."""
    ec2 = clients("ec2")
    instance = ec2.run_instances(
        ImageId="ami-12345678", InstanceType="m5.8xlarge", MinCount=1, MaxCount=1
    )["Instances"][0]["InstanceId"]
    volumes = []
    for device in "fghijklm":
        volume = ec2.create_volume(
            AvailabilityZone=f"{clients.region}a", Size=100, VolumeType="gp2"
        )["VolumeId"]
        ec2.attach_volume(VolumeId=volume, InstanceId=instance, Device=f"/dev/sd{device}")
        volumes.append(str(volume))
    draining = volumes[0]
    resources = [pair for pair in find_resources(clients, account) if pair[1].id == draining]
    Metrics(clients, resources).put_past(lambda resource: resource.id == draining)
    return draining


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
