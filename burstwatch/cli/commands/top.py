"""Watch an account in the terminal: the worst first, with times that count down. In a pipe it prints once."""

import math
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING

from burstwatch.cli.account import Regions, add_units_arguments, check_kinds, chosen_regions
from burstwatch.cli.board import Board, word_of
from burstwatch.cli.judging import add_deployed_settings_arguments, config_of
from burstwatch.cli.main import Terminal
from burstwatch.cli.values import seconds
from burstwatch.config import Config
from burstwatch.formatting import InputError, table
from burstwatch.kinds import find_kinds

if TYPE_CHECKING:  # boto3 takes long to import
    from burstwatch.aws.client.session import Clients

LEAST_S, MOST_S = 10.0, 3_600.0
BUDGET_S = 120.0
HEADINGS = ("runs out in", "worst case", "verdict", "balance", "resource", "type")
ELASTIC = frozenset({"resource", "type"})


GROUP = "look"
EXAMPLE = "burstwatch top --region eu-west-1"


def add_arguments(parser: ArgumentParser) -> None:
    """Which resources, and how often to look."""
    add_units_arguments(parser)
    parser.add_argument("--kind", metavar="KIND,...", default="", help="only these kinds")
    parser.add_argument(
        "--every",
        type=seconds,
        default=60.0,
        metavar="SECONDS",
        help="how often to refresh, in seconds (default 60); resources far from danger are refreshed less often",
    )
    add_deployed_settings_arguments(parser)


def run(args: Namespace, terminal: Terminal) -> int:
    """Watch until it is told to end; on a pipe, look once."""
    if not LEAST_S <= args.every <= MOST_S:
        msg = f"must be {LEAST_S:g} to {MOST_S:g} seconds, got {args.every:g}"
        raise InputError(msg, name="every")
    check_kinds(args.kind or None)
    regions = chosen_regions(args, terminal.env)
    config = config_of(args, terminal.env, lambda: regions.home)
    look = make_look(args, terminal, config, regions)
    if not terminal.stdout.isatty():
        board = Board()
        look(board)
        rows = [
            (line.time_left, line.worst, word_of(line.verdict), line.balance, line.name, line.type)
            for line in board.lines(terminal.clock())
        ]
        if rows:
            columns = terminal.columns
            print(table(HEADINGS, rows, columns=columns, elastic=ELASTIC), file=terminal.stdout)
        terminal.say(board.summary(terminal.clock()))
        for problem in board.problems:
            terminal.tell(problem)
        return 1 if board.problems else 0
    from burstwatch.cli.live import Top  # noqa: PLC0415 - Textual takes long to import

    Top(look, clock=terminal.clock, every_s=args.every).run()
    return 0


def make_look(
    args: Namespace, terminal: Terminal, config: Config, regions: Regions
) -> Callable[[Board], None]:
    """A function that asks for what is due in each region, as a sweep does: by the deadline of each resource."""
    from burstwatch.aws.client.session import Deadline  # noqa: PLC0415
    from burstwatch.aws.look.memory import Memory  # noqa: PLC0415
    from burstwatch.aws.look.snapshot import look  # noqa: PLC0415 - boto3 takes long to import

    clients_of: dict[str, Clients] = {}
    memories = {region: Memory() for region in regions.names}

    def ask(board: Board) -> None:
        now = terminal.clock()
        snapshots, problems = [], [*regions.problems]
        for region in regions.names:
            try:
                if region not in clients_of:
                    clients_of[region] = regions.clients(region)
                snapshot = look(
                    clients_of[region].unit(),
                    find_kinds(args.kind or config.kinds).values(),
                    clients_of[region],
                    config,
                    memories[region],
                    now=now,
                    deadline=Deadline(time.monotonic, at=time.monotonic() + BUDGET_S),
                    demand_horizon_s=math.inf,
                )
            except ValueError as error:
                if not (args.all_regions or args.all_units):
                    raise
                problems.append(f"{region}: {error}")
                continue
            snapshots.append(snapshot)
            problems += [
                f"{snapshot.unit}: {problem.part}: {problem.error}" for problem in snapshot.problems
            ]
        board.take(
            {
                f"{snapshot.unit} {resource_id}": assessed
                for snapshot in snapshots
                for resource_id, assessed in snapshot.assessments.items()
            },
            backgrounds={
                f"{snapshot.unit} {resource_id}": background
                for snapshot in snapshots
                for resource_id, background in snapshot.backgrounds.items()
            },
            at=now,
            place=regions.place,
            requested=sum(snapshot.metrics_requested for snapshot in snapshots),
            problems=tuple(problems),
        )

    return ask
