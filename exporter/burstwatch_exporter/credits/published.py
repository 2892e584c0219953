"""What AWS says of the volumes of this host: their types, sizes and balances."""

from collections.abc import Mapping
from dataclasses import dataclass

from burstwatch.formatting import recorded_time
from burstwatch.history.points import LevelPoint
from burstwatch_exporter.credits.disk_spec import DiskSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class CloudAnswer:
    """AWS's answers: promises and the newest balances by volume id; empty where it said nothing.

    Their times are AWS's. ``ahead_s`` is how far its clock is ahead of this host's, or None where it did not say.
    """

    specs: Mapping[str, DiskSpec]
    balances: Mapping[str, LevelPoint]
    ahead_s: float | None = None


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
