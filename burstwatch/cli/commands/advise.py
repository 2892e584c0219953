"""Recommend changes: what each resource needed, what would be enough, what that costs, and the command for it.

Nothing is changed. For an account, CloudWatch is queried once; for a recording, AWS is not called.
"""

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from burstwatch.backtest.advice import Advice, advise
from burstwatch.backtest.replay import Recorded
from burstwatch.bucket import DAY_S, HOUR_S
from burstwatch.cli.account import add_regions_arguments, chosen_regions, kinds_of, make_clients
from burstwatch.cli.advised import AdviceRecord, as_markdown, as_page, as_report
from burstwatch.cli.documents import as_document, place_of_unit
from burstwatch.cli.histories import KEEP_HELP, PastQuestion, read_kept, records_of_region
from burstwatch.cli.judging import add_settings_of_deployment, config_of
from burstwatch.cli.main import OK, PARTIAL, Terminal
from burstwatch.cli.output import painter
from burstwatch.cli.recorded import (
    FORMATS,
    add_series_arguments,
    names_file,
    read_recorded,
    subjects_of,
    use_each,
)
from burstwatch.cli.targets import check_target
from burstwatch.cli.values import days as read_days
from burstwatch.config import Config
from burstwatch.formatting import InputError, printable
from burstwatch.history.points import FIVE_MINUTES_KEPT, DemandPoint
from burstwatch.kinds import find_kinds

if TYPE_CHECKING:  # boto3 takes long to import
    from burstwatch.aws.client.session import Clients

DEFAULT_DAYS = 14.0


GROUP = "look"
EXAMPLE = "burstwatch advise --region eu-west-1 --days 30"


def add_arguments(parser: ArgumentParser) -> None:
    """A recording, or an account; how many days; and the form of output."""
    parser.epilog = (
        f"ID is a resource of the account, or its name; without it all are advised. {FORMATS}"
    )
    add_series_arguments(parser, metavar="FILE|ID", is_required=False)
    add_regions_arguments(parser)
    add_settings_of_deployment(parser, "advise the kinds and the tag that this deployment watches")
    parser.add_argument(
        "--days",
        type=read_days,
        metavar="DAYS",
        help=f"how much of the past, default {DEFAULT_DAYS:g} days",
    )
    parser.add_argument(
        "--keep",
        metavar="FILE.jsonl",
        help=KEEP_HELP,
    )
    parser.add_argument(
        "--load-is-enough",
        action="store_true",
        help="recommend for the measured load, and not for all that is served today",
    )
    parser.add_argument("--html", metavar="FILE.html", help="write a page with pictures")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one object per resource")
    form.add_argument("--markdown", action="store_true", help="print it for a ticket")


def run(args: Namespace, terminal: Terminal) -> int:
    """Advise each resource, the worst first. What cannot be read does not hide the others."""
    _check(args)
    if args.series and args.deployment is not None:
        msg = "--deployment is for all resources, and one is named"
        raise ValueError(msg)
    if args.html is not None:
        check_target(args.html, inputs=[*filter(names_file, args.series)])
    read_kept(_question(args))  # refuses early what it is not
    problems: list[str] = []
    code = OK
    if subjects := subjects_of(args):
        advised: list[tuple[str, AdviceRecord]] = []
        code = use_each(
            subjects, lambda subject: advised.append(_of_subject(subject, args, terminal)), terminal
        )
        if not advised:
            return code
        place = ", ".join(dict.fromkeys(place for place, _ in advised))
        records = [record for _, record in advised]
    else:
        place, records = _of_account(args, terminal, problems)
    records = sorted(records, key=lambda record: tuple(record["order"]))
    if args.html is not None:
        Path(args.html).write_text(as_page(records, place=place), encoding="utf-8")
    if args.json:
        lines = [
            as_document(
                "advice", _public(record), at=terminal.clock(), **place_of_unit(record["unit"])
            )
            for record in records
        ]
        print("".join(f"{line}\n" for line in lines), end="", file=terminal.stdout)
    elif args.markdown:
        print(as_markdown(records, place=place), end="", file=terminal.stdout)
    else:
        paint = painter(terminal.stdout, terminal.env)
        report = as_report(records, paint=paint, columns=terminal.columns)
        terminal.say(printable(place))
        print(report, file=terminal.stdout)
    for problem in problems:
        terminal.tell(problem)
    return PARTIAL if problems else code


def _check(args: Namespace) -> None:
    """Refuse days that CloudWatch does not keep, and options that only the other source takes."""
    days = DEFAULT_DAYS if args.days is None else args.days
    if not 1 <= days <= FIVE_MINUTES_KEPT.value:
        msg = f"is {days:g}; allowed: 1 to {FIVE_MINUTES_KEPT.value:g}: CloudWatch keeps five-minute datapoints so long"
        raise InputError(msg, name="days")
    are_files = [*map(names_file, subjects_of(args))]
    of_account = {"days": args.days, "keep": args.keep, "profile": args.profile, "all_regions": args.all_regions or None}  # fmt: skip
    of_file = {"type": args.type, "size_gib": args.size_gib, "spec": args.spec or None, "only": args.only or None, "period_s": args.period_s}  # fmt: skip
    refused = of_account if any(are_files) else {}
    refused |= of_file if not all(are_files) or not are_files else {}
    for name, value in refused.items():
        if value is not None:
            subject = (
                "a file, and none is given"
                if name in of_file
                else "the account, and not for a file"
            )
            if name in of_file and any(are_files):
                subject = "a file, and a resource of the account is named too"
            msg = f"--{name.replace('_', '-')} is for {subject}"
            raise ValueError(msg)


def _of_subject(subject: str, args: Namespace, terminal: Terminal) -> tuple[str, AdviceRecord]:
    """The advice for one recording or resource that is named, with its place."""
    return (_of_file if names_file(subject) else _of_resource)(subject, args, terminal)


def _of_resource(subject: str, args: Namespace, terminal: Terminal) -> tuple[str, AdviceRecord]:
    """The advice for one resource of the account, by its id or its name."""
    clients = make_clients(args, terminal.env)
    from burstwatch.aws.look.recording import record  # noqa: PLC0415 - boto3 takes long to import

    days = DEFAULT_DAYS if args.days is None else args.days
    recorded = record(clients, kinds_of(args), subject, now=terminal.clock(), back_s=days * DAY_S)
    return str(clients.unit()), _record(_advise(args, recorded), recorded)


def _advise(args: Namespace, recorded: Recorded) -> Advice:
    return advise(recorded, is_load_enough=args.load_is_enough)


def _of_file(subject: str, args: Namespace, terminal: Terminal) -> tuple[str, AdviceRecord]:
    """The advice for a recording, at the prices of ``--region``."""
    recorded = read_recorded(subject, args, command="advise", terminal=terminal)
    advice = replace(_advise(args, recorded), resource_id=recorded.name)
    return recorded.name, _record(advice, recorded)


def _of_account(
    args: Namespace, terminal: Terminal, problems: list[str]
) -> tuple[str, list[AdviceRecord]]:
    """The advice for every resource of the account, region by region; what fails goes into ``problems``."""
    regions = chosen_regions(args, terminal.env)
    config = config_of(args, terminal.env, lambda: regions.home)
    records: list[AdviceRecord] = []
    for region in regions.names:
        try:
            records += _of_region(args, regions.clients(region), config, terminal, problems)
        except ValueError as error:
            problems.append(f"{region}: {error}")
    return regions.place, records


def _of_region(
    args: Namespace,
    clients: "Clients",
    config: Config,
    terminal: Terminal,
    problems: list[str],
) -> list[AdviceRecord]:
    """The advice for one region."""
    kinds = kinds_of(args) if args.kind else [*find_kinds(config.kinds).values()]
    return records_of_region(
        clients,
        kinds,
        _question(args),
        lambda recorded: _record(_advise(args, recorded), recorded),
        terminal,
        problems,
        tag=config.tag,
    )


def _question(args: Namespace) -> PastQuestion:
    return PastQuestion(
        command="advise",
        days=DEFAULT_DAYS if args.days is None else args.days,
        terms={"load_is_enough": args.load_is_enough},
        fields=frozenset(
            {"order", "hourly", "hourly_from_s", "run_out_last_at", "charged_credits", "charged_s"}
        ),
        keep=args.keep,
    )


def _record(advice: Advice, recorded: Recorded) -> AdviceRecord:
    """The advice as ``--json`` prints it, with what the table and the pictures need besides."""
    bucket, after = recorded.resource.bucket, advice.fix.afterwards if advice.fix else None
    _, demand = recorded.points
    return {
        **advice.record(),
        "notes": list(recorded.notes),
        "doubts": list(recorded.doubts),
        "order": advice.order,
        "baseline": bucket.refill if bucket else None,
        "rate_afterwards": None if after is None or math.isinf(after.rate) else after.rate,
        "hourly": _hourly(demand),
        "hourly_from_s": demand[0].start_s if demand else 0.0,
    }


def _public(record: AdviceRecord) -> AdviceRecord:
    """The record without what only pictures and the order of the table need."""
    hidden = {"order", "hourly", "hourly_from_s", "key", "question", "at_s", "unit"}
    return {name: value for name, value in record.items() if name not in hidden}


def _hourly(demand: Sequence[DemandPoint]) -> list[float]:
    """The highest rate of each hour from the first on; 0 in one of which nothing is known."""
    if not demand:
        return []
    begin = demand[0].start_s
    highest = [0.0] * (1 + int((demand[-1].start_s - begin) // HOUR_S))
    for point in demand:
        hour = int((point.start_s - begin) // HOUR_S)
        highest[hour] = max(highest[hour], point.nominal)
    return highest
