"""Tags of the fake: put on and taken off by the id or the ARN of a thing."""

from collections.abc import Mapping
from typing import Any

from tests.fake.region import Region
from tests.fake.wire import WireError

#: What AWS calls the name by which a thing is tagged.
NAMES = frozenset({"ARN", "DBInstanceArn", "FileSystemId", "ResourceARN"})


class Tagged:
    """The calls that change tags. No listed item is changed in place: a test may share it."""

    def _CreateTags(self, params: dict[str, Any], region: Region, _n: str) -> dict[str, Any]:
        for tag in params["Tags"]:
            _check(tag)
        return self._ec2(params, region, {tag["Key"]: tag["Value"] for tag in params["Tags"]})

    def _DeleteTags(self, params: dict[str, Any], region: Region, _n: str) -> dict[str, Any]:
        return self._ec2(params, region, dict.fromkeys(tag["Key"] for tag in params["Tags"]))

    def _ec2(
        self, params: dict[str, Any], region: Region, change: Mapping[str, str | None]
    ) -> dict[str, Any]:
        for one in params["Resources"]:
            things = region.volumes if one.startswith("vol-") else region.instances
            if one not in things:
                raise WireError("InvalidID", f"The ID '{one}' is not valid")
            things[one] = {**things[one], "Tags": _changed(things[one].get("Tags", []), change)}
        return {"Return": True}

    def _AddTagsToResource(self, params: dict[str, Any], region: Region, _n: str) -> dict[str, Any]:
        return _put(region, params["ResourceName"], params["Tags"])

    def _RemoveTagsFromResource(
        self, params: dict[str, Any], region: Region, _n: str
    ) -> dict[str, Any]:
        return _listed(region, params["ResourceName"], dict.fromkeys(params["TagKeys"]))

    def _TagResource(self, params: dict[str, Any], region: Region, _n: str) -> dict[str, Any]:
        return _put(region, params.get("ResourceId") or params["ResourceARN"], params["Tags"])

    def _UntagResource(self, params: dict[str, Any], region: Region, _n: str) -> dict[str, Any]:
        name = params.get("ResourceId") or params["ResourceARN"]
        return _listed(region, name, dict.fromkeys(params["TagKeys"]))


def _put(region: Region, name: str, tags: list[dict[str, str]]) -> dict[str, Any]:
    for tag in tags:
        _check(tag)
    return _listed(region, name, {tag["Key"]: tag["Value"] for tag in tags})


def _listed(region: Region, name: str, change: Mapping[str, str | None]) -> dict[str, Any]:
    """Change the tags of a listed thing, where its listing has them, or in the list of tags."""
    found = False
    for items in region.items.values():
        for number, one in enumerate(items):
            if name not in [value for key, value in one.items() if key in NAMES]:
                continue
            found = True
            if "CacheNodeType" not in one:  # a listing without tags
                key = "TagList" if "DBInstanceArn" in one else "Tags"
                items[number] = {**one, key: _changed(one.get(key, []), change)}
    if not found:
        raise WireError("ResourceNotFound", f"nothing is called {name}", 404)
    return {}


def _check(tag: Mapping[str, str]) -> None:
    if len(tag["Key"]) > 128 or len(tag["Value"]) > 256:
        raise WireError("InvalidParameterValue", "a tag is too long")


def _changed(tags: list[dict[str, str]], change: Mapping[str, str | None]) -> list[dict[str, str]]:
    found = {**{tag["Key"]: tag["Value"] for tag in tags}, **change}
    return [{"Key": key, "Value": value} for key, value in found.items() if value is not None]
