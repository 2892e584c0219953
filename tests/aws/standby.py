"""The alarms that exist since the deployment, as the stack makes them."""

from burstwatch.aws.client.names import (
    NAMESPACE,
    NOT_PAGED,
    STANDBY_METRICS,
    deployment_dimensions,
    part_dimensions,
    standby_name,
)
from tests.aws.sweeping import NOTICE, TOPIC
from tests.conftest import Cloud


def deploy_standby(cloud: Cloud, *, deployment: str = "burstwatch") -> None:
    for name, metric in STANDBY_METRICS.items():
        topic = TOPIC if name == NOT_PAGED else NOTICE
        cloud.clients("cloudwatch").put_metric_alarm(
            AlarmName=standby_name(deployment, name),
            AlarmDescription=f"ALARM: {name}\nNow: do something\nOK: all is well\nRunbook: there",
            ActionsEnabled=True,
            AlarmActions=[topic],
            OKActions=[topic],
            Namespace=NAMESPACE,
            MetricName=metric,
            Dimensions=deployment_dimensions(deployment),
            Statistic="Maximum",
            Period=60,
            EvaluationPeriods=1,
            DatapointsToAlarm=1,
            Threshold=1.0,
            ComparisonOperator="GreaterThanOrEqualToThreshold",
            TreatMissingData="notBreaching",
        )
    cloud.aws.evaluate_alarms()
    cloud.aws.notifications.clear()


def text_of(cloud: Cloud, name: str, *, deployment: str = "burstwatch") -> str:
    """The description of one of them."""
    alarm = cloud.aws.regions["us-east-1"].alarms[standby_name(deployment, name)]
    return str(alarm["AlarmDescription"])


def watch_heartbeat(cloud: Cloud, deployment: str, unit: str) -> None:
    cloud.clients("cloudwatch").put_metric_alarm(
        AlarmName=f"burstwatch-{deployment}-no-completed-sweep",
        ActionsEnabled=True,
        AlarmActions=[TOPIC],
        OKActions=[TOPIC],
        TreatMissingData="breaching",
        Namespace="Burstwatch",
        MetricName="SweepCompleted",
        Dimensions=part_dimensions(deployment, unit),
        Statistic="Sum",
        Period=60,
        EvaluationPeriods=5,
        Threshold=1,
        ComparisonOperator="LessThanThreshold",
    )
