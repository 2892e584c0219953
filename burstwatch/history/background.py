"""Describes what led to an assessment: recent demand, and when the drain began."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from burstwatch.history.history import History
from burstwatch.history.points import COARSE_S

#: The cause of an alarm is what was asked for in the last so many seconds.
CAUSE_WINDOW_S = 300.0
#: An older cause is kept for this long; after that the demand may be another.
CAUSE_KEPT_S = 1_800.0
#: Levels are told of so long, one for five minutes: a function keeps them for every resource that is not well.
LEVELS_S = 3 * 3_600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Background:
    """Mean ``rates`` by metric up to ``rates_at``, empty where not known, and since when it drains.

    ``exceeded`` is the share of the last minutes in which each limit was exceeded, by the limit in words.
    ``empty_since_s`` is since when the bucket has been empty, at the latest, and ``asked_before`` what was asked for just
    before, in credits a second; None if it is not, or not known. ``levels`` are the shares of the bucket of the last hours, each
    with the end of its slot.
    """

    rates: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    rates_at: float | None = None
    since_s: float | None = None
    since_ratio: float | None = None
    empty_since_s: float | None = None
    asked_before: float | None = None
    exceeded: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    levels: tuple[tuple[float, float], ...] = ()


def make_background(history: History | None, rates: Mapping[str, float], at: float) -> Background:
    """Describe the time before ``at``, as far as it is known."""
    rates_at = at if rates else None
    if history is None or history.newest_slot() < 0:
        return Background(rates=rates, rates_at=rates_at)
    since_s, ratio = history.drain_began()
    return Background(
        rates=rates,
        rates_at=rates_at,
        since_s=since_s,
        since_ratio=ratio,
        empty_since_s=history.empty_since(),
        asked_before=history.asked_before_empty(),
        levels=tuple(history.levels_since(at - LEVELS_S, every_s=COARSE_S)),
    )


def with_earlier(background: Background, earlier: Background | None, now: float) -> Background:
    """The background, with the rates of an earlier look where this one did not ask for them."""
    if background.rates or earlier is None or earlier.rates_at is None:
        return background
    if now - earlier.rates_at > CAUSE_KEPT_S:
        return background
    return replace(
        background, rates=earlier.rates, rates_at=earlier.rates_at, exceeded=earlier.exceeded
    )


def recent_rates(
    metrics: Sequence[str], totals: Mapping[float, Mapping[str, float]], period_s: float
) -> dict[str, float]:
    """The mean rates by metric of the last minutes of ``totals`` by period's start.

    Empty without any. A period in which a metric is missing does not count: half of the
    demand is not the demand.
    """
    starts = sorted(start for start, amounts in totals.items() if amounts.keys() >= set(metrics))
    recent = [start for start in starts if start > starts[-1] - CAUSE_WINDOW_S]
    if not recent:
        return {}
    seconds = len(recent) * period_s
    return {metric: sum(totals[start][metric] for start in recent) / seconds for metric in metrics}
