"""What is advised over a history: it serves that history, costs what the tables say, and is silent where nothing is known."""

import json
import math
import random
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from burstwatch.backtest.advice import Advice, advise, dry_spells, empty_in, play_on
from burstwatch.backtest.replay import Recorded
from burstwatch.bucket import DAY_S, Bucket
from burstwatch.cli.main import run
from burstwatch.ebs.volumes import volume_spec
from burstwatch.fixes.fix import Afterwards
from burstwatch.fixes.prices import price
from burstwatch.history.observations import Resource
from burstwatch.history.points import DemandPoint, LevelPoint
from burstwatch.kinds import find_kinds
from burstwatch.kinds._by_hand import described_by_hand
from burstwatch.kinds.base import Kind, Thing
from burstwatch.recordings.samples import Sample, to_points

PERIOD_S = 300.0
UNIT = "123456789012/us-east-1"
EBS = find_kinds()["ebs_volume"]


def volume(**item: object) -> Resource:
    listed = {
        "VolumeId": "vol-1",
        "VolumeType": "gp2",
        "Size": 100,
        "Attachments": [{"State": "attached"}],
    }
    thing = Thing(id="vol-1", name="", tags={}, item={**listed, **item}, unit=UNIT)
    related: dict[str, dict[str, Any]] = {
        "instances": {},
        "instance_types": {},
        "modifications": {},
    }
    (resource,) = EBS.describe(thing, related, 0.0)
    return resource


def history(
    resource: Resource, iops: list[float], *, io_kib: float = 16.0, kind: Kind = EBS
) -> Recorded:
    """A load of one rate for each five minutes, and the levels that the bucket has under it."""
    bucket, level = resource.bucket, resource.bucket.capacity if resource.bucket else 0.0
    samples = []
    for number, rate in enumerate(iops):
        served = rate
        if bucket is not None:
            served = min(rate, bucket.burst) if level > 0 else min(rate, bucket.refill)
            level = min(bucket.capacity, max(0.0, level + (bucket.refill - served) * PERIOD_S))
        values = {
            "VolumeReadOps": served * PERIOD_S,
            "VolumeWriteOps": 0.0,
            "VolumeReadBytes": served * PERIOD_S * io_kib * 1024,
            "VolumeWriteBytes": 0.0,
        }
        if bucket is not None:
            values["BurstBalance"] = 100.0 * level / bucket.capacity
        samples.append(Sample(t_s=number * PERIOD_S, values=values))
    return Recorded(
        name="vol-1",
        kind=kind,
        resource=resource,
        samples=samples,
        points=to_points(samples, resource, PERIOD_S, kind),
        period_s=PERIOD_S,
    )


def days(count: float, rate: float) -> list[float]:
    return [rate] * round(count * DAY_S / PERIOD_S)


def test_a_volume_that_ran_dry_is_advised_what_served_its_load() -> None:
    advice = advise(history(volume(), [*days(8, 100), *[3_000.0] * 12, *days(1, 100)]))
    assert (advice.finding, advice.dry_count) == ("runs out", 1)
    assert advice.is_censored
    assert advice.fix is not None
    assert advice.fix.command == (
        "aws ec2 modify-volume --region us-east-1 --volume-id vol-1 --volume-type gp3 --iops 3000 --throughput 128"
    )
    assert advice.outcome is not None
    assert (advice.outcome.dry_count, advice.usd_month) == (0, 10.0)
    assert advice.saved_usd == pytest.approx(1.88)


def test_a_volume_that_never_ran_dry_and_costs_less_as_gp3_is_told_so_after_a_week() -> None:
    assert advise(history(volume(), days(8, 100))).finding == "could cost less"
    short = advise(history(volume(), days(6, 100)))
    assert (short.finding, short.fix) == ("too short", None)


def test_a_volume_without_any_load_known_is_advised_nothing() -> None:
    recorded = history(volume(), days(8, 100))
    blind = Recorded(
        name="vol-1", kind=EBS, resource=recorded.resource, samples=recorded.samples,
        points=(recorded.points[0], []), period_s=PERIOD_S,
    )  # fmt: skip
    assert (advise(blind).finding, advise(blind).fix) == ("no load known", None)


@pytest.mark.parametrize(
    ("item", "iops", "action"),
    [
        (
            {"VolumeType": "gp3", "Iops": 16_000, "Throughput": 1_000}, 5_000,
            "lower it to 6,000 IOPS and 125 MiB/s",
        ),
        ({"VolumeType": "gp3", "Iops": 3_000, "Throughput": 125}, 100, ""),
        ({"VolumeType": "io1", "Iops": 10_000}, 2_000, "change to gp3 with 3,000 IOPS and 125 MiB/s"),
        (
            {"VolumeType": "io1", "Iops": 10_000, "MultiAttachEnabled": True}, 2_000,
            "",
        ),
        ({"VolumeType": "gp2", "Size": 2_000}, 5_000, "change to gp3 with 6,000 IOPS and 250 MiB/s"),
    ],
)  # fmt: skip
def test_what_is_larger_than_its_load_is_advised_to_cost_less(
    item: dict[str, object], iops: float, action: str
) -> None:
    advice = advise(history(volume(**item), days(8, iops)))
    assert (advice.fix.action if advice.fix else "") == action
    if advice.fix:
        assert advice.fix.usd_month is not None
        assert advice.fix.usd_month < 0
        assert advice.usd_month is not None
        assert advice.usd_month + advice.fix.usd_month > 0


def test_what_is_lowered_says_what_it_was_and_what_it_needed() -> None:
    advice = advise(
        history(volume(VolumeType="gp3", Iops=16_000, Throughput=1_000), days(8, 5_000))
    )
    assert advice.fix is not None
    assert advice.fix.effect == (
        "instead of 16,000 IOPS and 1,000 MiB/s; it needed 5,000 IOPS and 78.1 MiB/s at the most"
    )


@pytest.mark.parametrize("where", ["managed", "changing"])
def test_what_nobody_may_change_now_is_told_so_and_not_priced(where: str) -> None:
    load = [*days(8, 100), *[3_000.0] * 12]
    if where == "managed":
        resource = volume(Operator={"Managed": True, "Principal": "eks.amazonaws.com"})
    else:
        resource = volume()
        thing = Thing(id="vol-1", name="", tags={}, item={
            "VolumeId": "vol-1", "VolumeType": "gp2", "Size": 100, "Attachments": [{"State": "attached"}],
        }, unit=UNIT)  # fmt: skip
        change = {
            "ModificationState": "optimizing", "OriginalVolumeType": "gp2", "OriginalSize": 100,
            "TargetVolumeType": "gp2", "TargetSize": 100, "StartTime": _At(), "Progress": 63,
        }  # fmt: skip
        related = {"instances": {}, "instance_types": {}, "modifications": {"vol-1": change}}
        (resource,) = EBS.describe(thing, related, 0.0)
    advice = advise(history(resource, load))
    assert advice.fix is not None
    assert not advice.fix.command
    assert advice.fix.action.startswith(
        ("change the settings that eks", "wait for the change to gp2")
    )


class _At:
    def timestamp(self) -> float:
        return -1e6


@pytest.mark.parametrize(
    ("vcpus", "usd"), [(0.7, None), (0.84, None), (0.9, -1.606), (1.2, -12.556)]
)
def test_an_instance_that_owes_more_than_one_without_credits_costs_is_advised_that(
    vcpus: float, usd: float | None
) -> None:
    """A t3.large costs 0.0832 USD an hour, an m5.large 0.096, and a vCPU-hour of surplus 0.05."""
    kind = find_kinds()["ec2_instance_cpu"]
    thing = Thing(id="i-1", name="", tags={}, item={"InstanceId": "i-1", "InstanceType": "t3.large"}, unit=UNIT)  # fmt: skip
    related = {"instance_types": {}, "credit_specifications": {"i-1": {"CpuCredits": "unlimited"}}}
    (resource,) = kind.describe(thing, related, 0.0)
    samples = [
        Sample(t_s=n * 300.0, values={"CPUCreditUsage": vcpus * 5, "CPUSurplusCreditBalance": 100.0})
        for n in range(round(8 * DAY_S / 300))
    ]  # fmt: skip
    advice = advise(
        Recorded(
            name="i-1.cpu", kind=kind, resource=resource, samples=samples,
            points=to_points(samples, resource, 300.0, kind), period_s=300.0,
        )
    )  # fmt: skip
    assert (advice.fix is None) == (usd is None)
    if advice.fix is not None:
        assert advice.fix.usd_month == pytest.approx(usd)
        assert "--instance-type Value=m5.large" in advice.fix.command


def test_provisioned_throughput_of_a_file_system_that_is_hardly_used_is_advised_elastic() -> None:
    kind = find_kinds()["efs_file_system"]
    item = {
        "FileSystemId": "fs-1", "ThroughputMode": "provisioned", "ProvisionedThroughputInMibps": 100.0,
        "SizeInBytes": {"Value": 100 * 1024**3}, "NumberOfMountTargets": 1,
    }  # fmt: skip
    (resource,) = kind.describe(Thing(id="fs-1", name="", tags={}, item=item, unit=UNIT), {}, 0.0)
    assert kind.may_be_advised(resource)
    samples = [
        Sample(t_s=n * 300.0, values={"MeteredIOBytes": 1e6 * 300})
        for n in range(round(8 * DAY_S / 300))
    ]
    advice = advise(
        Recorded(
            name="fs-1", kind=kind, resource=resource, samples=samples,
            points=to_points(samples, resource, 300.0, kind), period_s=300.0,
        )
    )  # fmt: skip
    assert advice.finding == "could cost less"
    assert advice.fix is not None
    assert advice.fix.command == (
        "aws efs update-file-system --region us-east-1 --file-system-id fs-1 --throughput-mode elastic"
    )
    gigabytes = 1e6 * 730 * 3_600 / 1e9
    assert advice.usd_month is not None
    assert advice.fix.usd_month is not None
    assert advice.usd_month == pytest.approx(6.0 * (100 - 100 * 50 / 1024) * 1.048576)
    assert advice.usd_month + advice.fix.usd_month == pytest.approx(0.09 * gigabytes)


def test_levels_that_fall_day_by_day_have_an_end_and_a_single_night_has_none() -> None:
    def lows(*ratios: float) -> list[LevelPoint]:
        return [
            LevelPoint(start_s=day * DAY_S + n * 3_600.0, period_s=3_600.0, ratio=ratio if n == 3 else 0.99)
            for day, ratio in enumerate(ratios)
            for n in range(24)
        ]  # fmt: skip

    assert empty_in(lows(0.9, 0.8, 0.7, 0.6)) == pytest.approx(6 * DAY_S)
    assert empty_in(lows(0.9, 0.9, 0.9, 0.2)) is None
    assert empty_in(lows(0.6, 0.7, 0.8, 0.9)) is None
    assert empty_in(lows(0.9, 0.8, 0.7)) is None
    assert empty_in([]) is None


def test_spells_at_zero_are_counted_by_their_begin_and_their_length() -> None:
    levels = [
        LevelPoint(start_s=300.0 * n, period_s=300.0, ratio=ratio)
        for n, ratio in enumerate([0.0, 0.0, 0.2, 0.0, 0.5])
    ]
    assert dry_spells(levels) == (2, 900.0)
    assert dry_spells([]) == (0, 0.0)


def test_a_load_beyond_the_rate_of_a_change_is_not_served() -> None:
    demand = [
        DemandPoint(start_s=300.0 * n, period_s=300.0, least=1.0, nominal=rate, most=1.0)
        for n, rate in enumerate([100.0] * 99 + [3_001.0])
    ]
    outcome = play_on(Afterwards(bucket=None, rate=3_000.0), demand)
    assert (outcome.beyond_s, outcome.is_served) == (300.0, False)
    assert play_on(Afterwards(bucket=None), demand).is_served
    bucket = Bucket(capacity=1_000.0, refill=90.0, burst=4_000.0)
    outcome = play_on(Afterwards(bucket=bucket, rate=4_000.0), demand)
    assert (outcome.dry_count, outcome.is_served) == (1, False)


@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 16_384),
    kind=st.sampled_from(["gp2", "st1", "sc1"]),
)
def test_of_any_fleet_what_is_advised_never_runs_dry_and_costs_what_the_catalogue_says(
    seed: int, size: int, kind: str
) -> None:
    size = max(size, 125)
    chance = random.Random(seed)  # noqa: S311
    spec = volume_spec(kind, size)
    io_kib = 1_024.0 if spec.unit == "MiB" else chance.choice([4.0, 16.0, 64.0])
    load: list[float] = []
    while len(load) < 8 * 288:
        load += [chance.choice([0.0, 0.5, 1.5, 3.0]) * spec.baseline] * chance.randint(1, 48)
    advice = advise(history(volume(VolumeType=kind, Size=size), load, io_kib=io_kib))
    check(advice)
    if advice.fix is None:
        return
    (command,) = advice.fix.commands
    parameters = {"VolumeType": kind, "Size": size, **command.parameters}
    new = volume_spec(
        parameters["VolumeType"], parameters["Size"],
        iops=parameters.get("Iops"), mib_s=parameters.get("Throughput"),
    )  # fmt: skip
    assert new.limit_mib_s >= spec.limit_mib_s
    assert spec.unit == "MiB" or new.limit_iops >= spec.limit_iops
    assert advice.usd_month is not None
    assert advice.fix.usd_month is not None
    assert advice.usd_month + advice.fix.usd_month == pytest.approx(catalogue_usd(parameters))


def check(advice: Advice) -> None:
    """Raises for advice that does not hold what it says."""
    assert (advice.fix is None) == (advice.finding in {"fits", "too short", "no load known"})
    if advice.fix is not None:
        assert advice.outcome is not None
        assert advice.outcome.is_served
        assert advice.outcome.dry_count == 0


def catalogue_usd(parameters: dict[str, object]) -> float:
    """The price of a volume by AWS's own arithmetic."""

    def each(name: str) -> float:
        figure = price("ebs", "us-east-1", name)
        assert figure is not None
        return figure.value

    usd = each(str(parameters["VolumeType"])) * float(str(parameters["Size"]))
    iops, mib_s = parameters.get("Iops"), parameters.get("Throughput")
    if iops is not None and mib_s is not None:
        usd += max(0.0, float(str(iops)) - 3_000) * each("gp3_iops")
        usd += max(0.0, float(str(mib_s)) - 125) * each("gp3_mib_s")
    return usd


def test_a_resource_that_is_described_by_hand_has_a_price_of_the_region_and_no_command() -> None:
    (resource,) = described_by_hand(EBS, {"type": "gp2", "size_gib": "100"})
    advice = advise(history(resource, [*days(8, 100), *[3_000.0] * 12]))
    assert advice.fix is not None
    assert (advice.fix.command, advice.usd_month) == ("", None)
    assert math.isclose(advice.needed, 3_000)


CPU = find_kinds()["ec2_instance_cpu"]


def instance(
    instance_type: str, vcpus: list[float], *, credits_left: list[float] | None = None, **item: Any
) -> Recorded:
    """A Standard instance under one load for each five minutes, with its balance."""
    thing = Thing(id="i-1", name="", tags={}, item={"InstanceId": "i-1", "InstanceType": instance_type, **item}, unit=UNIT)  # fmt: skip
    (resource,) = CPU.describe(thing, {"instance_types": {}, "credit_specifications": {}}, 0.0)
    balances = credits_left or [100.0] * len(vcpus)
    samples = [
        Sample(t_s=n * 300.0, values={"CPUCreditUsage": load * 5, "CPUCreditBalance": left})
        for n, (load, left) in enumerate(zip(vcpus, balances, strict=True))
    ]
    return Recorded(
        name="i-1.cpu", kind=CPU, resource=resource, samples=samples,
        points=to_points(samples, resource, 300.0, CPU), period_s=300.0,
    )  # fmt: skip


def test_a_healthy_instance_is_never_advised_a_smaller_one() -> None:
    for size in ("nano", "large", "2xlarge"):
        advice = advise(instance(f"t3.{size}", days(8, 0.05)))
        assert (advice.finding, advice.fix) == ("fits", None)


def test_unlimited_mode_costs_what_exceeds_the_baseline_in_the_mean() -> None:
    load = ([2.0] * 84 + [0.0] * 204) * 8
    balance = [0.0 if n % 288 == 83 else 100.0 for n in range(len(load))]
    advice = advise(instance("t3.medium", load, credits_left=balance))
    assert advice.fix is not None
    assert advice.fix.action == "switch to Unlimited mode"
    assert advice.fix.usd_month == pytest.approx(0.05 * (2 * 84 / 288 - 0.4) * 730)


@pytest.mark.parametrize("details", ["Red Hat Enterprise Linux", "Windows", "SUSE Linux"])
def test_what_is_not_plain_linux_has_no_price_here(details: str) -> None:
    assert advise(instance("t3.medium", days(8, 0.1), PlatformDetails=details)).usd_month is None
    assert advise(instance("t3.medium", days(8, 0.1), PlatformDetails="Linux/UNIX")).usd_month


def test_the_zero_of_a_new_instance_and_the_time_before_a_change_of_size_are_no_incident() -> None:
    balance = [0.0] * 12 + [50.0] * (len(days(8, 0.1)) - 12)
    new = instance("t3.medium", days(8, 0.1), credits_left=balance, LaunchTime=_Launched())
    assert advise(new).dry_count == 0
    recorded = history(volume(Size=900), [*days(2, 2_700), *days(8, 10)])
    recorded.samples[10].values["BurstBalance"] = 0.0  # type: ignore[index]
    grown = replace(
        recorded.resource, reporting=replace(recorded.resource.reporting, history_from_s=2 * DAY_S)
    )
    points = to_points(recorded.samples, grown, PERIOD_S, EBS)
    assert advise(replace(recorded, points=points)).dry_count == 1
    assert advise(replace(recorded, resource=grown, points=points)).dry_count == 0


class _Launched:
    def timestamp(self) -> float:
        return 0.0


def test_a_balance_that_was_empty_is_advised_without_a_known_load_too() -> None:
    recorded = history(volume(), [*days(8, 100), *[3_000.0] * 12])
    only_balance = replace(recorded, points=(recorded.points[0], []))
    advice = advise(only_balance)
    assert (advice.finding, advice.dry_count) == ("runs out", 1)
    assert advice.fix is not None
    assert advice.fix.action.startswith("change to gp3")


def test_the_published_slip_of_750_gib_is_not_repeated() -> None:
    """The table of 2016 prints 7,200 s to refill; 5.4 million credits at 2,250 a second take 2,400 s."""
    spec = volume(Size=750).bucket
    assert spec is not None
    assert spec.capacity / spec.refill == 2_400
    load = ([3_000.0] * 20 + [0.0] * 10) * 77  # 100 minutes of burst, 50 to refill
    advice = advise(history(volume(Size=750), load))
    assert (advice.finding, advice.dry_count) == ("could cost less", 0)


@pytest.mark.parametrize(
    ("size_gib", "iops", "is_load_enough", "usd", "gp3_usd"),
    [
        # https://aws.amazon.com/blogs/storage/migrate-your-amazon-ebs-volumes-from-gp2-to-gp3-and-save-up-to-20-on-costs/
        # counts the size alone: 20 % less. That holds where 3,000 IOPS and 125 MiB/s are enough.
        (500, 1_500, True, 50.00, 40.00),
        (1_000, 3_000, True, 100.00, 83.00),
        (500, 1_500, False, 50.00, 45.00),
        (1_000, 3_000, False, 100.00, 85.00),
        (2_000, 6_000, False, 200.00, 180.00),
    ],
)
def test_awss_own_examples_of_gp2_as_gp3_cost_what_they_say_and_the_rates_that_gp2_has(
    size_gib: int, iops: float, usd: float, gp3_usd: float, *, is_load_enough: bool
) -> None:
    recorded = history(volume(Size=size_gib), days(8, iops), io_kib=16)
    advice = advise(recorded, is_load_enough=is_load_enough)
    assert advice.fix is not None
    assert advice.fix.action.startswith("change to gp3")
    assert advice.usd_month == pytest.approx(usd)
    assert usd + (advice.fix.usd_month or 0.0) == pytest.approx(gp3_usd)


def test_the_file_system_of_runs_on_is_advised_what_would_have_served_it() -> None:
    """https://github.com/runs-on/terraform-aws-runs-on/issues/37: 58 GiB, 2.85 MiB/s, and 30 s became 34 minutes."""
    kind = find_kinds()["efs_file_system"]
    item = {
        "FileSystemId": "fs-1",
        "SizeInBytes": {"Value": 58 * 1024**3},
        "NumberOfMountTargets": 2,
    }
    (resource,) = kind.describe(Thing(id="fs-1", name="", tags={}, item=item, unit=UNIT), {}, 0.0)
    assert resource.bucket is not None
    assert resource.bucket.refill == pytest.approx(2.85, rel=0.06)
    levels = [0.5] * 288 * 7 + [0.0] * 288
    samples = [
        Sample(t_s=n * 300.0, values={
            "MeteredIOBytes": (100.0 if level else 2.85) * 1024**2 * 300,
            "BurstCreditBalance": level * resource.bucket.capacity * 1024**2,
        })
        for n, level in enumerate(levels)
    ]  # fmt: skip
    advice = advise(
        Recorded(
            name="fs-1", kind=kind, resource=resource, samples=samples,
            points=to_points(samples, resource, 300.0, kind), period_s=300.0,
        )
    )  # fmt: skip
    assert (advice.finding, advice.is_censored) == ("runs out", True)
    assert advice.needed == pytest.approx(100)
    assert advice.fix is not None
    assert advice.fix.action in {
        "change to provisioned throughput of 100 MiB/s", "change to elastic throughput",
    }  # fmt: skip
    assert advice.outcome is not None
    assert advice.outcome.is_served


@pytest.mark.parametrize(
    ("size_gib", "command"),
    [
        (300, "--storage-type gp3 --apply-immediately"),
        (1_500, "--storage-type gp3 --allocated-storage 1500 --iops 12000 --storage-throughput 1000 --apply-immediately"),
    ],
)  # fmt: skip
def test_databases_of_300_and_of_1500_gib_are_given_the_command_that_rds_takes(
    size_gib: int, command: str
) -> None:
    kind = find_kinds()["rds_storage"]
    item = {
        "DBInstanceIdentifier": "orders", "Engine": "postgres", "StorageType": "gp2",
        "AllocatedStorage": size_gib, "DBInstanceStatus": "available",
    }  # fmt: skip
    (resource,) = kind.describe(Thing(id="orders", name="", tags={}, item=item, unit=UNIT), {}, 0.0)
    (fix, *_) = kind.changes(resource, 3_000.0, {})
    prefix = "aws rds modify-db-instance --region us-east-1 --db-instance-identifier orders "
    assert fix.command == prefix + command


def test_what_was_needed_is_what_was_measured_and_more_is_planned_for_where_a_limit_held_it_back() -> (
    None
):
    load = [*days(8, 100), *[1_500.0] * 30]
    advice = advise(history(volume(), load))
    assert (advice.finding, advice.is_censored) == ("runs out", True)
    assert advice.needed == pytest.approx(1_500)
    assert advice.fix is not None
    assert "--iops 3000" in advice.fix.command


@given(
    percents=st.lists(st.sampled_from([0, 0, 40, 100]), min_size=4, max_size=40),
    period_s=st.sampled_from([60, 300]),
)
@example(percents=[100, 40, 0, 0, 40], period_s=300)
def test_advise_and_explain_say_the_same_of_when_and_how_often_credits_ran_out(
    percents: list[int], period_s: int
) -> None:
    rows = [f"{number * period_s},{percent},0,0,0,0" for number, percent in enumerate([100, *percents])]  # fmt: skip
    text = "\n".join(["t_s,balance_percent,read_ops,write_ops,read_bytes,write_bytes", *rows])

    def told(command: str) -> dict[str, Any]:
        out, err = StringIO(), StringIO()
        words = (command, "-", "--type", "gp2", "--size-gib", "100", "--json")
        run(words, stdin=lambda _: text.encode(), stdout=out, stderr=err, env={}, clock=lambda: 1e6)
        return dict(json.loads(out.getvalue().splitlines()[0]))

    story, advice = told("explain"), told("advise")
    spells = story["run_out"]
    ends = [spell["refilled_at"] or len(rows) * period_s for spell in spells]
    assert advice["run_out_count"] == len(spells)
    assert advice["run_out_last_at"] == (spells[-1]["empty_at"] if spells else None)
    lasted = sum(end - spell["empty_at"] for end, spell in zip(ends, spells, strict=True))
    assert advice["run_out_s"] == pytest.approx(lasted, abs=period_s)
