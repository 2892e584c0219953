"""Every flag of ``measure`` once: the command line and the docs are made of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from burstwatch.config import ConfigError, Setting
from burstwatch_exporter.measure.profiles import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Stands for "as the profile has it".
AS_IS = 0.0


def _path(name: str, text: str) -> Setting:
    return Setting(name=name, default="", help=text, pattern=r"[^\0]*", allowed="a path")


SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="profile",
        default=DEFAULT,
        help="what to measure; --list names them all",
        pattern=r"[a-z0-9-]+",
        allowed="the name of a profile",
    ),
    _path("directory", "where to measure: one of measure.directories in --config.file, or below"),
    Setting(
        name="budget-percent",
        default=2.0,
        help="the most that may be spent of each volume's bucket",
        low=0.001,
        high=100,
        unit=" of percent",
    ),
    Setting(
        name="floor-percent",
        default=50.0,
        help="with less than this certainly left it does not begin, and stops",
        low=0,
        high=100,
        unit=" of percent",
    ),
    Setting(
        name="runtime-s",
        default=AS_IS,
        help="the longest that a step may take; 0 is as the profile has it",
        high=86_400,
    ),
    Setting(
        name="size-mib",
        default=AS_IS,
        help="the largest scratch file; 0 is as the profile has it",
        high=1_048_576,
        unit=" of MiB",
    ),
    Setting(
        name="rate-iops",
        default=AS_IS,
        help="the most operations a second that fio asks for; 0 is as the profile has it",
        high=1_000_000,
        unit=" of operations a second",
    ),
    Setting(
        name="recover-s",
        default=120.0,
        help="how long a drained volume rests before it bursts again; 0 leaves that out",
        high=86_400,
    ),
    Setting(
        name="confirm-drain",
        default="",
        help="the volume that --drain is to empty, by id or as device:NAME",
        pattern=r"\S*",
        allowed="a volume's id or device:NAME",
    ),
    Setting(
        name="type",
        default="",
        help="with --plan: a volume type in place of a directory",
        pattern=r"[a-z0-9-]*",
        allowed="a volume type",
    ),
    Setting(
        name="size-gib",
        default=AS_IS,
        help="with --type: its size",
        high=65_536,
        unit=" of GiB",
    ),
    Setting(
        name="balance-percent",
        default=100.0,
        help="with --type: how full its bucket is",
        high=100,
        unit=" of percent",
    ),
    Setting(
        name="members",
        default=1.0,
        help="with --type: over how many such volumes a RAID0 goes",
        low=1,
        high=128,
        unit=" of volumes",
    ),
    _path("html", "draw the result into this file"),
    _path("markdown", "write the result's tables into this file"),
    _path("from", "do not measure: show, draw or write what this file of an earlier result has"),
)

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


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasureOptions:
    """The settings of ``SETTINGS``, checked. What is left as the profile has it is None."""

    profile: str
    directory: Path | None
    budget_ratio: float
    floor_ratio: float
    runtime_s: float | None
    size_mib: float | None
    rate_iops: float | None
    recover_s: float
    confirmed: str
    volume_type: str
    size_gib: float | None
    balance_ratio: float
    members: int
    ignored_by_drain: tuple[str, ...]
    html: Path | None
    markdown: Path | None
    source: Path | None


def parse_measure_options(texts: Mapping[str, str]) -> MeasureOptions:
    """Settings by name, as text.

    Raises:
        ConfigError: naming every value that is not allowed.
    """
    problems: list[str] = []
    values: dict[str, str | float] = {}
    for setting in SETTINGS:
        values[setting.name] = setting.default
        if setting.name in texts:
            try:
                values[setting.name] = setting.parse(texts[setting.name])
            except ValueError as error:
                problems.append(f"{setting.name} is {texts[setting.name]!r}, allowed is {error}")
    if problems:
        raise ConfigError("; ".join(problems))

    def number(name: str) -> float:
        return float(values[name])

    def some(name: str) -> float | None:
        return number(name) or None

    def path(name: str) -> Path | None:
        return Path(str(values[name])) if values[name] else None

    return MeasureOptions(
        profile=str(values["profile"]),
        directory=path("directory"),
        budget_ratio=number("budget-percent") / 100,
        floor_ratio=number("floor-percent") / 100,
        runtime_s=some("runtime-s"),
        size_mib=some("size-mib"),
        rate_iops=some("rate-iops"),
        recover_s=number("recover-s"),
        confirmed=str(values["confirm-drain"]),
        volume_type=str(values["type"]),
        size_gib=some("size-gib"),
        balance_ratio=number("balance-percent") / 100,
        members=round(number("members")),
        ignored_by_drain=tuple(name for name in AGAINST_DRAIN if name in texts),
        html=path("html"),
        markdown=path("markdown"),
        source=path("from"),
    )
