"""The name that people use, of the tags that AWS and Kubernetes put on a thing."""

from typing import Any

import pytest

from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.kinds._names import cluster_of, name_from_tags
from burstwatch.kinds.base import Kind, Thing

CLAIM = {
    "kubernetes.io/created-for/pvc/namespace": "payments",
    "kubernetes.io/created-for/pvc/name": "data-postgres-0",
    "Name": "kubernetes-dynamic-pvc-0f0e",
}
STACK = {"aws:cloudformation:stack-name": "shop", "aws:cloudformation:logical-id": "OrdersVolume"}


@pytest.mark.parametrize(
    ("tags", "name"),
    [
        (CLAIM, "payments/data-postgres-0"),
        ({"Name": "orders-db", **STACK}, "orders-db"),
        ({"Name": "", "aws:autoscaling:groupName": "web", **STACK}, "web"),
        (STACK, "shop/OrdersVolume"),
        ({"aws:cloudformation:stack-name": "shop"}, "shop"),
        ({"team": "payments"}, ""),
        ({}, ""),
    ],
)
def test_a_thing_has_the_name_by_which_people_know_it(tags: dict[str, str], name: str) -> None:
    assert name_from_tags(tags) == name


@pytest.mark.parametrize(
    ("tags", "cluster"),
    [
        ({"KubernetesCluster": "prod"}, "prod"),
        ({"eks:cluster-name": "prod"}, "prod"),
        ({"kubernetes.io/cluster/prod": "owned"}, "prod"),
        ({"Name": "prod"}, ""),
    ],
)
def test_a_cluster_is_named_by_each_tag_that_names_one(tags: dict[str, str], cluster: str) -> None:
    assert cluster_of(tags) == cluster


#: How each API lists the tags of a thing.
TAG_FIELDS = {"rds": "TagList", "docdb": "TagList", "neptune": "TagList"}


@pytest.mark.parametrize(
    "kind",
    [kind for kind in find_kinds().values() if kind.inventory.tags is None],
    ids=lambda kind: kind.name,
)
def test_every_kind_with_tags_in_its_listing_uses_them_for_the_name(kind: Kind) -> None:
    item: dict[str, Any] = {
        "VolumeId": "vol-1", "InstanceId": "i-1", "FileSystemId": "fs-1", "DBInstanceIdentifier": "db",
        TAG_FIELDS.get(kind.inventory.service, "Tags"): [
            {"Key": key, "Value": value} for key, value in CLAIM.items()
        ],
    }  # fmt: skip
    assert kind.inventory.identify(item).name == "payments/data-postgres-0"


def test_the_host_of_a_volume_has_the_name_of_its_group() -> None:
    tags = [{"Key": "aws:autoscaling:groupName", "Value": "web"}]
    item = {
        "VolumeId": "vol-1", "VolumeType": "gp2", "Size": 100,
        "Attachments": [{"InstanceId": "i-1", "Device": "/dev/sdf", "State": "attached"}],
    }  # fmt: skip
    related = {"instances": {"i-1": {"Tags": tags}}, "instance_types": {}, "modifications": {}}
    thing = Thing(id="vol-1", name="", tags={}, item=item)
    resource: Resource
    (resource,) = find_kinds()["ebs_volume"].describe(thing, related, 0.0)
    assert resource.words.place == "/dev/sdf of web (i-1)"
