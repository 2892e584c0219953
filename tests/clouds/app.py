"""The CDK app deployed on an emulator: pages for every kind that it has, every command, recovery, and the end of the stack."""

import json
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, Self

from burstwatch.aws.client.names import HEAD, is_of, parse_alarm_name
from burstwatch.aws.client.session import Clients
from burstwatch.history.observations import Resource
from burstwatch.kinds.base import Kind
from demo.inbox import Inbox
from demo.localcloud.cloud import LocalCloud
from demo.localcloud.emulators import ROOT
from demo.pace import FULL
from demo.stack import Stack
from tests.clouds.account import NAME, Metrics, find_resources, make_resources, put_alarm_of
from tests.clouds.commands import Commands, Ran
from tests.clouds.emulators import KINDS, LOCALEMU, MEMBER
from tests.clouds.rights import Policy, policy_of_role
from tests.clouds.waiting import (
    NotSeenError,
    clients_of,
    invoke,
    make_stack,
    silence,
    start_anew,
    until,
)

REGION, DEPLOYMENT = "eu-west-1", "burstwatch"
EXTERNAL_ID = "watch-me"
#: The steps that tests ask for.
PAGED, PAGED_ELSEWHERE = "a page for each kind", "a page for the other account"
RESOLVED = "the page of the victim ends"


@dataclass(kw_only=True)
class Watched:
    """What was drained, heard and done. ``victim`` is the volume whose page was awaited to its end.

    ``missed`` are the steps that did not come, each with what was waited for.
    """

    drained: dict[str, str] = field(default_factory=dict)
    victim: str = ""
    kinds: set[str] = field(default_factory=set)
    heard: list[tuple[str, str, str]] = field(default_factory=list)
    alarms_left: list[str] = field(default_factory=list)
    ran: dict[str, Ran] = field(default_factory=dict)
    policies: dict[str, list[Policy]] = field(default_factory=dict)
    digest: dict[str, Any] = field(default_factory=dict)
    answers: list[dict[str, Any]] = field(default_factory=list)
    stranger: str = ""
    missed: dict[str, str] = field(default_factory=dict)

    def assert_seen(self, *steps: str) -> None:
        """These steps have come."""
        missed = [self.missed[step] for step in steps if step in self.missed]
        assert not missed, missed


class Play:
    """One run, step by step."""

    def __init__(self, cloud: LocalCloud) -> None:
        self.cloud, self.watched = cloud, Watched()
        self.home = clients_of(cloud, REGION)
        self.member = clients_of(cloud, REGION, MEMBER)
        self.name = cloud.emulator.name
        self.levels: dict[str, float] = {}
        self.is_loaded = True
        self.ended = threading.Event()

    def play(self) -> Watched:
        """Everything but the end of the stack."""
        make_resources(self.home, KINDS[self.name])
        resources = find_resources(self.home, self.cloud.account)
        self.watched.kinds = {kind.name for kind, _ in resources}
        with ThreadPoolExecutor(1) as beside:
            filled = beside.submit(lambda: [self._drain(self.home, resources), self._make_member()])
            self.stack = self._synthesise()
            self.stack.bootstrap()
            outputs = self.stack.deploy()
            players = filled.result()
        self._keep_policies()
        self.rule, self.function = outputs["RuleName"], outputs["SweepFunctionName"]
        targets = self.home("events").list_targets_by_rule(Rule=self.rule)["Targets"]
        self.inputs = [json.loads(target["Input"]) for target in targets]
        self._call_cleanup("Create")
        put_alarm_of(self.home, DEPLOYMENT, self.calm)
        self.inbox = Inbox(self.home("sns"), self.home("sqs"), endpoint=self.cloud.endpoint)
        topics = {name.lower(): outputs[f"{name}TopicArn"] for name in ("Page", "Notice", "Events")}
        for name, topic in topics.items():
            self.inbox.subscribe(name, topic, http=False)
        self.publisher = ThreadPoolExecutor(1)
        self.published = self.publisher.submit(self._publish, players)
        commands = Commands(
            self.cloud, self.home, deployment=DEPLOYMENT, topics=[*topics.values()],
            has_roles=self.name == LOCALEMU.name,
        )  # fmt: skip
        with ThreadPoolExecutor(1) as beside:
            drill = beside.submit(commands.run, "drill", "--json", "--region", REGION)
            self._live(commands)
            self.watched.ran["drill"] = drill.result()
        digest = {"digest": outputs["LogGroupName"]}
        self.watched.digest = invoke(self.home, self._function_named("Digest"), digest)
        self._reach("the digest arrives", self._has_digest)
        # Of the other account, while there are some: the stack deletes the others.
        self._run(commands, ("cleanup", "--yes", "--unit", f"{MEMBER}/{REGION}"))
        self._hear()
        return self.watched

    def _live(self, commands: Commands) -> None:
        """In danger, as people look at it; and out again."""
        waiting = set(self.watched.drained)
        elsewhere = {resource for resource in waiting if resource.startswith(MEMBER)}
        self._sweep(*(event for event in self.inputs if MEMBER not in json.dumps(event)))
        self._reach(PAGED, lambda: waiting - elsewhere <= self._pages("ALARM"))
        self._run(
            commands,
            ("scan", "--json", "--deployment", DEPLOYMENT),
            ("explain", NAME, "--deployment", DEPLOYMENT),
        )
        self.levels, self.is_loaded = dict.fromkeys(self.levels, 0.99), False
        # The other account is swept on the schedule alone.
        self._reach(PAGED_ELSEWHERE, lambda: elsewhere <= self._pages("ALARM"))
        self._run(
            commands,
            ("advise", "--days", "1", "--deployment", DEPLOYMENT), ("audit-alarms",), ("doctor", "--json"),
            ("cleanup", "--json"),
        )  # fmt: skip
        # A scheduled sweep that has not seen the recovery yet would end after one of those below that has.
        silence(self.home, self.rule)
        self._run(
            commands,
            ("snooze", NAME, "30m", "--reason", "a test"), ("unsnooze", NAME), ("episodes", "--json"), ("episodes", "--digest"),
            ("top", "--deployment", DEPLOYMENT), ("export", NAME),
        )  # fmt: skip
        self._reach(RESOLVED, lambda: {self.victim} <= self._pages("OK"), sweeps=True)
        self._reach(
            "a sweep deletes what is over",
            lambda: not any(self.calm.id in name for name in self._alarms()),
            sweeps=True,
        )

    def end(self) -> None:
        """Take the stack down, as its owner would."""
        self.ended.set()
        self.published.result()
        self.publisher.shutdown()
        self._hear()
        self.inbox.close()
        self._call_cleanup("Delete")
        self.stack.destroy()
        alarms = self.home("cloudwatch").describe_alarms()["MetricAlarms"]
        self.watched.alarms_left = [alarm["AlarmName"] for alarm in alarms]

    def _run(self, commands: Commands, *lines: tuple[str, ...]) -> None:
        """Run commands, where each has the rights of its own policy and no others."""
        for command, *arguments in lines if commands.has_roles else ():
            self.watched.ran[" ".join((command, *arguments[:1]))] = commands.run(
                command, *arguments, "--region", REGION
            )

    def _sweep(self, *events: dict[str, Any]) -> None:
        for event in events:
            invoke(self.home, self.function, event)

    def _synthesise(self) -> Stack:
        stack = Stack(
            self.cloud, region=REGION,
            settings={**FULL.settings, "hold_s": "60", "mass_from": "50"},  # each resource has a page of its own
            context={"digest": "true", "units": f"{MEMBER}/{REGION}", "externalId": EXTERNAL_ID},
        )  # fmt: skip
        stack.synth()
        return stack

    def _drain(self, clients: Clients, resources: list[tuple[Kind, Resource]]) -> Metrics:
        """One of each kind that can be emptied, the named one if there is one; another volume stays well."""
        (self.victim,) = (
            r.id for kind, r in resources if r.name == NAME and kind.name == "ebs_volume"
        )
        self.watched.victim = self.victim
        for kind, resource in sorted(resources, key=lambda pair: pair[1].name != NAME):
            if resource.can_spend and kind.name not in self.watched.drained.values():
                self.watched.drained[resource.id] = kind.name
                self.levels[resource.key] = 0.01
        self.calm = next(
            resource
            for kind, resource in resources
            if kind.name == "ebs_volume" and resource.id not in self.watched.drained
        )
        metrics = Metrics(clients, resources)
        metrics.put_past(lambda resource: resource.key in self.levels)
        return metrics

    def _make_member(self) -> Metrics:
        """Another account, with the role of its template and a volume in danger."""
        template = (ROOT / "cdk" / "member-role.json").read_text(encoding="utf-8")
        parameters = {"MonitoringAccountId": self.cloud.account, "ExternalId": EXTERNAL_ID}
        make_stack(self.member, "burstwatch-member", template, parameters, ["CAPABILITY_NAMED_IAM"])
        ec2 = self.member("ec2")
        _, host = (
            ec2.run_instances(ImageId="ami-12345678", InstanceType=name, MinCount=1, MaxCount=1)[
                "Instances"
            ][0]
            for name in ("t3.medium", "m5.8xlarge")
        )
        volume = ec2.create_volume(AvailabilityZone=f"{REGION}a", Size=100, VolumeType="gp2")
        ec2.attach_volume(
            VolumeId=volume["VolumeId"], InstanceId=host["InstanceId"], Device="/dev/sdf"
        )
        resources = [
            (kind, resource)
            for kind, resource in find_resources(self.member, MEMBER)
            if resource.id == volume["VolumeId"]
        ]
        self.watched.drained[f"{MEMBER}.{REGION}/{volume['VolumeId']}"] = "ebs_volume"
        metrics = Metrics(self.member, resources)
        self.levels_elsewhere = {resources[0][1].key: 0.01}
        metrics.put_past(lambda resource: resource.key in self.levels_elsewhere)
        self.watched.stranger = self._assume_as_a_stranger()
        return metrics

    def _assume_as_a_stranger(self) -> str:
        """Why the member's role is refused to somebody of the right account who has no external id."""
        role = f"arn:aws:iam::{MEMBER}:role/burstwatch-member"
        try:
            self.home("sts").assume_role(RoleArn=role, RoleSessionName="stranger")
        except self.home("sts").exceptions.ClientError as error:
            return str(error.response["Error"]["Code"])
        return ""

    def _publish(self, players: list[Metrics]) -> None:
        at_home, elsewhere = players
        while not self.ended.wait(1.0):
            at_home.put_until(time.time(), self.levels, is_loaded=self.is_loaded)
            elsewhere.put_until(time.time(), self.levels_elsewhere, is_loaded=True)

    def _keep_policies(self) -> None:
        """The policies of the stack's roles, before the stack is gone."""
        for role in self.home("iam").list_roles()["Roles"]:
            name = role["RoleName"]
            # Roles are of the account, and the other play has its own.
            if re.match("Burstwatch-BurstWatch(Sweep|Cleanup|Digest)", name):
                self.watched.policies[name] = [*policy_of_role(self.home, name).values()]
        self.watched.policies["burstwatch-member"] = [
            *policy_of_role(self.member, "burstwatch-member").values()
        ]

    def _call_cleanup(self, request: str) -> None:
        """As CloudFormation calls a custom resource: the emulator passes over those."""
        name = self._function_named("Cleanup")
        properties = {
            "SettleSeconds": "2", "PeriodSeconds": "60", "Periods": "5", "Deployment": DEPLOYMENT,
            "Units": [f"{self.cloud.account}/{REGION}"],
        }  # fmt: skip
        with _Answers() as answers:
            invoke(self.home, name, {
                "RequestType": request, "ResponseURL": answers.url, "StackId": "stack", "RequestId": "request",
                "LogicalResourceId": "Alarms", "ResourceProperties": properties,
            })  # fmt: skip
            self.watched.answers += answers.received

    def _function_named(self, part: str) -> str:
        functions = self.home("lambda").list_functions()["Functions"]
        (name,) = (f["FunctionName"] for f in functions if part in f["FunctionName"])
        return str(name)

    def _alarms(self) -> list[str]:
        alarms = self.home("cloudwatch").describe_alarms(AlarmNamePrefix=HEAD)["MetricAlarms"]
        names = [alarm["AlarmName"] for alarm in alarms]
        return [name for name in names if is_of(name, DEPLOYMENT)]

    def _pages(self, state: str) -> set[str]:
        """The resources whose alarm was heard to go to a state, on either topic, with the unit where it is another."""
        pages = [
            message.alarm
            for message in self.inbox.collect()
            if message.alarm and message.alarm["NewStateValue"] == state
        ]
        return {
            resource_of(alarm["AlarmName"]) for alarm in pages if alarm["AlarmName"].count("/") > 1
        }

    def _has_digest(self) -> bool:
        messages = self.inbox.collect()
        return any(message.through == "sqs:notice" and not message.alarm for message in messages)

    def _hear(self) -> None:
        """Note everything that has arrived so far."""
        self.watched.heard.clear()
        for message in self.inbox.collect():
            alarm = message.alarm
            name, state = (alarm["AlarmName"], alarm["NewStateValue"]) if alarm else ("", "")
            self.watched.heard.append((message.through, name, state))

    def _reach(self, step: str, is_so: Callable[[], bool], *, sweeps: bool = False) -> None:
        """Wait for a step, and note it if it does not come.

        ``sweeps`` more often than the schedule does, by a function that remembers nothing.
        """

        def look() -> bool:
            if is_so():
                return True
            if sweeps:
                # Else the next datapoints are asked for when their time has come, minutes later.
                start_anew(self.home, self.function)
                self._sweep(*self.inputs)
            return False

        def failure() -> str:
            return (
                f"the datapoints ended: {self.published.exception()}"
                if self.published.done()
                else ""
            )

        try:
            until(step, look, failure=failure, progress=self._progress)
        except NotSeenError as error:
            self.watched.missed[step] = str(error)

    def _progress(self) -> object:
        """What has happened so far: messages, and the states of all alarms."""
        alarms = self.home("cloudwatch").describe_alarms()["MetricAlarms"]
        states = sorted((alarm["AlarmName"], alarm["StateValue"]) for alarm in alarms)
        return len(self.inbox.collect()), states


def resource_of(alarm: str) -> str:
    """``vol-1``, or ``333333333333.eu-west-1/vol-1``, of an alarm's name: a resource's own name stands before its id."""
    parts, resource = parse_alarm_name(alarm), alarm.split("/")[-2]
    return f"{parts.foreign}/{resource}" if parts and parts.foreign else resource


class _Answers:
    """Takes what a custom resource tells CloudFormation."""

    def __enter__(self) -> Self:
        self.received: list[dict[str, Any]] = []
        received = self.received

        class Handler(BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
