"""Paging rules to compare, one file each, found by being here. Each has ``POLICIES``."""

from importlib import import_module
from pkgutil import iter_modules

from burstwatch.backtest.evaluate import Policy


def find_policies() -> dict[str, Policy]:
    """Every policy by name, in the order of the files' names.

    Raises:
        ValueError: if two policies have one name.
    """
    by_name: dict[str, Policy] = {}
    for module_name in sorted(info.name for info in iter_modules(__path__)):
        for policy in import_module(f"{__name__}.{module_name}").POLICIES:
            if policy.name in by_name:
                msg = f"two policies are called {policy.name!r}, the second in {module_name}.py"
                raise ValueError(msg)
            by_name[policy.name] = policy
    return by_name
