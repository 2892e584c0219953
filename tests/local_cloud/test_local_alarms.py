"""Alarms as on-call gets them from the local cloud, and the drill and runbooks beside them."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path

import pytest

from burstwatch.messages.message import NO_ACTION
from demo.localcloud.cloud import LocalCloud
from tests.aws.sweeping import EFFECT
from tests.local_cloud.conftest import REGION, Deployed
from tests.local_cloud.episode import MINUTE_S, Episode, events_of, told
from tests.local_cloud.outside import AWS, burstwatch
from tests.local_cloud.second import DEPLOYMENT, Second
from tests.runbooks import ALERTING, RUNBOOKS, blocks

pytestmark = [pytest.mark.local_cloud, pytest.mark.timeout(3_000)]


@pytest.fixture(scope="module")
def placeholders(deployed: Deployed, episode: Future[Episode]) -> dict[str, str]:
    """What a reader puts in for the examples: things that are there."""
    assert episode is not None
    ec2 = deployed.client("ec2")
    volume = ec2.create_volume(AvailabilityZone=f"{REGION}a", Size=100, VolumeType="gp2")
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
    return {
        "vol-0123456789abcdef0": volume["VolumeId"],
        "AWS_REGION=us-east-1": f"AWS_REGION={REGION}",
        "AWS_DEFAULT_REGION=us-east-1": f"AWS_DEFAULT_REGION={REGION}",
    }


#: The local cloud has no such operation, or it is for another kind of resource than the volume that
#: the runbook is tried on. AWS's own model of each is checked in test_runbooks.py.
NOT_HERE = (
    "stop-instances",
    "wait",
    "modify-instance-attribute",
    "start-instances",
    "modify-replication-group",
    "update-file-system",
    "put-function-concurrency",
    "lookup-events",
    "get-account-settings",
    "modify-db-instance",
    "modify-instance-credit-specification",
)
#: Programs of a host, and a drill, which has tests of its own.
STUBS = (
    "pidstat",
    "iostat",
    "nfsiostat",
    "vmstat",
    "curl",
    "systemctl",
    "journalctl",
    "grep",
    "burstwatch-exporter",
)


@pytest.fixture(scope="module")
def shell(cloud: LocalCloud, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a reader's shell, with the AWS CLI and burstwatch on its path."""
    folder = tmp_path_factory.mktemp("reader")
    own = Path(sys.executable).with_name("burstwatch")
    programs = {
        "aws": f'''case "$2" in {"|".join(NOT_HERE)}) exit 0;; esac
exec {AWS.with_name("python")} {AWS} --endpoint-url {cloud.endpoint} "$@"''',
        # `scan` says 1 where it could not judge everything, and that is an answer.
        "burstwatch": f"""[ "$1" = drill ] && exit 0
{own} "$@" || {{ code=$?; [ "$1" = scan ] && [ $code = 1 ]; }}""",
        **dict.fromkeys(STUBS, "exit 0"),
    }
    for name, text in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    (folder / "config").write_text("[default]\n")
    return {
        **cloud.environment(REGION),
        "AWS_CONFIG_FILE": str(folder / "config"),
        "AWS_PAGER": "",
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
    }


@pytest.mark.parametrize("runbook", [*RUNBOOKS, ALERTING], ids=lambda path: path.stem)
def test_every_command_of_a_runbook_runs_as_printed(
    runbook: Path, shell: dict[str, str], placeholders: dict[str, str]
) -> None:
    script = "\n".join(["set -eu", *blocks(runbook.read_text())])
    for printed, real in placeholders.items():
        script = script.replace(printed, real)
    done = subprocess.run(
        ["/bin/bash", "-c", script],
        env=shell,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, f"{done.stdout[-500:]}\n{done.stderr[-500:]}"


def test_a_drill_by_the_deployed_function_tells_every_hop(second: Future[Second]) -> None:
    drilled = second.result().heard
    assert drilled.code == 0, drilled.errors
    waits = [line.partition(": waiting for ")[0] for line in drilled.errors.splitlines()]
    assert waits == ["burstwatch: raised", "burstwatch: resolved"]
    assert all(hop["result"] == "ok" for hop in drilled.hops.values())
    assert drilled.hops.keys() >= {"function", "metric", "alarm", "event", "raised", "delivered"}


def test_a_drill_at_a_topic_without_a_subscription_names_that_hop(second: Future[Second]) -> None:
    drilled = second.result().unheard
    assert drilled.code == 1
    assert [name for name, hop in drilled.hops.items() if hop["result"] == "failed"] == [
        "subscribers"
    ]
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
    assert {name: found[name]["result"] for name in well} == dict.fromkeys(well, "ok")
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


def test_volumes_at_risk_are_one_page_each_that_resolves_and_nothing_is_left(
    episode: Future[Episode],
) -> None:
    played = episode.result()
    at_risk = {
        one for fate, one in played.volumes.items() if fate in {"retyped", "deleted", "refilled"}
    }
    names = {f"burstwatch/three/{EFFECT}/{volume}/critical" for volume in at_risk}
    emptied = f"burstwatch/three/orders-db {EFFECT}/{played.volumes['emptied']}"
    assert played.made == names | {f"{emptied}/warning", f"{emptied}/critical"}
    assert told(played, "sqs:page") == {
        name: ["ALARM", "OK"] for name in {*names, f"{emptied}/critical"}
    }
    assert told(played, "sqs:notice") == {f"{emptied}/warning": ["ALARM", "OK"]}
    assert not played.problems
    left = {name for name in played.left if DEPLOYMENT not in name}
    assert all(name.startswith("burstwatch-burstwatch-") for name in left)
    for volume in at_risk:
        types = [one["metadata"]["eventType"] for one in events_of(played, volume)]
        assert types[0] == "burstwatch.opened"
        assert types[1] in {"burstwatch.recovered", "burstwatch.gone"}
        assert len(types) == 2
    # On page and notice a pager sees CloudWatch's own messages and no other shape.
    assert {through for through, _ in played.other} == {"sqs:events"}


def test_one_volume_goes_through_a_whole_life_told_once_each_in_one_thread(
    episode: Future[Episode],
) -> None:
    played = episode.result()
    volume = played.volumes["emptied"]
    messages = [one["metadata"] for one in events_of(played, volume)]
    assert [one["eventType"].removeprefix("burstwatch.") for one in messages] == [
        "opened", "escalated", "empty", "recovered"
    ]  # fmt: skip
    assert len({one["threadId"] for one in messages}) == 1
    mails = [text.partition("\n")[0] for text in played.mails if volume in text]
    expected = ("WARNING orders-db: burst credits run out in ", "CRITICAL orders-db: burst credits run out in ", "CRITICAL orders-db: burst credits have run out (", "RESOLVED orders-db: burst credits back at ")  # fmt: skip
    assert len(mails) == len(expected)
    assert all(map(str.startswith, mails, expected)), mails
    (closed,) = (one for one in played.listed if one.resource_id == volume)
    assert closed.severity == "critical"
    assert closed.lowest_ratio == 0
    assert closed.opened_s <= (closed.paged_s or 0)
    # It was empty in the minute that begins then, which may be the minute of the page.
    assert (closed.paged_s or 0) - MINUTE_S < (closed.empty_s or 0) <= (closed.closed_s or 0)
    oks = [
        alarm
        for _, alarm in played.heard
        if volume in alarm["AlarmName"] and alarm["NewStateValue"] == "OK"
    ]
    assert oks
    assert all(NO_ACTION in alarm["AlarmDescription"] for alarm in oks)


def test_a_snoozed_volume_stays_silent_and_says_so(episode: Future[Episode]) -> None:
    played = episode.result()
    volume = played.volumes["snoozed"]
    assert events_of(played, volume) == []
    assert not any(volume in name for name in played.made)
    assert any(
        note.startswith("snoozed until ") and note.endswith(": a test") for note in played.notes
    )
