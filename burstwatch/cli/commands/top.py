"""Watch an account in the terminal: the worst first, with times that count down. On a pipe it prints once."""

import math
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from burstwatch import installing
from burstwatch.cli.account import add_account_arguments, make_clients, where_of
from burstwatch.cli.board import Board, word_of
from burstwatch.cli.main import Terminal
from burstwatch.config import Config, config_from_env
from burstwatch.formatting import table
from burstwatch.kinds import find_kinds

LEAST_S, MOST_S = 10.0, 3_600.0
BUDGET_S = 120.0
HEADINGS = ("resource", "type", "verdict", "balance", "empty in", "worst case")


GROUP = "look"


def add_arguments(parser: ArgumentParser) -> None:
    """Which resources, and how often to look."""
    add_account_arguments(parser)
    parser.add_argument("--kind", metavar="KIND,...", default="", help="only these kinds")
    parser.add_argument(
        "--every",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="how often to refresh, in seconds (default 60); resources far from danger are refreshed less often",
    )


def run(args: Namespace, terminal: Terminal) -> int:
    """Watch until it is told to end; on a pipe, look once."""
    if not LEAST_S <= args.every <= MOST_S:
        msg = f"every must be {LEAST_S:g} to {MOST_S:g} seconds, got {args.every:g}"
        raise ValueError(msg)
    config = config_from_env(terminal.env)
    find_kinds(args.kind or config.kinds)  # refuses early what there is not
    look = make_look(args, terminal, config)
    if not terminal.stdout.isatty():
        board = Board()
        look(board)
        rows = [
            (line.name, line.type, word_of(line.verdict), line.balance, line.time_left, line.worst)
            for line in board.lines(terminal.clock())
        ]
        if rows:
            print(table(HEADINGS, rows), file=terminal.stdout)
        print(board.summary(terminal.clock()), file=terminal.stdout)
        for problem in board.problems:
            print(f"burstwatch: {problem}", file=terminal.stderr)
        return 1 if board.problems else 0
    try:
        from burstwatch.cli.live import Top  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        msg = f"{error.name} is not installed, the live view needs: {installing('aws,terminal')}"
        raise ValueError(msg) from None
    Top(look, clock=terminal.clock, every_s=args.every).run()
    return 0


def make_look(args: Namespace, terminal: Terminal, config: Config) -> Callable[[Board], None]:
    """A function that asks for what is due, as a sweep does: by the deadline of each resource."""
    clients = make_clients(args, terminal.env)
    from burstwatch.aws.client.session import Deadline  # noqa: PLC0415
    from burstwatch.aws.look.memory import Memory  # noqa: PLC0415
    from burstwatch.aws.look.snapshot import look  # noqa: PLC0415 - boto3 is an extra

    unit, memory = clients.unit(), Memory()

    def ask(board: Board) -> None:
        now = terminal.clock()
        snapshot = look(
            unit,
            find_kinds(args.kind or config.kinds).values(),
            clients,
            config,
            memory,
            now=now,
            deadline=Deadline(time.monotonic, at=time.monotonic() + BUDGET_S),
            demand_horizon_s=math.inf,
        )
        board.take(
            snapshot.assessments,
            at=now,
            place=where_of(unit),
            requested=snapshot.metrics_requested,
            problems=tuple(
                f"{snapshot.unit}: {problem.part}: {problem.error}" for problem in snapshot.problems
            ),
        )

    return ask
