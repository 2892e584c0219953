"""Plans the alarms of a sweep: compares those that should exist with those that exist.

Nothing is remembered between sweeps: what alarms there are is asked, not assumed. At its
end an alarm is told what is less until it has been OK for two minutes, so that a pager
sees the recovery, and only then is it deleted. From ``mass_from`` resources that come into danger
together there is one alarm for them all and no new one for each (``mass.py``); none that exists is
taken away for that, as its OK would be false.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from burstwatch.aws.alarms import Alarm, fingerprint
from burstwatch.aws.look import Look
from burstwatch.aws.mass import RISE_S, Crowd, Group, Sight, plan_groups, severity_of
from burstwatch.aws.names import (
    ALARM_PERIOD_S,
    ALARMED,
    DRILL,
    LISTING,
    MASS,
    group_of,
    listing_id,
    mass_id,
    part_name,
    part_of,
)
from burstwatch.config import Config
from burstwatch.forecast.judge import BACK_RATIO
from burstwatch.forecast.policy import SEVERITY, Assessment
from burstwatch.history.observations import Resource, Verdict
from burstwatch.messages.timeline import Timeline, merge_timelines
from burstwatch.polling.ranking import urgency
from burstwatch.shards import shards_of

#: How long an alarm must have been OK before it is deleted.
QUIET_S = 2.0 * ALARM_PERIOD_S
#: PutMetricAlarm is limited to 3 calls a second and account; a sweep takes this many at most.
MOST_NEW_ALARMS = 50
#: Of so many alarms a sweep changes the text. Those that end wait for it, the others keep theirs.
MOST_REWRITTEN = 20
#: The demand after a change is known when so much of it was seen.
SEEN_ANEW_S = 900.0
#: Of a shard, fewer are not one.
FEWEST_IN_MASS = 5.0
#: An alarm of what one inventory lacks ends after so long, where no others can confirm it.
SURELY_GONE_S = 2 * 3_600.0
#: A drill takes its alarm away itself; one older than this was killed.
DRILL_LASTS_S = 3_600.0


@dataclass(frozen=True, kw_only=True)
class AlarmPlan:
    """Pure: made by ``plan_alarms`` and then carried out.

    ``severities`` are to be published by (kind, resource id), before the alarms of the new
    ``groups`` and of ``create`` are made: resource ids with the severity that each has
    reached. ``announced`` are those that already have an alarm. ``rewrite`` are alarms
    that are to tell what has happened since, before the severities are published: an OK must not
    repeat the danger. ``delete`` are names; ``over`` has the alarms of a resource that are
    all deleted now.
    ``there`` are the alarms of each resource, by its id. ``groups`` are the resources that a mass
    alarm stands for, by the id of the group in metrics.
    """

    there: Mapping[str, tuple[Alarm, ...]]
    severities: Mapping[tuple[str, str], int]
    groups: Mapping[str, Group]
    create: tuple[tuple[str, Verdict], ...]
    rewrite: tuple[tuple[Alarm, Timeline], ...]
    delete: tuple[str, ...]
    over: Mapping[str, tuple[Alarm, ...]]
    postponed: int
    announced: frozenset[str]

    @property
    def new_groups(self) -> Mapping[str, Group]:
        """The groups whose mass alarm is to be made, by id."""
        return {key: group for key, group in self.groups.items() if group.state == "new"}


@dataclass(kw_only=True)
class _Draft:
    severities: dict[tuple[str, str], int] = field(default_factory=dict)
    #: The severity of each resource that can be judged, by id, the worst first.
    reached: dict[str, int] = field(default_factory=dict)
    create: list[tuple[str, Verdict]] = field(default_factory=list)
    rewrite: list[tuple[Alarm, Timeline]] = field(default_factory=list)
    delete: list[str] = field(default_factory=list)
    over: dict[str, tuple[Alarm, ...]] = field(default_factory=dict)

    def update(self, there: Sequence[Alarm], severity: int, now: float) -> None:
        """Rewrite those of one resource's alarms whose text is no longer true.

        Each knows what happened in the episode, so that the last one that is left can tell it.
        """
        if not there:
            return
        times = merge_timelines([alarm.timeline for alarm in there])
        if severity >= SEVERITY["exhausted"] and times.empty_s is None:
            times = replace(times, empty_s=now)
        for alarm in there:
            if severity >= SEVERITY[alarm.severity]:
                if alarm.timeline != times:
                    self.rewrite.append((alarm, times))
            elif alarm.timeline.over_s is None and alarm.state != "OK":
                self.rewrite.append((alarm, replace(times, over_s=now)))

    def postpone(self, most: int) -> None:
        """Keep so many changes of text. An alarm whose end is not among them ends later: its OK would repeat the danger."""
        # The text of many first, and what goes to OK now before what goes on.
        self.rewrite.sort(key=lambda one: (one[1].over_s is None, one[0].kind != MASS))
        for alarm, times in self.rewrite[most:]:
            if times.over_s is not None:
                key = alarm.kind, alarm.resource_id
                self.severities[key] = max(self.severities.get(key, 0), SEVERITY[alarm.severity])
        del self.rewrite[most:]

    def end(self, there: Iterable[Alarm], severity: int, now: float) -> None:
        """Delete of one resource's alarms what has been over for long enough."""
        there = tuple(there)
        over = [alarm for alarm in there if severity < SEVERITY[alarm.severity]]
        ended = [alarm.name for alarm in over if _is_over(alarm, now)]
        self.delete += ended
        if there and len(ended) == len(there) and there[0].kind not in {MASS, DRILL, LISTING}:
            self.over[there[0].resource_id] = there


def plan_alarms(found: Look, alarms: Iterable[Alarm], config: Config, *, now: float) -> AlarmPlan:
    """Compare what should be with what is.

    An *unknown* resource is left exactly as it is: nothing published, nothing
    deleted. A resource that is gone ends its alarm only if the inventory is whole, and
    others before it lacked it too.
    """
    by_resource: dict[str, list[Alarm]] = {}
    part = part_name(found.unit, found.shard)
    for alarm in alarms:
        if _is_ours(alarm, found):
            by_resource.setdefault(alarm.resource_id, []).append(alarm)
    alarms_there = {resource_id: tuple(some) for resource_id, some in by_resource.items()}
    masses = [some for some in alarms_there.values() if some[0].kind == MASS]
    mass_there = [alarm for some in masses for alarm in some if part_of(alarm.resource_id) == part]
    for alarm in mass_there:
        by_resource.pop(alarm.resource_id, None)
    draft, raised = _Draft(), list[str]()
    for resource, assessment in sorted(found.assessments.values(), key=urgency):
        there = by_resource.pop(resource.id, [])
        raised += [resource.id] if _is_any_raised(there) else []
        if assessment.verdict == "unknown":
            continue
        severity = SEVERITY[assessment.verdict]
        if _is_unsure(resource, assessment, found, config):
            severity = max(severity, _told_of(resource, there, mass_there))
        draft.reached[resource.id] = severity
        if severity >= SEVERITY["warning"] or there:
            draft.severities[resource.kind, resource.id] = severity
        reached = next((one for one in ALARMED if severity >= SEVERITY[one]), None)
        # In a maintenance window nothing new is said; what was said before stays true.
        is_told = reached in {alarm.severity for alarm in there}
        if reached is not None and not is_told and resource.id not in found.quiet:
            draft.create.append((resource.id, reached))
        # What becomes empty in a maintenance window is told when that ends.
        told = min(severity, SEVERITY["critical"]) if resource.id in found.quiet else severity
        draft.update(there, told, now)
        draft.end(there, severity, now)
    listings = [some for some in by_resource.values() if some[0].kind == LISTING]
    others = [some for some in by_resource.values() if some[0].kind != LISTING]
    _plan_orphans(draft, found, others, now=now)
    groups = _plan_groups(draft, found, alarms_there, mass_there, config, now=now)
    _plan_listings(draft, found, listings, now=now)
    draft.postpone(max(1, MOST_REWRITTEN // found.shard.count))
    most_new = MOST_NEW_ALARMS // found.shard.count
    return AlarmPlan(
        there=alarms_there,
        severities=draft.severities,
        groups=groups,
        create=tuple(draft.create[:most_new]),
        rewrite=tuple(draft.rewrite),
        delete=tuple(draft.delete),
        over=draft.over,
        postponed=max(0, len(draft.create) - most_new),
        announced=frozenset(raised).union(*(_announced(group) for group in groups.values())),
    )


def _announced(group: Group) -> tuple[str, ...]:
    """The resources that a raised mass alarm stands for."""
    is_raised = group.alarm is not None and group.alarm.state != "OK"
    return group.resource_ids if is_raised else ()


def _told_of(resource: Resource, there: Iterable[Alarm], mass_there: Iterable[Alarm]) -> int:
    """The highest severity that an alarm tells of a resource now: its own, or one that stands for it."""
    severities = [SEVERITY[alarm.severity] for alarm in there if alarm.state != "OK"]
    for alarm in mass_there:
        members = alarm.members or frozenset()
        if alarm.timeline.over_s is None and fingerprint(resource.id) in members:
            severities.append(SEVERITY[alarm.severity])
    return max(severities, default=0)


def _is_unsure(resource: Resource, assessment: Assessment, found: Look, config: Config) -> bool:
    """Whether too little is known of what can be spent from to lower its alarm; a higher one may begin.

    After a change of size or type, and after a start, nothing before counts. The demand must be seen anew, and a bucket that
    is nearly empty has as long as any other to show no danger.
    """
    if resource.bucket is None or not resource.can_spend:
        return False
    if resource.id in found.guessed:
        return True
    if resource.history_from_s is None:
        return False
    age_s, level = found.at - resource.history_from_s, assessment.projection.level
    is_low = level is None or level.likely < BACK_RATIO
    return age_s < SEEN_ANEW_S or (is_low and age_s < config.hold_s)


def _plan_orphans(
    draft: _Draft, found: Look, orphans: Iterable[Sequence[Alarm]], *, now: float
) -> None:
    """End the alarms of what is gone, of a kind no longer watched, or of a drill that was killed."""
    for some in orphans:
        kind = some[0].kind
        drill = some[0].timeline
        is_fresh = drill.over_s is None and now - drill.opened_s <= DRILL_LASTS_S
        is_under_way = kind == DRILL and is_fresh
        # Of a kind that could never be listed, as far as is known, nothing is known to be gone.
        if not kind or is_under_way or kind in found.unlisted:
            continue
        # A function that is started anew for each sweep never has inventories enough to be sure.
        is_old = now - min(alarm.timeline.opened_s for alarm in some) > SURELY_GONE_S
        if kind not in found.incomplete and (kind not in found.unsettled or is_old):
            draft.severities[kind, some[0].resource_id] = 0
            if kind != DRILL:  # its words are true at its end as well
                draft.update(some, 0, now)
            draft.end(some, 0, now)


def _plan_listings(
    draft: _Draft, found: Look, there: Iterable[Sequence[Alarm]], *, now: float
) -> None:
    """An alarm for each kind that could never be listed, and the end of those of what can be listed now.

    Its metric is not published once it is raised: with missing data it stays as it is. The first
    shard tells it for all.
    """
    known = {some[0].resource_id: some for some in there}
    for name in found.unlisted if found.shard.number == 1 else ():
        key = listing_id(found.unit, name)
        alarms = known.pop(key, ())
        if not alarms:
            draft.create.append((key, "warning"))
        if not alarms or alarms[0].state != "ALARM":
            draft.severities[LISTING, key] = SEVERITY["warning"]
    for key, alarms in known.items():
        name = group_of(key)
        if name not in found.incomplete and name not in found.blind and name not in found.unlisted:
            draft.severities[LISTING, key] = 0
            draft.update(alarms, 0, now)
            draft.end(alarms, 0, now)


def _plan_groups(
    draft: _Draft,
    found: Look,
    there: Mapping[str, Sequence[Alarm]],
    mass_there: Sequence[Alarm],
    config: Config,
    *,
    now: float,
) -> dict[str, Group]:
    """The groups of resources with one alarm for them all, by id; what they stand for gets no alarm of its own.

    Each shard of a unit has groups of its own, from its share of ``mass_from`` on. What AWS
    publishes nothing of is not lost: it could never be judged.
    """
    groups = plan_groups(
        {severity: _crowd(draft, there, severity) for severity in ALARMED},
        mass_there,
        Sight(
            seen=frozenset(found.assessments),
            lost=frozenset(
                resource_id
                for resource_id, (_, assessment) in found.assessments.items()
                if assessment.verdict == "unknown" and assessment.projection.is_published
            ),
            empty_since={
                resource_id: background.empty_since_s
                for resource_id, background in found.backgrounds.items()
                if background.empty_since_s is not None
            },
            is_whole=not (found.incomplete or found.unlisted or found.blind),
        ),
        least=max(config.mass_from / found.shard.count, min(FEWEST_IN_MASS, config.mass_from)),
        # Two sweeps at least, however far apart they are.
        rise_s=max(RISE_S, 2 * config.sweep_period_s),
        now=now,
    )
    by_id: dict[str, Group] = {}
    for group in groups:
        key = mass_id(found.unit, found.shard, group.name, group.severity)
        key = group.alarm.resource_id if group.alarm is not None else key
        by_id[key] = group
        if group.state != "over":
            told = {(resource_id, group.severity) for resource_id in group.resource_ids}
            draft.create = [entry for entry in draft.create if entry not in told]
        if group.state != "held":
            draft.severities[MASS, key] = severity_of(group)
            there_now = [] if group.alarm is None else [group.alarm]
            draft.update(there_now, severity_of(group), now)
            draft.end(there_now, severity_of(group), now)
        if group.has_grown and group.alarm is not None:
            draft.rewrite.append((group.alarm, group.alarm.timeline))
    return by_id


def _crowd(draft: _Draft, there: Mapping[str, Sequence[Alarm]], severity: Verdict) -> Crowd:
    """The resources that have reached a severity, and what tells of them so far."""
    own = {
        resource_id: alarm
        for resource_id, some in there.items()
        for alarm in some
        if alarm.severity == severity
    }
    return Crowd(
        resource_ids=[
            resource_id
            for resource_id, reached in draft.reached.items()
            if reached >= SEVERITY[severity]
        ],
        untold=[resource_id for resource_id, reached in draft.create if reached == severity],
        told_at={
            resource_id: alarm.timeline.paged_s or alarm.timeline.opened_s
            for resource_id, alarm in own.items()
        },
    )


def _is_ours(alarm: Alarm, found: Look) -> bool:
    """Whether it is of this shard. The mass alarms of a shard that is no more are the first's."""
    shard = found.shard
    if alarm.kind == LISTING:
        return shard.number == 1
    if alarm.kind != MASS:
        return shard.owns(alarm.resource_id)
    parts = {part_name(found.unit, one) for one in shards_of(shard.count)}
    part = part_of(alarm.resource_id)
    return part == part_name(found.unit, shard) or (shard.number == 1 and part not in parts)


def _is_any_raised(alarms: Iterable[Alarm]) -> bool:
    return any(alarm.state != "OK" for alarm in alarms)


def _is_over(alarm: Alarm, now: float) -> bool:
    return alarm.state == "OK" and now - alarm.state_since >= QUIET_S
