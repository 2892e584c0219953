"""Check an account's resources once: which run out and when, the worst first."""

import math
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from burstwatch import installing
from burstwatch.cli.account import (
    Regions,
    add_units_arguments,
    check_kinds,
    chosen_regions,
)
from burstwatch.cli.board import word_of
from burstwatch.cli.costs import cost_json, cost_report
from burstwatch.cli.documents import as_document, place_of_unit
from burstwatch.cli.histories import KEEP_HELP, KeptRecord, PastQuestion, records_of_region
from burstwatch.cli.judging import add_deployed_settings_arguments, config_of
from burstwatch.cli.main import PARTIAL, Terminal
from burstwatch.cli.output import painter
from burstwatch.cli.past import FIELDS, in_order, past_documents, past_record, past_report
from burstwatch.cli.progress import track
from burstwatch.cli.selecting import add_selection_argument, check_words, is_selected
from burstwatch.cli.values import days
from burstwatch.config import SETTINGS, Config
from burstwatch.fixes.surplus import Charge
from burstwatch.formatting import (
    DAY,
    InputError,
    balance,
    clock_time,
    cut,
    first_of,
    folded,
    inert,
    table,
    time_left,
    usd,
)
from burstwatch.history.observations import Resource, Verdict
from burstwatch.history.points import FIVE_MINUTES_KEPT
from burstwatch.kinds import find_kinds
from burstwatch.polling.queries import Allowance
from burstwatch.polling.ranking import Assessed, urgency
from burstwatch.shards import Unit

if TYPE_CHECKING:  # boto3 takes long to import
    from burstwatch.aws.client.session import Clients
    from burstwatch.aws.look.snapshot import UnitSnapshot

#: How long one region may take. A person waits for it.
BUDGET_S = 120.0
#: The exit code of --fail-on.
IN_DANGER = 3
#: The verdicts that --fail-on takes; each of the first four stands for the worse ones too.
LEVELS: tuple[Verdict, ...] = ("watch", "warning", "critical", "exhausted")
FAILING: tuple[Verdict, ...] = (*LEVELS, "unknown", "not_watched")
#: Options that another one has no use for, and why.
IGNORED = {
    "past": (("cost", "all", "fail_on", "openmetrics"), "--past is of the last days"),
    "cost": (
        ("wanted", "all", "limit", "fail_on", "openmetrics"),
        "--cost is of all resources, by type",
    ),
    "openmetrics": (("json", "all"), "--openmetrics has all resources, as metrics"),
}
HEADINGS = ("runs out in", "worst case", "verdict", "balance", "resource", "name", "type")
LONGEST_NAME = 40
#: What AWS has charged is told of so long.
CHARGED_S = 30.0 * DAY
CHARGES = "charges"
#: What AWS has charged for, by account and region and by the resource's key.
Charges: TypeAlias = dict[tuple[str, str], Charge]
ELASTIC = frozenset({"name", "type"})
#: On a narrower terminal the names have the room of the ids: commands take both.
WITH_IDS = 110


GROUP = "look"
EXAMPLE = "burstwatch scan --region eu-west-1"
EXIT_CODES = (
    "Exit codes: 0 everything could be read, 1 a part could not, 2 wrong input or configuration, "
    "3 a resource has a verdict of --fail-on."
)


def add_arguments(parser: ArgumentParser) -> None:
    """Which resources, the settings, and the form of output."""
    add_selection_argument(parser)
    add_units_arguments(parser)
    parser.add_argument(
        "--kind",
        metavar="KIND,...",
        help="only these kinds, with commas (default: the setting `kinds`, else all)",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="show the resources too that have no burst credits and so never run out",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="show only the N worst")
    parser.add_argument(
        "--fail-on",
        metavar="VERDICT,...",
        help=f"end with the exit code {IN_DANGER} if a resource has this verdict or a worse one, for cron and CI: "
        f"{', '.join(FAILING)}",
    )
    add_deployed_settings_arguments(parser)
    parser.add_argument(
        "--past",
        type=days,
        metavar="DAYS",
        help="replay the last days (such as 14d, at most 63d): when it would have paged, and when credits ran out",
    )
    parser.add_argument("--keep", metavar="FILE.jsonl", help=f"with --past: {KEEP_HELP}")
    parser.add_argument(
        "--cost",
        action="store_true",
        help="what watching would cost a month: by type, and in all",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one object per resource, or with --cost per type"
    )
    parser.add_argument(
        "--openmetrics",
        action="store_true",
        help="print metrics for the textfile collector of node_exporter; `burstwatch serve` is an endpoint with the same",
    )


def run(args: Namespace, terminal: Terminal) -> int:
    """Scan, region by region. A region that fails does not hide the others."""
    failing = _failing(args.fail_on)
    _check(args)
    check_kinds(args.kind)
    regions = chosen_regions(args, terminal.env)
    config = config_of(args, terminal.env, lambda: regions.home)
    if args.kind is not None:
        config = replace(config, kinds=args.kind)
    if args.past is not None:
        return _tell_past(args, regions, config, terminal)
    looks: list[UnitSnapshot] = []
    charges: Charges = {}
    silent: dict[str, str] = {}
    names = regions.names
    for region in track(names, total=len(names), label="regions", stderr=terminal.stderr):
        try:
            snapshot, charged = _look(args, regions.clients(region), config, terminal)
            looks.append(snapshot)
            charges |= charged
        except ValueError as error:
            silent[region] = str(error)
    problems = [*regions.problems, *(f"{name}: {error}" for name, error in silent.items())]
    problems += [
        f"{snapshot.unit}: {p.part}: {p.error}" for snapshot in looks for p in snapshot.problems
    ]
    every = sorted((e for snapshot in looks for e in snapshot.assessments.values()), key=urgency)
    if looks and not problems:
        check_words(args.wanted, (resource for resource, _ in every), place=regions.place)
    entries = [entry for entry in every if _is_wanted(entry[0], args.wanted)]
    now = terminal.clock()
    if args.openmetrics:
        text = _openmetrics(entries[: args.limit], looks, silent, regions, now).rstrip("\n")
    elif args.json:
        text = (
            cost_json(
                looks,
                config,
                at=now,
                account=regions.home.unit().account,
                extent=regions.extent,
            )
            if args.cost
            else "\n".join(_documents(entries[: args.limit], charges, now))
        )
    else:
        report = (
            folded(
                cost_report(looks, config, regions.extent, columns=terminal.columns),
                terminal.columns,
            )
            if args.cost
            else _report(entries, looks, charges, args, terminal, regions.place)
        )
        # Whoever sees a picture of it in a channel must know what it is of.
        place = folded(f"{regions.place}, {clock_time(now, now=now)}", terminal.columns)
        text = f"{place}\n{report}"
    print(text, file=terminal.stdout, end="" if not text else "\n")
    for problem in problems:
        terminal.tell(problem)
    in_danger = [entry for entry in entries if entry[1].verdict in failing]
    if in_danger:
        return IN_DANGER
    return PARTIAL if problems else 0


def _tell_past(args: Namespace, regions: Regions, config: Config, terminal: Terminal) -> int:
    """Replay the last days of every resource, region by region, and tell what would have happened."""
    question = _past_question(args, config)
    records: list[KeptRecord] = []
    problems: list[str] = []
    for region in regions.names:
        try:
            records += records_of_region(
                regions.clients(region),
                [*find_kinds(config.kinds).values()],
                question,
                lambda recorded: past_record(
                    recorded, config, days=question.days, now=terminal.clock()
                ),
                terminal,
                problems,
                tag=config.tag,
                is_wanted=lambda resource: (
                    resource.bucket is not None and _is_wanted(resource, args.wanted)
                ),
            )
        except ValueError as error:
            problems.append(f"{region}: {error}")
    now = terminal.clock()
    records = in_order(records)
    if args.json:
        text = "\n".join(past_documents(records[: args.limit], at=now))
    else:
        columns = terminal.columns
        report = past_report(records, config, days=question.days, columns=columns, limit=args.limit)
        place = folded(f"{regions.place}, {clock_time(now, now=now)}", terminal.columns)
        text = f"{place}\n{report}"
    print(text, file=terminal.stdout, end="" if not text else "\n")
    for problem in problems:
        terminal.tell(problem)
    return PARTIAL if problems else 0


def _past_question(args: Namespace, config: Config) -> PastQuestion:
    """The days that are asked for, and the settings that the answer depends on."""
    kept_days = FIVE_MINUTES_KEPT.value
    past_days = _past_days(args.past, kept_days)
    # The settings that decide when somebody would have been paged.
    terms = {setting.name: getattr(config, setting.field) for setting in SETTINGS if setting.judges}
    return PastQuestion(
        command="scan --past",
        days=past_days,
        terms=terms,
        fields=FIELDS,
        keep=args.keep,
        asks_extras=False,
    )


def _past_days(past_days: float, kept_days: float) -> float:
    """The days; raises ValueError for more than CloudWatch keeps."""
    if not 1 <= past_days <= kept_days:
        msg = f"--past is {past_days:g} days; allowed: 1 to {kept_days:g}, as long as CloudWatch keeps five-minute datapoints"
        raise ValueError(msg)
    return past_days


def _is_wanted(resource: Resource, words: Sequence[str]) -> bool:
    return not words or any(is_selected(resource, word) for word in words)


def _check(args: Namespace) -> None:
    """Refuse what would be ignored, and a number of rows that is none; and an extra that is missing."""
    if args.keep is not None and args.past is None:
        msg = "--keep works only with --past"
        raise ValueError(msg)
    if args.past is not None:
        _past_days(args.past, FIVE_MINUTES_KEPT.value)
    for option, (names, why) in IGNORED.items():
        ignored = [name for name in names if getattr(args, name)]
        if getattr(args, option) and ignored:
            shown = "WHICH" if ignored[0] == "wanted" else f"--{ignored[0].replace('_', '-')}"
            msg = f"{shown} would be ignored: {why}"
            raise ValueError(msg)
    if args.limit is not None and args.limit < 1:
        msg = f"is {args.limit}; allowed: a whole number from 1"
        raise InputError(msg, name="limit")
    if args.openmetrics:
        try:
            import prometheus_client  # noqa: F401, PLC0415 - an extra, missed before AWS is asked
        except ModuleNotFoundError as error:
            msg = f"{error.name} is not installed, --openmetrics needs: {installing('exporter')}"
            raise ValueError(msg) from None


def _failing(text: str | None) -> frozenset[str]:
    """The verdicts that end with an exit code of their own; raises ValueError for a word that is none."""
    verdicts = set[str]()
    if text is not None and not text.strip(" ,"):
        msg = f"--fail-on is {text!r}; allowed: {', '.join(FAILING)}, with commas between"
        raise ValueError(msg)
    for word in filter(None, ((text or "").replace(" ", "").replace("-", "_").lower()).split(",")):
        if word not in FAILING:
            msg = f"--fail-on is {word!r}; allowed: {', '.join(FAILING)}, with commas between"
            raise ValueError(msg)
        verdicts |= {*LEVELS[LEVELS.index(word) :]} if word in LEVELS else {word}
    return frozenset(verdicts)


def _look(
    args: Namespace, clients: "Clients", config: Config, terminal: Terminal
) -> "tuple[UnitSnapshot, Charges]":
    """Look at every resource of one region, and at what AWS has charged for, within the time that a person waits."""
    from burstwatch.aws.client.session import Deadline  # noqa: PLC0415
    from burstwatch.aws.look.charges import read_charges  # noqa: PLC0415
    from burstwatch.aws.look.memory import Memory  # noqa: PLC0415
    from burstwatch.aws.look.snapshot import look  # noqa: PLC0415

    deadline = Deadline(time.monotonic, at=time.monotonic() + BUDGET_S)
    snapshot = look(
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
    if args.cost or args.openmetrics:
        return snapshot, {}
    allowance = Allowance()
    charges = read_charges(
        clients,
        snapshot.kinds,
        [resource for resource, _ in snapshot.assessments.values() if _is_wanted(resource, args.wanted)],
        start_s=snapshot.at - CHARGED_S,
        end_s=snapshot.at,
        deadline=deadline,
        allowance=allowance,
    )  # fmt: skip
    snapshot = replace(
        snapshot,
        metrics_requested=snapshot.metrics_requested + allowance.taken,
        kind_problems={**snapshot.kind_problems, CHARGES: charges.problems},
    )
    return snapshot, {(str(snapshot.unit), key): charge for key, charge in charges.by_key.items()}


def _openmetrics(
    entries: Sequence[Assessed],
    looks: "Sequence[UnitSnapshot]",
    silent: Mapping[str, str],
    regions: Regions,
    now: float,
) -> str:
    """The page of metrics; ``silent`` is why by region, where nothing was answered."""
    from burstwatch.fleet.page import scan_page  # noqa: PLC0415 - an extra
    from burstwatch.fleet.poller import UnitReading  # noqa: PLC0415

    account = regions.home.unit().account
    readings = [
        UnitReading(unit=snapshot.unit, snapshot=snapshot, polled_at=now) for snapshot in looks
    ]
    readings += [
        UnitReading(unit=_unit_of(name, account), error=error, polled_at=now)
        for name, error in silent.items()
    ]
    units = {str(snapshot.unit): snapshot.unit for snapshot in looks}
    shown = frozenset((units[resource.unit], resource.id) for resource, _ in entries)
    return scan_page(readings, shown=shown, now=now)


def _unit_of(name: str, account: str) -> Unit:
    """The unit that a name stands for: a region of this account, or an account and a region."""
    named, _, region = name.rpartition("/")
    return Unit(account=named or account, region=region)


def _documents(entries: Sequence[Assessed], charges: Charges, now: float) -> Iterator[str]:
    """One document for each resource, with its facts as numbers where they are numbers."""
    numbers = {"size_gib", "baseline", "burst"}
    for resource, assessment in entries:
        projection, charge = assessment.projection, charges.get((resource.unit, resource.key))
        facts = {
            name: float(text) if name in numbers else text
            for name, text in resource.words.facts.items()
        }
        body = {
            "id": resource.id,
            "name": resource.name,
            "kind": resource.kind,
            **facts,
            "rate_unit": resource.words.rate_unit,
            "balance_metric": resource.level_metric,
            "verdict": assessment.verdict,
            "reason": assessment.reason,
            "state": projection.state,
            "balance": projection.level.likely
            if projection.level and resource.terms.has_share
            else None,
            "time_to_empty_s": projection.time_to_empty_s,
            "low_s": projection.low_s,
            "high_s": projection.high_s,
            "worst_s": projection.worst_s,
            "chance": assessment.chance,
            "time_to_full_s": projection.time_to_full_s,
            "data_age_s": projection.data_age_s,
            "binding": projection.binding,
            "limit_rate": resource.limit.rate
            if resource.terms.is_sized and not resource.terms.not_watched
            else None,
            "caveats": resource.words.caveats,
            "charged_credits": charge.credits if charge else None,
            "charged_usd_month": charge.usd_month if charge else None,
        }
        yield as_document("resource", body, at=now, **place_of_unit(resource.unit))


def _has_credits(entry: Assessed) -> bool:
    """False for a resource without a bucket, which never runs out."""
    _, assessment = entry
    return assessment.verdict != "ok" or assessment.projection.state != "not_applicable"


def _report(
    entries: Sequence[Assessed],
    looks: "Sequence[UnitSnapshot]",
    charges: Charges,
    args: Namespace,
    terminal: Terminal,
    place: str,
) -> str:
    """Write the table, then what it cannot show, then the counts."""
    silent = {
        (str(snapshot.unit), resource_id): why
        for snapshot in looks
        for resource_id, why in snapshot.quiet.items()
    }
    # Who asks for resources by name sees them, whatever they have.
    chosen = [entry for entry in entries if args.all or args.wanted or _has_credits(entry)]
    shown = chosen[: args.limit]
    headings = [*HEADINGS, "account and region"] if args.all_units else [*HEADINGS]
    if args.all_regions:
        headings = [*HEADINGS, "region"]
    rows = [
        (*_row(entry, silent), entry[0].unit if args.all_units else entry[0].region)[
            : len(headings)
        ]
        for entry in shown
    ]
    notes = [
        f"{resource.id} {why}"
        for resource, _ in shown
        if (why := silent.get((resource.unit, resource.id)))
    ]
    # In danger although the load that is seen would not empty it: the reason is not in the table.
    notes += [
        f"{resource.id}: {assessment.reason}"
        for resource, assessment in shown
        if assessment.verdict == "not_watched"
        or (
            assessment.verdict in {"warning", "critical"}
            and assessment.projection.time_to_empty_s == math.inf
        )
    ]
    notes += _why_unknown(shown)
    notes += _charged(entries, charges)
    if len(shown) < len(chosen):
        notes.append(f"less urgent and not shown: {len(chosen) - len(shown)}; leave out --limit")
    if not entries:
        return folded(_nothing(looks, args, place), terminal.columns)
    count = _count(entries, len(entries) - len(chosen), looks)
    columns = terminal.columns
    if not rows:
        return folded(count, columns)
    paint = painter(terminal.stdout, terminal.env)
    if columns is not None and columns < WITH_IDS:
        headings, rows = _without_ids(headings, rows)
    drawn = table(headings, rows, paint=paint, columns=columns, elastic=ELASTIC)
    return "\n".join([drawn, folded("\n".join([*notes, count]), columns)])


def _without_ids(
    headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[list[str], list[tuple[str, ...]]]:
    """The table with the room of the ids given to the names. Whatever has no name of its own has its id before that."""
    of_id, of_name = headings.index("resource"), headings.index("name")
    shared = Counter(row[of_name] for row in rows)
    named = (
        [
            *row[:of_name],
            row[of_name] if shared[row[of_name]] == 1 else f"{row[of_id]} {row[of_name]}".strip(),
            *row[of_name + 1 :],
        ]
        for row in rows
    )
    return (
        [*headings[:of_id], *headings[of_id + 1 :]],
        [(*row[:of_id], *row[of_id + 1 :]) for row in named],
    )


def _row(entry: Assessed, silent: Mapping[tuple[str, str], str]) -> tuple[str, ...]:
    """One resource as a row: first how long is left."""
    resource, assessment = entry
    projection = assessment.projection
    level = projection.level
    is_silent = (resource.unit, resource.id) in silent
    return (
        time_left(projection.time_to_empty_s),
        time_left(projection.worst_s),
        f"{word_of(assessment.verdict)}{', silent' if is_silent else ''}",
        balance(level.likely) if level and resource.terms.has_share else "-",
        resource.id,
        cut(inert(resource.name), LONGEST_NAME),
        resource.words.facts.get("type", resource.kind),
    )


def _why_unknown(entries: Sequence[Assessed]) -> Iterator[str]:
    """One line for each reason for which resources cannot be judged."""
    by_reason: dict[str, list[str]] = {}
    for resource, assessment in entries:
        if assessment.verdict == "unknown":
            by_reason.setdefault(assessment.reason, []).append(resource.id)
    for reason, ids in by_reason.items():
        yield f"unknown: {first_of(ids)}: {reason}"


def _charged(entries: Sequence[Assessed], charges: Charges) -> Iterator[str]:
    """Say what AWS has charged for surplus credits, the dearest resources first; nothing where it has not."""
    charged = [
        (resource, charge)
        for resource, _ in entries
        if (charge := charges.get((resource.unit, resource.key))) and charge.credits
    ]
    if not charged:
        return
    priced = sorted(
        ((charge.usd, resource) for resource, charge in charged if charge.usd is not None),
        key=lambda pair: -pair[0],
    )
    names = [f"{inert(resource.name) or resource.id} {usd(amount)}" for amount, resource in priced]
    in_all = usd(sum(amount for amount, _ in priced))
    unpriced = len(charged) - len(priced)
    parts = [f"{in_all} USD ({first_of(names)})"] if names else []
    parts += [f"{unpriced} at a price that is not known here"] if unpriced else []
    yield (
        f"surplus CPU credits charged in {CHARGED_S / DAY:.0f} days, of what is in Unlimited mode now: "
        f"{' and '.join(parts)}"
    )


def _nothing(looks: "Sequence[UnitSnapshot]", args: Namespace, place: str) -> str:
    excluded = sum(snapshot.excluded for snapshot in looks)
    left_out = f", {excluded} left out by tag" if excluded else ""
    hint = "" if args.all_regions else "; other regions: --all-regions"
    return f"no resource with credits in {place}{left_out}{hint}; {_requested(looks)}"


def _count(
    entries: Sequence[Assessed], without_credits: int, looks: "Sequence[UnitSnapshot]"
) -> str:
    """How many there are, how many of them nobody can judge, and how many are not in the table."""
    unknown = sum(assessment.verdict == "unknown" for _, assessment in entries)
    not_watched = sum(assessment.verdict == "not_watched" for _, assessment in entries)
    excluded = sum(snapshot.excluded for snapshot in looks)
    resources = "1 resource" if len(entries) == 1 else f"{len(entries)} resources"
    parts = [f"{resources}, {unknown} unknown"]
    if not_watched:
        parts.append(f"{not_watched} not watched")
    if without_credits:
        parts.append(f"{without_credits} without burst credits (--all shows them)")
    if excluded:
        parts.append(f"{excluded} left out by tag")
    return f"{', '.join(parts)}; {_requested(looks)}"


def _requested(looks: "Sequence[UnitSnapshot]") -> str:
    return f"{sum(snapshot.metrics_requested for snapshot in looks)} metrics requested"
