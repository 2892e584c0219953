"""List the episodes of the last days: the resource, how early the alarm came, how long the bucket was empty.

They are read from the log of the deployed function, which keeps them for a month, and from the
alarms that are there now. Needs logs:FilterLogEvents, cloudformation:DescribeStacks and
cloudwatch:DescribeAlarms.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from burstwatch.cli.account import (
    add_deployment_arguments,
    deployed_config,
    make_clients,
    parse_duration,
)
from burstwatch.cli.main import Terminal
from burstwatch.cli.output import to_json
from burstwatch.formatting import clock_time, span, table
from burstwatch.messages.episode import Episode

HEADINGS = (
    "began", "resource", "name", "severity", "lasted", "lead", "at zero", "lowest", "details"
)  # fmt: skip


def add_arguments(parser: ArgumentParser) -> None:
    """Which deployment, since when, and how to print."""
    add_deployment_arguments(parser)
    parser.add_argument("--since", default="7d", help="such as 12h or 30d, at most 30d; default 7d")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one object per line")
    form.add_argument(
        "--annotations",
        action="store_true",
        help="print one object per line for Grafana's POST /api/annotations",
    )


def run(args: Namespace, terminal: Terminal) -> int:
    """Read and print them."""
    deployment = deployed_config(args, terminal.env).deployment
    now = terminal.clock()
    since_s = now - parse_duration("since", args.since, low="1h", high="30d")
    clients = make_clients(args, terminal.env)
    from burstwatch.aws.alarms import read_alarms  # noqa: PLC0415 - boto3 is an extra
    from burstwatch.aws.deployment import find_deployment  # noqa: PLC0415
    from burstwatch.aws.episodes import open_episodes, read_episodes  # noqa: PLC0415
    from burstwatch.aws.names import alarm_prefixes  # noqa: PLC0415
    from burstwatch.aws.session import AWS_ERRORS, AwsError, describe_error  # noqa: PLC0415

    log_group = find_deployment(clients, deployment, args.stack).one("LogGroupName")
    closed = read_episodes(clients, log_group, since_s=since_s)
    try:
        alarms = [
            alarm for prefix in alarm_prefixes(deployment) for alarm in read_alarms(clients, prefix)
        ]
    except AWS_ERRORS as error:
        raise AwsError(describe_error(error)) from error
    episodes = [*closed, *open_episodes(alarms)]
    if args.json:
        text = "\n".join(to_json(one.record()) for one in episodes)
    elif args.annotations:
        text = "\n".join(to_json(_annotation(one)) for one in episodes)
    else:
        text = _report(episodes, since=args.since, now=now)
    print(text, file=terminal.stdout, end="\n" if text else "")
    return 0


def _report(episodes: Sequence[Episode], *, since: str, now: float) -> str:
    if not episodes:
        return f"no episodes in the last {since}"
    rows = [
        (
            clock_time(one.opened_s, now=now),
            one.resource_id,
            one.name[:24],
            one.severity,
            "still open" if one.closed_s is None else span(one.lasted_s),
            _lead(one),
            _at_zero(one, now=now),
            "-" if one.lowest_ratio is None else f"{one.lowest_ratio:.0%}",
            one.console,
        )
        for one in episodes
    ]
    count = f"{len(episodes)} episode{'s' if len(episodes) > 1 else ''} in the last {since}"
    return f"{table(HEADINGS, rows)}\n{count}"


def _lead(one: Episode) -> str:
    """The lead. A sweep sees an empty bucket minutes later, and an open episode is not measured yet."""
    is_measured = one.closed_s is not None or one.lead_s is None
    return span(one.lead_s) if is_measured else f"at most {span(one.lead_s)}"


def _at_zero(one: Episode, *, now: float) -> str:
    if one.closed_s is None and one.empty_s is not None:
        return f"first at {clock_time(one.empty_s, now=now)}"
    return span(one.at_zero_s)


def _annotation(one: Episode) -> dict[str, object]:
    """The episode as Grafana's HTTP API takes an annotation.

    https://grafana.com/docs/grafana/latest/developers/http_api/annotations/ (2026-11)
    """
    zero = f", {span(one.at_zero_s)} at zero" if one.at_zero_s else ""
    found: dict[str, object] = {
        "time": round(one.opened_s * 1000),
        "tags": ["burstwatch", one.severity, one.kind, one.resource_id],
        "text": f"{one.name or one.resource_id}: {one.severity}{zero}",
    }
    return found if one.closed_s is None else {**found, "timeEnd": round(one.closed_s * 1000)}
