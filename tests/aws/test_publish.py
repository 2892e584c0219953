"""What is published of a resource: one severity, and one range of the time that is left."""

import math
from typing import Any

import pytest

from burstwatch.aws.alarms.publish import time_left
from burstwatch.forecast.policy import Assessment
from burstwatch.forecast.projection import Projection
from tests.aws.sweeping import Disk, run_sweep
from tests.conftest import Cloud


def test_the_range_of_the_time_left_is_one_metric_with_its_statistics(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=60)
    for _ in range(10):
        disk.minute(iops=2_500)
    swept = run_sweep(cloud)
    projection = swept.snapshot.assessments[disk.id][1].projection
    assert projection.low_s is not None
    assert projection.time_to_empty_s is not None
    key = (
        "Burstwatch",
        "TimeToExhaustion",
        (("Deployment", "burstwatch"), ("Kind", "ebs_volume"), ("ResourceId", disk.id)),
    )
    now = cloud.clock.now
    cloud.clock.now += 120
    least, likely, most = (
        next(
            iter(
                cloud.aws.statistic(
                    key, cloud.aws.regions["us-east-1"], name, now - 60, now + 60, 60
                ).values()
            )
        )
        for name in ("Minimum", "Average", "Maximum")
    )
    assert least == pytest.approx(projection.low_s)
    assert likely == pytest.approx(projection.time_to_empty_s)
    assert least <= likely <= most <= 86_400


@pytest.mark.parametrize(
    ("low", "likely", "high", "published"),
    [
        (60.0, 120.0, 180.0, (60.0, 120.0, 180.0)),
        (60.0, 120.0, math.inf, (60.0, 120.0, 86_400.0)),
        (60.0, math.inf, math.inf, (60.0, 86_400.0, 86_400.0)),
        (60.0, None, None, (60.0, 60.0, 86_400.0)),
        (None, 120.0, None, (120.0, 120.0, 86_400.0)),
        (1e6, 2e6, 3e6, (86_400.0, 86_400.0, 86_400.0)),
        (math.inf, math.inf, math.inf, None),
        (None, None, None, None),
    ],
)
def test_what_is_published_of_the_time_left_is_finite_and_in_order(
    low: float | None, likely: float | None, high: float | None, published: Any
) -> None:
    projection = Projection(
        state="finite", reason="", at=0.0, low_s=low, time_to_empty_s=likely, high_s=high
    )
    assessment = Assessment(verdict="critical", reason="", projection=projection)
    assert time_left(assessment, 0.0) == published
