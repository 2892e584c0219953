"""A sweep may die between any two calls: the next one ends where it would have ended."""

from copy import deepcopy
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from burstwatch.aws.look.memory import Memory
from burstwatch.aws.sweep.sweep import Sweep
from burstwatch.config import Config
from tests.aws.test_sweep import CONFIG, Disk, alarms, run_sweep
from tests.conftest import Cloud
from tests.fake.region import Region

#: An episode that ends soon.
BRIEF = replace(CONFIG, hold_s=600.0)


class Killed(BaseException):
    """Not an Exception: nothing that the sweep does may catch it, as nothing catches SIGKILL."""


def sweep_killed_at(
    cloud: Cloud, call: int, memory: Memory | None = None, *, config: Config = BRIEF
) -> bool:
    """Sweep, and die before that call is sent. Whether there was such a call."""
    counter = count()

    def before_send(**_: Any) -> None:
        if next(counter) == call:
            raise Killed

    services = [cloud.clients(name).meta.events for name in ("ec2", "cloudwatch", "sns")]
    for events in services:
        events.register("before-send", before_send)
    try:
        run_sweep(cloud, memory, config=config)
    except Killed:
        return True
    finally:
        for events in services:
            events.unregister("before-send", before_send)
    return False


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
