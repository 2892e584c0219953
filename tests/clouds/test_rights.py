"""The rights of the functions and the commands, on an emulator that enforces them."""

import json
import os
import re
from collections.abc import Mapping
from concurrent.futures import Future

import pytest

from burstwatch.cli.policies import commands, read_actions
from burstwatch.kinds import find_kinds
from demo.localcloud.cloud import LocalCloud
from tests.clouds.app import Watched
from tests.clouds.denied import Said
from tests.clouds.emulators import LOCALEMU
from tests.clouds.rights import NOT_CALLED_HERE, read_decisions, unused
from tools.reference import DOCS, markdown_table, with_parts

pytestmark = [pytest.mark.clouds, pytest.mark.timeout(0), pytest.mark.on(LOCALEMU.name)]
#: Checks of the doctor that need what the emulator has not: data of a day, a key's grants, the network, a newer EC2.
NOT_HERE = r"\w+ measured|errors of function .*|keys|link to the runbooks|managed resources"
#: What is asked about one resource depends on what it is, and an audit reads only what the account has alarms on.
READS_WHAT_IT_NEEDS = {"audit-alarms", "explain", "export", "snooze", "unsnooze"}
#: A topic's key can be named by an alias; with --yes nobody asks whether sweeps go on; the account has no alarm on
#: credits of its own that names a topic.
OF_COMMANDS = {
    "doctor": {"kms:DescribeKey", "ec2:GetManagedResourceVisibility"},
    "cleanup": {"cloudwatch:GetMetricData"},
    "audit-alarms": {"sns:GetTopicAttributes", "sns:ListSubscriptionsByTopic"},
}
#: Permissions of commands that only other resources, other arguments or a longer past would need.
NOT_ASKED = {
    "tag:GetResources", "ec2:DescribeRegions", "cloudwatch:GetAlarmMuteRule",
    *(f"{service}:{action}" for service, *actions in (
        ("rds", "AddTagsToResource", "RemoveTagsFromResource"),
        ("elasticache", "AddTagsToResource", "RemoveTagsFromResource"),
        ("elasticfilesystem", "TagResource", "UntagResource"), ("fsx", "TagResource", "UntagResource"),
    ) for action in actions),
}  # fmt: skip
#: Permissions that the member's role has for what is not in that account.
NOT_IN_THE_MEMBER = {"tag:GetResources", "cloudwatch:ListMetrics"}


def test_every_command_does_its_work_with_its_own_policy(app: Watched) -> None:
    # `member` is the role that the sweep takes in the other account, `units` goes with other commands, `serve` calls what
    # `scan` calls, and a backtest needs more than a week of the past.
    ran = {command.partition(" ")[0] for command in app.ran}
    assert ran == set(commands()) - {"member", "units", "serve", "backtest"}
    failed = {name: ran for name, ran in app.ran.items() if ran.code != 0}
    # Something is left while it is deployed.
    assert set(failed) <= {"doctor --json", "cleanup --json"}, failed
    assert app.ran["cleanup --json"].code == 1
    checks = [json.loads(line) for line in app.ran["doctor --json"].out.splitlines()]
    wrong = {
        check["check"]: check
        for check in checks
        if check["result"] in {"failed", "unknown"} and not re.fullmatch(NOT_HERE, check["check"])
    }
    assert not wrong
    assert not [check for check in checks if "AccessDenied" in json.dumps(check)]


def test_every_call_of_the_functions_and_the_commands_is_allowed(
    cloud: LocalCloud, app: Watched
) -> None:
    """Where permissions are taken away, in roles of their own, calls are refused on purpose."""
    roles = {*app.policies, *(ran.role for ran in app.ran.values())}
    decisions = [one for one in read_decisions(cloud) if one.role in roles]
    assert {one.role for one in decisions} == roles
    assert not [one for one in decisions if not one.allowed]


def test_every_permission_of_the_stack_is_used_or_has_a_reason(
    cloud: LocalCloud, ended: Watched
) -> None:
    decisions = read_decisions(cloud)
    for function in ("Sweep", "Cleanup", "Digest"):
        assert sum(f"BurstWatch{function}" in role for role in ended.policies) == 1
    for role, policies in ended.policies.items():
        excused = NOT_IN_THE_MEMBER if role == "burstwatch-member" else set(NOT_CALLED_HERE)
        calls = [decision for decision in decisions if decision.role == role]
        assert unused(policies, calls) <= excused, role


def test_every_permission_of_a_command_is_used_or_has_a_reason(
    cloud: LocalCloud, app: Watched
) -> None:
    decisions = read_decisions(cloud)
    needless: dict[str, set[str]] = {}
    for ran in app.ran.values():
        command = ran.role.removeprefix("as-")
        calls = [decision for decision in decisions if decision.role == ran.role]
        reads = (
            set(read_actions(find_kinds().values())) if command in READS_WHAT_IT_NEEDS else set()
        )
        excused = NOT_ASKED | OF_COMMANDS.get(command, set()) | reads
        needless[command] = unused([ran.policy], calls) - excused
    assert not {command: actions for command, actions in needless.items() if actions}


def test_the_role_of_a_member_account_is_refused_without_the_external_id(app: Watched) -> None:
    assert app.stranger == "AccessDenied"


@pytest.mark.parametrize("name", ["terraform", "sam"])
def test_an_example_deploys_whole(
    examples: Mapping[str, Future[dict[str, str]]], name: str
) -> None:
    states = examples[name].result()
    assert set(states.values()) == {"CREATE_COMPLETE"}
    assert sum("SweepFunction" in resource for resource in states) > 1


def test_a_permission_that_is_missing_is_told_and_hides_no_danger(said: dict[str, Said]) -> None:
    assert said[""] == Said(parts=(), told=("the volume (page)",), victim="paged")
    for action, told in said.items():
        beside = set(told.told) - {"the volume (page)"}
        assert not action or (told.parts and beside), f"without {action} nothing is said"
        if ":" not in action and action:  # a fault in a policy that is otherwise whole
            assert "no-completed-sweep (page)" in told.told
        is_paged = told.victim == "paged" or any(name.endswith("(page)") for name in beside)
        assert is_paged or "not_listed-ebs_volume (notice)" in beside, action


def test_the_docs_say_what_a_missing_permission_does(said: dict[str, Said]) -> None:
    """`make test-cloud UPDATE=1` writes the table of docs/contributing/permissions.md anew."""
    rows = [
        (f"`{action}`", "<br>".join(one.parts), "<br>".join(one.told), one.victim)
        for action, one in sorted(said.items())
        if ":" in action
    ]
    table = markdown_table(
        "without | what failed, in the log | alarms that this makes, or raises if it lasts | a volume in danger is",
        rows,
    )
    page = DOCS / "contributing" / "permissions.md"
    expected = with_parts(page, {"denied": lambda: table})
    if os.environ.get("UPDATE"):
        page.write_text(expected, encoding="utf-8")
    assert expected == page.read_text(encoding="utf-8")
