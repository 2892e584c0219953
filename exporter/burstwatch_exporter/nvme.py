"""The source ``nvme``: each volume's own statistics, through the helper that may read them."""

import socket
import time
from pathlib import Path

from burstwatch_exporter import metrics as m
from burstwatch_exporter.blocks import Disk
from burstwatch_exporter.ebs_stats import PAGE_BYTES, EbsStats, parse_stats
from burstwatch_exporter.exposition import Page
from burstwatch_exporter.snapshot import Snapshot
from burstwatch_exporter.sources import Attempt

#: Timeouts for one disk, and for all disks together: a scrape must not take longer because the helper hangs.
PATIENCE_S, ALL_S = 0.4, 0.8
#: A disk that timed out is not asked for so long.
PAUSE_S = 60.0
GOOD = b"ok\n"


class _SlowError(ValueError):
    """A disk did not answer in time. The helper asks one after the other, so the next would wait too."""


class NvmeSource:
    """Asks the helper for each volume that is an NVMe disk."""

    name = "nvme"

    def __init__(self, helper: Path) -> None:
        """``helper`` is the helper's socket."""
        self._helper = helper
        #: By disk: until when it is not asked, and when it was asked last.
        self._paused: dict[str, float] = {}
        self._asked: dict[str, float] = {}

    def add_to(self, page: Page, snapshot: Snapshot, attempt: Attempt) -> None:
        """Their statistics. One that does not answer is named, and hides no other.

        Raises:
            OSError: if the helper is not there.
        """
        until, why = time.monotonic() + ALL_S, ""
        disks = [
            view.disk
            for view in snapshot.views
            if view.disk.name.startswith("nvme") and (view.spec is None or view.spec.is_of_ebs)
        ]
        # Those that the time was too short for come first next time.
        for disk in sorted(disks, key=lambda one: self._asked.get(one.name, 0.0)):
            now = time.monotonic()
            try:
                if now < self._paused.get(disk.name, now):
                    msg = f"did not answer; asked again in {self._paused[disk.name] - now:.0f} s"
                    raise ValueError(msg)  # noqa: TRY301 - told with the others
                if why or now > until:
                    msg = f"not asked this time: {why or 'the others took too long'}"
                    raise ValueError(msg)  # noqa: TRY301 - as above
                self._asked[disk.name] = now
                add_stats(page, disk, parse_stats(_content(self._ask(disk))))
            except _SlowError as error:
                self._paused[disk.name] = now + PAUSE_S
                why = f"{disk.name} did not answer"
                attempt.problems.append(f"{disk.key} ({disk.name}): {error}")
            except ValueError as error:
                attempt.problems.append(f"{disk.key} ({disk.name}): {error}")

    def _ask(self, disk: Disk) -> bytes:
        until = time.monotonic() + PATIENCE_S
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(PATIENCE_S)
            try:
                connection.connect(str(self._helper))
            except OSError as error:
                msg = f"the helper at {self._helper}: {error}"
                raise OSError(msg) from error
            try:
                connection.sendall(f"{disk.name}\n".encode())
                answer = b""
                while len(answer) <= len(GOOD) + PAGE_BYTES:
                    connection.settimeout(max(0.001, until - time.monotonic()))
                    more = connection.recv(PAGE_BYTES)
                    if not more:
                        break
                    answer += more
            except TimeoutError as error:
                msg = f"the helper does not answer: {error}"
                raise _SlowError(msg) from error
            except OSError as error:
                msg = f"the helper does not answer: {error}"
                raise ValueError(msg) from error
        return answer


def _content(answer: bytes) -> bytes:
    if not answer.startswith(GOOD):
        message = answer.partition(b"\n")[0].removeprefix(b"error: ").decode("utf-8", "replace")
        raise ValueError(message[:200] or "the helper said nothing")
    return answer.removeprefix(GOOD)


def add_stats(page: Page, disk: Disk, stats: EbsStats) -> None:
    """One volume's page of statistics, under names that join with the EBS CSI driver's."""
    labels = (disk.volume_id, disk.name)
    for what, value in zip(m.OF_EBS, stats[:-2], strict=True):
        page.add(what, labels, value)
    page.add_histogram(m.EBS_READ_LATENCY, labels, stats.read_latencies, total=stats.read_s)
    page.add_histogram(m.EBS_WRITE_LATENCY, labels, stats.write_latencies, total=stats.write_s)
