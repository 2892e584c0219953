"""Arguments of several commands: kinds, and numbers as people write them, such as 3,000, 3k, 100GiB and 20%."""

import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping

from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind

#: A GB and a TB are those of AWS's console and prices, which are powers of two. An Mbps is no MB/s, and is refused.
SIZES = {"": 1.0, "mib": 1 / 1024, "gib": 1.0, "gb": 1.0, "g": 1.0, "tib": 1024.0, "tb": 1024.0, "t": 1024.0}  # fmt: skip
COUNTS = {"": 1.0, "k": 1e3, "m": 1e6, "iops": 1.0, "kiops": 1e3, "miops": 1e6}
RATES = {"": 1.0, "mib/s": 1.0, "mb/s": 1.0, "gib/s": 1024.0, "gb/s": 1024.0}  # fmt: skip
#: How the types of a service begin, and the names of its kinds. All other types with a dot are EC2's.
FAMILIES = {"db.": "rds_", "cache.": "elasticache_"}
DAYS = {"": 1.0, "d": 1.0, "w": 7.0, "h": 1 / 24}
HOURS = {"": 1.0, "h": 1.0, "d": 24.0, "m": 1 / 60}
SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
PERCENTS = {"": 1.0, "%": 1.0}
_WRITTEN = re.compile(r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)\s*(?P<unit>[a-z%][a-z/]*|)", re.IGNORECASE)  # fmt: skip


def number_in(units: Mapping[str, float], *, like: str) -> Callable[[str], float]:
    """A reader of numbers with one of these units behind them, in any case; ``like`` are examples for the error."""

    def read(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            written = _WRITTEN.fullmatch("".join(text.split()))
        scale = units.get(written["unit"].lower()) if written else None
        if written is None or scale is None:
            msg = f"{text!r} is not a number; examples: {like}"
            raise ArgumentTypeError(msg)
        return float(written["number"].replace(",", "")) * scale

    return read


size_gib = number_in(SIZES, like="100, 1,000, 100GiB and 1TiB")
count = number_in(COUNTS, like="3000, 3,000 and 3k")
rate_mib_s = number_in(RATES, like="250, 250MiB/s and 1GiB/s")
percent = number_in(PERCENTS, like="20 and 20%")
kib = number_in({"": 1.0, "kib": 1.0, "kb": 1.0, "k": 1.0, "mib": 1024.0}, like="16 and 16KiB")
days = number_in(DAYS, like="14, 14d, 2w and 36h")
hours = number_in(HOURS, like="24, 24h and 3d")
seconds = number_in(SECONDS, like="60, 60s and 5m")
plain = number_in({"": 1.0}, like="300 and 1,000")


def reader_of(name: str) -> Callable[[str], float]:
    """The reader of a value by its name, such as ``provisioned_iops`` or ``size_gib``."""
    for ending, reader in (
        ("gib", size_gib), ("kib", kib), ("mib_s", rate_mib_s), ("percent", percent), ("iops", count), ("_per_s", count),
    ):  # fmt: skip
        if name.endswith(ending):
            return reader
    return plain


def kinds_of_type(type_name: str) -> list[Kind]:
    """The kinds of a type of instance, such as ``db.t3.medium``."""
    prefix = FAMILIES.get(type_name.partition(".")[0] + ".", "ec2_")
    return [kind for kind in find_kinds().values() if kind.name.startswith(prefix)]


def add_kind_argument(parser: ArgumentParser, text: str) -> None:
    """The option for one kind of resource, with the names of all."""
    names = [*find_kinds()]
    parser.add_argument(
        "--kind", choices=names, metavar="KIND", help=f"{text}; one of {', '.join(names)}"
    )
