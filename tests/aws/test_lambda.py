"""The functions as AWS calls them, with the embedded metrics that they print."""

import io
import json
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from burstwatch.aws.client.session import Deadline
from burstwatch.aws.sweep.sweep import Sweep
from burstwatch.aws.sweep.units import Units
from burstwatch.cli.catalog import catalog
from demo.localcloud.emf import metric_data
from tests.aws.invoking import Context, load, put_alarm
from tests.aws.sweeping import Disk, run_sweep
from tests.conftest import Cloud, put_cache
from tests.fake.organization import Member


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


def test_the_function_does_a_step_of_a_drill_and_sweeps_nothing(
    cloud: Cloud, aws_env: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    aws_env.setenv("BURSTWATCH_DEPLOYMENT", "test")
    aws_env.setenv("BURSTWATCH_PAGE_TOPIC_ARN", "arn:aws:sns:us-east-1:123456789012:page")
    function = load("lambdas.sweep")
    asked = {"id": "drill-1", "severity": "critical", "step": "ready"}
    assert function.handler({"drill": asked}, Context()) == {
        "alarm": "burstwatch.critical/drill-1/test",
        "topic": "arn:aws:sns:us-east-1:123456789012:page",
        "detail": "the function of deployment test answers",
    }
    assert [operation for _, operation, _ in cloud.aws.calls] == ["GetCallerIdentity"]
    # A log line may be in the output; the metrics of a sweep (the embedded format) may not.
    assert "CloudWatchMetrics" not in capsys.readouterr().out


def test_the_package_has_the_services_that_the_functions_call(
    cloud: Cloud, aws_env: pytest.MonkeyPatch
) -> None:
    aws_env.setenv("BURSTWATCH_DEPLOYMENT", "test")
    for name in ("PAGE", "NOTICE"):
        topic = f"arn:aws:sns:us-east-1:123456789012:{name.lower()}"
        aws_env.setenv(f"BURSTWATCH_{name}_TOPIC_ARN", topic)
    cloud.aws.logs["group"] = []
    disk = Disk(cloud, percent=40)
    for _ in range(6):
        disk.minute(iops=3_000)
    put_cache(cloud)
    function = load("lambdas.sweep")
    aws_env.setattr(function.time, "time", lambda: cloud.clock.now)
    function.handler({}, Context())
    asked = {"id": "drill-1", "severity": "critical", "step": "begin"}
    function.handler({"drill": asked}, Context())
    function.handler({"digest": "group"}, Context())
    cloud.aws.members["222222222222"] = Member("222222222222", "team")
    finder = load("lambdas.find_units")
    aws_env.setattr(finder.time, "time", lambda: cloud.clock.now)
    found = {"parts": ["o-exampleorgid"], "role": "burstwatch-member", "external_id": "watch-me"}
    finder.handler({"find": found, "queue_url": "https://sqs/sweeps"}, Context())
    called = {service for service, _, _ in cloud.aws.calls}
    assert called == {*catalog()["services"]}


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


def message(number: int, body: str, *, sent_at: float, tries: int = 1) -> dict[str, Any]:
    return {
        "messageId": f"message-{number}",
        "body": body,
        "attributes": {
            "SentTimestamp": str(int(sent_at * 1000)),
            "ApproximateReceiveCount": str(tries),
        },
    }


@dataclass
class Answered:
    """What became of some messages: the failed ones, and the log's lines of the others."""

    failed: list[str]
    swept: list[dict[str, Any]]
    warned: list[dict[str, Any]]
    metrics: dict[str, list[float]]


@pytest.fixture
def answer_messages(
    cloud: Cloud, aws_env: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[list[dict[str, Any]]], Answered]:
    aws_env.setenv("BURSTWATCH_DEPLOYMENT", "test")
    function = load("lambdas.sweep")
    aws_env.setattr(function.time, "time", lambda: cloud.clock.now)
    log = io.StringIO()  # what was standard output as the module was loaded is not read here
    aws_env.setattr(function.logger.registered_handler, "stream", log)

    def answer(messages: list[dict[str, Any]]) -> Answered:
        log.truncate(0), log.seek(0)
        said = function.handler({"Records": messages}, Context())
        lines = capsys.readouterr().out.splitlines()
        data = [entry for line in lines for _, found in metric_data(line) for entry in found]
        told = [json.loads(line) for line in log.getvalue().splitlines()]
        return Answered(
            failed=[one["itemIdentifier"] for one in said["batchItemFailures"]],
            swept=[line for line in told if line["message"] == "swept"],
            warned=[line for line in told if line["level"] in {"WARNING", "ERROR"}],
            metrics={entry["MetricName"]: entry["Values"] for entry in data},
        )

    return answer


def test_the_numbers_of_a_sweep_are_of_the_minute_in_which_it_began(
    cloud: Cloud, aws_env: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Disk(cloud, percent=100)
    aws_env.setenv("BURSTWATCH_DEPLOYMENT", "test")
    function = load("lambdas.sweep")
    began = cloud.clock.now

    def take_long(_: object) -> None:
        cloud.clock.now += 58

    cloud.aws.before["PutMetricData"] = take_long
    aws_env.setattr(function.time, "time", lambda: cloud.clock.now)
    function.handler({}, Context())
    (line,) = (one for one in capsys.readouterr().out.splitlines() if '"_aws"' in one)
    assert json.loads(line)["_aws"]["Timestamp"] == int(began * 1000)


def test_a_message_that_names_nothing_fails_alone(
    cloud: Cloud, answer_messages: Callable[[list[dict[str, Any]]], Answered]
) -> None:
    Disk(cloud, percent=100)
    bodies = [
        '{"unit": {"region": "us-east-1"}}', "not JSON", '{"unit": {"shard": "3/5"}}',
        '{"unit": {"region": "us-east-1", "shard": "1/2"}}',
    ]  # fmt: skip
    sent = [message(n, body, sent_at=cloud.clock.now - 5) for n, body in enumerate(bodies)]
    answered = answer_messages(sent)
    assert answered.failed == ["message-1", "message-2"]
    assert [one["body"] for one in answered.warned] == bodies[1:3]
    assert [one["exception_name"] for one in answered.warned] == ["JSONDecodeError", "ValueError"]
    units = {one["unit"] for one in answered.swept}
    assert units == {"123456789012/us-east-1", "123456789012/us-east-1/1/2"}
    assert {one["run"] for one in answered.swept} == {"2026-09-21T14:13:00+00:00"}
    assert answered.metrics["UnitsFailed"] == [0.0, 1.0, 1.0, 0.0]
    assert all(one["completed"] for one in answered.swept)


def test_a_message_that_waited_until_the_next_is_due_is_left_out_and_counted(
    cloud: Cloud, answer_messages: Callable[[list[dict[str, Any]]], Answered]
) -> None:
    unit = '{"unit": {"region": "us-east-1"}}'
    late = message(1, unit, sent_at=cloud.clock.now - 75)
    answered = answer_messages([late, message(2, unit, sent_at=cloud.clock.now - 59)])
    assert answered.failed == []
    assert [one["completed"] for one in answered.swept] == [False, True]
    (warning,) = answered.warned
    assert warning["unit"] == "home/us-east-1"
    assert "its message waited for 75 s: more to sweep than runs at once" in warning["error"]
    assert answered.metrics["UnitsFailed"] == [1.0, 0.0]


def test_a_message_whose_sweep_broke_goes_to_the_dead_letters_however_late_its_next_try_is(
    cloud: Cloud,
    aws_env: pytest.MonkeyPatch,
    answer_messages: Callable[[list[dict[str, Any]]], Answered],
) -> None:
    def sweep(*_: object, **__: object) -> Sweep:
        msg = "a bug"
        raise RuntimeError(msg)

    aws_env.setattr(Units, "sweep", sweep)
    sent_at = cloud.clock.now
    answered = answer_messages([message(1, '{"unit": {}}', sent_at=sent_at)])
    assert answered.failed == ["message-1"]
    assert "a bug" in answered.warned[0]["exception"]
    run = answered.warned[0]["run"]
    for tries in (2, 3):
        cloud.clock.now += 101
        answered = answer_messages([message(1, '{"unit": {}}', sent_at=sent_at, tries=tries)])
        assert answered.failed == ["message-1"]
        assert f"this is try {tries}: the sweep broke" in answered.warned[0]["exception"]
        assert answered.warned[0]["run"] == run
        assert (answered.metrics["Problems"], "UnitsFailed" in answered.metrics) == ([1.0], False)


def test_each_message_has_its_share_of_the_time(
    cloud: Cloud,
    aws_env: pytest.MonkeyPatch,
    answer_messages: Callable[[list[dict[str, Any]]], Answered],
) -> None:
    left: list[float] = []

    def sweep(_self: object, _spec: object, *_: object, now: float, deadline: Deadline) -> Sweep:
        left.append(deadline.left_s())
        assert now == cloud.clock.now
        cloud.clock.now += 4
        return run_sweep(cloud)

    aws_env.setattr(Units, "sweep", sweep)
    sent = [message(n, '{"unit": {}}', sent_at=cloud.clock.now) for n in range(4)]
    assert answer_messages(sent).failed == []
    assert left == [10.0, 12.0, 16.0, 28.0]


def deletion(request_type: str = "Delete") -> dict[str, Any]:
    return {
        "RequestType": request_type,
        "ResponseURL": "https://cloudformation.example/answer",
        "StackId": "stack",
        "RequestId": "request",
        "LogicalResourceId": "Alarms",
        "PhysicalResourceId": "alarms",
        "ResourceProperties": {
            "Deployment": "burstwatch",
            "SettleSeconds": "0",
            "PeriodSeconds": "60",
            "Periods": "5",
            "Units": ["123456789012/us-east-1", "222222222222/eu-west-1"],
        },
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


def test_deleting_the_stack_deletes_its_alarms_and_no_other(
    cloud: Cloud, answers: list[dict[str, Any]]
) -> None:
    put_alarm(cloud, "burstwatch.critical/a/r/ebs_volume/vol-1/burstwatch")
    put_alarm(cloud, "burstwatch.critical/a/r/ebs_volume/vol-1/other")
    load("lambdas.cleanup").handler(deletion(), Context())
    assert list(cloud.aws.regions["us-east-1"].alarms) == [
        "burstwatch.critical/a/r/ebs_volume/vol-1/other"
    ]
    assert answers[0]["Status"] == "SUCCESS"


def test_creating_the_stack_deletes_nothing_and_answers(
    cloud: Cloud, answers: list[dict[str, Any]]
) -> None:
    put_alarm(cloud, "burstwatch.critical/a/r/ebs_volume/vol-1/burstwatch")
    load("lambdas.cleanup").handler(deletion("Create"), Context())
    assert len(cloud.aws.regions["us-east-1"].alarms) == 1
    assert answers[0]["Status"] == "SUCCESS"


def heartbeats(cloud: Cloud) -> dict[str, list[float]]:
    """How long ago each unit had one."""
    return {
        dict(dimensions)["Unit"]: [round(cloud.clock.now - at) for at in sorted(points)]
        for (_, name, dimensions), points in cloud.aws.regions["us-east-1"].metrics.items()
        if name == "SweepCompleted"
    }


def test_units_that_are_found_begin_as_one_that_completes_in_both_windows_of_their_alarm(
    cloud: Cloud, aws_env: pytest.MonkeyPatch, answers: list[dict[str, Any]]
) -> None:
    function = load("lambdas.cleanup")
    aws_env.setattr(function.time, "time", lambda: cloud.clock.now)
    event = deletion("Create")
    event["ResourceProperties"] = {**event["ResourceProperties"], "Units": ["found"]}
    function.handler(event, Context())
    assert answers[0]["Status"] == "SUCCESS"
    published = {
        name: (len(points), set(points.values()))
        for (_, name, _), points in cloud.aws.regions["us-east-1"].metrics.items()
    }
    assert published == {"UnitsFound": (10, {1.0}), "UnitsCompleted": (10, {1.0})}


def test_a_new_unit_has_heartbeats_before_its_first_sweep_and_one_that_runs_gets_none(
    cloud: Cloud, aws_env: pytest.MonkeyPatch, answers: list[dict[str, Any]]
) -> None:
    function = load("lambdas.cleanup")
    aws_env.setattr(function.time, "time", lambda: cloud.clock.now)
    event = deletion("Create")
    function.handler(event, Context())
    five = [240, 180, 120, 60, 0]
    assert heartbeats(cloud) == {"123456789012/us-east-1": five, "222222222222/eu-west-1": five}
    cloud.aws.regions["us-east-1"].metrics.clear()
    more = {**event["ResourceProperties"], "Units": ["123456789012/us-east-1", "x/eu-north-1"]}
    old = event["ResourceProperties"]
    function.handler(
        {
            **event,
            "RequestType": "Update",
            "ResourceProperties": more,
            "OldResourceProperties": old,
        },
        Context(),
    )
    assert heartbeats(cloud) == {"x/eu-north-1": five}
    cloud.aws.regions["us-east-1"].metrics.clear()
    slower = {**old, "PeriodSeconds": "3600"}
    renamed = {**old, "Deployment": "before"}
    for changed in (slower, renamed):
        cloud.aws.regions["us-east-1"].metrics.clear()
        update = {**event, "RequestType": "Update", "OldResourceProperties": changed}
        function.handler(update, Context())
        assert heartbeats(cloud) == {"123456789012/us-east-1": five, "222222222222/eu-west-1": five}
    assert {one["Status"] for one in answers} == {"SUCCESS"}


def test_a_denied_cleanup_still_answers_and_says_why(
    cloud: Cloud, answers: list[dict[str, Any]]
) -> None:
    cloud.aws.denied = {"DescribeAlarms"}
    load("lambdas.cleanup").handler(deletion(), Context())
    assert answers[0]["Status"] == "FAILED"
    assert "AccessDenied" in answers[0]["Reason"]
