"""Plans the alarms of a sweep: compares those that should exist with those that exist.

Nothing is remembered between sweeps: what alarms there are is asked, not assumed. At its
end an alarm is told what is less until it has been OK for two minutes, so that a pager
sees the recovery, and only then is it deleted. From ``mass_from`` resources that come into danger
together there is one alarm for them all and no new one for each (``mass.py``); none that exists is
taken away for that, as its OK would be false.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from burstwatch.aws.alarms.api import Alarm, id_fingerprint
from burstwatch.aws.alarms.arrays import SURELY_GONE_S, find_arrays, plan_arrays
from burstwatch.aws.alarms.mass import RISE_S, Crowd, MassGroup, Sight, plan_groups, severity_of
from burstwatch.aws.alarms.told import Told
from burstwatch.aws.client.names import (
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
from burstwatch.aws.look.snapshot import UnitSnapshot
from burstwatch.config import Config
from burstwatch.forecast.judge import BACK_RATIO
from burstwatch.forecast.policy import SEVERITY, Assessment
from burstwatch.history.observations import Resource, Verdict
from burstwatch.messages.timeline import Timeline, merge_timelines
from burstwatch.polling.ranking import urgency
from burstwatch.polling.told import alarm_severity
from burstwatch.shards import shards_of

#: How long an alarm must have been OK before it is deleted.
QUIET_S = 2.0 * ALARM_PERIOD_S
#: PutMetricAlarm is limited to 3 calls a second and account; a sweep takes this many at most.
MOST_NEW_ALARMS = 50
#: Most alarms whose text is rewritten per sweep. An alarm that is about to end waits for its rewrite.
MOST_REWRITTEN = 20
#: A danger that was over for longer keeps an alarm, and begins none: another function may have ended it since.
NEWS_S = 600.0
#: The demand after a change is known when so much of it was seen.
SEEN_ANEW_S = 900.0
#: Of a shard, fewer are not one.
FEWEST_IN_MASS = 5.0
#: A drill takes its alarm away itself; one older than this was killed.
DRILL_LASTS_S = 3_600.0


@dataclass(frozen=True, kw_only=True)
class AlarmPlan:
    """Pure: made by ``plan_alarms`` and then carried out.

    ``severities`` are to be published by (kind, resource id), before the alarms of the new
    ``groups`` and of ``create`` are made: resource ids with the severity that each has
    reached. ``announced`` are those that already have an alarm. ``rewrite`` are alarms
    that are to tell what has happened since, before the severities are published: an OK must not
    repeat the danger. ``delete`` are names; ``ended`` has the alarms of a resource that are
    all deleted now, those of an array by the id of one of its volumes.
    ``existing`` are the alarms of each resource, by its id. ``groups`` are the resources that a mass
    alarm stands for, by the id of the group in metrics.
    """

    existing: Mapping[str, tuple[Alarm, ...]]
    severities: Mapping[tuple[str, str], int]
    groups: Mapping[str, MassGroup]
    create: tuple[tuple[str, Verdict], ...]
    rewrite: tuple[tuple[Alarm, Timeline], ...]
    delete: tuple[str, ...]
    ended: Mapping[str, tuple[Alarm, ...]]
    postponed: int
    announced: frozenset[str]

    @property
    def new_groups(self) -> Mapping[str, MassGroup]:
        """The groups whose mass alarm is to be made, by id."""
        return {key: group for key, group in self.groups.items() if group.state == "new"}

    def alarms_of(self, key: str) -> tuple[Alarm, ...]:
        """The alarms that there are of a resource, by its id, of an array of both severities, or of another group."""
        group = self.groups.get(key)
        if group is None or not group.is_array:
            return self.existing.get(key, ())
        return tuple(
            other.alarm
            for other in self.groups.values()
            if other.name == group.name and other.alarm is not None
        )


@dataclass(kw_only=True)
class _Draft:
    severities: dict[tuple[str, str], int] = field(default_factory=dict)
    #: The severity of each resource that can be judged, by id, the worst first.
    reached: dict[str, int] = field(default_factory=dict)
    create: list[tuple[str, Verdict]] = field(default_factory=list)
    rewrite: list[tuple[Alarm, Timeline]] = field(default_factory=list)
    delete: list[str] = field(default_factory=list)
    ended: dict[str, tuple[Alarm, ...]] = field(default_factory=dict)

    def update(
        self,
        alarms: Sequence[Alarm],
        severity: int,
        now: float,
        *,
        empty_s: float | None = None,
        is_changing: bool = False,
    ) -> None:
        """Rewrite those of one resource's alarms whose text is no longer true.

        Each knows what happened in the episode, so that the last one that is left can tell it. ``empty_s`` is since
        when the bucket has been empty, where that is known. While a change is under way, AWS refuses the command for
        another.
        """
        if not alarms:
            return
        times = merge_timelines([alarm.timeline for alarm in alarms])
        if severity >= SEVERITY["exhausted"] and times.empty_s is None:
            times = replace(times, empty_s=now if empty_s is None else empty_s)
        times = replace(times, changing_s=(times.changing_s or now) if is_changing else None)
        for alarm in alarms:
            if severity >= SEVERITY[alarm.severity]:
                if alarm.timeline != times:
                    self.rewrite.append((alarm, times))
            elif alarm.timeline.over_s is None and alarm.state != "OK":
                self.rewrite.append((alarm, replace(times, over_s=now)))

    def retell(self, alarms: Sequence[Alarm], now: float, *, is_changing: bool) -> None:
        """Rewrite those of one unknown resource's alarms that do not know that a change has begun, or has ended."""
        for alarm in alarms:
            knows = alarm.timeline.changing_s is not None
            if knows != is_changing and alarm.timeline.over_s is None:
                changing_s = now if is_changing else None
                times = replace(alarm.timeline, changing_s=changing_s, unknown_s=now)
                self.rewrite.append((alarm, times))

    def postpone(self, most: int) -> None:
        """Keep so many changes of text. An alarm whose end is not among them ends later: its OK would repeat the danger."""
        # What goes to OK now before what goes on; within each, mass alarms first.
        self.rewrite.sort(key=lambda change: (change[1].over_s is None, change[0].kind != MASS))
        for alarm, times in self.rewrite[most:]:
            if times.over_s is not None:
                key = alarm.kind, alarm.resource_id
                self.severities[key] = max(self.severities.get(key, 0), SEVERITY[alarm.severity])
        del self.rewrite[most:]

    def end(self, alarms: Iterable[Alarm], severity: int, now: float) -> None:
        """Plan to delete those of one resource's alarms that are above its severity and have been over for long enough."""
        alarms = tuple(alarms)
        outdated = [alarm for alarm in alarms if severity < SEVERITY[alarm.severity]]
        ended = [alarm.name for alarm in outdated if _is_over(alarm, now)]
        self.delete += ended
        if alarms and len(ended) == len(alarms) and alarms[0].kind not in {MASS, DRILL, LISTING}:
            self.ended[alarms[0].resource_id] = alarms


@dataclass(frozen=True, kw_only=True)
class _Partition:
    """The alarms of a part of a unit by what they stand for.

    ``own`` are those of resources that the snapshot has, ``orphans`` those of others, and ``listings`` those of kinds
    that cannot be listed: all of one resource together, by its id. ``mass`` are those of this part that stand for many.
    """

    own: Mapping[str, tuple[Alarm, ...]]
    orphans: Mapping[str, tuple[Alarm, ...]]
    listings: Mapping[str, tuple[Alarm, ...]]
    mass: tuple[Alarm, ...]

    @property
    def all(self) -> dict[str, tuple[Alarm, ...]]:
        """Every alarm, by what it is of."""
        by_mass = {alarm.resource_id: (alarm,) for alarm in self.mass}
        return {**self.own, **self.orphans, **self.listings, **by_mass}

    @property
    def told(self) -> Told:
        """What they tell of each resource."""
        return Told(itertools.chain(*self.all.values()))


def _partition(alarms: Iterable[Alarm], snapshot: UnitSnapshot) -> _Partition:
    part = part_name(snapshot.unit, snapshot.shard)
    own: dict[str, tuple[Alarm, ...]] = {}
    orphans: dict[str, tuple[Alarm, ...]] = {}
    listings: dict[str, tuple[Alarm, ...]] = {}
    mass: list[Alarm] = []
    for alarm in alarms:
        if not _is_ours(alarm, snapshot):
            continue
        if alarm.kind == MASS and part_of(alarm.resource_id) == part:
            mass.append(alarm)
            continue
        group = orphans
        if alarm.kind == LISTING:
            group = listings
        elif alarm.resource_id in snapshot.assessments:
            group = own
        group[alarm.resource_id] = (*group.get(alarm.resource_id, ()), alarm)
    return _Partition(own=own, orphans=orphans, listings=listings, mass=tuple(mass))


def plan_alarms(
    snapshot: UnitSnapshot, alarms: Iterable[Alarm], config: Config, *, now: float
) -> AlarmPlan:
    """Compare what should be with what is.

    An *unknown* resource is left as it is: nothing published, nothing deleted; only that AWS is changing it is told, and a
    page ends where AWS does not throttle it any more, whatever its balance is. A verdict that was not made at this look
    ends and begins no alarm that tells otherwise: another function may have seen more since. A resource that is gone
    ends its alarm only if the inventory is whole, and others before it lacked it too.
    """
    present = _partition(alarms, snapshot)
    told = present.told
    draft = _Draft()
    for resource, assessment in sorted(snapshot.assessments.values(), key=urgency):
        own_alarms = present.own.get(resource.id, ())
        if assessment.verdict == "unknown" and _is_answered(resource, own_alarms, snapshot):
            draft.update(own_alarms, SEVERITY["ok"], now)
        elif assessment.verdict == "unknown":
            draft.retell(own_alarms, now, is_changing=bool(resource.changes.under_way))
        else:
            told_severity = told.severity(resource.id)
            _plan_resource(
                draft, resource, assessment, own_alarms, told_severity, snapshot, config, now=now
            )
    existing = present.all
    _plan_orphans(draft, snapshot, present.orphans.values(), now=now)
    groups = _plan_groups(draft, snapshot, existing, present.mass, config, now=now)
    _plan_listings(draft, snapshot, present.listings, now=now)
    draft.postpone(max(1, MOST_REWRITTEN // snapshot.shard.count))
    most_new = MOST_NEW_ALARMS // snapshot.shard.count
    raised = (key for key, own_alarms in present.own.items() if _is_any_raised(own_alarms))
    return AlarmPlan(
        existing=existing,
        severities=draft.severities,
        groups=groups,
        create=tuple(draft.create[:most_new]),
        rewrite=tuple(draft.rewrite),
        delete=tuple(draft.delete),
        ended=draft.ended,
        postponed=max(0, len(draft.create) - most_new),
        announced=frozenset(raised).union(*(_announced(group) for group in groups.values())),
    )


def _plan_resource(
    draft: _Draft,
    resource: Resource,
    assessment: Assessment,
    alarms: Sequence[Alarm],
    told_severity: int,
    snapshot: UnitSnapshot,
    config: Config,
    *,
    now: float,
) -> None:
    """Plan the alarms of a resource that could be judged: ``alarms`` are its own, ``told_severity`` what all tell of it."""
    severity = SEVERITY[assessment.verdict]
    is_outdated = (
        resource.id not in snapshot.judged and alarm_severity(assessment.verdict) != told_severity
    )
    is_past = assessment.ago_s > NEWS_S and severity > told_severity
    if is_outdated or is_past:
        severity = told_severity
    elif _is_unsure(resource, assessment, snapshot, config):
        severity = max(severity, told_severity)
    draft.reached[resource.id] = severity
    if severity >= SEVERITY["warning"] or alarms:
        draft.severities[resource.kind, resource.id] = severity
    if is_outdated:
        return
    verdict = next((verdict for verdict in ALARMED if severity >= SEVERITY[verdict]), None)
    # In a maintenance window nothing new is said; what was said before stays true.
    is_quiet = resource.id in snapshot.quiet
    if verdict is not None and verdict not in {alarm.severity for alarm in alarms} and not is_quiet:
        draft.create.append((resource.id, verdict))
    # A bucket that runs out in a maintenance window is told when that ends.
    most = SEVERITY["critical"] if is_quiet else severity
    draft.update(
        alarms,
        min(severity, most),
        now,
        empty_s=empty_since(snapshot, resource.id),
        is_changing=bool(resource.changes.under_way),
    )
    draft.end(alarms, severity, now)


def _is_answered(resource: Resource, alarms: Sequence[Alarm], snapshot: UnitSnapshot) -> bool:
    """True if somebody was paged for a resource that was looked at now, and does not slow down any more, as in Unlimited mode."""
    was_paged = any(alarm.timeline.paged_s for alarm in alarms)
    return was_paged and resource.id in snapshot.judged and not resource.terms.is_throttled


def empty_since(snapshot: UnitSnapshot, resource_id: str) -> float | None:
    """Since when the bucket of a resource has been empty, at the latest; None where that is not known."""
    background = snapshot.backgrounds.get(resource_id)
    return None if background is None else background.empty_since_s


def _announced(group: MassGroup) -> tuple[str, ...]:
    """The resources that a raised mass alarm stands for."""
    is_raised = group.alarm is not None and group.alarm.state != "OK"
    return group.resource_ids if is_raised else ()


def _is_unsure(
    resource: Resource, assessment: Assessment, snapshot: UnitSnapshot, config: Config
) -> bool:
    """True if too little is known of what can be spent from to lower its alarm; a higher one may begin.

    After a change of size or type, and after a start, nothing before counts. The demand must be seen anew, and a bucket that
    is not nearly full has as long as any other to show no danger.
    """
    if resource.bucket is None or not resource.can_spend:
        return False
    if resource.id in snapshot.guessed:
        return True
    if assessment.history_from_s is None:
        return False
    age_s, level = snapshot.at - assessment.history_from_s, assessment.projection.level
    is_not_full = level is None or level.likely < BACK_RATIO
    return age_s < SEEN_ANEW_S or (is_not_full and age_s < config.hold_s)


def _plan_orphans(
    draft: _Draft, snapshot: UnitSnapshot, orphans: Iterable[Sequence[Alarm]], *, now: float
) -> None:
    """End the alarms of what is gone, of a kind no longer watched, or of a drill that was killed."""
    for alarms in orphans:
        kind = alarms[0].kind
        timeline = alarms[0].timeline
        is_fresh = timeline.over_s is None and now - timeline.opened_s <= DRILL_LASTS_S
        is_under_way = kind == DRILL and is_fresh
        # Of a kind that could never be listed, as far as is known, nothing is known to be gone.
        if not kind or is_under_way or kind in snapshot.unlisted:
            continue
        # A function that is started anew for each sweep never has inventories enough to be sure.
        is_old = now - min(alarm.timeline.opened_s for alarm in alarms) > SURELY_GONE_S
        if kind not in snapshot.incomplete and (kind not in snapshot.unsettled or is_old):
            draft.severities[kind, alarms[0].resource_id] = 0
            if kind != DRILL:  # its words are true at its end as well
                draft.update(alarms, 0, now)
            draft.end(alarms, 0, now)


def _plan_listings(
    draft: _Draft, snapshot: UnitSnapshot, existing: Mapping[str, Sequence[Alarm]], *, now: float
) -> None:
    """An alarm for each kind that could never be listed, and the end of those of what can be listed now.

    Its metric is not published once it is raised: with missing data it stays as it is. The first
    shard tells it for all.
    """
    unclaimed = dict(existing)
    for name in snapshot.unlisted if snapshot.shard.number == 1 else ():
        key = listing_id(snapshot.unit, name)
        alarms = unclaimed.pop(key, ())
        if not alarms:
            draft.create.append((key, "warning"))
        if not alarms or alarms[0].state != "ALARM":
            draft.severities[LISTING, key] = SEVERITY["warning"]
    for key, alarms in unclaimed.items():
        name = group_of(key)
        if (
            name not in snapshot.incomplete
            and name not in snapshot.blind
            and name not in snapshot.unlisted
        ):
            draft.severities[LISTING, key] = 0
            draft.update(alarms, 0, now)
            draft.end(alarms, 0, now)


def _plan_groups(
    draft: _Draft,
    snapshot: UnitSnapshot,
    existing: Mapping[str, Sequence[Alarm]],
    mass_there: Sequence[Alarm],
    config: Config,
    *,
    now: float,
) -> dict[str, MassGroup]:
    """The groups of resources with one alarm for them all, by id; what they stand for gets no alarm of its own.

    Each shard of a unit has groups of its own, from its share of ``mass_from`` on. What AWS
    publishes nothing of is not lost: it could never be judged.
    """
    sight = Sight(
        assessed=frozenset(snapshot.assessments),
        lost=frozenset(
            resource_id
            for resource_id, (_, assessment) in snapshot.assessments.items()
            if assessment.verdict == "unknown" and assessment.projection.is_published
        ),
        empty_since={
            resource_id: background.empty_since_s
            for resource_id, background in snapshot.backgrounds.items()
            if background.empty_since_s is not None
        },
        is_whole=not (snapshot.incomplete or snapshot.unlisted or snapshot.blind),
        is_settled=not snapshot.unsettled,
    )
    of_arrays = [alarm for alarm in mass_there if alarm.is_array]
    crowds = {severity: _crowd(draft, existing, of_arrays, severity) for severity in ALARMED}
    groups = plan_groups(
        crowds,
        [alarm for alarm in mass_there if not alarm.is_array],
        sight,
        least=max(config.mass_from / snapshot.shard.count, min(FEWEST_IN_MASS, config.mass_from)),
        # Two sweeps at least, however far apart they are.
        rise_s=max(RISE_S, 2 * config.sweep_period_s),
        now=now,
    )
    groups += plan_arrays(crowds, of_arrays, groups, find_arrays(snapshot), sight, now=now)
    by_id: dict[str, MassGroup] = {}
    for group in groups:
        key = mass_id(snapshot.unit, snapshot.shard, group.name, group.severity)
        key = group.alarm.resource_id if group.alarm is not None else key
        by_id[key] = group
        if group.state != "over":
            told_keys = {(resource_id, group.severity) for resource_id in group.resource_ids}
            draft.create = [entry for entry in draft.create if entry not in told_keys]
        if group.state != "held":
            draft.severities[MASS, key] = severity_of(group)
            _plan_group(draft, snapshot, group, now=now)
        if group.has_grown and group.alarm is not None:
            draft.rewrite.append((group.alarm, group.alarm.timeline))
    _plan_ends_of_arrays(draft, snapshot, groups)
    return by_id


def _plan_group(draft: _Draft, snapshot: UnitSnapshot, group: MassGroup, *, now: float) -> None:
    """Tell the alarm of a group what happens to it; that of an array as much as that of one volume."""
    alarms = [] if group.alarm is None else [group.alarm]
    severity, empty_s, changing = severity_of(group), None, False
    if group.is_array and group.state == "on":
        volumes = group.resource_ids
        since_s = [since for volume_id in volumes if (since := empty_since(snapshot, volume_id))]
        empty_s = min(since_s, default=None)
        changing = any(snapshot.assessments[id_][0].changes.under_way for id_ in volumes)
        reached = (_reached(draft, snapshot, volume_id) for volume_id in volumes)
        severity = max(severity, *reached)
    draft.update(alarms, severity, now, empty_s=empty_s, is_changing=changing)
    draft.end(alarms, severity, now)


def _reached(draft: _Draft, snapshot: UnitSnapshot, resource_id: str) -> int:
    """The severity of a resource now; a bucket that runs out in a maintenance window is told when that ends."""
    reached = draft.reached.get(resource_id, 0)
    return min(reached, SEVERITY["critical"]) if resource_id in snapshot.quiet else reached


def _plan_ends_of_arrays(
    draft: _Draft, snapshot: UnitSnapshot, groups: Iterable[MassGroup]
) -> None:
    """Note which arrays have no alarm any more: each is an episode that is over, told by its volume of the least id."""
    by_name: dict[str, list[Alarm]] = {}
    for group in groups:
        if group.is_array and group.alarm is not None:
            by_name.setdefault(group.name, []).append(group.alarm)
    for alarms in by_name.values():
        if not {alarm.name for alarm in alarms} <= {*draft.delete}:
            continue
        members = frozenset[str]().union(*(alarm.members or () for alarm in alarms))
        volumes = [id_ for id_ in snapshot.assessments if id_fingerprint(id_) in members]
        key = min(volumes, default=alarms[0].resource_id)
        kind = snapshot.assessments[key][0].kind if volumes else MASS
        draft.ended[key] = tuple(replace(alarm, kind=kind) for alarm in alarms)


def _crowd(
    draft: _Draft,
    existing: Mapping[str, Sequence[Alarm]],
    of_arrays: Iterable[Alarm],
    severity: Verdict,
) -> Crowd:
    """The resources that have reached a severity, and what tells of them so far: their own alarms, or those of arrays."""
    alarm_of = {
        resource_id: alarm
        for resource_id, siblings in existing.items()
        for alarm in siblings
        if alarm.severity == severity
    }
    resource_ids = [
        resource_id
        for resource_id, reached in draft.reached.items()
        if reached >= SEVERITY[severity]
    ]
    for alarm in of_arrays:
        if alarm.severity == severity and alarm.members:
            told = (id_ for id_ in resource_ids if id_fingerprint(id_) in alarm.members)
            alarm_of |= dict.fromkeys(told, alarm)
    return Crowd(
        resource_ids=resource_ids,
        untold=[
            resource_id
            for resource_id, reached in draft.create
            if reached == severity and resource_id not in alarm_of
        ],
        told_at={
            resource_id: alarm.timeline.paged_s or alarm.timeline.opened_s
            for resource_id, alarm in alarm_of.items()
        },
    )


def _is_ours(alarm: Alarm, snapshot: UnitSnapshot) -> bool:
    """True if it is of this shard. The mass alarms of a shard that is no more are the first's."""
    shard = snapshot.shard
    if alarm.kind == LISTING:
        return shard.number == 1
    if alarm.kind != MASS:
        return shard.owns(alarm.resource_id)
    parts = {part_name(snapshot.unit, sibling) for sibling in shards_of(shard.count)}
    part = part_of(alarm.resource_id)
    return part == part_name(snapshot.unit, shard) or (shard.number == 1 and part not in parts)


def _is_any_raised(alarms: Iterable[Alarm]) -> bool:
    return any(alarm.state != "OK" for alarm in alarms)


def _is_over(alarm: Alarm, now: float) -> bool:
    return alarm.state == "OK" and now - alarm.state_since >= QUIET_S
