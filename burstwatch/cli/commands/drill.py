"""Test that an alarm reaches its subscribers: make a test alarm with its messages, and check each step.

The deployed function makes the episode with its own permissions. All subscribers get it, and it
is marked as a drill everywhere. It takes some minutes, because CloudWatch checks an alarm
once a minute. You need permission to describe the stack and alarms, invoke the function, list and
make subscriptions, and make a queue.
"""

import secrets
import signal
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from burstwatch.cli.account import add_deployment_arguments, deployed_config, make_clients
from burstwatch.cli.documents import as_document
from burstwatch.cli.main import PARTIAL, Terminal
from burstwatch.formatting import span
from burstwatch.history.observations import Verdict
from burstwatch.shards import Unit

if TYPE_CHECKING:  # boto3 takes long to import
    from burstwatch.aws.drill.drill import Hop

TOPICS: dict[str, Verdict] = {"page": "critical", "notice": "warning"}


GROUP = "deployment"
EXAMPLE = "burstwatch drill --region eu-west-1"


def add_arguments(parser: ArgumentParser) -> None:
    """Which deployment, which topic, and how to print."""
    add_deployment_arguments(parser)
    parser.add_argument("--topic", choices=tuple(TOPICS), default="page", help="default: page")
    parser.add_argument(
        "--without-queue",
        action="store_true",
        help="do not make the queue that checks delivery (it needs sqs:CreateQueue and sns:Subscribe)",
    )
    parser.add_argument("--json", action="store_true", help="print one object per step")


def run(args: Namespace, terminal: Terminal) -> int:
    """Run it, and print each hop as it ends."""
    config = deployed_config(args, terminal.env)
    clients = make_clients(args, terminal.env)
    from burstwatch.aws.client.deployment import find_deployment  # noqa: PLC0415 - boto3 takes long to import
    from burstwatch.aws.drill.drill import Drill  # noqa: PLC0415
    from burstwatch.aws.drill.steps import ID_PREFIX  # noqa: PLC0415

    deployment = find_deployment(clients, config.deployment, args.stack)
    drill = Drill(
        clients=clients,
        function=deployment.function,
        severity=TOPICS[args.topic],
        drill_id=f"{ID_PREFIX}{secrets.token_hex(4)}",
        clock=terminal.clock,
        sleep=time.sleep,
        with_queue=not args.without_queue,
        begun=partial(_show_begun, terminal),
    )
    hops = []
    try:
        with _interrupted_by_sigterm(), closing(drill.run()) as tried:
            for hop in tried:
                hops.append(hop)
                _show_begun(terminal, "")
                if args.json:
                    document = _json(hop, clients.unit(), terminal)
                    print(document, file=terminal.stdout, flush=True)
                else:
                    terminal.say(_line(hop))
    except KeyboardInterrupt:
        _show_begun(terminal, "")
        text = "the drill is stopped. If its alarm is in ALARM, sweeps end it and delete it, at the latest after an hour"
        terminal.tell(text)
        raise
    failed = [hop for hop in hops if hop.ok is False]
    if failed:
        names = ", ".join(hop.name for hop in failed)
        terminal.tell(f"the drill failed at: {names}")
        return PARTIAL
    if not args.json:
        total = sum(
            hop.seconds or 0.0
            for hop in hops
            if hop.name in {"metric", "alarm", "raised", "delivered"}
        )
        terminal.say(f"from the metric to the subscriber: {span(total)}")
    return 0


@contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """End on SIGTERM as on Ctrl-C: the drill then takes away what it made."""

    def interrupt(*_: object) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # what is being taken away is not left half
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


#: The reason for which each long step waits. The limit of the drill for each is ten minutes.
WAITS = {
    "raised": "waiting for CloudWatch to see the metric, about a minute",
    "delivered": "waiting for the message, some seconds",
    "resolved": "waiting for CloudWatch to see the end, up to five minutes",
    "recovery delivered": "waiting for the message, some seconds",
}


def _show_begun(terminal: Terminal, name: str) -> None:
    """Name the step that is waited for: on a terminal each, elsewhere those that take minutes. An empty name removes the line."""
    if not terminal.stderr.isatty():
        if name in {"raised", "resolved"}:
            terminal.tell(f"{name}: {WAITS[name]}")
        return
    text = f"{name}: {WAITS[name]} ..." if name in WAITS else name and f"{name} ..."
    terminal.show_step(text)


def _json(hop: "Hop", unit: Unit, terminal: Terminal) -> str:
    results = {True: "ok", False: "failed", None: "not tried"}
    body = {
        "step": hop.name,
        "result": results[hop.ok],
        "took_s": hop.seconds,
        "detail": hop.detail,
    }
    return as_document("step", body, at=terminal.clock(), account=unit.account, region=unit.region)


def _line(hop: "Hop") -> str:
    mark = {True: "ok", False: "FAILED", None: "-"}[hop.ok]
    seconds = "" if hop.seconds is None else span(hop.seconds)
    return f"{hop.name:<20}{mark:<8}{seconds:<8}{hop.detail}"
