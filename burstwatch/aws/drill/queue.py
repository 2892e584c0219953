"""The queue of a fire drill: subscribed to a topic, so that the drill sees what the topic delivers."""

import json
from collections.abc import Callable
from typing import Any

from burstwatch.aws.client.names import DRILL_QUEUE
from burstwatch.aws.client.session import AWS_ERRORS, Clients

#: Its own messages are all that the queue may hold, and not for long.
QUEUE_KEEPS_S = 3_600


def open_queue(clients: Clients, topic: str, name: str, steps: list[Callable[[], object]]) -> str:
    """Make the queue, subscribe it to the topic, and return its URL.

    ``steps`` gets what takes it away again, the last step first.
    """
    sqs, sns = clients("sqs"), clients("sns")
    url: str = sqs.create_queue(
        QueueName=name, Attributes={"MessageRetentionPeriod": str(QUEUE_KEEPS_S)}
    )["QueueUrl"]
    steps.append(lambda: sqs.delete_queue(QueueUrl=url))
    about = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]
    arn = about["QueueArn"]
    policy = _queue_policy(topic, arn)
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": json.dumps(policy)})
    subscription = sns.subscribe(
        TopicArn=topic, Protocol="sqs", Endpoint=arn, ReturnSubscriptionArn=True
    )["SubscriptionArn"]
    steps.append(lambda: sns.unsubscribe(SubscriptionArn=subscription))
    return url


def clear_leftovers(clients: Clients, topic: str, now: float) -> None:
    """Delete the queues of drills that were killed, and unsubscribe queues that are gone.

    A queue that cannot be read may be that of a drill under way: it keeps its subscription.
    """
    sqs, sns = clients("sqs"), clients("sns")
    kept_names = set()
    for url in sqs.list_queues(QueueNamePrefix=DRILL_QUEUE).get("QueueUrls", ()):
        try:
            about = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["CreatedTimestamp"])
            if now - float(about["Attributes"]["CreatedTimestamp"]) > QUEUE_KEEPS_S:
                sqs.delete_queue(QueueUrl=url)
                continue
        except sqs.exceptions.QueueDoesNotExist:
            continue  # what was deleted is listed for another minute
        except AWS_ERRORS:
            pass
        kept_names.add(url.rpartition("/")[2])
    pages = sns.get_paginator("list_subscriptions_by_topic")
    for page in pages.paginate(TopicArn=topic):
        for subscription in page["Subscriptions"]:
            queue_name = subscription["Endpoint"].rpartition(":")[2]
            if queue_name.startswith(DRILL_QUEUE) and queue_name not in kept_names:
                sns.unsubscribe(SubscriptionArn=subscription["SubscriptionArn"])


def has_received(clients: Clients, url: str | None, alarm: str, state: str) -> bool:
    """True if one of the messages that wait in the queue says that the alarm went to this state."""
    reply = clients("sqs").receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=1)
    return any(
        _is_notification(message["Body"], alarm, state) for message in reply.get("Messages", ())
    )


def _is_notification(body: str, alarm: str, state: str) -> bool:
    try:
        inner: dict[str, Any] = json.loads(json.loads(body)["Message"])
    except (ValueError, KeyError, TypeError):
        return False
    return inner.get("AlarmName") == alarm and inner.get("NewStateValue") == state


def _queue_policy(topic: str, queue: str) -> dict[str, Any]:
    """The policy of a queue that lets one topic send to it."""
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": "sns.amazonaws.com"},
                "Action": "sqs:SendMessage",
                "Resource": queue,
                "Condition": {"ArnEquals": {"aws:SourceArn": topic}},
            }
        ],
    }
