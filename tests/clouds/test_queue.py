"""The sweeps of a unit in shards, handed over by a queue: the real template, really run."""

import json

import pytest

from demo.localcloud.emulators import LOCALSTACK
from tests.aws.sweeping import EFFECT
from tests.clouds.queued import NOT_A_UNIT, REGION, SHARDS, Queued

pytestmark = [pytest.mark.clouds, pytest.mark.timeout(0), pytest.mark.on(LOCALSTACK.name)]
UNIT = f"{LOCALSTACK.account}/{REGION}"


def test_a_queue_hands_over_every_shard_in_every_run_and_a_volume_has_one_alarm(
    queued: Queued,
) -> None:
    assert queued.missed == []
    every = {f"{UNIT}/{number}/{SHARDS}" for number in range(1, SHARDS + 1)}
    assert queued.heartbeats == every
    # The first may have begun before there was anybody to take it, the last may not be done.
    for run in sorted(queued.swept)[1:-1]:
        assert set(queued.swept[run]) == every, run
        assert len(queued.swept[run]) == SHARDS
    assert queued.unexplained == []
    assert queued.alarms == {f"burstwatch.critical/{EFFECT}/{queued.volume}/burstwatch"}


def test_a_message_that_fails_is_kept_aside_and_a_late_one_is_left_out(queued: Queued) -> None:
    assert queued.dead.count(NOT_A_UNIT) == 1
    # On a busy machine a sweep may be stopped at its timeout: then the schedule's own message is kept aside too.
    others = [json.loads(body) for body in queued.dead if body != NOT_A_UNIT]
    shards = {f"{number}/{SHARDS}" for number in range(1, SHARDS + 1)}
    assert {message["unit"].get("shard") for message in others} <= shards
    assert set(queued.left_out) == {f"home/{REGION}"}
