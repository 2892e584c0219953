"""The owners' wishes, heeded: who is left out, who has a lead of its own, who must be quiet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from burstwatch.aws.session import Problem
from burstwatch.wishes import parse_windows, quiet_until, read_wishes
from burstwatch.words import clock_time

if TYPE_CHECKING:
    from collections.abc import Iterable

    from burstwatch.config import Config
    from burstwatch.observe import Resource


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The resources to watch, with their wishes. A tag that is not understood is a problem."""

    resources: tuple[Resource, ...]
    quiet: frozenset[str]
    excluded: int
    problems: tuple[Problem, ...]


def heed(resources: Iterable[Resource], config: Config, now: float) -> Wanted:
    """Heed the tags of each, and the maintenance windows of all."""
    for_all = parse_windows(config.maintenance)
    kept: list[Resource] = []
    quiet: set[str] = set()
    excluded: set[str] = set()
    problems: dict[Problem, None] = {}
    for resource in resources:
        wishes = read_wishes(resource.tags)
        for tag, why in wishes.refused.items():
            problems[Problem(part=f"tag {tag} of {resource.id}", error=why)] = None
        if not wishes.watch:
            excluded.add(resource.id)
            continue
        until = quiet_until((*for_all, *wishes.windows), now)
        notes = [f"tag {tag} {why}" for tag, why in wishes.refused.items()]
        if until is not None:
            quiet.add(resource.id)
            notes.append(f"in maintenance until {clock_time(until)}, no new alarm is made")
        if notes or wishes.lead_s is not None:
            caveats = (*resource.caveats, *notes)
            kept.append(replace(resource, caveats=caveats, lead_s=wishes.lead_s))
        else:
            kept.append(resource)
    return Wanted(
        resources=tuple(kept),
        quiet=frozenset(quiet),
        excluded=len(excluded),
        problems=tuple(problems),
    )
