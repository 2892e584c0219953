"""What the alarms of a unit tell of each resource now: its own alarms, and those that stand for many."""

from collections.abc import Iterable

from burstwatch.aws.alarms.api import Alarm, id_fingerprint
from burstwatch.aws.client.names import MASS
from burstwatch.forecast.policy import SEVERITY


class Told:
    """The severities that alarms tell, by the id of the resource."""

    def __init__(self, alarms: Iterable[Alarm]) -> None:
        """``alarms`` are all of a unit."""
        self._own: dict[str, list[Alarm]] = {}
        self._mass: list[Alarm] = []
        for alarm in alarms:
            if alarm.kind == MASS:
                self._mass.append(alarm)
            else:
                self._own.setdefault(alarm.resource_id, []).append(alarm)

    def severity(self, resource_id: str) -> int:
        """The highest severity that is told of a resource; 0 where nothing is."""
        own = self._own.get(resource_id, ())
        severities = [SEVERITY[alarm.severity] for alarm in own if alarm.state != "OK"]
        for alarm in self._mass:
            members = alarm.members or frozenset()
            if alarm.timeline.over_s is None and id_fingerprint(resource_id) in members:
                severities.append(SEVERITY[alarm.severity])
        return max(severities, default=0)

    def severity_unless_ending(self, resource_id: str) -> int | None:
        """The same; None while one of its own alarms is over and is to be deleted."""
        is_ending = any(alarm.state == "OK" for alarm in self._own.get(resource_id, ()))
        return None if is_ending else self.severity(resource_id)
