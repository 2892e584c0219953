"""Asking no faster than an account allows."""

import pytest

from burstwatch.aws.client import pace as pacing
from burstwatch.aws.client.pace import (
    LISTINGS,
    LISTINGS_AT_ONCE,
    OLDER_POINTS,
    PAUSE_S,
    RECENT_POINTS,
    SHARE,
    Pace,
)
from burstwatch.aws.client.session import Deadline
from burstwatch.aws.inventory.inventory import Inventory, take_inventory
from burstwatch.kinds import find_kinds
from tests.conftest import Clock, Cloud


@pytest.fixture(autouse=True)
def _quotas(monkeypatch: pytest.MonkeyPatch) -> None:
    """AWS's own: where the cloud is faked, listings have no quota."""
    monkeypatch.setattr(pacing, "LISTINGS", LISTINGS)


def paced(shards: int = 1) -> tuple[Pace, Clock]:
    clock = Clock(0.0)

    def sleep(seconds: float) -> None:
        clock.now += seconds

    return Pace(shards=shards, clock=clock, sleep=sleep), clock


def taken_in_a_minute(shards: int, *, back_s: float) -> float:
    pace, clock = paced(shards)
    deadline, count = Deadline(clock, at=60.0), 0
    while pace.take(50_000, back_s=back_s, deadline=deadline):
        count += 1
    return count * 50_000 / 60


def test_a_sweep_takes_its_share_of_the_datapoints_and_no_more() -> None:
    recent = SHARE * RECENT_POINTS.value
    assert 0.95 * recent < taken_in_a_minute(1, back_s=1_800) < 1.05 * recent
    older = SHARE * OLDER_POINTS.value
    assert 0.95 * older < taken_in_a_minute(1, back_s=21_600) < 1.05 * older


def test_shards_share_what_one_sweep_would_have() -> None:
    whole, quarter = (taken_in_a_minute(shards, back_s=1_800) for shards in (1, 4))
    assert 0.2 < quarter / whole < 0.32


@pytest.mark.parametrize("shards", [1, 16])
def test_all_shards_together_take_half_of_the_listings_and_of_what_is_saved_up(shards: int) -> None:
    pace, clock = paced(shards)
    deadline, pages = Deadline(clock, at=600.0), 0
    while pace.take_page("ec2", deadline=deadline):
        pages += 1
    ours = SHARE * (LISTINGS_AT_ONCE.value + 600 * LISTINGS.value)
    assert ours - shards <= shards * pages <= ours + shards


def test_what_cannot_be_asked_in_time_is_not_waited_for() -> None:
    pace, clock = paced()
    deadline = Deadline(clock, at=1.0)
    assert pace.take(1_000_000, back_s=60, deadline=deadline)
    assert not pace.take(1, back_s=60, deadline=deadline)
    assert clock.now < 1.0


def test_when_one_call_is_throttled_all_pause_and_longer_each_time() -> None:
    pace, clock = paced()
    deadline, waits = Deadline(clock, at=1e9), []
    for throttled in (0, 1, 2, 3, 3):
        before = clock.now
        assert pace.take(1, back_s=60, deadline=deadline, throttled=throttled)
        waits.append(clock.now - before)
    assert waits == [0.0, PAUSE_S, 2 * PAUSE_S, 4 * PAUSE_S, 0.0]
    clock.now += 60
    pace.take(1, back_s=60, deadline=deadline, throttled=3)
    before = clock.now
    pace.take(1, back_s=60, deadline=deadline, throttled=4)
    assert clock.now - before == PAUSE_S  # long ago is forgotten


def test_an_inventory_waits_for_its_pages_and_one_that_is_whole_waits_for_no_more(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burstwatch.aws.client.pace.LISTINGS", LISTINGS)
    for _ in range(20):
        cloud.aws.add_volume("gp3", 100)
    cloud.aws.page_size = 5

    def read_until(at: float) -> Inventory:
        pace, clock = paced(16)  # three pages at once, and one more each 1.6 s
        deadline, now = Deadline(clock, at=at), cloud.clock.now
        kind = find_kinds()["ebs_volume"]
        return take_inventory(
            kind, cloud.clients, cloud.unit, now=now, pace=pace, deadline=deadline
        )

    read = read_until(2.0)
    assert read.complete
    assert len(read.resources) == 20
    assert not read.is_answered  # the modifications came too late
    cut = read_until(1.0)
    assert not cut.complete
    assert next(one.error for one in cut.problems).endswith("the sweep's time was up")
