"""Audit the account's own alarms on credits: which can never fire, which fire too late, which burstwatch replaces.

It changes nothing. Needs cloudwatch:DescribeAlarms, sns:GetTopicAttributes and sns:ListSubscriptionsByTopic beside the
permissions of scan.
"""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from burstwatch.cli.account import add_regions_arguments, chosen_regions
from burstwatch.cli.documents import as_document
from burstwatch.cli.main import PARTIAL, Terminal
from burstwatch.formatting import clock_time, inert, table
from burstwatch.kinds import find_kinds

if TYPE_CHECKING:  # boto3 takes long to import
    from burstwatch.aws.audit.audit import AuditedAlarm

HEADINGS = ("alarm", "resource", "watches", "result", "why")


GROUP = "deployment"
EXAMPLE = "burstwatch audit-alarms --all-regions"


def add_arguments(parser: ArgumentParser) -> None:
    """The regions, and the form of output."""
    add_regions_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one object per alarm")


def run(args: Namespace, terminal: Terminal) -> int:
    """Audit region by region. A region that fails does not hide the others."""
    regions = chosen_regions(args, terminal.env)
    from burstwatch.aws.audit.audit import MEND_FIRST, audit_alarms  # noqa: PLC0415

    audited, problems = [], []
    for region in regions.names:
        try:
            clients = regions.clients(region)
            alarms, failed = audit_alarms(clients, [*find_kinds().values()], now=terminal.clock())
        except ValueError as error:
            problems.append(f"{region}: {error}")
            continue
        audited += [(region, alarm) for alarm in alarms]
        problems += [f"{region}: {problem.part}: {problem.error}" for problem in failed]
    if args.json:
        account = regions.home.unit().account
        for region, alarm in audited:
            print(_json(alarm, account, region, terminal), file=terminal.stdout)
    else:
        now = terminal.clock()
        terminal.say(f"{regions.place}, {clock_time(now, now=now)}")
        rows = [(inert(a.name), a.resource_id, a.watches, a.result, a.why) for _, a in audited]
        if rows:
            print(table(HEADINGS, rows, columns=terminal.columns), file=terminal.stdout)
        results = [alarm.result for _, alarm in audited]
        counts = [f"{results.count(name)} {name}" for name in MEND_FIRST if name in results]
        summary = f"alarms on credits: {len(audited)}{': ' if counts else ''}{', '.join(counts)}"
        terminal.say(summary)
    for problem in problems:
        terminal.tell(problem)
    return PARTIAL if problems else 0


def _json(alarm: "AuditedAlarm", account: str, region: str, terminal: Terminal) -> str:
    body = {
        "id": alarm.resource_id,
        "name": alarm.name,
        "watches": alarm.watches,
        "result": alarm.result,
        "reason": alarm.why,
        "left_s": alarm.left_s,
    }
    return as_document("alarm", body, at=terminal.clock(), account=account, region=region)
