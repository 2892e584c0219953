"""Finds this instance's identity, from the instance metadata service, version 2 only."""

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from http.client import HTTPConnection, HTTPException
from socket import SHUT_RDWR, socket
from threading import Event, Timer
from urllib.parse import urlsplit

#: Where every instance finds it.
ENDPOINT = "http://169.254.169.254"
ANSWERED_WITHIN_S = 2.0
TOKEN_TTL_S = 60
TOKEN, DOCUMENT = "/latest/api/token", "/latest/dynamic/instance-identity/document"
OK, MOST_BYTES = 200, 65_536


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """An instance, as it knows itself. ``pending_s`` is when AWS began to start it, None where it does not say so."""

    instance_id: str
    instance_type: str
    region: str
    account: str
    pending_s: float | None = None


def read_identity(endpoint: str) -> Identity:
    """Ask the service, with a token.

    Raises:
        ValueError: if it cannot be reached, or says something else.
    """
    try:
        headers = {"X-aws-ec2-metadata-token-ttl-seconds": str(TOKEN_TTL_S)}
        token = _ask(endpoint, "PUT", TOKEN, headers)
        document = _ask(endpoint, "GET", DOCUMENT, {"X-aws-ec2-metadata-token": token})
        fields = json.loads(document)
        if not (isinstance(fields["instanceType"], str) and fields["instanceType"]):
            msg = f"instanceType is {fields['instanceType']!r}"
            raise ValueError(msg)  # noqa: TRY301 - told with what else can be wrong
        return Identity(
            instance_id=str(fields["instanceId"]),
            instance_type=str(fields["instanceType"]),
            region=str(fields["region"]),
            account=str(fields["accountId"]),
            pending_s=_seconds(fields.get("pendingTime")),
        )
    except (OSError, HTTPException, ValueError, KeyError, TypeError, RuntimeError) as error:
        msg = f"instance metadata at {endpoint}: {type(error).__name__}: {error}"
        raise ValueError(msg) from error


def _seconds(text: object) -> float | None:
    with suppress(ValueError):
        return datetime.fromisoformat(str(text)).timestamp()
    return None


def _ask(endpoint: str, method: str, path: str, headers: dict[str, str]) -> str:
    """Send one request and read its answer, within a limit of time; raises OSError, HTTPException or ValueError."""
    parts = urlsplit(endpoint)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=ANSWERED_WITHIN_S)
    late = Event()

    def hang_up(sock: socket) -> None:
        late.set()
        with suppress(OSError):  # the other side was first
            sock.shutdown(SHUT_RDWR)

    try:
        connection.connect()
        # The timeout is for each byte that comes; this is for all of them.
        end = Timer(ANSWERED_WITHIN_S, hang_up, [connection.sock])
        end.start()
        try:
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            body = answer.read(MOST_BYTES).decode()
        except (OSError, HTTPException, ValueError):
            if not late.is_set():
                raise
        finally:
            end.cancel()
            end.join()
        if late.is_set():
            # How a connection ends that was hung up (closed, reset, short) is a matter of chance.
            msg = f"{method} {path} is not answered in full within {ANSWERED_WITHIN_S:g} s"
            raise ValueError(msg)
        if answer.length:
            msg = f"{method} {path}: the answer is cut, or has more than {MOST_BYTES} bytes"
            raise ValueError(msg)
    finally:
        connection.close()
    if answer.status != OK:
        msg = f"{method} {path} answers {answer.status}"
        raise ValueError(msg)
    return body
