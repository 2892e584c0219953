"""In a sweep too, load that does not explain the fall of a balance makes no page later."""

import math

import pytest

from burstwatch.aws.look.memory import Memory
from burstwatch.forecast.policy import PAGED
from tests.aws.sweeping import Disk, run_sweep
from tests.conftest import Cloud, fake_cloud


def first_page(cloud: Cloud, *, fall: float, iops: float | None) -> float:
    """The minute of the first page of a balance that falls by so many percent a minute; without load, with None."""
    disk, memory = Disk(cloud, percent=70), Memory()
    run_sweep(cloud, memory)
    for minute in range(math.ceil(70 / fall)):
        disk.percent -= fall
        if iops is None:
            cloud.aws.put(
                "AWS/EBS", "BurstBalance", {"VolumeId": disk.id}, cloud.clock.now, disk.percent
            )
        else:
            disk.put(cloud.clock.now, disk.percent, iops=iops)
        cloud.clock.now += 60
        (_, assessment) = run_sweep(cloud, memory).snapshot.assessments[disk.id]
        if assessment.verdict in PAGED:
            return minute
    return math.inf


@pytest.mark.parametrize(
    "fall", [2.0, *(pytest.param(fall, marks=pytest.mark.many) for fall in (0.5, 1.0))]
)
def test_load_that_does_not_explain_a_fall_makes_no_page_later_in_a_sweep(fall: float) -> None:
    with fake_cloud() as cloud:
        alone = first_page(cloud, fall=fall, iops=None)
    assert alone < 70 / fall - 15
    for iops in (0.0, 100.0, 290.0):
        with fake_cloud() as cloud:
            assert first_page(cloud, fall=fall, iops=iops) <= alone + 1, iops
