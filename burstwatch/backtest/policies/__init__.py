"""Paging rules to compare, one file each, found by being here. Each has ``POLICIES``."""

from importlib import import_module
from pkgutil import iter_modules

from burstwatch.backtest.evaluate import Policy


def find_policies() -> dict[str, Policy]:
    """Every policy by name, in the order of the files' names."""
    names = sorted(info.name for info in iter_modules(__path__))
    policy_lists = [import_module(f"{__name__}.{name}").POLICIES for name in names]
    return {policy.name: policy for policies in policy_lists for policy in policies}
