"""Compares what others printed and measured with what the model promises, figure by figure.

The tables are in ``docs/published``. A figure that is more than a tenth away from its
promise has its own explanation; one that nothing is promised for says why.
"""

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from burstwatch.bucket import Bucket, time_to_empty
from burstwatch.ebs.load import MIB_PER_MB
from burstwatch.ebs.other_disks import OTHER_DISKS
from burstwatch.ebs.prices import EBS_PRICES
from burstwatch.ebs.volumes import VolumeSpec, volume_spec
from burstwatch_exporter.measure.expect import DiskLimits, ExpectedRates, IoPattern, expect
from tools.published_reasons import reason_of

#: Further apart than this, as a share, needs an explanation.
APART = 0.1
MINUTE, HOUR = 60.0, 3_600.0
USEC = 1e6
TYPES = {"magnetic": "standard"}
TOKYO = "ap-northeast-1"
TABLES_FOLDER = Path(__file__).parents[1] / "docs" / "published"
#: The table that a profile of `burstwatch-exporter measure` repeats.
TABLE_OF = {
    "fio-4k-qd4": "fio_4k_qd4",
    "fio-16k-4jobs": "fio_16k_4jobs",
    "fio-16k-16jobs": "fio_16k_16jobs",
    "scaling": "gce_pd_2017",
    "dbench": "dbench_mb_s",
    "dd-drain": "gp2_observed_drain",
    "dd-drain-raid0": "gp2_observed_drain",
}
Row = dict[str, str]
Of = Literal["iops", "mib_s", "mean", "p95", "files"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One published number. ``promised`` is None where nothing is, and ``reason`` says why.

    ``what`` and ``unit`` say what the number is. Where a measurement of one's own can be
    compared with it, ``step`` and ``volume_type`` are those to compare with, ``of`` what of it
    and ``way`` its direction.
    """

    table: str
    row: str
    what: str
    unit: str
    published: float
    promised: float | None
    step: str = ""
    of: Of | None = None
    way: Literal["read", "write", "both"] = "both"
    volume_type: str = ""
    size_gib: float = 0.0
    has_credits: bool = True
    reason: str = ""

    @property
    def ratio(self) -> float | None:
        """Published by promised."""
        return None if self.promised is None else self.published / self.promised

    @property
    def is_apart(self) -> bool:
        """Whether it needs an explanation."""
        return self.ratio is None or abs(self.ratio - 1) > APART


@cache
def figures() -> tuple[Figure, ...]:
    """Every figure of every table, with its explanation where it needs one."""
    found = [
        figure
        for table, read in TABLES.items()
        for row in read_table(table)
        for figure in read(row)
    ]
    return tuple(
        replace(one, reason=reason_of(one.table, one.row, one.what)) if one.is_apart else one
        for one in found
    )


def read_table(name: str) -> list[Row]:
    """The rows of a published table, by column."""
    text = (TABLES_FOLDER / f"{name}.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def _fio_4k_qd4(row: Row) -> Iterator[Figure]:
    volume, size = _volume(row)
    step, _, way = row["workload"].partition("_")
    share = 1.0 if step.endswith("read") else 0.0 if step.endswith("write") else 0.7
    spec = _rates(
        volume, block_kib=4, in_flight=4, read_share=share, is_random=not step.startswith("seq")
    )
    part = {"read": share, "write": 1 - share}.get(way, 1.0)
    base = Figure(
        table="fio_4k_qd4",
        row=f"{row['instance']} {row['volume']} {row['size_gb']} GB {row['workload']}",
        what="IOPS",
        unit="io/s",
        published=float(row["iops"]),
        promised=spec.iops * part,
        step=step,
        of="iops",
        way="read" if way == "read" else "write" if way == "write" else "both",
        volume_type=volume.volume_type,
        size_gib=size,
    )
    yield base
    latency = spec.latency_s
    yield replace(
        base,
        what="mean latency",
        of="mean",
        unit="us",
        published=float(row["lat_us"]),
        promised=None if latency is None else latency * USEC,
    )


def _fio_16k_4jobs(row: Row) -> Iterator[Figure]:
    volume = volume_spec(TYPES.get(row["volume"], row["volume"]), 100)
    shares = {"seqread": 1.0, "seqwrite": 0.0, "randread": 1.0, "randwrite": 0.0, "randmix70": 0.7}
    for name in list(row)[1:]:
        spec = _rates(
            volume,
            block_kib=16,
            in_flight=4,
            read_share=shares.get(name, 0.5),
            is_random=name.startswith("rand"),
        )
        yield Figure(
            table="fio_16k_4jobs",
            row=f"m3.xlarge {row['volume']} 100 GB {name}",
            what="IOPS",
            unit="io/s",
            published=float(row[name]),
            promised=spec.iops,
            step=name,
            of="iops",
            volume_type=volume.volume_type,
            size_gib=100,
        )


def _fio_16k_16jobs(row: Row) -> Iterator[Figure]:
    size = float(row["size_gb"])
    kind = row["volume"]
    provisioned = float(row["spec_iops"]) if kind == "io1" else None
    volume = None if kind == "ephemeral" else volume_spec(kind, size, iops=provisioned)
    has_credits = row["credits"] != "no"
    credit = {"yes": " with credits", "no": " without credits"}.get(row["credits"], "")
    label = f"{kind} {row['size_gb']} GB{credit} ({row['randwrite_iops']} writes)"
    base = Figure(
        table="fio_16k_16jobs",
        row=label,
        what="",
        unit="io/s",
        published=0,
        promised=None,
        volume_type=volume.volume_type if volume else "instance-store",
        size_gib=size,
        has_credits=has_credits,
    )
    for step, share in (("randwrite", 0.0), ("randread", 1.0)):
        iops = mib_s = latency_us = None
        if volume is not None:
            spec = _rates(
                volume,
                block_kib=16,
                in_flight=16,
                read_share=share,
                is_random=True,
                has_credits=has_credits,
            )
            iops, mib_s, latency_us = spec.iops, spec.mib_s, 16 / spec.iops * USEC
        columns: tuple[tuple[str, str, str, Of, float | None], ...] = (
            ("iops", "IOPS", "io/s", "iops", iops),
            ("mb_s", "bandwidth", "MiB/s", "mib_s", mib_s),
            ("p95_us", "95th percentile", "us", "p95", latency_us),
        )
        for column, what, unit, of, promised in columns:
            if text := row[f"{step}_{column}"]:
                yield replace(
                    base,
                    what=f"{step} {what}",
                    unit=unit,
                    published=float(text),
                    promised=promised,
                    step=step,
                    of=of,
                )
    if volume is None:
        return
    most = volume.limit_mib_s if has_credits else volume.limit_mib_s_when_empty
    if row["max_mb_s"]:
        yield replace(
            base,
            what="most bandwidth",
            unit="MiB/s",
            published=float(row["max_mb_s"]),
            promised=most,
        )
    if row["mb_s_at_16k"]:
        rate = volume.burst if has_credits else volume.baseline
        promised = rate * 16 / 1024
        yield replace(
            base,
            what="at 16 KiB",
            unit="MiB/s",
            published=float(row["mb_s_at_16k"]),
            promised=promised,
        )
    printed = [float(one) for one in row["spec_iops"].split("/")]
    yield replace(base, what="baseline as printed", published=printed[0], promised=volume.baseline)
    if len(printed) > 1:
        yield replace(base, what="burst as printed", published=printed[1], promised=volume.burst)


def _dbench(row: Row) -> Iterator[Figure]:
    volume, size = _volume(row)
    yield Figure(
        table="dbench_mb_s",
        row=f"{row['instance']} {row['volume']} {row['size_gb']} GB, {row['processes']} clients",
        what="bandwidth",
        unit="MB/s",
        published=float(row["mb_per_s"]),
        promised=volume.limit_mib_s / MIB_PER_MB,
        step=f"clients-{row['processes']}",
        of="files",
        volume_type=volume.volume_type,
        size_gib=size,
    )


def _gce(row: Row) -> Iterator[Figure]:
    what = row["what"]
    name = "local-ssd" if "local" in what else "pd-ssd"
    disk = OTHER_DISKS[name]
    members = 2 if "_x2_" in what else 1
    vcpus = 16 if "16_to_31" in what else 0 if "under_16" in what else 32
    cap, own = disk.cap(vcpus), disk.of_size(1_000 if name == "pd-ssd" else 375)
    if "cap" in what:
        ways = cap
    elif "nominal" in what:
        ways = own
    else:
        ways = own.times(members).within(cap)
    base = Figure(
        table="gce_pd_2017",
        row=what.replace("_", " "),
        what="",
        unit="io/s",
        published=0,
        promised=None,
        volume_type=name,
        size_gib=1_000 if name == "pd-ssd" else 375,
    )
    is_measured = what.startswith("measured") and members == 1
    for column, promised, step in (
        ("read_iops", ways.read_iops, "randread-256"),
        ("write_iops", ways.write_iops, "randwrite-256"),
        ("read_mb_s", ways.read_mib_s / MIB_PER_MB, "bandwidth-read"),
        ("write_mb_s", ways.write_mib_s / MIB_PER_MB, "bandwidth-write"),
    ):
        if row[column]:
            yield replace(
                base,
                what=column.replace("_", " ").replace("mb s", "bandwidth").replace("iops", "IOPS"),
                unit="MB/s" if "mb" in column else "io/s",
                published=float(row[column]),
                promised=promised,
                step=step if is_measured else "",
                of="mib_s" if "mb" in column else "iops",
            )


def _nominal(row: Row) -> Iterator[Figure]:
    volume = volume_spec("gp2", float(row["size_gib"]))
    base = Figure(
        table="gp2_nominal",
        row=f"{row['size_gib']} GiB",
        what="baseline",
        unit="io/s",
        published=float(row["baseline_iops"]),
        promised=volume.baseline,
    )
    yield base
    for column, what, worked_out in (
        ("burst_s", "time to empty", _to_empty),
        ("refill_s", "time to fill", lambda bucket: bucket.capacity / bucket.refill),
    ):
        yield from _or_none(
            replace(base, what=what, unit="s"), row[column], volume.bucket, worked_out
        )


def _or_none(
    base: Figure, text: str, bucket: Bucket | None, worked_out: Callable[[Bucket], float]
) -> Iterator[Figure]:
    """A figure, where there is one on both sides; "n/a" where there is no bucket agrees."""
    if bucket is None or text == "n/a":
        if (bucket is None) != (text == "n/a"):
            yield replace(base, published=0.0 if text == "n/a" else float(text), promised=None)
        return
    yield replace(base, published=float(text), promised=worked_out(bucket))


def _drain(row: Row) -> Iterator[Figure]:
    volume = volume_spec("gp2", float(row["size_gib"]))
    base = Figure(
        table="gp2_observed_drain",
        row=f"{row['size_gib']} GiB",
        what="",
        unit="io/s",
        published=0,
        promised=None,
        step="write512",
        volume_type="gp2",
        size_gib=volume.size_gib,
    )
    for name, promised in (("burst", volume.burst), ("baseline", volume.baseline)):
        for minute, text in enumerate(row[f"{name}_iops"].split(";"), start=1):
            if text == "same as burst" and volume.bucket is None:
                continue
            yield replace(
                base,
                what=f"{name}, reading {minute}",
                published=float(text),
                promised=promised,
                of="iops",
                has_credits=name == "burst",
            )
    bucket = volume.bucket
    if bucket is not None:
        yield replace(
            base, what="drained after", unit="min", published=float(row["drained_after_min"]),
            promised=_to_empty(bucket) / MINUTE,
        )  # fmt: skip
        yield replace(
            base, what="recharge an idle hour", unit="%",
            published=float(row["recharge_pct_per_idle_hour"]),
            promised=min(100.0, bucket.refill * HOUR / bucket.capacity * 100),
        )  # fmt: skip


def _price(row: Row) -> Iterator[Figure]:
    kind = TYPES.get(row["type"], row["type"])
    base = Figure(
        table="price_2016_tokyo",
        row=f"{row['type']} in {row['year']}",
        what="price of a GB-month",
        unit="USD",
        published=float(row["usd_per_gb_month"]),
        promised=EBS_PRICES[TOKYO].gib.get(kind),
    )
    yield base
    for column, what in (
        ("usd_per_iops_month", "price of an IOPS-month"),
        ("usd_per_million_io", "price of a million I/O"),
    ):
        if row[column]:
            yield replace(base, what=what, published=float(row[column]), promised=None)


TABLES: Mapping[str, Callable[[Row], Iterator[Figure]]] = {
    "gp2_nominal": _nominal,
    "gp2_observed_drain": _drain,
    "fio_4k_qd4": _fio_4k_qd4,
    "fio_16k_4jobs": _fio_16k_4jobs,
    "fio_16k_16jobs": _fio_16k_16jobs,
    "dbench_mb_s": _dbench,
    "gce_pd_2017": _gce,
    "price_2016_tokyo": _price,
}


def _volume(row: Row) -> tuple[VolumeSpec, float]:
    size = float(row["size_gb"])
    return volume_spec(TYPES.get(row["volume"], row["volume"]), size), size


def _rates(
    volume: VolumeSpec,
    *,
    block_kib: float,
    in_flight: int,
    read_share: float,
    is_random: bool,
    has_credits: bool = True,
) -> ExpectedRates:
    ask = IoPattern(
        block_kib=block_kib, in_flight=in_flight, read_share=read_share, is_random=is_random
    )
    expected = expect(ask, DiskLimits(volume_spec=volume))
    if has_credits or expected.empty is None:
        return expected.best
    return expected.empty


def _to_empty(bucket: Bucket) -> float:
    return time_to_empty(bucket, level=bucket.capacity, demand=bucket.burst)
