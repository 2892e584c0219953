"""Describes one episode: what the history, the digest and Grafana's annotations are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from burstwatch.fixes.fix import soonest
from burstwatch.formatting import command_line
from burstwatch.history.observations import Resource, Verdict
from burstwatch.history.track import EMPTY_RATIO
from burstwatch.kinds.base import Kind
from burstwatch.messages.timeline import Timeline

#: How far apart the datapoints of a level are: the least and the most.
SHORTEST_PERIOD_S, LONGEST_PERIOD_S = 60.0, 300.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """One danger from its first alarm to its end. Times are unix seconds.

    It is open while ``closed_s`` is None. ``severity`` is the highest that had an alarm, ``paged_s``
    when somebody was paged.
    ``lowest_ratio`` is the lowest level in the episode and ``at_zero_s`` how long the bucket
    was empty; None is not known. ``fix`` is a change after which it would not happen again.
    """

    resource_id: str
    name: str
    kind: str
    unit: str
    severity: Verdict
    opened_s: float
    paged_s: float | None
    empty_s: float | None
    closed_s: float | None
    lowest_ratio: float | None
    at_zero_s: float | None
    fix: str
    console: str

    @property
    def lasted_s(self) -> float | None:
        """From its first alarm to its end; None while it is open."""
        return None if self.closed_s is None else self.closed_s - self.opened_s

    @property
    def timeline(self) -> Timeline:
        """Its times up to its end."""
        return Timeline(opened_s=self.opened_s, paged_s=self.paged_s, empty_s=self.empty_s)

    @property
    def lead_s(self) -> float | None:
        """From the first alarm, or the page where there was one, until the bucket was empty."""
        if self.empty_s is None:
            return None
        told_s = self.opened_s if self.paged_s is None else self.paged_s
        return max(0.0, self.empty_s - told_s)

    @property
    def was_empty(self) -> bool:
        """True if the bucket was empty, seen by a sweep or measured afterwards."""
        return self.empty_s is not None or bool(self.at_zero_s)

    @property
    def key(self) -> tuple[str, str, float]:
        """The identity of an episode: two sweeps that overlap may both close the same one."""
        return self.unit, self.resource_id, self.opened_s

    def record(self) -> dict[str, Any]:
        """The episode as one object for the log."""
        return {**asdict(self), "lasted_s": self.lasted_s, "lead_s": self.lead_s}


def parse_episode(record: Mapping[str, Any]) -> Episode:
    """The episode of a record. What a later version added is ignored.

    Raises:
        KeyError: for what is missing.
    """
    return Episode(**{field.name: record[field.name] for field in fields(Episode)})


def lasting_fix(kind: Kind, resource: Resource) -> str:
    """The soonest change, and of those the cheapest, with which the bucket would last at its highest rate; empty without one.

    One that costs more each month is not sized by the worst hour, but by the load of two weeks, which ``advise`` reads.
    """
    if resource.bucket is None:
        return ""
    # The bucket's own rate may allow for what AWS does not say. Nothing serves more than the limit.
    demand = min(resource.bucket.burst, resource.limit.rate)
    lasting = soonest(
        fix for fix in kind.changes(resource, demand, {}) if fix.takes != "is under way"
    )
    if not lasting:
        return ""
    if lasting[0].usd_month is not None and round(lasting[0].usd_month, 2) > 0:
        command = command_line("burstwatch", "advise", resource.id, "--region", resource.region)
        return f"see what its load of two weeks needs: {command}"
    return lasting[0].text


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """An episode by the levels of one bucket: the lowest, and when and for how long it was empty.

    ``empty_s`` is None if it was not empty.
    """

    lowest_ratio: float
    at_zero_s: float
    empty_s: float | None


def measure_levels(levels: Sequence[tuple[float, float]]) -> Measured | None:
    """Measure an episode by the levels; None without any.

    ``levels`` are pairs of a period's start and its share of the bucket, in time order. An empty
    one lasts until the next, which comes after one or five minutes. The bucket was empty at the
    start of its first empty period at the earliest, and that time is used: a lead is no longer
    than it was.
    """
    if not levels:
        return None
    ends = [*(start for start, _ in levels[1:]), levels[-1][0]]
    empty = [
        (start, min(max(end - start, SHORTEST_PERIOD_S), LONGEST_PERIOD_S))
        for (start, ratio), end in zip(levels, ends, strict=True)
        if ratio <= EMPTY_RATIO
    ]
    return Measured(
        lowest_ratio=min(ratio for _, ratio in levels),
        at_zero_s=sum(seconds for _, seconds in empty),
        empty_s=empty[0][0] if empty else None,
    )
