"""The credits of an instance's network in one direction, of which AWS says neither the number nor the balance.

What AWS does say: an instance has a baseline and a peak; it earns credits while it moves less than the baseline, and spends
them above it; without credits it gets the baseline, and ENA counts the packets that came too late for that.
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-network-bandwidth.html (2026-11)

So the size of the bucket is learned. Credits are bytes. All that was moved above the baseline since the bucket was last full
is its size, once the bucket is seen to be empty. That it was full in between is known when more was earned than spent
from one empty bucket to the next: what is too much did not fit. All of this is an estimate, and the baseline itself is known
to some percent: so everything here is an interval, and what is too wide is unknown.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from burstwatch_exporter.instance_types import Bandwidth

#: By this share the baseline of an instance may differ from that of its type; packets have headers that are not counted.
BASELINE_OFF = 0.05
#: Shares of the baseline between which nobody can say whether credits are earned or spent, or how soon.
NEAR_BASELINE = (0.85, 1.25)
#: Bursts of packets within a second are refused with credits left, too. An empty bucket refuses so many of all packets...
REFUSED = 2e-3
#: ...from one sample to the next where more than the baseline was served before, serves these shares of the baseline...
AT_BASELINE = (0.94, 1.06)
#: ...always the same, within this share of it...
FLAT = 0.05
#: ...and goes on doing so.
EMPTY_AFTER_S, EMPTY_AFTER_SAMPLES = 120.0, 5
#: Share of a bucket that must have been earned beyond what was spent, or it was not full for certain.
OVERFLOWED = 0.25
#: Sizes that are kept: one that was a mistake does not count for long.
SIZES = 3
#: A bucket that gave more than so many times its size is larger.
LARGER = 1.1
#: An interval that is wider than this share is no estimate.
NARROW = 0.2
#: The rate of so long is taken for that of now.
RECENT_S = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Moved:
    """What was moved in one direction in ``seconds``: bytes, packets, and packets that ENA counted as too many."""

    seconds: float
    octets: float
    packets: float
    exceeded: float

    @property
    def rate(self) -> float:
        """Bytes a second."""
        return self.octets / self.seconds


@dataclass(frozen=True, kw_only=True, slots=True)
class Learned:
    """What was learned of one direction, in bytes and seconds. It outlives the process.

    ``sizes`` are those of the buckets that were seen to go from full to empty, the newest last, and ``lasted_s`` is how long
    the last of them took. The balance is from ``low`` to ``high``, which is None while only the bucket's size limits it.

    The balance is from ``drawn_low`` to ``drawn_high`` below its highest point, as if there were no end below, and that was
    ``drawing_s`` ago. ``earned`` is the least that was earned beyond what was spent since the bucket was last empty, None if
    that was not seen.
    """

    sizes: Sequence[float] = ()
    lasted_s: float | None = None
    low: float = 0.0
    high: float | None = None
    drawn_low: float = 0.0
    drawn_high: float = 0.0
    drawing_s: float = 0.0
    earned: float | None = None

    @property
    def capacity(self) -> float | None:
        """The estimate of the bucket's size; None before one was seen to go from full to empty."""
        return median(self.sizes) if self.sizes else None

    @property
    def balance(self) -> float | None:
        """The estimate of the bytes that are left; None where that is not known."""
        capacity = self.capacity
        if capacity is None or self.high is None or self.high - self.low > NARROW * capacity:
            return None
        return (self.low + self.high) / 2

    @property
    def level(self) -> float | None:
        """The share of the credits that is left, 0 to 1; None where that is not known."""
        capacity, balance = self.capacity, self.balance
        return None if capacity is None or balance is None else balance / capacity

    def after(self, moved: Moved, baseline: float) -> "Learned":
        """What is known after so much was moved."""
        off = BASELINE_OFF * baseline * moved.seconds
        spent = moved.octets - baseline * moved.seconds
        drawn_low, drawn_high = (
            max(0.0, drawn + least)
            for drawn, least in ((self.drawn_low, spent - off), (self.drawn_high, spent + off))
        )
        sizes = tuple(size for size in self.sizes if drawn_low <= LARGER * size)
        low, high = self.low - spent - off, self.high
        capacity = median(sizes) if sizes else math.inf
        high = min(capacity, math.inf if high is None else high - spent + off)
        if high < 0.0:  # who is served more than there can be did not know what there was
            low, high = 0.0, capacity
        return replace(
            self,
            sizes=sizes,
            low=min(capacity, max(0.0, low)),
            high=high if math.isfinite(high) else None,
            drawn_low=drawn_low,
            drawn_high=drawn_high,
            drawing_s=self.drawing_s + moved.seconds if drawn_low > 0 else 0.0,
            earned=None if self.earned is None else self.earned - spent - off,
        )

    def emptied(self) -> "Learned":
        """What is known once the bucket is seen to be empty."""
        size = (self.drawn_low + self.drawn_high) / 2
        is_known = self.drawn_high - self.drawn_low <= NARROW * size
        was_full = self.earned is not None and self.earned >= OVERFLOWED * self.drawn_high
        learned = replace(self, low=0.0, high=0.0, earned=0.0)
        if not (is_known and was_full):
            return learned
        return replace(learned, sizes=(*self.sizes, size)[-SIZES:], lasted_s=self.drawing_s)

    def forgotten(self) -> "Learned":
        """What is known after a time in which nobody looked: the size, and no balance."""
        return Learned(sizes=self.sizes, lasted_s=self.lasted_s)


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkCredits:
    """One direction at one instant.

    ``rate`` is the recent bytes a second, and ``was_above`` whether the newest sample had more than the baseline. ``refused`` are
    the newest samples in a row in which the instance has got its baseline, always the same, and asked for more.
    """

    learned: Learned = field(default_factory=Learned)
    rate: float | None = None
    was_above: bool = False
    refused: Sequence[Moved] = ()

    @property
    def is_empty(self) -> bool:
        """True if the instance gets its baseline alone for so long that no credits can be left."""
        seconds = sum(moved.seconds for moved in self.refused)
        return len(self.refused) >= EMPTY_AFTER_SAMPLES and seconds >= EMPTY_AFTER_S

    def after(self, moved: Moved, bandwidth: Bandwidth) -> "NetworkCredits":
        """What is known after ``moved``."""
        rate = _recent(self.rate, moved)
        refused = self._refused_with(moved, bandwidth.baseline)
        # Until it is sure that the bucket is empty, what comes and goes at the baseline is next to nothing.
        is_above = moved.rate > AT_BASELINE[1] * bandwidth.baseline
        after = replace(self, rate=rate, was_above=is_above, refused=refused)
        if not refused:
            return replace(after, learned=self.learned.after(moved, bandwidth.baseline))
        if after.is_empty and not self.is_empty:
            return replace(after, learned=self.learned.emptied())
        return after

    def lasts_s(self, bandwidth: Bandwidth) -> float | None:
        """How long the credits last at the present rate, ``inf`` for ever; None where that is not known, as near the baseline."""
        if self.is_empty:
            return 0.0
        if self.rate is None:
            return None
        low, high = (share * bandwidth.baseline for share in NEAR_BASELINE)
        if self.rate < low:
            return math.inf
        balance = self.learned.balance
        if self.rate <= high or balance is None:
            return None
        return balance / (self.rate - bandwidth.baseline)

    def _refused_with(self, moved: Moved, baseline: float) -> Sequence[Moved]:
        """The samples in which more was asked for than the baseline; none if this is not one of them."""
        low, high = (share * baseline for share in AT_BASELINE)
        is_refused = moved.exceeded >= REFUSED * moved.packets > 0
        follows = self.was_above or bool(self.refused)
        if not (is_refused and follows and low <= moved.rate <= high):
            return ()
        rates = [sample.rate for sample in (*self.refused, moved)]
        if max(rates) - min(rates) > FLAT * baseline:
            # The first sample was half of it still a burst.
            return (moved,) if len(self.refused) == 1 else ()
        # More than is needed to be sure of it is not kept.
        return self.refused if self.is_empty else (*self.refused, moved)


def _recent(before: float | None, moved: Moved) -> float:
    """The rate of about the last minute: what is older weighs less and less."""
    if before is None:
        return moved.rate
    return moved.rate + (before - moved.rate) * math.exp(-moved.seconds / RECENT_S)
