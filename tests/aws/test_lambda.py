"""The functions as AWS calls them, with the embedded metrics that they print."""

from __future__ import annotations

import importlib
import io
import json
import sys
import urllib.request
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from demo.localcloud.emf import metric_data
from tests.aws.test_sweep import Disk
from tests.conftest import Cloud


@dataclass
class Context:
    function_name: str = "sweep"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:sweep"
    aws_request_id: str = "r"
    log_stream_name: str = "s"

    def get_remaining_time_in_millis(self) -> int:
        return 50_000


def load(name: str) -> ModuleType:
    """A fresh import: entry points read the environment when they are loaded."""
    sys.modules.pop(name, None)
    return importlib.import_module(name)


def test_the_sweep_prints_metrics_that_are_valid_json(
    cloud: Cloud, aws_env: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    aws_env.setenv("BURSTWATCH_DEPLOYMENT", "test")
    disk = Disk(cloud, percent=100)
    function = load("lambdas.sweep")
    aws_env.setattr(function.time, "time", lambda: cloud.clock.now)
    answer = function.handler({}, Context())
    assert answer["completed"] is True
    found = [data for line in capsys.readouterr().out.splitlines() for data in metric_data(line)]
    ((namespace, data),) = found
    assert namespace == "Burstwatch"
    values = {entry["MetricName"]: entry["Values"] for entry in data}
    assert values["ResourcesSeen"] == [2.0]  # and its instance
    assert data[0]["Dimensions"] == [{"Name": "Deployment", "Value": "test"}]
    assert disk.percent == 100


def test_an_unknown_setting_stops_the_function_from_starting(
    cloud: Cloud, aws_env: pytest.MonkeyPatch
) -> None:
    assert cloud.url
    aws_env.setenv("BURSTWATCH_LEED_S", "900")
    with pytest.raises(ValueError, match="unknown setting 'leed_s'"):
        load("lambdas.sweep")


@pytest.mark.parametrize("constant", ["NaN", "Infinity"])
def test_a_line_that_is_not_json_yields_no_metric(constant: str) -> None:
    line = '{"_aws":{"Timestamp":0,"CloudWatchMetrics":[{"Namespace":"n","Dimensions":[[]],"Metrics":[{"Name":"a"}]}]},"a":%s}'
    assert metric_data(line % "1")
    assert metric_data(line % constant) == []


def deletion(request_type: str = "Delete") -> dict[str, Any]:
    return {
        "RequestType": request_type,
        "ResponseURL": "https://cloudformation.example/answer",
        "StackId": "stack",
        "RequestId": "request",
        "LogicalResourceId": "Alarms",
        "PhysicalResourceId": "alarms",
        "ResourceProperties": {"SettleSeconds": "0"},
    }


@pytest.fixture
def answers(aws_env: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []

    def urlopen(request: urllib.request.Request, timeout: float) -> io.BytesIO:
        assert timeout
        assert isinstance(request.data, bytes)
        sent.append(json.loads(request.data))
        return io.BytesIO()

    aws_env.setattr(urllib.request, "urlopen", urlopen)
    return sent


def put_alarm(cloud: Cloud, name: str) -> None:
    cloud.clients("cloudwatch").put_metric_alarm(
        AlarmName=name, Namespace="Burstwatch", MetricName="Severity", Statistic="Maximum",
        Period=60, EvaluationPeriods=1, Threshold=3.0,
        ComparisonOperator="GreaterThanOrEqualToThreshold",
    )  # fmt: skip


def test_deleting_the_stack_deletes_its_alarms_and_no_other(
    cloud: Cloud, answers: list[dict[str, Any]]
) -> None:
    put_alarm(cloud, "burstwatch/burstwatch/a/r/ebs_volume/vol-1/critical")
    put_alarm(cloud, "burstwatch/other/a/r/ebs_volume/vol-1/critical")
    load("lambdas.cleanup").handler(deletion(), Context())
    assert list(cloud.aws.regions["us-east-1"].alarms) == [
        "burstwatch/other/a/r/ebs_volume/vol-1/critical"
    ]
    assert answers[0]["Status"] == "SUCCESS"


def test_creating_the_stack_deletes_nothing_and_answers(
    cloud: Cloud, answers: list[dict[str, Any]]
) -> None:
    put_alarm(cloud, "burstwatch/burstwatch/a/r/ebs_volume/vol-1/critical")
    load("lambdas.cleanup").handler(deletion("Create"), Context())
    assert len(cloud.aws.regions["us-east-1"].alarms) == 1
    assert answers[0]["Status"] == "SUCCESS"


def test_a_denied_cleanup_still_answers_and_says_why(
    cloud: Cloud, answers: list[dict[str, Any]]
) -> None:
    cloud.aws.denied = {"DescribeAlarms"}
    load("lambdas.cleanup").handler(deletion(), Context())
    assert answers[0]["Status"] == "FAILED"
    assert "AccessDenied" in answers[0]["Reason"]
