"""The source ``network``: what an instance moves beside what its type sustains, and what its driver counts as too much.

The network of an instance has credits too. AWS publishes neither their number nor their balance, but ENA counts the packets
that came too late for them.
"""

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from burstwatch.web.exposition import Page
from burstwatch_exporter.clock import Clock
from burstwatch_exporter.credits.network import Moved, NetworkCredits
from burstwatch_exporter.credits.snapshot import Snapshot
from burstwatch_exporter.credits.state import SavedNetwork
from burstwatch_exporter.instance_types import Bandwidth
from burstwatch_exporter.kernel.ena import (
    COUNTERS,
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
#: So many seconds, or slots, without a reading hide a burst.
GAP_S, GAP_SLOTS = 60.0, 3
NO_ENA = "no network interface of the driver ena is here, so nothing says when the network's allowance is exceeded (a pod needs hostNetwork)"


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkAccount:
    """The credits of one direction at one instant, with what the type's network moves.

    ``is_counted`` is whether the driver counts the packets that are refused.
    """

    direction: Direction
    instance_type: str
    bandwidth: Bandwidth
    credits: NetworkCredits
    is_counted: bool

    @property
    def lasts_s(self) -> float | None:
        """How long the credits last at the present rate; None where that is not known."""
        return self.credits.lasts_s(self.bandwidth)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reading:
    """All interfaces by their names, at so many seconds since the start."""

    at: float
    interfaces: Mapping[str, Interface]

    def exceeded_since(self, before: "_Reading") -> dict[str, int]:
        """The packets beyond each allowance that was counted both times, all of them where a driver began anew."""
        exceeded: dict[str, int] = {}
        for name in before.interfaces.keys() & self.interfaces.keys():
            earlier = before.interfaces[name].exceeded
            for allowance, count in self.interfaces[name].exceeded.items():
                if allowance in earlier:
                    more = count - earlier[allowance] if count >= earlier[allowance] else count
                    exceeded[allowance] = exceeded.get(allowance, 0) + more
        return exceeded

    def octets(self, direction: Direction) -> dict[str, int]:
        """The bytes of each interface."""
        return {name: interface.octets[direction] for name, interface in self.interfaces.items()}

    def packets(self, direction: Direction) -> dict[str, int]:
        """The packets of each interface."""
        return {name: interface.packets[direction] for name, interface in self.interfaces.items()}


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
        self._saved = {(entry.instance_type, entry.direction): entry for entry in saved}
        self._lock = threading.Lock()
        self._has_looked = False
        self._type = ""
        self._bandwidth: Bandwidth | None = None
        self._reading: _Reading | None = None
        #: Packets beyond each allowance in the last slot; none before the first one has ended.
        self._exceeded: Mapping[str, int] = {}
        self._credits: dict[Direction, NetworkCredits] = {}

    def set_type(self, instance_type: str, bandwidth: Bandwidth | None) -> None:
        """Go by what a type's network moves; of one that is not known there are counters alone."""
        with self._lock:
            if instance_type != self._type or bandwidth is None:
                self._saved = self._with_learned()
                self._credits = {}
            elif bandwidth != self._bandwidth:  # what was earned and spent was by the other one
                self._forget()
            self._type, self._bandwidth = instance_type, bandwidth

    def add_to(self, page: Page, _: Snapshot, attempt: Attempt) -> None:
        """Add what each interface has moved, which allowances were exceeded, and the credits."""
        with self._lock:
            interfaces = self._observe(attempt)
            for name, interface in interfaces.items():
                page.add(m.NET_RECEIVED, (name,), interface.octets["in"])
                page.add(m.NET_SENT, (name,), interface.octets["out"])
                for allowance, exceeded in interface.exceeded.items():
                    page.add(m.NET_EXCEEDED, (name, allowance), exceeded)
            for allowance, exceeded in self._exceeded.items() if interfaces else ():
                page.add(m.NET_THROTTLED, (allowance,), exceeded > 0)
            if interfaces and self._bandwidth is not None:
                page.add(m.NET_BASELINE, (self._type,), self._bandwidth.baseline)
                page.add(m.NET_PEAK, (self._type,), self._bandwidth.peak)
            for account in self._accounts() if interfaces else ():
                _add_account(page, account)

    def observe(self, attempt: Attempt) -> list[NetworkAccount]:
        """Read the counters, move the account on, and return the credits of each direction.

        There are none without ENA, or where the type is unknown or has no credits.
        """
        with self._lock:
            return self._accounts() if self._observe(attempt) else []

    def saved(self) -> Sequence[SavedNetwork]:
        """What a later process needs, with what was learned of other types."""
        with self._lock:
            return list(self._with_learned().values())

    def _observe(self, attempt: Attempt) -> Mapping[str, Interface]:
        """Read the counters of each interface by its name, and move the account on where a slot is over."""
        at = self._clock.boot()
        problems: list[str] = []
        interfaces = read_interfaces(self._roots.sysfs, problems, self._read)
        attempt.problems += problems
        if problems:  # what the others have moved is not all
            self._forget()
        elif not self._has_looked:
            for hint in _hints(interfaces):
                LOG.info("%s", hint)
        self._has_looked = True
        before, reading = self._reading, _Reading(at=at, interfaces=interfaces)
        if interfaces and (before is None or at - before.at >= self._slot_s / 2):
            self._reading = reading
            self._exceeded = {} if before is None else reading.exceeded_since(before)
            if before is not None:
                self._move_on(before, reading)
        if self._reading is not None and not self._credits:
            self._begin(self._reading)
        return interfaces

    def _accounts(self) -> list[NetworkAccount]:
        bandwidth = self._bandwidth
        return [
            NetworkAccount(
                direction=direction,
                instance_type=self._type,
                bandwidth=bandwidth,
                credits=credit,
                is_counted=f"bw_{direction}" in self._exceeded,
            )
            for direction, credit in self._credits.items()
            if bandwidth is not None
        ]

    def _forget(self) -> None:
        """Go on without a balance."""
        self._credits = {
            direction: NetworkCredits(learned=credit.learned.forgotten())
            for direction, credit in self._credits.items()
        }

    def _begin(self, reading: _Reading) -> None:
        """Begin the account with what is saved, where the type has credits."""
        bandwidth = self._bandwidth
        if bandwidth is not None and bandwidth.can_burst:
            self._credits = {
                direction: self._restored(direction, reading, bandwidth) for direction in COUNTERS
            }

    def _move_on(self, before: _Reading, reading: _Reading) -> None:
        """Move the account on by what was done since the last slot."""
        bandwidth, seconds = self._bandwidth, reading.at - before.at
        if bandwidth is None or self._is_gap(seconds):
            self._forget()
            return
        for direction, credit in self._credits.items():
            moved = Moved(
                seconds=seconds,
                octets=_moved(before.octets(direction), reading.octets(direction)),
                packets=_moved(before.packets(direction), reading.packets(direction)),
                exceeded=self._exceeded.get(f"bw_{direction}", 0),
            )
            self._credits[direction] = credit.after(moved, bandwidth)

    def _is_gap(self, seconds: float) -> bool:
        """True if so long without a reading may hide a burst: its average says too little."""
        return seconds > max(GAP_S, GAP_SLOTS * self._slot_s)

    def _restored(
        self, direction: Direction, reading: _Reading, bandwidth: Bandwidth
    ) -> NetworkCredits:
        """Go on with what is saved. A balance holds for a moment, and for the same start of the same host alone."""
        saved = self._saved.get((self._type, direction))
        if saved is None:
            return NetworkCredits()
        seconds, boot_id = reading.at - saved.at, self._boot_id()
        is_same_start = boot_id != "" and saved.boot_id == boot_id
        if not is_same_start or seconds < 0 or self._is_gap(seconds):
            return NetworkCredits(learned=saved.learned.forgotten())
        octets = _moved(saved.octets, reading.octets(direction))
        moved = Moved(seconds=seconds, octets=octets, packets=0, exceeded=0)
        return NetworkCredits(learned=saved.learned.after(moved, bandwidth.baseline))

    def _with_learned(self) -> dict[tuple[str, Direction], SavedNetwork]:
        """What is saved, with what was learned since."""
        reading = self._reading
        if reading is None:
            return self._saved
        boot_id = self._boot_id()
        learned = {
            (self._type, direction): SavedNetwork(
                instance_type=self._type,
                boot_id=boot_id,
                direction=direction,
                at=reading.at,
                octets=reading.octets(direction),
                learned=credit.learned,
            )
            for direction, credit in self._credits.items()
        }
        return self._saved | learned

    def _boot_id(self) -> str:
        """The name of this start of the host; empty where it has none."""
        with suppress(OSError):
            path = self._roots.procfs / "sys" / "kernel" / "random" / "boot_id"
            return path.read_text(encoding="ascii").strip()
        return ""


def _hints(interfaces: Mapping[str, Interface]) -> Iterator[str]:
    """What people should know of a network that is not watched whole, and is no failure."""
    if not interfaces:
        yield NO_ENA
    for name, interface in interfaces.items():
        if not interface.exceeded:
            yield f"{name}: its driver counts no packets beyond an allowance, so nothing says when the network is throttled (it is too old for that)"


def _moved(before: Mapping[str, int], now: Mapping[str, int]) -> int:
    """What all interfaces have moved: one that has come counts from now on, a driver that begins anew from 0."""
    return sum(max(0, now[name] - before[name]) for name in before.keys() & now.keys())


def _add_account(page: Page, account: NetworkAccount) -> None:
    """Add the metrics of one direction; what is not known is left out."""
    labels, learned = (account.direction,), account.credits.learned
    if account.is_counted and account.credits.rate is not None:
        page.add(m.NET_EMPTY, labels, account.credits.is_empty)
    for metric, value in (
        (m.NET_CAPACITY, learned.capacity),
        (m.NET_BALANCE, learned.level),
        (m.NET_LASTED, learned.lasted_s),
        (m.NET_EXHAUSTION, account.lasts_s),
    ):
        if value is not None:
            page.add(metric, labels, value)
