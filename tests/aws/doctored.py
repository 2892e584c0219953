"""A deployment on the strict fake in which nothing is wrong, for the doctor.

`python -m tests.aws.doctored` writes its golden table anew (`make gen`).
"""

from typing import Any

from burstwatch.aws.look.memory import Memory
from tests.aws.commands import burstwatch
from tests.aws.standby import deploy_standby, watch_heartbeat
from tests.aws.sweeping import EVERY_KIND, NOTICE, TOPIC, Disk, run_sweep
from tests.conftest import Cloud, fake_cloud
from tests.goldens import FOLDER

GOLDEN = FOLDER / "doctor.txt"
LOG = "burstwatch-logs"
FUNCTION, RULE, KEY = "burstwatch-sweep", "burstwatch-rule", "arn:aws:kms:key/1"


def deploy(cloud: Cloud) -> None:
    """Make a deployment in which nothing is wrong."""
    aws = cloud.aws
    aws.environments[FUNCTION] = {"BURSTWATCH_DEPLOYMENT": "burstwatch"}
    aws.rules[RULE] = "ENABLED"
    aws.logs[LOG] = []
    cloud.clients("sqs").create_queue(QueueName="dead-letters")
    aws.outputs["Burstwatch"] = {
        "BurstWatchSweepFunctionName1": FUNCTION,
        "BurstWatchRuleName1": RULE,
        "BurstWatchPageTopicArn1": TOPIC,
        "BurstWatchNoticeTopicArn1": NOTICE,
        "BurstWatchDeadLettersUrl1": "http://sqs.fake/123456789012/dead-letters",
        "LogGroupName": LOG,
    }
    for topic in (TOPIC, NOTICE):
        aws.topic_keys[topic] = KEY
        aws.subscribe(topic, "oncall@example.org")
    aws.key_policies[KEY] = policy("kms:Decrypt", "kms:GenerateDataKey*")
    deploy_standby(cloud)
    disk, memory = Disk(cloud, percent=90), Memory()
    for _ in range(12):
        disk.minute(iops=300)
    run_sweep(cloud, memory, config=EVERY_KIND)
    cloud.clock.now += 60
    for name in ("UnitsFailed", "Problems", "CallsThrottled", "MetricsRefused"):
        measure(cloud, name, 0.0)
    measure(cloud, "MetricsRequested", 2_000.0)
    watch_heartbeat(cloud, "burstwatch", str(cloud.unit))
    put(cloud, "AWS/Lambda", "Errors", {"FunctionName": FUNCTION}, 0.0)


def policy(*actions: str) -> dict[str, Any]:
    cloudwatch = {"Service": "cloudwatch.amazonaws.com"}
    return {
        "Statement": [
            {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "kms:*"},
            {"Effect": "Allow", "Principal": cloudwatch, "Action": list(actions)},
        ]
    }


def put(cloud: Cloud, namespace: str, name: str, dimensions: dict[str, str], value: float) -> None:
    key = (namespace, name, tuple(sorted(dimensions.items())))
    at = cloud.clock.now - cloud.clock.now % 60 - 60
    cloud.aws.regions["us-east-1"].metrics.setdefault(key, {})[at] = value


def measure(cloud: Cloud, name: str, value: float) -> None:
    put(cloud, "Burstwatch", name, {"Deployment": "burstwatch"}, value)


def main() -> None:
    """Write the golden table."""
    with fake_cloud() as cloud:
        deploy(cloud)
        GOLDEN.write_text(burstwatch(cloud, "doctor")[1], encoding="utf-8")


if __name__ == "__main__":
    main()
