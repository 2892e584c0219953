"""Nothing unknown is ok: what cannot be watched says so, and a balance is read even if nobody knows how large its bucket is."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from burstwatch.aws.look.memory import Memory
from burstwatch.aws.sweep.fleet_metrics import fleet_metrics
from burstwatch.config import Config
from burstwatch.forecast.policy import assess
from burstwatch.history.observations import Observation, Verdict, observe
from burstwatch.history.points import LevelPoint
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind
from tests.aws.commands import burstwatch
from tests.aws.sweeping import CONFIG, EVERY_KIND, TOPIC, run_sweep
from tests.conftest import NOW, Cloud
from tests.kinds.playing import described, examples_of

pytestmark = pytest.mark.slow

KINDS = find_kinds().values()
#: Why something has no credits at all, in full: these alone may be called ok without a balance.
HAS_NONE = re.compile(
    r"(gp3|io1|io2|standard|SSD|elastic|provisioned)( storage| throughput)? has no burst credits"
    r"|(gp2|st1|sc1) of [\d.]+ GiB has a baseline of [\d.]+ (IOPS, at or above its burst|MiB/s, its burst)"
    r"|\S+ (is not of the types that burst|sustains its maximum)"
    r"|\d+ MB/s of throughput capacity do not burst"
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_no_kind_says_ok_of_an_empty_balance_or_of_what_it_cannot_see(kind: Kind) -> None:
    for resource in described(kind, examples_of(kind)):
        if resource.bucket is None:
            verdict = assess(Observation(resource=resource, at=NOW), Config()).verdict
            assert verdict == ("not_watched" if resource.terms.not_watched else "ok"), resource
            assert resource.terms.not_watched or HAS_NONE.fullmatch(
                resource.terms.no_bucket_reason
            ), resource.terms.no_bucket_reason
            continue
        empty = resource.level_metric.startswith("CPUSurplus")
        value = resource.bucket.capacity / 60 if empty else 0.0
        ratio = kind.to_ratio(resource, value)
        levels = [
            LevelPoint(
                start_s=NOW - 300 * back,
                period_s=300,
                ratio=ratio,
                statistic=resource.reporting.statistic,
            )
            for back in range(40, 0, -1)
        ]
        old = replace(
            resource,
            reporting=replace(
                resource.reporting, history_from_s=None, in_use_since_s=None, in_use=True
            ),
        )
        seen = observe(old, NOW, levels, unit_period_s=300.0, looked_back_s=12_000)
        highest: Verdict = resource.terms.highest_verdict
        assert assess(seen, Config()).verdict == highest, resource


def ontap(cloud: Cloud) -> str:
    fs_id = "fs-0aaaaaaaaaaaaaaa1"
    item: dict[str, Any] = {
        "FileSystemId": fs_id,
        "FileSystemType": "ONTAP",
        "StorageCapacity": 1024,
        "StorageType": "SSD",
        "Lifecycle": "AVAILABLE",
        "ResourceARN": f"arn:aws:fsx:us-east-1:123456789012:file-system/{fs_id}",
        "Tags": [{"Key": "Name", "Value": "home"}],
        "OntapConfiguration": {"ThroughputCapacity": 128},
    }
    cloud.aws.add_item("fsx", "DescribeFileSystems", item)
    return fs_id


def put_server(cloud: Cloud, fs_id: str, at: float, percent: float) -> None:
    for name, value in {
        "FileServerDiskThroughputBalance": percent,
        "FileServerDiskIopsBalance": 100.0,
    }.items():
        cloud.aws.put("AWS/FSx", name, {"FileSystemId": fs_id}, at, value)


def test_a_balance_whose_size_nobody_knows_pages_by_its_own_slope_before_it_is_empty(
    cloud: Cloud,
) -> None:
    fs_id, memory, percent = ontap(cloud), Memory(), 100.0
    for back in range(24, 0, -1):
        put_server(cloud, fs_id, NOW - 300 * back, 100.0)
    paged_s = dry_s = None
    for minute in range(80):
        if minute % 5 == 0:
            percent = max(0.0, percent - 8.0)
            put_server(cloud, fs_id, cloud.clock.now, percent)
            dry_s = dry_s or (cloud.clock.now + 300 if percent == 0 else None)
        cloud.clock.now += 60
        run_sweep(cloud, memory, config=replace(CONFIG, kinds="fsx_file_server"))
        cloud.aws.evaluate_alarms()
        if paged_s is None and any(topic == TOPIC for topic, _, _ in cloud.aws.notifications):
            paged_s = cloud.clock.now
            (text,) = [
                alarm["AlarmDescription"]
                for name, alarm in cloud.aws.regions["us-east-1"].alarms.items()
                if ".critical/" in name
            ]
            assert re.search(r"CRITICAL \d+ min left \(", text)
            assert "then throttled to the baseline" in text
            assert "do not run out" not in text  # at which load is not known
    assert paged_s is not None
    assert dry_s is not None
    assert dry_s - paged_s >= 900


@pytest.mark.parametrize("instance_type", ["t8i.large", "t9g.metal", "t5.metal"])
def test_a_burstable_type_without_figures_is_found_named_and_paged_when_empty(
    cloud: Cloud, instance_type: str
) -> None:
    host = cloud.aws.add_instance(instance_type)
    for back in range(100, 0, -1):
        at = NOW - 300 * back
        cloud.aws.put("AWS/EC2", "CPUCreditBalance", {"InstanceId": host}, at, 0.0)
    swept = run_sweep(cloud, config=replace(CONFIG, kinds="ec2_instance_cpu"))
    ((resource, assessment),) = swept.snapshot.assessments.values()
    assert assessment.verdict == "exhausted"
    assert any(instance_type in caveat for caveat in resource.words.caveats)
    assert len(cloud.aws.regions["us-east-1"].alarms) == 1


def test_aws_says_which_types_burst_and_not_their_names(cloud: Cloud) -> None:
    cloud.aws.add_instance_type("x9.flux", iops=1_000, mb_s=100.0)
    cloud.aws.instance_types["x9.flux"]["BurstablePerformanceSupported"] = True
    cloud.aws.add_instance("x9.flux")
    cloud.aws.add_instance("m5.large")
    swept = run_sweep(cloud, config=replace(CONFIG, kinds="ec2_instance_cpu"))
    assert len(swept.snapshot.assessments) == 1


def test_what_is_not_watched_is_counted_and_shown(cloud: Cloud) -> None:
    cloud.aws.add_instance_type(
        "c7i-flex.16xlarge", iops=80_000, mb_s=2_500, baseline_iops=40_000, baseline_mb_s=1_250
    )
    host = cloud.aws.add_instance("c7i-flex.16xlarge")
    _, out, _ = burstwatch(cloud, "scan")
    assert "not watched" in out
    assert f"{host}: AWS publishes no balance for sizes above 4xlarge" in out
    assert ", 1 not watched;" in out.splitlines()[-1]
    _, lines, _ = burstwatch(cloud, "scan", "--json")
    assert [json.loads(line)["verdict"] for line in lines.splitlines()] == ["not_watched"]
    assert fleet_metrics(run_sweep(cloud, config=EVERY_KIND))["ResourcesNotWatched"] == 1


def test_an_alarm_of_what_can_no_longer_be_watched_ends_and_says_so(cloud: Cloud) -> None:
    cloud.aws.add_instance_type(
        "c7i-flex.4xlarge", iops=40_000, mb_s=1_250, baseline_iops=10_000, baseline_mb_s=300
    )
    cloud.aws.add_instance_type(
        "c7i-flex.16xlarge", iops=80_000, mb_s=2_500, baseline_iops=40_000, baseline_mb_s=1_250
    )
    host = cloud.aws.add_instance("c7i-flex.4xlarge")
    for back in range(30, 0, -1):
        for name in ("EBSIOBalance%", "EBSByteBalance%"):
            cloud.aws.put("AWS/EC2", name, {"InstanceId": host}, NOW - 300 * back, 0.0)
    config, memory = replace(CONFIG, kinds="ec2_instance_ebs"), Memory()
    run_sweep(cloud, memory, config=config)
    cloud.aws.evaluate_alarms()
    cloud.aws.regions["us-east-1"].instances[host]["InstanceType"] = "c7i-flex.16xlarge"
    for _ in range(6):
        cloud.clock.now += 60
        run_sweep(cloud, memory, config=config)
        cloud.aws.evaluate_alarms()
    assert [state for _, _, state in cloud.aws.notifications] == ["ALARM", "OK"]
    assert "cannot be watched any more" in cloud.aws.descriptions[-1]
    assert cloud.aws.regions["us-east-1"].alarms == {}
