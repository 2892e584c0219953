"""Defines the arguments and makes the clients that the commands which talk to AWS have in common."""

import math
import re
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from burstwatch.config import ENV_PREFIX, Config, config_from_env
from burstwatch.formatting import DAY, HOUR, MINUTE, InputError
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind
from burstwatch.polling.bill import ONE_UNIT, Extent
from burstwatch.shards import Unit

if TYPE_CHECKING:  # boto3 takes long to import
    from burstwatch.aws.client.session import Clients
    from burstwatch.aws.watched.units import UnitSpec


#: Where the list of regions is asked for if no region is known.
ANY_REGION = "us-east-1"
DEFAULT_DEPLOYMENT = "burstwatch"


def add_account_arguments(parser: ArgumentParser) -> None:
    """``--profile`` and ``--region``."""
    parser.add_argument("--profile", help="a profile of the AWS configuration")
    parser.add_argument("--region", help="default: AWS_REGION or the profile's")


def add_regions_arguments(parser: ArgumentParser) -> None:
    """``--all-regions``, beside those of the account."""
    add_account_arguments(parser)
    parser.add_argument("--all-regions", action="store_true", help="every enabled region")


def add_units_arguments(parser: ArgumentParser) -> None:
    """``--all-regions`` and ``--all-units``, beside those of the account."""
    add_regions_arguments(parser)
    parser.add_argument(
        "--all-units",
        action="store_true",
        help="every account and region that a deployment watches (--deployment, default burstwatch), with its role in each account",
    )


def add_deployment_arguments(parser: ArgumentParser) -> None:
    """``--deployment`` and ``--stack``, beside those of the account."""
    add_account_arguments(parser)
    parser.add_argument("--deployment", help="default burstwatch")
    parser.add_argument(
        "--stack",
        default="",
        help="the CloudFormation stack of the deployment, default Burstwatch or Burstwatch-DEPLOYMENT",
    )


def deployed_config(args: Namespace, env: Mapping[str, str]) -> Config:
    """The settings with the deployment that is asked for.

    Raises:
        ValueError: for a setting that is not allowed.
    """
    named = {} if args.deployment is None else {f"{ENV_PREFIX}DEPLOYMENT": args.deployment}
    return config_from_env({**env, **named})


def make_clients(
    args: Namespace,
    env: Mapping[str, str],
    region: str | None = None,
    *,
    fallback: str | None = None,
) -> "Clients":
    """Clients for one region: the one given, ``--region``, AWS_REGION, the profile's or ``fallback``.

    AWS_REGION is read here because boto3 knows only AWS_DEFAULT_REGION.

    Raises:
        ValueError: if ``--region`` names no region.
        AwsError: if the profile does not exist.
    """
    from burstwatch.aws.client.session import Clients  # noqa: PLC0415 - boto3 takes long to import

    named = region or args.region or env.get("AWS_REGION")
    clients = Clients(named, profile=args.profile, fallback=fallback)
    regions = clients.known_regions()
    if args.region is not None and args.region not in regions:
        msg = f"unknown region {args.region!r}; allowed: {', '.join(regions)}"
        raise ValueError(msg)
    return clients


@dataclass(frozen=True, kw_only=True, slots=True)
class Regions:
    """The regions that a command looks at: their names, and their ``place`` for people.

    With ``--all-units`` they are of several accounts, named in full, and ``specs`` says how each is reached. ``problems`` are the parts of
    the list that could not be had.
    """

    home: "Clients"
    names: Sequence[str]
    place: str
    make: Callable[[str], "Clients"]
    problems: Sequence[str] = ()
    extent: Extent = ONE_UNIT
    specs: "Sequence[UnitSpec]" = ()

    def clients(self, name: str) -> "Clients":
        """The clients of one of them.

        Raises:
            AwsError: if it cannot be reached.
        """
        return self.home if name == self.home.region else self.make(name)


def chosen_regions(args: Namespace, env: Mapping[str, str]) -> Regions:
    """The one region that is meant, or with ``--all-regions`` every enabled one.

    Raises:
        ValueError: if both ``--region`` and ``--all-regions`` are given, and as ``make_clients`` does.
        AwsError: without credentials, or if the regions cannot be listed.
    """
    if getattr(args, "all_units", False):
        return _watched_units(args, env)
    if args.all_regions and args.region is not None:
        msg = "give either --region or --all-regions, not both"
        raise ValueError(msg)
    home = make_clients(args, env, fallback=ANY_REGION if args.all_regions else None)
    unit = home.unit()
    names = _enabled_regions(home) if args.all_regions else [unit.region]
    place = f"{unit.account} in {len(names)} regions" if args.all_regions else where_of(unit)
    return Regions(home=home, names=names, place=place, make=partial(make_clients, args, env))


def _watched_units(args: Namespace, env: Mapping[str, str]) -> Regions:
    """Every account and region of a deployment, each reached as the deployment does."""
    if args.all_regions:
        msg = "give either --all-units or --all-regions, not both"
        raise ValueError(msg)
    home = make_clients(args, env)
    from burstwatch.aws.client.deployment import find_deployment  # noqa: PLC0415
    from burstwatch.aws.watched.deployed import read_watched_units  # noqa: PLC0415
    from burstwatch.aws.watched.units import Connections, UnitSpec, connect  # noqa: PLC0415

    deployment = args.deployment or DEFAULT_DEPLOYMENT
    now = time.time()
    specs, problems = read_watched_units(home, deployment, args.stack, now=now)
    unit = home.unit()
    by_name = {
        str(Unit(account=spec.account or unit.account, region=spec.region or unit.region)): spec
        for spec in specs
    }

    def connect_as_told(
        clients: "Clients", spec: UnitSpec, deployment: str
    ) -> "tuple[Clients, float]":
        if spec.role_arn or spec.region in {"", home.region}:
            return connect(clients, spec, deployment)
        return make_clients(
            args, env, spec.region
        ), math.inf  # with the profile of the command line

    connections = Connections(home=home, connect=connect_as_told)

    def make(name: str) -> "Clients":
        return connections.reach(by_name[name], deployment, now)[0]

    return Regions(
        home=home,
        names=list(by_name),
        place=f"{len(by_name)} accounts and regions of {deployment}",
        make=make,
        problems=[f"{problem.part}: {problem.error}" for problem in problems],
        specs=specs,
        extent=Extent(
            units=sum(not spec.is_found for spec in specs),
            found_units=sum(spec.is_found for spec in specs),
            functions=len(find_deployment(home, deployment, args.stack).functions),
        ),
    )


def _enabled_regions(home: "Clients") -> list[str]:
    """The names of the regions that an account uses, in order.

    Raises:
        AwsError: if they cannot be listed.
    """
    from burstwatch.aws.client.session import AWS_ERRORS, AwsError, describe_error  # noqa: PLC0415

    try:
        regions = home("ec2").describe_regions()["Regions"]
    except AWS_ERRORS as error:
        raise AwsError(describe_error(error)) from error
    return sorted(region["RegionName"] for region in regions)


def where_of(unit: Unit) -> str:
    """The account and region, as the first words of what is shown to people."""
    return f"{unit.account} {unit.region}"


def kinds_of(args: Namespace) -> list[Kind]:
    """The kind of ``--kind``, or all."""
    kinds = find_kinds()
    return [kinds[args.kind]] if args.kind else [*kinds.values()]


def check_kinds(text: str | None) -> None:
    """Refuse early a ``--kind`` that names none, or one that there is not.

    Raises:
        ValueError: naming it and what is allowed.
    """
    if text is None:
        return
    if not text.strip(" ,"):
        msg = f"--kind is {text!r}; allowed: {', '.join(find_kinds())}, with commas between"
        raise ValueError(msg)
    find_kinds(text)


def parse_duration(name: str, text: str, *, low: str, high: str) -> float:
    """The seconds of a duration such as ``30m``, ``4h`` or ``2d``.

    Raises:
        ValueError: naming it, and the shortest and the longest that are allowed.
    """
    seconds = _seconds(text)
    if seconds is None or not (_seconds(low) or 0) <= seconds <= (_seconds(high) or 0):
        msg = f"is {text!r}; allowed: minutes, hours or days such as 30m, 4h or 2d, from {low} to {high}"
        raise InputError(msg, name=name)
    return seconds


def _seconds(text: str) -> float | None:
    match = re.fullmatch(r"(\d{1,4})([mhd])", text)
    return None if match is None else float(match[1]) * {"m": MINUTE, "h": HOUR, "d": DAY}[match[2]]
