"""Compares what others printed and measured with what the model promises, figure by figure.

The tables are in ``docs/published``. A figure that is more than a tenth away from its
promise has its own explanation; one that nothing is promised for says why.
"""

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from burstwatch.bucket import Bucket, time_to_empty
from burstwatch.ebs.load import MIB_PER_MB
from burstwatch.ebs.other_disks import OTHER_DISKS
from burstwatch.ebs.prices import price_in_table
from burstwatch.ebs.volumes import volume_spec
from tools.published_figure import TYPES, Figure, Row
from tools.published_fio import dbench, fio_4k_qd4, fio_16k_4jobs, fio_16k_16jobs
from tools.published_reasons import reason_of

MINUTE, HOUR = 60.0, 3_600.0
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
    )
    for column, promised in (
        ("read_iops", ways.read_iops),
        ("write_iops", ways.write_iops),
        ("read_mb_s", ways.read_mib_s / MIB_PER_MB),
        ("write_mb_s", ways.write_mib_s / MIB_PER_MB),
    ):
        if row[column]:
            yield replace(
                base,
                what=column.replace("_", " ").replace("mb s", "bandwidth").replace("iops", "IOPS"),
                unit="MB/s" if "mb" in column else "io/s",
                published=float(row[column]),
                promised=promised,
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
        promised=price_in_table(TOKYO, kind),
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
    "fio_4k_qd4": fio_4k_qd4,
    "fio_16k_4jobs": fio_16k_4jobs,
    "fio_16k_16jobs": fio_16k_16jobs,
    "dbench_mb_s": dbench,
    "gce_pd_2017": _gce,
    "price_2016_tokyo": _price,
}


def _to_empty(bucket: Bucket) -> float:
    return time_to_empty(bucket, level=bucket.capacity, demand=bucket.burst)
