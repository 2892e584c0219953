"""Checks of a deployment for the doctor: each is a function that reads, and yields findings."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from http import HTTPStatus
from typing import Any, Literal, TypeAlias

from burstwatch.aws.alarms.digest import read_overdue
from burstwatch.aws.alarms.unheard import read_mutes
from burstwatch.aws.client.deployment import Deployment, count_subscribers
from burstwatch.aws.client.names import (
    HEARTBEAT_METRIC,
    HEARTBEATS_MISSED,
    NAMESPACE,
    STANDBY_METRICS,
    alarm_prefixes,
    is_of,
    standby_name,
)
from burstwatch.aws.client.session import AwsError, Clients
from burstwatch.aws.watched.deployed import units_of_rules
from burstwatch.bucket import DAY_S, HOUR_S
from burstwatch.config import Config
from burstwatch.ebs.watching_prices import usd_of
from burstwatch.formatting import command_line, first_of, span
from burstwatch.messages.digest import MOST_SILENCES
from burstwatch.messages.message import RUNBOOK_BY_KIND
from burstwatch.messages.silence import overdue_words

#: CloudWatch needs these to send a message through an encrypted topic.
#: https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html (2026-11)
KEY_ACTIONS = ("kms:Decrypt", "kms:GenerateDataKey")
CLOUDWATCH = "cloudwatch.amazonaws.com"
#: How long the runbooks' server may take.
LINK_S = 5.0
AWS_OWN_KEY = "alias/aws/sns"
TOPICS = {"page": "PageTopicArn", "notice": "NoticeTopicArn"}
#: A healthy deployment has none of these in an hour. Each has a runbook.
FAULTS = {
    "UnitsFailed": "unit-failed",
    "Problems": "parts-failed",
    "CallsThrottled": "calls-throttled",
    "MetricsRefused": "budget-reached",
}

CheckState: TypeAlias = Literal["ok", "warning", "failed", "unknown"]
#: The times and the values of a metric's datapoints.
Datapoints: TypeAlias = tuple[list[float], list[float]]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The outcome of one check, and what to do about it. ``unknown`` is what could not be looked at."""

    check: str
    state: CheckState
    detail: str
    do: str = ""


@dataclass(frozen=True, kw_only=True)
class Patient:
    """A deployment, with the clients of its account and region and the settings of its functions."""

    clients: Clients
    deployment: Deployment
    config: Config
    now: float

    def points(
        self,
        metric: tuple[str, str],
        dimensions: Mapping[str, str],
        *,
        back_s: float,
        statistic: str = "Sum",
        period_s: int = 60,
    ) -> Datapoints:
        """The datapoints of one metric, by namespace and name, of the last seconds."""
        return read_points(
            self.clients,
            metric,
            dimensions,
            statistic,
            start_s=self.now - back_s,
            end_s=self.now,
            period_s=period_s,
        )

    def own(self, name: str, *, back_s: float, period_s: int = 60, **more: str) -> Datapoints:
        """The datapoints of one of the deployment's own metrics."""
        dimensions = {"Deployment": self.config.deployment, **more}
        return self.points((NAMESPACE, name), dimensions, back_s=back_s, period_s=period_s)


def read_points(
    clients: Clients,
    metric: tuple[str, str],
    dimensions: Mapping[str, str],
    statistic: str,
    *,
    start_s: float,
    end_s: float,
    period_s: int = 60,
) -> Datapoints:
    """The datapoints of one metric, oldest first."""
    namespace, name = metric
    dimension_list = [{"Name": key, "Value": value} for key, value in dimensions.items()]
    about = {"Namespace": namespace, "MetricName": name, "Dimensions": dimension_list}
    stat = {"Metric": about, "Period": period_s, "Stat": statistic}
    paginator = clients("cloudwatch").get_paginator("get_metric_data")
    times: list[float] = []
    values: list[float] = []
    for page in paginator.paginate(
        MetricDataQueries=[{"Id": "m0", "MetricStat": stat}],
        StartTime=datetime.fromtimestamp(start_s - start_s % period_s, tz=UTC),
        EndTime=datetime.fromtimestamp(end_s, tz=UTC),
        ScanBy="TimestampAscending",
    ):
        for result in page["MetricDataResults"]:
            if result["StatusCode"] not in {"Complete", "PartialData"}:
                msg = f"GetMetricData: {name}: {result['StatusCode']}"
                raise AwsError(msg)
            times += [at.timestamp() for at in result.get("Timestamps", ())]
            values += result.get("Values", ())
    return times, values


def concurrency(patient: Patient) -> Iterator[Finding]:
    """Check that Lambda runs as many functions at once as start at once."""
    limits = patient.clients("lambda").get_account_settings()["AccountLimit"]
    free, needed = limits["UnreservedConcurrentExecutions"], len(patient.deployment.functions)
    is_enough = free > needed
    todo = "ask AWS for a larger quota of concurrent executions, or use -c fanOut=queue"
    yield Finding(
        check="lambda concurrency",
        state="ok" if is_enough else "failed",
        detail=f"{free} unreserved of {limits['ConcurrentExecutions']}, {needed} functions start at once",
        do="" if is_enough else todo,
    )


def rules(patient: Patient) -> Iterator[Finding]:
    """Check that each schedule is on."""
    for number, name in enumerate(patient.deployment.rules, start=1):
        rule = patient.clients("events").describe_rule(Name=name)
        is_on = rule.get("State") == "ENABLED"
        yield Finding(
            check=f"rule {number}",
            state="ok" if is_on else "failed",
            detail=f"{rule.get('State', '?')}, {rule.get('ScheduleExpression', 'no schedule')}",
            do="" if is_on else command_line("aws", "events", "enable-rule", "--name", name),
        )


@dataclass(frozen=True, kw_only=True)
class Heartbeat:
    """How long ago a sweep of a part last completed, None if not within a day; ``is_fresh``: whether sweeps go on."""

    age_s: float | None
    is_fresh: bool


def read_heartbeats(clients: Clients, deployment: str, *, now: float) -> dict[str, Heartbeat]:
    """The heartbeats of the parts of a deployment. Which parts there are, the alarms on them say.

    Raises:
        one of AWS_ERRORS, AwsError: if one cannot be read.
    """
    paginator = clients("cloudwatch").get_paginator("describe_alarms")
    heartbeats: dict[str, Heartbeat] = {}
    for page in paginator.paginate(AlarmNamePrefix=f"burstwatch-{deployment}-"):
        for alarm in page["MetricAlarms"]:
            dimensions = {
                dimension["Name"]: dimension["Value"] for dimension in alarm["Dimensions"]
            }
            # The prefix of one deployment may be the beginning of another's.
            is_own = dimensions.get("Deployment") == deployment
            if alarm.get("MetricName") != HEARTBEAT_METRIC or not is_own:
                continue
            times, _ = read_points(
                clients,
                (NAMESPACE, HEARTBEAT_METRIC),
                dimensions,
                "Sum",
                start_s=now - DAY_S,
                end_s=now,
            )
            age_s = now - times[-1] if times else None
            late_s = HEARTBEATS_MISSED * alarm["Period"] + 60
            is_fresh = age_s is not None and age_s <= late_s
            heartbeats[dimensions["Unit"]] = Heartbeat(age_s=age_s, is_fresh=is_fresh)
    return heartbeats


def heartbeats(patient: Patient) -> Iterator[Finding]:
    """Check that a sweep of each unit completed lately."""
    units = read_heartbeats(patient.clients, patient.config.deployment, now=patient.now)
    if not units:
        todo = "deploy it again"
        detail = "no alarm watches the heartbeat"
        yield Finding(check="heartbeat", state="failed", detail=detail, do=todo)
    for unit, heartbeat in sorted(units.items()):
        yield Finding(
            check=f"heartbeat {unit}",
            state="ok" if heartbeat.is_fresh else "failed",
            detail="none for a day" if heartbeat.age_s is None else f"{span(heartbeat.age_s)} ago",
            do="" if heartbeat.is_fresh else "see the runbook no-completed-sweep",
        )


def faults(patient: Patient) -> Iterator[Finding]:
    """Report the faults that sweeps counted in the last hour, and the functions' errors of the last day."""
    for name, runbook in FAULTS.items():
        yield _count(
            f"{name} in the last hour",
            patient.own(name, back_s=HOUR_S),
            f"see the runbook {runbook}",
        )
    for number, function in enumerate(patient.deployment.functions, start=1):
        points = patient.points(
            ("AWS/Lambda", "Errors"), {"FunctionName": function}, back_s=DAY_S, period_s=300
        )
        check = f"errors of function {number} in the last day"
        yield _count(check, points, "see the runbook function-errors")


def _count(check: str, points: Datapoints, todo: str) -> Finding:
    _, values = points
    if not values:
        return Finding(check=check, state="unknown", detail="no data", do="see the heartbeats")
    count = sum(values)
    state: CheckState = "warning" if count else "ok"
    return Finding(check=check, state=state, detail=f"{count:.0f}", do=todo if count else "")


def dead_letters(patient: Patient) -> Iterator[Finding]:
    """Report what failed or could not be handed over: the messages in the dead-letter queue."""
    name = "ApproximateNumberOfMessages"
    reply = patient.clients("sqs").get_queue_attributes(
        QueueUrl=patient.deployment.output("DeadLettersUrl"), AttributeNames=[name]
    )
    count = int(reply["Attributes"][name])
    yield Finding(
        check="dead letters",
        state="warning" if count else "ok",
        detail=f"{count} messages",
        do="see the runbook dead-letters" if count else "",
    )


def topics(patient: Patient) -> Iterator[Finding]:
    """Check that each topic has subscribers."""
    for name, output in TOPICS.items():
        confirmed, pending = count_subscribers(patient.clients, patient.deployment.output(output))
        state: CheckState = "ok"
        if not confirmed:
            state = "failed"
        elif pending:
            state = "warning"
        yield Finding(
            check=f"topic {name}",
            state=state,
            detail=f"{confirmed} subscriptions confirmed, {pending} pending",
            do="" if state == "ok" else "subscribe, and confirm by the link in the message",
        )


def silenced(patient: Patient) -> Iterator[Finding]:
    """Check that the deployment's alarms tell somebody: none disabled, none muted, and those of the stack there."""
    deployment = patient.config.deployment
    of_stack = f"burstwatch-{deployment}-"
    paginator = patient.clients("cloudwatch").get_paginator("describe_alarms")
    alarms: dict[str, Any] = {}
    for prefix in (*alarm_prefixes(deployment), of_stack):
        for page in paginator.paginate(AlarmNamePrefix=prefix):
            alarms |= {
                alarm["AlarmName"]: alarm
                for alarm in page["MetricAlarms"]
                if alarm["AlarmName"].startswith(of_stack) or is_of(alarm["AlarmName"], deployment)
            }
    disabled = [name for name, alarm in alarms.items() if not alarm.get("ActionsEnabled", True)]
    yield Finding(
        check="alarms with disabled actions",
        state="failed" if disabled else "ok",
        detail=first_of(disabled) if disabled else "none",
        do="aws cloudwatch enable-alarm-actions --alarm-names ..., or snooze the resource"
        if disabled
        else "",
    )
    muted = [
        f"{name} (rule {rule})"
        for rule, names in read_mutes(patient.clients)
        for name in names
        if name.startswith(of_stack) or is_of(name, deployment)
    ]
    yield Finding(
        check="alarms that a mute rule mutes",
        state="warning" if muted else "ok",
        detail=first_of(muted) if muted else "none",
        do="delete the mute rule, or take the alarms out of it" if muted else "",
    )
    for name in STANDBY_METRICS:
        alarm = alarms.get(standby_name(deployment, name))
        if alarm is None:
            detail, todo = "the alarm is missing", "deploy it again"
        elif alarm["StateValue"] == "ALARM":
            detail = alarm.get("AlarmDescription", "").partition("\n")[0]
            todo = f"see the runbook {name}"
        else:
            detail, todo = "nothing", ""
        yield Finding(check=name, state="failed" if todo else "ok", detail=detail, do=todo)


def silences(patient: Patient) -> Iterator[Finding]:
    """Report what a tag has kept from alarms for long, as the sweeps have logged it."""
    try:
        log_group = patient.deployment.output("LogGroupName")
        long = read_overdue(patient.clients, log_group, now=patient.now)
    except AwsError as error:
        todo = "allow logs:FilterLogEvents to whoever runs the doctor, or deploy again where the stack is older"
        yield Finding(
            check="resources silenced by a tag", state="unknown", detail=str(error), do=todo
        )
        return
    yield Finding(
        check="resources silenced by a tag",
        state="warning" if long else "ok",
        detail=overdue_words(long, named=MOST_SILENCES) if long else "none for more than a week",
        do="ask their owners, then `burstwatch unsnooze`, or remove the tag burstwatch:watch"
        if long
        else "",
    )


def runbooks(patient: Patient) -> Iterator[Finding]:
    """Check that the runbook's link in every page can be followed."""
    address = patient.config.links.runbook(RUNBOOK_BY_KIND)
    state: CheckState = "ok"
    detail = "the link answers"
    try:
        status = fetch_status(address)
    except OSError as error:
        state, detail = "unknown", f"{address} cannot be reached from here: {error}"
    else:
        if status != HTTPStatus.OK:
            state, detail = "failed", f"{address} answers {status}"
    todo = "set runbooks_url to a copy of monitoring/runbooks that on-call can open"
    yield Finding(
        check="link to the runbooks", state=state, detail=detail, do="" if state == "ok" else todo
    )


def fetch_status(address: str) -> int:
    """The HTTP status of a page, after redirects.

    Raises:
        OSError: if nobody answers.
    """
    try:
        # The pattern of the setting lets only https through.
        with urllib.request.urlopen(address, timeout=LINK_S) as reply:  # noqa: S310
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code


def keys(patient: Patient) -> Iterator[Finding]:
    """Check that CloudWatch may use the key of each topic. Where it may not, alarms are never delivered."""
    for name, output in TOPICS.items():
        about = patient.clients("sns").get_topic_attributes(
            TopicArn=patient.deployment.output(output)
        )
        key = about.get("Attributes", {}).get("KmsMasterKeyId", "")
        missing = _denied(patient.clients, key) if key else []
        detail = "CloudWatch may use it" if key else "the topic has none"
        if missing:
            detail = f"CloudWatch may not call {' or '.join(missing)}, so alarms are not delivered"
        yield Finding(
            check=f"key of {name}",
            state="failed" if missing else "ok",
            detail=detail,
            do="deploy again: the policy of the key is not the one of the stack" if missing else "",
        )


def _denied(clients: Clients, key: str) -> list[str]:
    """List the actions that CloudWatch lacks on a key."""
    if key.endswith(AWS_OWN_KEY):
        return list(KEY_ACTIONS)  # its policy lets no service in, and cannot be changed
    kms = clients("kms")
    key_id = kms.describe_key(KeyId=key)["KeyMetadata"]["KeyId"] if "alias/" in key else key
    statements = _many(json.loads(kms.get_key_policy(KeyId=key_id)["Policy"])["Statement"])
    return [
        action
        for action in KEY_ACTIONS
        if not any(_allows(statement, action) for statement in statements)
    ]


def _allows(statement: Mapping[str, Any], action: str) -> bool:
    """True if a statement of a key's policy lets CloudWatch do something, whatever its conditions say."""
    principal = statement.get("Principal", {})
    services = (
        _many(principal.get("Service", ())) if isinstance(principal, Mapping) else [principal]
    )
    patterns = [pattern.lower() for pattern in _many(statement.get("Action", ()))]
    return (
        statement.get("Effect") == "Allow"
        and not {CLOUDWATCH, "*"}.isdisjoint(services)
        and any(fnmatchcase(action.lower(), pattern) for pattern in patterns)
    )


def _many(value: Any) -> list[Any]:  # noqa: ANN401 - IAM takes one where it takes a list
    return list(value) if isinstance(value, list | tuple) else [value]


def cost(patient: Patient) -> Iterator[Finding]:
    """Report the cost of this month's metric requests, by the deployment's own count."""
    today = datetime.fromtimestamp(patient.now, tz=UTC)
    month = today.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    back_s = patient.now - month.timestamp()
    _, values = patient.own("MetricsRequested", back_s=back_s, period_s=3_600)
    count = sum(values)
    spent = f"{count:,.0f} metrics, {usd_of('metric_request', count):.2f} USD"
    yield Finding(
        check="metric requests this month",
        state="ok" if values else "unknown",
        detail=spent if values else "no data",
        do="" if values else "see the heartbeats",
    )


def roles(patient: Patient) -> Iterator[Finding]:
    """Try the role of each account that the deployment watches."""
    specs, problems = units_of_rules(patient.clients, patient.deployment.rules, now=patient.now)
    for problem in problems:
        todo = "allow whoever runs the doctor to list the organisation, as `burstwatch policy units` says"
        yield Finding(check=problem.part, state="unknown", detail=problem.error, do=todo)
    by_role = {spec.role_arn: spec for spec in specs if spec.role_arn}
    refused: dict[str, str] = {}
    for arn, spec in sorted(by_role.items()):
        try:
            patient.clients.assume(
                arn,
                external_id=spec.external_id,
                session_name="burstwatch-doctor",
                region=patient.clients.region,
            )
        except AwsError as error:
            refused[spec.account] = str(error)
    for account, why in refused.items():
        todo = f"deploy the member role in {account} with the external id of the deployment; nobody watches it until then"
        yield Finding(check=f"role in {account}", state="failed", detail=why, do=todo)
    if by_role:
        detail = f"{len(by_role) - len(refused)} of {len(by_role)} accounts let us in"
        yield Finding(check="roles", state="failed" if refused else "ok", detail=detail)


#: In this order, by what they look at.
CHECKS: Mapping[str, Callable[[Patient], Iterable[Finding]]] = {
    "lambda concurrency": concurrency,
    "rules": rules,
    "roles": roles,
    "heartbeats": heartbeats,
    "faults": faults,
    "dead letters": dead_letters,
    "topics": topics,
    "silenced alarms": silenced,
    "silenced resources": silences,
    "link to the runbooks": runbooks,
    "keys": keys,
    "metric requests this month": cost,
}
