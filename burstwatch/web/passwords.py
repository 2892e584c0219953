"""Checks passwords: basic authentication against bcrypt hashes."""

import base64
import hmac
import secrets
from collections.abc import Mapping

import bcrypt

#: A hash of nothing, by its cost.
NOBODY = "$2b${}$abcdefghijklmnopqrstuu5LoIPHzo9eG0S7rHGHDDY4xM3QvQh0e"
#: bcrypt is slow on purpose; so many that were right before are remembered.
REMEMBERED = 64


class Passwords:
    """Names with bcrypt hashes of their passwords. Without any, everybody may ask."""

    def __init__(self, users: Mapping[str, str]) -> None:
        """``users`` are hashes by name."""
        self._users = {name: its_hash.encode() for name, its_hash in users.items()}
        self._key = secrets.token_bytes(32)
        self._costs = [its_hash[4:6] for its_hash in users.values()]
        self._right: set[bytes] = set()

    def is_known(self, authorization: str) -> bool:
        """True if a header is known to let its sender in, which takes no time."""
        return not self._users or self._digest(authorization) in self._right

    def allow(self, authorization: str) -> bool:
        """True if an ``Authorization`` header lets its sender in. This takes as long as bcrypt does."""
        if self.is_known(authorization):
            return True
        is_right = self._is_right(authorization)
        if is_right and len(self._right) < REMEMBERED:
            self._right.add(self._digest(authorization))
        return is_right

    def _digest(self, authorization: str) -> bytes:
        return hmac.digest(self._key, authorization.encode("utf-8", "replace"), "sha256")

    def _nobody(self, user: str) -> bytes:
        """A hash for a name that does not exist: it costs what that of some name costs that does, always the same."""
        number = int.from_bytes(self._digest(user))
        return NOBODY.format(self._costs[number % len(self._costs)]).encode()

    def _is_right(self, authorization: str) -> bool:
        """Check a Basic header; how long that takes does not tell whether there is such a user."""
        scheme, _, encoded = authorization.partition(" ")
        if scheme.lower() != "basic":
            return False
        try:
            name, separator, password = base64.b64decode(encoded, validate=True).partition(b":")
            user = name.decode()
        except ValueError:  # no base64, no ASCII or no UTF-8
            return False
        its_hash = self._users.get(user)
        try:
            is_right = bcrypt.checkpw(password, its_hash or self._nobody(user))
        except ValueError:  # longer than bcrypt takes
            return False
        return bool(separator) and is_right and its_hash is not None
