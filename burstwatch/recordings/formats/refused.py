"""Refuses forms that another export replaces, with the one to write instead."""

import re
from typing import NoReturn

#: So much of a text shows its form.
HEAD = 4_000
#: A word that is a time where blanks separate columns: a date, or seconds or milliseconds since 1970.
TIME = re.compile(r"\d{4}-\d\d-\d\d\S*|1\d{9}(?:\d{3})?")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
DELIMITERS = frozenset(",;\t|={}\"'")
BLANKS = "has blanks between its columns: write it as CSV"
#: The mark of a form, and what to do.
REFUSED = (
    (
        r"\A[\[({]+'|datetime\.datetime\(|Timestamp\('|OrderedDict\(",
        "is what Python prints: write it by json.dumps(answer, default=str), or by to_csv()",
    ),
    (
        r'(?m)"ExtendedStatistics"\s*:\s*\{|^(?:"?\w+"?,)*"?ExtendedStatistics"?(?:,|\s*:|$)|"StatusCode"\s*:\s*\{|/Date\(',
        "has datapoints of PowerShell, or percentiles: ask with the AWS CLI for --statistics Minimum",
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
    rows = [line for line in head.splitlines() if not line.startswith("#")]
    # A title may have a date and a number as well, but the rows below it have delimiters.
    if (
        advice is None
        and DELIMITERS.isdisjoint("".join(rows))
        and any(map(_is_blank_separated, rows))
    ):
        return BLANKS
    return advice


def _is_blank_separated(line: str) -> bool:
    """True if nothing but blanks separates a time from a number. A time of digits alone is no number."""
    words = line.split()
    has_time = any(TIME.fullmatch(word) for word in words)
    return has_time and any(NUMBER.fullmatch(word) and not TIME.fullmatch(word) for word in words)
