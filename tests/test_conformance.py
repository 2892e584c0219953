"""Every kind, against AWS's own service models as botocore ships them.

A new file in ``burstwatch/kinds`` is tested here before its author has written a
test; what it needs is a file of worked examples in ``tests/kinds``.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.model import ListShape, ServiceModel, Shape, StructureShape

from burstwatch import kinds
from burstwatch.aws.look import look
from burstwatch.aws.memory import Memory
from burstwatch.config import Config
from burstwatch.ebs.load import Traffic
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind, Listing
from tests.conftest import NOW, Cloud

KINDS = list(find_kinds().values())
#: CloudWatch has no model of its metrics; these are the documented ones, by namespace.
METRICS = json.loads((Path(__file__).parent / "data" / "aws_metrics.json").read_text())


def by_name(value: Any) -> str:
    return str(getattr(value, "name", value))


def service_model(name: str) -> ServiceModel:
    loader = botocore.session.Session().get_component("data_loader")
    return ServiceModel(loader.load_service_model(name, "service-2"))


def member(shape: Shape, path: str) -> Shape:
    """The shape at a path such as ``Attachments[].InstanceId``.

    Raises:
        KeyError: naming the step that AWS does not have.
    """
    for step in path.split("."):
        if not isinstance(shape, StructureShape):
            raise KeyError(step)
        shape = shape.members[step.removesuffix("[]")]
        if step.endswith("[]"):
            if not isinstance(shape, ListShape):
                raise KeyError(step)
            shape = shape.member
    return shape


def check_listing(listing: Listing) -> None:
    """Raises KeyError for what AWS does not have."""
    model = service_model(listing.service)
    if listing.operation not in model.operation_names:
        raise KeyError(listing.operation)
    output = model.operation_model(listing.operation).output_shape
    assert output is not None
    item = member(output, listing.items)
    for path in (listing.id_field, *listing.fields):
        member(item, path)
    paginators = (
        botocore.session.Session()
        .get_component("data_loader")
        .load_service_model(listing.service, "paginators-1")
    )
    if listing.operation not in paginators["pagination"]:
        raise KeyError(f"{listing.operation} is not paged")


def check_metrics(kind: Kind) -> None:
    """Raises KeyError for a metric or dimension that AWS does not document."""
    known = METRICS["namespaces"][kind.namespace]
    if kind.dimension not in known["dimensions"]:
        raise KeyError(kind.dimension)
    for metric in kind.metrics:
        if metric not in known["metrics"]:
            raise KeyError(metric)


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_names_only_operations_and_fields_that_aws_has(kind: Kind) -> None:
    for listing in kind.listings:
        check_listing(listing)


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_names_only_metrics_that_aws_documents(kind: Kind) -> None:
    check_metrics(kind)


@pytest.mark.parametrize(
    "wrong",
    [
        Listing(service="ec2", operation="DescribeDisks", items="Volumes[]", id_field="VolumeId", fields=()),
        Listing(service="ec2", operation="DescribeVolumes", items="Disks[]", id_field="VolumeId", fields=()),
        Listing(service="ec2", operation="DescribeVolumes", items="Volumes[]", id_field="VolumeId", fields=("Credits",)),
        Listing(service="ec2", operation="DescribeVolumes", items="Volumes[]", id_field="VolumeId", fields=("Attachments[].Disk",)),
        Listing(service="ec2", operation="CreateVolume", items="Attachments[]", id_field="VolumeId", fields=()),
    ],
    ids=["operation", "items", "field", "inner field", "not a list"],
)  # fmt: skip
def test_what_aws_does_not_have_is_refused(wrong: Listing) -> None:
    with pytest.raises(KeyError):
        check_listing(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"level_metrics": ("BurstCredits",)},
        {"traffic": Traffic(read_ops="VolumeOps", write_ops="", read_bytes="", write_bytes="")},
        {"dimension": "Disk"},
    ],
    ids=["level", "demand", "dimension"],
)
def test_a_metric_or_dimension_that_aws_does_not_document_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(KeyError):
        check_metrics(replace(find_kinds()["ebs_volume"], **wrong))


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_a_kind_reads_only_the_fields_that_it_declares(kind: Kind) -> None:
    examples = import_module(f"tests.kinds.{kind.name}")
    read: set[str] = set()
    found = {
        lookup.name: {
            key: Recording(item, "", read, lookup.name)
            for key, item in examples.FOUND[lookup.name].items()
        }
        for lookup in kind.lookups
    }
    for item in examples.ITEMS:
        kind.describe(Recording(item, "", read, "inventory"), found, "unit", NOW)
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
    examples = import_module(f"tests.kinds.{kind.name}")
    resources = [r for i in examples.ITEMS for r in kind.describe(i, examples.FOUND, "unit", NOW)]
    assert len({resource.key for resource in resources}) == len(resources)
    for resource in resources:
        assert resource.kind == kind.name
        assert resource.level_metric in kind.level_metrics
        assert (resource.bucket is None) == bool(resource.no_bucket_reason)
    assert any(resource.bucket for resource in resources)
    spent = kind.spent(resources[0], examples.SUMS, NOW, 60)
    assert spent is not None
    assert spent.nominal == pytest.approx(examples.NOMINAL_PER_S)
    assert 0 <= spent.least <= spent.nominal <= spent.most


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_nothing_measured_is_nothing_known_never_zero(kind: Kind) -> None:
    examples = import_module(f"tests.kinds.{kind.name}")
    resource = kind.describe(examples.ITEMS[0], examples.FOUND, "unit", NOW)[0]
    assert kind.spent(resource, {}, NOW, 60) is None


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


TOY = """
from burstwatch.bucket import Bucket
from burstwatch.kinds.base import Kind, Listing
from burstwatch.ebs.load import Traffic
from burstwatch.history.observations import Limit, Resource

def describe(item, found, unit, now):
    return (Resource(
        kind="toy", id=item["InstanceId"], level_metric="EBSIOBalance%", name="", unit=unit,
        bucket=Bucket(capacity=1800.0 * 2750, refill=1000.0, burst=3750.0),
        limit=Limit(rate=3750.0, binding="instance_iops"), statistic="Average",
    ),)

KIND = Kind(
    name="toy", namespace="AWS/EC2", dimension="InstanceId",
    inventory=Listing(service="ec2", operation="DescribeInstances", items="Reservations[].Instances[]",
                      id_field="InstanceId", fields=("InstanceId",)),
    level_metrics=("EBSIOBalance%",), describe=describe,
    traffic=Traffic(read_ops="EBSReadOps", write_ops="EBSWriteOps", read_bytes="EBSReadBytes", write_bytes="EBSWriteBytes"),
    fixes=lambda resource, level, demand, load: (),
    spent=lambda resource, sums, start_s, period_s: None, capacity_documented=False,
)
"""


def test_a_toy_kind_dropped_into_kinds_is_found_queried_and_projected(
    cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toy.py").write_text(TOY)
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])
    found_kinds = find_kinds()
    assert set(found_kinds) == {*(kind.name for kind in KINDS), "toy"}
    check_listing(found_kinds["toy"].inventory)
    check_metrics(found_kinds["toy"])
    instance = cloud.aws.add_instance("m5.large")
    for minute in range(1, 31):  # 2,750 credits a second net: 1/30 of the bucket a minute
        cloud.aws.put(
            "AWS/EC2", "EBSIOBalance%", {"InstanceId": instance}, NOW - 60 * minute, 20 + 2 * minute
        )
    seen = look(
        cloud.unit, [found_kinds["toy"]], cloud.clients, Config(), Memory(),
        now=NOW, deadline=cloud.never(),
    )  # fmt: skip
    resource, assessment = seen.assessments[instance]
    assert resource.kind == "toy"
    assert assessment.projection.state == "finite"
    # It loses 2 % a minute and stood at about 21 % a minute's middle ago.
    assert assessment.projection.time_to_empty_s == pytest.approx(21 / 2 * 60, rel=0.15)


def test_the_list_of_documented_metrics_is_itself_sourced() -> None:
    assert all(entry["source"].startswith("https://") for entry in METRICS["namespaces"].values())


def test_no_model_is_missing_from_this_botocore() -> None:
    """The checks above read files of botocore; an empty loader would let anything pass."""
    path = Path(botocore.__file__).parent / "data" / "ec2"
    newest = max(entry for entry in path.iterdir() if entry.is_dir())
    with gzip.open(newest / "service-2.json.gz") as file:
        assert "DescribeVolumes" in json.load(file)["operations"]
