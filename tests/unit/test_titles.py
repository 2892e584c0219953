"""Two resources are told apart by their titles and their alarms, however long their names are."""

import itertools
import random
import string
from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from burstwatch.aws.client.names import alarm_name, plain_part
from burstwatch.config import Config
from burstwatch.forecast.policy import assess
from burstwatch.formatting import balance, number, plain_name, shortened
from burstwatch.history.background import make_background
from burstwatch.history.observations import Resource, observe
from burstwatch.history.points import DemandPoint, LevelPoint
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind, Thing
from burstwatch.messages.brief import make_brief
from burstwatch.messages.message import SHORTEST_NAME, TITLE_LENGTH, over_message, title_of
from burstwatch.messages.timeline import Timeline
from tests.unit.every_bucket import START, buckets

SAYS = (
    "burst credits run out in 4 min 40 s at this load (14:20Z), then 300 of 3,000 IOPS",
    "credits out in 51 min at this load (15:13Z), then extra CPU is billed",
    "out (14:20Z), then 10% of 2 vCPUs",
)
#: Names of replicas, as Kubernetes and people make them.
FAMILIES = (
    "kafka/data-kafka-{}", "elastic-system/elasticsearch-data-logs-es-hot-{}", "monitoring/prometheus-k8s-db-prometheus-k8s-{}",
    "production-orders-service-database-replica-{}", "pvc-0b1a7a52-{}", "ns/team-a/volume-{}",
)  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("says", SAYS)
def test_replicas_never_share_a_title_or_an_alarm_name(family: str, says: str) -> None:
    names = [family.format(number) for number in range(120)]
    titles = {title_of("CRITICAL", plain_name(name), says) for name in names}
    assert len(titles) == len(names)
    assert len({plain_part(name) for name in names}) == len(names)
    assert max(map(len, titles)) <= TITLE_LENGTH


@given(
    start=st.text(string.ascii_lowercase + "-/", max_size=80),
    ends=st.lists(st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=7), min_size=2, max_size=2, unique=True),
)  # fmt: skip
def test_names_that_end_otherwise_are_shortened_otherwise(start: str, ends: list[str]) -> None:
    first, second = (shortened(f"{start}{end}", SHORTEST_NAME) for end in ends)
    assert first != second
    assert max(len(first), len(second)) <= SHORTEST_NAME


def test_what_is_left_of_a_name_is_its_end() -> None:
    assert shortened("kafka/data-kafka-0", 16) == "…/data-kafka-0"
    assert (
        shortened("elastic-system/elasticsearch-data-logs-es-hot-2", 20) == "elasti…logs-es-hot-2"
    )
    assert plain_name("a" * 40 + "-7").endswith("-7")
    assert alarm_name("ns/" + "b" * 60 + "-9", "vol-1", "critical", deployment="x").split("/")[1].endswith("-9")  # fmt: skip


def test_a_small_number_is_not_called_nothing() -> None:
    rng = random.Random(0)  # noqa: S311 - the same numbers each time
    for value in [0.00098, 0.0477, 0.04, 1e-9, *(10 ** rng.uniform(-12, 3) for _ in range(500))]:
        assert number(value) not in {"0", "0.0", "-0"}
        assert balance(min(1.0, value)) != "0%"
    assert (number(0), balance(0.0)) == ("0", "0%")
    assert (number(0.00098), number(0.04), number(1e-9)) == ("under 0.001", "0.04", "under 0.001")


@pytest.mark.parametrize(
    ("name", "length", "expected"),
    [
        ("/company/payments/production/postgres/", 32, "…/postgres/"),
        ("namespace/" + "a" * 31, 32, "a" * 31),
        ("namespace/" + "a" * 30, 32, "…/" + "a" * 30),
    ],
)
def test_the_end_of_a_path_stands_whole_where_it_fits(
    name: str, length: int, expected: str
) -> None:
    assert shortened(name, length).rstrip("/") == expected.rstrip("/")


@example(0.005)
@given(st.floats(min_value=0.0, max_value=1.0, exclude_min=True))
def test_what_is_left_is_never_said_to_be_nothing(ratio: float) -> None:
    assert balance(ratio) != "0%"


@pytest.mark.parametrize(
    "host", ["prod-payments-postgres-01", "a-very-long-name-of-a-host-that-is-cut-02"]
)
def test_the_title_of_a_volume_without_a_name_keeps_the_end_of_its_hosts_name(host: str) -> None:
    item = {
        "VolumeId": "vol-1", "VolumeType": "gp2", "Size": 100, "State": "in-use",
        "Attachments": [{"InstanceId": "i-1", "Device": "/dev/sdf", "State": "attached"}],
    }  # fmt: skip
    kind = find_kinds()["ebs_volume"]
    thing = Thing(id="vol-1", name="", tags={}, item=item, unit="123456789012/us-east-1")
    related: dict[str, dict[str, Any]] = defaultdict(dict)
    related["instances"] = {"i-1": {"InstanceId": "i-1", "Tags": [{"Key": "Name", "Value": host}]}}
    (resource,) = kind.describe(thing, related, 0.0)
    title = title_of("CRITICAL", resource.words.host, "out of credits in 1 min at this load (14:33Z), then 300 of 3,000 IOPS")  # fmt: skip
    assert f"{host[-3:]} sdf:" in title


@pytest.mark.parametrize(
    ("kind", "resource"), [pytest.param(*entry, id=entry[1].key) for entry in buckets()]
)
def test_an_id_that_aws_makes_stands_whole_in_the_title_of_every_end(
    kind: Kind, resource: Resource
) -> None:
    """So that it can be searched for."""
    own_id = "vol-0123456789abcdef0"
    nameless = replace(resource, id=own_id, name="", words=replace(resource.words, host=""))
    bucket, period_s = resource.bucket, resource.reporting.published_every_s
    assert bucket is not None
    times = [START + number * period_s for number in range(60)]
    demand = [DemandPoint(at, period_s, bucket.burst, bucket.burst, bucket.burst) for at in times]
    now = times[-1] + period_s
    for ratio, changed, ended in itertools.product(
        (0.0, 0.01, 0.2, 1.0), (nameless, replace(nameless, bucket=None)), (None, now - 600)
    ):
        levels = [LevelPoint(at, period_s, ratio, resource.reporting.statistic) for at in times]
        observation = observe(nameless, now, levels, demand)
        assessment = assess(observation, Config())
        background = make_background(observation.history, {}, now)
        brief = make_brief(changed, assessment, kind, background)
        timeline = Timeline(opened_s=now - 3_600, paged_s=now - 1_800, empty_s=ended, over_s=now)
        over = over_message(brief, own_id, nameless.unit, timeline, Config().links, at=now)
        assert own_id in over.title
        assert len(over.title) <= TITLE_LENGTH
