"""Each command that is advised is run on the local cloud, where it has the operation, and does what it says.

The resources are listed by the product, in a region of their own.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from botocore import xform_name

from burstwatch.aws.client.session import Clients
from burstwatch.aws.inventory.inventory import take_inventory
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from demo.localcloud.cloud import LocalCloud

pytestmark = pytest.mark.local_cloud
REGION = "eu-central-1"


@pytest.fixture(scope="module")
def clients(cloud: LocalCloud) -> Clients:
    credentials = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    return Clients(REGION, endpoint_url=cloud.endpoint, credentials=credentials)


def make_volume(clients: Clients) -> str:
    ec2 = clients("ec2")
    zone = f"{REGION}a"
    return str(ec2.create_volume(AvailabilityZone=zone, Size=100, VolumeType="gp2")["VolumeId"])


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


#: By kind, of those that the local cloud has: what makes one, what describes it, and what is so after the first change that has a command.
ADVISED: list[tuple[str, Callable[[Clients], str], Callable[[Clients, str], Mapping[str, Any]], dict[str, Any]]] = [
    ("ebs_volume", make_volume, volume_now, {"VolumeType": "gp3", "Iops": 3_000, "Throughput": 128}),
    ("ec2_instance_cpu", make_instance, instance_now, {"InstanceType": "t3.2xlarge"}),
]  # fmt: skip
#: The local cloud has no such operation.
MISSING = {"ModifyInstanceCreditSpecification"}


@pytest.mark.parametrize(("kind", "make", "now", "expected"), ADVISED)
def test_a_command_that_is_advised_does_on_the_local_cloud_what_it_says(
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
                **command.parameters, WaiterConfig={"Delay": 1, "MaxAttempts": 30}
            )
        else:
            getattr(client, xform_name(command.operation))(**command.parameters)
    item = now(clients, thing)
    assert {name: item.get(name) for name in expected} == expected


def listed(clients: Clients, kind: str, thing: str) -> Resource:
    """The resource as the product lists it."""
    inventory = take_inventory(find_kinds()[kind], clients, clients.unit(), now=0.0)
    (resource,) = (
        resource
        for resource in inventory.resources
        if resource.id.partition(".")[0] == thing and resource.level_metric
    )
    return resource
