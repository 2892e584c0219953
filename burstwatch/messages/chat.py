"""Events in the schema that chat clients take (custom notification 1.0), as JSON.

https://docs.aws.amazon.com/chatbot/latest/adminguide/custom-notifs.html
"""

import json
from collections.abc import Mapping, Sequence

from burstwatch.config import Links
from burstwatch.formatting import clock_time, span
from burstwatch.history.observations import Verdict
from burstwatch.messages.brief import Brief
from burstwatch.messages.text import capital, cut, fix_text, label, plain_name, runbook_of, titled

#: The chat client cuts longer ones off.
TITLE_LENGTH = 250
CHAT_LENGTH = 8_000
LIKE_LESS, LIKE_GREATER = "\u2039", "\u203a"


def chat_message(brief: Brief, links: Links) -> str:
    """The event in the schema that chat clients take (custom notification 1.0), as JSON.

    https://docs.aws.amazon.com/chatbot/latest/adminguide/custom-notifs.html
    """
    facts = (titled("cause", brief.cause), brief.since, brief.place, brief.data)
    lines = [
        f"{_chat_label(brief)} ({brief.type}): {brief.outlook}",
        *(f"*{capital(line)}*" for line in [brief.at_zero] if line),
        *(capital(line) for line in facts if line),
        _defused(capital(titled("why", brief.reason))),
        *(f"Note: {_defused(caveat)}" for caveat in brief.caveats),
    ]
    return _chat(
        title=f"{capital(brief.verdict)}: {label(brief)}",
        lines=lines,
        steps=[capital(fix_text(fix, brief)) for fix in brief.fixes],
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
    lines += [_defused(capital(titled("now", brief.reason)))] if brief else []
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


def drill_chat_message(drill_id: str, unit: str, deployment: str, links: Links) -> str:
    """A fire drill, in which nothing is wrong."""
    return _chat(
        title=f"Drill: {drill_id}",
        lines=[
            "Nothing is wrong and there is nothing to do.",
            f"This shows that readable messages of burstwatch {deployment} arrive.",
        ],
        steps=[],
        runbook=links.runbook("undelivered"),
        links=links,
        keywords=["drill"],
        thread=f"{unit}/{drill_id}",
        event="drill",
        resources=[drill_id],
        context={"unit": unit},
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
                "title": cut(_defused(title), TITLE_LENGTH),
                "description": cut("\n".join([*lines, *dashboard]), CHAT_LENGTH),
                "nextSteps": [*steps, f"Runbook: {runbook}"],
                "keywords": list(keywords),
            },
            "metadata": {
                "threadId": thread,
                "summary": cut(_defused(title), TITLE_LENGTH),
                "eventType": f"burstwatch.{event}",
                "relatedResources": list(resources),
                "additionalContext": dict(context),
            },
        },
        ensure_ascii=False,
    )


def machine_context(brief: Brief) -> dict[str, str]:
    """The brief for programs: the numbers behind the words, and what to do. Absent is not known."""
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


def mass_chat_message(
    worst: Sequence[Brief], count: int, where: str, severity: Verdict, links: Links
) -> str:
    """One chat message for many resources."""
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


def _chat_label(brief: Brief) -> str:
    """The resource's name in Markdown: the tag stands as code, in which nothing is formatted."""
    name = _defused(plain_name(brief.name)).replace("`", "'")
    return f"`{name}` {brief.resource_id}" if name else brief.resource_id


def _defused(text: str) -> str:
    """Without what a chat client takes for a link or a mention, in signs that look alike."""
    return text.replace("<", LIKE_LESS).replace(">", LIKE_GREATER)
