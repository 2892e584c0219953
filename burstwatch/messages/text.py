"""Writes a message as plain text (the description of an alarm, an e-mail), and as JSON for chat clients."""

import json
from collections.abc import Sequence

from burstwatch.formatting import cut
from burstwatch.messages.message import Message

#: CloudWatch's limit for a description, in characters.
#: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html (2026-11)
DESCRIPTION_LENGTH = 1024
#: The facts that are more important than all links but the first: the command, what happens at zero, and the cause.
FACTS_BEFORE_LINKS = 3
#: A longer title would leave no room for the place.
TITLE_LENGTH = 250
#: A subject is ASCII and shorter than 100 characters.
#: https://docs.aws.amazon.com/sns/latest/api/API_Publish.html (2026-11)
SUBJECT_LENGTH = 99


def description(message: Message) -> str:
    """The description of an alarm: short lines, most important first.

    A line that does not fit is left out whole, the least important first. The title, the place and the
    times of the episode stay. The first facts outrank every link but the first, and no links take more than half.
    """
    timeline = message.timeline.lines() if message.timeline else []
    links = [f"{name}: {address}" for name, address in message.links]
    head = cut(message.title, TITLE_LENGTH)
    lines = [f"{head}\n{message.where}" if message.where else head]
    lines += [*message.actions, *message.facts]
    outranking = lines[: 1 + len(message.actions) + FACTS_BEFORE_LINKS]

    def is_too_long() -> bool:
        last = "\n".join([*timeline, *links])
        everything = len("\n".join([*outranking, last]))
        is_first_link = len(links) == 1
        return len(last) > DESCRIPTION_LENGTH // 2 or (
            everything > DESCRIPTION_LENGTH and not is_first_link
        )

    while links and is_too_long():
        links.pop()
    return _fit(lines, [*timeline, *links], DESCRIPTION_LENGTH)


def subject(message: Message) -> str:
    """The subject of an e-mail: the title in ASCII."""
    plain = "".join(c if c.isascii() and c.isprintable() else " " for c in message.title)
    plain = " ".join(plain.split())
    if plain.startswith(":") and message.resources:  # nothing is left of the name
        plain = f"{message.resources[0]}{plain}"
    return plain[:SUBJECT_LENGTH]


def email(message: Message) -> str:
    """The text of an e-mail."""
    links = [f"{name}: {address}" for name, address in message.links]
    times = message.timeline.lines() if message.timeline else []
    head = [message.title, *filter(None, [message.where])]
    parts = [head, message.actions, [*message.facts, *times], links]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


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


#: The chat client cuts longer ones off.
CHAT_TITLE_LENGTH = 250
CHAT_LENGTH = 8_000
#: Characters that a chat client takes for a link, a mention or formatting, with look-alikes for them.
LOOK_ALIKES = str.maketrans("<>`*~", "\u2039\u203a'\u2217\u223c")


def chat_message(message: Message) -> str:
    """The message for chat clients and for programs."""
    title = cut(_defused(message.title), CHAT_TITLE_LENGTH)
    links = [f"{name}: {address}" for name, address in message.links]
    where, now, *next_steps = map(_defused, [message.where, *message.actions])
    return json.dumps(
        {
            "version": "1.0",
            "source": "custom",
            "content": {
                "textType": "client-markdown",
                "title": title,
                "description": cut(
                    "\n".join([*filter(None, [where]), now, *map(_defused, message.facts), *links]),
                    CHAT_LENGTH,
                ),
                "nextSteps": next_steps,
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


def _defused(text: str) -> str:
    return text.translate(LOOK_ALIKES)
