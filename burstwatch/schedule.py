"""When to ask for a resource again: the latest moment at which it cannot be too late yet.

Kept in memory only. Losing it costs one full sweep and never an alarm.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from burstwatch.config import Config
    from burstwatch.observe import Resource
    from burstwatch.past import Past
    from burstwatch.policy import Assessment

SOONEST_S = 60.0
#: So long the days before are kept before they are asked for again.
PAST_KEPT_S = 3600.0
LATEST_S = 3600.0


@dataclass(frozen=True, kw_only=True)
class Known:
    """The last look at a resource: what was found, and what it was then."""

    fingerprint: object
    assessment: Assessment
    due_at: float


@dataclass(kw_only=True)
class Schedule:
    """The last look at each resource of a unit, and the I/O of the days before of those near."""

    known: dict[str, Known] = field(default_factory=dict)
    pasts: dict[str, tuple[object, float, Past | None]] = field(default_factory=dict)

    def is_due(self, resource: Resource, now: float) -> bool:
        """New, changed or just attached resources are due at once."""
        known = self.known.get(resource.key)
        return known is None or known.fingerprint != fingerprint(resource) or now >= known.due_at

    def was_idle(self, resource: Resource) -> bool:
        """Whether the last look found no I/O, or there was none."""
        known = self.known.get(resource.key)
        return known is None or known.assessment.projection.state == "idle"

    def note(
        self,
        resource: Resource,
        assessment: Assessment,
        config: Config,
        now: float,
        *,
        look_period_s: float | None = None,
    ) -> None:
        """Remember a look.

        ``look_period_s`` is how often to look at what is well, where the worst case is too
        unsure to say it.
        """
        own = config.with_lead(resource.lead_s)
        self.known[resource.key] = Known(
            fingerprint=fingerprint(resource),
            assessment=assessment,
            due_at=now + wait_s(assessment, own, look_period_s=look_period_s),
        )

    def past_is_stale(self, resource: Resource, now: float) -> bool:
        """Whether the days before must be asked for (again)."""
        kept = self.pasts.get(resource.key)
        return kept is None or kept[0] != fingerprint(resource) or now - kept[1] >= PAST_KEPT_S

    def keep_past(self, resource: Resource, past: Past | None, now: float) -> None:
        """Remember the days before ``now``."""
        self.pasts[resource.key] = (fingerprint(resource), now, past)

    def past_of(self, resource: Resource) -> Past | None:
        """What is remembered of the days before."""
        kept = self.pasts.get(resource.key)
        return kept[2] if kept else None

    def forget_all_but(self, keys: set[str]) -> None:
        """Drop what the inventory no longer has."""
        self.pasts = {key: value for key, value in self.pasts.items() if key in keys}
        self.known = {key: value for key, value in self.known.items() if key in keys}


def fingerprint(resource: Resource) -> object:
    """What makes an earlier look at a resource worthless when it changes."""
    return (
        resource.bucket,
        resource.in_use,
        resource.parents,
        resource.history_from_s is None,
        resource.lead_s,
    )


def wait_s(assessment: Assessment, config: Config, *, look_period_s: float | None = None) -> float:
    """Seconds until the next look: worst case minus margin, from 1 to 60 minutes, less slack.

    The margin here has the data's age in it, for the next look may meet data as old
    as allowed. Whatever is not plainly well is looked at again at once.
    """
    worst = assessment.projection.worst_s
    wait = SOONEST_S
    if look_period_s is not None and not assessment.projection.is_published:
        wait = look_period_s
    elif assessment.verdict == "ok" and worst is not None:
        wait = look_period_s or worst - config.margin_s - config.max_data_age_s - SOONEST_S
    # Half a period's slack: a rule that fires a second early must not skip a turn.
    return min(LATEST_S, max(SOONEST_S, wait)) - config.sweep_period_s / 2
