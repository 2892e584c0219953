"""What the demo's emulator sees of a function's process, however many files the emulator has open."""

import contextlib
import http.client
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from demo.localcloud.runtime import API, Output, RuntimeApi, Turn

#: `select` takes no file whose number is this or more, and a busy emulator has as many connections.
SELECTED_AT_MOST = 1024


@pytest.fixture
def many_files() -> Iterator[None]:
    """As many files as `select` takes are open already."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * SELECTED_AT_MOST:
        pytest.skip(f"a process may have {hard} files open here, which is less than this needs")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * SELECTED_AT_MOST, hard))
    with contextlib.ExitStack() as files:
        newest = 0
        while newest < SELECTED_AT_MOST:
            newest = os.open(os.devnull, os.O_RDONLY)
            files.callback(os.close, newest)
        yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
def api() -> Iterator[RuntimeApi]:
    server = RuntimeApi()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def turn(number: int) -> Turn:
    return Turn(request_id=str(number), arn="arn", payload=b"{}", trace_id="Root=1", deadline_ms=0)


@contextlib.contextmanager
def asking(api: RuntimeApi) -> Iterator[http.client.HTTPConnection]:
    """A process that asks for its next event."""
    with contextlib.closing(http.client.HTTPConnection(api.address, timeout=60)) as connection:
        connection.request("GET", f"{API}/invocation/next")
        yield connection


@pytest.mark.usefixtures("many_files")
def test_what_a_process_prints_is_read_beside_a_thousand_open_files() -> None:
    output = Output()
    with subprocess.Popen(
        [sys.executable, "-c", "print('first'); print('second')"], stdout=subprocess.PIPE, bufsize=0
    ) as process:
        output.follow(process)
    assert output.lines == ["first", "second"]


def test_a_process_that_has_ended_takes_no_event_from_its_successor(api: RuntimeApi) -> None:
    with asking(api) as first:
        assert api.ready.wait(60)
        api.hang_up()
        with pytest.raises(http.client.RemoteDisconnected):
            first.getresponse()
    api.turns.put(turn(7))
    with asking(api) as second:
        answer = second.getresponse()
    assert answer.headers["Lambda-Runtime-Aws-Request-Id"] == "7"
