"""The CDK app deployed under enforced rights: pages for every kind, every command, recovery, and the end of the stack."""

import json
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, Self

from burstwatch.aws.client.names import alarm_prefix
from burstwatch.aws.client.session import Clients
from burstwatch.history.observations import Resource
from burstwatch.kinds.base import Kind
from demo.inbox import Inbox, Message
from demo.localcloud.cloud import LocalCloud
from demo.localcloud.emulators import MEMBER, ROOT
from demo.pace import FULL
from demo.stack import Stack
from tests.other_clouds.account import NAME, Metrics, find_resources, make_resources, put_alarm_of
from tests.other_clouds.commands import Commands, Ran
from tests.other_clouds.invoking import invoke, start_anew
from tests.other_clouds.rights import Policy, policy_of_role

REGION, DEPLOYMENT = "eu-west-1", "burstwatch"
EXTERNAL_ID = "watch-me"
PATIENCE_S, EVERY_S = 600.0, 5.0


@dataclass(kw_only=True)
class Watched:
    """What was drained, heard and done. ``victim`` is the volume whose page was awaited to its end."""

    drained: dict[str, str] = field(default_factory=dict)
    victim: str = ""
    kinds: set[str] = field(default_factory=set)
    heard: list[tuple[str, str, str]] = field(default_factory=list)
    alarms_left: list[str] = field(default_factory=list)
    ran: dict[str, Ran] = field(default_factory=dict)
    policies: dict[str, list[Policy]] = field(default_factory=dict)
    digest: dict[str, Any] = field(default_factory=dict)
    answers: list[dict[str, Any]] = field(default_factory=list)
    took_s: dict[str, float] = field(default_factory=dict)
    stranger: str = ""


def clients_of(cloud: LocalCloud, region: str, account: str = "test") -> Clients:
    credentials = {"aws_access_key_id": account, "aws_secret_access_key": "test"}
    return Clients(region, endpoint_url=cloud.endpoint, credentials=credentials)


class Play:
    """One run, step by step."""

    def __init__(self, cloud: LocalCloud) -> None:
        self.cloud, self.watched = cloud, Watched()
        self.home = clients_of(cloud, REGION)
        self.member = clients_of(cloud, REGION, MEMBER)
        self.began = time.monotonic()
        self.levels: dict[str, float] = {}
        self.is_loaded = True

    def play(self) -> Watched:
        """All of it."""
        make_resources(self.home)
        resources = find_resources(self.home, self.cloud.account)
        self.watched.kinds = {kind.name for kind, _ in resources}
        with ThreadPoolExecutor(1) as beside:
            filled = beside.submit(lambda: [self._drain(self.home, resources), self._make_member()])
            stack = self._synthesise()
            stack.bootstrap()
            outputs = stack.deploy()
            players = filled.result()
        self._mark("deployed")
        self._keep_policies()
        targets = self.home("events").list_targets_by_rule(Rule=outputs["RuleName"])["Targets"]
        self.inputs = [json.loads(target["Input"]) for target in targets]
        self.function = outputs["SweepFunctionName"]
        self._call_cleanup("Create")
        put_alarm_of(self.home, DEPLOYMENT, self.calm)
        inbox = Inbox(self.home("sns"), self.home("sqs"), endpoint=self.cloud.endpoint)
        topics = {name.lower(): outputs[f"{name}TopicArn"] for name in ("Page", "Notice", "Events")}
        for name, topic in topics.items():
            inbox.subscribe(name, topic, http=False)
        ended = threading.Event()
        minutes = threading.Thread(target=self._publish, args=(players, ended), daemon=True)
        minutes.start()
        commands = Commands(self.cloud, self.home, deployment=DEPLOYMENT, topics=[*topics.values()])
        try:
            with ThreadPoolExecutor(1) as beside:
                drill = beside.submit(commands.run, "drill", "--json", "--region", REGION)
                self._live(inbox, commands)
                self.watched.ran["drill"] = drill.result()
            digest = {"digest": outputs["LogGroupName"]}
            self.watched.digest = invoke(self.home, self._function_named("Digest"), digest)
            assert "title" in self.watched.digest, self.watched.digest
            self._until(lambda: self._has_digest(inbox), "the digest arrives")
            # Of the other account, while there are some: the stack deletes the others.
            self._run(commands, ("delete-alarms", "--yes", "--unit", f"{MEMBER}/{REGION}"))
        finally:
            ended.set()
            minutes.join()
            self._hear(inbox.collect())
            inbox.close()
        self._end(stack, outputs["RuleName"])
        return self.watched

    def _live(self, inbox: Inbox, commands: Commands) -> None:
        """In danger, as people look at it; and out again."""
        waiting = set(self.watched.drained)
        elsewhere = {resource for resource in waiting if resource.startswith(MEMBER)}
        self._sweep(*(event for event in self.inputs if MEMBER not in json.dumps(event)))
        self._until(
            lambda: waiting - elsewhere <= self._pages(inbox, "ALARM"), "a page for each kind"
        )
        self._mark("paged")
        self._run(
            commands,
            ("scan", "--json", "--deployment", DEPLOYMENT),
            ("explain", NAME, "--deployment", DEPLOYMENT),
        )
        self.levels, self.is_loaded = dict.fromkeys(self.levels, 0.99), False
        # The other account is swept on the schedule alone.
        self._until(
            lambda: elsewhere <= self._pages(inbox, "ALARM"), "a page for the other account"
        )
        self._mark("paged for the other account")
        self._run(
            commands,
            ("advise", "--days", "1", "--deployment", DEPLOYMENT), ("audit-alarms",), ("doctor", "--json"),
            ("leftovers", "--json"),
            ("snooze", NAME, "30m", "--reason", "a test"), ("unsnooze", NAME), ("episodes", "--json"), ("digest",),
            ("top", "--deployment", DEPLOYMENT), ("export", NAME),
        )  # fmt: skip
        self._mark("commands")
        self._until(lambda: {self.victim} <= self._pages(inbox, "OK"), "its page ends", sweeps=True)
        self._mark("page ended")
        self._until(
            lambda: not any(self.calm.id in name for name in self._alarms()),
            "a sweep deletes what is over",
            sweeps=True,
        )
        self._mark("deleted")

    def _run(self, commands: Commands, *lines: tuple[str, ...]) -> None:
        for command, *arguments in lines:
            self.watched.ran[command] = commands.run(command, *arguments, "--region", REGION)

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
        stacks = self.member("cloudformation")
        stacks.create_stack(
            StackName="burstwatch-member", TemplateBody=template, Capabilities=["CAPABILITY_NAMED_IAM"],
            Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()],
        )  # fmt: skip
        stacks.get_waiter("stack_create_complete").wait(
            StackName="burstwatch-member", WaiterConfig={"Delay": 1}
        )
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

    def _publish(self, players: list[Metrics], ended: threading.Event) -> None:
        at_home, elsewhere = players
        while not ended.wait(1.0):
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

    def _end(self, stack: Stack, rule: str) -> None:
        events = self.home("events")
        targets = events.list_targets_by_rule(Rule=rule)["Targets"]
        events.remove_targets(Rule=rule, Ids=[target["Id"] for target in targets])
        self._call_cleanup("Delete")
        stack.destroy()
        alarms = self.home("cloudwatch").describe_alarms()["MetricAlarms"]
        self.watched.alarms_left = [alarm["AlarmName"] for alarm in alarms]
        self._mark("destroyed")

    def _alarms(self) -> list[str]:
        prefix = alarm_prefix(DEPLOYMENT).rstrip("/")
        alarms = self.home("cloudwatch").describe_alarms(AlarmNamePrefix=prefix)["MetricAlarms"]
        return [alarm["AlarmName"] for alarm in alarms if alarm["AlarmName"][len(prefix)] in "/@"]

    def _pages(self, inbox: Inbox, state: str) -> set[str]:
        """The resources whose alarm was heard to go to a state, on either topic, with the unit where it is another."""
        pages = [
            message.alarm
            for message in inbox.collect()
            if message.alarm and message.alarm["NewStateValue"] == state
        ]
        return {
            resource_of(alarm["AlarmName"]) for alarm in pages if alarm["AlarmName"].count("/") > 1
        }

    def _has_digest(self, inbox: Inbox) -> bool:
        return any(
            message.through == "sqs:notice" and not message.alarm for message in inbox.collect()
        )

    def _hear(self, messages: list[Message]) -> None:
        for message in messages:
            alarm = message.alarm
            name, state = (alarm["AlarmName"], alarm["NewStateValue"]) if alarm else ("", "")
            self.watched.heard.append((message.through, name, state))

    def _until(self, is_so: Callable[[], bool], what: str, *, sweeps: bool = False) -> None:
        """Wait for it. ``sweeps`` more often than the schedule does, by a function that remembers nothing."""
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            if sweeps:
                # Else the next datapoints are asked for when their time has come, minutes later.
                start_anew(self.home, self.function)
                self._sweep(*self.inputs)
            assert time.monotonic() < deadline, f"not within {PATIENCE_S:.0f} s: {what}"
            time.sleep(EVERY_S)

    def _mark(self, step: str) -> None:
        self.watched.took_s[step] = time.monotonic() - self.began
        print(f"{self.watched.took_s[step]:6.0f} s  {step}", flush=True)


def resource_of(alarm: str) -> str:
    """``vol-1``, or ``333333333333.eu-west-1/vol-1``, of an alarm's name: a resource's own name stands before its id."""
    _, deployment, *_, resource, _ = alarm.split("/")
    unit = deployment.partition("@")[2]
    return f"{unit}/{resource}" if unit else resource


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
