"""Reads which accounts and regions a deployment watches, from what its rules start."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from burstwatch.aws.client.deployment import find_deployment
from burstwatch.aws.client.session import AWS_ERRORS, AwsError, Clients, describe_error
from burstwatch.aws.watched.joining import Joining, Listed, parse_question
from burstwatch.aws.watched.units import UnitSpec, parse_unit
from burstwatch.shards import WHOLE, Problem


def read_watched_units(
    clients: Clients, name: str, stack: str = "", *, now: float, listed: Listed | None = None
) -> tuple[list[UnitSpec], list[Problem]]:
    """The units of a deployment, each once and whole, those of an organisation listed anew; and what failed of that.

    ``listed`` keeps the regions of accounts between two calls: they are asked for once an hour.

    Raises:
        AwsError: if there is no such deployment, or its rules cannot be read.
    """
    return units_of_rules(
        clients, find_deployment(clients, name, stack).rules, now=now, listed=listed
    )


def units_of_rules(
    clients: Clients, rules: Sequence[str], *, now: float, listed: Listed | None = None
) -> tuple[list[UnitSpec], list[Problem]]:
    """The units that these rules start the sweeps of; see ``read_watched_units``.

    Raises:
        AwsError: if no rule can be read.
    """
    home = clients.unit()
    specs: dict[tuple[str, str], UnitSpec] = {}
    problems: list[Problem] = []
    events: list[dict[str, Any]] = []
    for rule in rules:
        try:
            events += _events(clients, rule)
        except AWS_ERRORS as error:
            problems.append(Problem(part=f"rule {rule}", error=describe_error(error)))
    if rules and len(problems) == len(rules):
        raise AwsError(problems[0].error)
    for event in events:
        if "find" in event:
            joining = Joining(home=clients, home_account=home.account, regions=dict(listed or {}))
            answer = joining.list_all(parse_question(event["find"]), now=now)
            listed_specs, problems = answer.specs, [*problems, *answer.problems]
            if listed is not None:
                listed.update(joining.regions)
        else:
            listed_specs = (parse_unit(event),)
        for spec in listed_specs:
            place = (spec.account or home.account, spec.region or home.region)
            specs.setdefault(place, replace(spec, shard=WHOLE))
    return list(specs.values()), problems


def _events(clients: Clients, rule: str) -> Iterator[dict[str, Any]]:
    """The constant inputs of a rule's targets that name what is watched."""
    for page in clients("events").get_paginator("list_targets_by_rule").paginate(Rule=rule):
        for target in page["Targets"]:
            event = json.loads(target.get("Input") or "{}")
            if "unit" in event or "find" in event:
                yield event
