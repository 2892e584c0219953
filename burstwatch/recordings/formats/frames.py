"""Takes away what stands around a recording where people copied it from: a terminal, a mail, a chat or a ticket.

Lines that go become empty, so that each of the others keeps its number. A line of data never goes.
"""

import json
import re
from collections.abc import Sequence
from itertools import compress, zip_longest

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
    r"(?P<prompt>[^\n,;\t{|]{0,80}?[$%>\u276f\u279c\u03bb\u2717\u00bb]|[^\n,;\t{|#]{1,80}?#)\s*"
    r"(?:sudo |\w+=\S+ )*(?:(?:aws|cat|curl|jq|head|tail|less|more|type|gc|grep|awk|psql|mysql|kubectl|docker|ssh|python3?|gh|promtool"
    r"|burstwatch|(?:Get|Import)-\w+|\(Get-\w+|select|SELECT)\s+\S|\\[xgG]\s*$)",
    re.MULTILINE,
)
#: What a prompt ends with.
SIGNS = frozenset("$%#>\u276f\u279c\u03bb\u2717\u00bb")
#: How a prompt of Windows begins.
DRIVE = re.compile(r"(?:PS )?[A-Z]:\\")
#: How a command goes on in the next line, in a shell of Unix, PowerShell and Windows.
GOES_ON = ("\\", "`", "^")
#: How rows of the AWS CLI's text begin.
AWS_MARKS = ("DATAPOINTS\t", "METRICDATARESULTS\t", "TIMESTAMPS\t", "VALUES\t")
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
    plain = _without_commands(_inside_fences(_without_quotes(plain, name), name))
    return _from_json(_with_straight_quotes(plain))


def is_row(line: str) -> bool:
    """True if a line is data: cells of which one is a time and another a number, or a row of the AWS CLI's text."""
    if line.startswith(AWS_MARKS):
        return True
    cells = [cell.strip(' "') for cell in re.split(r"[,;\t]", line)]
    if len(cells) > 1 and _has_time_and_number(cells):
        return True
    words = [word for word in re.split(r"[\s,;\"|]+", line) if word]
    patterns = (TIME_WORD, NUMBER_WORD, OTHER_WORD)
    return _has_time_and_number(words) and all(_is_any(word, patterns) for word in words)


def _has_time_and_number(words: Sequence[str]) -> bool:
    times = [TIME_WORD.fullmatch(word) is not None for word in words]
    numbers = (NUMBER_WORD.fullmatch(word) is not None for word in words)
    return any(times) and any(
        is_number and not is_time for is_time, is_number in zip(times, numbers, strict=True)
    )


def _is_data(line: str) -> bool:
    """True for a row, and for what begins a document of JSON."""
    return is_row(line) or line.startswith(("{", "["))


def _is_any(word: str, patterns: Sequence[re.Pattern[str]]) -> bool:
    return any(pattern.fullmatch(word) for pattern in patterns)


def _without_quotes(text: str, name: str) -> str:
    head = [line for line in text[:HEAD].splitlines() if line.strip()]
    quoted = sum(QUOTE.match(line) is not None for line in head)
    if quoted < 2 or quoted < QUOTED * len(head):  # noqa: PLR2004 - one is a prompt
        return text
    lines = text.splitlines()
    outside = next(
        (n for n, line in enumerate(lines) if not QUOTE.match(line) and _is_data(line)), None
    )
    if outside is not None:
        msg = f"{name} has rows in a quotation, and others outside, such as line {outside + 1}: give one of them"
        raise ValueError(msg)
    return "\n".join(QUOTE.sub("", line, count=1) if QUOTE.match(line) else "" for line in lines)


def _inside_fences(text: str, name: str) -> str:
    """What stands inside of fences; of a fence that has one end alone, the text without it."""
    has_fences = any(fence in text for fence in FENCES)
    lines = text.splitlines() if has_fences else []
    fences = [n for n, line in enumerate(lines) if FENCE.match(line)]
    if not fences:
        return text
    is_inside = bytearray(len(lines))
    # The last fence may be open; the only one may be an end.
    for first, last in zip_longest(fences[::2], fences[1::2], fillvalue=len(lines)):
        is_inside[first:last] = b"\1" * (last - first)
    if len(fences) == 1:
        is_inside = bytearray(b"\1" * len(lines))
    outside = next((n for n, line in enumerate(lines) if not is_inside[n] and _is_data(line)), None)
    if outside is not None and any(map(_is_data, compress(lines, is_inside))):
        msg = f"{name} has rows inside of a Markdown fence, and others outside, such as line {outside + 1}: give one of them"
        raise ValueError(msg)
    for n in fences:
        lines[n] = ""
    if outside is not None:
        return "\n".join(lines)
    return "\n".join(line if inside else "" for line, inside in zip(lines, is_inside, strict=True))


def _without_commands(text: str) -> str:
    """The text without the lines of prompts, and those in which their commands go on."""
    head = [line for line in text[:HEAD].splitlines() if line.strip()][:MOST_WORDS]
    matches = (PROMPT.match(line) for line in head if not is_row(line))
    match = next(filter(None, matches), None)
    if match is None:
        return text
    words_above = {line for line in head[: head.index(match.string)] if not is_row(line)}
    prompt = _beginning(match["prompt"].strip())
    goes_on, lines = False, list[str]()
    for line in text.splitlines():
        is_prompt = line in words_above or _is_prompt(line.lstrip(), prompt)
        is_command = (goes_on or is_prompt) and not is_row(line)
        goes_on = is_command and line.rstrip().endswith(GOES_ON)
        lines.append("" if is_command else line)
    return "\n".join(lines)


def _beginning(prompt: str) -> str:
    """What a prompt begins with in another folder too: the drive, who is asked, or its sign."""
    drive = DRIVE.match(prompt)
    if drive is not None:
        return drive[0]
    begins = re.match(r"[^\s:~/=]+", prompt)
    is_telling = begins is not None and (len(begins[0]) > 1 or begins[0] in SIGNS)
    return begins[0] if begins is not None and is_telling else prompt.split(maxsplit=1)[0]


def _is_prompt(line: str, beginning: str) -> bool:
    """True if a line begins as the prompt did, and has a sign of a prompt."""
    return line.startswith(beginning) and not SIGNS.isdisjoint(line)


def _with_straight_quotes(text: str) -> str:
    """JSON with the quotes that a chat has made curly: it has no straight ones."""
    return text.translate(CURLY) if "\u201c" in text[:HEAD] and '"' not in text else text


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


class RowBehindError(ValueError):
    """A row of data stands behind a document of JSON, at a place in the text, and would be lost."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def next_document(text: str, at: int) -> int:
    """Where the next document of JSON begins behind words; the end of the text if none does.

    Raises:
        RowBehindError: for a row of data among the words.
    """
    place = at
    while place < len(text):
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        line = text[place:end]
        if place > at and line.lstrip().startswith(("{", "[")):
            return place + len(line) - len(line.lstrip())
        if is_row(line):
            raise RowBehindError(place)
        place = end + 1
    return len(text)
