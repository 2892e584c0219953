"""Reads the time zones that Python prints: ``tzutc()``, ``tzoffset(None, 3600)``, ``ZoneInfo(key='Europe/Berlin')``."""

import ast
import re
from datetime import UTC, timedelta, timezone, tzinfo

from burstwatch.recordings.times import read_zone

UTC_FORMS = re.compile(r"(?:\w+\.)*(?:tzutc\(\)|utc|UTC|tz\.UTC)")
OFFSET_FORMS = re.compile(r"(?:\w+\.)*tzoffset\([^,]*, (-?[0-9]+)\)")
NAMED_FORMS = re.compile(
    r"(?:\w+\.)*(?:ZoneInfo|gettz|timezone|tzfile)\((?:key=)?'(?:.*/zoneinfo/)?([A-Za-z_+\-0-9/]+)'\)"
)
DELTA = re.compile(r"(?:\w+\.)*timedelta\(([^()]*)\)")
DELTA_PART = re.compile(r"(days|hours|minutes|seconds)=(-?[0-9]+)")


def python_zone(node: ast.expr) -> tzinfo | None:
    """The zone that an expression makes, or None for the local one, which nobody knows here.

    Raises:
        ValueError: for a form that is not known.
    """
    written = ast.unparse(node)
    if written in {"None", "tzlocal()"} or written.endswith(".tzlocal()"):
        return None
    if UTC_FORMS.fullmatch(written):
        return UTC
    offset = OFFSET_FORMS.fullmatch(written)
    if offset is not None:
        return timezone(timedelta(seconds=int(offset[1])))
    named = NAMED_FORMS.fullmatch(written)
    if named is not None:
        return read_zone(named[1])
    delta = DELTA.search(written)
    if delta is not None and re.match(r"(?:\w+\.)*(?:timezone|tzoffset|FixedOffset)\(", written):
        parts = {name: int(value) for name, value in DELTA_PART.findall(delta[1])}
        return timezone(timedelta(**parts))
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return read_zone(node.value)
    raise ValueError(written[:80])
