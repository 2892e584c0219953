"""What several kinds read of EC2, each with the fields that it needs."""

from __future__ import annotations

from burstwatch.kinds.base import Listing


def instances(*fields: str) -> Listing:
    """The instances of a region."""
    return Listing(
        service="ec2",
        operation="DescribeInstances",
        items="Reservations[].Instances[]",
        id_field="InstanceId",
        id_filter="instance-id",
        fields=fields,
    )


def instance_types(*fields: str) -> Listing:
    """Instance types with what they promise; AWS takes at most a hundred on a page."""
    return Listing(
        service="ec2",
        operation="DescribeInstanceTypes",
        items="InstanceTypes[]",
        page_size=100,
        id_field="InstanceType",
        fields=fields,
    )
