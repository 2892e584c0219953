"""A deployment of an earlier version gets the built package and template: nothing is lost, and nobody is paged again."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from burstwatch.aws.client.names import parse_alarm_name
from tests.aws.upgrade_state import FOLDER, burn, restored
from tests.conftest import Cloud
from tools.dist import function_and_template

pytestmark = pytest.mark.real

#: The resources of each version's stack whose replacement would lose something: CloudFormation replaces what has another logical id.
KEPT = Path(__file__).parent / "kept.json"
LOST_BY_REPLACEMENT = {
    "AWS::KMS::Key": "who subscribed could not read a message",
    "AWS::Logs::LogGroup": "its episodes",
    "AWS::SNS::Topic": "its subscriptions",
    "AWS::SQS::Queue": "what waits in it",
    "Custom::BurstwatchAlarms": "the alarms: its deletion deletes them",
}
#: Calls a function of the package as Lambda does, at a time that goes on from a given one; prints what it answered.
DRIVER = """
import io, json, sys, time, urllib.request
began, started = float(sys.argv[1]), time.monotonic()
time.time = lambda: began + time.monotonic() - started
answers = []
def urlopen(request, timeout=None):
    answers.append(json.loads(request.data))
    return io.BytesIO()
urllib.request.urlopen = urlopen
class Context:
    function_name, memory_limit_in_mb, aws_request_id, log_stream_name = "f", 512, "r", "s"
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:f"
    def get_remaining_time_in_millis(self): return 50_000
import importlib
module, event = importlib.import_module(sys.argv[2]), json.loads(sys.argv[3])
answer = module.handler(event, Context())
print(json.dumps({"answer": answer, "sent": answers}, default=str))
"""


@dataclass(frozen=True, kw_only=True)
class Built:
    """The unpacked package of the functions, and the template."""

    package: Path
    template: Mapping[str, Any]

    def resources(self, kind: str) -> dict[str, Mapping[str, Any]]:
        """The resources of a type by logical id."""
        return {
            name: resource
            for name, resource in self.template["Resources"].items()
            if resource["Type"] == kind
        }

    def function(self, handler: str) -> Mapping[str, Any]:
        """The properties of the function with this handler."""
        functions = self.resources("AWS::Lambda::Function").values()
        (properties,) = (one["Properties"] for one in functions if one["Properties"]["Handler"] == handler)  # fmt: skip
        return dict(properties)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("built")
    function_and_template(folder, 0)
    with zipfile.ZipFile(folder / "burstwatch-lambda.zip") as package:
        package.extractall(folder / "package")
    template = json.loads((folder / "burstwatch-template.json").read_text())
    return Built(package=folder / "package", template=template)


def called(built: Built, cloud: Cloud, handler: str, event: Mapping[str, Any]) -> dict[str, Any]:
    """What a function of the package answers, with the environment that the template gives it."""
    given = built.function(handler)["Environment"]["Variables"]
    parameters = {name: str(one.get("Default", "")) for name, one in built.template["Parameters"].items()}  # fmt: skip
    topics = {
        f"BURSTWATCH_{name.upper()}_TOPIC_ARN": f"arn:aws:sns:us-east-1:123456789012:{name}"
        for name in ("page", "notice", "events")
    }
    env = {
        name: parameters.get(value["Ref"], "") if isinstance(value, dict) and "Ref" in value else str(value)
        for name, value in given.items()
    } | {
        **topics, "PYTHONPATH": str(built.package), "PATH": os.environ["PATH"], "AWS_ENDPOINT_URL": cloud.url,
        "AWS_ACCESS_KEY_ID": "123456789012", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1", "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    ran = subprocess.run(
        [sys.executable, "-S", "-c", DRIVER, str(cloud.clock.now), handler.removesuffix(".handler"), json.dumps(event)],
        cwd=built.package, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return dict(json.loads(ran.stdout.splitlines()[-1]))


def of_sweeps(cloud: Cloud) -> dict[str, str]:
    """The state of each alarm that sweeps have made."""
    alarms = cloud.aws.regions["us-east-1"].alarms
    return {name: alarm["StateValue"] for name, alarm in alarms.items() if parse_alarm_name(name)}


def custom_resource(built: Built, request: str) -> dict[str, Any]:
    """What CloudFormation sends for the custom resource of the template."""
    (resource,) = built.resources("Custom::BurstwatchAlarms").values()
    properties = {"Deployment": "burstwatch", "SettleSeconds": "0", "PeriodSeconds": "60", "Periods": "5"}  # fmt: skip
    assert (
        properties.keys() | {"ServiceToken", "ServiceTimeout", "Units"}
        == resource["Properties"].keys()
    )
    event_properties = {**properties, "Units": ["123456789012/us-east-1"]}
    return {
        "RequestType": request, "ResponseURL": "https://cloudformation.example/answer", "StackId": "stack",
        "RequestId": "request", "LogicalResourceId": "Alarms", "PhysicalResourceId": "alarms-of-before",
        "ResourceProperties": event_properties, "OldResourceProperties": event_properties,
    }  # fmt: skip


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_the_built_package_goes_on_with_the_alarms_of_an_earlier_version(
    built: Built, cloud: Cloud, path: Path
) -> None:
    disks = restored(cloud, path)
    before = of_sweeps(cloud)
    assert "ALARM" in before.values()
    answer = called(built, cloud, "lambdas.cleanup.handler", custom_resource(built, "Update"))
    # CloudFormation deletes a resource of another id, and the deletion of this one deletes the alarms.
    assert [sent["PhysicalResourceId"] for sent in answer["sent"]] == ["alarms-of-before"]
    assert [sent["Status"] for sent in answer["sent"]] == ["SUCCESS"]
    for _ in range(2):
        burn(cloud, disks, iops=3_000)
        called(built, cloud, "lambdas.sweep.handler", {"unit": {}})
        cloud.aws.evaluate_alarms()
    assert of_sweeps(cloud) == before
    assert not [name for _, name, _ in cloud.aws.notifications if parse_alarm_name(name)]
    called(built, cloud, "lambdas.cleanup.handler", custom_resource(built, "Delete"))
    assert of_sweeps(cloud) == {}


def kept_of(built: Built) -> Iterator[tuple[str, str]]:
    """The logical id and type of what must not be replaced."""
    for kind in LOST_BY_REPLACEMENT:
        yield from ((name, kind) for name in built.resources(kind))


def test_an_update_of_the_stack_replaces_nothing_that_would_be_lost(built: Built) -> None:
    now = dict(kept_of(built))
    for version, kept in json.loads(KEPT.read_text(encoding="utf-8")).items():
        for name, kind in kept.items():
            why = LOST_BY_REPLACEMENT[kind]
            assert now.get(name) == kind, (
                f"{name} of {version} would be replaced, and with it {why}"
            )


def test_the_names_of_what_stands_are_those_of_before(built: Built) -> None:
    """An alarm with a name is not replaced where the name is the same; one whose name changes is another one in every pager."""
    names = {
        json.dumps(alarm["Properties"]["AlarmName"])
        for alarm in built.resources("AWS::CloudWatch::Alarm").values()
    }
    state = json.loads((FOLDER / "0.1.0-one.json").read_text(encoding="utf-8"))
    standing = {name.removeprefix("burstwatch-burstwatch-") for name in state["alarms"] if name.startswith("burstwatch-")}  # fmt: skip
    assert standing
    assert all(any(f"-{name}" in one for one in names) for name in standing)
