"""Writes the messages of an episode: what happens and when, what to do now, then everything else.

A message has no format of its own. ``text.py`` makes the description of an alarm and the
e-mail of it and the JSON for chat clients and programs.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

from burstwatch.config import Links
from burstwatch.formatting import clock_time, cut, plain_name, span
from burstwatch.history.observations import Verdict
from burstwatch.messages.brief import Brief
from burstwatch.messages.timeline import Timeline

#: The event that a message tells.
Event: TypeAlias = Literal[
    "opened", "escalated", "empty", "recovered", "gone", "mass", "drill", "digest"
]
#: The runbook with a section for each kind, headed by the kind's name.
RUNBOOK_BY_KIND = "resource-critical"
#: With a longer one the first action would not be in the first 100 characters.
TITLE_NAME_LENGTH = 23
#: Number of the worst that are named where one message stands for many.
NAMED_IN_MASS = 10
#: Words for many resources with an alarm of a severity.
_ARE: Mapping[Verdict, str] = {"warning": "have a warning", "critical": "are critical"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message, the most important first.

    ``title`` says which resource, what and when, and ``where`` is the line below it: host, device,
    volume, type, account and region. ``actions`` begins with what to do now.
    ``facts`` are lines. ``links`` are pairs of a label and an address. ``thread`` keeps the
    messages of one resource together. ``context`` is for programs.
    """

    event: Event
    title: str
    where: str = ""
    actions: tuple[str, ...]
    facts: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...]
    timeline: Timeline | None = None
    keywords: tuple[str, ...]
    thread: str
    resources: tuple[str, ...]
    context: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def danger_message(brief: Brief, timeline: Timeline, links: Links, *, event: Event) -> Message:
    """A resource in danger: its alarm opened or escalated, or its bucket is empty."""
    is_empty = brief.verdict == "exhausted"
    headline = f"critical, {brief.headline}" if event == "escalated" else brief.headline
    return Message(
        event=event,
        title=f"{who(brief)}: {headline}",
        where=_where(brief),
        actions=actions([fix.text for fix in brief.fixes]),
        facts=_lines(
            ("Effect now" if is_empty else "At zero credits", brief.at_zero),
            ("Load" if is_empty else "Cause", brief.cause),
            # Whoever runs the command must know who may undo it.
            ("Note", brief.undone_by),
            ("Command", next((fix.command for fix in brief.fixes if fix.command), "")),
            ("Exceeded", brief.exceeded),
            ("Credits", brief.credits),
            ("Run out", brief.between),
            ("Data", brief.data),
            *(("Note", caveat) for caveat in brief.caveats),
            ("Snooze", _snooze(brief)),
        ),
        timeline=timeline,
        links=links_of(runbook_of(brief.verdict), links, brief, at=brief.at),
        keywords=(event, brief.verdict, brief.kind),
        thread=f"{brief.unit}/{brief.resource_id}",
        resources=(brief.resource_id,),
        context=machine_context(brief),
    )


def danger_title(brief: Brief) -> str:
    """Title of a danger: the resource, its id and when it runs out."""
    return f"{who(brief)} ({brief.resource_id}): {brief.headline}"


def over_message(
    brief: Brief | None,
    resource_id: str,
    unit: str,
    timeline: Timeline,
    links: Links,
    *,
    at: float,
    lowest_ratio: float | None = None,
    at_zero_s: float | None = None,
) -> Message:
    """An alarm that is over at ``at``. Without a brief the resource itself is no longer there."""
    clock = clock_time(at, now=at)
    if brief is None:
        title = f"{cut(resource_id, TITLE_NAME_LENGTH)}: deleted or no longer watched ({clock})"
    elif brief.verdict == "warning":
        title = f"{who(brief)}: no longer critical ({clock}), still a warning"
    else:
        title = f"{who(brief)}: {brief.ended_because or f'{brief.credit_name} recovered'} ({clock})"
    level = "" if lowest_ratio is None else f"never under {lowest_ratio:.0%}"
    if timeline.empty_s is not None:
        level = f"first empty at {clock_time(timeline.empty_s, now=at)}"
    if at_zero_s:
        level = f"{f'{level}, ' if timeline.empty_s else ''}empty for {span(at_zero_s)} in total"
    now = f"now {brief.credits}" if brief and brief.credits else ""
    return Message(
        event="recovered" if brief else "gone",
        title=title,
        where=_where(brief) if brief else f"Where: {resource_id}, {unit}",
        actions=actions(
            ["see its warning alarm" if brief and brief.verdict == "warning" else "nothing to do"]
        ),
        facts=_lines(
            ("Alarm", _lasted(timeline, at)),
            ("Credits", "; ".join(filter(None, (level, now)))),
            ("Data", brief.data if brief else ""),
        ),
        timeline=timeline,
        links=links_of("", links, brief, at=at),
        keywords=("recovered" if brief else "gone", *([brief.kind] if brief else [])),
        thread=f"{unit}/{resource_id}",
        resources=(resource_id,),
        context=machine_context(brief) if brief else {"unit": unit},
    )


def mass_message(  # noqa: PLR0913 - all that is said of a group
    worst: Sequence[Brief],
    count: int,
    *,
    where: str,
    unit: str,
    severity: Verdict,
    is_long_empty: bool,
    timeline: Timeline,
    links: Links,
    at: float,
) -> Message:
    """Many resources in danger: how many, and the worst of them. One cause is likely if they came into it together."""
    are = "have had no burst credits for hours" if is_long_empty else _ARE[severity]
    advice = "find the one cause (a deployment, a backup, a shared job) and stop it"
    if is_long_empty:
        advice = "give those that somebody needs more, or tag the others burstwatch:watch=no"
    return Message(
        event="mass",
        title=f"{count} resources {are} in {where} ({clock_time(at, now=at)})",
        where=f"{_where(worst[0])}, and others" if worst else f"Where: {where}",
        actions=actions([advice]),
        facts=(
            "A resource that comes into danger later has an alarm of its own.",
            f"Some of the {count}, the worst first:",
            *(f"{label(brief)} ({brief.type}): {brief.headline}" for brief in worst),
        ),
        timeline=timeline,
        links=links_of("mass", links, at=at),
        keywords=(severity, "mass"),
        thread=f"{unit}/mass",
        resources=tuple(brief.resource_id for brief in worst),
        context={"verdict": severity, "count": str(count), "unit": unit},
    )


def mass_over_message(
    where: str, unit: str, severity: Verdict, timeline: Timeline, links: Links, *, at: float
) -> Message:
    """The alarm that stands for many of a severity is over."""
    return Message(
        event="mass",
        title=f"Recovered: only few resources {_ARE[severity]} now in {where} ({clock_time(at, now=at)})",
        where=f"Where: {where}",
        actions=actions(["look at the resources that still have an alarm of their own"]),
        facts=_lines(("Alarm", _lasted(timeline, at))),
        timeline=timeline,
        links=links_of("mass", links, at=at),
        keywords=("recovered", "mass"),
        thread=f"{unit}/mass",
        resources=(),
    )


def listing_message(
    kind: str, why: str, unit: str, timeline: Timeline, links: Links, *, at: float
) -> Message:
    """A kind of resources that could never be listed in a unit; without ``why`` it can be now."""
    title = f"{kind}: not watched in {unit} ({clock_time(at, now=at)})"
    steps = [
        "allow the call to the function's role, or leave the kind out (settings kinds)",
    ]
    if not why:
        title = f"{kind}: can be listed now in {unit} ({clock_time(at, now=at)})"
        steps = ["nothing to do"]
    return Message(
        event="gone" if not why else "opened",
        title=title,
        where=f"Where: {kind}, {unit}",
        actions=actions(steps),
        facts=_lines(("Why", why)),
        timeline=timeline,
        links=links_of("parts-failed", links, at=at),
        keywords=("warning", kind),
        thread=f"{unit}/{kind}",
        resources=(kind,),
        context={"unit": unit, "kind": kind},
    )


def drill_message(drill_id: str, unit: str, deployment: str, links: Links, *, at: float) -> Message:
    """A fire drill, in which nothing is wrong."""
    return Message(
        event="drill",
        title=f"{drill_id}: a drill, nothing is wrong",
        where=f"Where: {unit}, deployment {deployment}",
        actions=actions(["nothing to do"]),
        facts=(
            f"This drill shows that alarms and messages of the deployment {deployment!r} reach you.",
            "The drill ends by itself some minutes after its start, and soon after an hour at the latest.",
        ),
        links=links_of("undelivered", links, at=at),
        keywords=("drill",),
        thread=f"{unit}/{drill_id}",
        resources=(drill_id,),
        context={"unit": unit},
    )


def runbook_of(verdict: Verdict) -> str:
    """The name of the runbook for a verdict."""
    return "resource-warning" if verdict == "warning" else RUNBOOK_BY_KIND


def who(brief: Brief) -> str:
    """Return the name of a resource for a title: its name tag, or its id."""
    return plain_name(brief.name, TITLE_NAME_LENGTH) or cut(brief.resource_id, TITLE_NAME_LENGTH)


def label(brief: Brief) -> str:
    """Name tag and id."""
    name = plain_name(brief.name)
    return f"{name} {brief.resource_id}" if name else brief.resource_id


def machine_context(brief: Brief) -> dict[str, str]:
    """The brief for programs: the numbers behind the words, and what to do. Absent is not known."""
    fixes = [
        {
            "what": fix.action,
            "effect": fix.effect,
            "takes": fix.takes,
            "usd_month": fix.usd_month,
            "command": fix.command,
        }
        for fix in brief.fixes
    ]
    context = {
        **brief.numbers,
        "kind": brief.kind,
        "unit": brief.unit,
        "cause": brief.cause,
        "fixes": json.dumps(fixes),
    }
    return {name: value for name, value in context.items() if value}


def actions(steps: Sequence[str]) -> tuple[str, ...]:
    """The steps as lines: the first for now, the others after it."""
    return tuple(
        f"{'Then' if number else 'Now'}: {step}"
        for number, step in enumerate(steps or ["follow the runbook"])
    )


def _lines(*facts: tuple[str, str]) -> tuple[str, ...]:
    return tuple(f"{name}: {text}" for name, text in facts if text)


def _lasted(timeline: Timeline, at: float) -> str:
    began, ended = clock_time(timeline.opened_s, now=at), clock_time(at, now=at)
    return f"from {began} to {ended} ({span(at - timeline.opened_s)})"


def _where(brief: Brief) -> str:
    """Host, device, volume, type, account and region."""
    return f"Where: {brief.resource_id} ({brief.type}), {brief.place}"


def _snooze(brief: Brief) -> str:
    region = brief.unit.rpartition("/")[2]
    return f"burstwatch snooze {brief.resource_id} 4h --reason TEXT --region {region}"


def links_of(
    runbook: str, links: Links, brief: Brief | None = None, *, at: float
) -> tuple[tuple[str, str], ...]:
    """The links of a message as pairs of a label and an address. Those that do not apply are left out."""
    section = f"#{brief.kind}" if brief and runbook == RUNBOOK_BY_KIND else ""
    addresses = {
        "Runbook": f"{links.runbook(runbook)}{section}" if runbook else "",
        "Dashboard": links.dashboard_of(brief.metric_id if brief else "", at),
        "Console": brief.console if brief else "",
        "Graph": brief.graph if brief else "",
    }
    return tuple((name, address) for name, address in addresses.items() if address)
