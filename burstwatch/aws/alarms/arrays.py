"""Groups the volumes of an array: equal ones of one host whose balances are alike, such as a RAID 0.

AWS does not know which volumes a host has joined to one. Those that are of one size and drain alike have one cause and
one repair, so one alarm tells of them all. The tags of the alarm say which volumes its page has named; none
joins later, as nobody would be paged for it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from burstwatch.aws.alarms.api import Alarm, id_fingerprint
from burstwatch.aws.alarms.mass import Crowd, GroupState, MassGroup, Sight, new_group
from burstwatch.aws.client.names import ALARMED, ARRAY, group_of, plain_part
from burstwatch.aws.look.snapshot import UnitSnapshot
from burstwatch.history.observations import Resource, Verdict
from burstwatch.polling.ranking import urgency
from burstwatch.shards import thing_id

#: Balances of an array's volumes are apart by no more than this share of a full bucket.
ALIKE = 0.05
FEWEST = 2
#: An alarm of volumes that one inventory lacks ends after so long, where no others can confirm it.
SURELY_GONE_S = 2 * 3_600.0


@dataclass(frozen=True, kw_only=True)
class Arrays:
    """The arrays that a look may show.

    ``names`` has that of the array that each volume could be of, by its id: its host, type and size. ``alike`` are the
    ids of those that have about as much left as the worst one of that name, which is one of several.
    """

    names: Mapping[str, str]
    alike: frozenset[str]

    def alike_of(self, name: str) -> list[str]:
        """The volumes of an array, the worst first."""
        return [
            volume_id
            for volume_id, of_array in self.names.items()
            if of_array == name and volume_id in self.alike
        ]


def find_arrays(snapshot: UnitSnapshot) -> Arrays:
    """Find the volumes of hosts that can be of one array. What is in maintenance has no part."""
    names: dict[str, str] = {}
    ratios: dict[str, dict[str, float]] = {}
    for resource, assessment in sorted(snapshot.assessments.values(), key=urgency):
        if not resource.parents or resource.id in snapshot.quiet:
            continue
        names[resource.id] = name = _name_of(resource)
        level = assessment.projection.level
        if level is not None and resource.can_spend:
            ratios.setdefault(name, {})[resource.id] = level.likely
    alike = (volume_id for by_id in ratios.values() for volume_id in _alike(by_id))
    return Arrays(names=names, alike=frozenset(alike))


def _name_of(resource: Resource) -> str:
    """The host, and what its volumes of this array are. A dot would end the name of a group."""
    type_ = plain_part(resource.words.facts.get("type", resource.kind)).replace(".", "-")
    return f"{ARRAY}{thing_id(resource.parents[0])}_{type_}"


def _alike(ratios: Mapping[str, float]) -> list[str]:
    """The ids of those with about as much left as the first, which is the worst; none where it is alone."""
    worst_ratio = next(iter(ratios.values()))
    alike = [volume_id for volume_id, ratio in ratios.items() if abs(ratio - worst_ratio) <= ALIKE]
    return alike if len(alike) >= FEWEST else []


def plan_arrays(
    crowds: Mapping[Verdict, Crowd],
    alarms: Iterable[Alarm],
    groups: Iterable[MassGroup],
    arrays: Arrays,
    sight: Sight,
    *,
    now: float,
) -> Iterator[MassGroup]:
    """Yield the arrays that go on, and the new ones. What the mass ``groups`` tell of is in none."""
    told = {
        (group.severity, volume_id)
        for group in groups
        if group.state != "over"
        for volume_id in group.resource_ids
    }
    by_severity: dict[Verdict, list[Alarm]] = {severity: [] for severity in ALARMED}
    for alarm in alarms:
        by_severity[alarm.severity].append(alarm)
    for severity in ALARMED:
        crowd = crowds[severity]
        going_on = [
            _going_on(alarm, crowd, arrays, sight, now=now) for alarm in by_severity[severity]
        ]
        yield from going_on
        taken = {group.name for group in going_on}
        untold = [id_ for id_ in crowd.untold if (severity, id_) not in told]
        for name in dict.fromkeys(arrays.names[id_] for id_ in untold if id_ in arrays.alike):
            members = [
                volume_id
                for volume_id in arrays.alike_of(name)
                if volume_id not in crowd.told_at and (severity, volume_id) not in told
            ]
            if len(members) >= FEWEST and name not in taken:
                yield new_group(name, severity, crowd, members)


def _going_on(alarm: Alarm, crowd: Crowd, arrays: Arrays, sight: Sight, *, now: float) -> MassGroup:
    """The array of an alarm that is there. While that is over and not deleted, it can begin anew, as that of one volume does."""
    name = group_of(alarm.resource_id)
    # Its volumes could not be read, or nobody has written them: then none of that name is told apart from it.
    unread = [volume_id for volume_id, of_array in arrays.names.items() if of_array == name]
    members = alarm.members or frozenset(map(id_fingerprint, unread))
    present = tuple(id_ for id_ in crowd.resource_ids if id_fingerprint(id_) in members)
    lost = members & {id_fingerprint(id_) for id_ in sight.lost}
    is_old = now - alarm.timeline.opened_s > SURELY_GONE_S
    if not (sight.is_whole and (sight.is_settled or is_old)):
        lost |= members - {id_fingerprint(id_) for id_ in sight.assessed}
    near = members & {id_fingerprint(id_) for id_ in arrays.alike_of(name)}
    state: GroupState = "over"
    if present:
        state = "on"
    elif lost or alarm.members is None:
        state = "held"
    stays = frozenset(map(id_fingerprint, present)) | lost | near
    return MassGroup(
        name=name,
        severity=alarm.severity,
        resource_ids=present if alarm.members else tuple(unread),
        # A volume that has recovered leaves the array: if it comes into danger again, that is news.
        members=alarm.members if state == "over" and alarm.members else stays,
        state=state,
        alarm=alarm,
    )
