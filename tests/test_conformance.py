"""Every kind, against AWS's own service models as botocore ships them, and through the engine.

A new file in ``burstwatch/kinds`` is tested here before its author has written a test; what
it needs is a file of worked examples in ``tests/kinds``.
"""

import gzip
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import botocore
import pytest

from burstwatch import kinds
from burstwatch.aws.look import look
from burstwatch.aws.memory import Memory
from burstwatch.aws.sweep import Sweep
from burstwatch.bucket import worst_time_to_empty
from burstwatch.catalog import read_actions
from burstwatch.cli.main import run
from burstwatch.config import Config
from burstwatch.history.observations import Resource
from burstwatch.history.points import DemandPoint
from burstwatch.kinds import find_kinds
from burstwatch.kinds._ec2 import identified_by
from burstwatch.kinds.base import DemandMetric, Kind, Listing, Scope
from burstwatch.shards import shards_of
from tests.aws.test_sweep import CONFIG, alarms, run_sweep
from tests.conftest import NOW, Cloud
from tests.fake.modelled import Modelled, member
from tests.fake.wire import service_model

KINDS = list(find_kinds().values())
TAG = ("team", "Payments")


def by_name(value: Any) -> str:
    return str(getattr(value, "name", value))


def examples_of(kind: Kind) -> ModuleType:
    return import_module(f"tests.kinds.{kind.name}")


def described(kind: Kind, examples: ModuleType) -> list[Resource]:
    things = [replace(kind.inventory.identify(item), unit="unit") for item in examples.ITEMS]
    return [one for thing in things for one in kind.describe(thing, examples.FOUND, NOW)]


def check_listing(listing: Listing) -> None:
    """Raises KeyError or ValueError for what AWS does not have or does not take."""
    model = service_model(listing.service)
    if listing.operation not in model.operation_names:
        raise KeyError(listing.operation)
    output = model.operation_model(listing.operation).output_shape
    assert output is not None
    item = member(output, listing.items)
    for path in listing.fields:
        member(item, path)
    if listing.page_size is not None:
        least, most = Modelled(listing.service, listing.operation).page_sizes
        # EC2's texts do not say how large a page may be; its fake does.
        if listing.service != "ec2" and not least <= listing.page_size <= most:
            raise ValueError(listing.page_size)


def check_metrics(kind: Kind, examples: ModuleType) -> None:
    """Raises KeyError for a metric or dimension that AWS does not document."""
    for name in kind.dimensions:
        if name not in examples.DOCUMENTED_DIMENSIONS:
            raise KeyError(name)
    for metric in kind.metrics:
        if metric not in examples.DOCUMENTED_METRICS:
            raise KeyError(metric)


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_names_only_operations_and_fields_that_aws_has(kind: Kind) -> None:
    for listing in kind.listings:
        check_listing(listing)


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_names_only_metrics_that_aws_documents(kind: Kind) -> None:
    examples = examples_of(kind)
    check_metrics(kind, examples)
    assert examples.METRICS_PAGE.startswith("https://docs.aws.amazon.com/")
    assert re.fullmatch(r"20\d\d-\d\d", examples.METRICS_READ)


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_narrows_its_calls_only_by_what_its_api_takes(kind: Kind) -> None:
    for listing in kind.listings:
        shape = service_model(listing.service).operation_model(listing.operation).input_shape
        scopes = [
            Scope(),
            Scope(tag=TAG),
            Scope(shard=shards_of(16)[3]),
            Scope(ids=("a", "b")),
        ]
        for scope in scopes:
            assert shape is not None
            assert set(listing.arguments(scope)) <= set(shape.members)


def a_listing(operation: str, items: str, *fields: str) -> Listing:
    return Listing(
        service="ec2", operation=operation, items=items, fields=fields,
        identify=identified_by("VolumeId"), page_size=500,
    )  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        a_listing("DescribeDisks", "Volumes[]"),
        a_listing("DescribeVolumes", "Disks[]"),
        a_listing("DescribeVolumes", "Volumes[]", "Credits"),
        a_listing("DescribeVolumes", "Volumes[]", "Attachments[].Disk"),
        a_listing("CreateVolume", "Attachments[]"),
        replace(a_listing("DescribeDBInstances", "DBInstances[]"), service="rds", page_size=500),
    ],
    ids=["operation", "items", "field", "inner field", "not a list", "too large a page"],
)
def test_what_aws_does_not_have_is_refused(wrong: Listing) -> None:
    with pytest.raises((KeyError, ValueError)):
        check_listing(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"level_metrics": ("BurstCredits",)},
        {"demand_metrics": (DemandMetric(name="VolumeOps"),)},
        {"dimensions": ("Disk",)},
    ],
    ids=["level", "demand", "dimension"],
)
def test_a_metric_or_dimension_that_aws_does_not_document_is_refused(wrong: dict[str, Any]) -> None:
    kind = find_kinds()["ebs_volume"]
    with pytest.raises(KeyError):
        check_metrics(replace(kind, **wrong), examples_of(kind))


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_reads_only_the_fields_that_it_declares(kind: Kind) -> None:
    examples = examples_of(kind)
    read: set[str] = set()
    found = {
        lookup.name: {
            key: Recording(item, "", read, lookup.name)
            for key, item in examples.FOUND[lookup.name].items()
        }
        for lookup in kind.lookups
    }
    for item in examples.ITEMS:
        list(
            kind.describe(
                kind.inventory.identify(Recording(item, "", read, "inventory")), found, NOW
            )
        )
    declared = {f"inventory:{path}" for path in kind.inventory.fields}
    for lookup in kind.lookups:
        declared |= {f"{lookup.name}:{path}" for path in lookup.listing.fields}
    # A path's beginnings are read on the way to its end.
    allowed = declared | {path.rpartition(".")[0] for path in declared}
    allowed |= {path.removesuffix("[]") for path in allowed} | {p.split(".")[0] for p in declared}
    allowed |= {p.split("[]")[0] for p in declared}
    assert read <= allowed


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_describes_its_worked_examples(kind: Kind) -> None:
    examples = examples_of(kind)
    resources = described(kind, examples)
    assert len({resource.key for resource in resources}) == len(resources)
    for resource in resources:
        assert resource.kind == kind.name
        assert resource.level_metric in kind.level_metrics
        assert (resource.bucket is None) == bool(resource.no_bucket_reason)
        assert resource.bucket is None or resource.rate_unit
        assert resource.bucket is None or resource.limit.binding in kind.limits
        assert len(kind.dimensions_of(resource)) == len(kind.dimensions)
    assert any(resource.bucket for resource in resources)
    spent = spent_at(kind, resources[0], examples)
    assert spent.nominal == pytest.approx(examples.NOMINAL_PER_S)
    assert 0 <= spent.least <= spent.nominal <= spent.most


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_has_the_buckets_that_aws_documents(kind: Kind) -> None:
    examples = examples_of(kind)
    found = {resource.key: resource.bucket for resource in described(kind, examples)}
    assert examples.BUCKETS.keys() <= found.keys()
    for key, expected in examples.BUCKETS.items():
        bucket = found[key]
        if expected is None:
            assert bucket is None
            continue
        assert bucket is not None
        worst_s = worst_time_to_empty(bucket, level=bucket.capacity)
        assert (bucket.refill, bucket.burst, bucket.capacity, round(worst_s)) == pytest.approx(
            expected
        )


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_nothing_measured_is_nothing_known_never_zero(kind: Kind) -> None:
    resource = described(kind, examples_of(kind))[0]
    assert kind.spent(resource, {}, NOW, 60) is None
    assert kind.cause(resource, {}) is None


def level_value(kind: Kind, resource: Resource, ratio: float) -> float:
    """The value of the level metric that means this share of the bucket: shares are linear."""
    zero, one = (kind.to_ratio(resource, value) for value in (0.0, 1.0))
    return (ratio - zero) / (one - zero)


def put_levels(
    cloud: Cloud, kind: Kind, resource: Resource, levels: list[float], *, until: float
) -> None:
    """Datapoints, one a minute, the newest of which has just ended."""
    pairs = dict(kind.dimensions_of(resource))
    for back, ratio in enumerate(reversed(levels)):
        at = until - 60.0 * (back + 1)
        value = level_value(kind, resource, ratio)
        cloud.aws.put(kind.namespace, resource.level_metric, pairs, at, value)


def put_examples(cloud: Cloud, kind: Kind, examples: ModuleType) -> None:
    """The worked examples as an account's inventory."""
    for item in examples.ITEMS:
        cloud.aws.add_item(kind.inventory.service, kind.inventory.operation, item)
    for lookup in kind.lookups:
        for item in examples.FOUND[lookup.name].values():
            cloud.aws.add_item(lookup.listing.service, lookup.listing.operation, item)


def spent_at(kind: Kind, resource: Resource, examples: ModuleType) -> DemandPoint:
    """What one minute of the worked examples costs a resource."""
    totals = {
        metric.name: metric.total(examples.VALUES[metric.name], 60.0)
        for metric in kind.demand_metrics
    }
    spent = kind.spent(resource, totals, NOW, 60)
    assert spent is not None
    return spent


def to_the_limit(kind: Kind, resource: Resource, examples: ModuleType) -> float:
    """So many times the worked example is all that a resource can spend."""
    assert resource.bucket is not None
    return resource.bucket.burst / spent_at(kind, resource, examples).nominal


def sweep_kinds(cloud: Cloud, some: Iterable[Kind], memory: Memory) -> Sweep:
    names = ",".join(kind.name for kind in some)
    return run_sweep(cloud, memory, config=replace(CONFIG, kinds=names, mass_from=50.0))


def drain(cloud: Cloud, kind: Kind, examples: ModuleType, victims: list[Resource]) -> None:
    """Forty minutes at the limit, five minutes before the end."""
    for victim in victims:
        bucket = victim.bucket
        assert bucket is not None
        step = (bucket.burst - bucket.refill) * 60.0 / bucket.capacity
        left = min(0.02, 5 * step)
        levels = [min(1.0, left + step * back) for back in range(40)]
        put_levels(cloud, kind, victim, levels[::-1], until=NOW)
        # A thing with several buckets reaches the limit of one of them first.
        factor = min(to_the_limit(kind, one, examples) for one in victims if one.id == victim.id)
        for metric in kind.demand_metrics:
            for back in range(1, 40):
                value = examples.VALUES[metric.name] * factor
                pairs = dict(kind.dimensions_of(victim))
                cloud.aws.put(kind.namespace, metric.name, pairs, NOW - 60.0 * back, value)


def drain_and_recover(
    cloud: Cloud, fleet: Mapping[str, tuple[Kind, ModuleType]], *, shards: int = 1
) -> None:
    """Every example that can run dry is seen, alarmed and recovered, by sweeps of each shard."""
    some = [kind for kind, _ in fleet.values()]
    for kind, examples in fleet.values():
        put_examples(cloud, kind, examples)
    found = look(
        cloud.unit, some, cloud.clients, Config(), Memory(), now=NOW, deadline=cloud.never()
    )
    assert found.problems == ()
    victims = [one for one, _ in found.buckets if one.can_spend]
    assert {one.kind for one in victims} == set(fleet)
    for kind, examples in fleet.values():
        drain(cloud, kind, examples, [one for one in victims if one.kind == kind.name])
    memories = [Memory(shard=shard) for shard in shards_of(shards)]
    ids = {victim.id for victim in victims}
    for _ in range(2):
        swept = [sweep_kinds(cloud, some, memory) for memory in memories]
        assert all(one.completed for one in swept)
        assessed = {key: entry for one in swept for key, entry in one.found.assessments.items()}
        assert {assessed[one][1].verdict for one in ids} <= {"critical", "exhausted"}
        cloud.aws.evaluate_alarms()
        raised = {name.split("/")[-2] for name, state in alarms(cloud).items() if state == "ALARM"}
        assert raised == ids
        cloud.clock.now += 60.0
    there = cloud.aws.regions[cloud.unit.region].alarms
    assert {name.split("/")[-2] for name in there} == ids
    for victim in victims:
        (text,) = (
            one["AlarmDescription"] for name, one in there.items() if f"/{victim.id}/" in name
        )
        assert any(one.rate_unit in text for one in victims if one.id == victim.id)
    cloud.clock.now += 3 * 3_600.0
    for back in range(6):
        for victim in victims:
            kind = fleet[victim.kind][0]
            put_levels(cloud, kind, victim, [1.0] * (1 if back else 100), until=cloud.clock.now)
        for memory in memories:
            sweep_kinds(cloud, some, memory)
        cloud.aws.evaluate_alarms()
        cloud.clock.now += 60.0
    assert alarms(cloud) == {}


@pytest.mark.parametrize("shards", [1, 4])
@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_is_swept_alarmed_and_recovered(kind: Kind, shards: int, cloud: Cloud) -> None:
    drain_and_recover(cloud, {kind.name: (kind, examples_of(kind))}, shards=shards)


def test_a_fleet_of_every_kind_is_swept_alarmed_and_recovered_together(cloud: Cloud) -> None:
    drain_and_recover(cloud, {kind.name: (kind, examples_of(kind)) for kind in KINDS})


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_is_seen_by_scan_by_tag_and_by_shard(kind: Kind, cloud: Cloud) -> None:
    examples = examples_of(kind)
    put_examples(cloud, kind, examples)
    out, err = StringIO(), StringIO()
    env = {**os.environ, "BURSTWATCH_KINDS": kind.name}
    code = run(["scan", "--json"], stdout=out, stderr=err, env=env, clock=cloud.clock)
    assert (code, err.getvalue()) == (0, "")
    everything = {json.loads(line)["id"] for line in out.getvalue().splitlines()}
    assert everything == {one.id for one in described(kind, examples)}

    def ids(**scope: Any) -> set[str]:
        config = Config(tag_filter=scope.get("tag_filter", ""))
        found = look(
            cloud.unit, [kind], cloud.clients, config, Memory(shard=scope.get("shard", shards_of(1)[0])),
            now=NOW, deadline=cloud.never(),
        )  # fmt: skip
        return set(found.assessments)

    parts = [ids(shard=shard) for shard in shards_of(4)]
    assert set().union(*parts) == everything
    assert sum(map(len, parts)) == len(everything)
    tagged = {one.id for one in described(kind, examples) if one.tags.get("Name") == "db"}
    assert ids(tag_filter="Name=db") == tagged != set()
    assert ids(tag_filter="Name=no such") == set()


class Recording(dict[str, Any]):
    """A dictionary that notes which paths are read in it."""

    def __init__(self, item: dict[str, Any], path: str, read: set[str], root: str) -> None:
        super().__init__(item)
        self._path, self._read, self._root = path, read, root

    def _note(self, key: str) -> str:
        path = f"{self._path}.{key}" if self._path else key
        self._read.add(f"{self._root}:{path}")
        return path

    def _wrap(self, key: str, value: Any) -> Any:
        path = self._note(key)
        if isinstance(value, dict):
            return Recording(value, path, self._read, self._root)
        if isinstance(value, list):
            return [
                Recording(entry, f"{path}[]", self._read, self._root)
                if isinstance(entry, dict)
                else entry
                for entry in value
            ]
        return value

    def __getitem__(self, key: str) -> Any:
        return self._wrap(key, super().__getitem__(key))

    def get(self, key: str, default: Any = None) -> Any:
        return self._wrap(key, super().get(key, default))


#: A kind that speaks another dialect than EC2: no filters, ``TagList``, small pages, two
#: dimensions, rates, a level that is credits and not percent, names in upper and lower case.
TOY = """
from burstwatch.bucket import Bucket
from burstwatch.history.observations import Limit, Resource
from burstwatch.history.points import DemandPoint
from burstwatch.kinds.base import Cause, DemandMetric, Kind, Listing, Thing

def identify(item):
    tags = {tag["Key"]: tag["Value"] for tag in item.get("TagList", ())}
    return Thing(id=item["DBInstanceIdentifier"], name=item["DBInstanceIdentifier"], tags=tags, item=item)

def describe(thing, found, now):
    # A credit is a minute of one vCPU; this counts in seconds. The node has an id of its own.
    yield Resource(
        kind="toy", id=f"{thing.id}.{thing.item['PromotionTier']}", level_metric="CPUCreditBalance",
        name=thing.name, tags=thing.tags, unit=thing.unit, dimensions=(thing.id, thing.item["Engine"]),
        bucket=Bucket(capacity=576.0 * 60, refill=24.0 * 60 / 3600, burst=2.0),
        limit=Limit(rate=2.0, binding="cpu"), statistic="Average", rate_unit="vCPU",
        is_documented=False, highest_verdict=thing.item.get("LicenseModel", "exhausted"),
    )

def spent(resource, totals, start_s, period_s):
    used = totals.get("CPUUtilization")
    if used is None:
        return None
    rate = 2.0 * used / 100.0 / period_s
    return DemandPoint(start_s=start_s, period_s=period_s, least=rate, nominal=rate, most=rate)

KIND = Kind(
    name="toy", namespace="AWS/RDS", dimensions=("DBInstanceIdentifier", "EngineName"),
    inventory=Listing(
        service="rds", operation="DescribeDBInstances", items="DBInstances[]", page_size=20,
        fields=("DBInstanceIdentifier", "Engine", "LicenseModel", "PromotionTier", "TagList[].Key", "TagList[].Value"),
        identify=identify, iam_prefix="toys",
    ),
    level_metrics=("CPUCreditBalance",), to_ratio=lambda resource, value: value / 576.0,
    demand_metrics=(DemandMetric(name="CPUUtilization", statistic="Average", is_rate=True),),
    describe=describe, spent=spent, limits={"cpu": "the processor"},
    cause=lambda resource, rates: Cause(text="much work", rate=2.0) if rates else None,
    at_zero=lambda resource: "at zero it costs money by the vCPU",
    fixes=lambda resource, level, demand, rates: (),
)
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
    with toy(tmp_path, monkeypatch) as kind:
        assert set(find_kinds()) == {*(one.name for one in KINDS), "toy"}
        check_listing(kind.inventory)
        assert "toys:DescribeDBInstances" in read_actions([kind])
        drain_and_recover(cloud, {kind.name: (kind, toy_examples(TOYS[:3]))})


def test_resources_with_ids_of_their_own_are_alarmed_in_every_shard(
    cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with toy(tmp_path, monkeypatch) as kind:
        drain_and_recover(cloud, {kind.name: (kind, toy_examples(TOYS[:3]))}, shards=4)


def test_a_toy_kind_without_filters_is_narrowed_by_the_engine_and_paged(
    cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with toy(tmp_path, monkeypatch) as kind:
        put_examples(cloud, kind, toy_examples(TOYS))

        def ids(config: Config, memory: Memory) -> list[str]:
            found = look(
                cloud.unit, [kind], cloud.clients, config, memory, now=NOW, deadline=cloud.never()
            )
            assert found.problems == ()
            return sorted(found.assessments)

        everything = sorted(f"{one['DBInstanceIdentifier']}.{one['PromotionTier']}" for one in TOYS)
        assert ids(Config(), Memory()) == everything
        assert cloud.aws.counted["DescribeDBInstances"] == 2  # twenty on a page
        assert ids(Config(tag_filter="Name=d*"), Memory()) == ["Orders-DB.3"]
        parts = [ids(Config(), Memory(shard=shard)) for shard in shards_of(4)]
        assert sorted(one for part in parts for one in part) == everything
        assert all(parts)


def test_a_bucket_whose_end_only_costs_money_never_pages(
    cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with toy(tmp_path, monkeypatch) as kind:
        cheap = {**TOYS[0], "LicenseModel": "warning"}
        cloud.aws.add_item("rds", "DescribeDBInstances", cheap)
        (victim,) = kind.describe(kind.inventory.identify(cheap), {}, NOW)
        put_levels(cloud, kind, victim, [0.02 - 0.0002 * n for n in range(40)], until=NOW)
        swept = sweep_kinds(cloud, [kind], Memory())
        assert swept.found.assessments["Orders-DB.3"][1].verdict == "warning"
        assert [name.rpartition("/")[2] for name in alarms(cloud)] == ["warning"]


def test_a_rate_is_the_same_demand_whatever_its_period_is() -> None:
    rate, total = DemandMetric(name="r", statistic="Average", is_rate=True), DemandMetric(name="t")
    assert rate.total(50.0, 300.0) == total.total(15_000.0, 300.0)


def test_no_model_is_missing_from_this_botocore() -> None:
    """The checks above read files of botocore; an empty loader would let anything pass."""
    path = Path(botocore.__file__).parent / "data" / "ec2"
    newest = max(entry for entry in path.iterdir() if entry.is_dir())
    with gzip.open(newest / "service-2.json.gz") as file:
        assert "DescribeVolumes" in json.load(file)["operations"]
