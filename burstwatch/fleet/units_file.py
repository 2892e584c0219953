"""Reads the file that names the accounts and regions of a fleet."""

from pathlib import Path

from burstwatch.aws.watched.units import ALLOWED, UnitSpec, parse_unit
from burstwatch.files import read_yaml

#: Fields of an event that say nothing to this program.
OF_SWEEPS = ("shard", "found", "account_name")
FIELDS = tuple(name for name in ALLOWED if name not in OF_SWEEPS)


def read_units(path: Path) -> list[UnitSpec]:
    """The units of a YAML or JSON file: a list of entries with account, region, role_arn and external_id.

    An entry without role_arn is reached with the program's own credentials.

    Raises:
        ValueError: naming the file and every entry that is not as allowed, or there twice.
    """
    content = read_yaml(path)
    if not isinstance(content, list) or not content:
        msg = f"{path}: allowed is a list of entries with {', '.join(FIELDS)}, got {_kind_of(content)}"
        raise ValueError(msg)
    problems: list[str] = []
    numbers: dict[tuple[str, str], int] = {}
    specs = []
    for number, entry in enumerate(content, start=1):
        try:
            spec = _unit_of(entry)
        except ValueError as error:
            problems.append(f"entry {number}: {error}")
            continue
        place = (spec.account, spec.region)
        if place in numbers:
            problems.append(f"entry {number} is the account and region of entry {numbers[place]}")
        numbers.setdefault(place, number)
        specs.append(spec)
    if problems:
        msg = f"{path}: {'; '.join(problems)}"
        raise ValueError(msg)
    return specs


def _unit_of(entry: object) -> UnitSpec:
    """The unit of one entry. Raises ValueError for one that is not as allowed."""
    if not isinstance(entry, dict):
        msg = f"it is {entry!r}; allowed: an entry with {', '.join(FIELDS)}"
        raise ValueError(msg)  # noqa: TRY004 - a wrong file, as all that follows
    for name, value in entry.items():
        if name not in FIELDS:
            msg = f"{name} is unknown; allowed: {', '.join(FIELDS)}"
            raise ValueError(msg)
        if not isinstance(value, str):
            # YAML takes twelve digits for a number, and an octal one where they begin with 0.
            msg = f"{name} is {value!r}; allowed: text: put it in quotes"
            raise ValueError(msg)  # noqa: TRY004 - as above
    return parse_unit({"unit": entry})


def _kind_of(content: object) -> str:
    if not content:
        return "nothing"
    return "a table of keys" if isinstance(content, dict) else "something else"
