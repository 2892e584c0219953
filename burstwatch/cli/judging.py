"""Takes the settings with which a command judges: of the environment, of a deployment, and of the command line."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from burstwatch.cli.values import seconds
from burstwatch.config import ENV_PREFIX, Config, config_from_env
from burstwatch.formatting import InputError
from burstwatch.kinds import find_kinds

if TYPE_CHECKING:  # boto3 takes long to import
    from burstwatch.aws.client.session import Clients


def add_setting_arguments(parser: ArgumentParser) -> None:
    """``--lead-s`` and ``--set``."""
    parser.add_argument(
        "--lead-s",
        type=seconds,
        metavar="SECONDS",
        help="the lead: page at least this many seconds before the credits run out, default 900",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other setting, as `burstwatch catalog --settings` lists them; can be given several times",
    )


def add_settings_of_deployment(parser: ArgumentParser, text: str) -> None:
    """``--deployment`` with its help, and ``--stack``."""
    parser.add_argument("--deployment", metavar="NAME", help=text)
    parser.add_argument(
        "--stack",
        default="",
        help="the CloudFormation stack of the deployment, default Burstwatch or Burstwatch-NAME",
    )


def add_deployed_settings_arguments(parser: ArgumentParser) -> None:
    """The settings, beside those of a deployment: a command judges as that does."""
    add_setting_arguments(parser)
    add_settings_of_deployment(
        parser,
        "judge with the settings of this deployment, so that the answer agrees with its pages",
    )


def config_of(
    args: Namespace, env: Mapping[str, str], clients: "Callable[[], Clients] | None" = None
) -> Config:
    """The settings: the command line's over those of the deployment, or else of the environment.

    ``clients`` makes the clients that ask for a deployment.

    Raises:
        ValueError: for a setting that is unknown, twice or not allowed, and for ``--stack`` alone.
        AwsError: if the deployment cannot be read.
    """
    texts = dict(env)
    if getattr(args, "stack", "") and args.deployment is None:
        msg = "--stack is the stack of a deployment: give --deployment too"
        raise ValueError(msg)
    if getattr(args, "deployment", None) is not None and clients is not None:
        from burstwatch.aws.client.deployment import read_settings  # noqa: PLC0415 - boto3 takes long to import

        texts = {**read_settings(clients(), args.deployment, args.stack)}
    stated = [pair.partition("=") for pair in getattr(args, "set", ())]
    names = [name.strip().lower().removeprefix(ENV_PREFIX.lower()) for name, _, _ in stated]
    for name, is_pair, _ in stated:
        if not is_pair:
            msg = f"--set takes NAME=VALUE, got {name!r}"
            raise ValueError(msg)
    if getattr(args, "lead_s", None) is not None:
        stated.append(("lead_s", "=", f"{args.lead_s:g}"))
        names.append("lead_s")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        msg = "is set twice: say it once"
        raise InputError(msg, name=twice)
    of_command = {
        f"{ENV_PREFIX}{name.upper()}": value.strip()
        for name, (_, _, value) in zip(names, stated, strict=True)
    }
    config = config_from_env({**texts, **of_command})
    find_kinds(config.kinds)  # refuses early what there is not
    return config
