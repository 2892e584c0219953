"""Resources that a tag keeps from alarms, and which of them somebody should look at again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from burstwatch.formatting import DAY, plain_name

#: A silence that is older, or that ends later, is told of.
OLD_S, LONG_S = 7 * DAY, 30 * DAY
#: What each sweep of a day has logged is complete by the next day; an older list is no news.
NEWS_S = 2 * DAY
#: Of a part with more, so many are logged: half of them without an end, half snoozed. A line of the log takes 256 KiB.
MOST_LOGGED = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Silence:
    """A resource for which no new alarm is made: until then as unix seconds, or without an end (``burstwatch:watch=no``)."""

    resource_id: str
    name: str
    until_s: float | None

    @property
    def words(self) -> str:
        """The resource, and until when, with the year."""
        name = plain_name(self.name)
        resource = f"{name} ({self.resource_id})" if name else self.resource_id
        if self.until_s is None:
            return f"{resource} without an end"
        end = datetime.fromtimestamp(self.until_s, tz=UTC)
        return f"{resource} until {end.day} {end:%b} {end.year} {end:%H:%MZ}"


@dataclass(frozen=True, kw_only=True, slots=True)
class SilenceList:
    """All silences of one part of a deployment, as a sweep saw them: a unit, or a shard of one."""

    part: str
    at: float
    silences: tuple[Silence, ...]


def parse_list(record: Mapping[str, Any]) -> SilenceList:
    """The list in a line of the log.

    Raises:
        KeyError, TypeError, ValueError: if it is none.
    """
    return SilenceList(
        part=str(record["part"]),
        at=float(record["at"]),
        silences=tuple(Silence(**silence) for silence in record["silences"]),
    )


def longest_first(silences: Iterable[Silence]) -> tuple[Silence, ...]:
    """Each resource once, those without an end first, then those that end last."""
    by_id = {silence.resource_id: silence for silence in silences}
    in_order = sorted(
        by_id.values(),
        key=lambda silence: (
            silence.until_s is not None,
            -(silence.until_s or 0.0),
            silence.resource_id,
        ),
    )
    return tuple(in_order)


def logged(silences: Iterable[Silence]) -> tuple[Silence, ...]:
    """Those that are logged of a part, by short names: both kinds have room."""
    in_order = [
        replace(silence, name=plain_name(silence.name)) for silence in longest_first(silences)
    ]
    endless = [silence for silence in in_order if silence.until_s is None]
    snoozed = [silence for silence in in_order if silence.until_s is not None]
    half = MOST_LOGGED // 2
    most_endless = MOST_LOGGED - min(len(snoozed), half)
    return (*endless[:most_endless], *snoozed[: MOST_LOGGED - min(len(endless), most_endless)])


def overdue(lists: Iterable[SilenceList], *, now: float) -> tuple[Silence, ...]:
    """The silences of the newest list of each part that are older than a week, or end later than in thirty days."""
    since: dict[str, dict[str, float]] = {}
    newest: dict[str, SilenceList] = {}
    for listed in sorted(lists, key=lambda listed: listed.at):
        before = since.get(listed.part, {})
        since[listed.part] = {
            silence.resource_id: before.get(silence.resource_id, listed.at)
            for silence in listed.silences
        }
        newest[listed.part] = listed
    return longest_first(
        silence
        for part, listed in newest.items()
        if now - listed.at < NEWS_S
        for silence in listed.silences
        if _is_overdue(silence, since_s=since[part][silence.resource_id], now=now)
    )


def _is_overdue(silence: Silence, *, since_s: float, now: float) -> bool:
    lasts_s = None if silence.until_s is None else silence.until_s - now
    if lasts_s is not None and lasts_s <= 0:
        return False
    return now - since_s >= OLD_S or (lasts_s is not None and lasts_s > LONG_S)


def overdue_words(silences: Sequence[Silence], *, named: int) -> str:
    """How many resources have been silenced for long, and the first ``named`` of them."""
    names = "; ".join(silence.words for silence in silences[:named])
    more = len(silences) - named
    count = f"{len(silences)} resource{'' if len(silences) == 1 else 's'}"
    return f"{count} for more than a week, or until more than 30 days from now: {names}" + (
        f"; and {more} more" if more > 0 else ""
    )
