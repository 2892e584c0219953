"""Planning a mass alarm of twice as many resources is twice the work."""

from typing import ClassVar

from burstwatch.aws.alarms.mass import LONG_EMPTY_S, Crowd, Sight, plan_groups
from tests.conftest import NOW


class CountedId(str):
    """A resource id that counts how often it is looked up, by any of its kind."""

    __slots__ = ()
    lookups: ClassVar[int] = 0

    def __hash__(self) -> int:
        CountedId.lookups += 1
        return super().__hash__()


def lookups(count: int) -> int:
    """How often ids are looked up for so many resources: a third was told lately, a third has been empty for hours."""
    ids = [CountedId(f"vol-{number:017x}") for number in range(count)]
    told, empty, risen = ids[::3], ids[1::3], ids[2::3]
    crowd = Crowd(
        resource_ids=ids, untold=[*empty, *risen], told_at=dict.fromkeys(told, NOW - 60.0)
    )
    sight = Sight(
        assessed=frozenset(ids),
        lost=frozenset(),
        empty_since=dict.fromkeys(empty, NOW - LONG_EMPTY_S),
        is_whole=True,
        is_settled=True,
    )
    CountedId.lookups = 0
    groups = plan_groups(
        {"critical": crowd, "warning": crowd}, [], sight, least=5.0, rise_s=600.0, now=NOW
    )
    assert sum(len(group.resource_ids) for group in groups if group.severity == "critical") == count
    return CountedId.lookups


def test_twice_as_many_resources_are_twice_as_many_lookups() -> None:
    assert lookups(800) < 2.5 * lookups(400)
