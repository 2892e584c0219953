"""Defines a fix for a bucket that runs out: its command, how soon it works, its effect and its price a month."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

from burstwatch import bucket as tb
from burstwatch.bucket import Bucket
from burstwatch.formatting import command_line, number, span, usd

#: How long a fix takes to work, the soonest first. A change of a volume takes "a few minutes to a
#: few hours", and a full 1 TiB about six hours:
#: https://docs.aws.amazon.com/ebs/latest/userguide/monitoring-volume-modifications.html (2026-11)
Takes: TypeAlias = Literal[
    "works immediately",
    "is under way",
    "takes minutes, and the instance stops",
    "takes minutes to hours",
]
STOPS: Takes = "takes minutes, and the instance stops"
SOONEST_FIRST: tuple[Takes, ...] = get_args(Takes)
#: Where the AWS CLI begins a new word in a name of the API: ``DBInstanceClass`` is ``db-instance-class``.
_WORD_BEGINS = (re.compile(r"(.)([A-Z][a-z]+)"), re.compile(r"([a-z0-9])([A-Z])"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A call of AWS that makes a change, or one that waits for its end.

    ``operation`` and the names of ``parameters`` are those of the API: ``ModifyVolume``, ``VolumeId``. Where
    ``is_waiter`` is True, ``operation`` is the name of a waiter.
    """

    service: str
    operation: str
    region: str
    parameters: Mapping[str, Any]
    is_waiter: bool = False

    @property
    def text(self) -> str:
        """The command for the AWS CLI, in one line."""
        operation = [*(["wait"] if self.is_waiter else []), dashed(self.operation)]
        words = ["aws", self.service, *operation, "--region", self.region]
        for name, value in self.parameters.items():
            words += _option(f"--{dashed(name)}", value)
        return command_line(*words)


def dashed(name: str) -> str:
    """A name of AWS's API as the AWS CLI writes it."""
    for pattern in _WORD_BEGINS:
        name = pattern.sub(r"\1-\2", name)
    return name.lower()


def _option(option: str, value: object) -> list[str]:
    """An option with its value in the CLI's shorthand; a True has no value."""
    if value is True:
        return [option]
    if isinstance(value, Mapping):
        return [option, ",".join(f"{name}={entry}" for name, entry in value.items())]
    if isinstance(value, list):
        return [option, *(_option(option, entry)[1] for entry in value)]
    return [option, str(value)]


#: The parameters of commands that name a type.
TYPES = frozenset({"CacheNodeType", "DBInstanceClass", "InstanceType", "StorageType", "VolumeType"})


#: Changes of a thing whose own description says what waits. That of a replication group is not read.
TELL_WHAT_WAITS = frozenset({"ModifyDBInstance", "ModifyCacheCluster"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Afterwards:
    """A resource after a change: its ``bucket``, None without credits, and the most that it serves, in credits a second.

    Both are in the credits that it has before the change, so that the same load can be played on both.
    """

    bucket: Bucket | None
    rate: float = math.inf


@dataclass(frozen=True, kw_only=True, slots=True)
class Fix:
    """One thing to do, and the ``commands`` that do it, in their order; none where a person has to choose.

    ``effect`` says what it serves, and what is then less than today. ``usd_month`` is the difference in list
    price, None where it is not known; ``usd_hour`` is that of an hour of the load, of what costs only while it
    lasts. ``afterwards`` is None where the change leads to nothing certain.
    ``is_example`` where nobody can change the resource, because it is only described by hand. ``is_less_load`` where
    nothing is changed in AWS. ``is_for_good`` where AWS takes no change back, as storage never gets smaller.
    ``has_downtime`` is None where AWS does not say, and True where what is changed cannot be used meanwhile.
    ``may_restart`` where something else comes with the change, which may need a restart.
    """

    action: str
    effect: str
    takes: Takes
    usd_month: float | None = None
    usd_hour: float | None = None
    commands: tuple[Command, ...] = ()
    afterwards: Afterwards | None = None
    is_example: bool = False
    is_less_load: bool = False
    is_for_good: bool = False
    has_downtime: bool | None = None
    may_restart: bool = False

    @property
    def price(self) -> str:
        """The difference in list price in words."""
        if self.usd_month is None and self.usd_hour is not None:
            return f"at most {usd(self.usd_hour)} USD an hour while the load lasts"
        if self.usd_month is None:
            return "price unknown"
        if round(self.usd_month, 2) == 0:
            return "same price"
        return f"{abs(self.usd_month):,.2f} USD a month {'less' if self.usd_month < 0 else 'more'}"

    @property
    def text(self) -> str:
        """The fix with its price, how soon it works and its effect. Everybody knows those of less load."""
        if self.is_less_load:
            return f"{self.action}. {self.effect[:1].upper()}{self.effect[1:]}"
        if self.takes == "is under way":
            return f"{self.action}: {self.effect}"
        terms = ", ".join(filter(None, [self.price, self.takes]))
        downtime = {False: "no downtime", True: "unavailable for a few minutes", None: ""}
        for_good = "it cannot be undone" if self.is_for_good else ""
        effects = "; ".join(filter(None, [self.effect, downtime[self.has_downtime], for_good]))
        return f"{self.action} ({terms}): {effects}"

    @property
    def interrupts(self) -> bool:
        """True if the resource cannot be used while it is changed, or perhaps not."""
        return self.takes == STOPS or self.has_downtime is True or self.may_restart

    @property
    def names_type(self) -> bool:
        """True if a command asks for a type, of a volume, an instance, a node or a storage."""
        return any(not TYPES.isdisjoint(command.parameters) for command in self.commands)

    def is_same_change(self, other: "Fix") -> bool:
        """True if both lead to the same, whatever is known of their prices."""
        return (self.commands, self.afterwards) == (other.commands, other.afterwards)

    def record(self) -> dict[str, Any]:
        """The fix as one object for ``--json``; ``usd_month`` is null where it is not known."""
        return {
            "action": self.action,
            "effect": self.effect,
            "takes": self.takes,
            "usd_month": None if self.usd_month is None else round(self.usd_month, 4),
            "usd_hour": None if self.usd_hour is None else round(self.usd_hour, 4),
            "command": self.command,
        }

    @property
    def command(self) -> str:
        """The commands in one line, each only after the one before has succeeded; empty without any, and for an example."""
        return "" if self.is_example else " && ".join(command.text for command in self.commands)


def soonest(fixes: Iterable[Fix], count: int = 2) -> tuple[Fix, ...]:
    """The soonest to work, and of those the cheapest. An unknown price comes last."""

    def rank(fix: Fix) -> tuple[int, float]:
        return SOONEST_FIRST.index(fix.takes), math.inf if fix.usd_month is None else fix.usd_month

    return tuple(sorted(fixes, key=rank))[:count]


def at_night(fixes: Iterable[Fix]) -> list[Fix]:
    """Those of the fixes that can be undone; else all of them, which their owner decides by day, without their commands."""
    decided = list(fixes)
    undoable = [fix for fix in decided if not fix.is_for_good]
    return undoable or [
        replace(fix, action=f"with its owner, {fix.action}", commands=()) for fix in decided
    ]


def managed_fix(owner: str) -> Fix:
    """Tell to go to the ``owner`` of a resource that only it may change."""
    return Fix(
        action=f"change the settings that {owner} makes it from",
        effect=f"{owner} manages it, so AWS refuses a change by anybody else",
        takes="takes minutes to hours",
    )


def wait_fix(change: str) -> Fix:
    """Tell to wait while a change is under way."""
    return Fix(
        action=f"wait for {change}",
        effect="AWS takes no other change before this one is completed",
        takes="is under way",
        usd_month=0.0,
    )


def not_stopped(fix: Fix, made_from: str) -> Fix:
    """The fix for an instance that must not be stopped, as it is made from something else; itself where it may be."""
    if not made_from or fix.takes != STOPS:
        return fix
    return replace(
        fix,
        action=f"{fix.action} in {made_from}, and replace the instance",
        effect=f"{fix.effect}; an instance that is stopped would not come back",
        takes="takes minutes to hours",
        commands=(),
        may_restart=True,
    )


def applied_now(fix: Fix, *, window: str, waiting: Sequence[str]) -> Fix:
    """The fix with what its command does now and not in the maintenance ``window``, and with it to what is ``waiting``.

    "If you choose to apply changes immediately, any changes in the pending modifications queue are also applied":
    https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_ModifyInstance.ApplyImmediately.html (2026-11)
    """
    if not any("ApplyImmediately" in command.parameters for command in fix.commands):
        return fix
    instead = f"now, not in the maintenance window {window} (UTC)" if window else ""
    operations = {command.operation for command in fix.commands}
    with_it = "no other change is pending" if operations <= TELL_WHAT_WAITS else ""
    if waiting:
        with_it = f"with what waits for that window: {', '.join(waiting)}"
    words = ", ".join(filter(None, [instead, with_it]))
    if not words:
        return fix
    has_downtime = None if waiting else fix.has_downtime
    return replace(
        fix,
        effect=f"{fix.effect}; {words}",
        has_downtime=has_downtime,
        may_restart=fix.may_restart or bool(waiting),
    )


def less_load(bucket: Bucket, *, level: float, demand: float, unit: str) -> Fix:
    """The fix that helps every bucket: to reduce the load. ``level`` in credits, ``demand`` in credits per second."""
    under = f"under {number(bucket.refill)} {unit}"
    half_s = tb.time_to_empty(bucket, level=level, demand=demand / 2) if level > 0 else 0.0
    if level <= 0:
        effect = f"the credits refill while the load is {under}"
    elif math.isinf(half_s):
        effect = f"{under} the credits refill"
    else:
        effect = (
            f"at {number(demand / 2)} {unit} the credits last {span(half_s)}; {under} they refill"
        )
    return Fix(
        action="reduce the load",
        effect=effect,
        takes="works immediately",
        usd_month=0.0,
        is_less_load=True,
    )
