"""A recorded series played again: what would have been said at each moment of it.

At each *now* only those rows are seen that CloudWatch would have published.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from burstwatch.config import Config
from burstwatch.fixes.surplus import Charge
from burstwatch.forecast.policy import assess
from burstwatch.history.history import History, build_history
from burstwatch.history.observations import (
    Observation,
    Resource,
    State,
    Verdict,
    after_first_credits,
    observe,
    of_machine,
)
from burstwatch.history.past import to_past
from burstwatch.history.points import LevelPoint
from burstwatch.history.track import look_back_s
from burstwatch.kinds._by_hand import described_by_hand
from burstwatch.kinds.base import Kind
from burstwatch.kinds.ebs_volume import KIND
from burstwatch.recordings.samples import Points, Sample, to_points

#: A quotient of floats is off by so much at the most.
NOISE = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """One moment of a replay. None is "never" or "not known"."""

    t_s: float
    data_age_s: float | None
    balance_ratio: float | None
    time_to_empty_s: float | None
    low_s: float | None
    high_s: float | None
    worst_s: float | None
    chance: float | None
    state: State
    assessment: Verdict
    reason: str

    def record(self) -> dict[str, Any]:
        """The moment with the names that ``--json`` has."""
        return {
            "at": self.t_s,
            "data_age_s": self.data_age_s,
            "balance": self.balance_ratio,
            "time_to_empty_s": self.time_to_empty_s,
            "low_s": self.low_s,
            "high_s": self.high_s,
            "worst_s": self.worst_s,
            "chance": self.chance,
            "state": self.state,
            "verdict": self.assessment,
            "reason": self.reason,
        }


def volume(volume_type: str, size_gib: float) -> Resource:
    """A volume as if it had been found attached to an instance without limits.

    Raises:
        ValueError: naming the value.
    """
    spec = {"type": volume_type, "size_gib": f"{size_gib!r}"}
    (described,) = described_by_hand(KIND, spec)
    return replace(
        described, reporting=replace(described.reporting, statistic="Minimum")
    )  # as a series is defined


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A recording with its resource, and how late its datapoints are taken to have come.

    ``exceeded`` is the share of the time in which each limit was exceeded, by the limit in words; empty where not known.
    ``charge`` is what AWS has charged for credits in it; None where that is not known. ``notes`` say what was taken for what,
    and ``doubts`` what in it contradicts itself or the resource.
    """

    name: str
    kind: Kind
    resource: Resource
    samples: Sequence[Sample]
    points: Points
    period_s: float
    delay_s: float = 0.0
    exceeded: Mapping[str, float] = field(default_factory=dict)
    charge: Charge | None = None
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def within(self, begin_s: float, end_s: float) -> "Recorded":
        """Only the periods that lie in this time, or partly."""

        def is_in(start_s: float) -> bool:
            return begin_s < start_s + self.period_s and start_s < end_s

        levels, demand = self.points
        return replace(
            self,
            samples=[sample for sample in self.samples if is_in(sample.t_s)],
            points=(
                [level for level in levels if is_in(level.start_s)],
                [point for point in demand if is_in(point.start_s)],
            ),
        )

    def play(self, config: Config) -> "Replay":
        """The replay of this recording under these settings."""
        played = Played(self.samples, self.resource, self.period_s, self.kind, self.points)
        return Replay(played, config, delay_s=self.delay_s)


class Replay:
    """Every moment of a series, by number: the first row's start is 0, and each is a period later.

    The last one is when the last row has come, which may be within a period.
    """

    def __init__(self, played: "Played", config: Config, *, delay_s: float) -> None:
        """Datapoints come ``delay_s`` after their period's end."""
        self._played, self._delay_s = played, delay_s
        # Data as late as asked for is not stale: the delay is part of the question.
        self._config = replace(config, max_data_age_s=max(config.max_data_age_s, delay_s))

    @property
    def _lasts_s(self) -> float:
        return self._played.span_s + self._delay_s

    def __len__(self) -> int:
        """The number of moments until the last row has been seen."""
        return 1 + math.ceil(self._lasts_s / self._played.period_s - NOISE)

    def moments(self, numbers: Iterable[int] | None = None) -> Iterator[Moment]:
        """Yield the moments with these ``numbers``, or all."""
        for number in range(len(self)) if numbers is None else numbers:
            now = self._played.start_s + min(number * self._played.period_s, self._lasts_s)
            yield _moment(self._played.at(now, self._delay_s, self._config), self._config)


class Played:
    """A series, and what of it is visible at each moment."""

    def __init__(
        self,
        rows: Sequence[Sample],
        resource: Resource,
        period_s: float,
        kind: Kind = KIND,
        points: Points | None = None,
    ) -> None:
        """Prepare once all that is asked of ``rows`` later; ``points`` are made of them already."""
        self._resource, self.period_s = resource, period_s
        self._row_ends = [row.t_s + period_s for row in rows]
        self.start_s, self.span_s = rows[0].t_s, self._row_ends[-1] - rows[0].t_s
        levels, demand = points or to_points(rows, resource, period_s, kind)
        cut, bucket = resource.reporting.history_from_s, resource.bucket
        levels = [point for point in levels if cut is None or point.start_s >= cut]
        demand = [point for point in demand if cut is None or point.start_s >= cut]
        self._refill_s = bucket.capacity / bucket.refill if bucket else 0.0
        self._levels, self._demand, self._past = levels, demand, to_past(demand)
        # Before the first credits of a bucket that began empty, nobody knew that they would come.
        kept = after_first_credits(levels, resource)
        self._history = self._built(kept)
        self._credits_s, self._without_credits = -math.inf, self._history
        if bucket and len(kept) < len(levels):
            self._credits_s = kept[0].end_s
            self._without_credits = self._built(levels)

    def _built(self, levels: Sequence[LevelPoint]) -> History | None:
        """The history of levels, with all that is known of the load."""
        bucket, is_slow = self._resource.bucket, self._resource.is_slow
        if bucket is None:
            return None
        return build_history(bucket, levels, self._demand, past=self._past, is_slow=is_slow)

    def _of_machine(self, now: float, seen_s: float) -> Observation | None:
        """The observation at ``now`` of a machine that began in what a look asks for, up to ``seen_s``; None without one."""
        bucket = self._resource.bucket
        if bucket is None or not self._resource.terms.starts_empty:
            return None
        back_s = look_back_s(bucket)
        start, end = (
            bisect_right(self._levels, at, key=lambda point: point.end_s)
            for at in (now - back_s, seen_s)
        )
        levels = self._levels[start:end]
        from_s = max(now - back_s, self.start_s)
        machine = of_machine(self._resource, levels, from_s)
        if machine is self._resource:
            return None
        since_s = machine.reporting.history_from_s or 0.0
        begin, newest = (
            bisect_left(self._demand, at, key=lambda point: point.start_s)
            for at in (since_s, seen_s)
        )
        return observe(
            self._resource,
            now,
            levels,
            self._demand[begin:newest],
            looked_back_s=back_s,
            levels_from_s=from_s,
        )

    def at(self, now: float, delay_s: float, config: Config) -> Observation:
        """The observation that was possible at ``now``."""
        rows_seen = bisect_right(self._row_ends, now - delay_s)
        # The recording itself is the witness: a row without values is a silent volume.
        age_s = now - self._row_ends[rows_seen - 1] if rows_seen else math.inf
        unit_is_fresh = age_s <= config.max_data_age_s + self.period_s
        of_machine_then = self._of_machine(now, now - delay_s)
        if of_machine_then is not None:
            return replace(of_machine_then, unit_is_fresh=unit_is_fresh)
        whole = self._history if now - delay_s >= self._credits_s else self._without_credits
        history = whole and whole.until(now - delay_s)
        back_s = look_back_s(self._resource.bucket)
        newest = history.newest_slot() if history else -1
        if history and newest >= 0:
            level_age_s = now - history.start_s - (newest + 1) * history.period_s
            if level_age_s > back_s:
                # As the sweep does: a silent volume's last level is looked for, as far
                # back as it takes to refill.
                back_s = max(back_s, self._refill_s)
            if level_age_s > back_s:
                history = None
        return Observation(
            resource=self._resource,
            at=now,
            history=history,
            unit_is_fresh=unit_is_fresh,
            looked_back_s=min(back_s, now - (self._row_ends[0] - self.period_s)),
        )


def _moment(observation: Observation, config: Config) -> Moment:
    """Assess one observation, and keep what `explain` shows of it."""
    assessment = assess(observation, config)
    projection = assessment.projection
    return Moment(
        t_s=observation.at,
        data_age_s=projection.data_age_s,
        balance_ratio=projection.level.likely if projection.level else None,
        time_to_empty_s=projection.time_to_empty_s,
        low_s=projection.low_s,
        high_s=projection.high_s,
        worst_s=projection.worst_s,
        chance=assessment.chance,
        state=projection.state,
        assessment=assessment.verdict,
        reason=assessment.reason,
    )
