"""List prices of watching, beside those of EBS, in USD, without tax or discount; and what AWS gives for free.

They are those of us-east-1. Other regions differ by some tens of per cent.
"""

from collections.abc import Mapping
from types import MappingProxyType

from burstwatch.sources import Figure, Source

#: Seconds of a month, taken as thirty days.
MONTH_S = 30 * 86_400.0

CLOUDWATCH = Source(
    url="https://aws.amazon.com/cloudwatch/pricing/",
    read="2026-11",
    note="a custom metric is prorated by the hours in which it is published",
)
LAMBDA = Source(url="https://aws.amazon.com/lambda/pricing/", read="2026-11")
SQS = Source(url="https://aws.amazon.com/sqs/pricing/", read="2026-11")
KMS = Source(
    url="https://aws.amazon.com/kms/pricing/",
    read="2026-11",
    note="each of the first two yearly rotations adds as much again, so a key costs three times this from its third year on",
)


def _usd(value: float, per: str, source: Source) -> Figure:
    return Figure(value=value, unit=f"USD a {per}", source=source)


#: By what is charged for. `cdk synth`, `scan --cost` and the benchmark of a month all read these.
PRICES: Mapping[str, Figure] = MappingProxyType(
    {
        "metric_request": _usd(0.01 / 1_000, "metric asked for with GetMetricData", CLOUDWATCH),
        "custom_metric": _usd(0.30, "custom metric and month", CLOUDWATCH),
        "alarm_metric": _usd(0.10, "metric of an alarm and month", CLOUDWATCH),
        "dashboard": _usd(3.00, "dashboard and month", CLOUDWATCH),
        "metrics_call": _usd(0.01 / 1_000, "request to CloudWatch but GetMetricData", CLOUDWATCH),
        "log_gigabyte": _usd(0.50, "GB of logs", CLOUDWATCH),
        "key": _usd(1.00, "key and month", KMS),
        "lambda_gigabyte_second": _usd(0.0000133334, "GB-second on arm64", LAMBDA),
        "lambda_request": _usd(0.2e-6, "invocation", LAMBDA),
        "queue_request": _usd(0.4e-6, "request to a queue", SQS),
    }
)
METRIC_REQUEST = PRICES["metric_request"]


def _free(value: float, item: str, source: Source) -> Figure:
    return Figure(value=value, unit=f"{item} a month", source=source)


#: AWS's free tier of each account every month, whoever uses it first.
FREE: Mapping[str, Figure] = MappingProxyType(
    {
        "custom_metric": _free(10, "custom metrics", CLOUDWATCH),
        "alarm_metric": _free(10, "metrics of alarms", CLOUDWATCH),
        "dashboard": _free(3, "dashboards", CLOUDWATCH),
        "metrics_call": _free(1e6, "requests but GetMetricData", CLOUDWATCH),
        "log_gigabyte": _free(5, "GB of logs", CLOUDWATCH),
        "lambda_gigabyte_second": _free(400_000, "GB-seconds", LAMBDA),
        "lambda_request": _free(1e6, "invocations", LAMBDA),
        "queue_request": _free(1e6, "requests to queues", SQS),
    }
)


def usd_of(item: str, quantity: float, *, with_free_tier: bool = False) -> float:
    """The price of a quantity: at list price, or less what is free if nothing else in the account uses that."""
    free = FREE[item].value if with_free_tier and item in FREE else 0.0
    return max(0.0, quantity - free) * PRICES[item].value
