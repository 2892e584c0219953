"""Looks at the volumes while something runs on them, and says when it has to stop."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Literal, TypeAlias

from burstwatch.ebs.load import MIB
from burstwatch_exporter.measure.drain import ServedSample
from burstwatch_exporter.measure.meter import GoneError, Meter, MeterReading
from burstwatch_exporter.measure.plan import Bounds

#: How often it looks.
TICK_S = 0.05
#: A sample a second; of more than so many, each two become one, and later ones are twice as long.
SAMPLE_S, MOST_SAMPLES = 1.0, 3_600
#: What stops a step, or the whole measurement.
StopCause: TypeAlias = Literal["budget", "interrupted", "floor", "gone", "hung", "held", "no knee"]


@dataclass(frozen=True, slots=True)
class Stop:
    """Why something did not run to its end: the cause, and in words."""

    cause: StopCause
    why: str


BUDGET_SPENT = Stop("budget", "its share of the budget is spent")
INTERRUPTED = Stop("interrupted", "interrupted")


class Watch:
    """The eye on one measurement, from its beginning to its end."""

    def __init__(
        self,
        meter: Meter,
        bounds: Bounds,
        *,
        stop: Event,
        on_sample: Callable[[str, MeterReading, ServedSample | None], None] = lambda *_: None,
    ) -> None:
        """``stop`` is set when the user wants it to end; ``on_sample`` hears of each sample."""
        self._meter, self.bounds, self._stop, self._on_sample = meter, bounds, stop, on_sample
        self.began = self.now = meter.look()
        self._gone = ""
        self._step, self._since, self._sampled = "", self.now, self.now
        self._sample_s, self._in_flight = SAMPLE_S, 0.0
        self.samples: list[ServedSample] = []

    def begin(self, step: str, *, in_flight: float = 0.0) -> None:
        """A step begins: its samples are its own. It has at most ``in_flight`` credits on the way."""
        self.look()
        self._step, self._sample_s, self._in_flight = step, SAMPLE_S, in_flight
        self._since = self._sampled = self.now
        self.samples = []

    def look(self) -> None:
        """Read the counters; what is gone stays as it was last seen."""
        if self._gone:
            return
        try:
            self.now = self._meter.look()
        except GoneError as error:
            self._gone = str(error)
        except OSError as error:
            self._gone = f"the counters cannot be read: {error}"

    def pause(self) -> None:
        """Wait for a moment, or until it is to end."""
        self._stop.wait(TICK_S)

    def reason(self, allowed: float) -> Stop | None:
        """Look, and say why it has to stop, if it has to. ``allowed`` is the most that may be spent by now.

        What will be spent until the next look counts, and what is then still on its way.
        """
        passed = self.passed(allowed)
        return passed if self._gone or not self._stop.is_set() else INTERRUPTED

    def passed(self, allowed: float) -> Stop | None:
        """Look, and say what bound is passed, if one is, whether it has been interrupted or not."""
        before = self.now
        self.look()
        now = self.now
        self._note()
        if self._gone:
            return Stop("gone", self._gone)
        for device, floor in self.bounds.floors.items():
            if now.intervals[device].low < floor:
                return Stop("floor", f"the balance of {device} may be under its floor")
        seconds = now.at - before.at
        rate = (now.spent_most - before.spent_most) / seconds if seconds > 0 else 0.0
        soon = now.spent_most + rate * TICK_S + self._in_flight
        if soon >= min(allowed, self.bounds.budget):
            return BUDGET_SPENT
        return None

    @property
    def elapsed_s(self) -> float:
        """Since the step began."""
        return self.now.at - self._since.at

    @property
    def spent(self) -> float:
        """In this step, at the most."""
        return self.now.spent_most - self._since.spent_most

    @property
    def rates(self) -> tuple[float, float]:
        """Operations and MiB a second of the devices, over the whole step."""
        served = _served(self._since, self.now, self._since.at)
        return (0.0, 0.0) if served is None else (served.iops, served.mib_s)

    @property
    def is_gone(self) -> bool:
        """True if the volumes cannot be watched any more."""
        return bool(self._gone)

    def _note(self) -> None:
        """Keep a sample each period; when there are too many, join them in pairs."""
        if self.now.at - self._sampled.at < self._sample_s:
            return
        served = _served(self._sampled, self.now, self._since.at)
        if served is not None:
            self.samples.append(served)
        if len(self.samples) >= MOST_SAMPLES:
            self.samples = [
                _joined(*two) for two in zip(self.samples[::2], self.samples[1::2], strict=True)
            ]
            self._sample_s *= 2
        self._sampled = self.now
        self._on_sample(self._step, self.now, served)


def _joined(earlier: ServedSample, later: ServedSample) -> ServedSample:
    """Two samples as one."""
    seconds = earlier.seconds + later.seconds

    def mean(a: float, b: float) -> float:
        return (a * earlier.seconds + b * later.seconds) / seconds

    return ServedSample(
        at=later.at,
        seconds=seconds,
        iops=mean(earlier.iops, later.iops),
        mib_s=mean(earlier.mib_s, later.mib_s),
        rate=mean(earlier.rate, later.rate),
    )


def _served(before: MeterReading, now: MeterReading, since: float) -> ServedSample | None:
    """Rates between two readings; None if the counters began anew."""
    seconds = now.at - before.at
    done = now.counters.since(before.counters)
    if seconds <= 0 or done is None:
        return None
    spent = max(
        (charge.nominal - before.spent[name].nominal for name, charge in now.spent.items()),
        default=0.0,
    )
    return ServedSample(
        at=now.at - since,
        seconds=seconds,
        iops=done.ops / seconds,
        mib_s=done.bytes / MIB / seconds,
        rate=spent / seconds,
    )
