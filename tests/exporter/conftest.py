from __future__ import annotations

import os
import shutil
from collections.abc import Callable

import pytest


@pytest.fixture
def program() -> Callable[[str], str]:
    """Where a program of Debian's is; without it the test is left out, but not where all must run."""

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is None and os.environ.get("REQUIRE_PROGRAMS"):
            pytest.fail(f"{name} is not installed, and every test must run here")
        if path is None:
            pytest.skip(
                f"{name} is not installed (Debian's packages prometheus, fio, dbench, openssl)"
            )
        return path

    return find
