"""When to ask for a resource again: the latest moment at which it cannot be too late yet.

No bucket empties faster than its worst case. So a look at *t* that leaves ``worst_s``
needs no other before ``t + worst_s - margin``: the next one then still finds the margin,
whatever the workload does in between, for it rolls what it knows forward to its own now.
What the last look saw is kept too, so that the next asks only for what came since.

Kept in memory only. Losing it costs one full sweep and never an alarm.
"""

import math
from dataclasses import dataclass, field, replace

from burstwatch.config import Config
from burstwatch.forecast.margins import Margins, margins_of
from burstwatch.forecast.policy import PAGED, Assessment
from burstwatch.history.background import Background, with_earlier
from burstwatch.history.observations import Resource
from burstwatch.history.past import Past
from burstwatch.history.points import COARSE_S, FINE_S, LevelPoint
from burstwatch.polling.queries import Failure

SOONEST_S = 60.0
#: With such a lead (CPU credits, EFS) a page may come some minutes later.
LONG_LEAD_S = 3_600.0
#: An estimated worst case is no reason to look away: what is well is looked at this often.
ESTIMATED_S = 300.0
LATEST_S = 3600.0
#: A bucket as full as this is taken for full: of that alone AWS says how long it lasts.
FULL_RATIO = 0.98
#: Polls without a datapoint after which AWS is taken to publish none, and the wait grows.
MOST_LATE_LOOKS = 6
#: A resource with an alarm is looked at so often, or sooner where it is about to be empty.
ANNOUNCED_S = 300.0
#: Of the time that is left after an announcement, the share after which it is looked at again.
COUNTDOWN = 0.1
#: Seconds until an unknown resource is polled again; the wait grows by as much each time.
UNKNOWN_S, MOST_UNKNOWN_S = 60.0, 300.0
#: Seconds for which the days before are kept before they are asked for again: what came since is within
#: the hours that every judgement of a near resource sees anyway (``chance.LONGEST_WINDOW_S``).
PAST_KEPT_S = 2.5 * 3600.0
#: Seconds for which a verdict without the days before lowers no alarm. They come at one of the next polls, if at all.
GUESSED_S = 3_600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenLevel:
    """A resource's balance as one look saw it, for the next to begin where it ended.

    ``newest`` is the newest datapoint; ``since_s`` is from when on there was none after it,
    or none at all, ``until_s`` when that was asked. ``cadence_s`` is how far apart its datapoints
    have been shown to be, None if nothing has shown it.
    """

    newest: LevelPoint | None
    since_s: float
    until_s: float
    cadence_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DaysBefore:
    """The I/O of the days before, as AWS was asked for it ``at``; ``past`` is None where nothing was spent in them.

    ``of`` is the fingerprint of the resource then.
    """

    past: Past | None
    at: float
    of: object


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """One resource after a look: what to make of it, and what the next look need not ask for.

    ``is_near`` is whether the next look must know of hours.
    ``days_before`` is None where they were not asked for at this look.
    ``failure`` is why it could not be asked for, where that is why it is unknown.
    """

    resource: Resource
    assessment: Assessment
    background: Background | None = None
    is_near: bool = False
    level_seen: SeenLevel | None = None
    days_before: DaysBefore | None = None
    failure: Failure | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LastLook:
    """The last look at a resource, when it was and when the next is due.

    ``judgement`` has what earlier looks knew where this one could not tell, and its background outlives
    the look, for an alarm may be made later than that. ``late_at`` is when the resource could first be
    within its margin unnoticed, ``blind`` how many looks in a row could not tell.
    """

    judgement: Judgement
    at: float
    due_at: float
    late_at: float
    blind: int = 0


@dataclass(kw_only=True)
class Schedule:
    """The last look at each resource of a unit, and the I/O of the days before of those near.

    ``newest_s`` is by kind the end of the newest datapoint that any look has seen. ``fine`` are
    the kinds of which two datapoints of one resource have shown that they come every minute.
    """

    looks: dict[str, LastLook] = field(default_factory=dict)
    days_before: dict[str, DaysBefore] = field(default_factory=dict)
    past_wanted: dict[str, float] = field(default_factory=dict)
    newest_s: dict[str, float] = field(default_factory=dict)
    fine: set[str] = field(default_factory=set)

    def is_due(self, resource: Resource, now: float) -> bool:
        """True if it is time to poll; new, changed or just attached resources are due immediately."""
        last_look = self.last_look(resource)
        return last_look is None or now >= last_look.due_at

    def last_look(self, resource: Resource) -> LastLook | None:
        """The last look at it as it is now, or None if there was none."""
        last_look = self.looks.get(resource.key)
        if last_look is None or fingerprint(last_look.judgement.resource) != fingerprint(resource):
            return None
        return last_look

    def period_s(self, kind: str) -> float:
        """How far apart datapoints of a kind are in this unit, for a resource that has not shown it itself.

        AWS documents one minute for EBS volumes of all types, and guides still say five
        (https://docs.aws.amazon.com/ebs/latest/userguide/using_cloudwatch_ebs.html, 2026-11). So
        it is five minutes until one of them shows a minute.
        """
        return FINE_S if kind in self.fine else COARSE_S

    def was_idle(self, resource: Resource) -> bool:
        """True if the last look found no I/O, or there was none."""
        last_look = self.looks.get(resource.key)
        return last_look is None or last_look.judgement.assessment.projection.state == "idle"

    def note(self, judgement: Judgement, config: Config, now: float) -> None:
        """Remember a look."""
        resource, before = judgement.resource, self.last_look(judgement.resource)
        margins = margins_of(resource, config)
        known = _with_earlier_looks(judgement, before, now)
        blind = 0
        late_at = _late_at(judgement.assessment, margins, now)
        if judgement.assessment.verdict == "unknown":
            blind = 1 if before is None else before.blind + 1
            late_at = late_at if before is None else before.late_at
        self._note_datapoints(resource.kind, known.level_seen)
        self._note_past(known)
        self.looks[resource.key] = LastLook(
            judgement=known,
            at=now,
            due_at=now + _until_next_s(known, config, now, blind=blind, late_at=late_at),
            late_at=late_at,
            blind=blind,
        )

    def _note_datapoints(self, kind: str, level_seen: SeenLevel | None) -> None:
        """Remember how new and how close together the datapoints of a kind are."""
        if level_seen is None or level_seen.newest is None:
            return
        self.newest_s[kind] = max(self.newest_s.get(kind, 0.0), level_seen.newest.end_s)
        if level_seen.cadence_s == FINE_S:
            self.fine.add(kind)

    def _note_past(self, judgement: Judgement) -> None:
        """Remember the days before, where they were asked for; of what is not near nobody wants them."""
        resource = judgement.resource
        if judgement.days_before is not None:
            self.days_before[resource.key] = judgement.days_before
        if not judgement.is_near:
            self.past_wanted.pop(resource.key, None)

    def background_of(self, resource: Resource) -> Background | None:
        """The background of the last look's verdict, if that was one to tell of."""
        last_look = self.last_look(resource)
        return last_look.judgement.background if last_look is not None else None

    def past_is_stale(self, resource: Resource, now: float) -> bool:
        """True if the days before must be asked for (again)."""
        return self.past_age_s(resource, now) >= PAST_KEPT_S

    def past_age_s(self, resource: Resource, now: float) -> float:
        """Seconds since the days before were asked for; infinite where they are not known of the resource as it is now."""
        days = self.days_before.get(resource.key)
        return math.inf if days is None or days.of != fingerprint(resource) else now - days.at

    def want_past(self, resource: Resource, now: float) -> None:
        """Note that the days before are wanted and not there yet."""
        if resource.key not in self.days_before:
            self.past_wanted.setdefault(resource.key, now)

    def is_guess(self, resource: Resource, now: float) -> bool:
        """True if it was judged without the days before, which are still to be asked for."""
        wanted_s = self.past_wanted.get(resource.key)
        is_new = wanted_s is not None and now - wanted_s < GUESSED_S
        return is_new and resource.key not in self.days_before

    def past_of(self, resource: Resource) -> Past | None:
        """The days before, as far as they are remembered."""
        days = self.days_before.get(resource.key)
        return None if days is None else days.past

    def forget_future(self, now: float) -> None:
        """Drop what was seen in the future, by a clock that has been put back since: it would be due too late."""
        self.looks = {key: look for key, look in self.looks.items() if look.at <= now}
        self.days_before = {key: days for key, days in self.days_before.items() if days.at <= now}
        self.past_wanted = {key: at for key, at in self.past_wanted.items() if at <= now}
        self.newest_s = {kind: at for kind, at in self.newest_s.items() if at <= now}

    def forget_all_but(self, keys: set[str]) -> None:
        """Drop what the inventory no longer has."""
        self.days_before = {key: days for key, days in self.days_before.items() if key in keys}
        self.past_wanted = {key: at for key, at in self.past_wanted.items() if key in keys}
        self.looks = {key: value for key, value in self.looks.items() if key in keys}


def fingerprint(resource: Resource) -> object:
    """The facts that make an earlier look at a resource worthless when they change."""
    return (
        resource.bucket,
        resource.reporting.in_use,
        resource.parents,
        resource.reporting.history_from_s is None,
        resource.lead_s,
        resource.reporting.statistic,
        resource.terms.reach,
    )


def _with_earlier_looks(judgement: Judgement, before: LastLook | None, now: float) -> Judgement:
    """A judgement with what earlier looks knew: a poll that could not tell makes that no less true."""
    if before is None:
        return judgement
    earlier = before.judgement
    if judgement.assessment.verdict == "unknown":
        return replace(
            judgement,
            is_near=judgement.is_near or earlier.is_near,
            level_seen=judgement.level_seen or earlier.level_seen,
            background=earlier.background,
        )
    if judgement.background is None:
        return judgement
    return replace(
        judgement, background=with_earlier(judgement.background, earlier.background, now)
    )


def _until_next_s(
    judgement: Judgement, config: Config, now: float, *, blind: int, late_at: float
) -> float:
    """Seconds until the next look at what was judged so."""
    resource, assessment = judgement.resource, judgement.assessment
    if judgement.failure and now >= late_at:
        return SOONEST_S - config.sweep_period_s / 2  # it may be too late already
    wait = wait_s(
        resource,
        assessment,
        config,
        far_s=_far_as_seen_s(resource, judgement.level_seen, config, now),
        blind=blind,
        is_near=judgement.is_near,
    )
    if assessment.verdict != "ok" and resource.reporting.published_every_s > FINE_S:
        return max(wait, _until_published_s(resource, judgement.level_seen, config, now))
    return wait


def wait_s(
    resource: Resource,
    assessment: Assessment,
    config: Config,
    *,
    far_s: float = 0.0,
    blind: int = 0,
    is_near: bool = False,
) -> float:
    """Seconds until the next look, from one minute to one hour, less slack.

    A bucket of a size that AWS does not publish is outside its margin for ``far_s`` at the least.

    What is well waits until its worst case could reach the margin. The data's age is not
    in that: the worst case is rolled forward to now, and the next look rolls the same
    datapoint at least as far. What is near is looked at again at once; what has been
    announced, while nothing worse can come of waiting, a little later.
    """
    if assessment.verdict == "unknown" and is_near:
        wait = SOONEST_S
    else:
        wait = _wait_s(resource, assessment, config, blind=blind, far_s=far_s)
    return wait - config.sweep_period_s / 2


def _late_at(assessment: Assessment, margins: Margins, now: float) -> float:
    """The instant from which it could be within its margin: what is not known could be by now."""
    worst_s = assessment.projection.worst_s
    if worst_s is None:
        return now if assessment.verdict == "unknown" else math.inf
    return now + worst_s - margins.page_s


def _until_published_s(
    resource: Resource, level_seen: SeenLevel | None, config: Config, now: float
) -> float:
    """Seconds until something new can be published. An *ok* resource waits until its worst case could reach the margin."""
    newest = None if level_seen is None else level_seen.newest
    # Where the lead is long, some minutes do not matter, and each look has a price.
    is_urgent = margins_of(resource, config).lead_s < LONG_LEAD_S and newest is not None
    newest_s = newest.end_s if is_urgent and newest is not None else now
    return newest_s + resource.reporting.published_every_s - now - config.sweep_period_s / 2


def _far_as_seen_s(
    resource: Resource, level_seen: SeenLevel | None, config: Config, now: float
) -> float:
    """Seconds for which a bucket of a size that AWS does not publish is surely outside its margin; 0 if nobody knows."""
    newest = None if level_seen is None else level_seen.newest
    if newest is None or newest.ratio < FULL_RATIO:
        return 0.0  # AWS says of a full bucket alone how long it lasts
    # An average was the level at some instant of its period.
    seen_s = newest.start_s if newest.statistic == "Average" else newest.end_s
    return surely_far_s(resource, config, ratio=newest.ratio, unseen_s=now - seen_s)


def surely_far_s(resource: Resource, config: Config, *, ratio: float, unseen_s: float) -> float:
    """Seconds until a bucket that was so full ``unseen_s`` ago can be within its margin, at the most that its disks can ask.

    That margin is at the burst of its type, as the verdict sees it, and longer at what the disks reach. Zero where nobody
    knows that.
    """
    bucket, reach = resource.bucket, resource.terms.reach
    if bucket is None or reach is None:
        return 0.0
    if reach <= bucket.refill:
        return math.inf
    fastest = bucket.burst - bucket.refill
    slower = max(1.0, fastest / (reach - bucket.refill))
    page_s = margins_of(resource, config).page_s
    return (ratio * bucket.capacity / fastest - page_s) * slower - unseen_s


def _wait_s(
    resource: Resource, assessment: Assessment, config: Config, *, blind: int, far_s: float
) -> float:
    """Seconds until the next poll, by how sure and how near the danger is."""
    projection, is_documented = assessment.projection, resource.terms.is_documented
    if assessment.verdict == "not_watched":
        return LATEST_S
    if not projection.is_published and not is_documented:
        # AWS may be late with it, and may never publish it.
        return min(LATEST_S, ESTIMATED_S * max(1, blind - MOST_LATE_LOOKS))
    if assessment.verdict == "unknown":
        return min(MOST_UNKNOWN_S, UNKNOWN_S * max(1, blind))
    if assessment.verdict in PAGED:
        left_s = projection.low_s if projection.state == "finite" else None
        wait = ANNOUNCED_S if left_s is None else COUNTDOWN * left_s
        return min(ANNOUNCED_S, max(SOONEST_S, wait))
    if assessment.verdict == "ok" and projection.worst_s is not None:
        margin_left_s = projection.worst_s - margins_of(resource, config).page_s
        wait = margin_left_s if is_documented else max(ESTIMATED_S, far_s)
        return min(LATEST_S, max(SOONEST_S, wait))
    # A resource without a bucket, or attached to nothing, must change before it can spend.
    return LATEST_S if assessment.verdict == "ok" else SOONEST_S
