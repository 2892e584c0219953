"""In a sweep and in `serve` too, load that does not explain the fall of a balance makes no page later."""

import math
from collections.abc import Callable

import pytest

from burstwatch.aws.look.memory import Memory
from burstwatch.forecast.policy import PAGED
from burstwatch.history.observations import Verdict
from tests.aws.sweeping import Disk, run_sweep
from tests.conftest import Cloud, fake_cloud
from tests.fleet.fleets import fleet_of

#: Judges the volume with an id now.
Watch = Callable[[str], Verdict]


def sweeping(cloud: Cloud) -> Watch:
    memory = Memory()

    def verdict_of(volume: str) -> Verdict:
        return run_sweep(cloud, memory).snapshot.assessments[volume][1].verdict

    return verdict_of


def serving(cloud: Cloud) -> Watch:
    fleet = fleet_of(cloud)

    def verdict_of(volume: str) -> Verdict:
        fleet.poll()
        (reading,) = fleet.readings()
        assert reading.snapshot is not None
        return reading.snapshot.assessments[volume][1].verdict

    return verdict_of


def first_page(
    cloud: Cloud, verdict_of: Watch, disk: Disk, *, fall: float, iops: float | None
) -> float:
    """The minute of the first page of a balance that falls by so many percent a minute; without load, with None."""
    verdict_of(disk.id)
    for minute in range(math.ceil(70 / fall)):
        disk.percent -= fall
        if iops is None:
            cloud.aws.put(
                "AWS/EBS", "BurstBalance", {"VolumeId": disk.id}, cloud.clock.now, disk.percent
            )
        else:
            disk.put(cloud.clock.now, disk.percent, iops=iops)
        cloud.clock.now += 60
        if verdict_of(disk.id) in PAGED:
            return minute
    return math.inf


def page_of_a_fall(watching: Callable[[Cloud], Watch], *, fall: float, iops: float | None) -> float:
    with fake_cloud() as cloud:
        disk = Disk(cloud, percent=70)
        return first_page(cloud, watching(cloud), disk, fall=fall, iops=iops)


@pytest.mark.parametrize("watching", [sweeping, serving])
@pytest.mark.parametrize(
    "fall", [2.0, *(pytest.param(fall, marks=pytest.mark.many) for fall in (0.5, 1.0))]
)
def test_load_that_does_not_explain_a_fall_makes_no_page_later(
    watching: Callable[[Cloud], Watch], fall: float
) -> None:
    alone = page_of_a_fall(watching, fall=fall, iops=None)
    assert alone < 70 / fall - 15
    for iops in (0.0, 100.0, 290.0):
        assert page_of_a_fall(watching, fall=fall, iops=iops) <= alone + 1, iops
