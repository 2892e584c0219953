"""The account's own alarms on credits: each result once, on the strict fake."""

import json
from typing import Any

import pytest

from burstwatch.cli.main import PARTIAL
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
        ({}, "too late", "at full burst it fires 1 min 40 s before the bucket is empty; 19 min are needed"),
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
    alarm(cloud, "burstwatch.critical/floor/vol-1/burstwatch", "vol-1")
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
    results = {name: record["result"] for name, record in records.items()}
    assert results == {"credits": "only money", "of-many": "cannot fire"}


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
    alarm(cloud, "burstwatch.critical/floor/vol-1/burstwatch", "vol-1")
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


#: A chain of which every link is there: the metric, its resource, the condition, an action, and somebody who hears it.
GONE, AWS_KEYED, UNHEARD = (
    f"arn:aws:sns:us-east-1:123456789012:{name}" for name in ("gone", "aws-keyed", "unheard")
)
RECOVER = "arn:aws:automate:us-east-1:ec2:recover"
SCALE = "arn:aws:autoscaling:us-east-1:123456789012:scalingPolicy:1:autoScalingGroupName/web:policyName/out"
LAMBDA = "arn:aws:lambda:us-east-1:123456789012:function:page"
ELSEWHERE = "arn:aws:sns:us-east-1:999999999999:theirs"
LINKS = [
    ({}, "useful", ""),
    ({"MetricName": "BurstBalanc"}, "cannot fire", "AWS has BurstBalance"),
    ({"MetricName": "CPUCreditBalance"}, "cannot fire", "AWS/EBS has had no CPUCreditBalance with VolumeId"),
    ({"Namespace": "AWS/EC2"}, "cannot fire", "AWS/EC2 has had no BurstBalance with VolumeId"),
    ({"Dimensions": [{"Name": "InstanceId", "Value": "i-1"}]}, "cannot fire", "no BurstBalance with InstanceId"),
    ({"Dimensions": []}, "cannot fire", "no BurstBalance with no dimension"),
    ({"Dimensions": [{"Name": "VolumeId", "Value": "vol-0bad"}]}, "cannot fire", "what it watches is gone"),
    ({"Threshold": 0.0}, "cannot fire", "never under 0"),
    ({"ComparisonOperator": "GreaterThanThreshold"}, "not judged", "rises"),
    ({"Statistic": "SampleCount"}, "not judged", "counts datapoints"),
    ({"AlarmActions": []}, "tells nobody", "it has no action"),
    ({"AlarmActions": [], "InsufficientDataActions": [TOPIC], "OKActions": [TOPIC]}, "tells nobody", "it has no action"),
    ({"ActionsEnabled": False}, "tells nobody", "the actions of it are switched off"),
    ({"AlarmActions": [RECOVER]}, "tells nobody", "an action on the instance tells nobody"),
    ({"AlarmActions": [SCALE]}, "tells nobody", "a scaling policy tells nobody"),
    ({"AlarmActions": [GONE]}, "tells nobody", "its topic gone does not exist"),
    ({"AlarmActions": [AWS_KEYED]}, "tells nobody", "the key of its topic aws-keyed, which AWS manages"),
    ({"AlarmActions": [UNHEARD]}, "tells nobody", "nobody is subscribed to its topic unheard"),
    ({"AlarmActions": [GONE, RECOVER]}, "tells nobody", "its topic gone does not exist; an action on the instance tells nobody"),
    ({"AlarmActions": [GONE, TOPIC]}, "useful", ""),
    ({"AlarmActions": [RECOVER, LAMBDA]}, "useful", ""),
    ({"AlarmActions": [ELSEWHERE]}, "useful", ""),
]  # fmt: skip


def topics(cloud: Cloud) -> None:
    """A topic that was deleted, one with AWS's own key, and one whose only subscriber has not confirmed."""
    cloud.aws.deleted_topics.add(GONE)
    cloud.aws.topic_keys[AWS_KEYED] = "alias/aws/sns"
    cloud.aws.subscriptions[UNHEARD] = {"PendingConfirmation": "somebody@example.org"}


@pytest.mark.parametrize(("other", "result", "why"), LINKS)
@pytest.mark.parametrize("is_query", [False, True])
def test_a_link_of_the_chain_that_is_missing_is_the_reason(
    cloud: Cloud, other: dict[str, Any], result: str, why: str, *, is_query: bool
) -> None:
    """Also where the metric stands in a list of one, as Terraform writes it."""
    topics(cloud)
    alarm(cloud, "own", volume(cloud), **{"Threshold": 90.0, **other})
    if is_query:
        definition = cloud.aws.regions["us-east-1"].alarms["own"]
        metric = {name: definition.pop(name) for name in ("Namespace", "MetricName", "Dimensions")}
        stat = {
            "Metric": metric,
            "Period": definition.pop("Period"),
            "Stat": definition.pop("Statistic"),
        }
        definition["Metrics"] = [{"Id": "m1", "ReturnData": True, "MetricStat": stat}]
    record = audited(cloud)["own"]
    assert record["result"] == result
    assert why in record["reason"]


@pytest.mark.parametrize(
    ("rule", "more", "result", "why"),
    [
        ('ALARM("own")', {}, "useful", ""),
        ("ALARM(own) AND NOT ALARM(maintenance)", {}, "useful", ""),
        ("ALARM(arn:aws:cloudwatch:us-east-1:123456789012:alarm:own) OR ALARM(x)", {}, "useful", ""),
        ('NOT ALARM("own")', {}, "tells nobody", "it has no action"),
        ('ALARM("other")', {}, "tells nobody", "it has no action"),
        ('NOT (ALARM("own") OR ALARM(x))', {}, "not judged", "the rule of the composite parent is not understood"),
        ("ALARM(own) AND FALSE", {}, "not judged", "the rule of the composite parent is not understood"),
        ('ALARM("own") AND NOT ALARM("not (true)")', {}, "useful", ""),
        ('ALARM("own")', {"AlarmActions": []}, "tells nobody", "the composite parent has no action"),
        ('ALARM("own")', {"AlarmActions": [GONE]}, "tells nobody", "its topic gone does not exist"),
        ('ALARM("own")', {"ActionsEnabled": False}, "tells nobody", "the actions of the composite parent are switched off"),
    ],
)  # fmt: skip
def test_the_child_of_a_composite_alarm_is_heard_through_its_parents(
    cloud: Cloud, rule: str, more: dict[str, Any], result: str, why: str
) -> None:
    topics(cloud)
    alarm(cloud, "own", volume(cloud), Threshold=90.0, AlarmActions=[])
    parent = {
        "AlarmName": "parent",
        "AlarmRule": rule,
        "ActionsEnabled": True,
        "AlarmActions": [TOPIC],
        **more,
    }
    alarms = cloud.aws.regions["us-east-1"].alarms
    alarms["parent"] = parent
    record = audited(cloud)["own"]
    assert record["result"] == result
    assert why in record["reason"]
    # And through a composite of composites.
    alarms["parent"] = {**parent, "AlarmActions": [], "ActionsEnabled": True}
    alarms["above"] = {**parent, "AlarmName": "above", "AlarmRule": "ALARM(parent)"}
    assert audited(cloud)["own"]["result"] == result


def test_what_is_not_understood_is_listed_and_counted(cloud: Cloud) -> None:
    """An expression, a band, a query over many, the sum that AWS charges: none is passed over."""
    one = volume(cloud)
    stat = {"Metric": {"Namespace": "AWS/EBS", "MetricName": "BurstBalance", "Dimensions": [{"Name": "VolumeId", "Value": one}]},
            "Period": 300, "Stat": "Average"}  # fmt: skip
    plain = {"EvaluationPeriods": 1, "Threshold": 20.0, "ComparisonOperator": "LessThanThreshold", "ActionsEnabled": True, "AlarmActions": [TOPIC]}  # fmt: skip
    metrics: dict[str, list[dict[str, Any]]] = {
        "the lower of two": [{"Id": "m1", "MetricStat": stat}, {"Id": "m2", "MetricStat": stat}, {"Id": "e", "Expression": "MIN([m1,m2])"}],
        "a band": [{"Id": "m1", "MetricStat": stat}, {"Id": "b", "Expression": "ANOMALY_DETECTION_BAND(m1, 2)"}],
        "an insights query": [{"Id": "q", "Expression": 'SELECT MIN(BurstBalance) FROM SCHEMA("AWS/EBS", VolumeId)', "Period": 300}],
        "of the load": [{"Id": "q", "Expression": 'SELECT MAX(CPUUtilization) FROM SCHEMA("AWS/EC2", InstanceId)', "Period": 300}],
    }  # fmt: skip
    for name, queries in metrics.items():
        cloud.aws.regions["us-east-1"].alarms[name] = {
            "AlarmName": name,
            "Metrics": queries,
            **plain,
        }
    del cloud.aws.regions["us-east-1"].alarms["a band"]["Threshold"]
    instance = cloud.aws.add_instance("t3.medium")
    pairs = {"InstanceId": instance}
    cloud.aws.put("AWS/EC2", "CPUSurplusCreditsCharged", pairs, NOW - 600, 1.0)
    of_charge = [{"Name": "InstanceId", "Value": instance}]
    alarm(cloud, "charged", "", Namespace="AWS/EC2", MetricName="CPUSurplusCreditsCharged", Dimensions=of_charge,
          ComparisonOperator="GreaterThanThreshold", Threshold=0.0)  # fmt: skip
    results = {name: record["result"] for name, record in audited(cloud).items()}
    others = ["the lower of two", "a band", "an insights query"]
    assert results == {**dict.fromkeys(others, "not judged"), "charged": "only money"}


def test_an_alarm_that_was_silent_while_its_bucket_was_empty_is_said_to_have_never_fired(
    cloud: Cloud,
) -> None:
    """A T2 without credits lies between 0.01 and 0.02, and the threshold is 0."""
    instance = cloud.aws.add_instance("t2.micro")
    pairs = {"InstanceId": instance}
    for back in range(600):
        level = 100.0 if 200 < back < 300 else 0.01 + 0.01 * (back % 2)
        cloud.aws.put("AWS/EC2", "CPUCreditBalance", pairs, NOW - 300.0 * (back + 1), level)
    of_cpu = {"Namespace": "AWS/EC2", "MetricName": "CPUCreditBalance", "Dimensions": [{"Name": "InstanceId", "Value": instance}]}  # fmt: skip
    alarm(
        cloud, "own", "", **of_cpu, ComparisonOperator="LessThanOrEqualToThreshold", Threshold=0.0
    )
    record = audited(cloud)["own"]
    assert (record["result"], record["reason"]) == (
        "never fired", "in 14 days it ran out 2 times, and the metric never crossed the threshold",
    )  # fmt: skip
    alarm(cloud, "own", "", **of_cpu, Threshold=0.02)
    assert audited(cloud)["own"]["result"] != "never fired"


def test_topics_that_may_not_be_read_are_a_problem_and_taken_to_be_heard(cloud: Cloud) -> None:
    alarm(cloud, "own", volume(cloud), Threshold=90.0)
    cloud.aws.denied.add("GetTopicAttributes")
    code, out, err = burstwatch(cloud, "audit-alarms", "--json")
    assert code == PARTIAL
    assert json.loads(out)["result"] == "useful"
    assert "topic ops: GetTopicAttributes: AccessDenied" in err


def test_a_name_with_brackets_is_found_in_the_rule_of_a_composite_alarm(cloud: Cloud) -> None:
    topics(cloud)
    alarm(cloud, "own (prod)", volume(cloud), Threshold=90.0, AlarmActions=[])
    cloud.aws.regions["us-east-1"].alarms["parent"] = {
        "AlarmName": "parent", "AlarmRule": 'ALARM("own (prod)")', "ActionsEnabled": True, "AlarmActions": [TOPIC],
    }  # fmt: skip
    assert audited(cloud)["own (prod)"]["result"] == "useful"


@pytest.mark.parametrize(
    ("definition", "result", "why"),
    [
        ({"Statistic": "Sum"}, "not judged", "it adds up the datapoints of a period"),
        ({"Threshold": 101.0}, "not judged", "it is in ALARM all the time"),
        ({"Dimensions": [{"Name": "VolumeId", "Value": "vol-gone"}], "TreatMissingData": "breaching"},
         "not judged", "without data it is in ALARM"),
        ({"Dimensions": [{"Name": "VolumeId", "Value": "vol-gone"}]}, "cannot fire", "what it watches is gone"),
    ],
)  # fmt: skip
def test_what_fires_by_something_else_than_a_falling_level_is_not_called_useful(
    cloud: Cloud, definition: dict[str, Any], result: str, why: str
) -> None:
    topics(cloud)
    one = volume(cloud)
    for back in range(1, 40):
        cloud.aws.put("AWS/EBS", "BurstBalance", {"VolumeId": one}, NOW - 300.0 * back, 99.0)
    alarm(cloud, "own", one, **{"Threshold": 90.0, "AlarmActions": [TOPIC], **definition})
    record = audited(cloud)["own"]
    assert (record["result"], why in record["reason"]) == (result, True), record["reason"]


def test_an_alarm_on_the_earned_credits_of_an_unlimited_instance_is_not_read_as_what_it_owes(
    cloud: Cloud,
) -> None:
    topics(cloud)
    instance = cloud.aws.add_instance("t3.medium")
    cloud.aws.add_item(
        "ec2", "DescribeInstanceCreditSpecifications", {"InstanceId": instance, "CpuCredits": "unlimited"}
    )  # fmt: skip
    pairs = {"InstanceId": instance}
    for back in range(1, 40):
        cloud.aws.put("AWS/EC2", "CPUCreditBalance", pairs, NOW - 300.0 * back, 576.0)
    named = [{"Name": "InstanceId", "Value": instance}]
    alarm(cloud, "own", "", Namespace="AWS/EC2", MetricName="CPUCreditBalance", Dimensions=named,
          Threshold=50.0, AlarmActions=[TOPIC])  # fmt: skip
    assert audited(cloud)["own"]["result"] == "only money"


def test_an_alarm_on_the_business_with_cards_is_no_alarm_on_credits(cloud: Cloud) -> None:
    topics(cloud)
    alarm(cloud, "own", volume(cloud), Threshold=90.0, AlarmActions=[TOPIC])
    shop = [{"Name": "Shop", "Value": "a"}]
    alarm(cloud, "cards", "", Namespace="Shop/Payments", MetricName="CreditCardDeclined", Dimensions=shop,
          ComparisonOperator="GreaterThanThreshold", Threshold=5.0, AlarmActions=[TOPIC])  # fmt: skip
    assert set(audited(cloud)) == {"own"}


def test_an_expression_whose_composite_is_not_understood_is_not_said_to_tell_nobody(
    cloud: Cloud,
) -> None:
    """As for an alarm on one metric."""
    topics(cloud)
    stat = {"Metric": {"Namespace": "AWS/EBS", "MetricName": "BurstBalance",
                       "Dimensions": [{"Name": "VolumeId", "Value": volume(cloud)}]}, "Period": 300, "Stat": "Average"}  # fmt: skip
    there = cloud.aws.regions["us-east-1"].alarms
    there["own"] = {
        "AlarmName": "own", "Metrics": [{"Id": "m1", "MetricStat": stat}, {"Id": "e", "Expression": "m1 * 2"}],
        "EvaluationPeriods": 1, "Threshold": 20.0, "ComparisonOperator": "LessThanThreshold", "AlarmActions": [],
    }  # fmt: skip
    there["parent"] = {
        "AlarmName": "parent", "AlarmRule": "NOT (ALARM(own))", "ActionsEnabled": True, "AlarmActions": [TOPIC],
    }  # fmt: skip
    assert audited(cloud)["own"]["result"] == "not judged"
    there["parent"]["AlarmRule"] = "ALARM(other)"
    assert audited(cloud)["own"]["result"] == "tells nobody"
