"""Serve the burst credits of an account, or of many, to Prometheus. It only reads."""

import logging
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from burstwatch import installing
from burstwatch.cli.account import (
    DEFAULT_DEPLOYMENT,
    Regions,
    add_units_arguments,
    check_kinds,
    chosen_regions,
    make_clients,
)
from burstwatch.cli.judging import add_deployed_settings_arguments, config_of
from burstwatch.cli.main import Terminal
from burstwatch.cli.values import plain, seconds
from burstwatch.formatting import InputError
from burstwatch.kinds import find_kinds

if TYPE_CHECKING:  # boto3, prometheus-client and tornado are extras
    from burstwatch.aws.client.session import Clients
    from burstwatch.aws.watched.joining import Listed
    from burstwatch.aws.watched.units import UnitSpec
    from burstwatch.fleet.poller import Poller
    from burstwatch.fleet.serving import ServeOptions

GROUP = "look"
EXAMPLE = "burstwatch serve --units units.yml"
EXIT_CODES = "Exit codes: 0 stopped on request, 2 wrong input or configuration."
DEFAULT_ADDRESS = "127.0.0.1:10048"
#: The period of the polls, in seconds: an alert fires when an answer is three of the longest old.
LEAST_S, MOST_S = 60.0, 300.0
#: A resource has about thirteen series.
DEFAULT_RESOURCES, MOST_RESOURCES = 20_000, 200_000
MOST_TAGS = 20


def add_arguments(parser: ArgumentParser) -> None:
    """Units, the address to serve on, and the settings to judge with."""
    add_units_arguments(parser)
    parser.add_argument(
        "--units",
        type=Path,
        metavar="FILE",
        help="a YAML or JSON list of accounts and regions: entries with account, region, role_arn and external_id",
    )
    parser.add_argument("--kind", metavar="KIND,...", default="", help="only these kinds")
    parser.add_argument(
        "--every",
        type=seconds,
        metavar="SECONDS",
        help="how often to poll, from 60 to 300 seconds (default 60); resources far from running out are polled less often",
    )
    parser.add_argument(
        "--tags",
        metavar="TAG,...",
        default="",
        help="tags of the resources that become labels of burstwatch_resource_info",
    )
    parser.add_argument(
        "--max-resources",
        type=plain,
        metavar="COUNT",
        default=float(DEFAULT_RESOURCES),
        help=f"the most resources to publish, about 13 series each (default {DEFAULT_RESOURCES}); of more, those closest to running out",
    )
    parser.add_argument(
        "--web.listen-address",
        dest="address",
        metavar="HOST:PORT",
        default=DEFAULT_ADDRESS,
        help=f"the address to serve on, default {DEFAULT_ADDRESS}; without a host it serves on every address",
    )
    parser.add_argument(
        "--web.config.file",
        dest="web_config",
        type=Path,
        metavar="FILE",
        help="TLS and passwords, in the format of Prometheus' exporter toolkit",
    )
    add_deployed_settings_arguments(parser)


def run(args: Namespace, terminal: Terminal) -> int:
    """Serve until told to stop."""
    try:
        from burstwatch.fleet.serving import serve_fleet  # noqa: PLC0415 - an extra
        from burstwatch.web.server import stop_on_signals  # noqa: PLC0415
    except ModuleNotFoundError as error:
        msg = f"{error.name} is not installed, this command needs: {installing('exporter')}"
        raise ValueError(msg) from None
    fleet, options = make_fleet(args, terminal)
    logging.basicConfig(
        level=logging.INFO, stream=terminal.stderr, format="%(levelname)s %(message)s"
    )
    logging.getLogger("botocore").setLevel(logging.WARNING)
    stop = Event()
    stop_on_signals(stop)
    serve_fleet(fleet, options, clock=terminal.clock, stop=stop)
    return 0


def make_fleet(args: Namespace, terminal: Terminal) -> "tuple[Poller, ServeOptions]":
    """The fleet of the command line, and how it is served.

    Raises:
        ValueError: for an argument, setting or file that is not as allowed.
        AwsError: without credentials, or if the regions cannot be listed.
    """
    from burstwatch.aws.watched.units import Connections  # noqa: PLC0415 - boto3 takes long to import
    from burstwatch.fleet.poller import Poller  # noqa: PLC0415
    from burstwatch.fleet.serving import ServeOptions  # noqa: PLC0415
    from burstwatch.fleet.units_file import read_units  # noqa: PLC0415
    from burstwatch.web.address import parse_address  # noqa: PLC0415

    check_kinds(args.kind or None)
    _check_period(args.every)
    tags = _tags(args.tags)
    if not 1 <= args.max_resources <= MOST_RESOURCES:
        msg = f"is {args.max_resources:g}; allowed: 1 to {MOST_RESOURCES}"
        raise InputError(msg, name="max-resources")
    for name in ("all_regions", "all_units"):
        if args.units is not None and getattr(args, name):
            msg = f"give either --units or --{name.replace('_', '-')}, not both"
            raise ValueError(msg)
    address = parse_address("web.listen-address", args.address)
    specs = [] if args.units is None else read_units(args.units)
    regions = chosen_regions(args, terminal.env)
    for problem in regions.problems:
        terminal.tell(problem)
    config = config_of(args, terminal.env, lambda: regions.home)
    period_s = args.every or min(config.sweep_period_s, MOST_S)
    config = replace(config, sweep_period_s=period_s)
    _check_once(specs, regions)
    fleet = Poller(
        specs or regions.specs or _own_units(regions),
        Connections(home=regions.home, connect=_connector(args, terminal.env)),
        [*find_kinds(args.kind or config.kinds).values()],
        config,
        clock=terminal.clock,
    )
    return fleet, ServeOptions(
        address=address,
        web_config_file=args.web_config,
        tags=tags,
        most_resources=int(args.max_resources),
        every_s=config.sweep_period_s,
        relist=partial(_relist, args, regions, terminal.clock, {}) if args.all_units else None,
        is_listed=not regions.problems,
    )


def _relist(
    args: Namespace, regions: Regions, clock: Callable[[], float], listed: "Listed"
) -> "tuple[Sequence[UnitSpec], Sequence[str]]":
    """The units of the deployment by now, and what could not be listed. ``listed`` is kept between two calls."""
    from burstwatch.aws.watched.deployed import read_watched_units  # noqa: PLC0415

    deployment = args.deployment or DEFAULT_DEPLOYMENT
    specs, problems = read_watched_units(
        regions.home, deployment, args.stack, now=clock(), listed=listed
    )
    return specs, [f"{problem.part}: {problem.error}" for problem in problems]


def _check_once(specs: "Sequence[UnitSpec]", regions: Regions) -> None:
    """Refuse a unit that is named twice, once with its account and once as that of the program."""
    home = regions.home.unit()
    places = [(spec.account or home.account, spec.region or home.region) for spec in specs]
    for account, region in places:
        if places.count((account, region)) > 1:
            msg = f"has {account}/{region} twice; allowed: each account and region once"
            raise InputError(msg, name="units")


def _own_units(regions: Regions) -> "list[UnitSpec]":
    from burstwatch.aws.watched.units import UnitSpec  # noqa: PLC0415

    return [UnitSpec(region=name) for name in regions.names]


def _connector(
    args: Namespace, env: Mapping[str, str]
) -> "Callable[[Clients, UnitSpec, str], tuple[Clients, float]]":
    from burstwatch.aws.watched.units import connect  # noqa: PLC0415

    def connect_as_told(
        home: "Clients", spec: "UnitSpec", deployment: str
    ) -> "tuple[Clients, float]":
        if spec.role_arn or spec.region in {"", home.region}:
            return connect(home, spec, deployment)
        return make_clients(args, env, spec.region), inf  # with the profile of the command line

    return connect_as_told


def _check_period(every_s: float | None) -> None:
    """Refuse a period of the polls on which the margin, or an alert on their age, could not rely."""
    if every_s is not None and not LEAST_S <= every_s <= MOST_S:
        msg = f"is {every_s:g}; allowed: {LEAST_S:g} to {MOST_S:g} seconds"
        raise InputError(msg, name="every")


def _tags(text: str) -> list[str]:
    """The names of tags with commas between. Raises ValueError where two make the same label."""
    from burstwatch.fleet.metrics import label_of_tag  # noqa: PLC0415

    tags = [tag.strip() for tag in text.split(",") if tag.strip()]
    if len(tags) > MOST_TAGS:
        msg = f"names {len(tags)} tags; allowed: {MOST_TAGS}"
        raise InputError(msg, name="tags")
    owners: dict[str, str] = {}
    for tag in tags:
        owner = owners.setdefault(label_of_tag(tag), tag)
        if owner is not tag:
            msg = f"has {owner!r} and {tag!r}, which both become the label {label_of_tag(tag)}"
            raise InputError(msg, name="tags")
    return tags
