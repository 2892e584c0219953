"""The source ``nvme``: each volume's own statistics, through the helper that may read them.

They are a second witness of what the kernel counts: both count the same requests. The kernel's count is
read first, so EBS can be ahead by what is done meanwhile, and by no more however many scrapes there are: each is compared
with the one in which EBS was the least ahead. Up to AHEAD_S and IN_QUEUES of other I/O stays unseen.
"""

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from burstwatch.formatting import span
from burstwatch.web.exposition import Page
from burstwatch_exporter.credits.snapshot import Snapshot, View
from burstwatch_exporter.kernel.blocks import Disk
from burstwatch_exporter.kernel.ebs_stats import PAGE_BYTES, EbsStats, parse_stats
from burstwatch_exporter.page import metrics as m
from burstwatch_exporter.sources import Attempt

#: Timeouts for one disk, and for all disks together: a scrape must not take longer because the helper hangs.
DISK_WITHIN_S, ALL_S = 0.4, 0.8
#: A disk that timed out is not asked for so long.
PAUSE_S = 60.0
GOOD = b"ok\n"
#: EBS may be ahead by this many seconds of a volume's fastest, and by what fits in its queues.
AHEAD_S, IN_QUEUES = 2.0, 4_096
#: An operation that Linux lets through whole is 1 MiB at most, for which EBS charges four of 256 KiB.
MOST_PIECES = 4
#: A disk, what EBS has counted of it beyond the kernel in words or nothing, and since how many seconds.
OnComparison = Callable[[Disk, str, float], None]


class _SlowError(ValueError):
    """A disk did not answer in time. The others of this scrape are asked at the next one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Comparison:
    """By how many operations EBS was ahead of the kernel when they were last compared, and when."""

    identity: tuple[str, str, float | None]
    ahead: int
    at: float


class NvmeSource:
    """Asks the helper for each volume that is an NVMe disk."""

    name = "nvme"

    def __init__(self, helper: Path) -> None:
        """``helper`` is the helper's socket."""
        self._helper = helper
        #: Hears of each comparison what EBS has counted beyond the kernel, or nothing.
        self.on_comparison: OnComparison = lambda *_: None
        #: By disk: the comparison in which EBS was the least ahead since it was told to be too far ahead.
        self._least: dict[str, _Comparison] = {}
        #: By disk: until when it is not asked, and when it was asked last.
        self._paused: dict[str, float] = {}
        self._asked: dict[str, float] = {}

    def add_to(self, page: Page, snapshot: Snapshot, attempt: Attempt) -> None:
        """Add each volume's statistics. An error hides no other disk; after a timeout the rest wait for the next scrape.

        Raises:
            OSError: if the helper is not there.
        """
        until, why = time.monotonic() + ALL_S, ""
        views = [
            view
            for view in snapshot.views
            if view.disk.name.startswith("nvme") and (view.spec is None or view.spec.is_of_ebs)
        ]
        # Disks that were left out for lack of time come first next time.
        for view in sorted(views, key=lambda view: self._asked.get(view.disk.name, 0.0)):
            disk = view.disk
            now = time.monotonic()
            try:
                if now < self._paused.get(disk.name, now):
                    msg = f"did not answer; polled in {span(self._paused[disk.name] - now)}"
                    raise ValueError(msg)  # noqa: TRY301 - told with the others
                if why or now > until:
                    msg = f"not asked this time: {why or 'the others took too long'}"
                    raise ValueError(msg)  # noqa: TRY301 - as above
                self._asked[disk.name] = now
                stats = parse_stats(_content(self._ask(disk)))
                add_stats(page, disk, stats)
                self._compare(view, stats, snapshot.at)
            except _SlowError as error:
                self._paused[disk.name] = now + PAUSE_S
                why = f"{disk.name} did not answer"
                attempt.problems.append(f"{disk.key} ({disk.name}): {error}")
            except ValueError as error:
                attempt.problems.append(f"{disk.key} ({disk.name}): {error}")

    def _compare(self, view: View, stats: EbsStats, at: float) -> None:
        """Compare what EBS has counted since the last time with what the kernel has."""
        disk, counters = view.disk, view.counters
        if counters is None:
            return
        ahead = stats.read_ops + stats.write_ops - counters.ops
        least = self._least.get(disk.name)
        comparison = _Comparison(identity=disk.identity, ahead=ahead, at=at)
        if least is None or least.identity != disk.identity or view.spec is None:
            self._least[disk.name] = comparison
            return
        more, words, limit = ahead - least.ahead, "", view.spec.volume_spec.limit_iops
        if more > AHEAD_S * limit + IN_QUEUES:
            words = f"EBS has done {more:,} operations more than the kernel has counted"
        if words or more <= 0:
            self._least[disk.name] = comparison
        # However long it took, so many operations cost no more than this time at full burst.
        self.on_comparison(disk, words, min(at - least.at, MOST_PIECES * more / limit))

    def _ask(self, disk: Disk) -> bytes:
        """Ask the helper for one disk's log page; raises OSError without a helper, ValueError for no answer."""
        until = time.monotonic() + DISK_WITHIN_S
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(DISK_WITHIN_S)
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
    page.add(m.EBS_READ_OPS, labels, stats.read_ops)
    page.add(m.EBS_WRITE_OPS, labels, stats.write_ops)
    page.add(m.EBS_READ_BYTES, labels, stats.read_bytes)
    page.add(m.EBS_WRITE_BYTES, labels, stats.write_bytes)
    page.add(m.EBS_READ_SECONDS, labels, stats.read_s)
    page.add(m.EBS_WRITE_SECONDS, labels, stats.write_s)
    page.add(m.EBS_EXCEEDED_IOPS, labels, stats.exceeded_iops_s)
    page.add(m.EBS_EXCEEDED_TP, labels, stats.exceeded_tp_s)
    page.add(m.EBS_EC2_EXCEEDED_IOPS, labels, stats.ec2_exceeded_iops_s)
    page.add(m.EBS_EC2_EXCEEDED_TP, labels, stats.ec2_exceeded_tp_s)
    page.add(m.EBS_QUEUE, labels, stats.queue_length)
    page.add_histogram(m.EBS_READ_LATENCY, labels, stats.read_latencies, total=stats.read_s)
    page.add_histogram(m.EBS_WRITE_LATENCY, labels, stats.write_latencies, total=stats.write_s)
