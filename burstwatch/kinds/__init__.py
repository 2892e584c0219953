"""Resource types, one file each: a file here without a leading underscore has a ``KIND``.

``base`` is the contract that they fill in; ``_ec2`` and its like are shared by the kinds
of one API.
"""

from importlib import import_module
from pkgutil import iter_modules

from burstwatch.kinds.base import Kind

CONTRACT = "base"


def find_kinds(chosen: str = "") -> dict[str, Kind]:
    """Every kind by name, sorted by name; or only those in ``chosen``, such as ``a,b``.

    Raises:
        ValueError: naming the kind that does not exist.
    """
    names = sorted(
        info.name
        for info in iter_modules(__path__)
        if info.name != CONTRACT and not info.name.startswith("_")
    )
    kinds = {name: import_module(f"{__name__}.{name}").KIND for name in names}
    names_chosen = [name.strip() for name in chosen.split(",")]
    for name in filter(None, names_chosen):
        if name not in kinds:
            msg = f"unknown kind {name!r}; allowed: {', '.join(kinds)}"
            raise ValueError(msg)
    return {name: kind for name, kind in kinds.items() if not chosen or name in names_chosen}
