"""Three volumes in danger at once on the local cloud, and three ways out of it.

The sweeps are made from here, through the topics and the key of a real deployment, whose
own schedule has been taken away.
"""

import json
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from burstwatch.aws.memory import Memory
from burstwatch.aws.names import alarm_prefix
from burstwatch.aws.session import Clients, Deadline
from burstwatch.aws.sweep import sweep
from burstwatch.config import Config
from burstwatch.kinds import find_kinds
from burstwatch.polling.unit import Unit
from demo.inbox import Inbox
from demo.localcloud.cloud import ACCOUNT, LocalCloud

DEPLOYMENT = "three"
#: The longest that the local cloud has been seen to need for an alarm to be OK is four minutes.
PATIENCE_S = 900.0
EVERY_S = 15.0
MINUTE_S = 60


@dataclass(kw_only=True)
class Episode:
    """What was made, what was heard and what is left."""

    volumes: dict[str, str]
    made: set[str] = field(default_factory=set)
    heard: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    other: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    left: set[str] = field(default_factory=set)


def play_episode(cloud: LocalCloud, region: str, outputs: dict[str, str]) -> Episode:
    clients = Clients(
        region,
        endpoint_url=cloud.endpoint,
        credentials={"aws_access_key_id": "test", "aws_secret_access_key": "test"},
    )
    inbox = Inbox(clients("sns"), clients("sqs"), endpoint=cloud.endpoint)
    for name, output in (
        ("page", "PageTopicArn"),
        ("notice", "NoticeTopicArn"),
        ("events", "EventsTopicArn"),
    ):
        inbox.subscribe(name, outputs[output], http=False)
    episode = Episode(volumes=_volumes(clients("ec2")))
    try:
        _play(clients, episode, outputs)
        for message in inbox.collect():
            alarm = message.alarm
            if alarm is None:
                episode.other.append((message.through, message.envelope["Message"]))
            elif f"/{DEPLOYMENT}/" in alarm["AlarmName"]:
                episode.heard.append((message.through, alarm))
    finally:
        inbox.close()
    pages = clients("cloudwatch").get_paginator("describe_alarms").paginate()
    episode.left = {alarm["AlarmName"] for page in pages for alarm in page["MetricAlarms"]}
    return episode


def _volumes(ec2: Any) -> dict[str, str]:
    """By how they will be saved."""
    instance = ec2.run_instances(
        ImageId="ami-12345678", InstanceType="m5.8xlarge", MinCount=1, MaxCount=1
    )["Instances"][0]["InstanceId"]
    found = {}
    for device, fate in zip("fgh", ("retyped", "deleted", "refilled"), strict=True):
        volume = ec2.create_volume(AvailabilityZone="eu-west-1a", Size=100, VolumeType="gp2")
        found[fate] = volume["VolumeId"]
        ec2.attach_volume(VolumeId=found[fate], InstanceId=instance, Device=f"/dev/sd{device}")
    return found


def _play(clients: Clients, episode: Episode, outputs: dict[str, str]) -> None:
    config = Config(
        deployment=DEPLOYMENT,
        lead_s=240.0,
        alarm_path_s=60.0,
        hold_s=60.0,
        page_topic_arn=outputs["PageTopicArn"],
        notice_topic_arn=outputs["NoticeTopicArn"],
        events_topic_arn=outputs["EventsTopicArn"],
    )
    schedule, unit = Memory(), Unit(account=ACCOUNT, region=clients.region)
    prefix = alarm_prefix(DEPLOYMENT)
    cloudwatch, ec2 = clients("cloudwatch"), clients("ec2")
    last = int(time.time()) // MINUTE_S * MINUTE_S
    for volume_id in episode.volumes.values():
        for back in range(1, 61):  # for a quarter of an hour at full burst, and calm before
            ratio = 10.0 + 3 * back if back <= 15 else 56.0
            iops = 3_000 if back <= 15 else 100
            put(cloudwatch, volume_id, last - MINUTE_S * back, percent=ratio, iops=iops)
    deadline, saved = time.monotonic() + PATIENCE_S, False
    while time.monotonic() < deadline:
        now = time.time()
        if now // MINUTE_S * MINUTE_S > last:
            for fate, volume_id in episode.volumes.items():
                percent = 99.0 if saved and fate == "refilled" else 10.0
                put(cloudwatch, volume_id, last, percent=percent, iops=100)
            last += MINUTE_S
        swept = sweep(
            unit, find_kinds().values(), clients, clients, config, schedule,
            now=now, deadline=Deadline(lambda: 0.0, at=3_600.0),
        )  # fmt: skip
        episode.problems += [f"{problem.part}: {problem.error}" for problem in swept.problems]
        alarms = cloudwatch.describe_alarms(AlarmNamePrefix=prefix)["MetricAlarms"]
        episode.made |= {alarm["AlarmName"] for alarm in alarms}
        raised = [alarm for alarm in alarms if alarm["StateValue"] == "ALARM"]
        if not saved and len(raised) >= len(episode.volumes):
            _save(ec2, episode.volumes)
            saved = True
        elif saved and not alarms:
            return
        time.sleep(EVERY_S)


def _save(ec2: Any, volumes: dict[str, str]) -> None:
    ec2.modify_volume(VolumeId=volumes["retyped"], VolumeType="gp3")
    (volume,) = ec2.describe_volumes(VolumeIds=[volumes["deleted"]])["Volumes"]
    instance = volume["Attachments"][0]["InstanceId"]  # AWS itself does not ask for it
    ec2.detach_volume(VolumeId=volumes["deleted"], InstanceId=instance)
    ec2.delete_volume(VolumeId=volumes["deleted"])


def put(cloudwatch: Any, volume_id: str, at: float, *, percent: float, iops: float) -> None:
    values = {
        "BurstBalance": percent,
        "VolumeReadOps": iops * 30,
        "VolumeWriteOps": iops * 30,
        "VolumeReadBytes": iops * 30 * 16_384,
        "VolumeWriteBytes": iops * 30 * 16_384,
    }
    cloudwatch.put_metric_data(
        Namespace="AWS/EBS",
        MetricData=[
            {
                "MetricName": name,
                "Dimensions": [{"Name": "VolumeId", "Value": volume_id}],
                "Timestamp": datetime.fromtimestamp(at, tz=UTC),
                "Value": value,
            }
            for name, value in values.items()
        ],
    )


def told(episode: Episode, through: str) -> dict[str, list[str]]:
    """By alarm, the states that a topic's subscriber heard of, in order."""
    found: dict[str, list[str]] = {}
    for where, alarm in episode.heard:
        if where == through:
            found.setdefault(alarm["AlarmName"], []).append(alarm["NewStateValue"])
    return found


def recoveries(episode: Episode) -> set[str]:
    """The titles of the recovery messages."""
    messages = [json.loads(text) for through, text in episode.other if through == "sqs:events"]
    return {
        message["content"]["title"]
        for message in messages
        if message["metadata"]["eventType"] == "burstwatch.recovered"
    }
