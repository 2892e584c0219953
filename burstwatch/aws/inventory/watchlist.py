"""Apply the owners' tags: who is left out, who has a lead of its own, who is in maintenance or snoozed."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from burstwatch.config import Config
from burstwatch.formatting import clock_time
from burstwatch.history.observations import Resource
from burstwatch.messages.silence import Silence
from burstwatch.owner_tags import Snooze, Window, parse_windows, quiet_until, read_owner_tags
from burstwatch.shards import Problem


@dataclass(frozen=True, kw_only=True)
class Watchlist:
    """The resources to watch, by their owners' tags. An invalid tag is a problem.

    ``windows`` are the maintenance windows of those that have some, and ``snoozes`` the
    snoozes, by id. ``unwatched`` are those that are left out, by id with their name.
    """

    resources: tuple[Resource, ...]
    windows: Mapping[str, tuple[Window, ...]]
    snoozes: Mapping[str, Snooze]
    unwatched: Mapping[str, str]
    problems: tuple[Problem, ...]

    def now(self, config: Config, now: float) -> tuple[tuple[Resource, ...], Mapping[str, str]]:
        """The resources as they are now, and why no new alarm is made for some of them, by id."""
        for_all = quiet_until(parse_windows(config.maintenance), now)
        ends: dict[str, float] = {} if for_all is None else {r.id: for_all for r in self.resources}
        for resource_id, windows in self.windows.items():
            until = quiet_until(windows, now)
            if until is not None:
                ends[resource_id] = max(until, ends.get(resource_id, until))
        notes = {
            resource_id: f"in maintenance until {clock_time(end, now=now)}, no new alarm is made"
            for resource_id, end in ends.items()
        }
        for resource_id, snooze in self.snoozes.items():
            if snooze.until_s > now:
                notes[resource_id] = snooze.note(now)
        if not notes:
            return self.resources, notes
        return tuple(_quiet(r, notes) for r in self.resources), notes

    def silences(self, now: float) -> Iterator[Silence]:
        """Yield what a tag keeps from alarms now."""
        for resource_id, name in self.unwatched.items():
            yield Silence(resource_id=resource_id, name=name, until_s=None)
        names = {resource.id: resource.name for resource in self.resources}
        for resource_id, snooze in self.snoozes.items():
            if snooze.until_s > now:
                yield Silence(
                    resource_id=resource_id, name=names[resource_id], until_s=snooze.until_s
                )


def make_watchlist(resources: Iterable[Resource]) -> Watchlist:
    """Apply the owners' tags to the resources."""
    kept: list[Resource] = []
    windows: dict[str, tuple[Window, ...]] = {}
    snoozes: dict[str, Snooze] = {}
    unwatched: dict[str, str] = {}
    problems: dict[Problem, None] = {}
    for resource in resources:
        owner = read_owner_tags(resource.tags)
        for tag, why in owner.refused.items():
            problems[Problem(part=f"tag {tag} of {resource.id}", error=why)] = None
        if not owner.watch:
            unwatched[resource.id] = resource.name
            continue
        if owner.windows:
            windows[resource.id] = owner.windows
        if owner.snooze is not None:
            snoozes[resource.id] = owner.snooze
        notes = [f"tag {tag} {why}" for tag, why in owner.refused.items()]
        if notes or owner.lead_s is not None:
            caveats = (*resource.words.caveats, *notes)
            kept.append(
                replace(
                    resource, words=replace(resource.words, caveats=caveats), lead_s=owner.lead_s
                )
            )
        else:
            kept.append(resource)
    return Watchlist(
        resources=tuple(kept),
        windows=windows,
        snoozes=snoozes,
        unwatched=unwatched,
        problems=tuple(problems),
    )


def _quiet(resource: Resource, notes: Mapping[str, str]) -> Resource:
    if resource.id not in notes:
        return resource
    return replace(
        resource,
        words=replace(resource.words, caveats=(*resource.words.caveats, notes[resource.id])),
    )
