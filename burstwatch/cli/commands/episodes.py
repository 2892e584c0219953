"""List the episodes of the last days: the resource, how early the alarm came, how long the bucket was empty.

They are read from the log of the deployed function, which keeps them for a month, and from the
alarms that are there now. Needs logs:FilterLogEvents, cloudformation:DescribeStacks and
cloudwatch:DescribeAlarms, or with --digest cloudwatch:GetMetricData.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from burstwatch.cli.account import (
    add_deployment_arguments,
    deployed_config,
    make_clients,
    parse_duration,
)
from burstwatch.cli.documents import as_document, place_of_unit
from burstwatch.cli.main import Terminal
from burstwatch.cli.output import to_json
from burstwatch.formatting import balance, clock_time, inert, span, table
from burstwatch.messages.episode import Episode
from burstwatch.messages.text import email

HEADINGS = (
    "began", "resource", "name", "severity", "lasted", "lead", "at zero", "lowest", "details"
)  # fmt: skip


GROUP = "deployment"
EXAMPLE = "burstwatch episodes --since 30d"


def add_arguments(parser: ArgumentParser) -> None:
    """Which deployment, since when, and how to print."""
    add_deployment_arguments(parser)
    parser.add_argument("--since", help="such as 12h or 30d, at most 30d; default 7d")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--digest",
        action="store_true",
        help="print the digest of seven days: episodes, false pages, near misses, cost, and what would help",
    )
    form.add_argument("--json", action="store_true", help="print one object per line")
    form.add_argument(
        "--annotations",
        action="store_true",
        help="print one object per line for Grafana's POST /api/annotations",
    )


def run(args: Namespace, terminal: Terminal) -> int:
    """Print the episodes that ended since a time, from the function's log, and the open ones, from the alarms."""
    config = deployed_config(args, terminal.env)
    now, since = terminal.clock(), "7d" if args.since is None else args.since
    since_s = now - parse_duration("since", since, low="1h", high="30d")
    if args.digest and args.since is not None:
        msg = "--since would be ignored: the digest is of seven days"
        raise ValueError(msg)
    clients = make_clients(args, terminal.env)
    from burstwatch.aws.alarms.api import read_alarms  # noqa: PLC0415 - boto3 takes long to import
    from burstwatch.aws.alarms.digest import make_digest  # noqa: PLC0415
    from burstwatch.aws.alarms.episodes import open_episodes, read_episodes  # noqa: PLC0415
    from burstwatch.aws.client.deployment import find_deployment  # noqa: PLC0415
    from burstwatch.aws.client.names import alarm_prefixes  # noqa: PLC0415
    from burstwatch.aws.client.session import AWS_ERRORS, AwsError, describe_error  # noqa: PLC0415

    log_group = find_deployment(clients, config.deployment, args.stack).output("LogGroupName")
    if args.digest:
        print(email(make_digest(clients, log_group, config, now=now)), file=terminal.stdout, end="")
        return 0
    closed = read_episodes(clients, log_group, since_s=since_s)
    try:
        prefixes = alarm_prefixes(config.deployment)
        alarms = read_alarms(clients, *prefixes, deployment=config.deployment)
    except AWS_ERRORS as error:
        raise AwsError(describe_error(error)) from error
    episodes = [*closed, *open_episodes(alarms)]
    if args.json:
        text = "\n".join(_json(episode) for episode in episodes)
    elif args.annotations:
        text = "\n".join(to_json(_annotation(episode)) for episode in episodes)
    else:
        text = _report(episodes, since=since, now=now, columns=terminal.columns)
    print(text, file=terminal.stdout, end="\n" if text else "")
    return 0


def _json(episode: Episode) -> str:
    """Write the episode as a document. The lead of an open one can still become shorter."""
    is_open = episode.closed_s is None
    body = {
        "id": episode.resource_id,
        "name": episode.name,
        "kind": episode.kind,
        "verdict": episode.severity,
        "opened_at": episode.opened_s,
        "paged_at": episode.paged_s,
        "empty_at": episode.empty_s,
        "closed_at": episode.closed_s,
        "lasted_s": episode.lasted_s,
        "lead_s": episode.lead_s,
        "lead_is_at_most": is_open and episode.lead_s is not None,
        "at_zero_s": episode.at_zero_s,
        "balance_lowest": episode.lowest_ratio,
        "fix": episode.fix,
        "console": episode.console,
    }
    return as_document("episode", body, at=episode.opened_s, **place_of_unit(episode.unit))


def _report(episodes: Sequence[Episode], *, since: str, now: float, columns: int | None) -> str:
    """Write the episodes as a table with their count below."""
    if not episodes:
        return f"no episodes in the last {since}"
    rows = [
        (
            clock_time(episode.opened_s, now=now),
            episode.resource_id,
            inert(episode.name[:24]),
            episode.severity,
            "still open" if episode.closed_s is None else span(episode.lasted_s),
            _lead(episode),
            _at_zero(episode, now=now),
            "-" if episode.lowest_ratio is None else balance(episode.lowest_ratio),
            episode.console,
        )
        for episode in episodes
    ]
    count = f"{len(episodes)} episode{'s' if len(episodes) > 1 else ''} in the last {since}"
    return f"{table(HEADINGS, rows, columns=columns)}\n{count}"


def _lead(episode: Episode) -> str:
    """The lead. A sweep sees an empty bucket minutes later, and an open episode is not measured yet."""
    is_measured = episode.closed_s is not None or episode.lead_s is None
    return span(episode.lead_s) if is_measured else f"at most {span(episode.lead_s)}"


def _at_zero(episode: Episode, *, now: float) -> str:
    if episode.closed_s is None and episode.empty_s is not None:
        return f"first at {clock_time(episode.empty_s, now=now)}"
    return span(episode.at_zero_s)


def _annotation(episode: Episode) -> dict[str, object]:
    """The episode as Grafana's HTTP API takes an annotation.

    https://grafana.com/docs/grafana/latest/developers/http_api/annotations/ (2026-11)
    """
    zero = f", {span(episode.at_zero_s)} at zero" if episode.at_zero_s else ""
    annotation: dict[str, object] = {
        "time": round(episode.opened_s * 1000),
        "tags": ["burstwatch", episode.severity, episode.kind, episode.resource_id],
        "text": f"{episode.name or episode.resource_id}: {episode.severity}{zero}",
    }
    return (
        annotation
        if episode.closed_s is None
        else {**annotation, "timeEnd": round(episode.closed_s * 1000)}
    )
