"""Groups resources that one mass alarm stands for: those that came into danger together, and those that have been empty for hours.

The tags of a mass alarm say which resources it stands for, so no sweep has to remember it. A
resource that comes into danger later is in no group: it is paged by its own name, however many
others are in danger.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from burstwatch.aws.alarms.api import Alarm, id_fingerprint
from burstwatch.aws.client.names import ALARMED, ARRAY, LONG_EMPTY, MANY_AT_ONCE, group_of
from burstwatch.forecast.policy import SEVERITY
from burstwatch.history.observations import Verdict

#: Seconds: resources that come into danger within this time of the first have risen together with it.
RISE_S = 600.0
#: Seconds: a resource that has been empty for this long is nothing new, and counts in no rise.
LONG_EMPTY_S = 3 * 3_600.0
#: ``new``: its alarm is to be made. ``on``: enough of it is in danger. ``held``: too little of it can
#: be judged to say so. ``over``: its alarm ends, and those that are left get alarms of their own.
GroupState: TypeAlias = Literal["new", "on", "held", "over"]


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """The resources of a look with one severity or a higher one, by what tells of them so far.

    ``resource_ids`` are all of them, the worst first. ``untold`` have no alarm of this severity
    of their own and are not in maintenance. ``told_at`` has when the alarms of the others were made, by id.
    """

    resource_ids: Sequence[str]
    untold: Sequence[str]
    told_at: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Sight:
    """Findings of a look on the members of groups, besides their danger.

    ``lost`` could be judged before and cannot be now. ``empty_since`` has when buckets became empty, by id.
    ``is_whole`` is whether everything was listed: only then does a member that is not there no longer exist; ``is_settled``
    whether it was listed often enough to be sure.
    """

    assessed: frozenset[str]
    lost: frozenset[str]
    empty_since: Mapping[str, float]
    is_whole: bool
    is_settled: bool


@dataclass(frozen=True, kw_only=True)
class MassGroup:
    """Resources that one mass alarm stands for.

    ``resource_ids`` are those of them that are in danger now, the worst first. ``members`` are the
    fingerprints of all. ``alarm`` is None for a new group.
    """

    name: str
    severity: Verdict
    resource_ids: tuple[str, ...]
    members: frozenset[str]
    state: GroupState
    alarm: Alarm | None = None

    @property
    def is_array(self) -> bool:
        """True if it stands for equal volumes of one host."""
        return self.name.startswith(ARRAY)

    @property
    def has_changed(self) -> bool:
        """True if its alarm's tags do not say who is in it."""
        if self.alarm is None or self.alarm.members is None:
            return False
        return self.alarm.members != self.members

    @property
    def has_grown(self) -> bool:
        """True if its alarm's text does not count all that are in it."""
        if self.alarm is None or not self.alarm.members:
            return False
        return self.state == "on" and not self.members <= self.alarm.members


def plan_groups(
    crowds: Mapping[Verdict, Crowd],
    alarms: Iterable[Alarm],
    sight: Sight,
    *,
    least: float,
    rise_s: float,
    now: float,
) -> list[MassGroup]:
    """The groups that go on, and the new ones: from ``least`` resources that came into danger within ``rise_s``.

    ``alarms`` are the mass alarms that there are. A group ends when less than half of ``least``
    of its resources are in danger, or may be.
    """
    groups: list[MassGroup] = []
    by_severity: dict[Verdict, list[Alarm]] = {severity: [] for severity in ALARMED}
    for alarm in alarms:
        by_severity[alarm.severity].append(alarm)
    for severity in ALARMED:
        groups += _plan_severity(
            severity,
            crowds[severity],
            by_severity[severity],
            sight,
            least=least,
            rise_s=rise_s,
            now=now,
        )
    return groups


def _plan_severity(
    severity: Verdict,
    crowd: Crowd,
    alarms: Sequence[Alarm],
    sight: Sight,
    *,
    least: float,
    rise_s: float,
    now: float,
) -> list[MassGroup]:
    """Plan the mass alarms of one severity: who joins an alarm that is open, and which new ones it takes."""
    untold = _without_members(crowd.untold, alarms)
    long_empty = [
        resource_id
        for resource_id in untold
        if severity == "critical" and _is_long_empty(resource_id, sight, now)
    ]
    are_long_empty = set(long_empty)
    risen = [resource_id for resource_id in untold if resource_id not in are_long_empty]
    groups: list[MassGroup] = []
    for alarm in alarms:
        joining: list[str] = []
        is_lasting = alarm.timeline.over_s is None
        if is_lasting and not alarm.members:
            # Nobody has written whom it stands for, or that cannot be read: then it stands for whoever has no other alarm.
            joining, long_empty, risen = [*long_empty, *risen], [], []
        elif is_lasting and now - alarm.timeline.opened_s <= rise_s:
            if group_of(alarm.resource_id).startswith(LONG_EMPTY):
                joining, long_empty = long_empty, []
            else:
                joining, risen = risen, []
        group = _going_on(alarm, crowd, joining, sight, least=least)
        if group.state == "over":  # those that would have joined it have no other alarm
            risen += joining
        groups.append(group)
    in_danger = set(crowd.resource_ids)
    told_lately = [
        resource_id
        for resource_id, told_s in crowd.told_at.items()
        if resource_id in in_danger and now - told_s <= rise_s
    ]
    taken = {group.name for group in groups}
    if long_empty and len(long_empty) >= least:
        groups.append(new_group(_free_name(LONG_EMPTY, taken), severity, crowd, long_empty))
    if risen and len(risen) + len(told_lately) >= least:
        members = [*risen, *told_lately]
        groups.append(new_group(_free_name(MANY_AT_ONCE, taken), severity, crowd, members))
    return groups


def _without_members(resource_ids: Iterable[str], alarms: Iterable[Alarm]) -> list[str]:
    """Return the resources that no lasting alarm stands for."""
    lasting = [alarm.members or () for alarm in alarms if alarm.timeline.over_s is None]
    members = {member for alarm_members in lasting for member in alarm_members}
    return [
        resource_id for resource_id in resource_ids if id_fingerprint(resource_id) not in members
    ]


def new_group(name: str, severity: Verdict, crowd: Crowd, members: Iterable[str]) -> MassGroup:
    """Make a new group of these members; those in danger are listed in the crowd's order."""
    ids = {*members}
    return MassGroup(
        name=name,
        severity=severity,
        resource_ids=tuple(resource_id for resource_id in crowd.resource_ids if resource_id in ids),
        members=frozenset(map(id_fingerprint, ids)),
        state="new",
    )


def _going_on(
    alarm: Alarm, crowd: Crowd, joining: Iterable[str], sight: Sight, *, least: float
) -> MassGroup:
    """The group of an alarm that is there, with those that are joining it."""
    if alarm.members is None:
        # Its members could not be read, so nobody is told that it is over.
        return MassGroup(
            name=group_of(alarm.resource_id),
            severity=alarm.severity,
            resource_ids=tuple(crowd.untold),
            members=frozenset(),
            state="held",
            alarm=alarm,
        )
    members = alarm.members | {id_fingerprint(resource_id) for resource_id in joining}
    present = tuple(
        resource_id for resource_id in crowd.resource_ids if id_fingerprint(resource_id) in members
    )
    lost = members & {id_fingerprint(resource_id) for resource_id in sight.lost}
    if not sight.is_whole:
        lost |= members - {id_fingerprint(resource_id) for resource_id in sight.assessed}
    state: GroupState = "over"
    if alarm.timeline.over_s is None and len(present) >= least / 2:
        state = "on"
    elif alarm.timeline.over_s is None and len(present) + len(lost) >= least / 2:
        state = "held"
    return MassGroup(
        name=group_of(alarm.resource_id),
        severity=alarm.severity,
        resource_ids=present,
        # A resource that has recovered leaves the group: if it comes into danger again, that is news.
        members=frozenset(map(id_fingerprint, present)) | lost,
        state=state,
        alarm=alarm,
    )


def _is_long_empty(resource_id: str, sight: Sight, now: float) -> bool:
    since_s = sight.empty_since.get(resource_id)
    return since_s is not None and now - since_s >= LONG_EMPTY_S


def _free_name(name: str, taken: set[str]) -> str:
    """The name, or the first ``name_2``, ``name_3`` ... that no group has."""
    number = 1
    while (free := name if number == 1 else f"{name}_{number}") in taken:
        number += 1
    return free


def severity_of(group: MassGroup) -> int:
    """The severity to publish for a group; 0 ends its alarm."""
    return 0 if group.state == "over" else SEVERITY[group.severity]
