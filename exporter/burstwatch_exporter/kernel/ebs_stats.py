"""Reads the counters of an EBS volume on Nitro: NVMe log page 0xD0.

Counters since the volume was attached, how long it asked for more than its own and its
instance's limits, and histograms of its latencies. The layout is that of AWS's
``ebsnvme`` (https://github.com/amazonlinux/amazon-ec2-utils, read 2026-11); its times are
microseconds, which the page https://docs.aws.amazon.com/ebs/latest/userguide/nvme-detailed-performance-stats.html
says too. There is no balance in it.
"""

import math
import struct
from typing import NamedTuple, TypeAlias

PAGE_BYTES = 4096
MAGIC, INSTANCE_STORE = 0x3C23B510, 0xEC2C0D7E
#: Magic, 4 reserved bytes, ten counters and the queue's length.
HEAD = struct.Struct("<I4x11Q")
BINS = 64
#: Where the histograms begin: a count of bins, then lower bound, upper bound, count, reserved.
READ_AT, WRITE_AT = 512, 2056
COUNT = struct.Struct("<Q")
BIN = struct.Struct("<QQI4x")
USEC = 1e6


#: A histogram of latencies: upper bounds in seconds, the last of them infinite, and cumulative counts.
Latencies: TypeAlias = tuple[tuple[float, int], ...]


class EbsStats(NamedTuple):
    """The page, in its own order. Times are seconds, ``queue_length`` is a gauge, all else counts from the attachment on."""

    read_ops: int
    write_ops: int
    read_bytes: int
    write_bytes: int
    read_s: float
    write_s: float
    exceeded_iops_s: float
    exceeded_tp_s: float
    ec2_exceeded_iops_s: float
    ec2_exceeded_tp_s: float
    queue_length: int
    read_latencies: Latencies
    write_latencies: Latencies


def parse_stats(page: bytes) -> EbsStats:
    """The content of a page.

    Raises:
        ValueError: if it is of another size, of another device, or of a layout that is not known.
    """
    if len(page) != PAGE_BYTES:
        msg = f"the log page has {len(page)} bytes, and not {PAGE_BYTES}"
        raise ValueError(msg)
    magic, *counters = HEAD.unpack_from(page)
    if magic == INSTANCE_STORE:
        msg = "an instance store, and no EBS volume"
        raise ValueError(msg)
    if magic != MAGIC:
        msg = f"the log page begins with {magic:#010x}, and not with {MAGIC:#010x}"
        raise ValueError(msg)
    *counts, queue = counters
    seconds = (usec / USEC for usec in counts[4:])
    latencies = _latencies(page, READ_AT), _latencies(page, WRITE_AT)
    return EbsStats._make((*counts[:4], *seconds, queue, *latencies))


def _latencies(page: bytes, at: int) -> Latencies:
    """Read a histogram at an offset: (upper bound in s, count up to it) for each bin; raises ValueError if bins overlap."""
    (bins,) = COUNT.unpack_from(page, at)
    if bins > BINS:
        msg = f"a histogram of {bins} bins, known are {BINS}"
        raise ValueError(msg)
    buckets: list[tuple[float, int]] = []
    total, before = 0, 0
    for index in range(bins):
        lower, upper, count = BIN.unpack_from(page, at + COUNT.size + index * BIN.size)
        if not before <= lower < upper:
            msg = f"a histogram's bin from {lower} to {upper} after {before}"
            raise ValueError(msg)
        total, before = total + count, upper
        buckets.append((upper / USEC, total))
    return (*buckets, (math.inf, total))
