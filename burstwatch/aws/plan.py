"""Plans the alarms of a sweep: compares those that should exist with those that exist.

Nothing is remembered between sweeps: what alarms there are is asked, not assumed. At its
end an alarm is told what is less until it has been OK for two minutes, so that a pager
sees the recovery, and only then is it deleted. From ``mass_from`` resources in danger at
once there is one alarm for them all and no new one for each; none that exists is taken
away for that, as its OK would be false.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from burstwatch.aws.alarms import Alarm
from burstwatch.aws.look import Look
from burstwatch.aws.names import ALARM_PERIOD_S, ALARMED, DRILL, MASS, part_name
from burstwatch.config import Config
from burstwatch.forecast.judge import BACK_RATIO
from burstwatch.forecast.policy import SEVERITY, Assessment
from burstwatch.history.observations import Resource, Verdict
from burstwatch.messages.message import NAMED_IN_MASS
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

    ``severities`` are to be published by (kind, resource id), before ``mass`` and
    ``create`` are made: severities that get a mass alarm, and resource ids with the
    severity that each has reached. ``announced`` are those that already have an alarm.
    ``crowd`` are the resources in danger by severity, the worst first. ``rewrite`` are alarms
    that are to tell what has happened since, before the severities are published: an OK must not
    repeat the danger. ``delete`` are names; ``over`` has the alarms of a resource that are
    all deleted now.
    ``there`` are the alarms of each resource, by its id.
    """

    there: Mapping[str, tuple[Alarm, ...]]
    severities: Mapping[tuple[str, str], int]
    mass: tuple[Verdict, ...]
    crowd: Mapping[Verdict, tuple[str, ...]]
    create: tuple[tuple[str, Verdict], ...]
    rewrite: tuple[tuple[Alarm, Timeline], ...]
    delete: tuple[str, ...]
    over: Mapping[str, tuple[Alarm, ...]]
    postponed: int
    announced: frozenset[str]

    def named(self, severity: Verdict) -> tuple[str, ...]:
        """Those whom the mass alarm of a severity names."""
        return self.crowd[severity][:NAMED_IN_MASS]


@dataclass(kw_only=True)
class _Draft:
    severities: dict[tuple[str, str], int] = field(default_factory=dict)
    crowd: dict[Verdict, list[str]] = field(default_factory=lambda: {one: [] for one in ALARMED})
    quiet: dict[Verdict, int] = field(default_factory=lambda: dict.fromkeys(ALARMED, 0))
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
        if there and len(ended) == len(there) and there[0].kind not in {MASS, DRILL}:
            self.over[there[0].resource_id] = there


def plan_alarms(found: Look, alarms: Iterable[Alarm], config: Config, *, now: float) -> AlarmPlan:
    """Compare what should be with what is.

    An *unknown* resource is left exactly as it is: nothing published, nothing
    deleted. A resource that is gone ends its alarm only if the inventory is whole, and
    others before it lacked it too.
    """
    by_resource: dict[str, list[Alarm]] = {}
    own_mass = part_name(found.unit, found.shard)
    for alarm in alarms:
        if _is_ours(alarm, found):
            key = MASS if alarm.resource_id == own_mass else alarm.resource_id
            by_resource.setdefault(key, []).append(alarm)
    alarms_there = {resource_id: tuple(some) for resource_id, some in by_resource.items()}
    mass_there = by_resource.pop(MASS, [])
    draft, raised = _Draft(), list[str]()
    for resource, assessment in sorted(found.assessments.values(), key=urgency):
        there = by_resource.pop(resource.id, [])
        raised += [resource.id] if _is_any_raised(there) else []
        if assessment.verdict == "unknown":
            continue
        severity = SEVERITY[assessment.verdict]
        if _is_unsure(resource, assessment, found, config):
            raised_to = [SEVERITY[alarm.severity] for alarm in there if alarm.state != "OK"]
            severity = max(severity, *raised_to, 0)
        if severity >= SEVERITY["warning"] or there:
            draft.severities[resource.kind, resource.id] = severity
        reached = next((one for one in ALARMED if severity >= SEVERITY[one]), None)
        # In a maintenance window nothing new is said; what was said before stays true.
        if reached is not None and resource.id in found.quiet:
            draft.quiet[reached] += 1
        elif reached is not None:
            draft.crowd[reached].append(resource.id)
            if reached not in {alarm.severity for alarm in there}:
                draft.create.append((resource.id, reached))
        # What becomes empty in a maintenance window is told when that ends.
        told = min(severity, SEVERITY["critical"]) if resource.id in found.quiet else severity
        draft.update(there, told, now)
        draft.end(there, severity, now)
    _plan_orphans(draft, found, by_resource.values(), now=now)
    mass = _plan_mass(draft, found, mass_there, config, now=now)
    draft.postpone(max(1, MOST_REWRITTEN // found.shard.count))
    most_new = MOST_NEW_ALARMS // found.shard.count
    return AlarmPlan(
        there=alarms_there,
        severities=draft.severities,
        mass=mass,
        crowd={one: tuple(ids) for one, ids in draft.crowd.items()},
        create=tuple(draft.create[:most_new]),
        rewrite=tuple(draft.rewrite),
        delete=tuple(draft.delete),
        over=draft.over,
        postponed=max(0, len(draft.create) - most_new),
        announced=frozenset(found.assessments) if _is_any_raised(mass_there) else frozenset(raised),
    )


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
        if not kind or is_under_way:
            continue
        # A function that is started anew for each sweep never has inventories enough to be sure.
        is_old = now - min(alarm.timeline.opened_s for alarm in some) > SURELY_GONE_S
        if kind not in found.incomplete and (kind not in found.unsettled or is_old):
            draft.severities[kind, some[0].resource_id] = 0
            if kind != DRILL:  # its words are true at its end as well
                draft.update(some, 0, now)
            draft.end(some, 0, now)


def _plan_mass(
    draft: _Draft, found: Look, there: Iterable[Alarm], config: Config, *, now: float
) -> tuple[Verdict, ...]:
    """The mass alarms to make. It begins with ``mass_from`` resources and ends with half of them.

    Those that could be judged before and cannot be now may still be in danger: with them
    it is held as it is. What AWS publishes nothing of holds nothing. Each shard of a unit
    has its own, from its share of the number on.
    """
    share = max(config.mass_from / found.shard.count, min(FEWEST_IN_MASS, config.mass_from))
    known = {alarm.severity: alarm for alarm in there}
    lost = sum(
        a.verdict == "unknown" and r.bucket is not None and a.projection.is_published
        for r, a in found.assessments.values()
    )
    on: list[Verdict] = []
    held: list[Verdict] = []
    for severity in ALARMED:
        count, alarm = len(draft.crowd[severity]), known.get(severity)
        is_raised = alarm is not None and alarm.state != "OK"
        # A window that opens makes nobody well, and begins nothing.
        still = count + draft.quiet[severity]
        if still >= share / 2 if is_raised else count >= share:
            on.append(severity)
        elif is_raised and (found.incomplete or still + lost >= share / 2):
            held.append(severity)
    lasting = {*on, *held}
    draft.create = [one for one in draft.create if one[1] not in lasting]
    if on or (known and not held):
        severity_now = max((SEVERITY[one] for one in lasting), default=0)
        draft.severities[MASS, part_name(found.unit, found.shard)] = severity_now
        draft.update(tuple(known.values()), severity_now, now)
        draft.end(known.values(), severity_now, now)
    return tuple(one for one in on if one not in known)


def _is_ours(alarm: Alarm, found: Look) -> bool:
    """Whether it is of this shard. The mass alarm of a shard that is no more is the first's."""
    shard = found.shard
    if alarm.kind != MASS:
        return shard.owns(alarm.resource_id)
    parts = {part_name(found.unit, one) for one in shards_of(shard.count)}
    return alarm.resource_id == part_name(found.unit, shard) or (
        shard.number == 1 and alarm.resource_id not in parts
    )


def _is_any_raised(alarms: Iterable[Alarm]) -> bool:
    return any(alarm.state != "OK" for alarm in alarms)


def _is_over(alarm: Alarm, now: float) -> bool:
    return alarm.state == "OK" and now - alarm.state_since >= QUIET_S
