"""The runbooks, as their readers find them."""

import re
from pathlib import Path
from textwrap import dedent

FOLDER = Path(__file__).parents[1] / "monitoring" / "runbooks"


ALERTING = FOLDER.parents[1] / "docs" / "alerting.md"


RUNBOOKS = sorted(FOLDER.glob("*.md"))


def blocks(text: str) -> list[str]:
    """What a reader pastes into a shell, block by block."""
    found = re.findall(r"^ *```(?:console|sh)\n(.*?)^ *```", text, flags=re.DOTALL | re.MULTILINE)
    return [dedent(block) for block in found]
