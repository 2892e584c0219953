"""One file per resource type, found by being here. Each has a ``KIND``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from burstwatch.kind import Kind


class UnknownKindError(ValueError):
    """A kind that there is no file of."""


def find_kinds(wanted: str = "") -> dict[str, Kind]:
    """Every kind by name, in the order of the files' names; or those ``wanted``, as ``a,b``.

    Raises:
        UnknownKindError: naming the one that there is not.
    """
    names = sorted(info.name for info in iter_modules(__path__))
    kinds = {name: import_module(f"{__name__}.{name}").KIND for name in names}
    for name in filter(None, wanted.split(",")):
        if name not in kinds:
            msg = f"unknown kind {name!r}, allowed are {', '.join(kinds)}"
            raise UnknownKindError(msg)
    return {name: kind for name, kind in kinds.items() if not wanted or name in wanted.split(",")}
