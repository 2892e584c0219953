"""Takes away what stands around a recording where people copied it from: a terminal, a mail, a chat or a ticket.

Lines that go become empty, so that each of the others keeps its number.
"""

import json
import re
from collections.abc import Sequence

#: So much of a text shows its frame.
HEAD = 4_000
#: What colours a text on a terminal.
COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
QUOTE = re.compile(r"(?:> ?)+")
FENCE = re.compile(r"\s*(?:```|~~~)")
#: A prompt with a command behind it: ``$ aws``, ``ada@host:~$ aws``, ``root@host:~# aws``, ``PS C:\> Get-CW``, ``C:\>aws``.
PROMPT = re.compile(
    r"(?P<prompt>(?:PS )?[A-Z]:\\[^>\n]{0,80}>|PS [^>\n]{0,80}>|[\w.@~:/\[\]()\\ -]{0,80}?[$%\u276f]|[\w.@~:/\[\]() -]{1,80}#)"
    r"\s*(?P<command>[A-Za-z./~\\(][^\n]*)"
)
#: How a command goes on in the next line, in a shell of Unix, PowerShell and Windows.
GOES_ON = ("\\", "`", "^")
STARTS_JSON = re.compile(r"^[\[{]", re.MULTILINE)


def unframed(text: str) -> str:
    """The text without colours, marks of a quotation, fences, prompts with their commands, and words before JSON."""
    plain = COLOURS.sub("", text) if "\x1b[" in text else text
    return _from_json(_without_commands(_inside_fences(_without_quotes(plain))))


def _without_quotes(text: str) -> str:
    quoted = [bool(QUOTE.match(line)) for line in text[:HEAD].splitlines()[:-1] if line.strip()]
    # A mail names in its first line who wrote what it quotes.
    if not quoted or not all(quoted[1:]) or not quoted[-1]:
        return text
    lines = text.splitlines()
    return "\n".join(QUOTE.sub("", line, count=1) if QUOTE.match(line) else "" for line in lines)


def _inside_fences(text: str) -> str:
    if not any(map(FENCE.match, text[:HEAD].splitlines())):
        return text
    inside, lines = False, list[str]()
    for line in text.splitlines():
        is_fence = FENCE.match(line) is not None
        lines.append(line if inside and not is_fence else "")
        inside ^= is_fence
    return "\n".join(lines)


def _without_commands(text: str) -> str:
    first = next((line for line in text[:HEAD].splitlines() if line.strip()), "")
    match = PROMPT.match(first)
    if match is None:
        return text
    prompt, goes_on, lines = match["prompt"].strip(), False, list[str]()
    for line in text.splitlines():
        is_command = goes_on or line.lstrip().startswith(prompt)
        goes_on = is_command and line.rstrip().endswith(GOES_ON)
        lines.append("" if is_command else line)
    return "\n".join(lines)


def _from_json(text: str) -> str:
    """The text from its first line that begins a document of JSON, where only words stand before."""
    match = STARTS_JSON.search(text[:HEAD])
    if match is None or not text[: match.start()].strip():
        return text
    try:
        document, _ = json.JSONDecoder().raw_decode(text, match.start())
    except (ValueError, RecursionError):
        return text
    if not _has_parts(document):
        return text
    return "\n" * text.count("\n", 0, match.start()) + text[match.start() :]


def _has_parts(document: Sequence[object] | object) -> bool:
    """True for an object, and for a list of objects or lists: R prints ``[1]`` before a number."""
    if isinstance(document, list):
        return bool(document) and all(isinstance(part, dict | list) for part in document)
    return isinstance(document, dict)
