"""A unit, which is one account and region, and its parts where it is too large for one sweep.

The ids that AWS gives end in a hexadecimal digit that says nothing of what they name, so
that digit divides a unit of any size evenly. Whose part something is can be told from its
id alone, also when it is gone and only its alarm is left.
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from burstwatch.formatting import InputError

#: A policy of the organisation denies it, or the region does not have the service.
Cause: TypeAlias = Literal["forbidden", "absent", "other"]
DIGITS = "0123456789abcdef"
#: A part has whole digits.
COUNTS = (1, 2, 4, 8, 16)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shard:
    """Part ``number`` of ``count``; the first and only one is the whole.

    Raises:
        ValueError: if a unit cannot be divided so, or has no such part.
    """

    number: int = 1
    count: int = 1

    def __post_init__(self) -> None:
        if self.count not in COUNTS or not 1 <= self.number <= self.count:
            allowed = ", ".join(str(count) for count in COUNTS)
            msg = f"{self} is no part of a unit; allowed: 1/N to N/N with N of {allowed}"
            raise ValueError(msg)

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def is_whole(self) -> bool:
        """True if there is no other part."""
        return self.count == 1

    @property
    def digits(self) -> str:
        """The last digits of this part's ids."""
        return DIGITS[self.number - 1 :: self.count]

    def owns(self, resource_id: str) -> bool:
        """True if it is of this part. A thing whose id ends in no digit is of the first."""
        last = thing_id(resource_id)[-1:].lower()
        return (last if last and last in DIGITS else DIGITS[0]) in self.digits


def thing_id(resource_id: str) -> str:
    """The id that AWS knows, of one such as ``i-0123456789abcdef0.cpu``."""
    return resource_id.partition(".")[0]


WHOLE = Shard()


def shards_of(count: int) -> list[Shard]:
    """All parts of a unit that is divided into ``count``."""
    return [Shard(number=number + 1, count=count) for number in range(count)]


def parse_shard(text: str) -> Shard:
    """A part as ``3/16``.

    Raises:
        ValueError: naming what was given and what is allowed.
    """
    match = re.fullmatch(r"(\d{1,2})/(\d{1,2})", text, re.ASCII)
    if match is None:
        msg = f"{text!r} is no part of a unit; allowed: one such as 3/16"
        raise ValueError(msg)
    return Shard(number=int(match[1]), count=int(match[2]))


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
        msg = f"is {text!r}; allowed: account/region"
        raise InputError(msg, name="unit")
    account, _, region = text.partition("/")
    return Unit(account=account, region=region)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A part that failed, which the rest goes on without; and what AWS means by that."""

    part: str
    error: str
    cause: Cause = "other"
