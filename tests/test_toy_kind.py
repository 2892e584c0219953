"""A kind of another dialect than EC2, which no engine code knows of. A short kind to read first."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from burstwatch import kinds
from burstwatch.cli.policies import read_actions
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind
from tests.conftest import Cloud
from tests.kinds.playing import (
    check_listing,
    drain_and_recover,
)

#: A kind that speaks another dialect than EC2: no filters, ``TagList``, small pages, two
#: dimensions, rates, a level that is credits and not percent, names in upper and lower case.
TOY = """
from burstwatch.bucket import Bucket
from burstwatch.history.observations import BucketTerms, Limit, Reporting, Resource, Words
from burstwatch.history.points import DemandPoint
from burstwatch.kinds.base import AtZero, Cause, DemandMetric, Example, Kind, Listing, Tagging, Thing

def identify(item):
    tags = {tag["Key"]: tag["Value"] for tag in item.get("TagList", ())}
    return Thing(id=item["DBInstanceIdentifier"], name=item["DBInstanceIdentifier"], tags=tags, item=item)

class Toy(Kind):
    name, namespace, dimensions = "toy", "AWS/RDS", ("DBInstanceIdentifier", "EngineName")
    inventory = Listing(
        service="rds", operation="DescribeDBInstances", items="DBInstances[]", page_size=20,
        identify=identify, iam_prefix="toys",
    )
    tagging = Tagging(
        service="rds", put_operation="AddTagsToResource", remove_operation="RemoveTagsFromResource",
        arns=("toys:*:*:db:*",), target=lambda thing: {"ResourceName": thing.id},
    )
    level_metrics, is_percent = ("CPUCreditBalance",), False
    demand_metrics = (DemandMetric(name="CPUUtilization", statistic="Average", is_rate=True),)
    console, limits = "toy/home?region={region}#{id}", {"cpu": "the processor"}
    spenders = "the children"
    example = Example(spec={"tier": "the tier"}, load={"cpu_percent": "the load"}, unit="credit", unit_size=60.0)

    def describe(self, thing, related, now):
        # A credit is a minute of one vCPU; this counts in seconds. The node has an id of its own.
        yield Resource(
            kind="toy", id=f"{thing.id}.{thing.item['PromotionTier']}", level_metric="CPUCreditBalance",
            name=thing.name, tags=thing.tags, unit=thing.unit, dimensions=(thing.id, thing.item["Engine"]),
            bucket=Bucket(capacity=576.0 * 60, refill=24.0 * 60 / 3600, burst=2.0),
            limit=Limit(rate=2.0, binding="cpu"), reporting=Reporting(statistic="Average"), words=Words(rate_unit="vCPU"),
            terms=BucketTerms(is_documented=False, highest_verdict=thing.item.get("LicenseModel", "exhausted")),
        )

    def to_ratio(self, resource, value):
        return value / 576.0

    def spent(self, resource, totals, start_s, period_s):
        if "CPUUtilization" not in totals:
            return None
        rate = 2.0 * totals["CPUUtilization"] / 100.0 / period_s
        return DemandPoint(start_s=start_s, period_s=period_s, least=rate, nominal=rate, most=rate)

    def cause(self, resource, rates):
        return Cause(text="much work", rate=2.0) if rates else None

    def at_zero(self, resource):
        return AtZero(short="CPU is billed")

    def fixes(self, resource, demand, rates):
        return ()

    def item_by_hand(self, spec):
        return {"DBInstanceIdentifier": "x", "PromotionTier": spec["tier"], "Engine": "y"}, {}

    def totals(self, resource, load):
        return {"CPUUtilization": load["cpu_percent"]}

KIND = Toy()
"""


TOYS: list[dict[str, Any]] = [
    {"DBInstanceIdentifier": "Orders-DB", "Engine": "Postgres", "PromotionTier": 3, "TagList": [{"Key": "Name", "Value": "db"}]},
    *(
        {"DBInstanceIdentifier": f"Other-{number}", "Engine": "MySQL", "PromotionTier": 15 - number % 16}
        for number in range(30)
    ),
]  # fmt: skip


def toy_examples(items: list[dict[str, Any]]) -> ModuleType:
    """The worked examples of the toy."""
    module = ModuleType("toy_examples")
    module.__dict__.update(ITEMS=items, FOUND={}, VALUES={"CPUUtilization": 60.0})
    return module


@contextmanager
def toy(tmp_path: Path, patch: pytest.MonkeyPatch) -> Iterator[Kind]:
    (tmp_path / "toy.py").write_text(TOY)
    patch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])
    yield find_kinds()["toy"]


def test_a_toy_kind_of_another_dialect_is_found_swept_alarmed_and_recovered(
    cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = find_kinds()
    with toy(tmp_path, monkeypatch) as kind:
        assert {*before, "toy"} == set(find_kinds())
        check_listing(kind.inventory)
        assert "toys:DescribeDBInstances" in read_actions([kind])
        drain_and_recover(cloud, {kind.name: (kind, toy_examples(TOYS[:3]))})


def test_resources_with_ids_of_their_own_are_alarmed_in_every_shard(
    cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with toy(tmp_path, monkeypatch) as kind:
        drain_and_recover(cloud, {kind.name: (kind, toy_examples(TOYS[:3]))}, shards=4)
