"""Prints the path of a Python that localemu runs on, or nothing where there is none. Run by `make test-cloud`."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

#: What it needs of the language, and for what its packages can be resolved.
FIT = ((3, 13), (3, 12))


def fitting_python() -> str:
    """The path of the first that runs and fits; empty without one."""
    return next((path for path in _candidates() if _version(path) in FIT), "")


def _candidates() -> Iterator[str]:
    yield os.environ.get("PYTHON", "") or "python3"
    for major, minor in FIT:
        path = shutil.which(f"python{major}.{minor}")
        if path:
            yield path
    # The names on the path may be pyenv's own, which run only what a folder has chosen.
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(root.glob("versions/*/bin/python"), reverse=True))


def _version(path: str) -> tuple[int, ...]:
    ask = "import ensurepip, sys; print(*sys.version_info[:2])"
    try:
        done = subprocess.run(  # noqa: S603 - an interpreter of this machine
            [path, "-c", ask], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ()
    return tuple(map(int, done.stdout.split()))


if __name__ == "__main__":
    print(fitting_python())
