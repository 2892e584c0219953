"""The credits of a network: their number is learned from bursts that end, and no estimate is told before that or beyond it.

A page is false if the credits really last for more than an hour, twice as long as it warns before the end.
"""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch_exporter.credits.network import EMPTY_AFTER_S, Learned, Moved
from tests.exporter.networks import SAMPLE_S, TYPES, make_network, play_day

HOSTS = 50


@given(
    name=st.sampled_from(TYPES),
    lasts_s=st.floats(300, 3_600),
    off=st.floats(0.97, 1.03),
    burst=st.floats(0.5, 1.5),
)
def test_two_bursts_that_end_tell_the_number_of_credits_within_a_fifth(
    name: str, lasts_s: float, off: float, burst: float
) -> None:
    network = make_network(name, lasts_s=lasts_s, off=off)
    size, demand = network.allowance.size, burst * network.bandwidth.peak
    for _ in range(2):
        assert network.account.learned.capacity is None
        while not network.account.is_empty:
            network.does(demand, SAMPLE_S)
        network.does(0.0, 1.5 * size / network.allowance.baseline)
    assert network.account.learned.capacity == pytest.approx(size, rel=0.2)
    assert network.account.learned.level == 1.0
    network.does(demand, 180.0)
    left_s = network.allowance.balance / (
        min(demand, network.allowance.peak) - network.allowance.baseline
    )
    assert network.account.lasts_s(network.bandwidth) == pytest.approx(left_s, rel=0.4)


def test_over_fifty_hosts_and_a_day_no_page_is_false_and_some_are_right() -> None:
    days = [play_day(seed) for seed in range(HOSTS)]
    pages = [page for day in days for page in day.pages]
    assert [page for page in pages if page.true_s > 2 * days[0].lead_s] == []
    assert len(pages) > HOSTS / 4
    assert sum(bool(day.account.learned.sizes) for day in days) > HOSTS / 4


@pytest.mark.many
def test_over_three_hundred_hosts_no_page_is_false() -> None:
    days = [play_day(seed) for seed in range(1_000, 1_300)]
    assert [page for day in days for page in day.pages if page.true_s > 2 * day.lead_s] == []


def test_before_a_bucket_was_seen_empty_nothing_is_told_but_that_a_load_within_the_baseline_lasts() -> (
    None
):
    network = make_network("m5.large", lasts_s=600)
    network.goes_on(0.5 * network.bandwidth.baseline, 600)
    assert network.account.lasts_s(network.bandwidth) == math.inf
    network.goes_on(0.5 * network.bandwidth.peak, 120)
    assert network.account.lasts_s(network.bandwidth) is None
    assert network.account.learned.level is None


@pytest.mark.parametrize("packets", [1, 40, 100, 900])
@pytest.mark.parametrize("before", ["idle", "a burst"])
def test_packets_that_are_refused_in_every_sample_near_the_baseline_are_no_empty_bucket(
    packets: int, before: str
) -> None:
    network = make_network("m5.large", lasts_s=3_600)
    if before == "a burst":
        network.goes_on(network.bandwidth.peak, 200)
    for _ in range(1_000):
        network.does(0.9 * network.bandwidth.baseline, SAMPLE_S, exceeded=packets)
        assert not network.account.is_empty


def test_a_load_that_comes_and_goes_about_the_baseline_is_no_empty_bucket() -> None:
    network = make_network("m5.large", lasts_s=3_600)
    network.goes_on(network.bandwidth.peak, 200)
    for sample in range(1_000):
        share = 0.9 + 0.15 * (sample % 2)
        network.does(share * network.bandwidth.baseline, SAMPLE_S, exceeded=10_000)
        assert not network.account.is_empty


def test_a_load_within_the_baseline_that_never_was_above_it_is_no_empty_bucket() -> None:
    network = make_network("m5.large", lasts_s=3_600)
    for _ in range(1_000):
        network.does(0.9 * network.bandwidth.baseline, SAMPLE_S, exceeded=10_000)
    assert not network.account.is_empty


@pytest.mark.parametrize("off", [0.97, 1.03])
@pytest.mark.parametrize("share", [1.0, 1.02])
def test_two_days_near_the_baseline_leave_a_balance_that_is_unknown(
    off: float, share: float
) -> None:
    network = make_network("m5.large", lasts_s=600, off=off)
    for _ in range(2):
        network.goes_on(network.bandwidth.peak, 1_000)
        network.does(0.0, 2 * network.allowance.size / network.allowance.baseline)
    assert network.account.learned.level == 1.0
    network.goes_on(share * network.bandwidth.baseline, 2 * 86_400)
    assert network.account.learned.level is None


def test_the_size_is_the_middle_of_the_last_three() -> None:
    learned = Learned()
    for size in (100.0, 500.0, 110.0, 120.0):
        learned = replace(learned, earned=1e6, drawn_low=size, drawn_high=size).emptied()
    assert learned.sizes == (500.0, 110.0, 120.0)
    assert learned.capacity == 120.0


@pytest.mark.parametrize(("earned", "sizes"), [(24.0, ()), (25.0, (100.0,)), (None, ())])
def test_a_size_needs_a_bucket_that_overflowed(
    earned: float | None, sizes: tuple[float, ...]
) -> None:
    learned = Learned(earned=earned, drawn_low=100.0, drawn_high=100.0, drawing_s=60.0).emptied()
    assert learned == Learned(
        sizes=sizes, lasted_s=60.0 if sizes else None, low=0.0, high=0.0, earned=0.0,
        drawn_low=100.0, drawn_high=100.0, drawing_s=60.0,
    )  # fmt: skip


def test_a_bucket_that_was_not_full_tells_no_number() -> None:
    network = make_network("m5.large", lasts_s=600)
    baseline, peak = network.bandwidth.baseline, network.bandwidth.peak
    network.goes_on(peak, 1_000)
    for _ in range(3):
        network.goes_on(0.0, 0.3 * network.allowance.size / baseline)
        network.goes_on(peak, 1_000)
        assert network.account.is_empty
        assert network.account.learned.sizes == ()


@pytest.mark.parametrize(
    ("octets", "level", "capacity"), [(95.0, 0.05, 100.0), (105.0, 0.0, 100.0), (111.0, None, None)]
)
def test_a_bucket_that_gives_more_than_its_size_is_not_believed_any_more(
    octets: float, level: float | None, capacity: float | None
) -> None:
    full = Learned(sizes=(100.0,), low=100.0, high=100.0)
    after = full.after(Moved(seconds=10.0, octets=octets, packets=1, exceeded=0), baseline=0.0)
    assert after.capacity == capacity
    assert after.level == (None if octets > 100 else pytest.approx(level))


def test_while_the_instance_gets_its_baseline_alone_no_time_is_left() -> None:
    network = make_network("t3.micro", lasts_s=300)
    network.goes_on(network.bandwidth.peak, 300 + EMPTY_AFTER_S + 2 * SAMPLE_S)
    assert network.account.lasts_s(network.bandwidth) == 0.0
    network.goes_on(0.0, 300)
    assert network.account.lasts_s(network.bandwidth) == math.inf
