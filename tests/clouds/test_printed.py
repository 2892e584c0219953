"""What is printed for people to paste is run: the commands of every runbook, and the changes that are advised."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore import xform_name

from burstwatch.aws.client.session import Clients
from burstwatch.aws.inventory.inventory import take_inventory
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from demo.localcloud.cloud import LocalCloud
from demo.localcloud.emulators import CACHE, LOCALSTACK
from tests.clouds.app import REGION, Watched
from tests.clouds.waiting import clients_of, until
from tests.runbooks import ALERTING, RUNBOOKS, blocks

pytestmark = [pytest.mark.clouds, pytest.mark.timeout(0)]
AWS = CACHE / "localstack" / "bin" / "aws"
ADVICE_REGION = "eu-central-1"


@pytest.fixture(scope="module")
def placeholders(cloud: LocalCloud, app: Watched) -> dict[str, str]:
    """What a reader puts in for the examples: things that are there, beside the app."""
    assert app.kinds
    clients = clients_of(cloud, REGION)
    volume = make_volume(clients)
    clients("cloudwatch").put_metric_data(
        Namespace="AWS/EBS",
        MetricData=[
            {
                "MetricName": "BurstBalance",
                "Dimensions": [{"Name": "VolumeId", "Value": volume}],
                "Timestamp": datetime.fromtimestamp(time.time() - 120, tz=UTC),
                "Value": 99.0,
            }
        ],
    )
    return {
        "vol-0123456789abcdef0": volume,
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
#: Programs of a host.
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


@pytest.mark.on(LOCALSTACK.name)
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
    )
    assert done.returncode == 0, f"{done.stdout[-500:]}\n{done.stderr[-500:]}"


@pytest.fixture(scope="module")
def clients(cloud: LocalCloud) -> Clients:
    """Clients of a region that has nothing else."""
    return clients_of(cloud, ADVICE_REGION)


def make_volume(clients: Clients) -> str:
    zone = f"{clients.region}a"
    volume = clients("ec2").create_volume(AvailabilityZone=zone, Size=100, VolumeType="gp2")
    return str(volume["VolumeId"])


def make_instance(clients: Clients) -> str:
    ec2 = clients("ec2")
    (image, *_) = ec2.describe_images(Owners=["amazon"])["Images"]
    reservation = ec2.run_instances(
        ImageId=image["ImageId"], InstanceType="t3.medium", MinCount=1, MaxCount=1
    )
    return str(reservation["Instances"][0]["InstanceId"])


def volume_now(clients: Clients, thing: str) -> Mapping[str, Any]:
    (item,) = clients("ec2").describe_volumes(VolumeIds=[thing])["Volumes"]
    return dict(item)


def instance_now(clients: Clients, thing: str) -> Mapping[str, Any]:
    (reservation,) = clients("ec2").describe_instances(InstanceIds=[thing])["Reservations"]
    return dict(reservation["Instances"][0])


#: By kind: what makes one, what describes it, and what is so after the first change that has a command.
ADVISED: list[tuple[str, Callable[[Clients], str], Callable[[Clients, str], Mapping[str, Any]], dict[str, Any]]] = [
    ("ebs_volume", make_volume, volume_now, {"VolumeType": "gp3", "Iops": 3_000, "Throughput": 128}),
    ("ec2_instance_cpu", make_instance, instance_now, {"InstanceType": "t3.2xlarge"}),
]  # fmt: skip
#: The emulators have no such operation.
MISSING = {"ModifyInstanceCreditSpecification"}


@pytest.mark.parametrize(("kind", "make", "now", "expected"), ADVISED)
def test_a_command_that_is_advised_does_what_it_says(
    clients: Clients,
    kind: str,
    make: Callable[[Clients], str],
    now: Callable[[Clients, str], Mapping[str, Any]],
    expected: dict[str, Any],
) -> None:
    thing = make(clients)
    resource = listed(clients, kind, thing)
    assert resource.bucket is not None
    demand = min(resource.bucket.burst, resource.limit.rate)
    fix = next(
        fix
        for fix in find_kinds()[kind].changes(resource, demand, {})
        if fix.commands and not MISSING & {command.operation for command in fix.commands}
    )
    for command in fix.commands:
        client = clients(command.service)
        if command.is_waiter:
            client.get_waiter(xform_name(command.operation)).wait(
                **command.parameters, WaiterConfig={"Delay": 1, "MaxAttempts": 1_200}
            )
        else:
            getattr(client, xform_name(command.operation))(**command.parameters)
    until(
        "the change that was advised",
        lambda: {name: now(clients, thing).get(name) for name in expected} == expected,
    )


def listed(clients: Clients, kind: str, thing: str) -> Resource:
    """The resource as the product lists it."""
    inventory = take_inventory(find_kinds()[kind], clients, clients.unit(), now=0.0)
    (resource,) = (
        resource
        for resource in inventory.resources
        if resource.id.partition(".")[0] == thing and resource.level_metric
    )
    return resource
