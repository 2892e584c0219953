"""Calls the deployed functions as Lambda does."""

import importlib
import sys
from dataclasses import dataclass
from types import ModuleType

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


def put_alarm(cloud: Cloud, name: str) -> None:
    cloud.clients("cloudwatch").put_metric_alarm(
        AlarmName=name, Namespace="Burstwatch", MetricName="Severity", Statistic="Maximum",
        Period=60, EvaluationPeriods=1, Threshold=3.0,
        ComparisonOperator="GreaterThanOrEqualToThreshold",
    )  # fmt: skip
