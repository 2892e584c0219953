"""Alarms carry the tags of the stack, and no page waits for a tag."""

from dataclasses import replace
from typing import Any

import pytest

from burstwatch.aws.client.names import NOT_PAGED, standby_arn, standby_name
from burstwatch.aws.drill.steps import take_step
from tests.aws.standby import deploy_standby
from tests.aws.sweeping import CONFIG, TOPIC, Disk, run_sweep
from tests.conftest import Cloud
from tests.fake.wire import WireError

STACK = {"application": "burstwatch", "cost-center": "4711"}


@pytest.fixture
def tagged(cloud: Cloud) -> Cloud:
    """A deployment whose alarms have the tags of its stack, one of AWS's own and one of ours."""
    deploy_standby(cloud)
    name = standby_name(CONFIG.deployment, NOT_PAGED)
    others = {"aws:cloudformation:stack-name": "Burstwatch", "burstwatch:members-01": "abcde"}
    cloud.aws.regions["us-east-1"].alarm_tags[name] = {**STACK, **others}
    return cloud


def burn(cloud: Cloud, count: int = 1) -> None:
    disks = [Disk(cloud, percent=40) for _ in range(count)]
    began = cloud.clock.now
    for minute in range(5):
        for disk in disks:
            cloud.clock.now = began + 60 * minute
            disk.minute(iops=3_000)


def tags_of_ours(cloud: Cloud) -> dict[str, dict[str, str]]:
    region = cloud.aws.regions["us-east-1"]
    return {
        name: region.alarm_tags[name] for name in region.alarms if name.startswith("burstwatch.")
    }


def test_an_alarm_has_the_tags_of_the_stack_and_no_others(tagged: Cloud) -> None:
    burn(tagged)
    assert run_sweep(tagged, config=CONFIG).completed
    assert list(tags_of_ours(tagged).values()) == [STACK]


def test_an_alarm_of_many_has_them_beside_its_own(tagged: Cloud) -> None:
    burn(tagged, 25)
    assert run_sweep(tagged, config=CONFIG).completed
    (tags,) = tags_of_ours(tagged).values()
    assert STACK.items() <= tags.items()
    assert any(key.startswith("burstwatch:") for key in tags)


def test_the_alarm_of_a_drill_has_them(tagged: Cloud) -> None:
    for step in ("begin", "alarm"):
        asked = {"id": "drill-1", "severity": "critical", "step": step}
        take_step(asked, tagged.clients, CONFIG, now=tagged.clock.now)
    assert list(tags_of_ours(tagged).values()) == [STACK]


@pytest.mark.parametrize("fault", ["refused by AWS", "not readable"])
def test_no_page_waits_for_a_tag(tagged: Cloud, fault: str) -> None:
    if fault == "refused by AWS":
        tagged.aws.refuses_tags = True
    else:
        tagged.aws.before["ListTagsForResource"] = _refuse
    burn(tagged)
    result = run_sweep(tagged, config=CONFIG)
    assert len(result.created) == 1
    assert list(tags_of_ours(tagged).values()) == [{}]
    assert [problem.part for problem in result.problems if "tags" in problem.part]


def _refuse(params: dict[str, Any]) -> None:
    if params["ResourceARN"] == standby_arn(CONFIG, NOT_PAGED):
        raise WireError("AccessDenied", "not authorized", 403)


def test_an_alarm_of_one_resource_has_every_tag_of_the_stack(tagged: Cloud) -> None:
    name = standby_name(CONFIG.deployment, NOT_PAGED)
    many = {f"team-{number:02}": "x" for number in range(40)}
    tagged.aws.regions["us-east-1"].alarm_tags[name] = many
    burn(tagged)
    run_sweep(tagged, config=CONFIG)
    assert [len(tags) for tags in tags_of_ours(tagged).values()] == [40]


@pytest.mark.parametrize(
    ("topic", "arn"),
    [
        (TOPIC, "arn:aws:cloudwatch:us-east-1:123456789012:alarm:burstwatch-burstwatch-not-paged"),
        ("arn:aws-cn:sns:cn-north-1:123456789012:page", "arn:aws-cn:cloudwatch:cn-north-1:123456789012:alarm:burstwatch-burstwatch-not-paged"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_alarm_whose_tags_are_read_is_where_the_topic_is(topic: str, arn: str) -> None:
    assert standby_arn(replace(CONFIG, page_topic_arn=topic), NOT_PAGED) == arn


def test_without_a_stack_nothing_is_asked(cloud: Cloud) -> None:
    burn(cloud)
    run_sweep(cloud, config=replace(CONFIG, page_topic_arn=""))
    assert cloud.aws.counted["ListTagsForResource"] == 0
