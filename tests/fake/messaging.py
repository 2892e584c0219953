"""Topics and queues of the fake: who is subscribed hears what is published."""

import json
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.fake.wire import WireError

QUEUE_URL = "http://sqs.fake/123456789012/"
QUEUE_ARN = "arn:aws:sqs:us-east-1:123456789012:"


@dataclass
class Messaging:
    """``deleted_topics`` are gone, ``denied_keys`` refuses every message its key."""

    clock: Callable[[], float]
    deleted_topics: set[str] = field(default_factory=set)
    denied_keys: bool = False
    published: list[dict[str, Any]] = field(default_factory=list)
    notifications: list[tuple[str, str, str]] = field(default_factory=list)
    descriptions: list[str] = field(default_factory=list)
    queues: dict[str, list[str]] = field(default_factory=dict)
    made_at: dict[str, float] = field(default_factory=dict)
    subscriptions: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    topic_keys: dict[str, str] = field(default_factory=dict)
    _numbers: Any = field(default_factory=lambda: count(1))

    def subscribe(self, topic: str, endpoint: str, *, is_confirmed: bool = True) -> str:
        arn = f"{topic}:{next(self._numbers)}"
        self.subscriptions[topic][arn if is_confirmed else "PendingConfirmation"] = endpoint
        return arn

    def notify(self, topic: str, alarm: str, state: str, text: str) -> None:
        """CloudWatch tells a topic of an alarm's new state, with its description."""
        self.notifications.append((topic, alarm, state))
        self.descriptions.append(text)
        inner = json.dumps({"AlarmName": alarm, "NewStateValue": state, "AlarmDescription": text})
        for endpoint in self.subscriptions.get(topic, {}).values():
            name = endpoint.removeprefix(QUEUE_ARN)
            if name in self.queues and not self.denied_keys:
                self.queues[name].append(json.dumps({"Type": "Notification", "Message": inner}))

    def _check_topic(self, arn: str) -> None:
        if arn in self.deleted_topics:
            raise WireError("NotFound", "Topic does not exist", 404)

    def _GetTopicAttributes(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        arn = params["TopicArn"]
        self._check_topic(arn)
        key = self.topic_keys.get(arn)
        return {"Attributes": {"TopicArn": arn, **({"KmsMasterKeyId": key} if key else {})}}

    def _Publish(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        self._check_topic(params["TopicArn"])
        if self.denied_keys:
            raise WireError("KMSAccessDenied", "The ciphertext refers to a key that does not exist")
        if len(params["Message"].encode()) > 256 * 1024:
            raise WireError("InvalidParameter", "Message too long")
        subject = params.get("Subject", "")
        if subject and not re.fullmatch(r"[!-~][ -~]{0,98}", subject):
            raise WireError("InvalidParameter", "Invalid parameter: Subject")
        texts = {"default": params["Message"]}
        if params.get("MessageStructure") == "json":
            texts = json.loads(params["Message"])
            if "default" not in texts:
                raise WireError("InvalidParameter", "No default entry in JSON message body")
        # What a queue gets, and what a mailbox gets.
        texts = {"Message": texts["default"], "Email": texts.get("email", texts["default"])}
        self.published.append({**params, **texts})
        return {"MessageId": "m"}

    def _Subscribe(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        self._check_topic(params["TopicArn"])
        return {"SubscriptionArn": self.subscribe(params["TopicArn"], params["Endpoint"])}

    def _Unsubscribe(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        for found in self.subscriptions.values():
            found.pop(params["SubscriptionArn"], None)
        return {}

    def _ListSubscriptionsByTopic(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        self._check_topic(params["TopicArn"])
        mailbox = {f"{params['TopicArn']}:0": "somebody@example.org"}
        found = self.subscriptions.get(params["TopicArn"], mailbox)
        return {
            "Subscriptions": [
                {"SubscriptionArn": arn, "Endpoint": endpoint, "Protocol": "sqs"}
                for arn, endpoint in found.items()
            ]
        }

    def _CreateQueue(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        self.queues[params["QueueName"]] = []
        self.made_at[params["QueueName"]] = self.clock()
        return {"QueueUrl": QUEUE_URL + params["QueueName"]}

    def _ListQueues(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        prefix = params.get("QueueNamePrefix", "")
        return {"QueueUrls": [QUEUE_URL + name for name in self.queues if name.startswith(prefix)]}

    def _GetQueueAttributes(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        name = self._queue(params)
        found = {
            "QueueArn": QUEUE_ARN + name,
            "CreatedTimestamp": str(int(self.made_at[name])),
            "ApproximateNumberOfMessages": str(len(self.queues[name])),
        }
        return {"Attributes": {one: found[one] for one in params["AttributeNames"]}}

    def _SetQueueAttributes(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        self._queue(params)
        json.loads(params["Attributes"]["Policy"])
        return {}

    def _ReceiveMessage(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        waiting = self.queues[self._queue(params)]
        return {"Messages": [{"MessageId": "m", "Body": body} for body in waiting]}

    def _DeleteQueue(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        del self.queues[self._queue(params)]
        return {}

    def _queue(self, params: dict[str, Any]) -> str:
        name: str = params["QueueUrl"].removeprefix(QUEUE_URL)
        if name not in self.queues:
            raise WireError("QueueDoesNotExist", f"no queue {name}")
        return name

    def _ListStacks(self, _p: Any, _r: Any, _n: str) -> dict[str, Any]:
        return {
            "StackSummaries": [
                {"StackName": name, "StackStatus": "CREATE_COMPLETE", "CreationTime": 0}
                for name in self.outputs
            ]
        }

    def _DescribeStacks(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        name = params["StackName"]
        if name not in self.outputs:
            raise WireError("ValidationError", f"Stack with id {name} does not exist")
        outputs = [{"OutputKey": k, "OutputValue": v} for k, v in self.outputs[name].items()]
        return {"Stacks": [{"StackName": name, "Outputs": outputs}]}
