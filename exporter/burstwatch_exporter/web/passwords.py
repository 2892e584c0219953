"""Who may ask: basic authentication against bcrypt hashes."""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
import threading
from typing import TYPE_CHECKING

import bcrypt

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Of nothing: a name that does not exist takes as long to refuse as one that does.
NOBODY = b"$2b$10$abcdefghijklmnopqrstuu5LoIPHzo9eG0S7rHGHDDY4xM3QvQh0e"
#: bcrypt is slow on purpose; so many that were right before are remembered.
REMEMBERED = 64


class Passwords:
    """Names with bcrypt hashes of their passwords. Without any, everybody may ask."""

    def __init__(self, users: Mapping[str, str]) -> None:
        """``users`` are hashes by name."""
        self._users = {name: its_hash.encode() for name, its_hash in users.items()}
        self._key = secrets.token_bytes(32)
        self._right: set[bytes] = set()
        # bcrypt leaves Python's lock: without one of its own, guessing would take every core.
        self._one_at_a_time = threading.Lock()

    def allow(self, authorization: str) -> bool:
        """Whether an ``Authorization`` header lets its sender in."""
        if not self._users:
            return True
        scheme, _, encoded = authorization.partition(" ")
        if scheme.lower() != "basic":
            return False
        try:
            name, separator, password = base64.b64decode(encoded, validate=True).partition(b":")
            user = name.decode()
        except (binascii.Error, UnicodeDecodeError):
            return False
        return bool(separator) and self._is_right(user, password)

    def _is_right(self, user: str, password: bytes) -> bool:
        seen = hmac.digest(self._key, b"%d:%s%s" % (len(user), user.encode(), password), "sha256")
        if seen in self._right:
            return True
        its_hash = self._users.get(user)
        try:
            with self._one_at_a_time:
                right = bcrypt.checkpw(password, its_hash or NOBODY) and its_hash is not None
        except ValueError:  # longer than bcrypt takes
            return False
        if right and len(self._right) < REMEMBERED:
            self._right.add(seen)
        return right
