"""Finds who hears an alarm: its own actions, those of the composite alarms above it, and the topics behind them."""

import re
from collections.abc import Mapping, Sequence

from burstwatch.aws.audit.definitions import Definition
from burstwatch.aws.client.session import AWS_ERRORS, Clients, describe_error
from burstwatch.shards import Problem

#: ``ALARM("name")`` or ``ALARM(arn)`` in the rule of a composite alarm, and what turns it around:
#: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutCompositeAlarm.html (2026-11)
CHILD = re.compile(r'(NOT\s+)?\bALARM\(\s*(?:"([^"]+)"|([^")\s]+))\s*\)', re.IGNORECASE)
#: What makes of the alarms in a rule something else: a NOT before a group, and constants.
UNCLEAR = re.compile(r"\bNOT\s*\(|\bTRUE\b|\bFALSE\b", re.IGNORECASE)
#: CloudWatch may not use the key that AWS manages for SNS, so that nothing is sent:
#: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Notify_Users_Alarm_Changes.html (2026-11)
AWS_KEY = "alias/aws/sns"
PENDING = "PendingConfirmation"
#: Actions that change something and tell nobody.
ACTS = {"automate": "an action on the instance", "swf": "an action on the instance", "autoscaling": "a scaling policy"}  # fmt: skip


class Listeners:
    """Who hears the alarms of one account and region. Each topic is asked for once."""

    def __init__(self, clients: Clients, composites: Sequence[Definition]) -> None:
        """Nothing is asked yet."""
        self._clients = clients
        self._by_name = {composite["AlarmName"]: composite for composite in composites}
        clear = [one for one in composites if not UNCLEAR.search(_without_names(one))]
        self._parents = _parents(clear)
        self._unclear = _parents([one for one in composites if one not in clear])
        self._deaf: dict[str, str] = {}
        #: The topics of which nothing is known.
        self.problems: list[Problem] = []

    def why_nobody(self, alarm: Definition) -> str:
        """Why nobody hears an alarm; empty if somebody does, or where that is not known."""
        chain = [alarm, *(self._by_name[name] for name in self._above(alarm["AlarmName"]))]
        reasons: list[str] = []
        for link in chain:
            reasons += self._reasons(link)
            if not reasons or not reasons[-1]:
                return ""
            unclear = self._unclear.get(link["AlarmName"], ())
            reasons += [f"the rule of the composite {name} is not understood" for name in unclear]
        return "; ".join(dict.fromkeys(reasons))

    def has_unclear_rule(self, alarm: Definition) -> bool:
        """True if a composite alarm names it, or one above it, in a rule that is not understood here."""
        names = [alarm["AlarmName"], *self._above(alarm["AlarmName"])]
        return any(name in self._unclear for name in names)

    def _above(self, name: str) -> list[str]:
        """The composite alarms that go off with an alarm, and those above them."""
        above: list[str] = []
        todo = [name]
        while todo:
            for parent in self._parents.get(todo.pop(), ()):
                if parent not in above:
                    above.append(parent)
                    todo.append(parent)
        return above

    def _reasons(self, alarm: Definition) -> list[str]:
        """Why each action of one alarm reaches nobody; the last is empty as soon as one reaches somebody."""
        name = alarm["AlarmName"]
        subject = f"the composite {name}" if name in self._by_name else "it"
        if not alarm.get("ActionsEnabled", True):
            return [f"the actions of {subject} are switched off"]
        if not alarm.get("AlarmActions"):
            return [f"{subject} has no action"]
        reasons = []
        for action in alarm["AlarmActions"]:
            reasons.append(self._why_deaf(action))
            if not reasons[-1]:
                break
        return reasons

    def _why_deaf(self, action: str) -> str:
        """Why an action tells nobody; empty if it does, or where that is not known."""
        service = (action.split(":") + [""] * 3)[2]
        if service in ACTS:
            return f"{ACTS[service]} tells nobody"
        if service != "sns":
            return ""
        if action not in self._deaf:
            self._deaf[action] = self._why_deaf_topic(action)
        return self._deaf[action]

    def _why_deaf_topic(self, arn: str) -> str:
        """Why nobody hears a topic; one of another region or account is taken to be heard."""
        _, _, _, region, account, name = arn.split(":", 5)
        here = self._clients.unit()
        if (account, region) != (here.account, here.region):
            return ""
        sns = self._clients("sns")
        try:
            key = sns.get_topic_attributes(TopicArn=arn)["Attributes"].get("KmsMasterKeyId", "")
            if key.endswith(AWS_KEY):
                return f"CloudWatch may not use the key of its topic {name}, which AWS manages"
            pages = sns.get_paginator("list_subscriptions_by_topic").paginate(TopicArn=arn)
            subscribers = [
                one["SubscriptionArn"] for page in pages for one in page["Subscriptions"]
            ]
        except sns.exceptions.NotFoundException:
            return f"its topic {name} does not exist"
        except AWS_ERRORS as error:
            self.problems.append(Problem(part=f"topic {name}", error=describe_error(error)))
            return ""
        is_heard = any(subscriber.startswith("arn:") for subscriber in subscribers)
        return "" if is_heard else f"nobody is subscribed to its topic {name}"


def _parents(composites: Sequence[Definition]) -> Mapping[str, Sequence[str]]:
    """The composite alarms that go off when an alarm does, by its name."""
    parents: dict[str, list[str]] = {}
    for composite in composites:
        for is_not, quoted, plain in CHILD.findall(composite.get("AlarmRule", "")):
            if not is_not:
                name = (quoted or plain).rpartition(":alarm:")[2]
                parents.setdefault(name, []).append(composite["AlarmName"])
    return parents


def _without_names(composite: Definition) -> str:
    """The rule of a composite alarm without the names in it, which may be any words."""
    return re.sub(r'"[^"]*"', "", composite.get("AlarmRule", ""))
