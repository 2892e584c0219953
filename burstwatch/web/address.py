"""Reads the address to serve on, as Prometheus' exporters take it."""

import re
from dataclasses import dataclass

from burstwatch.formatting import InputError

ADDRESS_PATTERN = r"(\[[0-9a-fA-F:.]+\]|[^:\[\]\s]*):\d{1,5}"
ADDRESS_ALLOWED = "HOST:PORT, [IPv6]:PORT or :PORT"
LAST_PORT = 65_535


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """Where to serve. An empty ``host`` is every address, port 0 any free port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host or 'every address'}:{self.port}"


def parse_address(name: str, text: str) -> Address:
    """The address of a text such as ``127.0.0.1:10047``.

    Raises:
        ValueError: naming the setting, the value and what is allowed.
    """
    if re.fullmatch(ADDRESS_PATTERN, text) is None:
        msg = f"is {text!r}; allowed: {ADDRESS_ALLOWED}"
        raise InputError(msg, name=name)
    host, _, port = text.rpartition(":")
    if int(port) > LAST_PORT:
        msg = f"has port {port}; allowed: 0 to {LAST_PORT}"
        raise InputError(msg, name=name)
    return Address(host=host.strip("[]"), port=int(port))
