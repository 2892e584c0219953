"""The strict fake itself: what it knows is AWS's own, and what comes too fast is refused."""

from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.config import Config as ClientConfig
from botocore.exceptions import ClientError

from tests.conftest import NOW, Clock, Cloud
from tests.fake.herd import BALANCE, Herd, has_bucket, id_of
from tests.fake.quotas import CALLS, DATAPOINTS, EC2, OLDER, Quotas

COUNT = 700


@pytest.fixture
def herd(cloud: Cloud) -> Herd:
    made = Herd(count=COUNT, ends_s=NOW)
    cloud.aws.add_herd(made)
    return made


def client(cloud: Cloud, service: str) -> Any:
    once = ClientConfig(retries={"total_max_attempts": 1, "mode": "standard"})
    return boto3.client(service, endpoint_url=cloud.url, region_name="us-east-1", config=once)


def test_metrics_are_listed_in_pages_of_500(cloud: Cloud, herd: Herd) -> None:
    pages = client(cloud, "cloudwatch").get_paginator("list_metrics")
    found = list(pages.paginate(Namespace="AWS/EBS", MetricName=BALANCE))
    assert [len(page["Metrics"]) for page in found] == [sum(map(has_bucket, range(COUNT)))]
    every = list(pages.paginate(Namespace="AWS/EBS", Dimensions=[{"Name": "VolumeId"}]))
    assert {len(page["Metrics"]) for page in every[:-1]} == {500}
    assert sum(len(page["Metrics"]) for page in every) == len(list(herd.metrics()))


def test_tagged_volumes_are_found_in_pages_of_100_and_untagged_ones_are_not(
    cloud: Cloud, herd: Herd
) -> None:
    del herd
    bare = cloud.aws.add_volume("gp2", 100)
    pages = client(cloud, "resourcegroupstaggingapi").get_paginator("get_resources")
    found = [
        one["ResourceARN"].rpartition("/")[2]
        for page in pages.paginate(ResourceTypeFilters=["ec2:volume"])
        for one in page["ResourceTagMappingList"]
    ]
    assert len(found) == COUNT
    assert bare not in found
    one = pages.paginate(TagFilters=[{"Key": "Name", "Values": ["disk 7"]}]).build_full_result()
    assert [entry["ResourceARN"][-3:] for entry in one["ResourceTagMappingList"]] == ["007"]


@pytest.mark.parametrize(
    ("service", "operation", "most"),
    [("cloudwatch", "ListMetrics", CALLS["ListMetrics"][1]), ("ec2", "DescribeVolumes", EC2[1])],
)
def test_calls_that_come_too_fast_are_refused_until_time_has_passed(
    service: str, operation: str, most: float
) -> None:
    clock = Clock(0.0)
    quotas = Quotas(clock)
    let = sum(quotas.takes_call(service, operation) for _ in range(int(most) + 50))
    assert let == most
    clock.now += 1.0
    assert quotas.takes_call(service, operation)


def test_datapoints_that_come_too_fast_are_refused(cloud: Cloud, herd: Herd) -> None:
    del herd
    cloud.aws.quotas = quotas = Quotas(cloud.clock)
    cloudwatch, back_s = client(cloud, "cloudwatch"), 6 * 3_600
    metric = {
        "Namespace": "AWS/EBS",
        "MetricName": "VolumeReadOps",
        "Dimensions": [{"Name": "VolumeId", "Value": id_of(0)}],
    }
    request = {
        "MetricDataQueries": [
            {"Id": "m", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Sum"}}
        ],
        "StartTime": datetime.fromtimestamp(NOW - back_s, tz=UTC),
        "EndTime": datetime.fromtimestamp(NOW, tz=UTC),
    }
    assert quotas.takes_datapoints(int(DATAPOINTS[OLDER][0]), back_s=back_s)
    with pytest.raises(ClientError, match="Throttling"):
        cloudwatch.get_metric_data(**request)
    assert quotas.refused == {OLDER: 1}
    cloud.clock.now += 2.0
    cloudwatch.get_metric_data(**request)
