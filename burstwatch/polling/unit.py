"""A unit, the scope of one sweep, and what of it failed."""

import re
from dataclasses import dataclass

ACCOUNT = r"\d{12}"
#: Of any partition: eusc-de-east-1.
REGION = r"[a-z]{2,4}(-[a-z]+)+-\d{1,2}"


@dataclass(frozen=True, kw_only=True)
class Unit:
    """One account and region: the unit of failure."""

    account: str
    region: str

    def __str__(self) -> str:
        return f"{self.account}/{self.region}"


def parse_unit_name(text: str) -> Unit:
    """The unit of ``account/region``.

    Raises:
        ValueError: for another form.
    """
    if re.fullmatch(f"{ACCOUNT}/{REGION}", text) is None:
        msg = f"unit is {text!r}, allowed is account/region"
        raise ValueError(msg)
    account, _, region = text.partition("/")
    return Unit(account=account, region=region)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A part that failed, which the rest goes on without."""

    part: str
    error: str
