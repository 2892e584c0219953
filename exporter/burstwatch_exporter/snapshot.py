"""Holds the host at one instant, as the page, measurements and other sources see it."""

from dataclasses import dataclass

from burstwatch.bucket import Bucket
from burstwatch.ebs.volumes import Charge
from burstwatch.forecast.projection import Projection
from burstwatch.history.points import LevelPoint
from burstwatch_exporter.blocks import Disk, Stacked
from burstwatch_exporter.disk_spec import DiskSpec
from burstwatch_exporter.diskstats import Counters
from burstwatch_exporter.interval import Interval
from burstwatch_exporter.ledger import Origin
from burstwatch_exporter.mounts import Mount


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """The newest balance that CloudWatch has, and how far it lies outside the interval of its time."""

    point: LevelPoint
    drift: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """A volume's credits at one instant.

    ``bucket`` is the part of ``own_bucket``, the volume's own, that the instance leaves.
    """

    bucket: Bucket
    own_bucket: Bucket
    interval: Interval
    likely: float | None
    projection: Projection
    charged: Charge
    origin: Origin
    is_served_at_baseline: bool
    published: Published | None


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A volume at one instant.

    ``spec`` is None where its type is not known, ``account`` where it has no bucket.
    """

    disk: Disk
    counters: Counters
    spec: DiskSpec | None
    account: Account | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """The host at one instant."""

    views: tuple[View, ...]
    stacked: tuple[Stacked, ...]
    mounts: tuple[tuple[Mount, str], ...]
