"""Tags of the fake: put on and taken off by the id or the ARN of a thing."""

from collections.abc import Mapping
from typing import Any

from tests.fake.modelled import Modelled, member
from tests.fake.organization import Member, tags_of_member
from tests.fake.region import Region
from tests.fake.wire import WireError

ALARM, MOST_TAGS = ":alarm:", 50


class Tagged:
    """The calls that change tags. No listed item is changed in place: a test may share it."""

    members: dict[str, Member]

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
        if ALARM in _named(params):
            return _tag_alarm(region, _named(params), params["Tags"])
        return _put(region, _named(params), params["Tags"])

    def _RemoveTagsFromResource(
        self, params: dict[str, Any], region: Region, _n: str
    ) -> dict[str, Any]:
        return _listed(region, _named(params), dict.fromkeys(params["TagKeys"]))

    def _ListTagsForResource(
        self, params: dict[str, Any], region: Region, _n: str
    ) -> dict[str, Any]:
        if "ResourceId" in params:  # an account of an organisation
            return {"Tags": tags_of_member(self.members[params["ResourceId"]])}
        tags = region.alarm_tags.get(_alarm(region, params["ResourceARN"]), {})
        return {"Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}

    _TagResource, _UntagResource = _AddTagsToResource, _RemoveTagsFromResource


def _named(params: Mapping[str, Any]) -> str:
    """The id or ARN of the thing: the argument that is not about tags."""
    (name,) = (value for key, value in params.items() if not key.startswith("Tag"))
    return str(name)


def _alarm(region: Region, arn: str) -> str:
    """The name of the alarm with this ARN."""
    name = arn.partition(ALARM)[2]
    if name not in region.alarms:
        raise WireError("ResourceNotFoundException", f"no alarm {name!r}", 404)
    return name


def _tag_alarm(region: Region, arn: str, tags: list[dict[str, str]]) -> dict[str, Any]:
    known = region.alarm_tags.setdefault(_alarm(region, arn), {})
    for tag in tags:
        _check(tag)
        known[tag["Key"]] = tag["Value"]
    if len(known) > MOST_TAGS:
        raise WireError("ValidationError", f"an alarm has at most {MOST_TAGS} tags")
    return {}


def _put(region: Region, name: str, tags: list[dict[str, str]]) -> dict[str, Any]:
    for tag in tags:
        _check(tag)
    return _listed(region, name, {tag["Key"]: tag["Value"] for tag in tags})


def _listed(region: Region, name: str, change: Mapping[str, str | None]) -> dict[str, Any]:
    """Change the tags of a listed thing, where its listing has them, or in the list of tags."""
    found = False
    for (service, operation), items in region.items.items():
        for number, one in enumerate(items):
            if name not in one.values():
                continue
            found = True
            listing = Modelled(service, operation)
            shape = member(listing.operation.output_shape, f"{listing.result}[]")
            for key in {"Tags", "TagList"} & set(shape.members):  # none in a listing without tags
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
