"""The host as a page of metrics, made fresh for each scrape: what is gone leaves no series."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, get_args

from prometheus_client import Metric
from prometheus_client.registry import Collector

import burstwatch
from burstwatch.ebs.load import MIB
from burstwatch.history.observations import State
from burstwatch.web.exposition import Page
from burstwatch_exporter.credits.snapshot import Account, Snapshot, View
from burstwatch_exporter.host import Host
from burstwatch_exporter.page import metrics as m
from burstwatch_exporter.sources import Attempt, Sources

STATES: tuple[State, ...] = get_args(State)


class Extra(Protocol):
    """A source beside the kernel's files, which says something of the volumes that are there."""

    @property
    def name(self) -> str:
        """As it is called in ``burstwatch_source_up``."""

    def add_to(self, page: Page, snapshot: Snapshot, attempt: Attempt) -> None:
        """Add its samples; what is odd goes to the attempt, or is raised if nothing is left."""


class HostCollector(Collector):
    """All that this exporter says of its host."""

    def __init__(
        self,
        host: Host,
        sources: Sources,
        *,
        saved_at: Callable[[], float | None],
        extras: Sequence[Extra] = (),
    ) -> None:
        """``saved_at`` is when the state was last written, or None."""
        self._host, self._sources, self._saved_at = host, sources, saved_at
        self._extras = extras

    def collect(self) -> Iterator[Metric]:
        """Read the host, and say all of it."""
        page = Page(m.METRICS)
        snapshot = self._host.observe()
        add_host(page, snapshot)
        for extra in self._extras:
            with self._sources.attempt(extra.name) as attempt:
                extra.add_to(page, snapshot, attempt)
        page.add(m.BUILD_INFO, (burstwatch.__version__,), 1)
        for name, outcome in sorted(self._sources.outcomes.items()):
            page.add(m.SOURCE_UP, (name,), outcome.is_up)
            page.add(m.SOURCE_SECONDS, (name,), outcome.seconds)
        saved_at = self._saved_at()
        if saved_at is not None:
            page.add(m.STATE_SAVED, (), saved_at)
        return page.families()


def add_host(page: Page, snapshot: Snapshot) -> None:
    """Volumes, what lies on them, and where that is mounted."""
    for view in snapshot.views:
        _add_volume(page, view)
    ids = {view.disk.name: view.disk.volume_id for view in snapshot.views}
    under = snapshot.disks_under()
    for device in snapshot.stacked:
        for disk in under[device.name]:
            page.add(m.STACK_INFO, (device.name, device.label, ids[disk], disk), 1)
    mounted = {
        (mount.mountpoint, device, mount.fstype, ids[disk], disk)
        for mount, device, disk in snapshot.mounted()
    }
    for labels in sorted(mounted):
        page.add(m.MOUNT_INFO, labels, 1)
    of_pods = {
        (ids[disk], disk, pod_volume.name, pod_volume.pod_uid)
        for mount, _, disk in snapshot.mounted()
        if (pod_volume := mount.pod_volume) is not None
    }
    for names in sorted(of_pods):
        page.add(m.POD_VOLUME_INFO, names, 1)


def _add_volume(page: Page, view: View) -> None:
    """Add a volume's metrics: what is not known is left out."""
    disk, counters, spec = view.disk, view.counters, view.spec
    volume = (disk.volume_id, disk.name)
    named = (spec.volume_spec.volume_type, spec.source) if spec is not None else ("", "")
    page.add(m.VOLUME_INFO, (*volume, *named), 1)
    page.add(m.SIZE, volume, disk.size_bytes)
    if counters is not None:
        page.add(m.READ_OPS, volume, counters.read_ops)
        page.add(m.WRITE_OPS, volume, counters.write_ops)
        page.add(m.READ_BYTES, volume, counters.read_bytes)
        page.add(m.WRITE_BYTES, volume, counters.write_bytes)
    if spec is None:
        return
    for metric, limit in (
        (m.LIMIT_OPS, spec.volume_spec.limit_iops),
        (m.LIMIT_BYTES, spec.volume_spec.limit_mib_s * MIB),
    ):
        if math.isfinite(limit):  # of a bucket that is given in figures, only one is known
            page.add(metric, volume, limit)
    bucket = (*volume, "throughput" if spec.volume_spec.unit == "MiB" else "io")
    if view.account is None:
        _add_state(page, bucket, "not_applicable")
    else:
        _add_account(page, bucket, view.account)


def _add_account(page: Page, labels: tuple[str, str, str], account: Account) -> None:
    """Add the metrics of a volume's credits."""
    bucket, interval, projection = account.bucket, account.interval, account.projection
    page.add(m.CAPACITY, labels, bucket.capacity)
    page.add(m.REFILL, labels, bucket.refill)
    page.add(m.BURST, labels, bucket.burst)
    page.add(m.CHARGED, (*labels, "least"), account.charged.least)
    page.add(m.CHARGED, (*labels, "likely"), account.charged.nominal)
    page.add(m.CHARGED, (*labels, "most"), account.charged.most)
    page.add(m.BALANCE, (*labels, "low"), interval.low / bucket.capacity)
    if account.likely is not None:
        page.add(m.BALANCE, (*labels, "likely"), account.likely / bucket.capacity)
    if account.missing is not None:
        page.add(m.ABSENT, (*labels, account.missing), 1)
    page.add(m.BALANCE, (*labels, "high"), interval.high / bucket.capacity)
    for bound, seconds in (
        ("low", projection.low_s),
        ("likely", projection.time_to_empty_s),
        ("worst", projection.worst_s),
    ):
        if seconds is not None:
            page.add(m.EXHAUSTION, (*labels, bound), seconds)
    if projection.time_to_full_s is not None:
        page.add(m.FULL, labels, projection.time_to_full_s)
    _add_state(page, labels, projection.state)
    page.add(m.BINDING, (labels[0], labels[1], projection.binding), 1)
    page.add(m.HINT, labels, account.is_served_at_baseline)
    page.add(m.ORIGIN, (*labels, account.origin), 1)
    published = account.published
    if published is not None:
        page.add(m.PUBLISHED, labels, published.point.ratio)
        page.add(m.PUBLISHED_AT, labels, published.point.end_s)
        page.add(m.DISAGREEMENTS, labels, account.disagreements)
        if published.drift is not None:
            page.add(m.DRIFT, labels, published.drift)


def _add_state(page: Page, labels: tuple[str, str, str], state: State) -> None:
    for name in STATES:
        page.add(m.STATE, (*labels, name), name == state)
