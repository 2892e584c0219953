"""Runs a command against the account of a test."""

import io
import os
from collections.abc import Callable

from burstwatch.cli.main import run
from tests.conftest import Cloud


def burstwatch(
    cloud: Cloud | None, *args: str, ask: Callable[[str], str] | None = None
) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    clock = cloud.clock if cloud else (lambda: 0.0)
    code = run(args, stdout=out, stderr=err, env=dict(os.environ), clock=clock, ask=ask)
    return code, out.getvalue(), err.getvalue()
