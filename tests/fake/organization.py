"""Answers for AWS Organizations and Account Management: accounts below units, their tags and their regions."""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.fake.region import Region
from tests.fake.wire import WireError

ORGANIZATION, ROOT = "o-exampleorgid", "r-ab12"
#: AWS lists so many accounts on a page.
ACCOUNT_PAGE = 20
OWN = "123456789012"


@dataclass
class Member:
    """An account of the organisation. ``regions`` are those that it has enabled."""

    id: str
    name: str
    parent: str = ROOT
    state: str = "ACTIVE"
    tags: dict[str, str] = field(default_factory=dict)
    regions: tuple[str, ...] = ("us-east-1",)


def tags_of_member(member: Member) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in member.tags.items()]


class Organized:
    """Mixed into the account, which is a delegated administrator. ``members`` are all accounts, ``parents`` of units theirs."""

    members: dict[str, Member]
    queued: list[dict[str, Any]]
    refused_messages: int
    parents: dict[str, str]
    is_administrator: bool

    def _DescribeOrganization(self, _p: Any, _r: Region, _n: str) -> dict[str, Any]:
        return {"Organization": {"Id": ORGANIZATION, "MasterAccountId": "999999999999"}}

    def _ListAccounts(self, params: dict[str, Any], _r: Region, _n: str) -> dict[str, Any]:
        return self._accounts(list(self.members.values()), params)

    def _ListAccountsForParent(self, params: dict[str, Any], _r: Region, _n: str) -> dict[str, Any]:
        below = [member for member in self.members.values() if member.parent == params["ParentId"]]
        return self._accounts(below, params)

    def _ListOrganizationalUnitsForParent(
        self, params: dict[str, Any], _r: Region, _n: str
    ) -> dict[str, Any]:
        units = [unit for unit, parent in self.parents.items() if parent == params["ParentId"]]
        return {"OrganizationalUnits": [{"Id": unit, "Name": unit} for unit in units]}

    def _ListRegions(self, params: dict[str, Any], _r: Region, _n: str) -> dict[str, Any]:
        account = params.get("AccountId", OWN)
        if "AccountId" in params and account == OWN:
            raise WireError("ValidationException", "the account may not name itself", 400)
        if account not in self.members:
            raise WireError("AccessDeniedException", f"{account} is no member", 403)
        regions = self.members[account].regions
        return {"Regions": [{"RegionName": name, "RegionOptStatus": "ENABLED"} for name in regions]}

    def _SendMessageBatch(self, params: dict[str, Any], _r: Region, _n: str) -> dict[str, Any]:
        refused = params["Entries"][: self.refused_messages]
        self.refused_messages -= len(refused)
        taken = params["Entries"][len(refused) :]
        self.queued += [json.loads(entry["MessageBody"]) for entry in taken]
        return {
            "Successful": [
                {"Id": entry["Id"], "MessageId": "m", "MD5OfMessageBody": "x"} for entry in taken
            ],
            "Failed": [
                {"Id": entry["Id"], "Code": "InternalError", "SenderFault": False}
                for entry in refused
            ],
        }

    def _accounts(self, members: list[Member], params: dict[str, Any]) -> dict[str, Any]:
        if not self.is_administrator:
            raise WireError("AccessDeniedException", "You don't have permissions", 403)
        begin = int(params.get("NextToken") or 0)
        page = members[begin : begin + ACCOUNT_PAGE]
        more = begin + ACCOUNT_PAGE < len(members)
        accounts = [
            {"Id": member.id, "Name": member.name, "State": member.state, "Status": member.state}
            for member in page
        ]
        return {"Accounts": accounts, **({"NextToken": str(begin + ACCOUNT_PAGE)} if more else {})}
