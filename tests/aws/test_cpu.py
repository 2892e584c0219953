"""CPU credits through a look at the strict fake: new instances, modes, and how often they are asked for."""

import io
import os
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from burstwatch.aws.alarms.api import Alarm
from burstwatch.aws.alarms.episodes import close_episode
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import UnitSnapshot, look
from burstwatch.bucket import level_after
from burstwatch.cli.main import run
from burstwatch.config import Config
from burstwatch.forecast.policy import assess
from burstwatch.history.background import Background
from burstwatch.history.history import SERVED_TOO_MUCH
from burstwatch.history.observations import (
    BucketTerms,
    Limit,
    Observation,
    Reporting,
    Resource,
    observe,
)
from burstwatch.history.points import LevelPoint
from burstwatch.kinds import find_kinds
from burstwatch.kinds._cpu import EARNED, cpu_spec, larger_size
from burstwatch.kinds.base import Thing
from burstwatch.messages.brief import make_brief
from burstwatch.messages.digest import is_false_page
from burstwatch.messages.timeline import Timeline
from tests.aws.sweeping import CONFIG, run_sweep
from tests.conftest import NOW, Cloud
from tests.fake.wire import service_model
from tests.kinds._rds import instance
from tests.kinds.ec2_instance_cpu import FOUND, ITEMS

KIND = find_kinds()["ec2_instance_cpu"]
ID = "i-0aaaaaaaaaaaaaa01"
CPU = f"{ID}.cpu"
HOUR_S = 3_600.0
#: Families that botocore names and of which no type is on sale yet.
ANNOUNCED = {"t9g"}


def start(cloud: Cloud, instance_type: str, *, hours_ago: float, **more: Any) -> None:
    cloud.aws.add_item(
        "ec2",
        "DescribeInstances",
        {
            "InstanceId": ID,
            "InstanceType": instance_type,
            "State": {"Name": "running"},
            "LaunchTime": datetime.fromtimestamp(NOW - hours_ago * HOUR_S, tz=UTC),
            **more,
        },
    )


def credits_of(
    cloud: Cloud, *balances: float, usage: float, metric: str = "CPUCreditBalance"
) -> None:
    """Datapoints, one every five minutes, the newest of which has just ended."""
    for back, balance in enumerate(reversed(balances)):
        at = NOW - 300.0 * (back + 1)
        cloud.aws.put("AWS/EC2", metric, {"InstanceId": ID}, at, balance)
        cloud.aws.put("AWS/EC2", "CPUCreditUsage", {"InstanceId": ID}, at, usage)


def see(cloud: Cloud, memory: Memory | None = None) -> UnitSnapshot:
    return look(
        cloud.unit, [KIND], cloud.clients, Config(), memory or Memory(), now=NOW, deadline=cloud.never()
    )  # fmt: skip


def verdict(cloud: Cloud) -> str:
    return see(cloud).assessments[CPU][1].verdict


@pytest.mark.parametrize(
    ("attached_s", "starts_empty"), [(-86_400, False), (5, True), (None, True)]
)
def test_only_the_first_start_of_a_t3_begins_without_credits(
    attached_s: float | None, *, starts_empty: bool
) -> None:
    """Over a stop it keeps what it has, also if that is nothing."""
    item = dict(ITEMS[0])
    if attached_s is not None:
        at = item["LaunchTime"] + timedelta(seconds=attached_s)
        item["BlockDeviceMappings"] = [{"DeviceName": "/dev/xvda", "Ebs": {"AttachTime": at}}]
        item["NetworkInterfaces"] = [{"Attachment": {"AttachTime": at}}]
    thing = replace(KIND.inventory.identify(item), unit="123456789012/us-east-1")
    (resource,) = KIND.describe(thing, FOUND, NOW)
    assert resource.terms.starts_empty is starts_empty


@pytest.mark.parametrize(
    ("change", "over"),
    [
        ({}, ""),
        ({"reporting": Reporting(in_use=False)}, "not in use any more"),
        ({"bucket": None}, "has no CPU credits any more"),
    ],
)
def test_credits_that_did_not_come_back_are_not_called_recovered(
    change: dict[str, Any], over: str
) -> None:
    thing = replace(KIND.inventory.identify(ITEMS[0]), unit="123456789012/us-east-1")
    (resource,) = KIND.describe(thing, FOUND, NOW)
    resource = replace(resource, **change)
    assessment = assess(Observation(resource=resource, at=NOW), Config())
    assert make_brief(resource, assessment, KIND, Background()).ended_because == over


@pytest.mark.parametrize(
    ("metrics", "code", "said"),
    [
        (("CPUCreditBalance", "CPUCreditUsage"), 0, "t3.micro, 5 min in periods of 5 min"),
        (("CPUCreditUsage",), 2, "has datapoints of 60 s only, needed is one period of 300 s"),
        ((), 2, "CloudWatch has no datapoint of"),
    ],
)
def test_an_instance_with_one_datapoint_or_none_is_explained_or_named(
    metrics: tuple[str, ...], code: int, said: str, cloud: Cloud
) -> None:
    start(cloud, "t3.micro", hours_ago=0.3)
    for metric in metrics:
        cloud.aws.put("AWS/EC2", metric, {"InstanceId": ID}, NOW - NOW % 300 - 600, 0.1)
    out, err = io.StringIO(), io.StringIO()
    found = run(["explain", CPU], stdout=out, stderr=err, env=dict(os.environ), clock=cloud.clock)
    assert (found, err.getvalue().count("\n")) == (code, 1 if code else 0)
    assert said in out.getvalue() + err.getvalue()


def test_an_episode_that_ended_in_unlimited_mode_is_not_measured_by_what_is_owed(
    cloud: Cloud,
) -> None:
    """Surplus credits of 0 would say that it was never under 100 percent."""
    (item,) = [one for one in ITEMS if one["InstanceId"] == "i-0aaaaaaaaaaaaaa02"]
    thing = replace(KIND.inventory.identify(item), unit=str(cloud.unit))
    (resource,) = KIND.describe(thing, FOUND, NOW)
    alarm = Alarm(
        name=f"burstwatch.critical/{resource.id}/burstwatch", kind=KIND.name, resource_id=resource.id,
        severity="critical", state="OK", state_since=NOW - 600, is_enabled=True,
        timeline=Timeline(opened_s=NOW - 7_200, paged_s=NOW - 7_000, empty_s=NOW - 3_600),
    )  # fmt: skip
    cloud.aws.put("AWS/EC2", "CPUSurplusCreditBalance", {"InstanceId": thing.id}, NOW - 600, 0.0)
    seen = Observation(resource=resource, at=NOW)
    found = UnitSnapshot(
        unit=cloud.unit, at=NOW, kinds={KIND.name: KIND}, buckets=((resource, assess(seen, Config())),)
    )  # fmt: skip
    episode = close_episode(cloud.clients, found, resource.id, [alarm], cloud.never())
    assert (episode.lowest_ratio, episode.empty_s) == (None, NOW - 3_600)
    assert not is_false_page(episode)


def test_a_new_t3_without_credits_is_no_incident(cloud: Cloud) -> None:
    start(cloud, "t3.medium", hours_ago=1)
    credits_of(cloud, *[0.0] * 12, usage=8.0)
    found = see(cloud).assessments[CPU][1]
    assert found.verdict == "watch"
    assert "started 1 h ago without credits" in found.reason


def test_its_first_credits_that_are_spent_again_are_no_incident_either(cloud: Cloud) -> None:
    start(cloud, "t3.medium", hours_ago=2)
    credits_of(cloud, *[0.0] * 10, *[2.0, 4.0, 6.0, 4.0, 2.0, 0.0], usage=4.0)
    assert verdict(cloud) == "watch"


def test_a_t3_that_has_had_the_time_to_gather_credits_and_has_none_is_exhausted(
    cloud: Cloud,
) -> None:
    start(cloud, "t3.medium", hours_ago=6)
    credits_of(cloud, *[0.0] * 72, usage=2.0)
    assert verdict(cloud) == "exhausted"


def test_credits_that_were_kept_over_a_stop_and_run_out_are_an_incident(cloud: Cloud) -> None:
    start(cloud, "t3.medium", hours_ago=2)
    credits_of(cloud, *[max(0.0, 160.0 - 8.0 * step) for step in range(24)], usage=10.0)
    assert verdict(cloud) == "exhausted"


def test_launch_credits_of_a_t2_are_a_full_bucket_and_no_doubt(cloud: Cloud) -> None:
    start(cloud, "t2.nano", hours_ago=30)
    credits_of(cloud, *[102.0] * 12, usage=0.1)
    assert verdict(cloud) == "ok"


def test_an_unlimited_instance_warns_of_the_charge_and_never_pages(cloud: Cloud) -> None:
    start(cloud, "t3.medium", hours_ago=30)
    cloud.aws.add_item(
        "ec2",
        "DescribeInstanceCreditSpecifications",
        {"InstanceId": ID, "CpuCredits": "unlimited"},
    )
    owed = [min(576.0, 300.0 + 8.0 * step) for step in range(40)]
    credits_of(cloud, *owed, usage=10.0, metric="CPUSurplusCreditBalance")
    found = see(cloud)
    assert found.assessments[CPU][1].verdict == "warning"
    brief = found.brief(CPU)
    assert brief.headline.startswith("have run out (")
    assert brief.at_zero.short == "extra CPU is billed"
    assert (
        brief.at_zero.note
        == "0.08 USD an hour at full load (0.05 USD a vCPU-hour over the baseline)"
    )


def test_without_its_mode_an_instance_is_unknown_and_with_it_known_again(cloud: Cloud) -> None:
    start(cloud, "t3.medium", hours_ago=30)
    credits_of(cloud, *[0.0] * 72, usage=2.0)
    cloud.aws.denied.add("DescribeInstanceCreditSpecifications")
    found = see(cloud).assessments[CPU][1]
    assert found.verdict == "unknown"
    assert found.reason == (
        "DescribeInstanceCreditSpecifications failed, and nothing can be said without it"
    )
    cloud.aws.denied.clear()
    assert verdict(cloud) == "exhausted"


def test_load_that_goes_on_for_hours_pages_and_a_job_of_ten_minutes_does_not(cloud: Cloud) -> None:
    start(cloud, "t3.medium", hours_ago=100)
    # 24 credits come in an hour. Full load could empty either within the lead.
    credits_of(cloud, *[144.0 + 2.5 * back for back in range(36, 0, -1)], usage=4.5)
    found = see(cloud).assessments[CPU][1]
    assert found.verdict == "critical"
    assert "at the mean of the last 2 h" in found.reason
    assert SERVED_TOO_MUCH not in found.reason  # its points are on no five-minute mark
    credits_of(cloud, *[144.0] * 34, 136.0, 128.0, usage=2.0)
    for back in (1, 2):
        cloud.aws.put("AWS/EC2", "CPUCreditUsage", {"InstanceId": ID}, NOW - 300.0 * back, 10.0)
    assert verdict(cloud) == "watch"


def test_what_is_known_of_an_instance_outlives_a_lookup_that_fails(cloud: Cloud) -> None:
    start(cloud, "t3.medium", hours_ago=30)
    credits_of(cloud, *[500.0] * 12, usage=1.0)
    memory = Memory()
    assert see(cloud, memory).assessments[CPU][1].verdict == "ok"
    cloud.aws.denied.add("DescribeInstanceCreditSpecifications")
    found = see(cloud, memory)
    assert found.assessments[CPU][1].verdict == "ok"
    assert found.incomplete == frozenset()
    assert found.problems[0].part == "DescribeInstanceCreditSpecifications"


def test_what_several_kinds_list_is_asked_for_once_at_a_look(cloud: Cloud) -> None:
    look(
        cloud.unit, list(find_kinds().values()), cloud.clients, Config(), Memory(), now=NOW,
        deadline=cloud.never(),
    )  # fmt: skip
    assert cloud.aws.counted["DescribeDBInstances"] == 1


def test_what_comes_every_five_minutes_is_not_asked_for_more_often(cloud: Cloud) -> None:
    start(cloud, "t3.nano", hours_ago=30)
    credits_of(cloud, *[100.0 - 2 * step for step in range(30)], usage=2.5)
    memory = Memory()
    see(cloud, memory)
    (seen,) = memory.looks.values()
    assert seen.due_at - NOW >= 270.0


def test_an_unknown_size_is_named_and_its_figures_are_never_guessed(cloud: Cloud) -> None:
    start(cloud, "t3.16xlarge", hours_ago=30)
    resource, found = see(cloud).assessments[CPU]
    assert found.verdict == "unknown"  # no balance of it is published yet
    assert any("t3.16xlarge" in caveat for caveat in resource.words.caveats)


@pytest.mark.parametrize(
    ("instance_type", "periods", "expected"),
    [
        # The examples of Standard mode in the EC2 user guide: hours, load per vCPU, credits after.
        (
            "t3.nano",
            [(24, 0.0), (12, 0.025), (24, 0.07), (12, 0.025), (2, 0.60), (14, 0.05), (24, 0.0)],
            [144.0, 144.0, 86.4, 122.4, 0.0, 0.0, 144.0],
        ),
    ],
)
def test_the_balance_follows_the_published_examples(
    instance_type: str, periods: list[tuple[float, float]], expected: list[float]
) -> None:
    spec = cpu_spec(instance_type)
    bucket = replace(spec.bucket, burst=float(spec.vcpus))
    level, found = 0.0, []
    for hours, load in periods:
        level = level_after(bucket, level=level, demand=load * spec.vcpus, seconds=hours * HOUR_S)
        found.append(level / 60)
    assert found == pytest.approx(expected)


def test_every_family_that_aws_has_is_in_the_table_with_its_sizes() -> None:
    """A new version of botocore that has another one fails here: read AWS's table, and add it."""
    model = service_model("ec2")
    sizes: dict[str, set[str]] = {}
    for name in model.shape_for("InstanceType").enum:
        family, _, size = name.partition(".")
        if re.match(r"t\d", family) and family != "t1":  # which has no credits
            sizes.setdefault(family, set()).add(size)
    assert {family: set(earned) for family, earned in EARNED.items()} == sizes
    unlimited = set(model.shape_for("UnlimitedSupportedInstanceFamily").enum)
    assert unlimited - set(EARNED) <= ANNOUNCED


def test_a_family_that_aws_has_announced_is_watched_as_its_predecessors_are_and_says_so() -> None:
    for family, size in product(ANNOUNCED | {"t10i"}, EARNED["t3"]):
        spec, like = cpu_spec(f"{family}.{size}"), cpu_spec(f"t3.{size}")
        assert spec.bucket == like.bucket
        assert spec.caveats == (
            f"AWS's figures of {family} were not read: taken to be those of t3.{size}",
        )
        assert larger_size(spec, 0.1) == ""  # which sizes there are, nobody knows


@pytest.mark.parametrize(
    ("software", "family", "usd"),
    [
        ({}, "t3", 0.05),
        ({"PlatformDetails": "Linux/UNIX"}, "t4g", 0.04),
        ({"PlatformDetails": "Red Hat Enterprise Linux"}, "t3", 0.05),
        ({"PlatformDetails": "SUSE Linux"}, "t2", 0.05),
        ({"Platform": "windows"}, "t3", 0.096),
        ({"Platform": "windows", "PlatformDetails": "Windows"}, "t3a", 0.096),
        ({"Platform": "windows", "PlatformDetails": "Windows with SQL Server Web"}, "t3", 0.096),
        (
            {"Platform": "windows", "PlatformDetails": "Windows with SQL Server Standard"},
            "t3",
            None,
        ),
        ({}, "t8i", None),
    ],
)
@pytest.mark.parametrize("region", ["us-east-1", "eu-central-1", "cn-north-1", "us-gov-west-1"])
def test_surplus_costs_the_same_in_all_commercial_regions_by_the_software(
    software: dict[str, str], family: str, usd: float | None, region: str
) -> None:
    item = {"InstanceId": ID, "InstanceType": f"{family}.medium", **software}
    thing = Thing(id=ID, name="", tags={}, item=item, unit=f"123456789012/{region}")
    modes = {"instance_types": {}, "credit_specifications": {ID: {"CpuCredits": "unlimited"}}}
    (resource,) = KIND.describe(thing, modes, NOW)
    is_known = usd is not None and not region.startswith(("cn-", "us-gov-"))
    note = KIND.at_zero(resource).note
    assert (f"{usd:g} USD a vCPU-hour" if is_known else "price unknown") in note


def test_advice_ends_at_the_sizes_that_a_family_has() -> None:
    spec = cpu_spec("t8i.small")
    assert larger_size(spec, 0.4) == "small"
    assert larger_size(spec, 0.41) == ""


@pytest.mark.parametrize("size", sorted(EARNED["t2"]))
@pytest.mark.parametrize("kind", ["ec2_instance_cpu", "rds_instance_cpu"])
@pytest.mark.parametrize(
    ("first_share", "verdict"),
    [
        (0.0, "watch"),  # the 101st start of a day has no launch credits
        (0.02, "watch"),
        (1.0, "exhausted"),  # it had them, and has spent them
    ],
)
def test_a_fresh_t2_is_an_incident_only_if_it_had_launch_credits_to_spend(
    kind: str, size: str, first_share: float, verdict: str
) -> None:
    spec = cpu_spec(f"t2.{size}")
    started_s = NOW - 3_600
    resource = Resource(
        kind=kind,
        id="i-1.cpu",
        level_metric="CPUCreditBalance",
        name="",
        unit="1/us-east-1",
        bucket=spec.bucket,
        limit=Limit(rate=float(spec.vcpus), binding="cpu"),
        reporting=Reporting(
            statistic="Average",
            in_use_since_s=started_s,
            history_from_s=started_s,
            reports_when_idle=True,
            published_every_s=300.0,
        ),
        terms=BucketTerms(starts_empty=True, launch_ratio=spec.launch_ratio),
    )
    first = first_share * spec.launch_ratio
    levels = [
        LevelPoint(start_s=started_s + 300 * at, period_s=300, statistic="Average",
                   ratio=first if at < 4 else 0.0)
        for at in range(12)
    ]  # fmt: skip
    seen = observe(resource, NOW, levels, unit_period_s=300.0, looked_back_s=21_600)
    assert assess(seen, Config()).verdict == verdict
    assert 0 < spec.launch_ratio < 0.5


@pytest.mark.parametrize(("owed", "verdict"), [(0.0, "ok"), (560.0, "warning"), (None, "warning")])
def test_a_database_without_credits_is_judged_by_its_surplus_where_that_is_published(
    cloud: Cloud, owed: float | None, verdict: str
) -> None:
    """A day's earnings of a db.t3.medium are 576 credits, which it may owe for nothing."""
    cloud.aws.add_item(
        "rds",
        "DescribeDBInstances",
        instance("orders-db", "postgres", instance_class="db.t3.medium"),
    )
    where = {"DBInstanceIdentifier": "orders-db"}
    for back in range(1, 40):
        at = NOW - 300.0 * back
        cloud.aws.put("AWS/RDS", "CPUCreditBalance", where, at, 0.0)
        cloud.aws.put("AWS/RDS", "CPUCreditUsage", where, at, 9.0)
        if owed is not None:
            cloud.aws.put(
                "AWS/RDS", "CPUSurplusCreditBalance", where, at, max(0.0, owed - 7.0 * back)
            )
    swept = run_sweep(cloud, config=replace(CONFIG, kinds="rds_instance_cpu"))
    ((resource, assessment),) = swept.snapshot.assessments.values()
    published = "CPUCreditBalance" if owed is None else "CPUSurplusCreditBalance"
    assert (resource.level_metric, assessment.verdict) == (published, verdict)


def test_a_database_keeps_its_surplus_as_level_while_metrics_cannot_be_listed(cloud: Cloud) -> None:
    cloud.aws.add_item(
        "rds",
        "DescribeDBInstances",
        instance("orders-db", "postgres", instance_class="db.t3.medium"),
    )
    for back in range(1, 40):
        for name in ("CPUCreditBalance", "CPUSurplusCreditBalance", "CPUCreditUsage"):
            where = {"DBInstanceIdentifier": "orders-db"}
            cloud.aws.put("AWS/RDS", name, where, NOW - 300.0 * back, 0.0)
    memory, config = Memory(), replace(CONFIG, kinds="rds_instance_cpu")
    for denied in (set[str](), {"ListMetrics"}):
        cloud.aws.denied = denied
        swept = run_sweep(cloud, memory, config=config)
        ((resource, assessment),) = swept.snapshot.assessments.values()
        assert (resource.level_metric, assessment.verdict) == ("CPUSurplusCreditBalance", "ok")
        cloud.clock.now += 60.0


def test_at_a_place_of_its_own_surplus_has_no_price() -> None:
    for zone, has_price in (("us-east-1a", True), ("us-east-1-bos-1a", False)):
        item = {
            "InstanceId": ID,
            "InstanceType": "t3.medium",
            "Placement": {"AvailabilityZone": zone},
        }
        thing = Thing(id=ID, name="", tags={}, item=item, unit="123456789012/us-east-1")
        modes = {"instance_types": {}, "credit_specifications": {ID: {"CpuCredits": "unlimited"}}}
        (resource,) = KIND.describe(thing, modes, NOW)
        assert ("price unknown" not in KIND.at_zero(resource).note) == has_price
