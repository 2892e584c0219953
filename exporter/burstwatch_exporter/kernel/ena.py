"""Reads the interfaces that ENA drives: what they moved, and the packets that were beyond an allowance of the instance.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-network-performance-ena.html (2026-11)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from burstwatch_exporter.kernel.ethtool import read_statistics

DRIVER = "ena"
#: What comes into an instance, and what leaves it.
Direction = Literal["in", "out"]
#: How the kernel's counters of each direction begin.
COUNTERS: Mapping[Direction, str] = MappingProxyType({"in": "rx", "out": "tx"})
#: As ENA names them, in front of ``_allowance_exceeded``. Those of bandwidth have a direction.
ALLOWANCES = ("bw_in", "bw_out", "pps", "conntrack", "linklocal")
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
    """The interfaces of ENA by their names. What is wrong with one is a problem, and hides no other."""
    interfaces: dict[str, Interface] = {}
    for path in sorted((sysfs / "class" / "net").glob("*")):
        if (path / "device" / "driver").resolve().name != DRIVER:
            continue
        try:
            interfaces[path.name] = _read_interface(path, read(path.name))
        except (OSError, ValueError) as error:
            problems.append(f"{path.name}: {error}")
    return interfaces


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
    return {
        direction: int((folder / f"{name}_{what}").read_text(encoding="ascii"))
        for direction, name in COUNTERS.items()
    }
