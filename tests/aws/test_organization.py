"""Units from an organisation: who joins, who leaves, who has no role, and what is told of it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from burstwatch.aws.client.names import NOT_HEARD
from burstwatch.aws.sweep.fleet_metrics import fleet_metrics
from burstwatch.aws.sweep.units import Units
from burstwatch.aws.watched.joining import Joining, parse_question
from burstwatch.aws.watched.organization import parse_part
from burstwatch.aws.watched.units import UnitSpec, connect, parse_unit
from burstwatch.kinds import find_kinds
from tests.aws.invoking import Context, load
from tests.aws.sweeping import CONFIG as SWEEPING
from tests.aws.sweeping import Disk
from tests.conftest import Cloud
from tests.fake.aws import ACCOUNT
from tests.fake.organization import ORGANIZATION, ROOT, Member
from tests.fake.wire import WireError

pytestmark = pytest.mark.slow

CONFIG = replace(SWEEPING, deployment="test")
ROLE = "burstwatch-member"
QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/sweeps"
ALARM = f"burstwatch-{CONFIG.deployment}-no-completed-sweep-found"
STANDBY = f"burstwatch-{CONFIG.deployment}-{NOT_HEARD}"
EVENT: dict[str, Any] = {
    "queue_url": QUEUE,
    "find": {
        "parts": [ORGANIZATION],
        "role": ROLE,
        "external_id": "watch-me",
        "fixed": [f"{ACCOUNT}/us-east-1"],
    },
}


def account_id(number: int) -> str:
    return f"{200_000_000_000 + number}"


def join(cloud: Cloud, number: int, *, has_role: bool = True, **more: Any) -> str:
    account = account_id(number)
    cloud.aws.members[account] = Member(account, f"team-{number}", **more)
    if has_role:
        let_in(cloud, account)
    return account


def let_in(cloud: Cloud, account: str) -> None:
    cloud.aws.roles[f"arn:aws:iam::{account}:role/{ROLE}"] = "watch-me"


@pytest.fixture
def home(cloud: Cloud) -> Cloud:
    """A deployment that finds its units: its two alarms are there, and it is in the organisation itself."""
    cloud.aws.members[ACCOUNT] = Member(ACCOUNT, "monitoring", regions=("eu-west-1", "us-east-1"))
    for name in (ALARM, STANDBY):
        cloud.clients("cloudwatch").put_metric_alarm(
            AlarmName=name, Namespace="Burstwatch", MetricName="NotHeard", Statistic="Maximum", Period=60,
            EvaluationPeriods=1, Threshold=1.0, ComparisonOperator="GreaterThanOrEqualToThreshold",
            AlarmDescription="ALARM: something.", AlarmActions=["arn:aws:sns:us-east-1:123456789012:notice"],
            OKActions=["arn:aws:sns:us-east-1:123456789012:notice"],
            Dimensions=[{"Name": "Deployment", "Value": CONFIG.deployment}],
        )  # fmt: skip
    return cloud


@pytest.fixture
def function(home: Cloud, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """The function, freshly started, on the clock of the test."""
    monkeypatch.setenv("BURSTWATCH_DEPLOYMENT", CONFIG.deployment)
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Burstwatch")
    monkeypatch.setattr("time.time", home.clock)
    return lambda: load("lambdas.find_units")


def invoke(module: Any, cloud: Cloud, event: dict[str, Any] = EVENT) -> dict[str, Any]:
    cloud.aws.queued.clear()
    answer: dict[str, Any] = module.handler(event, Context())
    return answer


def swept(cloud: Cloud) -> set[tuple[str, str]]:
    """The accounts and regions that were handed over."""
    specs = [parse_unit(message) for message in cloud.aws.queued]
    assert all(spec.is_found for spec in specs)
    return {(spec.account, spec.region) for spec in specs}


def told(cloud: Cloud) -> str:
    text: str = cloud.aws.regions["us-east-1"].alarms[STANDBY]["AlarmDescription"]
    return text


def test_each_active_account_is_swept_in_each_of_its_regions(home: Cloud, function: Any) -> None:
    account = join(home, 1, regions=("us-east-1", "eu-west-1"))
    join(home, 2, state="SUSPENDED")
    join(home, 3, state="PENDING_CLOSURE")
    answer = invoke(function(), home)
    assert swept(home) == {(account, "us-east-1"), (account, "eu-west-1"), ("", "eu-west-1")}
    assert answer == {"UnitsFound": 3, "Problems": 0, "not_joined": []}
    message = next(one["unit"] for one in home.aws.queued if one["unit"].get("account"))
    assert message["role_arn"] == f"arn:aws:iam::{account}:role/{ROLE}"
    assert message["external_id"] == "watch-me"


def test_an_account_without_a_role_is_told_once_by_name_and_joins_when_it_has_one(
    home: Cloud, function: Any
) -> None:
    joined, late = join(home, 1), join(home, 2, has_role=False)
    module = function()
    answer = invoke(module, home)
    assert answer["not_joined"] == [late]
    assert f"account {late} (team-2): nobody watches it" in told(home)
    assert (joined, "us-east-1") in swept(home)
    assert (late, "us-east-1") not in swept(home)
    writes = home.aws.counted["PutMetricAlarm"]
    home.aws.evaluate_alarms()
    for _ in range(10):
        home.clock.now += 60
        invoke(module, home)
        home.aws.evaluate_alarms()
    assert home.aws.counted["PutMetricAlarm"] == writes  # nothing new to say
    let_in(home, late)
    home.clock.now += 300
    assert invoke(module, home)["not_joined"] == []
    assert (late, "us-east-1") in swept(home)


def test_a_further_account_without_a_role_is_told_with_those_before(
    home: Cloud, function: Any
) -> None:
    early = join(home, 1, has_role=False)
    module = function()
    invoke(module, home)
    home.clock.now += 300
    late = join(home, 2, has_role=False)
    invoke(module, home)
    assert early in told(home)
    assert late in told(home)


def test_an_account_whose_role_is_gone_is_still_swept_so_that_it_pages(
    home: Cloud, function: Any
) -> None:
    account = join(home, 1)
    invoke(function(), home)
    home.aws.roles.clear()
    home.clock.now += 600
    answer = invoke(function(), home)  # a function that has just started
    assert answer["not_joined"] == []
    assert (account, "us-east-1") in swept(home)
    units = Units(home=home.clients, connect=connect)
    spec = next(
        spec for message in home.aws.queued if (spec := parse_unit(message)).account == account
    )
    result = units.sweep(spec, [], CONFIG, now=home.clock.now, deadline=home.never())
    numbers = fleet_metrics(result)
    assert numbers["UnitsFailed"] == 1
    assert "UnitsCompleted" not in numbers


def test_an_account_that_leaves_or_is_closed_is_swept_no_more(home: Cloud, function: Any) -> None:
    leaver, closed = join(home, 1), join(home, 2)
    module = function()
    invoke(module, home)
    del home.aws.members[leaver]
    home.aws.members[closed].state = "SUSPENDED"
    home.clock.now += 300
    answer = invoke(module, home)
    assert swept(home) == {("", "eu-west-1")}
    assert answer["not_joined"] == []


def test_a_new_account_and_a_new_region_join_by_themselves(home: Cloud, function: Any) -> None:
    first = join(home, 1)
    module = function()
    invoke(module, home)
    home.aws.members[first].regions = ("us-east-1", "ap-south-1")
    later = join(home, 2)
    home.clock.now += 3_600
    invoke(module, home)
    assert {(first, "ap-south-1"), (later, "us-east-1")} <= swept(home)


@pytest.mark.parametrize(
    ("parts", "numbers"),
    [
        ([f"{ORGANIZATION}/{ROOT}"], {1, 2, 3, 4}),
        ([f"{ORGANIZATION}/ou-ab12-prod0000"], {2, 3}),
        ([f"{ORGANIZATION}/ou-ab12-team0000"], {3}),
        ([f"{ORGANIZATION}/tag:env=prod"], {1, 3}),
        ([f"{ORGANIZATION}/ou-ab12-team0000", f"{ORGANIZATION}/tag:env=prod"], {1, 3}),
    ],
)
def test_a_part_of_the_organisation_is_what_is_below_it_or_has_the_tag(
    home: Cloud, function: Any, parts: list[str], numbers: set[int]
) -> None:
    home.aws.parents = {"ou-ab12-prod0000": ROOT, "ou-ab12-team0000": "ou-ab12-prod0000"}
    join(home, 1, tags={"env": "prod"})
    join(home, 2, parent="ou-ab12-prod0000")
    join(home, 3, parent="ou-ab12-team0000", tags={"env": "prod"})
    join(home, 4, tags={"env": "test"})
    invoke(function(), home, {**EVENT, "find": {**EVENT["find"], "parts": parts}})
    assert {account for account, _ in swept(home)} - {""} == {account_id(n) for n in numbers}


def test_only_the_regions_that_are_named_are_swept(home: Cloud, function: Any) -> None:
    account = join(home, 1, regions=("us-east-1", "eu-west-1", "ap-south-1"))
    event = {**EVENT, "find": {**EVENT["find"], "regions": ["eu-west-1", "sa-east-1"]}}
    invoke(function(), home, event)
    assert swept(home) == {(account, "eu-west-1"), ("", "eu-west-1")}


@pytest.mark.parametrize(
    "operation", ["ListAccounts", "DescribeOrganization", "ListRegions", "DescribeAlarms"]
)
def test_a_call_that_fails_leaves_what_was_found_before_and_is_a_problem(
    home: Cloud, function: Any, operation: str
) -> None:
    account = join(home, 1)
    module = function()
    invoke(module, home)
    before = swept(home)
    home.aws.denied.add(operation)
    home.clock.now += 3_600
    answer = invoke(module, home)
    assert swept(home) == before
    assert (account, "us-east-1") in before
    assert answer["Problems"] >= 1


def test_a_listing_that_fails_at_the_start_forgets_nobody_and_says_no_number(
    home: Cloud, function: Any
) -> None:
    """No number is what pages: the alarm misses it."""
    account = join(home, 1)
    invoke(function(), home)
    tags = dict(home.aws.regions["us-east-1"].alarm_tags[ALARM])
    home.aws.denied.add("ListAccounts")
    home.clock.now += 600
    module = function()
    for _ in range(3):
        answer = invoke(module, home)
        assert "UnitsFound" not in answer
        assert answer["Problems"] == 1  # at each search, until it is listed
        home.clock.now += 60
    assert home.aws.regions["us-east-1"].alarm_tags[ALARM] == tags
    home.aws.denied.clear()
    home.aws.roles.clear()
    answer = invoke(module, home)
    assert answer["not_joined"] == []
    assert (account, "us-east-1") in swept(home)


def test_an_account_whose_regions_cannot_be_listed_is_told_by_name(
    home: Cloud, function: Any
) -> None:
    join(home, 1)
    late = join(home, 2)
    module = function()
    home.aws.before["ListRegions"] = _refuse_regions_of(late)
    for _ in range(3):
        answer = invoke(module, home)
        assert answer["Problems"] == 1
        home.clock.now += 60
    assert f"account {late} (team-2): nobody watches it, its regions cannot be listed" in told(home)
    home.aws.before.clear()
    home.clock.now += 300
    invoke(module, home)
    assert (late, "us-east-1") in swept(home)


def _refuse_regions_of(account: str) -> Callable[[dict[str, Any]], None]:
    def refuse(params: dict[str, Any]) -> None:
        if params.get("AccountId") == account:
            raise WireError("AccessDeniedException", "not a member account", 403)

    return refuse


def test_a_role_that_is_not_tried_for_want_of_an_answer_is_no_role_that_is_missing(
    home: Cloud, function: Any
) -> None:
    account = join(home, 1)
    home.aws.throttled["AssumeRole"] = 10
    answer = invoke(function(), home)
    assert answer["not_joined"] == []
    assert (account, "us-east-1") in swept(home)
    assert answer["Problems"] == 1


def test_throttled_listings_are_tried_again_and_hide_nobody(home: Cloud, function: Any) -> None:
    for number in range(50):
        join(home, number)
    home.aws.throttled = {"ListAccounts": 1, "ListRegions": 2, "AssumeRole": 1}
    module = function()
    invoke(module, home)
    home.clock.now += 300
    invoke(module, home)
    assert len(swept(home)) == 51


def test_where_nobody_knows_who_has_let_us_in_all_are_swept(home: Cloud, function: Any) -> None:
    account = join(home, 1, has_role=False)
    home.aws.denied.add("ListTagsForResource")
    answer = invoke(function(), home)
    assert answer["not_joined"] == []
    assert (account, "us-east-1") in swept(home)
    assert answer["Problems"] >= 1


def test_a_message_that_the_queue_refuses_is_a_problem_and_costs_no_other(
    home: Cloud, function: Any
) -> None:
    for number in range(25):
        join(home, number)
    home.aws.refused_messages = 2
    answer = invoke(function(), home)
    assert answer["Problems"] == 2
    assert len(home.aws.queued) == 26 - 2


def test_three_hundred_accounts_in_seventeen_regions_are_found_and_each_problem_is_told_once(
    home: Cloud, function: Any
) -> None:
    regions = tuple(f"eu-west-{number}" for number in range(1, 18))
    for number in range(300):
        join(home, number, has_role=number % 10 != 0, regions=regions)
    home.aws.members[account_id(7)].state = "SUSPENDED"
    home.aws.members[account_id(8)].regions = ()
    module = function()
    answer = invoke(module, home)
    assert len(answer["not_joined"]) == 30
    assert answer["UnitsFound"] == (300 - 30 - 2) * 17 + 1
    assert len(swept(home)) == answer["UnitsFound"]
    text = told(home)
    assert account_id(0) in text
    assert "more" in text
    tags = home.aws.regions["us-east-1"].alarm_tags[ALARM]
    assert len(tags) <= 50
    assert all(len(value) <= 256 for value in tags.values())
    fresh = function()
    home.aws.roles.clear()
    home.clock.now += 300
    again = invoke(fresh, home)
    assert again["not_joined"] == answer["not_joined"]
    assert again["UnitsFound"] == answer["UnitsFound"]


def test_a_kind_that_the_organisation_forbids_stops_no_heartbeat_and_makes_no_alarm(
    home: Cloud,
) -> None:
    account = join(home, 1)
    home.aws.denied.add("DescribeFileSystems")
    home.aws.denied_words = "not authorized: with an explicit deny in a service control policy"
    spec = UnitSpec(
        account=account,
        region="us-east-1",
        role_arn=f"arn:aws:iam::{account}:role/{ROLE}",
        external_id="watch-me",
        is_found=True,
    )
    units = Units(home=home.clients, connect=connect)
    kinds = find_kinds("ebs_volume,efs_file_system").values()
    before = set(home.aws.regions["us-east-1"].alarms)
    result = units.sweep(spec, kinds, CONFIG, now=home.clock.now, deadline=home.never())
    assert result.completed
    assert set(result.snapshot.forbidden) == {"efs_file_system"}
    assert set(home.aws.regions["us-east-1"].alarms) == before
    assert fleet_metrics(result)["UnitsCompleted"] == 1
    for words in ("because no service control policy allows the elasticfilesystem action",):
        home.aws.denied_words = words
        home.clock.now += 60
        result = units.sweep(spec, kinds, CONFIG, now=home.clock.now, deadline=home.never())
        assert result.completed
    home.aws.denied |= {
        "DescribeVolumes",
        "DescribeInstances",
    }  # a region that is forbidden as a whole
    home.clock.now += 60
    result = Units(home=home.clients, connect=connect).sweep(
        spec, kinds, CONFIG, now=home.clock.now, deadline=home.never()
    )
    assert result.completed
    assert set(result.snapshot.forbidden) == {"ebs_volume", "efs_file_system"}
    home.aws.denied_words = ""  # a role that lacks the right is no policy of the organisation
    home.clock.now += 60
    assert not units.sweep(spec, kinds, CONFIG, now=home.clock.now, deadline=home.never()).completed


@pytest.mark.parametrize(
    "text",
    ["", "o-x", "ou-ab12-cdef3456", "o-exampleorgid/", "o-exampleorgid/eu-west-1", "o-exampleorgid/tag:env", "o-exampleorgid/ou-x"],
)  # fmt: skip
def test_a_part_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no part of an organisation; allowed: "):
        parse_part(text)


def test_a_part_of_another_organisation_is_named(home: Cloud) -> None:
    joining = Joining(home=home.clients, home_account=ACCOUNT)
    question = parse_question({**EVENT["find"], "parts": ["o-otherorgid0"]})
    found = joining.find(question, CONFIG, now=home.clock.now)
    assert found.specs == ()
    assert "o-exampleorgid, and not in o-otherorgid0" in found.problems[0].error


def test_a_page_names_the_account_as_the_organisation_does(home: Cloud, function: Any) -> None:
    account = join(home, 1, regions=("us-east-1",))
    home.aws.members[account].name = "prod @channel [x](http://y)"
    invoke(function(), home)
    spec = next(spec for spec in map(parse_unit, home.aws.queued) if spec.account == account)
    home.aws.add_instance_type("m5.large", iops=18_750, mb_s=593.75)
    disk = Disk(home, percent=30)
    for _ in range(8):
        disk.minute(iops=3_000)
    units = Units(home=home.clients, connect=connect)
    units.sweep(spec, find_kinds("ebs_volume").values(), CONFIG, now=home.clock.now, deadline=home.never())  # fmt: skip
    (text,) = (
        alarm["AlarmDescription"]
        for name, alarm in home.aws.regions["us-east-1"].alarms.items()
        if disk.id in name
    )
    (where,) = (line for line in text.splitlines() if line.startswith("Where: "))
    name = where.partition(f"{account} (")[2].partition(")/us-east-1")[0]
    assert name.startswith("prod")
    assert "http://" not in where


def test_a_unit_is_the_same_whatever_its_account_is_called() -> None:
    spec = UnitSpec(account=ACCOUNT, region="us-east-1", account_name="prod")
    assert parse_unit(spec.event()).account_name == "prod"
    assert spec == UnitSpec(account=ACCOUNT, region="us-east-1", account_name="production")
