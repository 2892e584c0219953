"""ElastiCache nodes of the T types: CPU credits, always in Standard mode, so a node slows down.

T2 nodes publish no balance. The listing has no tags, so they come from the tagging API. AWS does
not say how many credits a new node has.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from burstwatch.fixes.fix import Command, Fix
from burstwatch.history.observations import Resource
from burstwatch.kinds import _cpu
from burstwatch.kinds.base import (
    Item,
    Listing,
    RatesByMetric,
    Related,
    Tagging,
    TagListing,
    Thing,
    identified_by,
    place_of,
    waiting_changes,
)

#: A cluster that is gone or not yet there.
AVAILABLE = "available"
NOT_RUNNING = frozenset({"deleted", "deleting", "creating", "create-failed"})
WITHOUT_BALANCE = "cache.t2."
LARGEST = "medium"


#: States in which AWS takes no change of a cluster.
CHANGING = frozenset({"modifying", "snapshotting", "rebooting cluster nodes"})
MEMCACHED = "memcached"
#: The named one has the two vCPUs of most T types. That every engine takes it is an assumption.
WITHOUT_CREDITS = "a node type without CPU credits, such as cache.m5.large"
#: https://docs.aws.amazon.com/AmazonElastiCache/latest/red-ug/Scaling.RedisStandalone.ScaleUp.html,
#: https://docs.aws.amazon.com/AmazonElastiCache/latest/red-ug/CacheNodes.NodeMigration.html (2026-11)
INTERRUPTED = "interrupts reads and writes for seconds, of a single node for up to a minute"


@dataclass(frozen=True, kw_only=True, slots=True)
class Node(_cpu.Detail):
    """A node with its engine, and its replication group where it has one."""

    engine: str
    group: str


def identify(item: Item) -> Thing:
    """A cluster in the common shape; people call it by its replication group, where it has one."""
    name = item.get("ReplicationGroupId", "")
    return Thing(id=item["CacheClusterId"], name=name, tags={}, item=item)


TAGS = Listing(
    service="resourcegroupstaggingapi",
    operation="GetResources",
    items="ResourceTagMappingList[]",
    identify=identified_by("ResourceARN"),
    arguments=lambda _: {"ResourceTypeFilters": ["elasticache:cluster"]},
    page_size=100,
    iam_prefix="tag",
)


def _retyped(resource: Resource, node: Node, node_type: str) -> tuple[Command, ...]:
    """The command that gives all nodes of a cluster, or of its replication group, another type."""
    operation, thing = "ModifyCacheCluster", {"CacheClusterId": resource.dimensions[0]}
    if node.group:
        operation, thing = "ModifyReplicationGroup", {"ReplicationGroupId": node.group}
    return (
        Command(
            service="elasticache",
            operation=operation,
            region=resource.region,
            parameters={**thing, "CacheNodeType": node_type, "ApplyImmediately": True},
        ),
    )


class ElasticacheNodeCpu(_cpu.BurstableCpu):
    """ElastiCache nodes with CPU credits."""

    name = "elasticache_node_cpu"
    namespace = "AWS/ElastiCache"
    dimensions = ("CacheClusterId", "CacheNodeId")
    part = "nodes"
    inventory = Listing(
        service="elasticache",
        has_names=True,
        operation="DescribeCacheClusters",
        items="CacheClusters[]",
        identify=identify,
        # Without it AWS leaves the nodes out.
        arguments=lambda _: {"ShowCacheNodeInfo": True},
        page_size=100,
        tags=TagListing(listing=TAGS, arn=lambda item: str(item["ARN"])),
    )
    tagging = Tagging(
        service="elasticache",
        put_operation="AddTagsToResource",
        remove_operation="RemoveTagsFromResource",
        arns=("elasticache:*:*:cluster:*",),
        target=lambda thing: {"ResourceName": thing.item["ARN"]},
    )
    level_metrics = (_cpu.BALANCE,)
    console = "elasticache/home?region={region}#/redis/{id}"
    spenders = "the commands of its clients (`INFO commandstats`)"
    example = _cpu.cpu_example("a node type, such as cache.t3.medium")

    def describe(self, thing: Thing, related: Related, now: float) -> Iterator[Resource]:
        """The credits of each node of a cluster; none for a type without credits."""
        item = thing.item
        node_type = item["CacheNodeType"]
        if not _cpu.is_burstable(node_type):
            return
        status = item.get("CacheClusterStatus", "")
        if not item["CacheNodes"] and status == AVAILABLE:
            msg = "it is available, and AWS lists none of its nodes"
            raise ValueError(msg)
        for node in item["CacheNodes"]:
            # A node that AWS has replaced is younger than its cluster.
            created = node.get("CacheNodeCreateTime") or item.get("CacheClusterCreateTime")
            instance = _cpu.Instance(
                type=node_type,
                since_s=created.timestamp() if created else None,
                in_use=status not in NOT_RUNNING,
            )
            resource = self.credits_of(
                thing, instance, metric=_cpu.BALANCE, is_unlimited=False, starts_empty=True
            )
            node_id, detail = node["CacheNodeId"], resource.detail
            resource = replace(
                resource,
                id=f"{thing.id}.{node_id}",
                dimensions=(thing.id, node_id),
                changes=replace(
                    resource.changes,
                    under_way=f"the end of its status {status}" if status in CHANGING else "",
                    window=item.get("PreferredMaintenanceWindow", ""),
                    waiting=waiting_changes(item),
                    place=place_of(item.get("PreferredAvailabilityZone") or "", thing.unit),
                ),
                detail=detail
                and Node(
                    spec=detail.spec,
                    terms=_cpu.Terms(largest=LARGEST),
                    engine=item.get("Engine", ""),
                    group=item.get("ReplicationGroupId", ""),
                ),
            )
            if item.get("Engine"):
                facts = {**resource.words.facts, "type": f"{item['Engine']} {node_type}"}
                resource = replace(resource, words=replace(resource.words, facts=facts))
            if node_type.startswith(WITHOUT_BALANCE):
                reason = f"AWS publishes no balance of {node_type}"
                resource = replace(
                    resource, bucket=None, terms=replace(resource.terms, not_watched=reason)
                )
            yield resource

    def spenders_of(self, resource: Resource) -> str:
        """The commands, as each engine counts them."""
        node: Node | None = resource.detail
        is_memcached = node is not None and node.engine == MEMCACHED
        return "the commands of its clients (`stats`)" if is_memcached else self.spenders

    def fixes(self, resource: Resource, demand: float, rates: RatesByMetric) -> Iterator[Fix]:
        """A larger node; its price is not known here."""
        node: Node = resource.detail
        is_fixed = node.engine == MEMCACHED
        for larger in _cpu.larger_fix(
            node,
            demand,
            without_credits=WITHOUT_CREDITS,
            verb="make a new cluster with" if is_fixed else "change to",
            prefix="cache.",
            takes="takes minutes to hours",
            commands_for=partial(_retyped, resource, node),
        ):
            if not is_fixed:
                yield replace(larger, effect=f"{larger.effect}; {INTERRUPTED}", may_restart=True)
            else:
                yield replace(
                    larger,
                    effect=f"{larger.effect}; the type of a Memcached node cannot be changed, and a new cluster is empty",
                    commands=(),
                    may_restart=True,
                )

    def listed(self, spec: Mapping[str, str]) -> tuple[Item, Related]:
        """A cluster of one node."""
        listed = {
            "CacheClusterId": "example",
            "CacheNodeType": spec["type"],
            "CacheNodes": [{"CacheNodeId": "0001"}],
        }
        return listed, {}


KIND = ElasticacheNodeCpu()
