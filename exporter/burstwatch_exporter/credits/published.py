"""What AWS says of this host: the types, sizes and balances of its volumes, and the bandwidth of its network."""

from collections.abc import Mapping
from dataclasses import dataclass

from burstwatch.formatting import recorded_time
from burstwatch.history.points import LevelPoint
from burstwatch_exporter.credits.disk_spec import DiskSpec
from burstwatch_exporter.instance_types import Bandwidth


@dataclass(frozen=True, kw_only=True, slots=True)
class CloudAnswer:
    """AWS's answers: promises and the newest balances by volume id; empty where it said nothing.

    Their times are AWS's. ``ahead_s`` is how far its clock is ahead of this host's, or None where it did not say.
    ``instance_type`` is that of this instance, empty before the first answer, and ``bandwidth`` what its network moves.
    """

    specs: Mapping[str, DiskSpec]
    balances: Mapping[str, LevelPoint]
    ahead_s: float | None = None
    instance_type: str = ""
    bandwidth: Bandwidth | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """The newest balance that CloudWatch has, and how far it lies outside the interval of its time."""

    point: LevelPoint
    drift: float | None

    @property
    def disagreement(self) -> str:
        """How far apart they are, in words."""
        side = "above" if (self.drift or 0.0) > 0 else "below"
        return (
            f"CloudWatch's balance of {recorded_time(self.point.end_s)} lies {abs(self.drift or 0.0):.1%} of the bucket "
            f"{side} what the counters allow, and takes their place"
        )
