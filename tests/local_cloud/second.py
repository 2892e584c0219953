"""A second deployment in a region where another one watches the same volumes, and its fire drills."""

from dataclasses import dataclass
from typing import Any

from burstwatch.aws.client.session import Clients
from demo.inbox import Inbox
from demo.localcloud.cloud import LocalCloud
from demo.pace import FULL
from demo.stack import Stack
from tests.local_cloud.outside import Drilled, drill

DEPLOYMENT = "blue"


@dataclass(frozen=True, kw_only=True)
class Second:
    """Its drills at a topic that somebody hears and at one that nobody does, and what page heard."""

    heard: Drilled
    unheard: Drilled
    alarms: set[str]
    others: list[Any]


def play_second(cloud: LocalCloud, region: str) -> Second:
    """Deploy it, deploy it again with another setting, and drill it, while its schedule sweeps."""
    credentials = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    clients = Clients(region, endpoint_url=cloud.endpoint, credentials=credentials)
    for settings in (FULL.settings, {**FULL.settings, "mass_from": "30"}):
        stack = Stack(cloud, region=region, settings=settings, context={"deployment": DEPLOYMENT})
        stack.synth()
        outputs = stack.deploy()
    inbox = Inbox(clients("sns"), clients("sqs"), endpoint=cloud.endpoint)
    inbox.subscribe(f"page-of-{DEPLOYMENT}", outputs["PageTopicArn"], http=False)
    try:
        heard = drill(cloud, region, DEPLOYMENT, "page")
        unheard = drill(cloud, region, DEPLOYMENT, "notice")
        messages = list(inbox.collect())
    finally:
        inbox.close()
        events = clients("events")
        targets = events.list_targets_by_rule(Rule=outputs["RuleName"])["Targets"]
        events.remove_targets(Rule=outputs["RuleName"], Ids=[target["Id"] for target in targets])
    return Second(
        heard=heard,
        unheard=unheard,
        alarms={message.alarm["AlarmName"] for message in messages if message.alarm},
        others=[message for message in messages if not message.alarm],
    )
