"""Holds the host at one instant, as the page, measurements and other sources see it."""

from dataclasses import dataclass

from burstwatch.bucket import Bucket
from burstwatch.ebs.volumes import Charge
from burstwatch.forecast.projection import Projection
from burstwatch_exporter.credits.disk_spec import DiskSpec
from burstwatch_exporter.credits.interval import Interval
from burstwatch_exporter.credits.ledger import Origin
from burstwatch_exporter.credits.outlook import Missing
from burstwatch_exporter.credits.published import Published
from burstwatch_exporter.kernel.blocks import Disk, Stacked
from burstwatch_exporter.kernel.diskstats import Counters
from burstwatch_exporter.kernel.evidence import Doubt
from burstwatch_exporter.kernel.mounts import Mount


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """A volume's credits at one instant.

    ``bucket`` is the part of ``own_bucket``, the volume's own, that the instance leaves.
    ``missing`` is why nothing is likely, None where something is. ``disagreements`` is how many published balances were outside of the interval.
    """

    bucket: Bucket
    own_bucket: Bucket
    interval: Interval
    likely: float | None
    missing: Missing | None
    projection: Projection
    charged: Charge
    origin: Origin
    is_served_at_baseline: bool
    published: Published | None
    disagreements: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A volume at one instant.

    ``counters`` is None where the kernel shows none now, ``spec`` where its type is not known, and
    ``account`` where it has no bucket or has not been read yet. ``doubt`` is why its counters are not believed.
    """

    disk: Disk
    counters: Counters | None
    spec: DiskSpec | None
    account: Account | None
    doubt: Doubt | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """The host at one instant: ``at`` seconds since its start. ``container_files`` are the files of /proc that are not the kernel's."""

    at: float
    views: tuple[View, ...]
    stacked: tuple[Stacked, ...]
    mounts: tuple[tuple[Mount, str], ...]
    container_files: frozenset[str] = frozenset()

    def disks_under(self) -> dict[str, tuple[str, ...]]:
        """The disks at the bottom of each device: a disk is its own."""
        names = {view.disk.name for view in self.views}
        under: dict[str, tuple[str, ...]] = {name: (name,) for name in names}
        for device in self.stacked:
            under[device.name] = tuple(disk for disk in device.disks if disk in names)
        return under

    def mounted(self) -> list[tuple[Mount, str, str]]:
        """Each mount with its device and each disk under that."""
        under = self.disks_under()
        return [
            (mount, device, disk) for mount, device in self.mounts for disk in under.get(device, ())
        ]
