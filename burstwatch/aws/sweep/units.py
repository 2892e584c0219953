"""Accounts and regions that one deployment watches, each reached in its own way.

The metrics and alarms of all of them are kept at home, where the topics are. What cannot
be reached is one counted failure, and none of another unit.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from burstwatch.aws.client.names import part_name
from burstwatch.aws.client.session import AwsError, Clients, Deadline, describe_error
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import UnitSnapshot
from burstwatch.aws.sweep.sweep import Sweep, sweep
from burstwatch.config import Config
from burstwatch.kinds.base import Kind
from burstwatch.shards import ACCOUNT, REGION, WHOLE, Problem, Shard, Unit, parse_shard

#: Credentials of a role are asked for anew when less than this is left of them.
RENEW_S = 300.0
#: Most resources that a function remembers for each MiB that it has: with a hundred thousand
#: it takes 1,280 MiB (docs/fleets.md), of which a seventh does not grow with them.
KNOWN_PER_MIB = 60
#: Fields of an event that name a unit, each with its pattern and that in words.
ALLOWED = {
    "account": (ACCOUNT, "twelve digits"),
    "region": (REGION, "a region such as eu-west-1"),
    "role_arn": (r"arn:[a-z-]+:iam::\d{12}:role/[\w+=,.@/-]+", "the ARN of an IAM role"),
    "external_id": (r"[\w+=,.@:/-]{2,1224}", "2 to 1224 letters, digits and + = , . @ : / - _"),
    "shard": (r"\d{1,2}/\d{1,2}", "such as 3/16"),
}


@dataclass(frozen=True, kw_only=True)
class UnitSpec:
    """A unit, or a shard of it, as an event names it. Without account or region it is at home."""

    account: str = ""
    region: str = ""
    role_arn: str = ""
    external_id: str = ""
    shard: Shard = WHOLE


def parse_unit(event: Mapping[str, object]) -> UnitSpec:
    """The unit of an event: its key ``unit``, an object, or nothing for the one at home.

    Raises:
        ValueError: naming every field that is unknown or not as allowed.
    """
    fields = event.get("unit", {})
    if not isinstance(fields, dict):
        msg = f"unit is {fields!r}, allowed is an object with {', '.join(ALLOWED)}"
        raise ValueError(msg)  # noqa: TRY004 - a wrong event, as all that follows
    problems = [
        f"unit.{name} is {value!r}, allowed is {ALLOWED[name][1]}"
        if name in ALLOWED
        else f"unit.{name} is unknown, allowed are {', '.join(ALLOWED)}"
        for name, value in fields.items()
        if name not in ALLOWED or re.fullmatch(ALLOWED[name][0], str(value)) is None
    ]
    if not problems and fields.get("role_arn") and not fields.get("account"):
        problems.append("unit.role_arn is given without unit.account")
    if problems:
        raise ValueError("; ".join(problems))
    try:
        return UnitSpec(**{**fields, "shard": parse_shard(str(fields.get("shard", WHOLE)))})
    except ValueError as error:
        msg = f"unit.shard {error}"
        raise ValueError(msg) from error


@dataclass(kw_only=True)
class Connections:
    """The clients of each unit, kept until their credentials end.

    ``connect`` makes the clients of a unit and says until when they are good.
    """

    home: Clients
    connect: Callable[[Clients, UnitSpec, str], tuple[Clients, float]]
    _clients: dict[UnitSpec, tuple[Clients, float]] = field(default_factory=dict)

    def reach(self, spec: UnitSpec, deployment: str, now: float) -> tuple[Clients, Unit]:
        """The clients of a unit, and the account and region that they really reach.

        Raises:
            AwsError: if it cannot be reached, or the credentials are of another account.
        """
        whole = replace(spec, shard=WHOLE)
        connection = self._clients.pop(whole, None)
        if connection is None or now > connection[1] - RENEW_S:
            connection = self.connect(self.home, whole, deployment)
        clients = connection[0]
        unit = clients.unit()
        if spec.account and unit.account != spec.account:
            msg = f"the credentials are of account {unit.account}, expected is {spec.account}"
            raise AwsError(msg)
        self._clients[whole] = connection  # only one that works is kept
        return clients, unit


@dataclass(kw_only=True)
class Units(Connections):
    """The clients and the memory of each unit, kept between sweeps.

    Beyond ``most_known`` resources the units that were not swept for longest are forgotten.
    """

    most_known: float = math.inf
    memories: dict[UnitSpec, Memory] = field(default_factory=dict)

    def sweep(
        self,
        spec: UnitSpec,
        kinds: Iterable[Kind],
        config: Config,
        *,
        now: float,
        deadline: Deadline,
    ) -> Sweep:
        """Sweep one unit. One that cannot be reached is a failed sweep, and is named."""
        try:
            clients, unit = self.reach(spec, config.deployment, now)
        except AwsError as error:
            return self.leave_out(spec, describe_error(error), now=now)
        memory = self.memories.pop(spec, None) or Memory(shard=spec.shard)
        self.memories[spec] = memory  # those swept last come last
        swept = sweep(unit, kinds, clients, self.home, config, memory, now=now, deadline=deadline)
        self._forget()
        return swept

    def leave_out(self, spec: UnitSpec, reason: str, *, now: float) -> Sweep:
        """The sweep of a unit that is not made: nothing is known of it, and it is named."""
        unit = Unit(account=spec.account or "home", region=spec.region or self.home.region)
        problem = Problem(part=f"unit {part_name(unit, spec.shard)}", error=reason)
        nothing = UnitSnapshot(unit=unit, at=now, shard=spec.shard)
        return Sweep(snapshot=nothing, problems=(problem,), reached=False)

    def _forget(self) -> None:
        remembered = sum(len(memory.looks) for memory in self.memories.values())
        for spec in list(self.memories)[:-1]:
            if remembered > self.most_known:
                remembered -= len(self.memories.pop(spec).looks)


def connect(home: Clients, spec: UnitSpec, deployment: str) -> tuple[Clients, float]:
    """Clients of a unit, and the Unix time at which they expire: with the function's own credentials, or a role's.

    Raises:
        AwsError: if the role may not be assumed.
    """
    if spec.role_arn:
        return home.assume(
            spec.role_arn,
            external_id=spec.external_id,
            session_name=f"burstwatch-{deployment}",
            region=spec.region or home.region,
        )
    if spec.region in {"", home.region}:
        return home, float("inf")
    return Clients(spec.region), float("inf")
