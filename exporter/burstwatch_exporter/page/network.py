"""The source ``network``: the allowances of an instance's network that were exceeded, by the driver of its interfaces.

The network of an instance has credits too: it may burst above its baseline for a while. AWS publishes neither their number nor
their balance, but ENA counts the packets that came too late for them.
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/monitoring-network-performance-ena.html (2026-11)
"""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

from burstwatch.web.exposition import Page
from burstwatch_exporter.credits.snapshot import Snapshot
from burstwatch_exporter.kernel.ethtool import read_statistics
from burstwatch_exporter.page import metrics as m
from burstwatch_exporter.sources import Attempt

LOG = logging.getLogger("burstwatch_exporter")
DRIVER = "ena"
#: As ENA names them, in front of ``_allowance_exceeded``.
ALLOWANCES = ("bw_in", "bw_out", "pps", "conntrack", "linklocal")
NO_ENA = "no network interface of the driver ena is here, so nothing says when the network's allowance is exceeded (a pod needs hostNetwork)"


class NetworkSource:
    """Reads the statistics of each interface of ENA."""

    name = "network"

    def __init__(
        self, sysfs: Path, read: Callable[[str], dict[str, int]] = read_statistics
    ) -> None:
        """``read`` gives the statistics of an interface by its name."""
        self._folder, self._read = sysfs / "class" / "net", read
        self._has_looked = False

    def add_to(self, page: Page, _: Snapshot, attempt: Attempt) -> None:
        """Add what each interface has moved and which allowances it has exceeded. An error hides no other interface."""
        interfaces = list(self._interfaces())
        if not interfaces and not self._has_looked:
            LOG.info("%s", NO_ENA)
        self._has_looked = True
        for interface in interfaces:
            try:
                self._add(page, interface)
            except (OSError, ValueError) as error:
                attempt.problems.append(f"{interface}: {error}")

    def _interfaces(self) -> Iterator[str]:
        """The names of the interfaces that ENA drives."""
        for path in sorted(self._folder.glob("*")):
            if (path / "device" / "driver").resolve().name == DRIVER:
                yield path.name

    def _add(self, page: Page, interface: str) -> None:
        counted = self._folder / interface / "statistics"
        received, sent = (
            int((counted / f"{way}_bytes").read_text(encoding="ascii")) for way in ("rx", "tx")
        )
        statistics = self._read(interface)
        page.add(m.NET_RECEIVED, (interface,), received)
        page.add(m.NET_SENT, (interface,), sent)
        for allowance in ALLOWANCES:
            exceeded = statistics.get(f"{allowance}_allowance_exceeded")
            if exceeded is not None:  # older drivers have none of some
                page.add(m.NET_EXCEEDED, (interface, allowance), exceeded)
