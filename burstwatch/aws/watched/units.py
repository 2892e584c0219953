"""Names an account and region that is watched, and reaches it in its own way: a role's, or that of who asks."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from burstwatch.aws.client.session import AwsError, Clients
from burstwatch.shards import ACCOUNT, REGION, WHOLE, Shard, Unit, parse_shard

#: Credentials of a role are asked for anew when less than this is left of them.
RENEW_S = 300.0
#: Fields of an event that name a unit, each with its pattern and that in words.
ALLOWED = {
    "account": (ACCOUNT, "twelve digits"),
    "region": (REGION, "a region such as eu-west-1"),
    "role_arn": (r"arn:[a-z-]+:iam::\d{12}:role/[\w+=,.@/-]+", "the ARN of an IAM role"),
    "external_id": (r"[\w+=,.@:/-]{2,1224}", "2 to 1224 letters, digits and + = , . @ : / - _"),
    "shard": (r"\d{1,2}/\d{1,2}", "such as 3/16"),
    "found": (r"yes", "yes"),
    # https://docs.aws.amazon.com/organizations/latest/APIReference/API_Account.html (2026-11)
    "account_name": (r"[ -~]{1,50}", "1 to 50 characters of ASCII"),
}


@dataclass(frozen=True, kw_only=True)
class UnitSpec:
    """A unit, or a shard of it, as an event names it. Without account or region it is at home.

    ``is_found`` says that it was found in an organisation, and has no alarm on a heartbeat of its own; the organisation
    knows its account's name, too.
    """

    account: str = ""
    region: str = ""
    role_arn: str = ""
    external_id: str = ""
    shard: Shard = WHOLE
    is_found: bool = False
    account_name: str = field(default="", compare=False)

    def event(self) -> dict[str, dict[str, str]]:
        """The event that names it, as ``parse_unit`` takes it."""
        texts = {
            "account": self.account,
            "region": self.region,
            "role_arn": self.role_arn,
            "external_id": self.external_id,
            "shard": "" if self.shard.is_whole else str(self.shard),
            "found": "yes" if self.is_found else "",
            "account_name": self.account_name,
        }
        return {"unit": {name: text for name, text in texts.items() if text}}


def parse_unit(event: Mapping[str, object]) -> UnitSpec:
    """The unit of an event: its key ``unit``, an object, or nothing for the one at home.

    Raises:
        ValueError: naming every field that is unknown or not as allowed.
    """
    fields = event.get("unit", {})
    if not isinstance(fields, dict):
        msg = f"unit is {fields!r}; allowed: an object with {', '.join(ALLOWED)}"
        raise ValueError(msg)  # noqa: TRY004 - a wrong event, as all that follows
    problems = [
        f"unit.{name} is {value!r}; allowed: {ALLOWED[name][1]}"
        if name in ALLOWED
        else f"unit.{name} is unknown; allowed: {', '.join(ALLOWED)}"
        for name, value in fields.items()
        if name not in ALLOWED or re.fullmatch(ALLOWED[name][0], str(value)) is None
    ]
    if not problems and fields.get("role_arn") and not fields.get("account"):
        problems.append("unit.role_arn is given without unit.account")
    if problems:
        raise ValueError("; ".join(problems))
    try:
        named = {name: value for name, value in fields.items() if name != "found"}
        shard = parse_shard(str(fields.get("shard", WHOLE)))
        return UnitSpec(**{**named, "shard": shard, "is_found": "found" in fields})
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
        whole = replace(spec, shard=WHOLE, is_found=False)
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
