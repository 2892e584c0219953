"""The repairs of the local clouds, where the emulator itself is not needed to try them."""

import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from demo.localcloud.repairs import whole_before_used

#: How long a second request may take to get past a service that is not there yet.
WAIT_S = 0.5


class Loader:
    """Loads a service as LocalStack and localemu do: it counts as loaded, and then gets its operations."""

    def __init__(self) -> None:
        self.service_locks: defaultdict[str, Any] = defaultdict(threading.RLock)
        self.loaded: set[str] = set()
        self.operations: set[str] = set()
        self.begun, self.second = threading.Event(), threading.Event()

    def require_service(self, _chain: object, context: SimpleNamespace, _response: object) -> None:
        name = context.service.service_name
        if name in self.loaded:
            self.second.set()
            return
        self.loaded.add(name)
        self.begun.set()
        self.second.wait(WAIT_S)
        self.operations.add(name)


def test_two_that_ask_for_a_service_at_once_both_find_its_operations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Loader, "require_service", whole_before_used(Loader.require_service))
    loader = Loader()
    context = SimpleNamespace(service=SimpleNamespace(service_name="efs"))

    def ask() -> bool:
        loader.require_service(None, context, None)
        return "efs" in loader.operations

    with ThreadPoolExecutor(2) as pool:
        former = pool.submit(ask)
        assert loader.begun.wait(10)
        latter = pool.submit(ask)
        assert former.result()
        assert latter.result()
