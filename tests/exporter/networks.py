"""Instances with a network that obeys AWS's rule: a bucket of credits of a size that nobody tells."""

import math
from dataclasses import dataclass, field
from random import Random

from burstwatch_exporter.credits.network import Moved, NetworkCredits
from burstwatch_exporter.instance_types import Bandwidth, find_type

TYPES = (
    "m5.large",
    "t3.micro",
    "c5n.large",
    "m6i.xlarge",
    "r6g.2xlarge",
    "m7i.large",
    "c6in.large",
)
PACKET = 1_500
SAMPLE_S = 10.0


@dataclass(kw_only=True)
class Allowance:
    """One direction of a network, in bytes: it sustains ``baseline``, and ``balance`` is what it has left."""

    baseline: float
    peak: float
    size: float
    balance: float

    def move(self, demand: float, seconds: float) -> tuple[float, int]:
        """The bytes that are let through of what is asked for, and the packets that are not."""
        asked = demand * seconds
        served = min(asked, self.peak * seconds, self.balance + self.baseline * seconds)
        self.balance = min(self.size, self.balance + self.baseline * seconds - served)
        return served, math.ceil((asked - served) / PACKET)


@dataclass(frozen=True, kw_only=True)
class Page:
    """That an alert fired: what it said, and the truth by the network's own bucket, in seconds."""

    told_s: float
    true_s: float


@dataclass(kw_only=True)
class Watched:
    """A network with the account that is kept of it, and the alert's condition for two minutes: half is gone, and less than ``lead_s`` left."""

    allowance: Allowance
    bandwidth: Bandwidth
    lead_s: float = 1_800.0
    account: NetworkCredits = field(default_factory=NetworkCredits)
    pages: list[Page] = field(default_factory=list)
    firing_s: float = 0.0

    def does(self, demand: float, seconds: float, exceeded: int = 0) -> None:
        """One sample; ``exceeded`` more packets were too many for a moment."""
        served, refused = self.allowance.move(demand, seconds)
        moved = Moved(
            seconds=seconds, octets=served, packets=served / PACKET, exceeded=refused + exceeded
        )
        self.account = self.account.after(moved, self.bandwidth)
        told_s = self.account.lasts_s(self.bandwidth)
        before_s = self.firing_s
        is_half = (self.account.learned.level or 1.0) < 0.5
        is_short = is_half and told_s is not None and 0 < told_s < self.lead_s
        self.firing_s = before_s + seconds if is_short else 0.0
        if told_s is not None and before_s < 120.0 <= self.firing_s:
            net = (self.account.rate or 0.0) - self.allowance.baseline
            true_s = self.allowance.balance / net if net > 0 else math.inf
            self.pages.append(Page(told_s=told_s, true_s=true_s))

    def goes_on(self, demand: float, seconds: float) -> None:
        """The same demand for a while."""
        for _ in range(math.ceil(seconds / SAMPLE_S)):
            self.does(demand, SAMPLE_S)


def make_network(name: str, *, lasts_s: float, off: float = 1.0) -> Watched:
    """A type's network whose full bucket lasts so long at the peak; it sustains ``off`` times what the table says."""
    known = find_type(name)
    assert known is not None
    bandwidth = known.bandwidth
    baseline = bandwidth.baseline * off
    size = (bandwidth.peak - baseline) * lasts_s
    allowance = Allowance(baseline=baseline, peak=bandwidth.peak, size=size, balance=size / 2)
    return Watched(allowance=allowance, bandwidth=bandwidth)


def play_day(seed: int) -> Watched:
    """A day of a random host: idle hours, loads near the baseline, bursts, noise, and bursts of packets within a second."""
    random = Random(seed)  # noqa: S311 - the same day each time
    network = make_network(
        random.choice(TYPES), lasts_s=60 * random.uniform(1, 60), off=random.uniform(0.97, 1.03)
    )
    baseline, peak = network.bandwidth.baseline, network.bandwidth.peak
    spiky = random.choice([0.0, 0.0, 0.02, 0.2, 0.5, 0.8, 0.95, 1.0])
    most_spikes = random.choice([10, 100, 1_000])
    noise = random.choice([0.0, 0.01, 0.08])
    left_s, demand, at = 0.0, 0.0, 0.0
    while at < 86_400:
        if left_s <= 0:
            left_s = random.choice([60, 300, 900, 3_600, 10_800]) * random.uniform(0.5, 1.5)
            demand = random.choice([
                0.0, random.uniform(0, 0.8) * baseline, random.uniform(0.85, 1.2) * baseline,
                baseline + random.uniform(0.02, 0.6) * (peak - baseline), random.uniform(0.7, 1.5) * peak,
            ])  # fmt: skip
        seconds = SAMPLE_S * random.uniform(0.95, 1.05)
        spikes = random.randint(1, most_spikes) if random.random() < spiky else 0
        network.does(demand * random.lognormvariate(0, noise), seconds, spikes)
        at, left_s = at + seconds, left_s - seconds
    return network
