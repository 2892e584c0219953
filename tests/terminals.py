"""The terminal of a command that is run inside a test."""

import io
import os

from burstwatch.cli.main import Terminal
from tests.conftest import Cloud


def terminal_of(cloud: Cloud) -> Terminal:
    out = io.StringIO()
    return Terminal(
        stdin=bytes, stdout=out, stderr=out, env=dict(os.environ), clock=cloud.clock, ask=None
    )
