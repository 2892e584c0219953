"""What surplus CPU credits cost, against AWS's rule as its page has it: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-performance-instances-monitoring-cpu-credits.html."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from burstwatch.backtest.advice import Advice, advise
from burstwatch.backtest.replay import Recorded
from burstwatch.fixes.surplus import Charge, charged
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.kinds._cpu import EARNED, CpuSpec, cpu_spec, surplus_usd_month
from burstwatch.kinds.base import PastLoad, Thing
from burstwatch.recordings.samples import Sample, to_points

CPU = find_kinds()["ec2_instance_cpu"]
PERIODS_A_DAY = 288
MONTH_H = 730.0


class Instance:
    """An instance as the page describes it: its balance and its surplus, in credits, each five minutes."""

    def __init__(self, instance_type: str, *, balance: float = 0.0, is_unlimited: bool) -> None:
        spec = cpu_spec(instance_type)
        self.earned, self.most, self.vcpus = spec.earned_h * 5 / 60, spec.earned_h * 24, spec.vcpus
        self.balance, self.surplus, self.is_unlimited = balance, 0.0, is_unlimited

    def spend(self, asked: float) -> tuple[float, float]:
        """Credits that it spends of those that are asked for, and that AWS charges for."""
        spent = asked if self.is_unlimited else min(asked, self.balance + self.earned)
        adjusted = self.balance - self.surplus + self.earned - spent
        charge = 0.0
        if adjusted >= 0:
            self.balance, self.surplus = min(self.most, adjusted), 0.0
        else:
            self.balance, self.surplus = 0.0, min(self.most, -adjusted)
            charge = max(0.0, -adjusted - self.most)
        return spent, charge


def a_load(rng: random.Random, spec: CpuSpec, *, most_ground: float) -> list[float]:
    """Credits that each five minutes of a fortnight ask for: a job of some hours a day, on a ground load up to so many baselines."""
    ground, job = rng.uniform(0, most_ground) * spec.baseline, rng.uniform(0.3, 1.0) * spec.vcpus
    begins, hours = rng.randrange(PERIODS_A_DAY), rng.uniform(0.5, 23)
    day = [
        5 * (job if (n - begins) % PERIODS_A_DAY < hours * 12 else ground)
        for n in range(PERIODS_A_DAY)
    ]
    return day * 14


def a_type(rng: random.Random) -> str:
    family = rng.choice(["t2", "t3", "t4g"])
    return f"{family}.{rng.choice([*EARNED[family]])}"


def played(
    instance_type: str,
    load: Sequence[float],
    *,
    is_unlimited: bool,
    saved_h: float = 12.0,
    charge: Charge | None = None,
) -> Advice:
    """The advice for an instance that was under such a load for a fortnight, and had saved what some hours earn."""
    mode = "unlimited" if is_unlimited else "standard"
    item = {"InstanceId": "i-1", "InstanceType": instance_type}
    thing = Thing(id="i-1", name="", tags={}, item=item, unit="123456789012/us-east-1")
    related = {"instance_types": {}, "credit_specifications": {"i-1": {"CpuCredits": mode}}}
    (resource,) = CPU.describe(thing, related, 0.0)
    saved = saved_h * cpu_spec(instance_type).earned_h
    instance = Instance(instance_type, balance=saved, is_unlimited=is_unlimited)
    samples = []
    for number, asked in enumerate(load):
        spent, _ = instance.spend(asked)
        values = {
            "CPUCreditUsage": spent, "CPUCreditBalance": instance.balance,
            "CPUSurplusCreditBalance": instance.surplus,
        }  # fmt: skip
        samples.append(Sample(t_s=300.0 * number, values=values))
    return advise(
        Recorded(
            name="i-1.cpu", kind=CPU, resource=resource, samples=samples, period_s=300.0,
            points=to_points(samples, resource, 300.0, CPU), charge=charge,
        )
    )  # fmt: skip


def unlimited(name: str, instance_type: str) -> Resource:
    """An instance, or a database, in Unlimited mode, far from us-east-1."""
    item = {
        "InstanceId": "i-1", "InstanceType": instance_type, "DBInstanceIdentifier": "i-1", "Engine": "postgres",
        "DBInstanceClass": f"db.{instance_type}", "DBInstanceStatus": "available",
    }  # fmt: skip
    related: dict[str, dict[str, Any]] = {
        "instance_types": {}, "credit_specifications": {"i-1": {"CpuCredits": "unlimited"}}, "published": {"i-1": {}},
    }  # fmt: skip
    thing = Thing(id="i-1", name="", tags={}, item=item, unit="123456789012/sa-east-1")
    (resource,) = find_kinds()[name].describe(thing, related, 0.0)
    return resource


def charged_a_month(instance_type: str, load: Sequence[float]) -> float:
    """USD that AWS bills in a month of such days, once each is as the one before."""
    instance, day = Instance(instance_type, is_unlimited=True), load[:PERIODS_A_DAY]
    before = (-1.0, -1.0)
    charge = 0.0
    while (instance.balance, instance.surplus) != pytest.approx(before, abs=1e-9):
        before = instance.balance, instance.surplus
        charge = sum(instance.spend(asked)[1] for asked in day)
    usd_vcpu_h = 0.04 if instance_type.startswith("t4g") else 0.05
    return charge / 60 * usd_vcpu_h * MONTH_H / 24


@pytest.mark.parametrize("seed", range(200))
def test_unlimited_mode_costs_what_aws_bills_for_what_the_load_asks_for(seed: int) -> None:
    """Also of what an instance in Standard mode cannot serve: there the load goes on as it began.

    What has no credits for five minutes of it was never seen to serve it, so the price may be too low.
    """
    rng = random.Random(seed)  # noqa: S311
    instance_type = a_type(rng)
    spec = cpu_spec(instance_type)
    load = a_load(rng, spec, most_ground=0.8)
    usd = charged_a_month(instance_type, load)
    saved_a_day = sum(max(0.0, spec.earned_h / 12 - asked) for asked in load[:PERIODS_A_DAY])
    is_seen = saved_a_day > 2 * (max(load) - spec.earned_h / 12)
    advice = played(instance_type, load, is_unlimited=False)
    if advice.finding == "runs out":
        assert advice.fix is not None
        assert advice.fix.action == "switch to Unlimited mode"
        assert advice.fix.usd_month is not None
        assert advice.fix.usd_month <= 1.05 * usd + 0.01
        assert not is_seen or advice.fix.usd_month >= 0.95 * usd - 0.01
    else:  # what it had saved has lasted for a fortnight
        assert usd * 336 / MONTH_H <= 12.0 * spec.earned_h / 60 * 0.05 + 0.01


@pytest.mark.parametrize("seed", range(200))
@pytest.mark.parametrize("name", ["ec2_instance_cpu", "rds_instance_cpu"])
def test_an_unlimited_instance_costs_what_aws_bills(name: str, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    instance_type = a_type(rng)
    if name == "rds_instance_cpu":
        instance_type = instance_type.replace("t2.", "t3.")  # which is in Standard mode
    load = a_load(rng, cpu_spec(instance_type), most_ground=2.0)
    resource = unlimited(name, instance_type)
    past_load = PastLoad(periods=(), asked=[asked / 5 for asked in load], period_s=300.0)
    usd = charged_a_month(instance_type, load)
    if name == "rds_instance_cpu":
        usd *= 0.075 / (0.04 if instance_type.startswith("t4g") else 0.05)
    assert surplus_usd_month(resource, past_load) == pytest.approx(usd, rel=0.05, abs=0.01)


def test_an_instance_that_was_always_throttled_is_priced_at_full_load_and_says_so() -> None:
    load = [5 * 0.3] * PERIODS_A_DAY * 14
    advice = played("t3.nano", load, is_unlimited=False, saved_h=0.0)
    assert advice.finding == "runs out"
    assert advice.fix is not None
    assert advice.fix.effect.endswith(
        "the price is that of full load, as nobody knows what it would ask for"
    )
    assert advice.fix.usd_month == pytest.approx(0.05 * (2 - 0.1) * 730)


@pytest.mark.parametrize("seed", range(30))
def test_the_rule_charges_what_the_page_says(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    spec = cpu_spec(f"t3.{rng.choice([*EARNED['t3']])}")
    load = [rng.choice([0.0, 0.2, 1.0]) * spec.vcpus for _ in range(2_000)]
    instance = Instance(f"t3.{spec.size}", balance=rng.uniform(0, 1) * 24 * spec.earned_h, is_unlimited=True)  # fmt: skip
    before = instance.balance
    page = sum(instance.spend(5 * vcpus)[1] for vcpus in load)
    rule, level = charged(spec.bucket, load, 300.0, before * 60)
    assert rule / 60 == pytest.approx(page)
    assert level / 60 == pytest.approx(instance.balance - instance.surplus, abs=1e-6)


def test_in_a_time_of_which_nothing_is_known_nothing_is_earned_or_charged() -> None:
    bucket = cpu_spec("t3.micro").bucket
    load = [2.0, 2.0, 0.1, 2.0] * 100
    gaps = [vcpus for pair in zip(load, [None] * len(load), strict=True) for vcpus in pair]
    assert charged(bucket, gaps, 300.0, 0.0) == charged(bucket, load, 300.0, 0.0)


def test_what_aws_has_charged_counts_more_than_what_the_rule_expects() -> None:
    """A t3.large under full load costs 51.10 USD a month more than its price, and an m5.large 9.34."""
    load = [10.0] * PERIODS_A_DAY * 14
    advice = played("t3.large", load, is_unlimited=True)
    assert advice.fix is not None
    assert advice.fix.usd_month == pytest.approx(0.0128 * 730 - 0.05 * (2 - 0.6) * 730)
    little = Charge(credits=600.0, usd=0.5, lasts_s=14 * 86_400.0)
    advice = played("t3.large", load, is_unlimited=True, charge=little)
    assert (advice.finding, advice.fix) == ("fits", None)
    assert advice.record()["charged_usd_month"] == pytest.approx(0.5 / 336 * 730)


def test_an_instance_that_never_slows_down_does_not_run_out() -> None:
    """It owes the most that it may for nothing, and nothing holds it back."""
    advice = played("t3.large", [9.0] * PERIODS_A_DAY * 14, is_unlimited=True)
    assert (advice.finding, advice.dry_count, advice.is_censored) == ("could cost less", 0, False)
    assert advice.empty_in_s is None


@pytest.mark.parametrize("seed", range(40))
def test_advice_that_only_saves_money_costs_less_than_it_saves(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    instance_type = rng.choice(["t3.large", "t3.xlarge", "t4g.medium", "t2.medium", "t3.nano"])
    load = a_load(rng, cpu_spec(instance_type), most_ground=2.0)
    fix = played(instance_type, load, is_unlimited=True).fix
    assert fix is None or (fix.usd_month is not None and fix.usd_month < 0)
    kind = find_kinds()["ec2_instance_cpu"]
    resource = unlimited("ec2_instance_cpu", instance_type)
    told = kind.what_helps(resource, 0.0, 2.0, {})
    assert [fix.action for fix in told] == [
        "nothing slows down; to save money reduce the load"
    ]  # nobody stops a machine for it


def test_charges_of_a_few_minutes_are_no_sum_of_a_month() -> None:
    load = [10.0] * PERIODS_A_DAY * 14
    minutes = Charge(credits=60.0, usd=0.05, lasts_s=300.0)
    assert minutes.usd_month is None
    assert (
        played("t3.large", load, is_unlimited=True, charge=minutes).fix is not None
    )  # by the rule


def test_where_only_the_load_is_known_an_unlimited_instance_does_not_run_out() -> None:
    resource = unlimited("ec2_instance_cpu", "t3.large")
    samples = [Sample(t_s=300.0 * n, values={"CPUCreditUsage": 10.0}) for n in range(4_000)]
    advice = advise(
        Recorded(
            name="i-1.cpu", kind=CPU, resource=resource, samples=samples, period_s=300.0,
            points=to_points(samples, resource, 300.0, CPU),
        )
    )  # fmt: skip
    assert (advice.finding, advice.dry_count) == ("fits", 0)


def test_a_short_history_that_begins_without_credits_is_priced_by_what_is_known_of_it() -> None:
    load = [0.2] * 6 + [0.05] * 240
    advice = played("t3.micro", [5 * vcpus for vcpus in load], is_unlimited=False, saved_h=0.0)
    fix = next((fix for fix in (advice.fix, *advice.alternatives) if fix and "Unlimited" in fix.action), None)  # fmt: skip
    assert fix is None or "nobody knows" not in fix.effect
