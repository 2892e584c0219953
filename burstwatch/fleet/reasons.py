"""Makes reasons that stay the same: as the value of a label, and to log a problem once."""

import re

from burstwatch.formatting import cut, printable

LONGEST_REASON = 120
#: An error of AWS is its operation and code; then come words, some of which change with each answer.
PARTS_OF_ERROR = 2


def stable_reason(reason: str) -> str:
    """A reason in the same words each time, without ages, counts and ids of requests."""
    words = ": ".join(reason.split(": ")[:PARTS_OF_ERROR])
    return cut(re.sub(r"\d+(\.\d+)?", "N", printable(words)), LONGEST_REASON)
