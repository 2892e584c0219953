"""The CPU credits of a burstable instance, as /proc/stat shows them.

A host sees what its CPUs did, and not its balance. So the balance is an interval, as that of a
volume: one bucket is charged what the CPUs did, one AWS's allowance more. Without anything else
known, any balance is possible when the host starts. The interval narrows where a bucket must be
full or empty.

A host does not see its mode either. In Standard mode an instance without credits gets what it
earns. In Unlimited mode it spends surplus credits, up to what it earns in a day, and what it earns
pays these back first: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-performance-instances-unlimited-mode-concepts.html
(2026-11). So there is an account for each mode, and the interval holds both, until the CPUs have
done more than Standard mode allows.

Time that the hypervisor takes away (``steal``) while the CPUs get just what they earn shows an
instance in Standard mode without credits. An instance in Unlimited mode is never throttled:
for it, the end is when surplus credits begin.
"""

import math
import threading
from dataclasses import dataclass, replace

from burstwatch import bucket as tb
from burstwatch.ebs.volumes import Charge
from burstwatch.forecast.demand import expected
from burstwatch.forecast.projection import project_level
from burstwatch.formatting import span
from burstwatch.history.points import Range
from burstwatch.kinds._cpu import ALLOWANCE, CREDIT_S, LAUNCHED, CpuSpec
from burstwatch.web.exposition import Page
from burstwatch_exporter.clock import Clock
from burstwatch_exporter.credits import interval as iv
from burstwatch_exporter.credits.ledger import CONTRADICTION, WAITS_S
from burstwatch_exporter.credits.outlook import AT_BASELINE
from burstwatch_exporter.credits.recent_demand import RecentDemand
from burstwatch_exporter.credits.snapshot import Snapshot
from burstwatch_exporter.kernel.roots import Roots
from burstwatch_exporter.page import metrics as m
from burstwatch_exporter.sources import Attempt

#: The ticks of the kernel's counters in a second, on every architecture that Linux has an ABI for.
TICKS = 100.0
#: Steal above this share of the baseline is more than other guests' noise.
STOLEN = 0.1
#: An instance that slept for longer was stopped (hibernated) meanwhile: T2 then loses its credits.
ASLEEP_S = 60.0
#: CPU time that the kernel takes back, or counts late, in seconds.
TAKEN_BACK_S = 2.0
#: Share of the bucket: an instance that spent this much more than there was is not in Standard mode.
OVERDRAWN = 0.01
#: The order of the first fields of a line of /proc/stat; the guest's are in user and nice already.
FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
SPENT = ("user", "nice", "system", "irq", "softirq")


@dataclass(frozen=True, kw_only=True, slots=True)
class CpuTimes:
    """Seconds since the start, of all CPUs together: in use, and taken by the hypervisor."""

    used_s: float
    stolen_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class CpuAccount:
    """The CPU credits at one instant: ``capacity`` and the interval in seconds of a full CPU.

    ``likely`` is what is probably left, ``low_s`` and ``likely_s`` how long that lasts at the present load, ``worst_s`` at full load;
    each but the last is None where it is not known.
    """

    instance_type: str
    times: CpuTimes
    capacity: float
    interval: iv.Interval
    likely: float | None
    is_held_back: bool
    low_s: float | None
    likely_s: float | None
    worst_s: float


def parse_stat(text: str) -> CpuTimes:
    """The first line of /proc/stat.

    Raises:
        ValueError: if it has not the eight counters.
    """
    name, *cells = text.partition("\n")[0].split() or [""]
    columns = dict(zip(FIELDS, cells, strict=False))
    if name != "cpu" or len(columns) < len(FIELDS) or not all(map(str.isdigit, columns.values())):
        msg = f"/proc/stat begins with {text[:60]!r}, not with the counters of all CPUs"
        raise ValueError(msg)
    ticks = {field: int(cell) for field, cell in columns.items()}
    return CpuTimes(
        used_s=sum(ticks[field] for field in SPENT) / TICKS, stolen_s=ticks["steal"] / TICKS
    )


class CpuSource:
    """The account of the instance's CPU credits, moved on whenever it is read."""

    name = "cpu"

    def __init__(
        self,
        instance_type: str,
        spec: CpuSpec,
        *,
        roots: Roots,
        clock: Clock,
        slot_s: float,
    ) -> None:
        """``slot_s`` is how often it is read at the most."""
        self._type, self._spec, self._bucket = instance_type, spec, spec.bucket
        self._roots, self._clock, self._slot_s = roots, clock, slot_s
        self._lock = threading.Lock()
        # Levels of the account in Unlimited mode are kept with what may be owed added: from 0 to twice the capacity.
        self._owing = replace(self._bucket, capacity=2 * self._bucket.capacity)
        self._forget()
        # Since the start is as good as since any other instant.
        self._at, self._asleep_s, self._times = 0.0, 0.0, CpuTimes(used_s=0.0, stolen_s=0.0)
        self._recent: RecentDemand | None = None
        self._stolen_rate = 0.0

    def add_to(self, page: Page, snapshot: Snapshot, attempt: Attempt) -> None:
        """Read the counters, move the account on, and say how it is.

        Raises:
            ValueError: if the counters are those of a container.
        """
        self._add(page, self.observe(snapshot, attempt))

    def observe(self, snapshot: Snapshot, attempt: Attempt) -> CpuAccount:
        """Read the counters, and move the account on; what is odd goes to the attempt.

        Raises:
            ValueError: if the counters are those of a container.
        """
        if "stat" in snapshot.container_files:
            msg = "/proc/stat is that of lxcfs, which shows the CPU time of one container"
            raise ValueError(msg)
        with self._lock:  # two scrapes may come at once
            return self._observe(attempt)

    def _forget(self) -> None:
        """Take any balance for possible, in both modes."""
        self._standard, self._unlimited = iv.unknown(self._bucket), iv.unknown(self._owing)
        self._beyond = 0.0

    def _observe(self, attempt: Attempt) -> CpuAccount:
        """Read the CPU's counters and move its credits on; unknown while the counters are doubted."""
        at, boot = self._clock.awake(), self._clock.boot()
        times = parse_stat((self._roots.procfs / "stat").read_text(encoding="ascii"))
        doubt = self._doubt_of(times, at)
        if doubt and at - self._at < WAITS_S:
            attempt.problems.append(f"{doubt}, so nothing is known until they are right again")
            return self._account(times, iv.unknown(self._bucket))
        if doubt:
            attempt.problems.append(f"{doubt} for {span(at - self._at)}, so they begin anew")
            self._forget()
            self._recent, self._at, self._times = None, at, times
        was_stopped = boot - at > self._asleep_s + ASLEEP_S
        self._asleep_s = boot - at
        self._move_on(at, times)
        if was_stopped:  # at any time since the last reading: what was earned before may be lost
            self._standard, self._unlimited = (
                iv.Interval(low=0.0, high=interval.high)
                for interval in (self._standard, self._unlimited)
            )
        return self._account(times, self._interval())

    def _doubt_of(self, times: CpuTimes, at: float) -> str:
        """Why the counters cannot be right, or nothing. Kernels take back some hundredths of a second."""
        done, seconds = times.used_s - self._times.used_s, at - self._at
        if done < -TAKEN_BACK_S:
            return f"the counters of /proc/stat went back by {-done:.0f} s"
        if done > self._spec.vcpus * (seconds + TAKEN_BACK_S):
            return f"the counters of /proc/stat rose by {done:.0f} s in {seconds:.0f} s"
        return ""

    def _move_on(self, at: float, times: CpuTimes) -> None:
        """Charge the CPU time used since the last reading, and earn the baseline."""
        seconds = at - self._at
        if seconds <= 0:
            return
        used = max(0.0, times.used_s - self._times.used_s)
        charge = Charge(least=used, nominal=used, most=used * ALLOWANCE.value)
        bucket, earned = self._bucket, AT_BASELINE[1] * self._bucket.refill * seconds
        self._beyond += max(0.0, charge.least - self._standard.high - earned)
        self._standard = iv.after_seen(bucket, self._standard, seconds=seconds, charge=charge)
        self._unlimited = self._after_seen_unlimited(seconds, charge)
        self._stolen_rate = (times.stolen_s - self._times.stolen_s) / seconds
        if self._recent is None:
            self._recent = RecentDemand(at=at, slot_s=self._slot_s)
        else:
            self._recent.note(at, charge)
        self._at, self._times = at, times

    def _after_seen_unlimited(self, seconds: float, charge: Charge) -> iv.Interval:
        after = iv.after_seen(self._owing, self._unlimited, seconds=seconds, charge=charge)
        # Most is left if all was spent first: what cannot be owed is paid in money.
        busy_s = min(seconds, charge.least / self._spec.vcpus)
        spent = charge.least - self._bucket.refill * busy_s
        high = max(0.0, self._unlimited.high - spent) + self._bucket.refill * (seconds - busy_s)
        return replace(after, high=min(self._owing.capacity, max(after.high, high)))

    @property
    def _is_unlimited(self) -> bool:
        """True if the CPUs have done more than Standard mode allows, with the credits that a T2 has at its launch."""
        launched = (
            LAUNCHED.value * CREDIT_S * self._spec.vcpus if self._spec.family == "t2" else 0.0
        )
        return self._beyond > OVERDRAWN * self._bucket.capacity + launched

    def _interval(self) -> iv.Interval:
        """Interval of the balance in either mode; an owed balance counts as empty."""
        owed, standard, unlimited = self._bucket.capacity, self._standard, self._unlimited
        low, high = max(0.0, unlimited.low - owed), max(0.0, unlimited.high - owed)
        if self._is_unlimited:
            likely = unlimited.likely
            return iv.Interval(
                low=low, high=high, likely=None if likely is None else max(0.0, likely - owed)
            )
        high = max(high, standard.high)
        is_known = high - low <= iv.NARROW * self._bucket.capacity
        return iv.Interval(low=low, high=high, likely=standard.likely if is_known else None)

    @property
    def is_held_back(self) -> bool:
        """True if the CPUs get just what they earn, and asked for more."""
        rate = self._recent.newest() if self._recent else None
        low, high = (share * self._bucket.refill for share in AT_BASELINE)
        is_stolen_from = self._stolen_rate >= STOLEN * self._bucket.refill
        return rate is not None and low <= rate <= high and is_stolen_from

    def _account(self, times: CpuTimes, interval: iv.Interval) -> CpuAccount:
        """Collect what is known of the CPU's credits now."""
        bucket, likely = self._bucket, interval.likely
        if self.is_held_back and interval.low <= CONTRADICTION * bucket.capacity:
            likely = 0.0
        low_s, likely_s = self._projected(interval, likely)
        return CpuAccount(
            instance_type=self._type,
            times=times,
            capacity=bucket.capacity,
            interval=interval,
            likely=likely,
            is_held_back=self.is_held_back,
            low_s=low_s,
            likely_s=likely_s,
            worst_s=tb.worst_time_to_empty(bucket, level=interval.low),
        )

    def _projected(
        self, interval: iv.Interval, likely: float | None
    ) -> tuple[float | None, float | None]:
        """How long the credits last at the present load, at the shortest and likely; None where that is not known."""
        if self._recent is None or not self._recent.has_looked:
            return None, None
        demand = expected(
            self._recent.lately(limit=float(self._spec.vcpus)), burst=float(self._spec.vcpus)
        )
        guess = interval.high if likely is None else likely
        projected = project_level(
            self._bucket,
            Range(low=interval.low, likely=guess, high=interval.high),
            demand,
            at=self._clock.wall(),
            data_age_s=0.0,
            worst_level=interval.low,
            held_at_zero=likely == 0.0 and self.is_held_back,
        )
        never = projected.high_s == math.inf and projected.low_s == math.inf
        is_known = likely is not None or never
        return projected.low_s, projected.time_to_empty_s if is_known else None

    def _add(self, page: Page, account: CpuAccount) -> None:
        """Add the CPU's metrics; what is not known is left out."""
        labels, bucket = (self._type,), self._bucket
        page.add(m.CPU_USED, labels, account.times.used_s)
        page.add(m.CPU_STOLEN, labels, account.times.stolen_s)
        page.add(m.CPU_CAPACITY, labels, bucket.capacity)
        page.add(m.CPU_REFILL, labels, bucket.refill)
        page.add(m.CPU_BURST, labels, float(self._spec.vcpus))
        page.add(m.CPU_HELD_BACK, labels, account.is_held_back)
        low, high = account.interval.low, account.interval.high
        for bound, level in (("low", low), ("likely", account.likely), ("high", high)):
            if level is not None:
                page.add(m.CPU_BALANCE, (*labels, bound), level / bucket.capacity)
        for bound, seconds in (
            ("worst", account.worst_s),
            ("low", account.low_s),
            ("likely", account.likely_s),
        ):
            if seconds is not None:
                page.add(m.CPU_EXHAUSTION, (*labels, bound), seconds)
