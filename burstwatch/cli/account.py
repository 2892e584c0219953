"""What the commands that talk to AWS share: their arguments and their clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from burstwatch.aws.session import Clients


class ExtraMissingError(ValueError):
    """The ``aws`` extra is not installed."""


def add_account_arguments(parser: ArgumentParser) -> None:
    """``--profile`` and ``--region``."""
    parser.add_argument("--profile", help="a profile of the AWS configuration")
    parser.add_argument("--region", help="default: the profile's or AWS_REGION's")


def make_clients(args: Namespace, region: str | None = None) -> Clients:
    """Clients for one region.

    Raises:
        ExtraMissingError: if boto3 is not installed.
        AwsError: if the profile or region does not exist.
    """
    try:
        from burstwatch.aws.session import Clients  # noqa: PLC0415 - boto3 is an extra
    except ModuleNotFoundError as error:
        msg = f"{error.name} is not installed, this command needs: pip install 'burstwatch[aws]'"
        raise ExtraMissingError(msg) from None
    return Clients(region or args.region, profile=args.profile)
