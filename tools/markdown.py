"""Tables of Markdown."""

from collections.abc import Iterable, Sequence


def markdown_table(headings: str, rows: Iterable[Sequence[str]]) -> str:
    """``headings`` are divided by ``|``, as in the table itself."""
    width = headings.count("|") + 1
    lines = [headings, " | ".join(["---"] * width), *(" | ".join(row) for row in rows)]
    return "".join(f"| {line} |\n" for line in lines)
