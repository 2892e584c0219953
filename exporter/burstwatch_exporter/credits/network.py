"""The credits of an instance's network in one direction, of which AWS says neither the number nor the balance.

What AWS does say: an instance has a baseline and a peak; it earns credits while it moves less than the baseline, and spends
them above it; without credits it gets the baseline, and ENA counts the packets that came too late for that.
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-network-bandwidth.html (2026-11)

So the size of the bucket is learned. Credits are bytes. All that was moved above the baseline since the bucket was last full
is its size, once the bucket is seen to be empty. That it was full in between is known when more was earned than spent
from one empty bucket to the next: what is too much did not fit. All of this is an estimate.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from burstwatch_exporter.instance_types import Bandwidth

#: Shares of the baseline between which an instance without credits is served.
AT_BASELINE = (0.75, 1.15)
#: A burst of packets within a second is refused with credits left, too: only what goes on for so long shows an empty bucket.
EMPTY_AFTER_S = 120.0
#: Share of a bucket that must have been earned beyond what was spent, or it was not full for certain.
OVERFLOWED = 0.25
#: Sizes that are kept: one that was a mistake does not count for long.
SIZES = 3
#: A bucket that gave more than so many times its size is larger.
LARGER = 1.1
#: The rate of so long is taken for that of now.
RECENT_S = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Moved:
    """What was moved in one direction in ``seconds``: bytes, and packets that ENA counted as too many."""

    seconds: float
    octets: float
    exceeded: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Learned:
    """What was learned of one direction, in bytes and seconds. It outlives the process.

    ``sizes`` are those of the buckets that were seen to go from full to empty, the newest last, and ``lasted_s`` is how long
    the last of them took. ``balance`` is None while it is not known.

    ``drawn`` is how far the balance is below its highest point, as if there were no end below, and ``drawing_s`` how long ago
    that point was. ``earned`` is what was earned less what was spent since the bucket was last empty, None if that was not seen.
    """

    sizes: Sequence[float] = ()
    lasted_s: float | None = None
    balance: float | None = None
    drawn: float = 0.0
    drawing_s: float = 0.0
    earned: float | None = None

    @property
    def capacity(self) -> float | None:
        """The estimate of the bucket's size; None before one was seen to go from full to empty."""
        return median(self.sizes) if self.sizes else None

    @property
    def level(self) -> float | None:
        """The share of the credits that is left, 0 to 1; None where that is not known."""
        if self.balance is None or self.capacity is None:
            return None
        return self.balance / self.capacity

    def after(self, spent: float, seconds: float) -> "Learned":
        """What is known after ``spent`` more was moved than earned, or less where it is below 0."""
        drawn = max(0.0, self.drawn + spent)
        sizes = tuple(size for size in self.sizes if drawn <= LARGER * size)
        return replace(
            self,
            sizes=sizes,
            balance=_balance_after(self.balance, spent, median(sizes) if sizes else None),
            drawn=drawn,
            drawing_s=self.drawing_s + seconds if drawn > 0 else 0.0,
            earned=None if self.earned is None else self.earned - spent,
        )

    def emptied(self) -> "Learned":
        """What is known once the bucket is seen to be empty."""
        was_full = self.earned is not None and self.earned >= OVERFLOWED * self.drawn > 0
        learned = replace(self, balance=0.0, earned=0.0)
        if not was_full:
            return learned
        sizes = (*self.sizes, self.drawn)[-SIZES:]
        return replace(learned, sizes=sizes, lasted_s=self.drawing_s)


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkCredits:
    """One direction at one instant.

    ``rate`` is the recent bytes a second, and ``refused_s`` for how long the instance has got its baseline and asked for more.
    """

    learned: Learned = field(default_factory=Learned)
    rate: float | None = None
    refused_s: float = 0.0

    @property
    def is_empty(self) -> bool:
        """True if the instance gets its baseline alone for so long that no credits can be left."""
        return self.refused_s >= EMPTY_AFTER_S

    def after(self, moved: Moved, bandwidth: Bandwidth) -> "NetworkCredits":
        """What is known after ``moved``."""
        rate = moved.octets / moved.seconds
        recent = _recent(self.rate, rate, moved.seconds)
        low, high = (share * bandwidth.baseline for share in AT_BASELINE)
        if moved.exceeded > 0 and low <= rate <= high:
            refused = replace(self, rate=recent, refused_s=self.refused_s + moved.seconds)
            begins = refused.is_empty and not self.is_empty
            return replace(refused, learned=self.learned.emptied()) if begins else refused
        spent = (rate - bandwidth.baseline) * moved.seconds
        return NetworkCredits(learned=self.learned.after(spent, moved.seconds), rate=recent)

    def lasts_s(self, bandwidth: Bandwidth) -> float | None:
        """How long the credits last at the present rate, ``inf`` for ever; None where that is not known, as near the baseline."""
        if self.is_empty:
            return 0.0
        if self.rate is None:
            return None
        if self.rate <= bandwidth.baseline:
            return math.inf
        balance = self.learned.balance
        is_near = self.rate <= AT_BASELINE[1] * bandwidth.baseline
        if is_near or balance is None or not self.learned.sizes:
            return None
        return balance / (self.rate - bandwidth.baseline)


def _balance_after(balance: float | None, spent: float, capacity: float | None) -> float | None:
    """The balance after ``spent``; None where that cannot be known."""
    if balance is None or capacity is None:
        return None
    left = balance - spent
    # Who is served more than there was did not know what there was.
    return None if left < (1.0 - LARGER) * capacity else min(capacity, max(0.0, left))


def _recent(before: float | None, rate: float, seconds: float) -> float:
    """The rate of about the last minute: what is older weighs less and less."""
    if before is None:
        return rate
    return rate + (before - rate) * math.exp(-seconds / RECENT_S)
