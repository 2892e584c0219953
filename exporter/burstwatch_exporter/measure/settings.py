"""Every flag of ``measure`` once: the command line and the docs are made of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from burstwatch.config import ConfigError, declare, parse_settings, settings_of
from burstwatch_exporter.measure.profiles import DEFAULT
from burstwatch_exporter.settings import PATH, optional_path

#: What protects a volume, and cannot where it is to be emptied.
AGAINST_DRAIN = ("profile", "budget-percent", "floor-percent", "rate-iops")
#: What is said by being there.
SWITCHES = {
    "plan": "say what it would cost and how long the credits would last, and do nothing",
    "drain": "empty the bucket and see where it falls; needs --confirm-drain, and measure.drain in --config.file",
    "json": "print one object",
    "list": "list the profiles",
    "allow-root": "run as root all the same",
}


def to_ratio(percent: float) -> float:
    """Percent as a share."""
    return percent / 100


def or_none(value: float) -> float | None:
    """A number; 0 stands for "as the profile has it", which is None."""
    return value or None


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasureOptions:
    """Every flag of ``measure``, checked. What is left as the profile has it is None."""

    profile: str = declare(
        DEFAULT,
        "what to measure; --list names them all",
        pattern="[a-z0-9-]+",
        allowed="the name of a profile",
    )
    directory: Path | None = declare(
        "",
        "where to measure: one of measure.directories in --config.file, or below",
        **PATH,
        make=optional_path,
    )
    budget_ratio: float = declare(
        2.0,
        "the most that may be spent of each volume's bucket",
        name="budget-percent",
        low=0.001,
        high=100,
        unit=" of percent",
        make=to_ratio,
    )
    floor_ratio: float = declare(
        50.0,
        "with less than this certainly left it does not begin, and stops",
        name="floor-percent",
        high=100,
        unit=" of percent",
        make=to_ratio,
    )
    runtime_s: float | None = declare(
        0.0,
        "the longest that a step may take; 0 is as the profile has it",
        name="runtime-s",
        high=86400,
        make=or_none,
    )
    size_mib: float | None = declare(
        0.0,
        "the largest scratch file; 0 is as the profile has it",
        name="size-mib",
        high=1048576,
        unit=" of MiB",
        make=or_none,
    )
    rate_iops: float | None = declare(
        0.0,
        "the most operations a second that fio asks for; 0 is as the profile has it",
        name="rate-iops",
        high=1000000,
        unit=" of operations a second",
        make=or_none,
    )
    recover_s: float = declare(
        120.0,
        "how long a drained volume rests before it bursts again; 0 leaves that out",
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
    size_gib: float | None = declare(
        0.0, "with --type: its size", name="size-gib", high=65536, unit=" of GiB", make=or_none
    )
    balance_ratio: float = declare(
        100.0,
        "with --type: how full its bucket is",
        name="balance-percent",
        high=100,
        unit=" of percent",
        make=to_ratio,
    )
    members: int = declare(
        1.0,
        "with --type: over how many such volumes a RAID0 goes",
        low=1,
        high=128,
        unit=" of volumes",
        make=round,
    )
    html: Path | None = declare("", "draw the result into this file", **PATH, make=optional_path)
    markdown: Path | None = declare(
        "", "write the result's tables into this file", **PATH, make=optional_path
    )
    source: Path | None = declare(
        "",
        "do not measure: show, draw or write what this file of an earlier result has",
        name="from",
        **PATH,
        make=optional_path,
    )
    ignored_by_drain: tuple[str, ...] = ()


SETTINGS = settings_of(MeasureOptions)


def parse_measure_options(texts: Mapping[str, str]) -> MeasureOptions:
    """Settings by name, as text.

    Raises:
        ConfigError: naming every value that is not allowed.
    """
    problems: list[str] = []
    values = parse_settings(SETTINGS, texts, problems)
    if problems:
        raise ConfigError("; ".join(problems))
    ignored = tuple(name for name in AGAINST_DRAIN if name in texts)
    return MeasureOptions(**values, ignored_by_drain=ignored)
