"""The source ``network``: what an instance moves beside what its type sustains, and what its driver counts as too much.

The network of an instance has credits too. AWS publishes neither their number nor their balance, but ENA counts the packets
that came too late for them.
"""

import logging
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from burstwatch.web.exposition import Page
from burstwatch_exporter.clock import Clock
from burstwatch_exporter.credits.network import Learned, Moved, NetworkCredits
from burstwatch_exporter.credits.snapshot import Snapshot
from burstwatch_exporter.credits.state import SavedNetwork
from burstwatch_exporter.instance_types import Bandwidth
from burstwatch_exporter.kernel.ena import (
    ALLOWANCES,
    OCTETS,
    Direction,
    Interface,
    StatisticsReader,
    read_interfaces,
)
from burstwatch_exporter.kernel.ethtool import read_statistics
from burstwatch_exporter.kernel.roots import Roots
from burstwatch_exporter.page import metrics as m
from burstwatch_exporter.sources import Attempt

LOG = logging.getLogger("burstwatch_exporter")
NO_ENA = "no network interface of the driver ena is here, so nothing says when the network's allowance is exceeded (a pod needs hostNetwork)"


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkAccount:
    """The credits of one direction at one instant, with what the type's network moves."""

    direction: Direction
    instance_type: str
    bandwidth: Bandwidth
    credits: NetworkCredits

    @property
    def lasts_s(self) -> float | None:
        """How long the credits last at the present rate; None where that is not known."""
        return self.credits.lasts_s(self.bandwidth)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Slot:
    """What all interfaces did from one reading to the next. One that has come counts from now on, a driver that begins anew from 0."""

    before: Mapping[str, Interface]
    now: Mapping[str, Interface]
    seconds: float

    def exceeded(self, allowance: str) -> int:
        """The packets beyond an allowance."""
        counts = (
            (self.before[name].exceeded.get(allowance), self.now[name].exceeded.get(allowance))
            for name in self.before.keys() & self.now.keys()
        )
        return sum(
            max(0, now - before) for before, now in counts if before is not None and now is not None
        )

    def moved(self, direction: Direction) -> Moved:
        """What was moved in a direction."""
        octets = (
            max(0, self.now[name].octets[direction] - self.before[name].octets[direction])
            for name in self.before.keys() & self.now.keys()
        )
        exceeded = self.exceeded(f"bw_{direction}")
        return Moved(seconds=self.seconds, octets=sum(octets), exceeded=exceeded)


class NetworkSource:
    """Reads each interface of ENA, and keeps the account of the credits that all of them share."""

    name = "network"

    def __init__(
        self,
        *,
        roots: Roots,
        clock: Clock,
        slot_s: float,
        saved: Sequence[SavedNetwork] = (),
        read: StatisticsReader = read_statistics,
    ) -> None:
        """``slot_s`` is how long the rates of the account are averaged, and ``saved`` what an earlier process learned."""
        self._roots, self._clock, self._slot_s, self._read = roots, clock, slot_s, read
        self._saved = saved
        self._lock = threading.Lock()
        self._has_looked = False
        self._type = ""
        self._bandwidth: Bandwidth | None = None
        self._at: float | None = None
        self._before: Mapping[str, Interface] = {}
        self._throttled: frozenset[str] = frozenset()
        self._credits: dict[Direction, NetworkCredits] = {}

    def set_type(self, instance_type: str, bandwidth: Bandwidth | None) -> None:
        """Go by what a type's network moves; of one that is not known there are counters alone."""
        with self._lock:
            self._bandwidth = bandwidth
            if instance_type != self._type:
                self._type, self._at, self._before = instance_type, None, {}
                self._credits = {direction: NetworkCredits() for direction in OCTETS}

    def add_to(self, page: Page, _: Snapshot, attempt: Attempt) -> None:
        """Add what each interface has moved, which allowances were exceeded, and the credits."""
        interfaces = self.observe(attempt)
        for name, interface in interfaces.items():
            page.add(m.NET_RECEIVED, (name,), interface.octets["in"])
            page.add(m.NET_SENT, (name,), interface.octets["out"])
            for allowance, exceeded in interface.exceeded.items():
                page.add(m.NET_EXCEEDED, (name, allowance), exceeded)
        if not interfaces:
            return
        for allowance in ALLOWANCES:
            page.add(m.NET_THROTTLED, (allowance,), allowance in self._throttled)
        if self._bandwidth is not None:
            page.add(m.NET_BASELINE, (self._type,), self._bandwidth.baseline)
            page.add(m.NET_PEAK, (self._type,), self._bandwidth.peak)
        for account in self.accounts():
            _add_account(page, account)

    def observe(self, attempt: Attempt) -> Mapping[str, Interface]:
        """Read the counters of each interface by its name, and move the account on."""
        with self._lock:  # two scrapes may come at once
            at = self._clock.boot()
            interfaces = read_interfaces(self._roots.sysfs, attempt.problems, self._read)
            if not self._has_looked and not interfaces and not attempt.problems:
                LOG.info("%s", NO_ENA)
            self._has_looked = True
            if interfaces:
                self._move_on(at, interfaces)
            return interfaces

    def accounts(self) -> list[NetworkAccount]:
        """The credits of each direction; none where there is no ENA, or the type is unknown or has no credits."""
        with self._lock:
            bandwidth = self._bandwidth
            if self._at is None or bandwidth is None or not bandwidth.can_burst:
                return []
            return [
                NetworkAccount(
                    direction=direction,
                    instance_type=self._type,
                    bandwidth=bandwidth,
                    credits=credit,
                )
                for direction, credit in self._credits.items()
            ]

    def saved(self) -> Sequence[SavedNetwork]:
        """What a later process needs; what was read before where nothing was learned since."""
        with self._lock:
            if self._at is None:
                return self._saved
            return [
                SavedNetwork(
                    instance_type=self._type,
                    boot_id=self._boot_id(),
                    direction=direction,
                    at=self._at,
                    octets=_total(self._before, direction),
                    learned=credit.learned,
                )
                for direction, credit in self._credits.items()
            ]

    def _move_on(self, at: float, interfaces: Mapping[str, Interface]) -> None:
        """Move the account on by what was done since the last slot, or begin it."""
        if self._at is None:
            self._at, self._before = at, interfaces
            self._restore(at, interfaces)
            return
        slot = _Slot(before=self._before, now=interfaces, seconds=at - self._at)
        if slot.seconds < self._slot_s / 2:
            return
        self._at, self._before = at, interfaces
        self._throttled = frozenset(name for name in ALLOWANCES if slot.exceeded(name) > 0)
        bandwidth = self._bandwidth
        if bandwidth is not None and bandwidth.can_burst:
            self._credits = {
                direction: credit.after(slot.moved(direction), bandwidth)
                for direction, credit in self._credits.items()
            }

    def _restore(self, at: float, interfaces: Mapping[str, Interface]) -> None:
        """Go on with what an earlier process learned. A balance holds for the same start of the same host alone."""
        boot_id, bandwidth = self._boot_id(), self._bandwidth
        for saved in self._saved:
            if saved.instance_type != self._type or bandwidth is None:
                continue
            seconds, learned = at - saved.at, saved.learned
            moved = _total(interfaces, saved.direction) - saved.octets
            if boot_id and saved.boot_id == boot_id and seconds >= 0 and moved >= 0:
                after = learned.after(moved - bandwidth.baseline * seconds, seconds)
            else:
                after = Learned(sizes=learned.sizes, lasted_s=learned.lasted_s)
            self._credits[saved.direction] = NetworkCredits(learned=after)

    def _boot_id(self) -> str:
        """The name of this start of the host; empty where it has none."""
        with suppress(OSError):
            path = self._roots.procfs / "sys" / "kernel" / "random" / "boot_id"
            return path.read_text(encoding="ascii").strip()
        return ""


def _total(interfaces: Mapping[str, Interface], direction: Direction) -> int:
    """The bytes of all interfaces together."""
    return sum(interface.octets[direction] for interface in interfaces.values())


def _add_account(page: Page, account: NetworkAccount) -> None:
    """Add the metrics of one direction; what is not known is left out."""
    labels, learned = (account.direction,), account.credits.learned
    page.add(m.NET_EMPTY, labels, account.credits.is_empty)
    for metric, value in (
        (m.NET_CAPACITY, learned.capacity),
        (m.NET_BALANCE, learned.level),
        (m.NET_LASTED, learned.lasted_s),
        (m.NET_EXHAUSTION, account.lasts_s),
    ):
        if value is not None:
            page.add(metric, labels, value)
