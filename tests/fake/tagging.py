"""Tags of the fake: put on and taken off by the id or the ARN of a thing."""

from collections.abc import Mapping
from typing import Any

from tests.fake.region import Region
from tests.fake.wire import WireError


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
        for tag in params["Tags"]:
            _check(tag)
        change = {tag["Key"]: tag["Value"] for tag in params["Tags"]}
        return self._database(params["ResourceName"], region, change)

    def _RemoveTagsFromResource(
        self, params: dict[str, Any], region: Region, _n: str
    ) -> dict[str, Any]:
        return self._database(params["ResourceName"], region, dict.fromkeys(params["TagKeys"]))

    def _database(
        self, arn: str, region: Region, change: Mapping[str, str | None]
    ) -> dict[str, Any]:
        databases = region.items["rds", "DescribeDBInstances"]
        for number, one in enumerate(databases):
            if one["DBInstanceArn"] == arn:
                databases[number] = {**one, "TagList": _changed(one.get("TagList", []), change)}
                return {}
        raise WireError("DBInstanceNotFound", f"no database {arn}", 404)


def _check(tag: Mapping[str, str]) -> None:
    if len(tag["Key"]) > 128 or len(tag["Value"]) > 256:
        raise WireError("InvalidParameterValue", "a tag is too long")


def _changed(tags: list[dict[str, str]], change: Mapping[str, str | None]) -> list[dict[str, str]]:
    found = {**{tag["Key"]: tag["Value"] for tag in tags}, **change}
    return [{"Key": key, "Value": value} for key, value in found.items() if value is not None]
