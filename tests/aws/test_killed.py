"""A sweep may die between any two calls: the next one ends where it would have ended."""

from copy import deepcopy
from itertools import count

import pytest

from burstwatch.aws.sweep.sweep import Sweep
from tests.aws.killing import BRIEF, sweep_killed_at
from tests.aws.sweeping import Disk, alarms, run_sweep
from tests.conftest import Cloud
from tests.fake.region import Region


def moments_of_an_episode(cloud: Cloud) -> list[tuple[float, dict[str, Region]]]:
    """The clock and the whole cloud, before each sweep that makes or deletes an alarm."""
    disk, found = Disk(cloud, percent=90), []
    for minute in range(75):
        disk.minute(iops=3_000 if minute < 28 else 50)
        before = cloud.clock.now, deepcopy(cloud.aws.regions)
        result: Sweep = run_sweep(cloud, config=BRIEF)
        cloud.aws.evaluate_alarms()
        if result.created or result.deleted:
            found.append(before)
    return found


@pytest.mark.slow
def test_killed_before_any_call_and_run_again_a_sweep_ends_in_the_same_state(cloud: Cloud) -> None:
    moments = moments_of_an_episode(cloud)
    assert len(moments) >= 3  # a warning made, a page made, and both deleted
    for at, regions in moments:
        cloud.clock.now = at
        cloud.aws.regions = deepcopy(regions)
        run_sweep(cloud, config=BRIEF)
        cloud.aws.evaluate_alarms()
        expected = alarms(cloud)
        for call in count():
            cloud.aws.regions = deepcopy(regions)
            if not sweep_killed_at(cloud, call):
                break
            run_sweep(cloud, config=BRIEF)
            cloud.aws.evaluate_alarms()
            assert alarms(cloud) == expected, (at, call)
        assert call >= 8
