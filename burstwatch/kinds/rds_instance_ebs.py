"""RDS instances: I/O and byte credits for the traffic between a database and its storage.

They are the balances of the EC2 instance below. RDS does not say what its classes sustain, so
the rates are those of the EC2 type of the same name, and the size is an estimate.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from burstwatch.ebs.volumes import VolumeSpec, volume_spec
from burstwatch.fixes.fix import Fix
from burstwatch.history.observations import Changes, Reporting, Resource, Words
from burstwatch.kinds import _rds
from burstwatch.kinds._ec2 import INSTANCE_TYPES
from burstwatch.kinds._instance_ebs import (
    NO_RATE,
    SIZES,
    TYPES,
    InstanceEbs,
    buckets_of,
    families_of,
    reach_of,
    sizes_of,
    smallest_of,
    without_bucket,
)
from burstwatch.kinds.base import Item, Lookup, RatesByMetric, Related, Thing
from burstwatch.kinds.rds_storage import storage_volumes
from burstwatch.sources import Source

METRICS_PAGE = Source(
    url="https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-metrics.html",
    read="2026-04",
    note="the balances are of all volumes, the root volume too, of which nothing is said",
)
#: In these a further volume has the rates that are listed, or asks for nothing.
SETTLED = frozenset({"ACTIVE", "NOT-IN-USE", "VOLUME-FULL"})
FAILS_OVER = "with Multi-AZ it is down for a failover only"
#: Taken for the root volume: no gp2 that bursts can do more.
ROOT = volume_spec("gp2", 999)


def _instance_type(item: Item) -> str:
    """The EC2 type below a class such as ``db.m5.large``; empty where there is none of that name.

    Serverless classes have no size, and those with extra memory run on a type that AWS does not name.
    """
    name = str(item["DBInstanceClass"]).removeprefix("db.")
    return name if _is_own(item) and name.count(".") == 1 else ""


def _is_own(item: Item) -> bool:
    return not item["Engine"].startswith((_rds.DOCDB, _rds.NEPTUNE))


def _has_extra_memory(item: Item) -> bool:
    """True if its class is one such as ``db.r5.2xlarge.tpc2.mem8x``."""
    return str(item["DBInstanceClass"]).removeprefix("db.").count(".") > 1


def _types(lists: Mapping[str, Sequence[Item]]) -> set[str]:
    return {name for item in lists["inventory"] if (name := _instance_type(item))}


def _reach(item: Item) -> dict[str, float]:
    """The most that its volumes can ask of it; empty where nobody can say, and while it is being changed."""
    is_changing = item.get("DBInstanceStatus", "") in _rds.CHANGING | {_rds.OPTIMIZING}
    if is_changing or item.get("DedicatedLogVolume"):
        return {}
    storage = storage_volumes(item)
    more = [_additional(volume) for volume in item.get("AdditionalStorageVolumes") or ()]
    known = [volume for volume in more if volume is not None]
    return reach_of([*storage, *known, ROOT]) if storage and len(known) == len(more) else {}


def _additional(volume: Item) -> VolumeSpec | None:
    """One of up to three more volumes that Oracle and SQL Server may have; None where nobody can say what it may ask for.

    https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_AdditionalStorageVolumeOutput.html (2026-11)
    """
    volume_type = str(volume.get("StorageType")).lower()
    rates = {"iops": volume.get("IOPS"), "mib_s": volume.get("StorageThroughput")}
    named = rates.values() if volume_type == "gp3" else (rates["iops"],)
    is_settled = str(volume.get("StorageVolumeStatus", "ACTIVE")).upper() in SETTLED
    if None in named or not is_settled:
        return None
    try:
        return volume_spec(volume_type, volume["AllocatedStorage"], **rates)
    except (KeyError, ValueError):
        return None


class RdsInstanceEbs(InstanceEbs):
    """RDS instances with EBS credits."""

    traffic = _rds.TRAFFIC
    word = "class"

    name = "rds_instance_ebs"
    namespace = "AWS/RDS"
    dimensions = ("DBInstanceIdentifier",)
    part = "ebs"
    inventory = _rds.DATABASES
    tagging = _rds.TAGGING
    lookups = (
        Lookup(name=TYPES, listing=INSTANCE_TYPES, find_ids=_types),
        Lookup(
            name=SIZES,
            listing=INSTANCE_TYPES,
            find_ids=lambda lists: families_of(_types(lists), lists),
        ),
    )
    demand_metrics = _rds.TRAFFIC_METRICS
    console = _rds.CONSOLE
    spenders = _rds.QUERIES

    def describe(self, thing: Thing, related: Related, now: float) -> Iterator[Resource]:
        """The instance's two buckets, or the one reason why it has none.

        Raises:
            ValueError: if the type's numbers are not known: then nothing can be said of it.
        """
        item, instance_type = thing.item, _instance_type(thing.item)
        if item["DBInstanceClass"] is None:
            msg = "AWS does not say of which class it is"
            raise ValueError(msg)
        if not _is_own(item) or not (instance_type or _has_extra_memory(item)):
            return
        resource = Resource(
            kind=self.name,
            id=self.resource_id(thing.id),
            name=thing.name,
            tags=thing.tags,
            unit=thing.unit,
            bucket=None,
            limit=NO_RATE,
            reporting=Reporting(
                in_use=_rds.is_database_running(item),
                reports_when_idle=True,
                history_from_s=_rds.created_s(item),
            ),
            changes=Changes(under_way=_rds.unsettled_status(item, _rds.CHANGING, now)),
            words=Words(
                facts={"type": item["DBInstanceClass"], "instance_type": instance_type},
                caveats=_rds.storage_caveats(item),
            ),
        )
        if not instance_type:
            reason = f"AWS does not say on which instance type {item['DBInstanceClass']} runs"
            yield without_bucket(resource, not_watched=reason)
            return
        spec = related[TYPES].get(instance_type)
        sizes = sizes_of(instance_type, related)
        for bucket in buckets_of(resource, instance_type, spec, _reach(item)):
            yield replace(bucket, detail=sizes)

    def fixes(self, resource: Resource, demand: float, rates: RatesByMetric) -> Iterator[Fix]:
        """A class that sustains it, with the one whose EC2 type does. Which RDS has for its engine, and at what price, is not known here."""
        smallest = smallest_of(resource, demand)
        for fix in super().fixes(resource, demand, rates):
            such_as = f", such as db.{smallest.type}" if smallest is not None else ""
            yield replace(
                fix, action=f"{fix.action}{such_as}", effect=f"{fix.effect}; {FAILS_OVER}"
            )

    def listed(self, instance_class: str) -> Item:
        """An instance of the class."""
        return {
            "DBInstanceIdentifier": "example",
            "DBInstanceClass": instance_class,
            "Engine": "postgres",
        }


KIND = RdsInstanceEbs()
