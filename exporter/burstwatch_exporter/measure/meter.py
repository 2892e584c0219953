"""Counts what the volumes under a measurement have spent since it began, and what each has left.

A ledger of its own for each, so that a reading costs one file and a line of it. All I/O
of the volume counts, whoever asked for it: a host cannot tell them apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from burstwatch.ebs.volumes import Charge
from burstwatch.formatting import span
from burstwatch_exporter.clock import Clock
from burstwatch_exporter.credits.interval import Interval
from burstwatch_exporter.credits.ledger import SLEPT_S, Ledger, Reading
from burstwatch_exporter.credits.snapshot import View
from burstwatch_exporter.kernel.blocks import is_counting
from burstwatch_exporter.kernel.diskstats import Counters, parse_diskstats
from burstwatch_exporter.kernel.roots import Roots

SLOT_S = 1.0


class GoneError(OSError):
    """A volume that was measured is not there any more, or nobody counts what it does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MeterReading:
    """The volumes at one instant. ``counters`` are of all together, since the meter began.

    ``spent`` and ``intervals`` are by device, and empty of those without a bucket.
    """

    at: float
    wall_s: float
    counters: Counters
    spent: dict[str, Charge]
    intervals: dict[str, Interval]

    @property
    def spent_most(self) -> float:
        """The most that any one of them may have spent."""
        return max((charge.most for charge in self.spent.values()), default=0.0)


class Meter:
    """Reads on from where a look at the host ended."""

    def __init__(
        self, views: Sequence[View], roots: Roots, clock: Clock, *, looked_at: float
    ) -> None:
        """Goes on from what the host saw of each volume ``looked_at`` seconds after its start.

        What was done since is charged: an interval is of its own instant, and of no later one.

        Raises:
            GoneError: if one of the volumes is not there any more, or its counters are not believed.
        """
        self._path, self._clock = roots.procfs / "diskstats", clock
        self._sysfs = roots.sysfs
        self._views = views
        self._asleep_s = clock.boot() - clock.awake()
        for view in views:
            if view.doubt is not None:
                msg = f"{view.disk.name}: {view.doubt.reason}"
                raise GoneError(msg)
        self._sequences = {
            view.disk.name: (roots.sysfs / "block" / view.disk.name / "diskseq", view.disk.sequence)
            for view in views
        }
        reading = self._read()
        self._first = {name: reading.counters for name, reading in reading.items()}
        self._ledgers = {
            view.disk.name: Ledger(
                view.disk,
                view.spec,
                start=view.account.interval,
                origin=view.account.origin,
                reading=replace(
                    reading[view.disk.name],
                    at=looked_at,
                    slack_s=0.0,
                    counters=view.counters or reading[view.disk.name].counters,
                ),
                slot_s=SLOT_S,
            )
            for view in views
            if view.account is not None and view.spec is not None
        }

    def look(self) -> MeterReading:
        """Read anew.

        Raises:
            GoneError: if one of the volumes is not there, or is another than before.
        """
        readings = self._read()
        for name, ledger in self._ledgers.items():
            ledger.note(readings[name])
        done = [reading.counters.since(self._first[name]) for name, reading in readings.items()]
        if None in done:
            msg = f"{', '.join(readings)}: the counters were reset, was the device replaced?"
            raise GoneError(msg)
        any_reading = next(iter(readings.values()))
        return MeterReading(
            at=any_reading.at,
            wall_s=any_reading.wall_s,
            counters=_sum([counters for counters in done if counters is not None]),
            spent={name: ledger.charged for name, ledger in self._ledgers.items()},
            intervals={name: ledger.seen() for name, ledger in self._ledgers.items()},
        )

    def _read(self) -> dict[str, Reading]:
        """Read each disk's counters, with the time and how long the reading took."""
        before = self._clock.boot()
        text = self._path.read_text(encoding="ascii", errors="replace")
        slack_s = self._clock.boot() - before
        slept_s = before - self._clock.awake() - self._asleep_s
        if slept_s >= SLEPT_S:
            msg = f"the host slept for {span(slept_s)}, and the I/O of that time is in no counter"
            raise GoneError(msg)
        names = [view.disk.name for view in self._views]
        device_names = [*names, *(path for view in self._views for path in view.disk.paths)]
        own_lines = "\n".join(
            line
            for line in text.splitlines()
            if line.split()[2:3] in [[name] for name in device_names]
        )
        stats = parse_diskstats(own_lines)
        counters = {
            view.disk.name: counted
            for view in self._views
            if (counted := stats.of(view.disk.name, view.disk.paths)) is not None
        }
        for view in self._views:
            if not is_counting(self._sysfs, view.disk):
                msg = f"{view.disk.name}: the kernel does not count its I/O: queue/iostats is 0"
                raise GoneError(msg)
        for name in names:
            path, sequence = self._sequences[name]
            if name not in counters or _sequence(path) != sequence:
                msg = f"{name} is gone: the volume was detached or replaced"
                raise GoneError(msg)
        return {
            name: Reading(
                at=before, wall_s=self._clock.wall(), slack_s=slack_s, counters=counters[name]
            )
            for name in names
        }


def _sequence(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _sum(parts: Sequence[Counters]) -> Counters:
    return Counters(
        **{
            field.name: sum(getattr(part, field.name) for part in parts)
            for field in fields(Counters)
        }
    )
