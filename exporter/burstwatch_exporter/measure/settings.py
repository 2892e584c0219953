"""Every flag of ``measure`` once: the command line and the docs are made of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstwatch.config import declare, parse_settings, raise_all, settings_of
from burstwatch_exporter.measure.profiles import DEFAULT
from burstwatch_exporter.settings import path

#: Options that protect a volume, and cannot where it is to be emptied.
AGAINST_DRAIN = ("profile", "budget-percent", "floor-percent", "rate-iops")
#: Options that go with --from; all others are about a measurement.
BESIDE_FROM = ("from", "html", "markdown", "json")
#: Options without a value.
SWITCHES = {
    "plan": "say what it would cost and how long the credits would last, and do nothing",
    "drain": "empty the bucket and record when it is throttled to the baseline; needs --confirm-drain, and the volume under measure.drain in --config.file",
    "json": "print one object",
    "list": "list the profiles",
    "allow-root": "allow a run as root",
}


def _share(name: str, default_percent: float, text: str, *, low: float = 0.0) -> Any:  # noqa: ANN401 - as declare
    """A setting in percent, kept as a share."""
    return declare(
        default_percent,
        text,
        name=name,
        low=low,
        high=100,
        unit=" of percent",
        make=lambda value: value / 100,
    )


def _at_most(name: str, high: float, text: str, unit: str = " of seconds") -> Any:  # noqa: ANN401 - as declare
    """A setting where 0 stands for the value of the profile, which is None."""
    return declare(0.0, text, name=name, high=high, unit=unit, make=lambda value: value or None)


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasureOptions:
    """Every flag of ``measure``, checked. None is the value of the profile."""

    profile: str = declare(
        DEFAULT,
        "what to measure; --list names them all",
        pattern="[a-z0-9-]+",
        allowed="the name of a profile",
    )
    directory: Path | None = path(
        "directory",
        "where to measure: one of measure.directories in --config.file, or a folder in it",
    )
    budget_ratio: float = _share(
        "budget-percent", 2.0, "the most that may be spent of each volume's bucket", low=0.001
    )
    floor_ratio: float = _share(
        "floor-percent",
        50.0,
        "run only while at least this percentage of the bucket is sure to be left",
    )
    runtime_s: float | None = _at_most(
        "runtime-s", 86400, "the longest time of a step; 0 uses the value of the profile"
    )
    size_mib: float | None = _at_most(
        "size-mib", 1048576, "the largest scratch file; 0 uses the value of the profile", " of MiB"
    )
    rate_iops: float | None = _at_most(
        "rate-iops",
        1000000,
        "the most operations a second that fio asks for; 0 uses the value of the profile",
        " of operations a second",
    )
    recover_s: float = declare(
        120.0,
        "with --drain: how many seconds the empty volume rests before its refill is measured; 0 skips this",
        name="recover-s",
        high=86400,
    )
    confirmed: str = declare(
        "",
        "the volume that --drain is to empty, by id or as device:NAME",
        name="confirm-drain",
        pattern=r"\S*",
        allowed="a volume's id or device:NAME",
    )
    volume_type: str = declare(
        "",
        "with --plan: a volume type in place of a directory",
        name="type",
        pattern="[a-z0-9-]*",
        allowed="a volume type",
    )
    size_gib: float | None = _at_most("size-gib", 65536, "with --type: its size", " of GiB")
    balance_ratio: float = _share("balance-percent", 100.0, "with --type: how full its bucket is")
    members: int = declare(
        1.0,
        "with --type: the number of such volumes in a RAID0",
        low=1,
        high=128,
        unit=" of volumes",
        make=round,
    )
    html: Path | None = path("html", "draw the result into this file")
    markdown: Path | None = path("markdown", "write the result's tables into this file")
    source: Path | None = path(
        "from", "do not measure; show, draw or write the earlier result in this file"
    )
    stated: tuple[str, ...] = ()


SETTINGS = settings_of(MeasureOptions)


def parse_measure_options(texts: Mapping[str, str]) -> MeasureOptions:
    """Parse settings given by name, as text.

    Raises:
        ValueError: naming every value that is not allowed.
    """
    problems: list[ValueError] = []
    values = parse_settings(SETTINGS, texts, problems)
    raise_all(problems)
    return MeasureOptions(**values, stated=tuple(texts))
