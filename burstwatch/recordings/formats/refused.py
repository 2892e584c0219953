"""Refuses forms that another export replaces, with the one to write instead."""

import re
from typing import NoReturn

from burstwatch.recordings.formats.layouts import NUMBER, TIME, are_pairs

#: So much of a text shows its form.
HEAD = 4_000
#: A word that is a date where blanks separate columns.
DATE = re.compile(r"\d{4}-\d\d-\d\d\S*")
DELIMITERS = frozenset(",;\t|={}\"'")
BLANKS = "has blanks between its columns: write it as CSV"
#: The mark of a form, and what to do.
REFUSED = (
    (
        r"\A[\[({]+'|datetime\.datetime\(|Timestamp\('|OrderedDict\(",
        "is what Python prints: write it by json.dumps(answer, default=str), or by to_csv()",
    ),
    (
        r"\A\{\s*[A-Z]\w*: |\A#<struct |\A\w+Response\(",
        "is what an SDK prints: write it as JSON, or ask with the AWS CLI",
    ),
    (
        r"\A<table|\A<tr",
        "is a table of HTML: write it as CSV",
    ),
    (
        r"(?m)^# TYPE |^(?:[A-Za-z_:][\w:]*)?\{[^}\n]*\}\s*(?:=>|[-+0-9.eE]+\s+[0-9.]+\s*(?:#.*)?$)",
        "is text of Prometheus: ask /api/v1/query_range, whose answer is JSON",
    ),
    (
        r'\A\s*\[\s*\{[^\]]*"target"\s*:[^\]]*"datapoints"\s*:|\A\s*\[\s*\{\s*"datapoints"\s*:[\s\S]*"target"\s*:',
        "is JSON of Graphite: ask with format=csv",
    ),
    (
        r"(?m)^[ \t]*(?=[^\n]*[+|:│┃┌┐└┘├┤┬┴┼┆╞╡╪╔╗╚╝║╠╣╦╩╬╭╮╰╯]|[-=]+[ \t]+[-=]{2})[ \t|+:=\-─━═│┃┌┐└┘├┤┬┴┼┆╞╡╪╔╗╚╝║╠╣╦╩╬╭╮╰╯]{5,}$",
        "is a table drawn with lines: write it as CSV",
    ),
    (
        r"(?m)^[^|\n]*,\d+,\d+,\d+\|",
        "is raw data of Graphite: ask with format=csv",
    ),
    (
        r"(?m)^[^|,;\t\n\"{}#]+\|[^,;\t\n\"{}]*\n[^|,;\t\n\"{}]+\|[^,;\t\n\"{}]*$",
        "has | between its columns: write it as CSV",
    ),
)  # fmt: skip


def is_refused(text: str) -> bool:
    """True if the beginning of a text has the mark of a form that is refused."""
    return _why(text) is not None


def refuse(text: str, *, name: str) -> NoReturn:
    """Raise ValueError with what to write instead."""
    msg = f"{name} {_why(text)}"
    raise ValueError(msg)


def _why(text: str) -> str | None:
    head = text[:HEAD]
    advice = next((advice for mark, advice in REFUSED if re.search(mark, head)), None)
    rows = [line for line in head.splitlines() if line.strip() and not line.startswith("#")]
    # A title may have a date and a number as well, but the rows below it have delimiters.
    if (
        advice is None
        and DELIMITERS.isdisjoint("".join(rows))
        and any(map(_is_blank_separated, rows))
        and not are_pairs(rows)
    ):
        return BLANKS
    return advice


def _is_blank_separated(line: str) -> bool:
    """True if nothing but blanks separates a time from a number. A time of digits alone is no number."""
    words = line.split()
    has_time = any(TIME.fullmatch(word) or DATE.fullmatch(word) for word in words)
    return has_time and any(NUMBER.fullmatch(word) and not TIME.fullmatch(word) for word in words)
