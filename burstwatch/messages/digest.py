"""Writes the digest of a week: what happened, what watching cost, and which changes would help most."""

from collections.abc import Iterator, Sequence

from burstwatch.config import Links
from burstwatch.fixes.surplus import DayCharge
from burstwatch.formatting import DAY, plain_name, span, usd
from burstwatch.messages.episode import Episode
from burstwatch.messages.message import NO_ACTION, Message, Step, links_of
from burstwatch.messages.silence import Silence, overdue_words

#: A page was false by our own count where the bucket was never empty nor under this share.
FALSE_ABOVE = 0.2
#: A near miss is an episode that fell under this share and was never empty.
NEAR_MISS_BELOW = 0.1
MOST_CHANGES = 3
MOST_SILENCES = 5


def digest_message(  # noqa: PLR0913 - all that is counted in a week
    episodes: Sequence[Episode],
    *,
    deployment: str,
    lasts_s: float,
    requests_usd: float | None,
    charges: Sequence[DayCharge],
    silences: Sequence[Silence],
    not_watched: float,
    fixed_usd: float,
    is_of_one_function: bool,
    links: Links,
    at: float,
) -> Message:
    """The digest of the closed ``episodes`` of the last ``lasts_s`` before ``at``.

    ``requests_usd`` is the list price of what was asked for, None where it is not known, ``charges`` what AWS has
    charged for surplus credits, ``silences`` those that somebody should look at again, and ``fixed_usd`` that of the deployment itself, or of one with one function.
    """
    deployed = "a deployment with one function" if is_of_one_function else "the deployment"
    days = f"{lasts_s / DAY:.0f} days"
    ran_out = [episode for episode in episodes if episode.was_empty]
    without_s = sum(episode.at_zero_s or 0.0 for episode in episodes)
    paged = [episode for episode in episodes if episode.paged_s is not None]
    requests_cost = "not known" if requests_usd is None else f"{requests_usd:.2f} USD"
    return Message(
        event="digest",
        title=f"DIGEST {deployment}, {days}: {_count(len(episodes), 'episode')}, {len(ran_out)} ran out of credits",
        actions=_top_fixes(episodes),
        facts=(
            f"Without credits: {span(without_s)} in all, in {_count(len(ran_out), 'episode')}",
            f"Pages: {len(paged)}, of them {sum(map(is_false_page, episodes))} false (never under {FALSE_ABOVE:.0%})",
            f"Near misses: {sum(map(is_near_miss, episodes))} (under {NEAR_MISS_BELOW:.0%}, did not run out)",
            *_surplus(charges),
            *(
                [f"Not watched: {not_watched:.0f} resources, `burstwatch scan` says why"]
                if not_watched
                else []
            ),
            *(
                [f"Silenced by a tag: {overdue_words(silences, named=MOST_SILENCES)}"]
                if silences
                else []
            ),
            f"Cost of watching: {requests_cost} for metric requests, {fixed_usd:.2f} USD for {deployed} (list prices)",
            "Open episodes are not counted: `burstwatch episodes` lists them",
        ),
        links=links_of("", links, at=at),
        keywords=("digest",),
        thread=f"{deployment}/digest",
        resources=tuple(dict.fromkeys(episode.resource_id for episode in episodes)),
    )


def _surplus(charges: Sequence[DayCharge]) -> Iterator[str]:
    """Say what AWS has charged for surplus credits, and of which resources the most; nothing where it has not."""
    if not charges:
        return
    names: dict[tuple[str, str], str] = {}
    usd_by_resource: dict[tuple[str, str], float] = {}
    unpriced: set[tuple[str, str]] = set()
    for charge in charges:
        resource = (charge.unit, charge.resource_id)
        names[resource] = plain_name(charge.name) or charge.resource_id
        if charge.usd is None:
            unpriced.add(resource)
        else:
            usd_by_resource[resource] = usd_by_resource.get(resource, 0.0) + charge.usd
    dearest = sorted(usd_by_resource, key=lambda key: -usd_by_resource[key])[:MOST_CHANGES]
    most = ", ".join(f"{names[key]} {usd(usd_by_resource[key])}" for key in dearest)
    sums = [f"{usd(sum(usd_by_resource.values()))} USD ({most})"] if dearest else []
    if unpriced:
        sums += [f"{_count(len(unpriced), 'resource')} at a price that is not known here"]
    yield f"Surplus CPU credits that AWS charged for: {' and '.join(sums)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def is_false_page(episode: Episode) -> bool:
    """True if somebody was paged and the bucket stayed far from empty. What is not known is not."""
    is_far = episode.lowest_ratio is not None and episode.lowest_ratio >= FALSE_ABOVE
    return episode.paged_s is not None and not episode.was_empty and is_far


def is_near_miss(episode: Episode) -> bool:
    """True if the bucket was nearly empty, and never was."""
    is_near = episode.lowest_ratio is not None and episode.lowest_ratio < NEAR_MISS_BELOW
    return not episode.was_empty and is_near


def _top_fixes(episodes: Sequence[Episode]) -> tuple[Step, ...]:
    """The changes that would help most: for the resources longest without credits, then for those most often in danger."""
    by_resource: dict[tuple[str, str], list[Episode]] = {}
    for episode in episodes:
        if episode.fix:
            by_resource.setdefault((episode.unit, episode.resource_id), []).append(episode)

    def weight(group: Sequence[Episode]) -> tuple[float, int]:
        return sum(episode.at_zero_s or 0.0 for episode in group), len(group)

    worst = sorted(by_resource.values(), key=weight, reverse=True)[:MOST_CHANGES]
    if not worst:
        return (NO_ACTION,)
    return (
        Step("", "Top fixes:"),
        *(
            Step(
                "",
                f"{number}. {plain_name(group[-1].name) or group[-1].resource_id} ({group[-1].resource_id}, "
                f"{_count(len(group), 'episode')}): {group[-1].fix}",
            )
            for number, group in enumerate(worst, 1)
        ),
    )
