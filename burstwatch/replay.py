"""A recorded series played again: what would have been said at each moment of it.

At each *now* only those rows are seen that CloudWatch would have published.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from burstwatch.kinds import find_kinds
from burstwatch.observe import DemandPoint, LevelPoint, Observation
from burstwatch.policy import Verdict, assess

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from burstwatch.config import Config
    from burstwatch.observe import Resource, State
    from burstwatch.series import Row

#: How much history one look has: what the API serves at 60 s.
LOOK_BACK_S = 3 * 3600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """One line of `burstwatch replay --json`. None is "never" or "not known"."""

    t_s: float
    data_age_s: float | None
    balance_ratio: float | None
    time_to_empty_s: float | None
    low_s: float | None
    high_s: float | None
    worst_s: float | None
    state: State
    assessment: Verdict
    reason: str


def volume(volume_type: str, size_gib: float) -> Resource:
    """A volume as if it had been found attached to an instance without limits.

    Raises:
        UnknownVolumeTypeError, SizeOutOfRangeError: naming the value.
    """
    item = {
        "VolumeId": "vol-replayed",
        "VolumeType": volume_type,
        "Size": size_gib,
        "Attachments": [{"State": "attached"}],
    }
    nothing_found: dict[str, dict[str, dict[str, object]]] = {
        "instances": {},
        "instance_types": {},
        "modifications": {},
    }
    return find_kinds()["ebs_volume"].describe(item, nothing_found, "replay", 0.0)


def replay(
    rows: Sequence[Row],
    resource: Resource,
    config: Config,
    *,
    period_s: float,
    delay_s: float,
) -> Iterator[Moment]:
    """One moment per period, from the first row until the last has been seen."""
    levels, demand = _points(rows, resource, period_s)
    published = [row.t_s + period_s + delay_s for row in rows]
    level_ends = [point.end_s for point in levels]
    demand_ends = [point.end_s for point in demand]
    now = rows[0].t_s
    while now <= published[-1]:
        # The recording itself is the witness: a row without values is a silent volume.
        seen = bisect_right(published, now)
        newest = rows[seen - 1].t_s + period_s if seen else None
        fresh = newest is not None and now - newest <= config.max_data_age_s + delay_s + period_s
        level_slice = slice(
            bisect_right(level_ends, now - LOOK_BACK_S), bisect_right(level_ends, now - delay_s)
        )
        demand_slice = slice(
            bisect_right(demand_ends, now - LOOK_BACK_S), bisect_right(demand_ends, now - delay_s)
        )
        observation = Observation(
            resource=resource,
            at=now,
            levels=tuple(levels[level_slice]),
            demand=tuple(demand[demand_slice]),
            unit_is_fresh=fresh,
        )
        yield _moment(observation, config)
        now += period_s


def _points(
    rows: Sequence[Row], resource: Resource, period_s: float
) -> tuple[list[LevelPoint], list[DemandPoint]]:
    spent = find_kinds()["ebs_volume"].spent
    levels, demand = [], []
    for row in rows:
        if row.balance_percent is not None:
            levels.append(
                LevelPoint(start_s=row.t_s, period_s=period_s, ratio=row.balance_percent / 100)
            )
        known = {
            "VolumeReadOps": row.read_ops,
            "VolumeWriteOps": row.write_ops,
            "VolumeReadBytes": row.read_bytes,
            "VolumeWriteBytes": row.write_bytes,
        }
        sums = {name: value for name, value in known.items() if value is not None}
        point = spent(resource, sums, row.t_s, period_s)
        if point is not None:
            demand.append(point)
    return levels, demand


def _moment(observation: Observation, config: Config) -> Moment:
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
        state=projection.state,
        assessment=assessment.verdict,
        reason=assessment.reason,
    )
