"""Decides which accounts of an organisation are swept: those found that let us in, at the newest listing.

An account that is new is swept as soon as its role can be assumed. Until then it is told once, by
name, and nobody is paged for it. One that has let us in before is swept whatever happens, so that a role
that is gone pages. One that has left the organisation, or is being closed, is not swept any more. Which
accounts have let us in stands in the tags of the alarm on their heartbeat, so that a function that has just
started knows it.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from burstwatch.aws.alarms.api import id_fingerprint, read_members, read_tags, tags_of, write_tags
from burstwatch.aws.client.names import FOUND, HEARTBEAT_ALARM
from burstwatch.aws.client.session import (
    AWS_ERRORS,
    AwsError,
    Clients,
    describe_error,
    is_denied,
)
from burstwatch.aws.watched.organization import (
    OrganizationPart,
    find_accounts,
    find_regions,
    parse_part,
)
from burstwatch.aws.watched.units import ALLOWED, UnitSpec
from burstwatch.config import Config
from burstwatch.formatting import first_of
from burstwatch.shards import REGION, Problem

#: How often the accounts are listed, and how often the regions of each.
ACCOUNTS_S, REGIONS_S = 300.0, 3_600.0
#: Most messages of one call of SQS.
MESSAGES_PER_CALL = 10


@dataclass(frozen=True, kw_only=True)
class FindQuestion:
    """The accounts and regions to find, as the event of the function says it.

    ``regions`` are those to watch, empty for all that an account has enabled. ``role`` is the name of
    the role in each account, ``partition`` that of its ARN. ``fixed`` are units that have a schedule of their own.
    """

    parts: tuple[OrganizationPart, ...]
    regions: frozenset[str] = frozenset()
    role: str
    external_id: str
    partition: str = "aws"
    fixed: frozenset[tuple[str, str]] = frozenset()

    def role_arn(self, account: str) -> str:
        """The role in an account."""
        return f"arn:{self.partition}:iam::{account}:role/{self.role}"


@dataclass(frozen=True, kw_only=True)
class FoundUnits:
    """The units to sweep now, the accounts that have not let us in or whose regions are not known with the reason, by id, and what failed.

    ``is_whole`` is whether the accounts have been listed at all.
    """

    specs: tuple[UnitSpec, ...] = ()
    not_joined: Mapping[str, str] = field(default_factory=dict)
    without_regions: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    is_whole: bool = True


#: When the regions of each account were listed, and which.
Listed = dict[str, tuple[float, list[str]]]


@dataclass(kw_only=True)
class Joining:
    """The accounts that were found, kept between invocations. All of it may be lost at any time."""

    home: Clients
    home_account: str
    names: dict[str, str] = field(default_factory=dict)
    regions: Listed = field(default_factory=dict)
    listed_at: float = -math.inf
    #: Fingerprints of accounts that have let us in; None until they were read.
    joined: frozenset[str] | None = None
    not_joined: dict[str, str] = field(default_factory=dict)
    without_regions: dict[str, str] = field(default_factory=dict)
    #: Problems of the newest listing: they hold until the next.
    problems: list[Problem] = field(default_factory=list)

    def find(self, question: FindQuestion, config: Config, *, now: float) -> FoundUnits:
        """The units to sweep now. What cannot be listed again stays as it was listed before."""
        if now - self.listed_at >= ACCOUNTS_S:
            self.problems = self._list(question, now)
            # Without the list nobody has left, and what is kept of who has let us in stays.
            if self.listed_at == now:
                self.problems += self._let_in(question, config)
        specs = [
            spec
            for account in sorted(self.names)
            if account not in self.not_joined
            for spec in self._specs(question, account)
        ]
        return FoundUnits(
            specs=tuple(specs),
            not_joined=dict(self.not_joined),
            without_regions=dict(self.without_regions),
            names=dict(self.names),
            problems=tuple(self.problems),
            is_whole=self.listed_at > -math.inf,
        )

    def list_all(self, question: FindQuestion, *, now: float) -> FoundUnits:
        """Every unit that is there now, whether or not it lets us in."""
        problems = self._list(question, now)
        specs = [spec for account in sorted(self.names) for spec in self._specs(question, account)]
        return FoundUnits(specs=tuple(specs), names=dict(self.names), problems=tuple(problems))

    def _list(self, question: FindQuestion, now: float) -> list[Problem]:
        """List accounts and regions anew. Returns what failed."""
        try:
            self.names = find_accounts(self.home, question.parts)
        except AwsError as error:
            return [Problem(part="accounts of the organisation", error=str(error))]
        self.listed_at = now
        self.regions = {key: kept for key, kept in self.regions.items() if key in self.names}
        self.without_regions = {}
        failed: dict[str, list[str]] = {}
        for account in self.names:
            if now - self.regions.get(account, (-math.inf, []))[0] < REGIONS_S:
                continue
            try:
                is_own = account == self.home_account
                listed = find_regions(self.home, account, is_own=is_own)
                self.regions[account] = (now, listed)
            except AwsError as error:
                failed.setdefault(str(error), []).append(account)
                if account not in self.regions and question.regions:
                    self.regions[account] = (-math.inf, sorted(question.regions))
                if account not in self.regions:
                    self.without_regions[account] = str(error)
        return [
            Problem(part=f"regions of {first_of(accounts)}", error=error)
            for error, accounts in failed.items()
        ]

    def _let_in(self, question: FindQuestion, config: Config) -> list[Problem]:
        """Try the role of each account that has not let us in yet. Returns what failed."""
        try:
            arn, before = _read_joined(self.home, config)
        except (*AWS_ERRORS, KeyError) as error:
            # Nobody knows who has let us in: all are swept, and one without a role pages.
            part = "tags of the alarm on the heartbeats"
            return [Problem(part=part, error=describe_error(error))]
        joined = set(before) & {id_fingerprint(account) for account in self.names}
        self.not_joined = {}
        problems: list[Problem] = []
        for account in self.names:
            if account == self.home_account or id_fingerprint(account) in joined:
                continue
            try:
                self.home.assume(
                    question.role_arn(account),
                    external_id=question.external_id,
                    session_name=f"burstwatch-{config.deployment}",
                    region=self.home.region,
                )
                joined.add(id_fingerprint(account))
            except AwsError as error:
                if is_denied(error):
                    self.not_joined[account] = str(error)
                else:  # no word about the account: it is swept, and fails there if it must
                    problems.append(Problem(part=f"role in {account}", error=str(error)))
        self.joined = frozenset(joined)
        if self.joined != before:
            problems += write_tags(self.home, arn, arn, tags_of(self.joined, before=before))
        return problems

    def _specs(self, question: FindQuestion, account: str) -> list[UnitSpec]:
        """The units of an account, without those that have a schedule of their own."""
        enabled = self.regions.get(account, (0.0, []))[1]
        watched_regions = [
            name for name in enabled if not question.regions or name in question.regions
        ]
        is_own = account == self.home_account
        name = self.names.get(account, "")
        home_spec = UnitSpec(is_found=True, account_name=name)
        member = replace(
            home_spec,
            account=account,
            role_arn=question.role_arn(account),
            external_id=question.external_id,
        )
        return [
            replace(home_spec if is_own else member, region=region)
            for region in watched_regions
            if (account, region) not in question.fixed
        ]


def _read_joined(home: Clients, config: Config) -> tuple[str, frozenset[str]]:
    """The ARN of the alarm on the heartbeats of found units, and the fingerprints in its tags.

    Raises:
        one of AWS_ERRORS, KeyError: if it cannot be read, or is not there.
    """
    name = f"burstwatch-{config.deployment}-{HEARTBEAT_ALARM}-{FOUND}"
    (alarm,) = home("cloudwatch").describe_alarms(AlarmNames=[name])["MetricAlarms"] or [None]
    if alarm is None:
        raise KeyError(name)
    return alarm["AlarmArn"], read_members(read_tags(home, alarm["AlarmArn"]))


def lines_of(units: FoundUnits) -> dict[str, str]:
    """A line for people for each account that has not let us in, by its subject."""
    return {
        f"account {account}": f"account {account} ({units.names.get(account) or 'no name'}): nobody watches it, its role cannot be assumed: {why}"
        for account, why in units.not_joined.items()
    } | {
        f"regions of {account}": f"account {account} ({units.names.get(account) or 'no name'}): nobody watches it, its regions cannot be listed: {why}"
        for account, why in units.without_regions.items()
    }


def parse_question(fields: Mapping[str, object]) -> FindQuestion:
    """The question in an event.

    Raises:
        ValueError: naming the field that is missing or not as allowed.
    """
    return FindQuestion(
        parts=tuple(parse_part(text) for text in _texts(fields, "parts")),
        regions=frozenset(_regions(_texts(fields, "regions"))),
        role=str(fields.get("role", "")),
        external_id=str(fields.get("external_id", "")),
        partition=str(fields.get("partition", "aws")),
        fixed=frozenset(
            (account, region)
            for account, _, region in (text.partition("/") for text in _texts(fields, "fixed"))
        ),
    )


def _texts(fields: Mapping[str, object], name: str) -> Sequence[str]:
    value = fields.get(name, [])
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        msg = f"find.{name} is {value!r}; allowed: a list of texts"
        raise ValueError(msg)
    return value


def _regions(names: Iterable[str]) -> Iterable[str]:
    for name in names:
        if re.fullmatch(REGION, name) is None:
            msg = f"find.regions has {name!r}; allowed: {ALLOWED['region'][1]}"
            raise ValueError(msg)
        yield name


def hand_over(clients: Clients, queue_url: str, specs: Sequence[UnitSpec]) -> list[Problem]:
    """Send a message for each unit to the queue of the sweeps. Returns what failed."""
    problems: list[Problem] = []
    for start in range(0, len(specs), MESSAGES_PER_CALL):
        entries = [
            {"Id": str(number), "MessageBody": json.dumps(spec.event())}
            for number, spec in enumerate(specs[start : start + MESSAGES_PER_CALL])
        ]
        try:
            answer = clients("sqs").send_message_batch(QueueUrl=queue_url, Entries=entries)
        except AWS_ERRORS as error:
            problems.append(Problem(part="messages to the queue", error=describe_error(error)))
            continue
        problems += [
            Problem(
                part="messages to the queue", error=f"{failed['Code']}: {failed.get('Message', '')}"
            )
            for failed in answer.get("Failed", ())
        ]
    return problems
