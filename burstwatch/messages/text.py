"""Writes the text that on-call reads in an alarm."""

import unicodedata
from collections.abc import Sequence

from burstwatch.config import Links
from burstwatch.fixes import Fix
from burstwatch.history.observations import Verdict
from burstwatch.messages.brief import Brief

#: CloudWatch's limit for a description, in characters.
DESCRIPTION_LENGTH = 1024
NAME_LENGTH = 32
#: So many of the worst are named in the alarm that stands for many.
NAMED_IN_MASS = 10
#: Letters that are written from right to left, and would turn the words around them.
RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
ISOLATE, END_ISOLATE = "\u2068", "\u2069"


def alarm_description(brief: Brief, links: Links) -> str:
    """Write what is happening, what to do and what it means, most important first.

    Everything that does not fit is left out whole, the least important first; the links stay.
    """
    name = label(brief)
    first = f"{name} ({brief.type}): {brief.outlook}."
    sentences = [
        first,
        *(
            [f"Do: {'; or '.join(fix_text(fix, brief) for fix in brief.fixes)}."]
            if brief.fixes
            else []
        ),
        *_sentences(brief.at_zero, titled("cause", brief.cause), brief.since, brief.place),
        *_sentences(brief.data, titled("why", brief.reason)),
        *_sentences(*(f"note: {caveat}" for caveat in brief.caveats)),
    ]
    last = [f"Runbook: {links.runbook(runbook_of(brief))}"]
    last += [f"Dashboard: {links.dashboard}"] if links.dashboard else []
    return fit(sentences, last, DESCRIPTION_LENGTH)


def mass_description(
    worst: Sequence[Brief], count: int, where: str, severity: Verdict, links: Links
) -> str:
    """The alarm that stands for many: how many, the worst of them, and that one cause is likely."""
    sentences = [
        f"{count} resources of {where} are {severity} at once.",
        "Do: look for one cause (a deployment, a backup, a shared job).",
        "No further alarm is made for each while this one lasts.",
        "The worst:",
        *(f"{label(brief)} ({brief.type}): {brief.outlook}." for brief in worst),
    ]
    last = [f"Runbook: {links.runbook('mass')}"]
    last += [f"Dashboard: {links.dashboard}"] if links.dashboard else []
    return fit(sentences, last, DESCRIPTION_LENGTH)


def fit(sentences: Sequence[str], last: Sequence[str], length: int) -> str:
    """As many sentences as there is room for, with ``last`` at the end.

    Where one alone is too long it is cut, and never what comes before it.
    """
    end = " ".join(last)
    if len(end) > length // 2:  # links so long that they would crowd out the words
        end = ""
    room = length - (len(end) + 1 if end else 0)
    kept: list[str] = []
    for sentence in sentences:
        used = len(" ".join(kept)) + (1 if kept else 0)
        if used + len(sentence) <= room:
            kept.append(sentence)
        elif not kept:
            kept.append(cut(sentence, room))
    return " ".join([*kept, end]) if end else " ".join(kept)


def runbook_of(brief: Brief) -> str:
    """Which runbook belongs to it."""
    return "resource-warning" if brief.verdict == "warning" else "resource-critical"


def label(brief: Brief) -> str:
    """Name tag and id. The tag is somebody's free text: one line of printable characters."""
    name = plain_name(brief.name)
    return f"{name} {brief.resource_id}" if name else brief.resource_id


def plain_name(name: str) -> str:
    """Printable, short, and in a frame of its own where it is written from right to left."""
    text = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    text = cut(text, NAME_LENGTH)
    if any(unicodedata.bidirectional(c) in RIGHT_TO_LEFT for c in text):
        return f"{ISOLATE}{text}{END_ISOLATE}"
    return text


def fix_text(fix: Fix, brief: Brief) -> str:
    """Write one fix, with its price and its effect."""
    if fix.usd_month is None:
        price = f"price in {brief.prices_of} not known here"
    elif fix.usd_month == 0:
        price = "no cost"
    else:
        price = f"{abs(fix.usd_month):,.2f} USD a month {'less' if fix.usd_month < 0 else 'more'}"
    return f"{fix.what} ({price}; {fix.effect})"


def _sentences(*texts: str) -> list[str]:
    return [f"{capital(text)}." for text in texts if text]


def titled(title: str, text: str) -> str:
    """``title: text``, or nothing without a text."""
    return f"{title}: {text}" if text else ""


def capital(text: str) -> str:
    """The beginning of a sentence, but never of a name such as gp3."""
    is_name = any(c.isdigit() for c in text.partition(" ")[0])
    return text if is_name else text[:1].upper() + text[1:]


def cut(text: str, length: int) -> str:
    """At most ``length`` characters, with an ellipsis where something is left out."""
    return text if len(text) <= length else text[: length - 1] + "…"
