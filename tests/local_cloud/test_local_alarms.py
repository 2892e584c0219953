"""Alarms as on-call gets them from the local cloud, and the drill and runbooks beside them."""

import json
import time
from concurrent.futures import Future
from datetime import UTC, datetime

import pytest

from demo.localcloud.cloud import LocalCloud
from tests.local_cloud.conftest import REGION, Deployed
from tests.local_cloud.episode import Episode, recoveries, told
from tests.local_cloud.outside import aws, burstwatch
from tests.local_cloud.second import DEPLOYMENT, Second
from tests.test_runbooks import every_command

pytestmark = [pytest.mark.local_cloud, pytest.mark.timeout(3_000)]


@pytest.fixture(scope="module")
def placeholders(deployed: Deployed, episode: Future[Episode]) -> dict[str, str]:
    """What a reader puts in for the words in capitals: things that are there."""
    assert episode is not None
    ec2 = deployed.client("ec2")
    volume = ec2.create_volume(AvailabilityZone=f"{REGION}a", Size=100, VolumeType="gp2")
    instance = ec2.run_instances(
        ImageId="ami-12345678", InstanceType="m5.8xlarge", MinCount=1, MaxCount=1
    )["Instances"][0]
    deployed.client("cloudwatch").put_metric_data(
        Namespace="AWS/EBS",
        MetricData=[
            {
                "MetricName": "BurstBalance",
                "Dimensions": [{"Name": "VolumeId", "Value": volume["VolumeId"]}],
                "Timestamp": datetime.fromtimestamp(time.time() - 120, tz=UTC),
                "Value": 99.0,
            }
        ],
    )
    function = deployed.outputs["SweepFunctionName"]
    about = deployed.client("lambda").get_function_configuration(FunctionName=function)
    queue = deployed.client("sqs").create_queue(QueueName="some-dead-letters")
    now = datetime.now(tz=UTC)
    return {
        "VOLUME": volume["VolumeId"],
        "INSTANCE": instance["InstanceId"],
        "START": f"{now.replace(hour=0, minute=0):%Y-%m-%dT%H:%M:%SZ}",
        "END": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "DEPLOYMENT": "burstwatch",
        "STACK": "Burstwatch",
        "FUNCTION": function,
        "LOG_GROUP": about.get("LoggingConfig", {}).get("LogGroup", f"/aws/lambda/{function}"),
        "RULE": deployed.outputs["RuleName"],
        "TOPIC": deployed.outputs["PageTopicArn"],
        "QUEUE_URL": queue["QueueUrl"],
    }


#: The local cloud has no such operation; AWS's own model of it is checked in test_runbooks.py.
NOT_HERE = {"put-function-concurrency", "lookup-events", "get-account-settings"}


def test_every_command_of_the_runbooks_runs(
    cloud: LocalCloud, placeholders: dict[str, str]
) -> None:
    failed = []
    tried: dict[tuple[str, ...], str] = {}
    for runbook, words in every_command():
        command = tuple(
            placeholders.get(word.removeprefix("$"), word) if word.startswith("$") else word
            for word in (_filled(word, placeholders) for word in words)
        )
        if command in tried or (command[2:3] and command[2] in NOT_HERE) or command[1] == "drill":
            continue
        tried[command] = runbook
        if command[0] == "aws":
            done = aws(cloud, REGION, *command[1:])
        else:
            done = burstwatch(cloud, REGION, *command[1:])
        # `scan` says 1 where it could not judge everything, and that is an answer.
        if done.returncode not in ({0, 1} if command[:2] == ("burstwatch", "scan") else {0}):
            failed.append((runbook, " ".join(command), done.returncode, done.stderr[-300:]))
    assert not failed, failed
    assert len(tried) >= 20


def _filled(word: str, placeholders: dict[str, str]) -> str:
    for name, value in placeholders.items():
        word = word.replace(f"Value=${name}", f"Value={value}").replace(f"/${name}/", f"/{value}/")
    return word


def test_a_drill_by_the_deployed_function_tells_every_hop(second: Future[Second]) -> None:
    drilled = second.result().heard
    assert (drilled.code, drilled.errors) == (0, "")
    assert all(hop["ok"] for hop in drilled.hops.values())
    assert drilled.hops.keys() >= {"function", "metric", "alarm", "event", "raised", "delivered"}


def test_a_drill_at_a_topic_without_a_subscription_names_that_hop(second: Future[Second]) -> None:
    drilled = second.result().unheard
    assert drilled.code == 1
    assert [name for name, hop in drilled.hops.items() if hop["ok"] is False] == ["subscribers"]
    assert "the drill failed at: subscribers" in drilled.errors


def test_the_doctor_looks_at_the_deployment(cloud: LocalCloud, episode: Future[Episode]) -> None:
    episode.result()
    done = burstwatch(cloud, REGION, "doctor", "--json")
    assert done.returncode in {0, 1}, done.stderr
    found = {one["check"]: one for one in map(json.loads, done.stdout.splitlines())}
    well = {
        "credentials",
        "stack",
        "function 1",
        "rule 1",
        "topic page",
        "ebs_volume ec2:DescribeVolumes",
    }
    assert {name: found[name]["state"] for name in well} == dict.fromkeys(well, "ok")
    assert "000000000000" not in done.stdout


def test_of_two_deployments_in_one_region_none_hears_the_alarms_of_the_other(
    second: Future[Second], episode: Future[Episode]
) -> None:
    heard = second.result()
    assert heard.alarms
    assert not heard.others
    own = (f"burstwatch/{DEPLOYMENT}/", f"burstwatch-{DEPLOYMENT}-")
    assert [name for name in heard.alarms if not name.startswith(own)] == []
    assert {name.split("/")[1] for name in told(episode.result(), "sqs:page")} == {"three"}


def test_three_volumes_at_risk_are_three_pages_that_resolve_and_nothing_is_left(
    episode: Future[Episode],
) -> None:
    played = episode.result()
    names = {f"burstwatch/three/{volume}/critical" for volume in played.volumes.values()}
    assert played.made == names
    assert told(played, "sqs:page") == {name: ["ALARM", "OK"] for name in names}
    assert told(played, "sqs:notice") == {}
    assert not played.problems
    left = {name for name in played.left if DEPLOYMENT not in name}
    assert all(name.startswith("burstwatch-burstwatch-") for name in left)
    assert len(recoveries(played)) == 3
    # On page and notice a pager sees CloudWatch's own messages and no other shape.
    assert {through for through, _ in played.other} == {"sqs:events"}
