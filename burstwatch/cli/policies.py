"""The IAM policy that each command needs: what it reads, and the few things that it changes.

A write is narrowed to what belongs to a deployment, or to our own tag. The calls are checked under the
policies themselves on emulators that enforce them (`make test-cloud`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burstwatch.aws.client.names import DRILL_QUEUE, alarm_patterns, stack_name
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind, Tagging
from burstwatch.owner_tags import SNOOZE_TAG

#: The name of the role in each member account.
MEMBER_ROLE = "burstwatch-member"
PARTITIONS = ("aws", "aws-cn", "aws-us-gov")
#: Reads that are not of one kind.
METRIC_READS = ("cloudwatch:GetMetricData",)
ALARM_READS = (
    "cloudwatch:DescribeAlarms",
    "cloudwatch:ListAlarmMuteRules",
    "cloudwatch:GetAlarmMuteRule",
)
#: How much of a stack's name CloudFormation keeps at the least in a name of at most 64 characters (functions, rules),
#: and of at most 80 (queues). AWS states no rule; names that were seen keep one character more.
_KEPT_OF_64, _KEPT_OF_80 = 24, 32


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Actions that are allowed on resources.

    ``{stack}`` and its like, and ``{deployment}``, are filled in. After the stack, names have the ids of the construct. ``*`` alone is for actions that AWS cannot narrow to a resource.
    """

    sid: str
    actions: Sequence[str]
    resources: Sequence[str] = ("*",)
    conditions: Mapping[str, Any] = field(default_factory=dict)


def read_actions(kinds: Iterable[Kind]) -> list[str]:
    """Every permission that a look needs."""
    listed = {listing.iam_action for kind in kinds for listing in kind.listings}
    return sorted(listed | set(METRIC_READS))


def policy_of(
    command: str, *, deployment: str = "burstwatch", stack: str = "", partition: str = "aws"
) -> dict[str, Any]:
    """The policy with which a command can do all that it does.

    Every command also calls sts:GetCallerIdentity, which needs no permission.

    Raises:
        KeyError: for a command that calls nothing of AWS.
    """
    stack = stack or stack_name(deployment)
    names = {
        "deployment": deployment,
        "stack": stack,
        "stack_of_64": _shortened(stack, _KEPT_OF_64),
        "stack_of_80": _shortened(stack, _KEPT_OF_80),
    }

    def arn(resource: str) -> str:
        return resource if resource == "*" else f"arn:{partition}:{resource.format(**names)}"

    statements = []
    for statement in _statements()[command]:
        resources = [arn(resource) for resource in statement.resources]
        statements.append(
            {
                "Sid": statement.sid,
                "Effect": "Allow",
                "Action": sorted(statement.actions),
                "Resource": resources[0] if len(resources) == 1 else resources,
                **({"Condition": dict(statement.conditions)} if statement.conditions else {}),
            }
        )
    return {"Version": "2012-10-17", "Statement": statements}


def _shortened(stack: str, kept: int) -> str:
    """The beginning of what CloudFormation makes of a stack's name in the name of a resource."""
    return stack if len(stack) <= kept else f"{stack[:kept]}*"


def commands() -> list[str]:
    """The names that `policy_of` takes."""
    return sorted(_statements())


def _statements() -> dict[str, tuple[Statement, ...]]:
    kinds = tuple(find_kinds().values())
    reads = Statement(sid="Look", actions=read_actions(kinds))
    in_regions = Statement(sid="Look", actions=(*read_actions(kinds), "ec2:DescribeRegions"))
    stack = Statement(
        sid="FindTheDeployment",
        actions=("cloudformation:DescribeStacks",),
        resources=("cloudformation:*:*:stack/{stack}/*",),
    )
    alarms = Statement(sid="ReadAlarms", actions=("cloudwatch:DescribeAlarms",))
    # Whoever hears the account's alarms may be behind any of its topics.
    topics = Statement(
        sid="ReadTopics",
        actions=("sns:GetTopicAttributes", "sns:ListSubscriptionsByTopic"),
        resources=("sns:*:*:*",),
    )
    metrics = Statement(sid="ReadMetrics", actions=METRIC_READS)
    log = Statement(
        sid="ReadTheLog",
        actions=("logs:FilterLogEvents",),
        resources=("logs:*:*:log-group:{stack}-BurstWatchSweep*",),
    )
    settings = Statement(
        sid="ReadTheSettings",
        actions=("lambda:GetFunctionConfiguration",),
        resources=("lambda:*:*:function:{stack_of_64}-BurstWatchSweep*",),
    )
    listed = Statement(sid="Look", actions=sorted(set(read_actions(kinds)) - set(METRIC_READS)))
    return {
        **dict.fromkeys(("export", "backtest"), (reads,)),
        "explain": (reads, stack, settings),
        **dict.fromkeys(("scan", "top", "serve", "advise"), (in_regions, stack, settings)),
        "audit-alarms": (in_regions, alarms, topics),
        "cleanup": (alarms, metrics, _delete_alarms(), *_leftovers()),
        "doctor": (reads, stack, log, *_doctor()),
        "drill": (stack, alarms, *_drill()),
        "episodes": (stack, alarms, metrics, log),
        "member": (reads,),
        "units": (stack, *_units()),
        "snooze": (listed, *_tag(kinds, lambda tagging: tagging.put_action)),
        "unsnooze": (listed, *_tag(kinds, lambda tagging: tagging.remove_action)),
    }


def _leftovers() -> tuple[Statement, ...]:
    return (
        Statement(
            sid="FindWhatIsLeft",
            actions=(
                "cloudformation:ListStacks", "logs:DescribeLogGroups", "sqs:ListQueues", "tag:GetResources",
            ),
        ),
    )  # fmt: skip


def _units() -> tuple[Statement, ...]:
    """Statements that ``--all-units`` needs beside the policy of its command."""
    return (
        Statement(
            sid="ReadWhatIsWatched",
            actions=("events:ListTargetsByRule",),
            resources=("events:*:*:rule/{stack_of_64}-BurstWatch*",),
        ),
        Statement(
            sid="TakeTheRolesOfAccounts",
            actions=("sts:AssumeRole",),
            resources=(f"iam::*:role/{MEMBER_ROLE}",),
        ),
        Statement(
            sid="ListTheOrganisation",
            actions=(
                "account:ListRegions", "organizations:DescribeOrganization", "organizations:ListAccounts",
                "organizations:ListAccountsForParent", "organizations:ListOrganizationalUnitsForParent",
                "organizations:ListTagsForResource",
            ),
        ),
    )  # fmt: skip


def _delete_alarms() -> Statement:
    return Statement(
        sid="DeleteItsAlarms",
        actions=("cloudwatch:DeleteAlarms",),
        resources=[f"cloudwatch:*:*:alarm:{pattern}" for pattern in alarm_patterns("{deployment}")],
    )


def _doctor() -> tuple[Statement, ...]:
    return (
        Statement(sid="ReadAlarms", actions=ALARM_READS),
        Statement(
            sid="ReadQuotasAndVisibility",
            actions=("ec2:GetManagedResourceVisibility", "lambda:GetAccountSettings"),
        ),
        Statement(
            sid="ReadTheDeployment",
            actions=(
                "events:DescribeRule", "events:ListTargetsByRule", "lambda:GetFunctionConfiguration",
                "sns:GetTopicAttributes", "sns:ListSubscriptionsByTopic", "sqs:GetQueueAttributes",
            ),
            resources=(
                "events:*:*:rule/{stack_of_64}-BurstWatch*", "lambda:*:*:function:{stack_of_64}-BurstWatchSweep*",
                "sns:*:*:{stack}-BurstWatchTopics*", "sqs:*:*:{stack_of_80}-BurstWatchSweep*",
            ),
        ),
        Statement(
            sid="TryTheRolesOfAccounts",
            actions=("sts:AssumeRole",),
            resources=(f"iam::*:role/{MEMBER_ROLE}",),
        ),
        # The name of a key says nothing of what it is for.
        Statement(
            sid="ReadTheKeyOfTheTopics",
            actions=("kms:DescribeKey", "kms:GetKeyPolicy"),
            resources=("kms:*:*:key/*",),
        ),
    )  # fmt: skip


def _drill() -> tuple[Statement, ...]:
    return (
        Statement(
            # Not the cleanup function, which deletes alarms when it is asked to.
            sid="AskTheFunction",
            actions=("lambda:InvokeFunction",),
            resources=("lambda:*:*:function:{stack_of_64}-BurstWatchSweep*",),
        ),
        Statement(
            sid="ListenToATopic",
            actions=("sns:ListSubscriptionsByTopic", "sns:Subscribe"),
            resources=("sns:*:*:{stack}-BurstWatchTopics*",),
        ),
        # AWS takes no resource for it, and lets only the owner of a topic or of a subscription do it.
        Statement(sid="StopListening", actions=("sns:Unsubscribe",)),
        Statement(sid="FindQueuesOfDrills", actions=("sqs:ListQueues",)),
        Statement(
            sid="HaveAQueueOfItsOwn",
            actions=(
                "sqs:CreateQueue", "sqs:DeleteQueue", "sqs:GetQueueAttributes", "sqs:ReceiveMessage",
                "sqs:SetQueueAttributes",
            ),
            resources=(f"sqs:*:*:{DRILL_QUEUE}*",),
        ),
    )  # fmt: skip


def _tag(kinds: Iterable[Kind], action_of: Callable[[Tagging], str]) -> list[Statement]:
    """The permissions to write the one tag of a snooze, and no other, on the things of the kinds.

    ``action_of`` gives the action. Kinds of one service share it, each with the ARNs of its own things.
    """
    arns: dict[tuple[str, str], set[str]] = {}
    for kind in kinds:
        tagging = kind.tagging
        arns.setdefault((tagging.service, action_of(tagging)), set()).update(tagging.arns)
    return [
        Statement(
            sid=f"TheSnoozeOf{service.title()}",
            actions=(action,),
            resources=tuple(sorted(resources)),
            # Without a key, DeleteTags removes every tag: ForAllValues alone is true then.
            conditions={
                "ForAllValues:StringEquals": {"aws:TagKeys": [SNOOZE_TAG]},
                "Null": {"aws:TagKeys": "false"},
            },
        )
        for (service, action), resources in arns.items()
    ]
