"""What a measurement will cost, before it is run."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.ebs.volumes import InstanceLimits, volume_spec
from burstwatch_exporter.credits.interval import Interval
from burstwatch_exporter.measure.expect import DiskLimits, expect
from burstwatch_exporter.measure.jobs import Step
from burstwatch_exporter.measure.plan import CreditBudget, Plan, make_plan, price_of
from burstwatch_exporter.measure.profiles import find_profile, profiles


def planned(
    name: str, volume_type: str, size_gib: float, *, budget: float = math.inf, members: int = 1
) -> Plan:
    spec = volume_spec(volume_type, size_gib)
    bucket = spec.bucket
    credit = None
    if bucket is not None:
        full = Interval(low=bucket.capacity, high=bucket.capacity)
        credit = CreditBudget(bucket=bucket, interval=full, budget=budget * bucket.capacity)
    return make_plan(
        find_profile(name).steps, DiskLimits(volume_spec=spec, members=members), credit
    )


def test_a_hundred_gib_at_full_burst_last_two_thousand_seconds_and_not_six_hundred() -> None:
    (step,) = planned("dd-drain", "gp2", 100, budget=1).steps
    assert step.until_empty_s == pytest.approx(2_000)
    assert step.expected.best.iops == 3_000


def test_the_published_run_of_three_minutes_costs_a_tenth_of_a_bucket_each_way() -> None:
    plan = planned("fio-16k-16jobs", "gp2", 100, budget=1)
    assert [one.credits for one in plan.steps] == [540_000, 540_000]
    assert plan.layout_credits == 4_096  # a GiB, a MiB at a time, in pieces of 256 KiB
    assert plan.credits == 1_084_096


def test_over_a_stripe_of_two_each_volume_is_charged_half_and_twice_as_much_is_served() -> None:
    alone = planned("fio-16k-16jobs", "gp2", 100, budget=1)
    striped = planned("fio-16k-16jobs", "gp2", 100, budget=1, members=2)
    assert striped.steps[0].expected.best.iops == 6_000
    assert striped.steps[0].credits == alone.steps[0].credits
    assert striped.layout_credits == alone.layout_credits / 2


def test_random_reads_of_a_disk_of_heads_cost_a_mib_each() -> None:
    spec = volume_spec("st1", 1_024)
    step = find_profile("probe").steps[0]
    rates = expect(step, DiskLimits(volume_spec=spec)).best
    assert (rates.iops, rates.credits_per_s) == (50, 50)
    in_sequence = find_profile("probe-hdd").steps[0]
    assert expect(in_sequence, DiskLimits(volume_spec=spec)).best.credits_per_s == 5


def test_a_volume_without_a_bucket_costs_nothing_and_runs_its_time() -> None:
    plan = planned("fio-4k-qd4", "gp3", 100)
    assert (plan.credit, plan.credits, plan.seconds) == (None, 0, 300)


def test_what_outlives_the_bucket_is_charged_what_comes_in() -> None:
    (step,) = planned("dd-drain", "gp2", 100, budget=1).steps
    assert step.credits == pytest.approx(2_000 * 3_000 + 1_600 * 300)


def test_the_instance_holds_before_the_volume_does() -> None:
    small = DiskLimits(
        volume_spec=volume_spec("gp2", 100), instance=InstanceLimits(iops=2_000, mib_s=1_000)
    )
    rates = expect(find_profile("fio-4k-qd4").steps[0], small).best
    assert (rates.iops, rates.holds) == (2_000, "instance_iops")
    assert rates.latency_s == pytest.approx(4 / 2_000)


@given(
    name=st.sampled_from(sorted(profiles())),
    size_gib=st.floats(1, 999),
    budget=st.floats(0.001, 1),
    members=st.integers(1, 4),
    level=st.floats(0, 1),
)
def test_no_plan_spends_more_than_its_budget_but_for_its_scratch_file(
    name: str, size_gib: float, budget: float, members: int, level: float
) -> None:
    spec = volume_spec("gp2", size_gib)
    bucket = spec.bucket
    assert bucket is not None
    left = Interval(low=level * bucket.capacity, high=bucket.capacity)
    credit = CreditBudget(bucket=bucket, interval=left, budget=budget * bucket.capacity)
    plan = make_plan(
        find_profile(name).steps, DiskLimits(volume_spec=spec, members=members), credit
    )
    assert plan.spends <= max(credit.budget, plan.layout_credits) * (1 + 1e-9)
    assert plan.spends <= plan.credits * (1 + 1e-9)
    assert all(0 <= one.runs_s <= one.step.runtime_s for one in plan.steps)
    assert plan.balance_after is not None
    assert plan.balance_after >= 0


def test_a_budget_is_shared_evenly_and_what_one_leaves_the_others_have() -> None:
    spec = volume_spec("gp2", 100)
    bucket = spec.bucket
    assert bucket is not None
    full = Interval(low=bucket.capacity, high=bucket.capacity)
    greedy = find_profile("fio-4k-qd4").steps[0]
    modest = replace(greedy, rate_iops=10.0)
    steps: list[Step] = [modest, greedy, greedy]
    plan = make_plan(
        steps,
        DiskLimits(volume_spec=spec),
        CreditBudget(bucket=bucket, interval=full, budget=60_000),
    )
    first, second, third = plan.steps
    assert first.runs_s == 60
    assert second.runs_s == pytest.approx(third.runs_s)
    assert second.spends == pytest.approx((60_000 - 4_096 - 600) / 2)


def test_what_the_kernel_splits_costs_more_and_is_planned_so() -> None:
    """By the same rule that the budget is kept by: each request may be one credit."""
    spec = volume_spec("gp2", 100)
    for largest, each_mib in ((256, 4), (128, 8), (44, 24)):
        given = DiskLimits(volume_spec=spec, largest_kib=largest)
        assert price_of(given, block_kib=1_024) == pytest.approx(each_mib, rel=0.01)
        assert price_of(given, block_kib=16) == 1
    assert price_of(DiskLimits(volume_spec=spec), block_kib=1_024) == 4
    assert price_of(DiskLimits(volume_spec=spec, largest_kib=1_280), block_kib=16) == 1 + 16 / 256


def test_on_a_disk_of_heads_small_requests_in_sequence_may_cost_a_credit_each() -> None:
    given = DiskLimits(volume_spec=volume_spec("st1", 1_024), largest_kib=128)
    assert price_of(given, block_kib=4) == 1
    assert price_of(given, block_kib=1_024) == 8
