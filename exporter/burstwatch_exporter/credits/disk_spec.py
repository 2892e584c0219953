"""Finds the limits of a volume of this host: from the configuration, or from EC2."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from burstwatch.bucket import Bucket
from burstwatch.ebs.load import MIB
from burstwatch.ebs.other_disks import OTHER_DISKS, OtherDisk
from burstwatch.ebs.volume_types import find_type
from burstwatch.ebs.volumes import Charge, InstanceLimits, VolumeSpec, charge, volume_spec
from burstwatch.history.observations import Limit
from burstwatch.kinds._volume import Volume, on_instance
from burstwatch_exporter.config_file import (
    DEFAULT_IO_KIB,
    EVERY,
    CustomBucket,
    HostConfig,
    VolumeConfig,
)
from burstwatch_exporter.kernel.blocks import Disk
from burstwatch_exporter.kernel.diskstats import Counters

GIB = 2**30
#: The type of what is known by its bucket alone.
CUSTOM = "custom"
#: Sizes of a volume are whole GiB; a device may be off by what its table takes.
SIZE_TOLERANCE = 0.01


@dataclass(frozen=True, kw_only=True, slots=True)
class DiskSpec:
    """A volume's type and size, the bucket that this host can spend from, and its limits.

    ``own_bucket`` is the volume's whatever it is attached to: elsewhere it may be spent
    faster than this instance can. ``source`` is who said so: ``config`` or ``ec2``. ``created_s`` is when
    it was made, and ``changed_s`` when it last got another type or size, if it ever did;
    ``is_changing`` while that is not settled: then it may behave as either.
    """

    volume: Volume
    own_bucket: Bucket | None
    bucket: Bucket | None
    limit: Limit
    source: str
    created_s: float | None = None
    changed_s: float | None = None
    is_changing: bool = False

    @property
    def spec_id(self) -> str:
        """Type and size: two volumes of other sizes may have the same bucket. Of a bucket in figures also what a credit is."""
        spec = self.volume_spec
        unit = f", {spec.unit} of {spec.io_kib:g} KiB" if spec.volume_type == CUSTOM else ""
        return f"{spec.volume_type} {spec.size_gib:g} GiB{unit}"

    @property
    def is_of_ebs(self) -> bool:
        """True if it is an EBS volume at all."""
        return self.volume_spec.volume_type not in {CUSTOM, *OTHER_DISKS}

    @property
    def volume_spec(self) -> VolumeSpec:
        """By type and size."""
        return self.volume.spec


def specs_of(
    disks: Collection[Disk],
    config: HostConfig,
    answers: Mapping[str, DiskSpec],
    *,
    instance: InstanceLimits | None,
) -> tuple[dict[str, DiskSpec], list[str]]:
    """The spec of each disk, by key, and what is odd about it. ``answers`` are EC2's, by key."""
    specs: dict[str, DiskSpec] = {}
    problems: list[str] = []
    for disk in disks:
        stated = config.of(disk.key, disk.name)
        answer = answers.get(disk.key)
        if answer is not None and (stated is None or stated.custom is None):
            specs[disk.key] = answer  # EC2 knows what the configuration can only say
            continue
        if stated is None:
            continue
        try:
            spec, oddity = disk_spec_of(stated, size_bytes=disk.size_bytes, instance=instance)
        except ValueError as error:
            problems.append(f"{disk.key} ({disk.name}): {error}")
            continue
        if oddity:
            problems.append(f"{disk.key} ({disk.name}): {oddity}")
        if spec is not None:
            specs[disk.key] = spec
    here = {EVERY, *(disk.key for disk in disks), *(f"device:{disk.name}" for disk in disks)}
    problems += [f"{key} is not on this host" for key in config.volumes if key not in here]
    return specs, problems


def disk_spec_of(
    config: VolumeConfig, *, size_bytes: int, instance: InstanceLimits | None
) -> tuple[DiskSpec | None, str]:
    """The spec that the configuration states, or None with nothing to go by; and what is odd about it, or nothing.

    The device knows its size: what is said of it only serves to be compared.

    Raises:
        ValueError: if the type is not made in that size.
    """
    if config.custom is not None:
        volume = custom_spec(config.custom, size_bytes / GIB)
        oddity = ""
        instance = None  # no EBS volume, so what EBS gives the instance is not for it
    elif config.volume_type is not None and config.volume_type in OTHER_DISKS:
        size_gib, oddity = _size(config, size_bytes)
        volume = other_spec(OTHER_DISKS[config.volume_type], size_gib)
        instance = None  # the same
    elif config.volume_type is not None:
        size_gib, oddity = _size(config, size_bytes)
        volume = volume_spec(
            find_type(config.volume_type).name, size_gib, iops=config.iops, mib_s=config.mib_s
        )
    else:
        return None, ""
    bucket, limit = on_instance(volume, volume.bucket, instance)
    spec = DiskSpec(
        volume=Volume(spec=volume, instance=instance),
        own_bucket=volume.bucket,
        bucket=bucket,
        limit=limit,
        source="config",
        created_s=config.created_s,
    )
    return spec, oddity


def custom_spec(custom: CustomBucket, size_gib: float) -> VolumeSpec:
    """A volume that is known by its bucket alone: nothing else limits it."""
    unit, bucket = custom.unit, custom.bucket
    return VolumeSpec(
        volume_type=CUSTOM,
        size_gib=size_gib,
        unit=unit,
        io_kib=custom.io_kib,
        baseline=bucket.refill,
        burst=bucket.burst,
        bucket=bucket if bucket.can_drain else None,
        no_bucket_reason="" if bucket.can_drain else "its burst is not above its refill",
        limit_iops=bucket.burst if unit == "io" else math.inf,
        limit_mib_s=bucket.burst if unit == "MiB" else math.inf,
        limit_mib_s_when_empty=bucket.refill if unit == "MiB" else math.inf,
    )


def other_spec(disk: OtherDisk, size_gib: float) -> VolumeSpec:
    """A disk that is no EBS volume: limits, as far as they are known, and no bucket."""
    ways = disk.of_size(size_gib)
    iops, mib_s = max(ways.read_iops, ways.write_iops), max(ways.read_mib_s, ways.write_mib_s)
    return VolumeSpec(
        volume_type=disk.name,
        size_gib=size_gib,
        unit="io",
        io_kib=DEFAULT_IO_KIB,
        baseline=iops,
        burst=iops,
        bucket=None,
        no_bucket_reason=f"{disk.name} has no credits",
        limit_iops=iops,
        limit_mib_s=mib_s,
        limit_mib_s_when_empty=mib_s,
    )


def _size(config: VolumeConfig, size_bytes: int) -> tuple[float, str]:
    """The size to go by in GiB, and in words how the configuration differs, or nothing."""
    device_gib = size_bytes / GIB
    stated = config.size_gib
    if size_bytes <= 0 and stated is not None:
        return stated, ""
    if stated is not None and abs(stated - device_gib) > SIZE_TOLERANCE * device_gib:
        return (
            device_gib,
            f"the configuration states {stated:g} GiB, the device has {device_gib:g} GiB",
        )
    return device_gib, ""


def charge_of(done: Counters, disk: Disk, spec: DiskSpec) -> Charge:
    """The credits that some I/O may have cost.

    Whether discards and flushes are charged is not stated: only the most counts them.
    """
    cost = charge(
        spec.volume_spec, ops=done.ops, mib=done.bytes / MIB, largest_kib=disk.largest_kib
    )
    if not done.other_ops:
        return cost
    return Charge(least=cost.least, nominal=cost.nominal, most=cost.most + done.other_ops)


def pieces_of(disk: Disk, spec: DiskSpec) -> float:
    """The most credits that one I/O costs; what no one bounds is taken as 4 MiB."""
    largest = min(disk.largest_kib, 4096.0)
    return max(1, math.ceil(largest / spec.volume_spec.io_kib))
