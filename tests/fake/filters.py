"""Filters of the fake: ids and tags, with wildcards as in EC2. Any other filter is refused."""

import fnmatch
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from tests.fake.wire import WireError


def ids_that_match(
    there: Collection[str], params: dict[str, Any], name: str, *, wild: bool = True
) -> Iterable[str]:
    """Of what is there, the ids that a filter lets through; its values may have wildcards."""
    for entry in params.get("Filters", ()):
        if entry["Name"] == name:
            if len(entry["Values"]) > 200:
                raise WireError("FilterLimitExceeded", "at most 200 values")
            exact = {value for value in entry["Values"] if not set(value) & set("*?")}
            patterns = [value for value in entry["Values"] if value not in exact]
            if not (wild and patterns):
                return sorted(exact & set(there))
            pattern = re.compile("|".join(fnmatch.translate(value) for value in patterns))
            return [one for one in there if one in exact or pattern.match(one)]
    return there


def matches(item: dict[str, Any], filters: Sequence[dict[str, Any]]) -> bool:
    """Whether every filter lets an item through."""
    tags = {tag["Key"]: tag["Value"] for tag in item.get("Tags", ())}
    instances = {attached["InstanceId"] for attached in item.get("Attachments", ())}
    for entry in filters:
        if entry["Name"] == "attachment.instance-id":
            if not instances & set(entry["Values"]):
                return False
            continue
        if entry["Name"] == "instance-type":
            if not any(fnmatch.fnmatchcase(item["InstanceType"], one) for one in entry["Values"]):
                return False
            continue
        if not entry["Name"].startswith("tag:"):
            raise WireError("InvalidParameterValue", f"the fake has no filter {entry['Name']}")
        value = tags.get(entry["Name"].removeprefix("tag:"))
        if value is None or not any(fnmatch.fnmatchcase(value, one) for one in entry["Values"]):
            return False
    return True
