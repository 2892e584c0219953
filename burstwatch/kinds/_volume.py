"""A volume on an instance: the part of its bucket that the instance leaves, and the limit that holds it back."""

from dataclasses import dataclass, replace
from functools import lru_cache

from burstwatch.bucket import Bucket
from burstwatch.ebs.volumes import KIB_PER_MIB, Binding, InstanceLimits, VolumeSpec
from burstwatch.history.observations import Limit
from burstwatch.history.points import AT_LIMIT

_THROUGHPUT: Binding = "volume_throughput"


@dataclass(frozen=True, kw_only=True, slots=True)
class Volume:
    """A volume as ``spent`` needs it: its promise and its instance's limits.

    ``created_s`` is when it was made, which is when its bucket was full. ``is_changing`` while a resize or
    retype is not settled. ``is_shared`` where several instances may use it at once.
    """

    spec: VolumeSpec
    instance: InstanceLimits | None
    created_s: float | None = None
    is_changing: bool = False
    is_shared: bool = False


@lru_cache(maxsize=4_096)  # a fleet has many volumes, and few types of instances
def on_instance(
    spec: VolumeSpec, bucket: Bucket | None, instance: InstanceLimits | None
) -> tuple[Bucket | None, Limit]:
    """The part of a volume's bucket that an instance leaves, and the fastest spending with its cause."""
    own_limit: Binding = "volume_iops" if spec.unit == "io" else "volume_throughput"
    limits: list[tuple[float, Binding]] = [(spec.burst, own_limit)]
    if instance is not None and spec.unit == "io":
        limits.append((instance.iops, "instance_iops"))
        if bucket is not None:
            # n operations with b bytes in all cost at most n + b/unit credits, so the
            # instance's two limits together bound the spending too.
            most = instance.iops + instance.mib_s * KIB_PER_MIB / spec.io_kib
            bucket = replace(bucket, burst=max(bucket.refill, min(bucket.burst, most)))
    if instance is not None and spec.unit == "MiB":
        limits.append((instance.mib_s, "instance_throughput"))
    rate, binding = min(limits, key=lambda pair: pair[0])
    return bucket, Limit(rate=rate, binding=binding)


def held_back(volume: Volume, *, iops: float, mib_s: float) -> Binding:
    """The limit that a served rate lies at, the volume's or its instance's, if it does."""
    spec, instance = volume.spec, volume.instance
    # Each period of a recording is asked for it: no list is made of the limits.
    use, binding = mib_s / spec.limit_mib_s, _THROUGHPUT
    if spec.unit == "io" and iops / spec.limit_iops > use:
        use, binding = iops / spec.limit_iops, "volume_iops"
    if instance is not None and iops / instance.iops > use:
        use, binding = iops / instance.iops, "instance_iops"
    if instance is not None and mib_s / instance.mib_s > use:
        use, binding = mib_s / instance.mib_s, "instance_throughput"
    return binding if use >= AT_LIMIT else "none"
