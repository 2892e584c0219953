"""Keeps what was computed of one history or of its days before, because a replay comes back to each instant."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Result = TypeVar("Result")


class Memo:
    """Results by what they depend on beside the owner, each computed once."""

    def __init__(self) -> None:
        self._results: dict[Hashable, Any] = {}

    def once(self, key: tuple[Hashable, ...], compute: Callable[[], Result]) -> Result:
        """The result of ``compute``, which is a pure function of the owner and of ``key``."""
        if key not in self._results:
            self._results[key] = compute()
        result: Result = self._results[key]
        return result

    def newest(
        self, key: tuple[Hashable, ...], version: int, compute: Callable[[], Result]
    ) -> Result:
        """The same of one version at a time, which takes the place of the one before: for what is large."""
        kept_version, result = self._results.get(key, (None, None))
        if kept_version != version:
            result = compute()
            self._results[key] = version, result
        newest: Result = result
        return newest
