"""The host as metric families, made fresh for each scrape: what is gone leaves no series."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, get_args

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

import burstwatch
from burstwatch.load import MIB
from burstwatch.observe import State
from burstwatch_exporter import metrics as m

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prometheus_client import Metric

    from burstwatch_exporter.host import Account, Host, Snapshot, View
    from burstwatch_exporter.metrics import Definition
    from burstwatch_exporter.promise import Promise
    from burstwatch_exporter.sources import Sources

STATES: tuple[State, ...] = get_args(State)
Family = CounterMetricFamily | GaugeMetricFamily


class HostCollector(Collector):
    """All that this exporter says of its host."""

    def __init__(self, host: Host, sources: Sources, saved_at: Callable[[], float | None]) -> None:
        """``saved_at`` is when the state was last written, or None."""
        self._host, self._sources, self._saved_at = host, sources, saved_at

    def describe(self) -> list[Metric]:
        """Nothing: what there is depends on the host."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Read the host, and print it."""
        page = _Page()
        page.add_host(self._host.observe())
        page.add(m.BUILD_INFO, (burstwatch.__version__,), 1)
        for name, outcome in sorted(self._sources.outcomes.items()):
            page.add(m.SOURCE_UP, (name,), outcome.is_up)
            page.add(m.SOURCE_SECONDS, (name,), outcome.seconds)
        saved_at = self._saved_at()
        if saved_at is not None:
            page.add(m.STATE_SAVED, (), saved_at)
        yield from page.families()


class _Page:
    """The families of one scrape, in the order of the catalogue."""

    def __init__(self) -> None:
        self._families: dict[str, Family] = {
            one.name: (CounterMetricFamily if one.type == "counter" else GaugeMetricFamily)(
                one.name, one.help, labels=one.labels
            )
            for one in m.METRICS
        }

    def families(self) -> Iterator[Metric]:
        """Those with something in them."""
        return (family for family in self._families.values() if family.samples)

    def add(self, what: Definition, labels: tuple[str, ...], value: float) -> None:
        self._families[what.name].add_metric(labels, value)

    def add_host(self, snapshot: Snapshot) -> None:
        for view in snapshot.views:
            self._add_volume(view)
        ids = {view.disk.name: view.disk.volume_id for view in snapshot.views}
        under = {name: (name,) for name in ids} | {
            one.name: tuple(disk for disk in one.disks if disk in ids) for one in snapshot.stacked
        }
        for one in snapshot.stacked:
            for disk in under[one.name]:
                self.add(m.STACK_INFO, (one.name, one.label, ids[disk], disk), 1)
        mounted = {
            (mount.mountpoint, device, mount.fstype, ids[disk])
            for mount, device in snapshot.mounts
            for disk in under.get(device, ())
        }
        for labels in sorted(mounted):
            self.add(m.MOUNT_INFO, labels, 1)

    def _add_volume(self, view: View) -> None:
        disk, counters, promise = view.disk, view.counters, view.promise
        volume = (disk.volume_id, disk.name)
        named = (promise.profile.volume_type, promise.source) if promise is not None else ("", "")
        self.add(m.VOLUME_INFO, (*volume, *named), 1)
        self.add(m.SIZE, volume, disk.size_bytes)
        self.add(m.READ_OPS, volume, counters.read_ops)
        self.add(m.WRITE_OPS, volume, counters.write_ops)
        self.add(m.READ_BYTES, volume, counters.read_bytes)
        self.add(m.WRITE_BYTES, volume, counters.write_bytes)
        if promise is None:
            return
        for what, limit in (
            (m.LIMIT_OPS, promise.profile.limit_iops),
            (m.LIMIT_BYTES, promise.profile.limit_mib_s * MIB),
        ):
            if math.isfinite(limit):  # of a bucket that is given in figures, only one is known
                self.add(what, volume, limit)
        if view.account is not None:
            self._add_account(volume, promise, view.account)
        else:
            bucket = (*volume, _bucket_name(promise))
            self._add_state(bucket, "not_applicable")

    def _add_account(self, volume: tuple[str, str], promise: Promise, account: Account) -> None:
        bucket, interval, projection = promise.bucket, account.interval, account.projection
        if bucket is None:
            return
        labels = (*volume, _bucket_name(promise))
        self.add(m.CAPACITY, labels, bucket.capacity)
        self.add(m.REFILL, labels, bucket.refill)
        self.add(m.BURST, labels, bucket.burst)
        self.add(m.CHARGED, (*labels, "least"), account.charged.least)
        self.add(m.CHARGED, (*labels, "most"), account.charged.most)
        self.add(m.BALANCE, (*labels, "low"), interval.low / bucket.capacity)
        self.add(m.BALANCE, (*labels, "high"), interval.high / bucket.capacity)
        for bound, seconds in (
            ("low", projection.low_s),
            ("likely", projection.time_to_empty_s),
            ("worst", projection.worst_s),
        ):
            if seconds is not None:
                self.add(m.EXHAUSTION, (*labels, bound), seconds)
        if projection.time_to_full_s is not None:
            self.add(m.FULL, labels, projection.time_to_full_s)
        self._add_state(labels, projection.state)
        self.add(m.BINDING, (*volume, projection.binding), 1)
        self.add(m.HINT, labels, account.is_served_at_baseline)
        self.add(m.ORIGIN, (*labels, account.origin), 1)

    def _add_state(self, labels: tuple[str, ...], state: State) -> None:
        for one in STATES:
            self.add(m.STATE, (*labels, one), one == state)


def _bucket_name(promise: Promise) -> str:
    return "throughput" if promise.profile.unit == "MiB" else "io"
