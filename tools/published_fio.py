"""Reads the published tables of fio and dbench, beside what the model promises for their runs."""

from collections.abc import Iterator
from dataclasses import replace

from burstwatch.ebs.load import MIB_PER_MB
from burstwatch.ebs.volumes import VolumeSpec, volume_spec
from burstwatch_exporter.measure.expect import DiskLimits, ExpectedRates, IoPattern, expect
from tools.published_figure import TYPES, Figure, Row

USEC = 1e6


def fio_4k_qd4(row: Row) -> Iterator[Figure]:
    """Runs of 4 KiB with four in flight: rates and mean latencies."""
    volume = _volume(row)
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
    )
    yield base
    latency = spec.latency_s
    yield replace(
        base,
        what="mean latency",
        unit="us",
        published=float(row["lat_us"]),
        promised=None if latency is None else latency * USEC,
    )


def fio_16k_4jobs(row: Row) -> Iterator[Figure]:
    """Runs of 16 KiB by four jobs: rates."""
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
        )


def fio_16k_16jobs(row: Row) -> Iterator[Figure]:
    """Runs of 16 KiB by sixteen jobs, and what their page says of the volumes."""
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
        for column, what, unit, promised in (
            ("iops", "IOPS", "io/s", iops),
            ("mb_s", "bandwidth", "MiB/s", mib_s),
            ("p95_us", "95th percentile", "us", latency_us),
        ):
            if text := row[f"{step}_{column}"]:
                yield replace(
                    base,
                    what=f"{step} {what}",
                    unit=unit,
                    published=float(text),
                    promised=promised,
                )
    if volume is not None:
        yield from _as_printed(base, row, volume, has_credits=has_credits)


def _as_printed(
    base: Figure, row: Row, volume: VolumeSpec, *, has_credits: bool
) -> Iterator[Figure]:
    """Read what the page says of the volume itself."""
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


def dbench(row: Row) -> Iterator[Figure]:
    """Read what a file system was given."""
    volume = _volume(row)
    yield Figure(
        table="dbench_mb_s",
        row=f"{row['instance']} {row['volume']} {row['size_gb']} GB, {row['processes']} clients",
        what="bandwidth",
        unit="MB/s",
        published=float(row["mb_per_s"]),
        promised=volume.limit_mib_s / MIB_PER_MB,
    )


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
        block_kib=block_kib, depth=in_flight, read_share=read_share, is_random=is_random
    )
    expected = expect(ask, DiskLimits(volume_spec=volume))
    if has_credits or expected.empty is None:
        return expected.best
    return expected.empty


def _volume(row: Row) -> VolumeSpec:
    return volume_spec(TYPES.get(row["volume"], row["volume"]), float(row["size_gb"]))
