"""Reads the counters of an EBS volume on Nitro: NVMe log page 0xD0.

Counters since the volume was attached, how long it asked for more than its own and its
instance's limits, and histograms of its latencies. The layout is that of AWS's
``ebsnvme`` (https://github.com/amazonlinux/amazon-ec2-utils, read 2026-11); its times are
microseconds, which the page https://docs.aws.amazon.com/ebs/latest/userguide/nvme-detailed-performance-stats.html
says too. There is no balance in it.
"""

import struct
from dataclasses import dataclass

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Latencies:
    """A histogram of latencies in seconds: upper bounds and cumulative counts."""

    buckets: tuple[tuple[float, int], ...]
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class EbsStats:
    """The page. Times are seconds, ``queue_length`` is a gauge, all else counts from the attachment on."""

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
    read_ops, write_ops, read_bytes, write_bytes, *times, queue = counters
    read_us, write_us, iops_us, tp_us, ec2_iops_us, ec2_tp_us = times
    return EbsStats(
        read_ops=read_ops,
        write_ops=write_ops,
        read_bytes=read_bytes,
        write_bytes=write_bytes,
        read_s=read_us / USEC,
        write_s=write_us / USEC,
        exceeded_iops_s=iops_us / USEC,
        exceeded_tp_s=tp_us / USEC,
        ec2_exceeded_iops_s=ec2_iops_us / USEC,
        ec2_exceeded_tp_s=ec2_tp_us / USEC,
        queue_length=queue,
        read_latencies=_latencies(page, READ_AT),
        write_latencies=_latencies(page, WRITE_AT),
    )


def _latencies(page: bytes, at: int) -> Latencies:
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
    return Latencies(buckets=tuple(buckets), count=total)
