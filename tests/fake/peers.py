"""Answers what other exporters ask of an account and the sweep does not: lists of metrics and of tags."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tests.fake.region import Region

TAGGED_PAGE = 100


class Peers:
    """Mixed into the account."""

    def _ListMetrics(self, params: dict[str, Any], region: Region, _n: str) -> dict[str, Any]:
        wanted = tuple((one["Name"], one.get("Value")) for one in params.get("Dimensions", ()))
        found = (
            {
                "Namespace": namespace,
                "MetricName": name,
                "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions],
            }
            for namespace, name, dimensions in _metrics(region)
            if params.get("Namespace") in {None, namespace}
            and params.get("MetricName") in {None, name}
            and all(_has(dimensions, key, value) for key, value in wanted)
        )
        items, token = self._page(found, {**params, "MaxResults": 500}, least=500, most=500)
        return {"Metrics": items, "NextToken": token}

    def _GetResources(self, params: dict[str, Any], region: Region, name: str) -> dict[str, Any]:
        types = params.get("ResourceTypeFilters") or ["ec2:volume"]
        if types not in (["ec2:volume"], ["ec2"]):  # an account without any
            return {"ResourceTagMappingList": [], "PaginationToken": ""}
        size = params.get("ResourcesPerPage", TAGGED_PAGE)
        wanted = {one["Key"]: set(one.get("Values", ())) for one in params.get("TagFilters", ())}
        found = (
            {"ResourceARN": f"arn:aws:ec2:{name}:123456789012:volume/{key}", "Tags": volume["Tags"]}
            for key, volume in region.volumes.items()
            # What never had a tag is not there at all.
            if volume["Tags"] and _is_tagged(volume["Tags"], wanted)
        )
        paging = {"MaxResults": size, "NextToken": params.get("PaginationToken") or None}
        items, token = self._page(found, paging, least=1, most=TAGGED_PAGE)
        return {"ResourceTagMappingList": items, "PaginationToken": token or ""}

    if TYPE_CHECKING:

        def _page(
            self, found: Iterable[Any], params: dict[str, Any], *, least: int, most: int
        ) -> tuple[list[Any], str | None]: ...


def _metrics(region: Region) -> Iterator[tuple[str, str, tuple[tuple[str, str], ...]]]:
    yield from region.metrics
    if region.herd is not None:
        yield from region.herd.metrics()


def _has(dimensions: tuple[tuple[str, str], ...], name: str, value: str | None) -> bool:
    return any(key == name and value in {None, its} for key, its in dimensions)


def _is_tagged(tags: list[dict[str, str]], wanted: dict[str, set[str]]) -> bool:
    its = {tag["Key"]: tag["Value"] for tag in tags}
    return all(key in its and (not values or its[key] in values) for key, values in wanted.items())
