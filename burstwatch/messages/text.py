"""Writes a message as plain text (the description of an alarm, an e-mail), and as JSON for chat clients."""

import json
import re
from collections.abc import Sequence

from burstwatch.formatting import NO_DOT, cut
from burstwatch.messages.message import Message, Step

#: CloudWatch's limit for a description, in characters.
#: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html (2026-11)
DESCRIPTION_LENGTH = 1024
#: A longer step of a description gives way to all facts; mail and chat have it.
LONGEST_STEP = 300
#: A link gives way to so many facts: until when, and how likely it is; the credits, the load, and what is left at zero.
FACTS_BEFORE_LINK = {"Runbook": 2, "Dashboard": 5, "Console": 5, "Graph": 5}
#: The steps that are code.
COMMANDS = ("Command", "If agreed")
#: A subject is ASCII and shorter than 100 characters.
#: https://docs.aws.amazon.com/sns/latest/api/API_Publish.html (2026-11)
SUBJECT_LENGTH = 99


def description(message: Message) -> str:
    """The description of an alarm: short lines, most important first.

    A line that does not fit is left out whole, the least important first. The title, the place and the
    times of the episode stay. The first facts outrank every link but the first, and no links take more than half.
    """
    timeline = [message.timeline.line] if message.timeline else []
    links = [f"{name}: {address}" for name, address in message.links]
    lines = [f"{message.title}\n{message.where}" if message.where else message.title]
    steps = [step.line for step in message.actions]
    # A command this long, which also stops the instance, would take the room of what makes a page honest.
    long_commands = [step for step in steps if len(step) > LONGEST_STEP]
    steps = [step for step in steps if step not in long_commands]
    lines += [*steps, *message.facts, *long_commands]

    def is_too_long() -> bool:
        last = "\n".join([*timeline, *links])
        name, _ = message.links[len(links) - 1]
        facts = FACTS_BEFORE_LINK[name]
        outranking = lines[: 1 + len(steps) + facts]
        is_first_link = len(links) == 1
        return len(last) > DESCRIPTION_LENGTH // 2 or (
            len("\n".join([*outranking, last])) > DESCRIPTION_LENGTH and not is_first_link
        )

    while links and is_too_long():
        links.pop()
    return _fit(lines, [*timeline, *links], DESCRIPTION_LENGTH)


def subject(message: Message) -> str:
    """The subject of an e-mail: the title in ASCII."""
    title = message.title.replace("…", "..").replace(NO_DOT, "_")
    if message.name and not any(c.isascii() and c.isalnum() for c in message.name):
        # Nothing would be left of the name.
        title = re.sub(r"[^\x00-\x7f]+( [^\x00-\x7f]+)*", message.resources[0], title, count=1)
    plain = "".join(c if c.isascii() and c.isprintable() else " " for c in title)
    return " ".join(plain.split())[:SUBJECT_LENGTH]


def email(message: Message) -> str:
    """The text of an e-mail."""
    links = [f"{name}: {address}" for name, address in _needed(message.links)]
    times = [message.timeline.line] if message.timeline else []
    head = [message.title, *filter(None, [message.where])]
    steps = [step.line for step in message.actions]
    parts = [head, steps, [*message.facts, *times], links]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _needed(links: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The runbook, and one place to look: an address is several lines on a phone."""
    runbook = [link for link in links if link[0] == "Runbook"]
    places = [link for link in links if link[0] != "Runbook"]
    return [*runbook, *places[:1]]


def _fit(lines: Sequence[str], last: Sequence[str], length: int) -> str:
    """As many lines as there is room for, with ``last`` at the end. Only the first may be cut."""
    room = length - sum(len(line) + 1 for line in last)
    kept = [cut(lines[0], room)]
    room -= len(kept[0])
    for line in lines[1:]:
        if len(line) + 1 <= room:
            kept.append(line)
            room -= len(line) + 1
    return "\n".join([*kept, *last])


#: The chat client cuts off what is longer.
CHAT_LENGTH = 8_000
#: Characters that a chat client takes for a link, a mention or formatting, with look-alikes for them.
LOOK_ALIKES = str.maketrans("<>`*~@", "\u2039\u203a'\u2217\u223c\uff20")
#: Without a space between its halves Markdown has a link here. Brackets stay, as commands have some.
MARKDOWN_LINK, NO_LINK = "](", "] ("


def chat_message(message: Message, chat: str = "slack") -> str:
    """The message for chat clients and for programs, with links as ``chat`` writes them: ``slack`` or ``teams``."""
    title = _defused(message.title)
    where = _defused(message.where)
    now, *next_steps = message.actions
    facts = [_defused(fact) for fact in message.facts]
    return json.dumps(
        {
            "version": "1.0",
            "source": "custom",
            "content": {
                "textType": "client-markdown",
                "title": title,
                "description": cut(
                    "\n".join(
                        [
                            *filter(None, [where]),
                            _defused(now.line),
                            *facts,
                            _chat_links(message, chat),
                        ]
                    ),
                    CHAT_LENGTH,
                ),
                # Under a heading of their own.
                "nextSteps": [_chat_step(step) for step in next_steps],
                "keywords": list(message.keywords),
            },
            "metadata": {
                "threadId": message.thread,
                "summary": title,
                "eventType": f"burstwatch.{message.event}",
                "relatedResources": list(message.resources),
                "additionalContext": dict(message.context),
            },
        },
        ensure_ascii=False,
    )


def _chat_step(step: Step) -> str:
    """What to do next; a command is code, in which no chat client makes a link or a mention."""
    text = _defused(step.text)
    if step.label == "Do next":
        return text
    if step.label not in COMMANDS:
        return f"{step.label}: {text}" if step.label else text
    return f"{step.label}:\n```\n{text}\n```" if "\n" in text else f"{step.label}: `{text}`"


def _chat_links(message: Message, chat: str) -> str:
    """All links in one line, by their names. The graph's is the longest, and a dashboard shows the same.

    "Amazon Q renders notifications in the target chat platform's markdown":
    https://docs.aws.amazon.com/chatbot/latest/adminguide/custom-notifs.html (2026-11)
    """
    links = dict(message.links)
    if "Dashboard" in links:
        links.pop("Graph", None)
    written = {"slack": "<{url}|{name}>", "teams": "[{name}]({url})"}[chat]
    return " · ".join(
        written.format(name=name, url=url.replace("(", "%28").replace(")", "%29"))
        for name, url in links.items()
    )


def _defused(text: str) -> str:
    return text.translate(LOOK_ALIKES).replace(MARKDOWN_LINK, NO_LINK)
