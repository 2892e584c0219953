"""The account's own alarms on credits: each result once, on the strict fake."""

import json
from typing import Any

import pytest

from tests.aws.commands import burstwatch
from tests.conftest import NOW, Cloud

TOPIC = "arn:aws:sns:us-east-1:123456789012:ops"


def alarm(cloud: Cloud, name: str, volume: str, **more: Any) -> None:
    """An alarm as people make it: BurstBalance under 20 % for five minutes."""
    cloud.aws.regions["us-east-1"].alarms[name] = {
        "AlarmName": name,
        "Namespace": "AWS/EBS",
        "MetricName": "BurstBalance",
        "Dimensions": [{"Name": "VolumeId", "Value": volume}],
        "Statistic": "Average",
        "Period": 300,
        "EvaluationPeriods": 1,
        "Threshold": 20.0,
        "ComparisonOperator": "LessThanThreshold",
        "ActionsEnabled": True,
        "AlarmActions": [TOPIC],
        "StateValue": "OK",
        **more,
    }


def volume(cloud: Cloud, kind: str = "gp2", size: int = 100, level: float = 60.0) -> str:
    volume_id = cloud.aws.add_volume(kind, size, instance_id=cloud.aws.add_instance("m5.large"))
    for hour in range(48):
        cloud.aws.put(
            "AWS/EBS", "BurstBalance", {"VolumeId": volume_id}, NOW - 3_600.0 * hour, level
        )
    return volume_id


def audited(cloud: Cloud) -> dict[str, dict[str, Any]]:
    code, out, err = burstwatch(cloud, "audit-alarms", "--json")
    assert (code, err) == (0, "")
    return {record["name"]: record for record in map(json.loads, out.splitlines())}


@pytest.mark.parametrize(
    ("more", "result", "why"),
    [
        ({}, "too late", "at full burst it fires 100 s before the bucket is empty; 19 min are needed"),
        ({"Period": 60}, "too late", "6 min before"),
        ({"Threshold": 5.0, "EvaluationPeriods": 3}, "too late", "13 min after"),
        ({"Threshold": 90.0}, "useful", "it fires 25 min before the bucket is empty"),
        ({"Threshold": 90.0, "DatapointsToAlarm": 1, "EvaluationPeriods": 5}, "useful", "25 min"),
        ({"ActionsEnabled": False}, "tells nobody", "switched off"),
        ({"AlarmActions": []}, "tells nobody", "no action"),
        ({"Threshold": 0.0}, "cannot fire", "never under 0"),
        ({"Threshold": 0.0, "ComparisonOperator": "LessThanOrEqualToThreshold"}, "too late", "5 min after"),
        ({"ComparisonOperator": "GreaterThanThreshold"}, "not judged", "rises"),
    ],
)  # fmt: skip
def test_an_alarm_is_judged_by_what_a_full_burst_leaves_when_it_fires(
    cloud: Cloud, more: dict[str, Any], result: str, why: str
) -> None:
    alarm(cloud, "db-burst", volume(cloud), **more)
    record = audited(cloud)["db-burst"]
    assert record["result"] == result
    assert why in record["reason"]


def test_alarms_that_can_never_fire_are_named_with_the_reason(cloud: Cloud) -> None:
    alarm(cloud, "of-gp3", volume(cloud, "gp3"))
    alarm(cloud, "of-a-large-one", volume(cloud, "gp2", 1_000))
    alarm(cloud, "of-one-that-is-gone", "vol-00000000000000bad")
    records = audited(cloud)
    assert {record["result"] for record in records.values()} == {"cannot fire"}
    assert records["of-gp3"]["reason"] == "gp3 has no burst credits"
    assert "at or above its burst" in records["of-a-large-one"]["reason"]
    assert records["of-one-that-is-gone"]["reason"] == "what it watches is gone, or has no credits"


def test_a_level_that_was_never_near_the_alarm_in_weeks_is_said(cloud: Cloud) -> None:
    alarm(cloud, "calm", volume(cloud, level=99.0), Threshold=90.0)
    record = audited(cloud)["calm"]
    assert (record["result"], record["reason"]) == ("never near", "never under 99% in 14 days")


def test_where_burstwatch_is_at_work_an_alarm_that_fires_in_time_is_doubled(cloud: Cloud) -> None:
    alarm(cloud, "db-burst", volume(cloud), Threshold=90.0)
    alarm(cloud, "burstwatch/burstwatch/floor", "vol-1")
    records = audited(cloud)
    assert records.keys() == {"db-burst"}
    assert records["db-burst"]["result"] == "doubled"


def test_an_unlimited_instance_only_costs_money_and_what_is_not_of_credits_is_left_out(
    cloud: Cloud,
) -> None:
    instance = cloud.aws.add_instance("t3.medium")
    cloud.aws.add_item(
        "ec2",
        "DescribeInstanceCreditSpecifications",
        {"InstanceId": instance, "CpuCredits": "unlimited"},
        region="us-east-1",
    )
    dimensions = [{"Name": "InstanceId", "Value": instance}]
    of_cpu = {"Namespace": "AWS/EC2", "Dimensions": dimensions}
    alarm(cloud, "credits", "", **of_cpu, MetricName="CPUCreditBalance")
    alarm(cloud, "load", "", **of_cpu, MetricName="CPUUtilization")
    alarm(cloud, "of-many", "", Dimensions=[])
    records = audited(cloud)
    assert {name: record["result"] for name, record in records.items()} == {"credits": "only money"}


def test_the_table_begins_with_what_to_mend_and_ends_with_the_counts(cloud: Cloud) -> None:
    alarm(cloud, "a-useful", volume(cloud), Threshold=90.0)
    alarm(cloud, "z-of-gp3", volume(cloud, "gp3"))
    code, out, _ = burstwatch(cloud, "audit-alarms")
    assert code == 0
    assert out.splitlines()[2].startswith("z-of-gp3")
    assert out.splitlines()[-1] == "alarms on credits: 2: 1 cannot fire, 1 useful"


def test_what_could_not_be_listed_is_not_called_gone(cloud: Cloud) -> None:
    alarm(cloud, "db-burst", volume(cloud))
    cloud.aws.denied.add("DescribeVolumes")
    code, out, err = burstwatch(cloud, "audit-alarms")
    assert code != 0
    assert "not judged" in out
    assert "DescribeVolumes" in err


def test_what_is_not_known_here_is_not_judged_and_what_asked_not_to_be_watched_is_not_doubled(
    cloud: Cloud,
) -> None:
    instance = cloud.aws.add_instance("t9.metal")
    cloud.aws.add_item(
        "ec2",
        "DescribeInstanceCreditSpecifications",
        {"InstanceId": instance, "CpuCredits": "unlimited"},
        region="us-east-1",
    )
    dimensions = [{"Name": "InstanceId", "Value": instance}]
    alarm(cloud, "credits", "", Namespace="AWS/EC2", Dimensions=dimensions, MetricName="CPUCreditBalance")  # fmt: skip
    alarm(cloud, "burstwatch/burstwatch/floor", "vol-1")
    unwatched = volume(cloud)
    cloud.aws.regions["us-east-1"].volumes[unwatched]["Tags"] = [
        {"Key": "burstwatch:watch", "Value": "no"}
    ]
    alarm(cloud, "own", unwatched, Threshold=90.0)
    results = {name: record["result"] for name, record in audited(cloud).items()}
    assert results["credits"] == "not judged"
    assert results["own"] != "doubled"


def test_nodes_of_two_clusters_are_told_apart_and_refused_metrics_are_a_problem(
    cloud: Cloud,
) -> None:
    for cluster, level in (("a", 5.0), ("b", 570.0)):
        cloud.aws.add_item(
            "elasticache",
            "DescribeCacheClusters",
            {
                "CacheClusterId": cluster, "CacheNodeType": "cache.t3.medium", "Engine": "redis",
                "ARN": f"arn:aws:elasticache:us-east-1:123456789012:cluster:{cluster}",
                "CacheClusterStatus": "available", "CacheNodes": [{"CacheNodeId": "0001"}],
            },
            region="us-east-1",
        )  # fmt: skip
        dimensions = {"CacheClusterId": cluster, "CacheNodeId": "0001"}
        for hour in range(48):
            cloud.aws.put(
                "AWS/ElastiCache", "CPUCreditBalance", dimensions, NOW - 3_600.0 * hour, level
            )
        listed = [{"Name": name, "Value": value} for name, value in dimensions.items()]
        alarm(cloud, f"of-{cluster}", "", Namespace="AWS/ElastiCache", MetricName="CPUCreditBalance",
              Dimensions=listed, Threshold=520.0)  # fmt: skip
        cloud.aws.add_item(
            "resourcegroupstaggingapi",
            "GetResources",
            {
                "ResourceARN": f"arn:aws:elasticache:us-east-1:123456789012:cluster:{cluster}",
                "Tags": [],
            },
            region="us-east-1",
        )
    results = {name: record["result"] for name, record in audited(cloud).items()}
    assert results == {"of-a": "useful", "of-b": "never near"}
    cloud.aws.denied.add("GetMetricData")
    code, _, err = burstwatch(cloud, "audit-alarms")
    assert code != 0
    assert "GetMetricData" in err


def test_what_aws_does_not_list_and_publishes_is_not_called_gone(cloud: Cloud) -> None:
    alarm(cloud, "of-one-that-is-not-listed", volume(cloud))
    cloud.aws.unlisted = set(cloud.aws.regions["us-east-1"].volumes)
    record = audited(cloud)["of-one-that-is-not-listed"]
    assert record["result"] == "not judged"
    assert "published its level in the last 14 days" in record["reason"]
