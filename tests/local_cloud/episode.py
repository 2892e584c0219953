"""Four volumes in danger at once on the local cloud, four ways out of it, and one that is snoozed.

The sweeps are made from here, through the topics and the key of a real deployment, whose
own schedule has been taken away.
"""

import json
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from burstwatch.aws.alarms.episodes import CLOSED, read_episodes
from burstwatch.aws.client.names import alarm_prefix
from burstwatch.aws.client.session import Clients, Deadline
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.sweep.sweep import sweep
from burstwatch.config import Config
from burstwatch.kinds import find_kinds
from burstwatch.messages.episode import Episode as Closed
from burstwatch.shards import Unit
from demo.inbox import Inbox, Message
from demo.localcloud.cloud import LocalCloud
from demo.localcloud.emulators import LOCALSTACK
from tests.aws.sweeping import EFFECT

DEPLOYMENT = "three"
#: The longest that the local cloud has been seen to need for an alarm to be OK is four minutes.
PATIENCE_S = 1_800.0
MAILBOX = "three@example.org"
LOG_GROUP = "/burstwatch/three"
#: The volume that goes through everything, and the balances of its phases, in percent.
LIFE = {"draining": 22.0, "low": 8.0, "dry": 0.0, "well": 99.0}
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
    mails: list[str] = field(default_factory=list)
    listed: list[Closed] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)


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
    clients("sns").subscribe(TopicArn=outputs["EventsTopicArn"], Protocol="email", Endpoint=MAILBOX)
    clients("logs").create_log_group(logGroupName=LOG_GROUP)
    clients("logs").create_log_stream(logGroupName=LOG_GROUP, logStreamName="sweeps")
    episode = Episode(volumes=_volumes(clients("ec2")))
    try:
        _play(clients, episode, outputs)
        for message in _all_of(inbox):
            alarm = message.alarm
            if alarm is None:
                episode.other.append((message.through, message.envelope["Message"]))
            elif f"/{DEPLOYMENT}/" in alarm["AlarmName"]:
                episode.heard.append((message.through, alarm))
    finally:
        inbox.close()
    with urllib.request.urlopen(f"{cloud.endpoint}/_aws/ses") as answer:
        sent = json.load(answer)["messages"]
    to_us = (one for one in sent if MAILBOX in one["Destination"]["ToAddresses"])
    episode.mails = [one["Body"]["text_part"] for one in to_us]
    episode.listed = read_episodes(clients, LOG_GROUP, since_s=time.time() - 7_200)
    pages = clients("cloudwatch").get_paginator("describe_alarms").paginate()
    episode.left = {alarm["AlarmName"] for page in pages for alarm in page["MetricAlarms"]}
    return episode


def _all_of(inbox: Inbox) -> list[Message]:
    """Everything that arrives, until nothing more does: a busy machine delivers late."""
    messages = inbox.collect()
    while True:
        time.sleep(EVERY_S)
        more = inbox.collect()
        if len(more) == len(messages):
            return more
        messages = more


def _volumes(ec2: Any) -> dict[str, str]:
    """By how they will be saved."""
    instance = ec2.run_instances(
        ImageId="ami-12345678", InstanceType="m5.8xlarge", MinCount=1, MaxCount=1
    )["Instances"][0]["InstanceId"]
    found = {}
    fates = ("retyped", "deleted", "refilled", "emptied", "snoozed")
    later = datetime.fromtimestamp(time.time() + 86_400, tz=UTC)
    tags = {
        "emptied": {"Key": "Name", "Value": "orders-db"},
        "snoozed": {"Key": "burstwatch:snooze", "Value": f"{later:%Y-%m-%dT%H:%MZ} a test"},
    }
    for device, fate in zip("fghij", fates, strict=True):
        volume = ec2.create_volume(AvailabilityZone="eu-west-1a", Size=100, VolumeType="gp2")
        if fate in tags:
            ec2.create_tags(Resources=[volume["VolumeId"]], Tags=[tags[fate]])
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
    schedule, unit = Memory(), Unit(account=LOCALSTACK.account, region=clients.region)
    prefix = alarm_prefix(DEPLOYMENT)
    cloudwatch, ec2 = clients("cloudwatch"), clients("ec2")
    last = int(time.time()) // MINUTE_S * MINUTE_S
    for volume_id in episode.volumes.values():
        for back in range(1, 61):  # for a quarter of an hour at full burst, and calm before
            lowest = LIFE["draining"] if volume_id == episode.volumes["emptied"] else 10.0
            ratio = lowest + 3 * back if back <= 15 else lowest + 46
            iops = 3_000 if back <= 15 else 100
            put(cloudwatch, volume_id, last - MINUTE_S * back, percent=ratio, iops=iops)
    deadline, saved, phase = time.monotonic() + PATIENCE_S, False, "draining"
    while time.monotonic() < deadline:
        now = time.time()
        if now // MINUTE_S * MINUTE_S > last:
            for fate, volume_id in episode.volumes.items():
                percent = 99.0 if saved and fate == "refilled" else 10.0
                percent = LIFE[phase] if fate == "emptied" else percent
                iops = 3_000 if fate == "emptied" and phase != "well" else 100
                put(cloudwatch, volume_id, last, percent=percent, iops=iops)
            last += MINUTE_S
        swept = sweep(
            unit, find_kinds().values(), clients, clients, config, schedule,
            now=now, deadline=Deadline(lambda: 0.0, at=3_600.0),
        )  # fmt: skip
        episode.problems += [f"{problem.part}: {problem.error}" for problem in swept.problems]
        alarms = cloudwatch.describe_alarms(AlarmNamePrefix=prefix)["MetricAlarms"]
        episode.made |= {alarm["AlarmName"] for alarm in alarms}
        _log(clients, swept.closed, at=now)
        (snoozed, _) = swept.snapshot.assessments[episode.volumes["snoozed"]]
        episode.notes |= set(snoozed.caveats)
        raised = {one["AlarmName"]: one for one in alarms if one["StateValue"] == "ALARM"}
        phase = _next_phase(phase, episode.volumes["emptied"], raised)
        at_risk = [episode.volumes[fate] for fate in ("retyped", "deleted", "refilled")]
        if not saved and all(f"{prefix}{EFFECT}/{one}/critical" in raised for one in at_risk):
            _save(ec2, episode.volumes)
            saved = True
        elif saved and phase == "well" and not alarms:
            return
        time.sleep(EVERY_S)


def _next_phase(phase: str, volume_id: str, raised: Mapping[str, Mapping[str, Any]]) -> str:
    """Go on when CloudWatch has raised what this phase is for."""
    of_it = {name.rpartition("/")[2]: one for name, one in raised.items() if volume_id in name}
    if phase == "draining" and "warning" in of_it:
        return "low"
    if phase == "low" and "critical" in of_it:
        return "dry"
    is_told = any(", empty 2" in one["AlarmDescription"] for one in of_it.values())
    return "well" if phase == "dry" and is_told else phase


def _log(clients: Clients, closed: Sequence[Closed], *, at: float) -> None:
    """As the function logs them."""
    lines = [json.dumps({"message": CLOSED, "episode": one.record()}) for one in closed]
    if lines:
        clients("logs").put_log_events(
            logGroupName=LOG_GROUP,
            logStreamName="sweeps",
            logEvents=[{"timestamp": int(at * 1000), "message": line} for line in lines],
        )


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


def events_of(episode: Episode, volume_id: str) -> list[dict[str, Any]]:
    """The messages about one volume, in order."""
    messages = [json.loads(text) for through, text in episode.other if through == "sqs:events"]
    return [one for one in messages if one["metadata"]["relatedResources"] == [volume_id]]
