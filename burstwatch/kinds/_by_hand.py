"""Describes a resource that nobody has listed, in the terms of its kind's example."""

from collections.abc import Mapping
from dataclasses import replace

from burstwatch.formatting import InputError
from burstwatch.history.observations import Resource
from burstwatch.kinds.base import BY_HAND, Kind


def described_by_hand(
    kind: Kind, spec: Mapping[str, str], *, region: str = ""
) -> tuple[Resource, ...]:
    """The buckets of a resource that nobody has listed, at the prices of a region.

    Raises:
        InputError: naming the value that is missing.
        ValueError: naming the one that is unknown or out of range.
    """
    allowed = kind.example.spec
    for name in spec:
        if name not in allowed:
            msg = f"{kind.name} has no {name!r}; allowed: {', '.join(allowed)}"
            raise ValueError(msg)
    try:
        item, related = kind.item_by_hand(spec)
    except KeyError as error:
        name = error.args[0]
        problem = f"is needed by {kind.name}: {allowed[name]}"
        raise InputError(problem, name=name) from None
    thing = replace(
        kind.inventory.identify(item), unit=f"{BY_HAND}/{region}" if region else BY_HAND
    )
    resources = tuple(kind.describe(thing, related, 0.0))
    if not resources:
        stated = ", ".join(f"{name} {value}" for name, value in spec.items())
        needed = "; ".join(f"{name}: {text}" for name, text in allowed.items())
        msg = f"{kind.name} with {stated} has no credits; allowed: {needed}"
        raise ValueError(msg)
    return resources
