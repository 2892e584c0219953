"""The sweeps of a unit in shards, handed over by a queue: the real template, really run."""

import json
from concurrent.futures import Future

import pytest

from demo.localcloud.emulators import LOCALSTACK
from tests.aws.sweeping import EFFECT
from tests.local_cloud.conftest import QUEUE_REGION
from tests.local_cloud.queued import NOT_A_UNIT, SHARDS, Queued

pytestmark = [pytest.mark.local_cloud, pytest.mark.timeout(3_000)]

UNIT = f"{LOCALSTACK.account}/{QUEUE_REGION}"


def test_a_queue_hands_over_every_shard_in_every_run(queued: Future[Queued]) -> None:
    found = queued.result()
    every = {f"{UNIT}/{number}/{SHARDS}" for number in range(1, SHARDS + 1)}
    assert found.heartbeats == every
    runs = sorted(found.swept)
    assert len(runs) >= 3
    # The first may have begun before there was anybody to take it, the last may not be done.
    for run in runs[1:-1]:
        assert set(found.swept[run]) == every, run
        assert len(found.swept[run]) == SHARDS
    assert found.unexplained == []


def test_a_volume_in_danger_has_one_alarm_whose_name_says_nothing_of_shards(
    queued: Future[Queued],
) -> None:
    found = queued.result()
    assert found.alarms == {f"burstwatch/burstwatch/{EFFECT}/{found.volume}/critical"}


def test_a_message_that_fails_is_kept_aside_and_a_late_one_is_left_out(
    queued: Future[Queued],
) -> None:
    found = queued.result()
    assert found.dead.count(NOT_A_UNIT) == 1
    # On a busy machine a sweep may be stopped at its timeout: then the schedule's own message is kept aside too.
    others = [json.loads(body) for body in found.dead if body != NOT_A_UNIT]
    shards = {f"{number}/{SHARDS}" for number in range(1, SHARDS + 1)}
    assert {message["unit"].get("shard") for message in others} <= shards
    assert set(found.left_out) == {f"home/{QUEUE_REGION}"}
