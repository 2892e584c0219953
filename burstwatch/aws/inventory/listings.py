"""Reads a kind's listings page by page, in full."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from botocore import xform_name

from burstwatch.aws.client.pace import Pace
from burstwatch.aws.client.session import (
    AWS_ERRORS,
    Clients,
    CutError,
    Deadline,
    LateError,
    problem_of,
)
from burstwatch.kinds.base import Item, Listing, Scope
from burstwatch.shards import WHOLE, Problem

#: A page with none of these is the last one. A test compares them with every kind's listings.
TOKENS = ("NextToken", "NextMarker", "Marker", "PaginationToken")
#: Complete listings of one look with their number of calls, by operation and arguments: several
#: kinds read the same.
ItemListing: TypeAlias = dict[tuple[str, str, str], tuple[list[Item], int]]


@dataclass(kw_only=True)
class ListingReader:
    """Reads listings. What fails is a problem, and the rest goes on."""

    clients: Clients
    pace: Pace
    deadline: Deadline
    listed: ItemListing = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    calls: int = 0

    def read(self, listing: Listing, scope: Scope) -> tuple[list[Item], bool]:
        """The items, and whether that is all of them."""
        key = listing.service, listing.operation, repr(listing.arguments(scope))
        if key in self.listed:
            cached_items, calls = self.listed[key]
            # As if it had called: what is listed together is then due together.
            self.calls += calls
            return cached_items, True
        items: list[Item] = []
        before = self.calls
        try:
            for page in self._pages(listing, scope):
                self.calls += 1
                items += _at_path(page, listing)
        except AWS_ERRORS as error:
            self.problems.append(problem_of(listing.operation, error))
            return items, False
        self.listed[key] = items, self.calls - before
        return items, True

    def read_in_scope(self, listing: Listing, scope: Scope) -> tuple[list[Item], bool]:
        """Like ``read``. If the shard's filter finds nothing, it reads the items of all shards."""
        items, complete = self.read(listing, scope)
        whole = replace(scope, shard=WHOLE)
        if complete and not items and listing.arguments(scope) != listing.arguments(whole):
            # A filter that lets nothing through is not believed: blindness would look the same.
            items, complete = self.read(listing, whole)
        return items, complete

    def _pages(self, listing: Listing, scope: Scope) -> Iterator[Item]:
        """Read a listing page by page, at the pace AWS allows; raises LateError at the deadline."""
        client, method = self.clients(listing.service), xform_name(listing.operation)
        arguments = listing.arguments(scope)
        if listing.page_size is None:
            pages: Iterator[Item] = (getattr(client, method)(**arguments) for _ in range(1))
        else:
            paginator = client.get_paginator(method)
            paging = {"PageSize": listing.page_size} if listing.page_size else {}
            pages = iter(paginator.paginate(PaginationConfig=paging, **arguments))
        while self.pace.take_page(
            listing.service, deadline=self.deadline, throttled=self.clients.throttled
        ):
            page = next(pages, None)
            if page is None:  # EFS repeats the request's own token on its last page
                return
            yield page
            if not any(page.get(token) for token in TOKENS):
                return
        raise LateError


def _at_path(page: Item, listing: Listing) -> list[Item]:
    """The items at a path such as ``Reservations[].Instances[]``.

    Raises:
        CutError: if the page has no list at all, which is not the same as an empty one.
    """
    root, *_ = steps = listing.items.split(".")
    if root.removesuffix("[]") not in page:
        raise CutError(operation=listing.operation)
    items = [page]
    for step in steps:
        items = [inner for outer in items for inner in outer.get(step.removesuffix("[]"), ())]
    return items
