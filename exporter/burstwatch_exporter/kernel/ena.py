"""Reads the interfaces that ENA drives: what they moved, and the packets that were beyond an allowance of the instance.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-network-performance-ena.html (2026-11)
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from burstwatch_exporter.kernel.ethtool import read_address, read_statistics

#: As the kernel says which driver a device has.
DRIVER = "DRIVER=ena"
#: What comes into an instance, and what leaves it.
Direction = Literal["in", "out"]
#: How the kernel's counters of each direction begin.
COUNTERS: Mapping[Direction, str] = MappingProxyType({"in": "rx", "out": "tx"})
#: As ENA names them, in front of ``_allowance_exceeded``. Those of bandwidth have a direction.
ALLOWANCES = ("bw_in", "bw_out", "pps", "conntrack", "linklocal")
LARGEST = 2**64 - 1
#: Gives the statistics of an interface's driver by their names.
StatisticsReader = Callable[[str], Mapping[str, int]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Interface:
    """The counters of an interface: bytes and packets by direction, and packets beyond an allowance, where its driver counts them."""

    octets: Mapping[Direction, int]
    packets: Mapping[Direction, int]
    exceeded: Mapping[str, int]


def read_interfaces(
    sysfs: Path, problems: list[str], read: StatisticsReader = read_statistics
) -> dict[str, Interface]:
    """The interfaces of ENA by their names. What is wrong with one is a problem, and hides no other.

    A pod may be shown the host's /sys and has a network of its own: interfaces of another network are left out, for
    the kernel would be asked of what has the same name here.
    """
    interfaces: dict[str, Interface] = {}
    for path in sorted((sysfs / "class" / "net").glob("*")):
        if not (_is_of_ena(path) and _is_of_this_network(path)):
            continue
        try:
            interfaces[path.name] = _read_interface(path, read(path.name))
        except (OSError, ValueError) as error:
            problems.append(f"{path.name}: {error}")
    return interfaces


def _is_of_ena(path: Path) -> bool:
    """True if that driver has it; interfaces of the kernel's own have no device."""
    with suppress(OSError):
        return DRIVER in (path / "device" / "uevent").read_text(encoding="utf-8").split("\n")
    return False


def _is_of_this_network(path: Path) -> bool:
    """True if the interface that /sys shows is the one of its name here, by its hardware address."""
    try:
        address = (path / "address").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return True
    try:
        return read_address(path.name) == address
    except OSError:
        return False


def _read_interface(path: Path, statistics: Mapping[str, int]) -> Interface:
    """One interface; drivers that are older count fewer allowances."""
    counted = {name: statistics.get(f"{name}_allowance_exceeded") for name in ALLOWANCES}
    return Interface(
        octets=_counted(path / "statistics", "bytes"),
        packets=_counted(path / "statistics", "packets"),
        exceeded={name: count for name, count in counted.items() if count is not None},
    )


def _counted(folder: Path, what: str) -> dict[Direction, int]:
    """What the kernel has counted of each direction."""
    return {direction: _count(folder / f"{name}_{what}") for direction, name in COUNTERS.items()}


def _count(path: Path) -> int:
    """A counter of the kernel, of 64 bits."""
    text = path.read_text(encoding="ascii").strip()
    if not text.isdecimal() or int(text) > LARGEST:
        msg = f"{path.name} is {text[:24]!r}, which is no count"
        raise ValueError(msg)
    return int(text)
