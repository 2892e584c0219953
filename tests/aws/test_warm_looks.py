"""What earlier looks have read changes no verdict: a warm function says what a cold one says."""

import random

import pytest

from burstwatch.aws.look.memory import Memory
from tests.aws.looking import take_look
from tests.aws.sweeping import Disk
from tests.conftest import Cloud

pytestmark = pytest.mark.slow

MINUTES = 150


@pytest.mark.parametrize(("seed", "every"), [(0, 1), (1, 1), (2, 5), (3, 5)])
def test_a_warm_look_has_the_verdicts_of_a_cold_one(cloud: Cloud, seed: int, every: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - loads of a test
    disks = [Disk(cloud, percent=draw.uniform(20.0, 70.0)) for _ in range(6)]
    warm = Memory()
    loads = {disk.id: 300.0 for disk in disks}
    compared = 0
    for minute in range(MINUTES):
        began = cloud.clock.now
        for disk in disks:
            cloud.clock.now = began
            if draw.random() < 0.1:
                loads[disk.id] = draw.choice((0.0, 100.0, 300.0, 900.0, 3_000.0))
            disk.minute(iops=loads[disk.id])
        if minute % every != every - 1:
            continue
        looked = take_look(cloud, warm)
        if minute % 10 == 9:
            fresh = Memory()
            # As a function that has just started, which has read the days before already.
            fresh.days_before = dict(warm.days_before)
            cold = take_look(cloud, fresh)
            for key, (_, assessment) in cold.assessments.items():
                if looked.assessments[key][1].projection.at < cloud.clock.now:
                    continue  # announced, and not asked again at this look
                compared += 1
                assert looked.assessments[key][1].verdict == assessment.verdict, (minute, key)
    assert compared > MINUTES // 10


def test_days_before_that_are_asked_for_again_are_as_if_they_were_asked_for_whole(
    cloud: Cloud,
) -> None:
    disk, warm = Disk(cloud, percent=40.0), Memory()
    key = f"{disk.id}/BurstBalance"
    for minute in range(12 * 60):
        disk.minute(iops=3_000.0 if minute % 60 < 4 else 200.0)
        if minute % 180 == 170:
            take_look(cloud, warm)
            take_look(cloud, warm)
            fresh = Memory()
            take_look(cloud, fresh)
            kept, asked_anew = warm.days_before[key].past, fresh.days_before[key].past
            assert kept is not None
            assert kept == asked_anew
            days_s = cloud.clock.now - kept.start_s
    assert days_s > 11 * 3_600.0
