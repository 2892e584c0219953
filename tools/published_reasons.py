"""Explains why a published figure is more than a tenth away from the promise: one entry a figure.

Nothing of it is known from inside the machines that were measured then. What follows from
the figures themselves is stated, and what is only likely is called so.
"""

from collections.abc import Mapping
from types import MappingProxyType

_CACHE = (
    "too fast for a magnetic disk: most likely, caches before the disk answered the reads of the 1 GiB file, "
    "and AWS's 200 is for the disk itself"
)
_PARTLY = (
    "some of the 1 GiB file was answered from caches, most likely, and some by the disk itself"
)
_WRITE_BACK = "faster than a magnetic disk writes: acknowledged by a cache on the way, most likely"
_OWN_RATE = "this is four in flight divided by the IOPS of the same run, so only the IOPS differ from the promise"
_P95 = "the promise is the mean by Little's law; a throttled queue serves unevenly, so its tail is longer"
_NO_PROMISE = (
    "AWS publishes no figure for an instance store by size, and the instance type is not said"
)
_IN_MEMORY = "dbench counts what the file system was given; much of it never reaches the disk, so more than the disk's limit is no contradiction"
_FLUSHES = "what holds dbench back here are its flushes, one at a time, not bandwidth"
_BY_SIZE = "the source scales 128 MB/s by size (0.128 a GB); AWS says baseline times 256 KiB once the bucket is empty"
_FLOOR = "measured before AWS introduced the minimum of 100 IOPS: then, 20 GB had 3 IOPS for each GB, which is 60"
_NOT_LISTED = "the type is of an earlier generation or not in the table of prices here, so nothing is compared"

_4K_MAGNETIC = {
    "m3.medium magnetic 8 GB seqread": _CACHE,
    "m3.medium magnetic 50 GB seqread": _CACHE,
    "c3.large magnetic 8 GB seqread": _CACHE,
    "c3.large magnetic 50 GB seqread": _CACHE,
    "m3.medium magnetic 8 GB seqwrite": _WRITE_BACK,
    "m3.medium magnetic 50 GB seqwrite": _WRITE_BACK,
    "c3.large magnetic 8 GB seqwrite": f"{_WRITE_BACK}; a quarter of the rate on the other host, so the cache helped less",
    "c3.large magnetic 50 GB seqwrite": f"{_WRITE_BACK}; half of the rate on the other host, so the cache helped less",
    "m3.medium magnetic 8 GB randread": f"{_CACHE}; random reads are as fast as sequential ones, which is not possible for a disk that moves its head",
    "m3.medium magnetic 50 GB randread": f"{_CACHE}; random reads are as fast as sequential ones, which is not possible for a disk that moves its head",
    "c3.large magnetic 8 GB randread": f"{_PARTLY}: a twelfth of the other host's rate",
    "c3.large magnetic 50 GB randread": f"{_CACHE}; random reads are as fast as sequential ones, which is not possible for a disk that moves its head",
    "m3.medium magnetic 8 GB randwrite": _WRITE_BACK,
    "m3.medium magnetic 50 GB randwrite": _WRITE_BACK,
    "c3.large magnetic 8 GB randwrite": f"{_WRITE_BACK}; a quarter of the rate on the other host, so the cache helped less",
    "c3.large magnetic 50 GB randwrite": _WRITE_BACK,
    "m3.medium magnetic 8 GB mix70_read": _CACHE,
    "m3.medium magnetic 50 GB mix70_read": _CACHE,
    "c3.large magnetic 8 GB mix70_read": "289 reads and writes together: near the disk itself, which AWS puts at 200 with bursts to hundreds",
    "c3.large magnetic 50 GB mix70_read": _CACHE,
    "m3.medium magnetic 8 GB mix70_write": f"fio does three writes for each seven reads, so the write rate follows the read rate: {_CACHE}",
    "m3.medium magnetic 50 GB mix70_write": f"fio does three writes for each seven reads, so the write rate follows the read rate: {_CACHE}",
    "c3.large magnetic 8 GB mix70_write": "289 reads and writes together: near the disk itself, which AWS puts at 200 with bursts to hundreds",
    "c3.large magnetic 50 GB mix70_write": f"fio does three writes for each seven reads, so the write rate follows the read rate: {_CACHE}",
}  # fmt: skip

_16K_4JOBS = {
    "m3.xlarge magnetic 100 GB seqread": _CACHE,
    "m3.xlarge magnetic 100 GB seqwrite": _WRITE_BACK,
    "m3.xlarge magnetic 100 GB randread": _CACHE,
    "m3.xlarge magnetic 100 GB randwrite": _WRITE_BACK,
    "m3.xlarge magnetic 100 GB randmix70": _CACHE,
    "m3.xlarge magnetic 100 GB randmix50_5g": "the file is five times as large, and the rate a fifth of that on 1 GiB: the caches hold 1 GiB but not 5 GiB, so the disk itself is the limit",
    "m3.xlarge gp2 100 GB randwrite": "2,681 of 3,000 by four jobs that each wait for their write (1.5 ms each): latency holds it back, not credits; the reads beside it reach the burst",
}  # fmt: skip

_16K_16JOBS = {
    ("gp2 20 GB without credits (60 writes)", "randwrite IOPS"): _FLOOR,
    ("gp2 20 GB without credits (60 writes)", "randwrite bandwidth"): f"{_FLOOR}; and printed as a whole number",
    ("gp2 20 GB without credits (60 writes)", "randread IOPS"): _FLOOR,
    ("gp2 20 GB without credits (60 writes)", "randread bandwidth"): f"{_FLOOR}; and printed as a whole number",
    ("gp2 20 GB without credits (60 writes)", "most bandwidth"): f"{_BY_SIZE}, with the floor 25 MiB/s",
    ("gp2 20 GB without credits (60 writes)", "at 16 KiB"): f"{_FLOOR}, times 16 KiB",
    ("gp2 20 GB without credits (60 writes)", "baseline as printed"): _FLOOR,
    ("gp2 80 GB with credits (2991 writes)", "randwrite 95th percentile"): _P95,
    ("gp2 80 GB with credits (2991 writes)", "randread 95th percentile"): _P95,
    ("gp2 80 GB without credits (240 writes)", "most bandwidth"): _BY_SIZE,
    ("gp2 240 GB with credits (2990 writes)", "randwrite 95th percentile"): _P95,
    ("gp2 240 GB with credits (2990 writes)", "randread 95th percentile"): _P95,
    ("gp2 240 GB with credits (2990 writes)", "most bandwidth"): "until 2018 the limit of gp2 was 160 MB/s; since then it is 250 MiB/s, from 334 GiB on, or from 171 GiB on while credits are left",
    ("gp2 240 GB with credits (2652 writes)", "randwrite IOPS"): "a second run on the same volume, an eighth below the burst of the first one; the source gives no reason",
    ("gp2 240 GB with credits (2652 writes)", "randwrite 95th percentile"): _P95,
    ("gp2 240 GB with credits (2652 writes)", "randread IOPS"): "more than a gp2 volume of this size can serve, so a part was merged or answered from a cache; the first run has 2,999",
    ("gp2 240 GB with credits (2652 writes)", "randread bandwidth"): "the IOPS beside it times 16 KiB: the same excess",
    ("gp2 240 GB with credits (2652 writes)", "randread 95th percentile"): _P95,
    ("gp2 240 GB with credits (2652 writes)", "most bandwidth"): "until 2018 the limit of gp2 was 160 MB/s; since then it is 250 MiB/s, from 334 GiB on, or from 171 GiB on while credits are left",
    ("ephemeral 32 GB (19792 writes)", "randwrite IOPS"): _NO_PROMISE,
    ("ephemeral 32 GB (19792 writes)", "randwrite bandwidth"): _NO_PROMISE,
    ("ephemeral 32 GB (19792 writes)", "randread IOPS"): _NO_PROMISE,
    ("ephemeral 32 GB (19792 writes)", "randread bandwidth"): _NO_PROMISE,
    ("ephemeral 32 GB (8059 writes)", "randwrite IOPS"): f"{_NO_PROMISE}; 8,059 is 128 MB/s, so a limit on bytes is likely",
    ("ephemeral 32 GB (8059 writes)", "randwrite bandwidth"): _NO_PROMISE,
    ("ephemeral 32 GB (8059 writes)", "randwrite 95th percentile"): _NO_PROMISE,
    ("ephemeral 32 GB (8059 writes)", "randread IOPS"): _NO_PROMISE,
    ("ephemeral 32 GB (8059 writes)", "randread bandwidth"): _NO_PROMISE,
    ("ephemeral 32 GB (8059 writes)", "randread 95th percentile"): _NO_PROMISE,
    ("io1 20 GB (503 writes)", "randread IOPS"): "its writes are at the 500 that were provisioned; reads above them were merged or answered from a cache, most likely",
    ("io1 20 GB (503 writes)", "randread bandwidth"): "the IOPS beside it times 16 KiB: the same excess",
    ("io1 20 GB (503 writes)", "most bandwidth"): "the limit of that time: 500 IOPS of 256 KiB; today's for io1 is a thousand MiB/s",
}  # fmt: skip

_DBENCH = {
    "c3.large magnetic 8 GB, 1 clients": _FLUSHES,
    "c3.large magnetic 50 GB, 1 clients": _FLUSHES,
    "m3.medium magnetic 8 GB, 4 clients": _IN_MEMORY,
    "m3.medium magnetic 50 GB, 4 clients": _IN_MEMORY,
    "m3.medium gp2 8 GB, 4 clients": _IN_MEMORY,
    "m3.medium gp2 50 GB, 4 clients": _IN_MEMORY,
    "c3.large magnetic 8 GB, 4 clients": _FLUSHES,
    "c3.large magnetic 50 GB, 4 clients": _IN_MEMORY,
    "c3.large gp2 8 GB, 4 clients": f"{_IN_MEMORY}; twice the limit of the volume; this host has twice as many processors as the other one",
    "c3.large gp2 50 GB, 4 clients": f"{_IN_MEMORY}; twice the limit of the volume; this host has twice as many processors as the other one",
}  # fmt: skip

_WEIGHTED = "in a mix, writes wait longer than reads; the mean of all its operations is {}, which is four in flight divided by 3,063 a second"

_OTHERS = {
    ("gp2_nominal", "750 GiB", "time to fill"): "a slip of the source: 5.4 M credits at 2,250 a second are 2,400 s; it prints the time to empty again",
    ("gp2_nominal", "16384 GiB", "baseline"): "the cap of 2016 was 10,000 IOPS; since 2018 it is 16,000",
    ("gp2_observed_drain", "1 GiB", "recharge an idle hour"): "6.7 %, which the source rounds down to a whole number",
    ("gp2_observed_drain", "10 GiB", "recharge an idle hour"): "6.7 %, which the source rounds down to a whole number",
    ("gp2_observed_drain", "100 GiB", "drained after"): "33 minutes; the author writes whole tens of minutes for every volume",
    ("fio_4k_qd4", "m3.medium gp2 8 GB mix70_write", "mean latency"): _WEIGHTED.format("1,302 us"),
    ("fio_4k_qd4", "c3.large gp2 8 GB mix70_write", "mean latency"): _WEIGHTED.format("1,302 us"),
    ("fio_4k_qd4", "c3.large gp2 50 GB mix70_write", "mean latency"): "a misprint, most likely for 1,470.58: with that, reads and writes together take 1,302 us, which is four in flight at 3,063 a second; with 470.58 they would take 1,001",
    ("gce_pd_2017", "measured pd ssd 1000gb x2 raid0 32vcpu", "read bandwidth"): "the second disk did not raise the bandwidth (one disk alone has 480): something before the disks was the limit, and the source does not say what",
    ("gce_pd_2017", "measured local nvme x2 raid0 write", "write IOPS"): "one alone has 83,000: a stripe of two wrote no faster, so the run or md held it back and not the disks",
    ("price_2016_tokyo", "magnetic in 2014", "price of a GB-month"): _NOT_LISTED,
    ("price_2016_tokyo", "magnetic in 2014", "price of a million I/O"): _NOT_LISTED,
    ("price_2016_tokyo", "io1 in 2014", "price of a GB-month"): _NOT_LISTED,
    ("price_2016_tokyo", "io1 in 2014", "price of an IOPS-month"): _NOT_LISTED,
}  # fmt: skip

REASONS: Mapping[tuple[str, str, str], str] = MappingProxyType(
    {("fio_4k_qd4", row, "IOPS"): text for row, text in _4K_MAGNETIC.items()}
    | {("fio_4k_qd4", row, "mean latency"): _OWN_RATE for row in _4K_MAGNETIC}
    | {("fio_16k_4jobs", row, "IOPS"): text for row, text in _16K_4JOBS.items()}
    | {("fio_16k_16jobs", *key): text for key, text in _16K_16JOBS.items()}
    | {("dbench_mb_s", row, "bandwidth"): text for row, text in _DBENCH.items()}
    | _OTHERS
)


def reason_of(table: str, row: str, what: str) -> str:
    """Why that figure is apart, or nothing."""
    return REASONS.get((table, row, what), "")
