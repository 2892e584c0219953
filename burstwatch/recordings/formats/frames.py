"""Takes away what stands around a recording where people copied it from: a terminal, a mail, a chat or a ticket.

Lines that go become empty, so that each of the others keeps its number. A line of data never goes.
"""

import json
import re
from collections.abc import Callable, Sequence

#: So much of a text shows its frame.
HEAD = 4_000
#: So many lines may stand above a prompt: of a login.
MOST_WORDS = 8
#: What a terminal obeys: colours, modes, and the title of its window.
CONTROLS = re.compile(r"\x1b\[[?0-9;]*[A-Za-z]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)")
QUOTE = re.compile(r"(?:> ?)+")
#: A mail in which so many of the lines are quoted is a quotation.
QUOTED = 0.8
FENCES = ("```", "~~~")
FENCE = re.compile(r"\s*(?:```|~~~)")
#: A prompt of any shell, or of psql and MySQL, with a command that asks for data behind it.
PROMPT = re.compile(
    r"(?P<prompt>[^\n,;\t{]{0,80}?[$%>\u276f\u279c\u03bb\u2717\u00bb]|[^\n,;\t{#]{1,80}?#)\s*"
    r"(?:sudo |\w+=\S+ )*(?:aws|cat|curl|jq|head|tail|less|more|type|gc|grep|awk|psql|mysql|kubectl|docker|ssh|python3?|gh|promtool|burstwatch"
    r"|(?:Get|Import)-\w+|\(Get-\w+|select|SELECT|\\[xgG])(?![\w,;\t=:])"
)
#: How a command goes on in the next line, in a shell of Unix, PowerShell and Windows.
GOES_ON = ("\\", "`", "^")
STARTS_JSON = re.compile(r"^[ \t]*[\[{]", re.MULTILINE)
#: A row of data: nothing but times, numbers, units and marks.
TIME_WORD = re.compile(r"\d{4}-\d\d-\d\d\S*|\d\d?[./]\d\d?[./]\d{2,4}\S*|1\d{9}(?:\d{3})?")
NUMBER_WORD = re.compile(r"[-+]?\d[\d.,]*%?")
OTHER_WORD = re.compile(r"\d\d?[:.]\d\d\S*|[AP]M|Percent|Count|None|DATAPOINTS")
CURLY = str.maketrans("\u201c\u201d\u201e\u2018\u2019", '"""\'\'')


def unframed(text: str, *, name: str) -> str:
    """The text without controls of a terminal, marks of a quotation, fences, prompts with their commands, and words before JSON.

    Raises:
        ValueError: if rows stand inside and outside of a frame.
    """
    plain = CONTROLS.sub("", text) if "\x1b" in text else text
    plain = _without_commands(_inside_fences(_without_quotes(plain), name))
    return _from_json(_with_straight_quotes(plain))


def is_row(line: str) -> bool:
    """True if a line is a row of data: a time and a number, and no word."""
    words = [word for word in re.split(r"[\s,;\"|]+", line) if word]
    has_time = any(map(TIME_WORD.fullmatch, words))
    has_number = any(
        NUMBER_WORD.fullmatch(word) and not TIME_WORD.fullmatch(word) for word in words
    )
    patterns = (TIME_WORD, NUMBER_WORD, OTHER_WORD)
    return has_time and has_number and all(_is_any(word, patterns) for word in words)


def _is_any(word: str, patterns: Sequence[re.Pattern[str]]) -> bool:
    return any(pattern.fullmatch(word) for pattern in patterns)


def _blanked(text: str, is_dropped: Callable[[str], bool]) -> str:
    """The text with an empty line in place of each that is dropped and is no row."""
    lines = text.splitlines()
    return "\n".join("" if is_dropped(line) and not is_row(line) else line for line in lines)


def _without_quotes(text: str) -> str:
    head = [line for line in text[:HEAD].splitlines() if line.strip()]
    quoted = sum(QUOTE.match(line) is not None for line in head)
    if quoted < 2 or quoted < QUOTED * len(head):  # noqa: PLR2004 - one is a prompt
        return text
    inner = _blanked(text, lambda line: QUOTE.match(line) is None)
    return "\n".join(QUOTE.sub("", line, count=1) for line in inner.splitlines())


def _inside_fences(text: str, name: str) -> str:
    """What stands inside of fences; of a fence that has one end alone, the text without it."""
    has_fences = any(fence in text for fence in FENCES)
    lines = text.splitlines() if has_fences else []
    fences = [n for n, line in enumerate(lines) if FENCE.match(line)]
    if not fences:
        return text
    inside = {
        n
        for first, last in zip(fences[::2], fences[1::2], strict=False)
        for n in range(first, last)
    }
    if len(fences) == 1:
        inside = {*range(len(lines))}
    rows = [n for n, line in enumerate(lines) if n not in inside and is_row(line)]
    if rows and any(is_row(lines[n]) for n in inside):
        msg = f"{name} has rows inside of a Markdown fence, and others outside, such as line {rows[0] + 1}: give one of them"
        raise ValueError(msg)
    inside = inside if not rows else {*range(len(lines))}
    return "\n".join(
        line if n in inside and n not in fences else "" for n, line in enumerate(lines)
    )


def _without_commands(text: str) -> str:
    """The text without the lines of prompts, and those in which their commands go on."""
    head = [line for line in text[:HEAD].splitlines() if line.strip()][:MOST_WORDS]
    matches = (PROMPT.match(line) for line in head if not is_row(line))
    match = next(filter(None, matches), None)
    if match is None:
        return text
    words_above = {line for line in head[: head.index(match.string)] if not is_row(line)}
    # The folder in a prompt changes; who is asked, and the sign, stay.
    sign = match["prompt"].strip()
    begins = re.match(r"[^\s:~/=]+", sign)
    prompt = begins[0] if begins else sign.split()[0]
    goes_on, lines = False, list[str]()
    for line in text.splitlines():
        is_prompt = line.lstrip().startswith(prompt) or line in words_above
        is_command = (goes_on or is_prompt) and not is_row(line)
        goes_on = is_command and line.rstrip().endswith(GOES_ON)
        lines.append("" if is_command else line)
    return "\n".join(lines)


def _with_straight_quotes(text: str) -> str:
    """JSON with the quotes that a chat has made curly."""
    is_json = STARTS_JSON.match(text.lstrip()) is not None
    return text.translate(CURLY) if is_json and "\u201c" in text[:HEAD] else text


def _from_json(text: str) -> str:
    """The text from its first line that begins a document of JSON, where only words stand before."""
    match = STARTS_JSON.search(text[:HEAD])
    if match is None or not text[: match.start()].strip():
        return text
    above = text[: match.start()].splitlines()
    if any(map(is_row, above)):
        return text
    try:
        document, _ = json.JSONDecoder().raw_decode(text, match.end() - 1)
    except (ValueError, RecursionError):
        return text
    if not _has_parts(document):
        return text
    return "\n" * len(above) + text[match.start() :]


def _has_parts(document: object) -> bool:
    """True for an object, and for a list of objects or lists: R prints ``[1]`` before a number."""
    if isinstance(document, list):
        return bool(document) and all(isinstance(part, dict | list) for part in document)
    return isinstance(document, dict)


def next_document(text: str, at: int) -> int:
    """Where the next document of JSON begins behind words that end at no row; the end of the text if none does.

    Raises:
        ValueError: for a row of data, with the place where it begins.
    """
    place = at
    for line in text[at:].splitlines(keepends=True):
        if line.lstrip().startswith(("{", "[")) and place > at:
            return place + len(line) - len(line.lstrip())
        if is_row(line):
            raise ValueError(place)
        place += len(line)
    return len(text)
