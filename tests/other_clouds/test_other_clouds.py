"""The template, the rights and the calls, on an emulator that others wrote and that enforces rights."""

import json
import os
import re

import pytest

from burstwatch.cli.policies import commands, read_actions
from burstwatch.kinds import find_kinds
from demo.localcloud.cloud import LocalCloud
from demo.localcloud.emulators import LOCALEMU, MEMBER
from tests.other_clouds.denied import Said
from tests.other_clouds.rights import NOT_CALLED_HERE, read_decisions, unused
from tests.other_clouds.watched import REGION, Watched, resource_of
from tools.reference import DOCS, markdown_table, with_parts

# The plays begin with the first test and wait for conditions: on a busy machine they take twice as long.
pytestmark = [pytest.mark.other_clouds, pytest.mark.timeout(1_200)]
#: Checks of the doctor that need what the emulator has not: data of a day, a key's grants, the network.
NOT_HERE = r"\w+ measured|errors of function .*|keys|link to the runbooks"
#: What is asked about one resource depends on what it is, and an audit reads only what the account has alarms on.
READS_WHAT_IT_NEEDS = {"audit-alarms", "explain", "export", "snooze", "unsnooze"}
#: A topic's key can be named by an alias; with --yes nobody asks whether sweeps go on.
OF_COMMANDS = {"doctor": {"kms:DescribeKey"}, "delete-alarms": {"cloudwatch:GetMetricData"}}
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
NOT_IN_THE_MEMBER = {"tag:GetResources"}


def test_every_kind_that_the_emulator_has_is_found(watched: Watched) -> None:
    """A kind that is missing is one of those that it is known not to have."""
    assert set(find_kinds()) - watched.kinds == set(LOCALEMU.without)


def test_whatever_drains_is_told_once_in_every_unit_and_a_page_ends(watched: Watched) -> None:
    states: dict[str, list[str]] = {}
    for _, alarm, state in watched.heard:
        resource = resource_of(alarm) if alarm.startswith("burstwatch/") else ""
        if resource in watched.drained:
            states.setdefault(resource, []).append(state)
    assert states.keys() == watched.drained.keys()
    assert any(resource.startswith(f"{MEMBER}.{REGION}/") for resource in states)
    for resource, heard in states.items():
        is_over = heard == ["ALARM", "OK"]
        assert is_over or (heard == ["ALARM"] and resource != watched.victim), resource


def test_every_command_does_its_work_with_its_own_policy(watched: Watched) -> None:
    # `member` is the role that the sweep takes in the other account, `units` goes with other commands, `serve` calls what
    # `scan` calls, and a backtest needs more than a week of the past.
    assert set(watched.ran) == set(commands()) - {"member", "units", "serve", "backtest"}
    failed = {name: ran for name, ran in watched.ran.items() if ran.code != 0}
    # Something is left while it is deployed.
    assert set(failed) <= {"doctor", "leftovers"}, failed
    assert watched.ran["leftovers"].err == ""
    checks = [json.loads(line) for line in watched.ran["doctor"].out.splitlines()]
    wrong = {
        check["check"]: check
        for check in checks
        if check["result"] in {"failed", "unknown"} and not re.fullmatch(NOT_HERE, check["check"])
    }
    assert not wrong
    assert not [check for check in checks if "AccessDenied" in json.dumps(check)]


def test_every_call_of_the_functions_and_the_commands_is_allowed(
    cloud: LocalCloud, watched: Watched, said: dict[str, Said]
) -> None:
    """What the other play takes away is its own: there the calls are refused on purpose."""
    assert said
    roles = {*watched.policies, *(ran.role for ran in watched.ran.values())}
    decisions = [one for one in read_decisions(cloud) if one.role in roles]
    assert {one.role for one in decisions} == roles
    assert not [one for one in decisions if not one.allowed]


def test_every_permission_of_the_stack_is_used_or_has_a_reason(
    cloud: LocalCloud, watched: Watched
) -> None:
    decisions = read_decisions(cloud)
    for function in ("Sweep", "Cleanup", "Digest"):
        assert sum(f"BurstWatch{function}" in role for role in watched.policies) == 1
    for role, policies in watched.policies.items():
        excused = NOT_IN_THE_MEMBER if role == "burstwatch-member" else set(NOT_CALLED_HERE)
        calls = [decision for decision in decisions if decision.role == role]
        assert unused(policies, calls) <= excused, role


def test_every_permission_of_a_command_is_used_or_has_a_reason(
    cloud: LocalCloud, watched: Watched
) -> None:
    decisions = read_decisions(cloud)
    needless: dict[str, set[str]] = {}
    for command, ran in watched.ran.items():
        calls = [decision for decision in decisions if decision.role == ran.role]
        reads = (
            set(read_actions(find_kinds().values())) if command in READS_WHAT_IT_NEEDS else set()
        )
        excused = NOT_ASKED | OF_COMMANDS.get(command, set()) | reads
        needless[command] = unused([ran.policy], calls) - excused
    assert not {command: actions for command, actions in needless.items() if actions}


def test_the_role_of_a_member_account_is_refused_without_the_external_id(watched: Watched) -> None:
    assert watched.stranger == "AccessDenied"


def test_the_digest_is_sent_and_nothing_is_left_at_the_end(watched: Watched) -> None:
    assert watched.digest["title"]
    assert ("sqs:notice", "", "") in watched.heard
    assert [answer["Status"] for answer in watched.answers] == ["SUCCESS", "SUCCESS"]
    assert watched.alarms_left == []


@pytest.mark.parametrize("name", ["terraform", "sam"])
def test_an_example_deploys_whole(examples: dict[str, dict[str, str]], name: str) -> None:
    assert set(examples[name].values()) == {"CREATE_COMPLETE"}
    assert sum("SweepFunction" in resource for resource in examples[name]) > 1


def test_a_permission_that_is_missing_is_told_and_hides_no_danger(said: dict[str, Said]) -> None:
    assert said[""] == Said(parts=(), told=("the volume (page)",), victim="paged")
    for action, told in said.items():
        beside = set(told.told) - {"the volume (page)"}
        assert not action or (told.parts and beside), f"without {action} nothing is said"
        is_paged = told.victim == "paged" or any(name.endswith("(page)") for name in beside)
        assert is_paged or "not_listed-ebs_volume (notice)" in beside, action


def test_a_fault_in_the_policy_is_seen(said: dict[str, Said]) -> None:
    for fault in ("an action is missing", "a prefix is too narrow", "a condition is too tight"):
        assert "no-completed-sweep (page)" in said[fault].told


def test_the_docs_say_what_a_missing_permission_does(said: dict[str, Said]) -> None:
    """`make test-cloud UPDATE=1` writes the table of docs/security.md anew."""
    rows = [
        (f"`{action}`", "<br>".join(one.parts), "<br>".join(one.told), one.victim)
        for action, one in sorted(said.items())
        if ":" in action
    ]
    table = markdown_table(
        "without | what failed, in the log | alarms that this makes, or raises if it lasts | a volume in danger is",
        rows,
    )
    page = DOCS / "security.md"
    expected = with_parts(page, {"denied": lambda: table})
    if os.environ.get("UPDATE"):
        page.write_text(expected, encoding="utf-8")
    assert expected == page.read_text(encoding="utf-8")
