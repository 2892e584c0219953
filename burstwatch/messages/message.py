"""Writes the messages of an episode: who runs out when and with what effect, where, what to do, then the facts.

A message has no format of its own. ``text.py`` makes the description of an alarm and the
e-mail of it and the JSON for chat clients and programs.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import Literal, TypeAlias
from urllib.parse import urlencode

from burstwatch.config import Links
from burstwatch.fixes.fix import Fix
from burstwatch.formatting import (
    balance,
    clock_time,
    command_line,
    cut,
    hour_of,
    plain_name,
    shortened,
    span,
    unlinked,
)
from burstwatch.history.observations import Verdict
from burstwatch.messages.brief import Brief
from burstwatch.messages.episode import Episode
from burstwatch.messages.timeline import Timeline
from burstwatch.shards import thing_id

#: The event that a message tells.
Event: TypeAlias = Literal[
    "opened", "escalated", "empty", "recovered", "gone", "mass", "drill", "digest"
]
#: The runbook with a section for each kind, headed by the kind's name.
RUNBOOK_BY_KIND = "resource-critical"
#: The lock screen of a phone and the subject of an e-mail show this much.
TITLE_LENGTH = 90
#: Of a name that has to give way, this much stays in a title.
SHORTEST_NAME = 12
#: An id that AWS makes is never cut, so that it can be searched for: ``vol-`` and 17 digits.
LONGEST_ID = 21
#: So many volumes of an array are named in a message; its host tells the others.
MOST_IDS = 6
#: The dashboards in Grafana: of everything, of volumes, and of a resource of any other kind, with the variable that has its id.
FLEET_BOARD = "burstwatch-fleet"
BOARDS = {"ebs_volume": ("burstwatch-volume", "volume")}
OTHER_BOARD = ("burstwatch-resource", "resource")
#: How a line of what to do begins.
StepLabel: TypeAlias = Literal[
    "Do now",
    "Look at",
    "Do next",
    "Would help",
    "Ask its owner",
    "By day",
    "Note",
    "Command",
    "If agreed",
    "",
]
#: Credits are back from this share on. With less a resource can be out of danger too: it starts, or its load is over.
BACK_FROM = 0.05
#: Tags that say who owns something, in small letters, and how much of them a message has.
OWNER_KEYS, LONGEST_OWNER = frozenset({"owner", "team", "squad", "contact"}), 80
#: Number of the worst that are named where one message stands for many.
NAMED_IN_MASS = 10


@dataclass(frozen=True, slots=True)
class Step:
    """One line of what to do."""

    label: StepLabel
    text: str

    @property
    def line(self) -> str:
        """The line with its beginning."""
        return f"{self.label}: {self.text}" if self.label else self.text


#: The line of a message after which there is nothing to do.
NO_ACTION = Step("", "No action needed")


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message, the most important first.

    ``title`` has the severity, the time that is left, the resource and the effect, ``name`` the resource's name in it, and ``where`` is the line below it: host,
    device, volume, type, account and region. ``actions`` are lines that begin with what to do now.
    ``facts`` are lines. ``links`` are pairs of a label and an address. ``thread`` keeps the
    messages of one resource together. ``context`` is for programs.
    """

    event: Event
    title: str
    name: str = ""
    where: str = ""
    actions: tuple[Step, ...]
    facts: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...]
    timeline: Timeline | None = None
    keywords: tuple[str, ...]
    thread: str
    resources: tuple[str, ...]
    context: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def danger_message(
    brief: Brief, severity: Verdict, timeline: Timeline, links: Links, *, event: Event
) -> Message:
    """A resource in danger: its alarm of this severity opened or escalated, or its bucket is empty."""
    title = danger_title(brief, severity)
    name, at_zero = plain_name(brief.resource.name), brief.at_zero
    return Message(
        event=event,
        title=title,
        name=who(brief),
        where=_where(brief),
        actions=_actions(brief, severity),
        facts=_lines(
            ("Runs out", brief.between),
            ("Chance", brief.chance),
            ("Credits", "; ".join(filter(None, [brief.credits, _back(brief), brief.data]))),
            ("Load", brief.cause),
            ("At zero", at_zero.note if at_zero.short in title else at_zero.text),
            ("Exceeded", brief.exceeded),
            ("Owner", _owner(brief)),
            *(("Note", unlinked(caveat)) for caveat in brief.resource.words.caveats),
            ("Name", "" if name in title else name),
            ("Snooze", _snooze(brief)),
        ),
        timeline=timeline,
        links=links_of(runbook_of(severity, brief), links, brief, at=brief.at),
        keywords=(event, brief.verdict, brief.resource.kind),
        thread=f"{brief.resource.unit}/{brief.ids[0]}",
        resources=brief.ids,
        context=machine_context(brief),
    )


def _actions(brief: Brief, severity: Verdict) -> tuple[Step, ...]:
    """What to do, the soonest first, and the command for the one that has it.

    Whatever stops the resource is asked for first: nobody stops an instance for an alarm on its own. The note comes
    before the command: whoever runs it must know who may undo it.
    """
    never_pages = brief.resource.terms.highest_verdict == "warning"
    waits = severity == "warning" and not brief.has_run_out and not never_pages
    steps = [
        *_patience(waits=waits, never_pages=never_pages),
        *_steps_of(brief, waits=waits, never_pages=never_pages),
    ]
    note = ". ".join(filter(None, (brief.undone_by, _for_the_others(brief))))
    # Where nothing has to be done yet, nobody is handed a command that stops something.
    commands = (
        Step("If agreed" if fix.interrupts else "Command", fix.command)
        for fix in brief.fixes
        if fix.command and not (waits and fix.interrupts)
    )
    return (
        *(steps or [Step("Do now", "follow the runbook")]),
        *([Step("Note", note)] if note else []),
        *islice(commands, 1),
    )


def _patience(*, waits: bool, never_pages: bool) -> Iterator[Step]:
    """The line that nothing has to be done yet, where that is so."""
    if never_pages:
        yield Step("Do now", "nothing tonight")
    elif waits:
        yield Step("Do now", "nothing; a page follows if it gets worse")


def _steps_of(brief: Brief, *, waits: bool, never_pages: bool) -> Iterator[Step]:
    """A line for each fix, and behind less load where somebody sees who makes it."""
    at_night = (fix for fix in brief.fixes if not (fix.is_for_good or fix.interrupts))
    first = next(at_night, None)
    for fix in brief.fixes:
        yield Step(_label_of(fix, waits=waits or never_pages, is_first=fix is first), fix.text)
        if fix.is_less_load and not waits and not never_pages:
            yield Step("Look at", brief.spenders)


def _label_of(fix: Fix, *, waits: bool, is_first: bool) -> StepLabel:
    """How the line of a fix begins; ``waits`` where nothing has to be done yet."""
    if fix.is_for_good:
        return "By day"
    if fix.interrupts:
        return "Ask its owner"
    if waits:
        return "Would help"
    return "Do now" if is_first else "Do next"


def _back(brief: Brief) -> str:
    """When the credits of an empty bucket are back, where AWS publishes its size."""
    bucket = brief.resource.bucket
    if not brief.has_run_out or bucket is None or not brief.resource.terms.is_documented or not bucket.refill:  # fmt: skip
        return ""
    return f"half of them are back {span(bucket.capacity / 2 / bucket.refill)} after the load ends"


def _owner(brief: Brief) -> str:
    """Who owns the resource, by the tags that many people use for that."""
    tags = brief.resource.tags.items()
    named = (f"{key} {plain_name(value)}" for key, value in tags if key.lower() in OWNER_KEYS and value)  # fmt: skip
    return cut(", ".join(sorted(named)), LONGEST_OWNER)


def danger_title(brief: Brief, severity: Verdict) -> str:
    """Title of a danger: how severe, how long is left, whose credits, and what is left without them.

    A lock screen shows some forty characters.
    """
    is_critical = severity == "critical" or brief.verdict == "exhausted"
    shown = "CRITICAL" if is_critical else "WARNING"
    linked = "now" if brief.has_run_out else "then"
    is_known = brief.assessment.projection.state != "unknown"
    effect = f", {linked} {brief.at_zero.short}" if brief.at_zero.short and is_known else ""
    name = who(brief)
    if brief.left:
        return _title_of_time(brief, shown, effect)
    if len(f"{shown} {name}: {brief.says}{effect}") <= TITLE_LENGTH:
        return title_of(shown, name, f"{brief.says}{effect}")
    forms = _short_forms(brief, effect)
    room = TITLE_LENGTH - len(f"{shown} {name[: _shortest(brief)]}: ")
    # What is to come is never cut.
    return title_of(shown, name, next((form for form in forms if len(form) <= room), forms[-1]))


def _title_of_time(brief: Brief, shown: str, effect: str) -> str:
    """The title of credits that run out at this load: the name gives way first, then the kind of credits; what is to come never does."""
    projection = brief.assessment.projection
    empty_at = hour_of(projection.at + (projection.time_to_empty_s or 0.0))
    begin = f"{shown} {brief.left} left ({empty_at}): "
    ends = tuple(
        f"{noun}{effect}" for noun in (f" {brief.resource.words.credit_name}", " credits", "")
    )
    rooms = [TITLE_LENGTH - len(begin) - len(end) for end in ends]
    fitting = (n for n, room in enumerate(rooms) if room >= min(len(who(brief)), _shortest(brief)))
    chosen = next(fitting, len(ends) - 1)
    name = shortened(who(brief), max(rooms[chosen], SHORTEST_NAME))
    return cut(f"{begin}{name}{ends[chosen]}", TITLE_LENGTH)


def _shortest(brief: Brief) -> int:
    """How much of its name stays in a title that is too long: of an id of AWS all."""
    is_id = who(brief) == thing_id(brief.resource.id)
    return LONGEST_ID if is_id else SHORTEST_NAME


def _title(shown: str, brief: Brief, says: str) -> str:
    """The title of an end, in which an id of AWS stands whole."""
    return title_of(shown, who(brief), says, shortest=_shortest(brief))


def _short_forms(brief: Brief, effect: str) -> tuple[str, ...]:
    """What the credits do in fewer words, the longest first."""
    if brief.is_running_out:  # in more than a day
        return tuple(f"{begin} {brief.when}{effect}" for begin in ("out of credits", "credits out", "out"))  # fmt: skip
    return (f"credits {brief.headline}{effect}",)


def title_of(shown: str, name: str, says: str, *, shortest: int = SHORTEST_NAME) -> str:
    """A title that is not too long: a name gives way first, to ``shortest`` characters, and then the end."""
    room = TITLE_LENGTH - len(f"{shown} : {says}")
    return cut(f"{shown} {shortened(name, max(room, shortest))}: {says}", TITLE_LENGTH)


def over_message(
    brief: Brief | None,
    resource_id: str,
    unit: str,
    timeline: Timeline,
    links: Links,
    *,
    at: float,
    episode: Episode | None = None,
) -> Message:
    """An alarm that is over at ``at``. Without a brief the resource itself is no longer there.

    ``episode`` is what was measured of it, once all of its alarms are over.
    """
    at_zero_s = episode.at_zero_s if episode else None
    level = ""
    if episode and episode.lowest_ratio is not None:
        level = f"never under {balance(episode.lowest_ratio)}"
    if timeline.empty_s is not None:
        level = f"first empty at {clock_time(timeline.empty_s, now=at)}"
    if at_zero_s:
        level = f"{f'{level}, ' if timeline.empty_s else ''}empty for {span(at_zero_s)} in all"
    now = f"now {brief.credits}" if brief and brief.credits else ""
    is_warning = brief is not None and brief.verdict == "warning"
    return Message(
        event="recovered" if brief else "gone",
        title=_over_title(brief, resource_id, timeline, at=at, at_zero_s=at_zero_s),
        name=who(brief) if brief else resource_id,
        where=_where(brief) if brief else f"Where: {resource_id}, {unit}",
        actions=(Step("Do now", "follow its warning alarm") if is_warning else NO_ACTION,),
        facts=_lines(
            ("Alarm", _lasted(timeline, at)),
            ("Credits", "; ".join(filter(None, (level, now, brief.data if brief else "")))),
            ("To prevent a repeat", episode.fix if episode and not is_warning else ""),
        ),
        timeline=timeline,
        links=links_of("", links, brief, unit=unit, at=at),
        keywords=("recovered" if brief else "gone", *([brief.resource.kind] if brief else [])),
        thread=f"{unit}/{brief.ids[0] if brief else resource_id}",
        resources=brief.ids if brief else (resource_id,),
        context=machine_context(brief) if brief else {"unit": unit},
    )


def mass_message(  # noqa: PLR0913 - all that is said of a group
    worst: Sequence[Brief],
    count: int,
    *,
    shared: str,
    where: str,
    unit: str,
    severity: Verdict,
    is_long_empty: bool,
    timeline: Timeline,
    links: Links,
    at: float,
) -> Message:
    """Many resources in danger: how many, the soonest of them, and what they share.

    ``worst`` are the first few, the worst first. ``shared`` is empty where nothing is.
    """
    says, region = "credits run out", unit.rpartition("/")[2]
    if worst:
        says = f"credits run out, the first {_soonest(worst[0])}"
    advice = "look for a common cause (a batch job, a backup, a deployment) and pause it. If there is none, reduce the load of the worst first"
    if is_long_empty:
        says = f"no credits for hours ({hour_of(at)})"
        advice = "give those that somebody needs more, or tag the others burstwatch:watch=no"
    shown = "CRITICAL" if severity == "critical" else "WARNING"
    return Message(
        event="mass",
        title=title_of(shown, f"{count} resources", says),
        where=f"Where: {where}",
        actions=(
            Step("Do now", advice),
            *([Step("Look at", f"what they have in common: {shared}")] if shared else []),
        ),
        facts=(
            f"{count} resources, the worst first; `burstwatch scan --region {region}` lists all:",
            *(f"{label(brief)} ({brief.type}): {brief.says}" for brief in worst),
        ),
        timeline=timeline,
        links=links_of("mass", links, unit=unit, at=at),
        keywords=(severity, "mass"),
        thread=f"{unit}/mass",
        resources=tuple(brief.resource.id for brief in worst),
        context={"verdict": severity, "count": str(count), "unit": unit},
    )


def mass_over_message(
    where: str, unit: str, severity: Verdict, timeline: Timeline, links: Links, *, at: float
) -> Message:
    """The alarm that stands for many of a severity is over."""
    are = "critical" if severity == "critical" else "at risk"
    return Message(
        event="mass",
        title=f"RESOLVED many resources: no longer many are {are} ({hour_of(at)})",
        where=f"Where: {where}",
        actions=(
            Step(
                "Do now",
                f"`burstwatch scan --region {unit.rpartition('/')[2]}` lists those that are still {are}, if any",
            ),
        ),
        facts=_lines(("Alarm", _lasted(timeline, at))),
        timeline=timeline,
        links=links_of("mass", links, unit=unit, at=at),
        keywords=("recovered", "mass"),
        thread=f"{unit}/mass",
        resources=(),
    )


def listing_message(
    kind: str, why: str, unit: str, timeline: Timeline, links: Links, *, at: float
) -> Message:
    """A kind of resources that could never be listed in a unit; without ``why`` it can be now."""
    title = title_of("WARNING", kind, f"not watched, it can't be listed ({hour_of(at)})")
    steps = (
        Step(
            "Do now",
            "allow the call to the function's role, or leave the kind out (setting kinds)",
        ),
    )
    if not why:
        title = title_of("RESOLVED", kind, f"can be listed now ({hour_of(at)})")
        steps = (NO_ACTION,)
    return Message(
        event="gone" if not why else "opened",
        title=title,
        where=f"Where: {kind}, {unit}",
        actions=steps,
        facts=_lines(("Why", why)),
        timeline=timeline,
        links=links_of("parts-failed", links, unit=unit, at=at),
        keywords=("warning", kind),
        thread=f"{unit}/{kind}",
        resources=(kind,),
        context={"unit": unit, "kind": kind},
    )


def drill_message(drill_id: str, unit: str, timeline: Timeline, links: Links) -> Message:
    """A fire drill, in which nothing is wrong, or the end of one."""
    title = title_of("DRILL", drill_id, "nothing is wrong, and pages reach you")
    last = "The drill ends by itself within minutes, or within an hour at the latest."
    if timeline.over_s is not None:
        title = title_of("DRILL over", drill_id, "the page and its end reached you")
        last = f"It took {span(timeline.over_s - timeline.opened_s)}."
    return Message(
        event="drill",
        title=title,
        where=f"Where: {unit}, deployment {links.deployment}",
        actions=(NO_ACTION,),
        facts=(last,),
        timeline=timeline,
        links=links_of("undelivered", links, unit=unit, at=timeline.opened_s),
        keywords=("drill",),
        thread=f"{unit}/{drill_id}",
        resources=(drill_id,),
        context={"unit": unit},
    )


def runbook_of(severity: Verdict, brief: Brief) -> str:
    """The name of the runbook for an alarm of a severity."""
    is_warning = severity == "warning" and brief.verdict != "exhausted"
    return "resource-warning" if is_warning else RUNBOOK_BY_KIND


def who(brief: Brief) -> str:
    """Return the name of a resource for a title: its name tag, or that of its host, or its id in AWS."""
    resource = brief.resource
    return plain_name(resource.name) or plain_name(resource.words.host) or thing_id(resource.id)


def _over_title(
    brief: Brief | None,
    resource_id: str,
    timeline: Timeline,
    *,
    at: float,
    at_zero_s: float | None,
) -> str:
    """Title of an end: how it ended, when, and how long there were no credits."""
    clock = hour_of(at)
    if brief is None:
        return title_of("RESOLVED", resource_id, f"deleted or no longer watched ({clock})")
    if brief.verdict == "warning":
        return _title("WARNING", brief, f"no longer critical ({clock}), still a warning")
    ended_because = brief.ended_because
    if timeline.paged_s is not None and not brief.resource.terms.is_throttled:
        ended_because = "is in Unlimited mode now, and does not slow down"
    if ended_because:
        return _title("RESOLVED", brief, f"{ended_because} ({clock})")
    level = brief.assessment.projection.level
    if level is not None and level.likely < BACK_FROM and brief.level:
        left = f"{brief.level} of its {brief.resource.words.credit_name} left"
        return _title("RESOLVED", brief, f"no longer in danger ({clock}), {left}")
    back = f"back at {brief.level}" if brief.level else "back"
    without = ""
    if at_zero_s:
        without = f", empty for {span(at_zero_s)}"
    elif timeline.empty_s is not None:
        without = f", ran out at {hour_of(timeline.empty_s)}"
    return _title(
        "RESOLVED", brief, f"{brief.resource.words.credit_name} {back} ({clock}){without}"
    )


def _soonest(brief: Brief) -> str:
    """The time at which a resource runs out, as the end of a title."""
    if brief.has_run_out:
        return f"now ({hour_of(brief.at)})"
    return brief.when


def label(brief: Brief) -> str:
    """Name tag and id."""
    name = plain_name(brief.resource.name)
    return f"{name} {brief.resource.id}" if name else brief.resource.id


def machine_context(brief: Brief) -> dict[str, str]:
    """The brief for programs: the numbers behind the words, and what to do. Absent is not known."""
    fixes = [
        {
            "what": fix.action,
            "effect": fix.effect,
            "takes": fix.takes,
            "usd_month": fix.usd_month,
            "usd_hour": fix.usd_hour,
            "command": fix.command,
        }
        for fix in brief.fixes
    ]
    context = {
        **brief.numbers,
        "kind": brief.resource.kind,
        "unit": brief.resource.unit,
        "cause": brief.cause,
        "fixes": json.dumps(fixes),
    }
    return {name: value for name, value in context.items() if value}


def _lines(*facts: tuple[str, str]) -> tuple[str, ...]:
    return tuple(f"{name}: {text}" for name, text in facts if text)


def _lasted(timeline: Timeline, at: float) -> str:
    began, ended = clock_time(timeline.opened_s, now=at), clock_time(at, now=at)
    return f"from {began} to {ended} ({span(at - timeline.opened_s)})"


def _where(brief: Brief) -> str:
    """Host, device, volume, type, account and region."""
    if not brief.others:
        return f"Where: {thing_id(brief.resource.id)} ({brief.type}), {brief.place}"
    more = len(brief.ids) - MOST_IDS
    ids = " ".join(brief.ids[:MOST_IDS]) + (f" and {more} more" if more > 0 else "")
    return f"Where: {ids} ({brief.type} each), {brief.place}"


def _for_the_others(brief: Brief) -> str:
    """What holds for an array: each of its volumes needs the change."""
    if not brief.others or not brief.fixes:
        return ""
    return f"change all {len(brief.others) + 1} volumes; cost and command are for one"


def _snooze(brief: Brief) -> str:
    region = brief.resource.unit.rpartition("/")[2]
    return command_line(
        "burstwatch", "snooze", brief.resource.id, "4h", "--reason", "TEXT", "--region", region
    )


def links_of(
    runbook: str, links: Links, brief: Brief | None = None, *, unit: str = "", at: float
) -> tuple[tuple[str, str], ...]:
    """The links of a message as pairs of a label and an address. Those that do not apply are left out."""
    section = f"#{brief.resource.kind}" if brief and runbook == RUNBOOK_BY_KIND else ""
    addresses = {
        "Runbook": f"{links.runbook(runbook)}{section}" if runbook else "",
        "Dashboard": links.dashboard_of(
            board_of(
                brief, brief.resource.unit if brief else unit, links.deployment, home=links.home
            ),
            brief.metric_id if brief else "",
            at,
        ),
        "Console": brief.console if brief else "",
        "Graph": brief.graph if brief else "",
    }
    return tuple((name, address) for name, address in addresses.items() if address)


def board_of(brief: Brief | None, unit: str, deployment: str, *, home: str = "") -> str:
    """The one of burstwatch's dashboards that shows a resource, or all of them, with its variables.

    ``home`` is the region of the deployment, where its metrics are; empty where it is not known.
    """
    region = unit.rpartition("/")[2]
    board, variables = FLEET_BOARD, {"region": home or region, "deployment": deployment}
    if brief is not None:
        # A board of one kind has AWS's metrics and burstwatch's in one region.
        is_at_home = home in {"", region}
        board, variable = (
            BOARDS.get(brief.resource.kind, OTHER_BOARD) if is_at_home else OTHER_BOARD
        )
        variables[variable] = brief.metric_id
        if board == OTHER_BOARD[0]:
            variables |= {"aws_region": region, "kind": brief.resource.kind}
    query = urlencode({f"var-{name}": value for name, value in variables.items() if value})
    return f"{board}?{query}"
