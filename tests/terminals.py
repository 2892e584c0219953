"""The terminal of a command that is run inside a test."""

import io
import os
import re

from burstwatch.cli.main import Terminal
from tests.conftest import Cloud


class Screen(io.StringIO):
    """A terminal. ``lines`` are what it shows, without what moves its cursor or colours it."""

    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        plain = re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", self.getvalue())
        return re.split(r"[\r\n]+", plain)


def terminal_of(cloud: Cloud) -> Terminal:
    out = io.StringIO()
    return Terminal(
        stdin=bytes, stdout=out, stderr=out, env=dict(os.environ), clock=cloud.clock, ask=None
    )
