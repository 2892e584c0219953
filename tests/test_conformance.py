"""Every kind, against AWS's own service models as botocore ships them, and through the engine.

A new file in ``burstwatch/kinds`` is tested here before its author has written a test; what
it needs is a file of worked examples in ``tests/kinds``.
"""

import gzip
import json
import os
import re
from dataclasses import asdict, replace
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import botocore
import pytest
from botocore.validate import ParamValidator

from burstwatch.aws.client.pace import Pace
from burstwatch.aws.inventory.listings import TOKENS, ListingReader
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import look
from burstwatch.bucket import worst_time_to_empty
from burstwatch.cli.main import run
from burstwatch.config import Config
from burstwatch.kinds import find_kinds
from burstwatch.kinds._by_hand import described_by_hand
from burstwatch.kinds.base import DemandMetric, Kind, Listing, Scope, identified_by
from burstwatch.shards import shards_of, thing_id
from tests.conftest import NOW, Cloud
from tests.fake.modelled import member
from tests.fake.wire import paginators, service_model
from tests.kinds.life import live
from tests.kinds.playing import (
    check_listing,
    described,
    drain,
    drain_and_recover,
    examples_of,
    item_shape,
    put_examples,
    spent_at,
)

KINDS = list(find_kinds().values())
TAG = ("team", "Payments")
#: The inner loop plays two kinds through whole lives; `make test` plays all.
PLAYED_ALWAYS = {"ebs_volume", "rds_storage"}
PLAYED = [
    pytest.param(kind, id=kind.name, marks=() if kind.name in PLAYED_ALWAYS else pytest.mark.slow)
    for kind in KINDS
]


def by_name(value: Any) -> str:
    return str(getattr(value, "name", value))


def check_metrics(kind: Kind, examples: ModuleType) -> None:
    """Raises KeyError for a metric or dimension that AWS does not document."""
    for name in kind.dimensions:
        if name not in examples.DOCUMENTED_DIMENSIONS:
            raise KeyError(name)
    charges = [kind.charge_metric] if kind.charge_metric else []
    for metric in (*kind.metrics, *charges, *(check.metric for check in kind.checks)):
        if metric not in examples.DOCUMENTED_METRICS:
            raise KeyError(metric)


#: Members of requests without which AWS leaves something out of a list.
HIDES = {"IncludeManagedResources"}


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


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_asks_for_what_aws_hides_by_default(kind: Kind) -> None:
    for listing in kind.listings:
        shape = service_model(listing.service).operation_model(listing.operation).input_shape
        assert shape is not None
        for name in HIDES & set(shape.members):
            assert listing.arguments(Scope())[name] is True


def a_listing(operation: str, items: str) -> Listing:
    return Listing(
        service="ec2", operation=operation, items=items,
        identify=identified_by("VolumeId"), page_size=500,
    )  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        a_listing("DescribeDisks", "Volumes[]"),
        a_listing("DescribeVolumes", "Disks[]"),
        a_listing("CreateVolume", "Attachments[]"),
        replace(a_listing("DescribeDBInstances", "DBInstances[]"), service="rds", page_size=500),
        replace(a_listing("DescribeVolumes", "Volumes[]"), page_size=None),
    ],
    ids=[
        "operation",
        "items",
        "not a list",
        "too large a page",
        "no pages",
    ],
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
        check_metrics(type("Wrong", (type(kind),), wrong)(), examples_of(kind))


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_puts_and_removes_a_tag_as_its_api_takes_it(kind: Kind) -> None:
    thing = kind.inventory.identify(examples_of(kind).ITEMS[0])
    tagging, model = kind.tagging, service_model(kind.tagging.service)
    for operation, arguments in {
        tagging.put_operation: tagging.put(thing, "key", "value"),
        tagging.remove_operation: tagging.remove(thing, "key"),
    }.items():
        shape = model.operation_model(operation).input_shape
        assert shape is not None
        assert ParamValidator().validate(arguments, shape).generate_report() == ""


@pytest.mark.parametrize("kind", PLAYED)
def test_a_snoozed_resource_stays_silent_says_so_and_is_heard_again(
    kind: Kind, cloud: Cloud
) -> None:
    def burstwatch(*args: str) -> str:
        out, err = StringIO(), StringIO()
        code = run(args, stdout=out, stderr=err, env=os.environ, clock=cloud.clock)
        assert (code, err.getvalue()) == (0, "")
        return out.getvalue()

    victim = live(
        cloud,
        kind,
        before=lambda one: burstwatch("snooze", one, "2h", "--reason", "it is being replaced"),
    )
    assert cloud.aws.notifications == []
    assert cloud.aws.published == []
    assert f"{thing_id(victim.id)} is no longer snoozed" in burstwatch("unsnooze", victim.id)
    assert burstwatch("unsnooze", victim.id) == f"{thing_id(victim.id)} is not snoozed\n"


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_reads_only_what_aws_answers(kind: Kind) -> None:
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
    listings = {"inventory": kind.inventory} | {one.name: one.listing for one in kind.lookups}
    items = {name: item_shape(listing) for name, listing in listings.items()}
    assert read
    for one in read:
        name, _, path = one.partition(":")
        member(items[name], path)  # KeyError for what AWS does not answer


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_describes_its_worked_examples(kind: Kind) -> None:
    examples = examples_of(kind)
    resources = described(kind, examples)
    assert len({resource.key for resource in resources}) == len(resources)
    for resource in resources:
        assert resource.kind == kind.name
        assert resource.level_metric in kind.level_metrics
        assert "/" not in resource.id  # which divides the parts of an alarm's name
        # What is not watched says so: only what has no credits at all may be called well.
        reasons = [resource.terms.no_bucket_reason, resource.terms.not_watched]
        assert sum(map(bool, reasons)) == (resource.bucket is None)
        assert resource.bucket is None or resource.words.rate_unit
        assert resource.bucket is None or resource.limit.binding in kind.limits
        assert len(kind.dimensions_of(resource)) == len(kind.dimensions)
    assert any(resource.bucket for resource in resources)
    assert {
        value: kind.to_ratio(resources[0], value) for value in examples.LEVELS
    } == examples.LEVELS
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


@pytest.mark.parametrize("shards", [1, 4])
@pytest.mark.parametrize("kind", PLAYED)
def test_a_kind_is_swept_alarmed_and_recovered(kind: Kind, shards: int, cloud: Cloud) -> None:
    drain_and_recover(cloud, {kind.name: (kind, examples_of(kind))}, shards=shards)


@pytest.mark.slow
def test_a_fleet_of_every_kind_is_swept_alarmed_and_recovered_together(cloud: Cloud) -> None:
    drain_and_recover(cloud, {kind.name: (kind, examples_of(kind)) for kind in KINDS})


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_is_seen_by_scan_by_tag_and_by_shard(kind: Kind, cloud: Cloud) -> None:
    examples = examples_of(kind)
    put_examples(cloud, kind, examples)
    out, err = StringIO(), StringIO()
    code = run(
        ["scan", "--kind", kind.name, "--json"], stdout=out, stderr=err, env=os.environ, clock=cloud.clock
    )  # fmt: skip
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
    tagged = {one.id for one in described(kind, examples) if one.tags.get("Name") == "orders-db"}
    assert ids(tag_filter="Name=orders-db") == tagged != set()
    assert ids(tag_filter="Name=no such") == set()


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_says_whether_people_choose_its_ids(kind: Kind) -> None:
    """Two regions may have databases of one name: their metrics must differ. Ids such as vol-0123 are AWS's."""
    ids = {kind.inventory.identify(item).id for item in examples_of(kind).ITEMS}
    are_of_aws = {bool(re.fullmatch(r"(vol|i|fs|fsvol)-[0-9a-f]{8,17}", one)) for one in ids}
    assert are_of_aws == {not kind.inventory.has_names}


#: Fleets of volumes and instances are of many pages in other tests.
@pytest.mark.parametrize(
    "kind", [one for one in KINDS if one.inventory.service != "ec2"], ids=by_name
)
def test_every_page_of_a_kinds_inventory_is_read(kind: Kind, cloud: Cloud) -> None:
    listing, (item, *_) = kind.inventory, examples_of(kind).ITEMS
    assert listing.page_size is not None
    cloud.aws.regions["us-east-1"].items[listing.service, listing.operation] = [item] * (
        2 * listing.page_size + 1
    )
    reader = ListingReader(clients=cloud.clients, pace=Pace(), deadline=cloud.never())
    items, is_whole = reader.read(listing, Scope())
    assert (len(items), is_whole) == (2 * listing.page_size + 1, True)
    assert reader.calls == 3


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_resource_says_how_it_would_be_described_by_hand(kind: Kind) -> None:
    for resource in described(kind, examples_of(kind)):
        is_changing = resource.id in examples_of(kind).FOUND.get("modifications", {})
        if resource.bucket is None or is_changing or not resource.terms.is_sized:
            continue
        by_hand = {one.level_metric: one for one in described_by_hand(kind, resource.spec)}
        again = by_hand[resource.level_metric]
        assert again.terms.is_documented == resource.terms.is_documented
        assert again.bucket is not None
        assert asdict(again.bucket) == pytest.approx(asdict(resource.bucket))


@pytest.mark.parametrize("kind", PLAYED)
def test_what_export_saves_is_replayed_explained_and_the_same_from_the_account(
    kind: Kind, cloud: Cloud, tmp_path: Path
) -> None:
    examples = examples_of(kind)
    put_examples(cloud, kind, examples)
    found = look(
        cloud.unit, [kind], cloud.clients, Config(), Memory(), now=NOW, deadline=cloud.never()
    )
    victims = [one for one, _ in found.assessments.values() if one.bucket]
    # Of a volume that is being changed the file does not know since when.
    victim = next(one for one in victims if one.id not in examples.FOUND.get("modifications", {}))
    drain(cloud, kind, examples, [one for one in victims if one.id == victim.id])
    cloud.clock.now = NOW

    def burstwatch(*args: str) -> str:
        out, err = StringIO(), StringIO()
        code = run(args, stdout=out, stderr=err, env=os.environ, clock=cloud.clock)
        assert code == 0
        assert all(
            "is the lowest of the balances in the file" in line
            for line in err.getvalue().splitlines()
        )
        return out.getvalue()

    saved = tmp_path / "saved.csv.gz"
    told = burstwatch("export", victim.id, "--days", "1", "--kind", kind.name, "-o", str(saved))
    assert f" in {saved}" in told
    moments = [
        json.loads(line)
        for line in burstwatch("explain", str(saved), "--every-period", "--json").splitlines()
    ]
    assert moments[-1]["balance"] < 0.1
    assert {"critical", "exhausted", "warning"} & {one["verdict"] for one in moments}
    of_file = burstwatch("explain", str(saved), "--json")
    of_account = burstwatch("explain", victim.id, "--kind", kind.name, "--json")
    saved_story, story = json.loads(of_file), json.loads(of_account)
    assert saved_story["pages"] == story["pages"]
    assert saved_story["run_out"] == story["run_out"]


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


def test_a_rate_is_the_same_demand_whatever_its_period_is() -> None:
    rate, total = DemandMetric(name="r", statistic="Average", is_rate=True), DemandMetric(name="t")
    assert rate.total(50.0, 300.0) == total.total(15_000.0, 300.0)


def test_no_model_is_missing_from_this_botocore() -> None:
    """The checks above read files of botocore; an empty loader would let anything pass."""
    path = Path(botocore.__file__).parent / "data" / "ec2"
    newest = max(entry for entry in path.iterdir() if entry.is_dir())
    with gzip.open(newest / "service-2.json.gz") as file:
        assert "DescribeVolumes" in json.load(file)["operations"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_token_of_every_listing_is_one_that_the_inventory_knows(kind: Kind) -> None:
    for listing in kind.listings:
        if listing.page_size is not None:
            assert paginators(listing.service)[listing.operation]["output_token"] in TOKENS


def test_two_things_of_one_name_in_two_services_are_two_resources() -> None:
    ids: dict[str, set[str]] = {}
    for kind in find_kinds().values():
        if kind.inventory.has_names:
            ids.setdefault(kind.resource_id("carts"), set()).add(kind.inventory.service)
    assert {
        resource_id: services for resource_id, services in ids.items() if len(services) > 1
    } == {}


BEGINNINGS = {"finite": "runs out in ", "exhausted": "has run out: "}


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0, 1.5])
@pytest.mark.parametrize("balance", ["0", "0.1", "100"])
def test_the_first_line_of_whatif_says_what_its_numbers_say(
    kind: Kind, share: float, balance: str
) -> None:
    """For each kind, from no load to half more than its example, with a bucket that is full, nearly empty and empty."""
    examples = examples_of(kind)
    load = {name: str(float(value) * share) for name, value in examples.LOAD.items()}
    flags = [
        part
        for name, value in {**examples.SPEC, **load}.items()
        for part in (f"--{name.replace('_', '-')}", str(value))
    ]
    told, numbers = (
        in_memory("whatif", "--kind", kind.name, *flags, "--balance-percent", balance, *form)
        for form in ((), ("--json",))
    )
    answer = json.loads(numbers)
    worst_s = answer["worst_s"]
    if answer["state"] == "infinite":
        begins = "empty now" if worst_s == 0 else "does not run out at this load"
    else:
        begins = BEGINNINGS[answer["state"]]
    assert told.startswith(begins)


@pytest.mark.parametrize(
    "stated",
    [
        *(f"--kind fsx_file_server --throughput-capacity {capacity} --mib-s 100" for capacity in (8, 16, 32, 64, 512, 4608)),
        *(f"--type {name} --size-gib 1024 --iops 100" for name in ("gp2", "gp3", "io1", "io2", "standard")),
        "--kind ec2_instance_ebs --type m5.24xlarge --iops 100 --baseline-iops 80000 --maximum-iops 80000 --baseline-mb-s 2375 --maximum-mb-s 2375",
    ],
)  # fmt: skip
def test_whatif_without_a_bucket_says_why_and_claims_nothing(stated: str) -> None:
    answer = json.loads(in_memory("whatif", *stated.split(), "--json"))
    assert answer["reason"]
    if answer["capacity"] is None:
        first, *_ = in_memory("whatif", *stated.split()).splitlines()
        assert first.endswith(answer["reason"])


def in_memory(*args: str) -> str:
    out, err = StringIO(), StringIO()
    code = run(args, stdout=out, stderr=err, env={}, clock=lambda: NOW)
    assert code == 0
    # A balance below 1 % may have been meant as a share, which is said.
    is_small = "--balance-percent" in args and float(args[args.index("--balance-percent") + 1]) in {
        0.1,
        0.2,
    }
    assert ("give --balance-percent" in err.getvalue()) is is_small, err.getvalue()
    return out.getvalue()
