"""Look once at an account's resources: which run out, and when. The worst come first."""

import math
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from burstwatch.cli.account import add_account_arguments, enabled_regions, make_clients, where_of
from burstwatch.cli.board import word_of
from burstwatch.cli.costs import cost_json, cost_report
from burstwatch.cli.main import PARTIAL, Terminal
from burstwatch.cli.output import painter, to_json
from burstwatch.cli.progress import track
from burstwatch.config import Config, config_from_env
from burstwatch.forecast.policy import Assessment
from burstwatch.formatting import clock_time, span, table
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.polling.ranking import urgency

if TYPE_CHECKING:  # boto3 is an extra
    from burstwatch.aws.client.session import Clients
    from burstwatch.aws.look.snapshot import UnitSnapshot

#: Where the list of regions is asked for if no region is known.
ANY_REGION = "us-east-1"
#: How long one region may take. A person waits for it.
BUDGET_S = 120.0


GROUP = "look"


def add_arguments(parser: ArgumentParser) -> None:
    """The regions, and the form of output."""
    add_account_arguments(parser)
    parser.add_argument("--all-regions", action="store_true", help="every enabled region")
    parser.add_argument(
        "--kind",
        metavar="KIND,...",
        help="only these kinds, with commas (default: the value of BURSTWATCH_KINDS, else all)",
    )
    parser.add_argument(
        "--cost",
        action="store_true",
        help="what asking for the metrics would cost a month, by type",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one object per resource, or with --cost per type"
    )


def run(args: Namespace, terminal: Terminal) -> int:
    """Scan, region by region. A region that fails does not hide the others."""
    config = config_from_env(terminal.env)
    if args.kind is not None:
        config = replace(config, kinds=args.kind)
    find_kinds(config.kinds)  # refuses early what there is not
    home = make_clients(args, terminal.env, fallback=ANY_REGION if args.all_regions else None)
    unit = home.unit()  # refuses early without credentials
    regions = enabled_regions(home) if args.all_regions else [unit.region]
    looks: list[UnitSnapshot] = []
    problems: list[str] = []
    for region in track(regions, total=len(regions), label="regions", stderr=terminal.stderr):
        try:
            looks.append(_look(args, home, region, config, terminal))
        except ValueError as error:
            problems.append(f"{region}: {error}")
    problems += [
        f"{snapshot.unit}: {p.part}: {p.error}" for snapshot in looks for p in snapshot.problems
    ]
    entries = sorted((e for snapshot in looks for e in snapshot.assessments.values()), key=urgency)
    at = clock_time(terminal.clock(), now=terminal.clock())
    place = f"{unit.account} in {len(regions)} regions" if args.all_regions else where_of(unit)
    if args.json:
        text = cost_json(looks, config) if args.cost else _json(entries)
    else:
        # Whoever sees a picture of it in a channel must know what it is of.
        report = (
            cost_report(looks, config)
            if args.cost
            else _report(entries, looks, painter(terminal.stdout, terminal.env), place)
        )
        text = f"{place}, {at}\n{report}"
    print(text, file=terminal.stdout, end="" if not text else "\n")
    for problem in problems:
        print(f"burstwatch: {problem}", file=terminal.stderr)
    return PARTIAL if problems else 0


def _look(
    args: Namespace, home: "Clients", region: str, config: Config, terminal: Terminal
) -> "UnitSnapshot":
    """Look at every resource of one region, within the time that a person waits."""
    from burstwatch.aws.client.session import Deadline  # noqa: PLC0415
    from burstwatch.aws.look.memory import Memory  # noqa: PLC0415
    from burstwatch.aws.look.snapshot import look  # noqa: PLC0415

    clients = home if region == home.region else make_clients(args, terminal.env, region)
    deadline = Deadline(time.monotonic, at=time.monotonic() + BUDGET_S)
    return look(
        clients.unit(),
        find_kinds(config.kinds).values(),
        clients,
        config,
        Memory(),
        now=terminal.clock(),
        deadline=deadline,
        # For the cost a glance at each is enough.
        demand_horizon_s=0.0 if args.cost else math.inf,
    )


def _json(entries: Sequence[tuple[Resource, Assessment]]) -> str:
    """Write one JSON object a line, for each resource."""
    return "\n".join(
        to_json(
            {
                "id": resource.id,
                "name": resource.name,
                "kind": resource.kind,
                "unit": resource.unit,
                "balance_metric": resource.level_metric,
                **resource.facts,
                "size_gib": float(resource.facts["size_gib"])
                if "size_gib" in resource.facts
                else None,
                "assessment": assessment.verdict,
                "reason": assessment.reason,
                "state": assessment.projection.state,
                "balance_ratio": assessment.projection.level.likely
                if assessment.projection.level and resource.has_share
                else None,
                "time_to_empty_s": assessment.projection.time_to_empty_s,
                "low_s": assessment.projection.low_s,
                "high_s": assessment.projection.high_s,
                "worst_s": assessment.projection.worst_s,
                "time_to_full_s": assessment.projection.time_to_full_s,
                "data_age_s": assessment.projection.data_age_s,
                "binding": assessment.projection.binding,
                "limit_rate": resource.limit.rate
                if resource.is_sized and not resource.not_watched
                else None,
                "caveats": resource.caveats,
            }
        )
        for resource, assessment in entries
    )


def _report(
    entries: Sequence[tuple[Resource, Assessment]],
    looks: "Sequence[UnitSnapshot]",
    paint: Callable[[str], str],
    place: str,
) -> str:
    """Write the table, then what it cannot show, then the counts."""
    headings = ["resource", "name", "type", "verdict", "state", "balance", "empty in", "worst case"]
    silent = {
        (str(snapshot.unit), resource_id): why
        for snapshot in looks
        for resource_id, why in snapshot.quiet.items()
    }
    rows: list[tuple[str, ...]] = [
        (
            resource.id,
            resource.name[:24],
            resource.facts.get("type", resource.kind),
            f"{word_of(assessment.verdict)}{', silent' if (resource.unit, resource.id) in silent else ''}",
            assessment.projection.state,
            f"{assessment.projection.level.likely:.0%}"
            if assessment.projection.level and resource.has_share
            else "-",
            span(assessment.projection.time_to_empty_s),
            span(assessment.projection.worst_s),
        )
        for resource, assessment in entries
    ]
    if len(looks) > 1:
        headings.insert(0, "region")
        rows = [(r.region, *row) for (r, _), row in zip(entries, rows, strict=True)]
    notes = [f"{resource_id} {why}" for (_, resource_id), why in silent.items()]
    # In danger although the load that is seen would not empty it: the reason is not in the table.
    notes += [
        f"{resource.id}: {assessment.reason}"
        for resource, assessment in entries
        if assessment.verdict == "not_watched"
        or (
            assessment.verdict in {"warning", "critical"}
            and assessment.projection.time_to_empty_s == math.inf
        )
    ]
    not_watched = sum(assessment.verdict == "not_watched" for _, assessment in entries)
    unknown = sum(assessment.verdict == "unknown" for _, assessment in entries)
    requested = sum(snapshot.metrics_requested for snapshot in looks)
    excluded = sum(snapshot.excluded for snapshot in looks)
    left_out = f", {excluded} left out by tag" if excluded else ""
    request_count = f"{requested} metrics requested"
    if not rows:
        hint = "" if len(looks) > 1 else "; other regions: --all-regions"
        return f"no resource with credits in {place}{left_out}{hint}; {request_count}"
    unwatched = f", {not_watched} not watched" if not_watched else ""
    count = f"{len(entries)} resources, {unknown} unknown{unwatched}{left_out}; {request_count}"
    return "\n".join([table(headings, rows, paint=paint), *notes, count])
