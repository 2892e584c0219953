"""The words that on-call reads: one brief as text, as a chat message and for programs."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING

from burstwatch.words import clock_time, span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from burstwatch.brief import Brief
    from burstwatch.fixes import Fix
    from burstwatch.links import Links
    from burstwatch.policy import Verdict

#: CloudWatch's limit for a description, in characters.
DESCRIPTION_LENGTH = 1024
NAME_LENGTH = 32
#: So many of the worst are named in the alarm that stands for many.
NAMED_IN_MASS = 10
#: The chat client cuts longer ones off.
TITLE_LENGTH = 250
CHAT_LENGTH = 8_000
#: Letters that are written from right to left, and would turn the words around them.
RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
ISOLATE, END_ISOLATE = "\u2068", "\u2069"
LIKE_LESS, LIKE_GREATER = "\u2039", "\u203a"


def alarm_description(brief: Brief, links: Links) -> str:
    """What is happening, what to do and what it means, most important first.

    Everything that does not fit is left out whole, the least important first; the links stay.
    """
    name = label(brief)
    first = f"{name} ({brief.type}): {brief.outlook}."
    sentences = [
        first,
        *([f"Do: {'; or '.join(_fix(fix, brief) for fix in brief.fixes)}."] if brief.fixes else []),
        *_sentences(brief.at_zero, _titled("cause", brief.cause), brief.since, brief.place),
        *_sentences(brief.data, _titled("why", brief.reason)),
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


def mass_chat_message(
    worst: Sequence[Brief], count: int, where: str, severity: Verdict, links: Links
) -> str:
    """The same as a chat message."""
    unit = worst[0].unit if worst else ""
    title = f"{count} resources of {where} are {severity} at once"
    return _chat(
        title=title,
        lines=[f"{_chat_label(brief)} ({brief.type}): {brief.outlook}" for brief in worst],
        steps=["Look for one cause: a deployment, a backup, a shared job"],
        runbook=links.runbook("mass"),
        links=links,
        keywords=[severity, "mass"],
        thread=f"{unit}/mass",
        event="mass",
        resources=[brief.resource_id for brief in worst],
        context={"verdict": severity, "count": str(count), "unit": unit},
    )


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
            kept.append(_cut(sentence, room))
    return " ".join([*kept, end]) if end else " ".join(kept)


def chat_message(brief: Brief, links: Links) -> str:
    """The event in the schema that chat clients take (custom notification 1.0), as JSON.

    https://docs.aws.amazon.com/chatbot/latest/adminguide/custom-notifs.html
    """
    facts = (_titled("cause", brief.cause), brief.since, brief.place, brief.data)
    lines = [
        f"{_chat_label(brief)} ({brief.type}): {brief.outlook}",
        *(f"*{_capital(line)}*" for line in [brief.at_zero] if line),
        *(_capital(line) for line in facts if line),
        _defused(_capital(_titled("why", brief.reason))),
        *(f"Note: {_defused(caveat)}" for caveat in brief.caveats),
    ]
    return _chat(
        title=f"{_capital(brief.verdict)}: {label(brief)}",
        lines=lines,
        steps=[_capital(_fix(fix, brief)) for fix in brief.fixes],
        runbook=links.runbook(runbook_of(brief)),
        links=links,
        keywords=[brief.verdict, brief.kind],
        thread=f"{brief.unit}/{brief.resource_id}",
        event="episode",
        resources=[brief.resource_id],
        context=machine_context(brief),
    )


def recovery_chat_message(
    brief: Brief | None, resource_id: str, unit: str, *, since: float, at: float, links: Links
) -> str:
    """The end of an episode. Without a brief the resource itself is no longer there."""
    name = label(brief) if brief else resource_id
    shown = f"{_chat_label(brief)} ({brief.type})" if brief else resource_id
    what = "no longer in danger" if brief else "deleted, or no longer watched"
    lines = [f"{shown}: {what}; its alarm of {clock_time(since)} is gone after {span(at - since)}"]
    lines += [_defused(_capital(_titled("now", brief.reason)))] if brief else []
    return _chat(
        title=f"Recovered: {name}" if brief else f"Gone: {name}",
        lines=lines,
        steps=[],
        runbook=links.runbook("resource-critical"),
        links=links,
        keywords=["recovered", *([brief.kind] if brief else [])],
        thread=f"{unit}/{resource_id}",
        event="recovery",
        resources=[resource_id],
        context=machine_context(brief) if brief else {"unit": unit},
    )


def _chat(  # noqa: PLR0913 - the schema's own fields
    *,
    title: str,
    lines: Sequence[str],
    steps: Sequence[str],
    runbook: str,
    links: Links,
    keywords: Sequence[str],
    thread: str,
    event: str,
    resources: Sequence[str],
    context: Mapping[str, str],
) -> str:
    dashboard = [f"Dashboard: {links.dashboard}"] if links.dashboard else []
    return json.dumps(
        {
            "version": "1.0",
            "source": "custom",
            "content": {
                "textType": "client-markdown",
                "title": _cut(_defused(title), TITLE_LENGTH),
                "description": _cut("\n".join([*lines, *dashboard]), CHAT_LENGTH),
                "nextSteps": [*steps, f"Runbook: {runbook}"],
                "keywords": list(keywords),
            },
            "metadata": {
                "threadId": thread,
                "summary": _cut(_defused(title), TITLE_LENGTH),
                "eventType": f"burstwatch.{event}",
                "relatedResources": list(resources),
                "additionalContext": dict(context),
            },
        },
        ensure_ascii=False,
    )


def machine_context(brief: Brief) -> dict[str, str]:
    """What programs read: the numbers behind the words, and what to do. Absent is not known."""
    found = {
        **brief.numbers,
        "kind": brief.kind,
        "unit": brief.unit,
        "cause": brief.cause,
        "fixes": json.dumps(
            [
                {"what": fix.what, "effect": fix.effect, "usd_month": fix.usd_month}
                for fix in brief.fixes
            ]
        ),
    }
    return {name: value for name, value in found.items() if value}


def runbook_of(brief: Brief) -> str:
    """Which runbook belongs to it."""
    return "resource-warning" if brief.verdict == "warning" else "resource-critical"


def label(brief: Brief) -> str:
    """Name tag and id. The tag is somebody's free text: one line of printable characters."""
    name = _plain_name(brief.name)
    return f"{name} {brief.resource_id}" if name else brief.resource_id


def _plain_name(name: str) -> str:
    """Printable, short, and in a frame of its own where it is written from right to left."""
    text = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    text = _cut(text, NAME_LENGTH)
    if any(unicodedata.bidirectional(c) in RIGHT_TO_LEFT for c in text):
        return f"{ISOLATE}{text}{END_ISOLATE}"
    return text


def _chat_label(brief: Brief) -> str:
    """The same where markdown is read: the tag stands as code, in which nothing is formatted."""
    name = _defused(_plain_name(brief.name)).replace("`", "'")
    return f"`{name}` {brief.resource_id}" if name else brief.resource_id


def _defused(text: str) -> str:
    """Without what a chat client takes for a link or a mention, in signs that look alike."""
    return text.replace("<", LIKE_LESS).replace(">", LIKE_GREATER)


def _fix(fix: Fix, brief: Brief) -> str:
    if fix.usd_month is None:
        price = f"price in {brief.prices_of} not known here"
    elif fix.usd_month == 0:
        price = "no cost"
    else:
        price = f"{abs(fix.usd_month):,.2f} USD a month {'less' if fix.usd_month < 0 else 'more'}"
    return f"{fix.what} ({price}; {fix.effect})"


def _sentences(*texts: str) -> list[str]:
    return [f"{_capital(text)}." for text in texts if text]


def _titled(title: str, text: str) -> str:
    return f"{title}: {text}" if text else ""


def _capital(text: str) -> str:
    """The beginning of a sentence, but never of a name such as gp3."""
    is_name = any(c.isdigit() for c in text.partition(" ")[0])
    return text if is_name else text[:1].upper() + text[1:]


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
