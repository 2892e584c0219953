"""Writes a message in the schema that chat clients take (custom notification 1.0), as JSON.

https://docs.aws.amazon.com/chatbot/latest/adminguide/custom-notifs.html (2026-11)
"""

import json

from burstwatch.formatting import cut
from burstwatch.messages.message import Message

#: The chat client cuts longer ones off.
TITLE_LENGTH = 250
CHAT_LENGTH = 8_000
#: Characters that a chat client takes for a link, a mention or formatting, with look-alikes for them.
LOOK_ALIKES = str.maketrans("<>`*~", "\u2039\u203a'\u2217\u223c")


def chat_message(message: Message) -> str:
    """The message for chat clients and for programs."""
    title = cut(_defused(message.title), TITLE_LENGTH)
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
