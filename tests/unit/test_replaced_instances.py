"""Who owns a resource: nobody is told to stop what its owner would replace, or end."""

from typing import Any

import pytest

from burstwatch.fixes.fix import STOPS
from burstwatch.kinds import find_kinds
from burstwatch.kinds._names import REPLACED_BY, is_made_by_terraform
from burstwatch.kinds.base import Thing

KINDS = find_kinds()
INFO = {
    "BaselineIops": 3_600, "MaximumIops": 18_750,
    "BaselineThroughputInMBps": 81.25, "MaximumThroughputInMBps": 593.75,
}  # fmt: skip
TYPES = {
    "t3.large": {"InstanceType": "t3.large", "BurstablePerformanceSupported": True, "Hypervisor": "nitro", "EbsInfo": {"EbsOptimizedInfo": INFO}},
}  # fmt: skip


def advised(kind: str, tags: dict[str, str], **more: Any) -> list[Any]:
    """The changes for an instance that is under full load."""
    item = {
        "InstanceId": "i-1", "InstanceType": "t3.large", "State": {"Name": "running"},
        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()], **more,
    }  # fmt: skip
    related: dict[str, Any] = {
        "instance_types": TYPES, "credit_specifications": {}, "disks": {}, "volumes": {},
    }  # fmt: skip
    thing = Thing(id="i-1", name="", tags=tags, unit="1/us-east-1", item=item)
    fixes: list[Any] = []
    for resource in KINDS[kind].describe(thing, related, 0.0):
        assert resource.bucket is not None
        fixes += KINDS[kind].changes(resource, resource.bucket.burst, {})
    return fixes


@pytest.mark.parametrize("kind", ["ec2_instance_cpu", "ec2_instance_ebs"])
@pytest.mark.parametrize("tag", REPLACED_BY)
def test_an_instance_that_its_owner_replaces_is_never_stopped_by_hand(kind: str, tag: str) -> None:
    plain = advised(kind, {"Name": "web"})
    assert any(fix.takes == STOPS for fix in plain)
    fixes = advised(kind, {"Name": "web", tag: "workers"})
    assert not any("stop-instances" in fix.command or fix.takes == STOPS for fix in fixes)
    owner = REPLACED_BY[tag].format("workers")
    assert any(f" in {owner}, and replace the instance" in fix.action for fix in fixes)


def test_the_owner_that_people_know_is_named_and_not_the_group_that_it_uses() -> None:
    tags = {"aws:autoscaling:groupName": "eks-workers-0a1b", "eks:nodegroup-name": "workers"}
    (named,) = [fix.action for fix in advised("ec2_instance_cpu", tags) if "replace the instance" in fix.action]  # fmt: skip
    assert " in the managed node group workers of EKS," in named


def test_a_name_that_nobody_would_print_stands_in_no_text() -> None:
    fixes = advised("ec2_instance_cpu", {"karpenter.sh/nodepool": "a\x1b[31m\n" + "b" * 200})
    assert all(fix.action.isprintable() and len(fix.action) < 200 for fix in fixes)


@pytest.mark.parametrize(
    ("tags", "is_made"),
    [
        ({"ManagedBy": "Terraform"}, True), ({"managed-by": "terraform/live/db"}, True), ({"terraform": "true"}, True),
        ({"tf:Terraform-Module": "x"}, True), ({"Provisioner": "terraform"}, True), ({"Name": "terraform-state"}, False),
        ({"terraform": "false"}, False), ({"Terraform": "No"}, False), ({"managed-by": "no-terraform"}, False),
        ({"ManagedBy": "cloudformation"}, False), ({}, False),
    ],
)  # fmt: skip
def test_terraform_is_known_by_the_tags_that_people_give(
    tags: dict[str, str], *, is_made: bool
) -> None:
    assert is_made_by_terraform(tags) == is_made
