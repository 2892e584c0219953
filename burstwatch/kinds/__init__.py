"""One file per resource type, found by being here. Each has a ``KIND``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from burstwatch.kind import Kind


def find_kinds() -> dict[str, Kind]:
    """Every kind by name, in the order of the files' names."""
    names = sorted(info.name for info in iter_modules(__path__))
    kinds = [import_module(f"{__name__}.{name}").KIND for name in names]
    return {kind.name: kind for kind in kinds}
