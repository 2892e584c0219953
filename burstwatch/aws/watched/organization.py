"""Finds the accounts of an organisation, of a part of it, or with a tag, and the regions that each has enabled.

The management account may ask, and a delegated administrator of Account Management.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from burstwatch.aws.client.session import AWS_ERRORS, AwsError, Clients, describe_error

#: An organisation, a root or an organisational unit in it, or a tag of its accounts.
PART = re.compile(
    r"(?P<organization>o-[a-z0-9]{10,32})"
    r"(?:/(?:(?P<parent>ou-[0-9a-z]{4,32}-[a-z0-9]{8,32}|r-[0-9a-z]{4,32})|tag:(?P<key>[^=]{1,128})=(?P<value>.{0,256})))?"
)
PART_ALLOWED = "an organisation such as o-exampleorgid, o-exampleorgid/ou-ab12-cdef3456 or o-exampleorgid/tag:env=prod"
#: Opt-in states of a region in which resources can be.
ENABLED = ("ENABLED", "ENABLED_BY_DEFAULT")
#: The state of an account that is neither suspended nor being closed, in the older and the newer field.
ACTIVE = "ACTIVE"


@dataclass(frozen=True, kw_only=True, slots=True)
class OrganizationPart:
    """Accounts of an organisation: all, those below ``parent``, or those with a ``tag`` of key and value."""

    organization: str
    parent: str = ""
    tag: tuple[str, str] | None = None


def parse_part(text: str) -> OrganizationPart:
    """The part of a text such as ``o-exampleorgid/ou-ab12-cdef3456``.

    Raises:
        ValueError: saying what is allowed.
    """
    match = PART.fullmatch(text)
    if match is None:
        msg = f"{text!r} is no part of an organisation; allowed: {PART_ALLOWED}"
        raise ValueError(msg)
    return OrganizationPart(
        organization=match["organization"],
        parent=match["parent"] or "",
        tag=None if match["key"] is None else (match["key"], match["value"]),
    )


def find_accounts(clients: Clients, parts: Iterable[OrganizationPart]) -> dict[str, str]:
    """The names of the active accounts of all parts, by id.

    Raises:
        AwsError: if one part cannot be listed in full, or is of another organisation.
    """
    organizations = clients("organizations")
    accounts: dict[str, str] = {}
    try:
        organization_id = organizations.describe_organization()["Organization"]["Id"]
        for part in parts:
            if part.organization != organization_id:
                msg = f"this account is in the organisation {organization_id}, and not in {part.organization}"
                raise AwsError(msg)
            accounts |= {
                account["Id"]: account.get("Name", "")
                for account in _accounts_of(organizations, part)
                if account.get("State", account.get("Status")) == ACTIVE
            }
    except AWS_ERRORS as error:
        raise AwsError(describe_error(error)) from error
    return accounts


def _accounts_of(organizations: Any, part: OrganizationPart) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 - a client
    if part.parent:
        yield from _below(organizations, part.parent)
        return
    for page in organizations.get_paginator("list_accounts").paginate():
        for account in page["Accounts"]:
            if part.tag is None or _has_tag(organizations, account["Id"], *part.tag):
                yield account


def _below(organizations: Any, parent: str) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 - a client
    """Accounts in a root or organisational unit, and in all units in it."""
    pages = organizations.get_paginator("list_accounts_for_parent").paginate(ParentId=parent)
    for page in pages:
        yield from page["Accounts"]
    units = organizations.get_paginator("list_organizational_units_for_parent")
    for page in units.paginate(ParentId=parent):
        for unit in page["OrganizationalUnits"]:
            yield from _below(organizations, unit["Id"])


def _has_tag(organizations: Any, account: str, key: str, value: str) -> bool:  # noqa: ANN401 - a client
    pages = organizations.get_paginator("list_tags_for_resource").paginate(ResourceId=account)
    return any({"Key": key, "Value": value} in page["Tags"] for page in pages)


def find_regions(clients: Clients, account: str, *, is_own: bool) -> list[str]:
    """The regions that an account has enabled, in order. ``is_own``: it is the account of the clients.

    Raises:
        AwsError: if they cannot be listed.
    """
    # The management account may not name itself.
    named = {} if is_own else {"AccountId": account}
    pages = (
        clients("account")
        .get_paginator("list_regions")
        .paginate(RegionOptStatusContains=list(ENABLED), **named)
    )
    try:
        return sorted(region["RegionName"] for page in pages for region in page["Regions"])
    except AWS_ERRORS as error:
        raise AwsError(describe_error(error)) from error
