"""The list of units that is polled: renewed every few minutes, and kept where it cannot be."""

from collections.abc import Iterator

import pytest

from burstwatch.aws.watched.units import UnitSpec
from burstwatch.fleet import metrics as m
from burstwatch.fleet.serving import RELIST_S, UnitListing
from burstwatch.web.exposition import Page
from tests.conftest import Cloud
from tests.fleet.fleets import fleet_of

EAST, WEST = UnitSpec(region="us-east-1"), UnitSpec(region="eu-west-1")


def listed_at(listing: UnitListing) -> list[float]:
    page = Page(m.served_metrics())
    listing.add_to(page)
    return [sample.value for family in page.families() for sample in family.with_samples().samples]


def test_units_join_and_leave_when_they_are_listed_again(cloud: Cloud) -> None:
    poller, listing = fleet_of(cloud, [EAST]), UnitListing()
    answers: Iterator[tuple[list[UnitSpec], list[str]]] = iter([([EAST, WEST], []), ([WEST], [])])
    assert listed_at(listing) == []
    listing.renew(poller, lambda: next(answers), 1_000.0)
    assert [reading.unit.region for reading in poller.readings()] == ["us-east-1", "eu-west-1"]
    listing.renew(poller, lambda: next(answers), 1_000.0 + RELIST_S - 1)  # it is not due yet
    assert len(poller.readings()) == 2
    listing.renew(poller, lambda: next(answers), 1_000.0 + RELIST_S)
    assert [reading.unit.region for reading in poller.readings()] == ["eu-west-1"]
    assert listed_at(listing) == [1_000.0 + RELIST_S]


@pytest.mark.parametrize("fault", ["in part", "altogether"])
def test_a_list_that_cannot_be_had_leaves_the_one_before(
    cloud: Cloud, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    poller, listing = fleet_of(cloud, [EAST]), UnitListing()
    listing.renew(poller, lambda: ([EAST, WEST], []), 1_000.0)

    def relist() -> tuple[list[UnitSpec], list[str]]:
        if fault == "altogether":
            msg = "ListAccounts: AccessDenied"
            raise ValueError(msg)
        return [EAST], ["accounts of the organisation: ListAccounts: AccessDenied"]

    listing.renew(poller, relist, 2_000.0)
    assert len(poller.readings()) == 2
    assert listed_at(listing) == [1_000.0]
    assert "ListAccounts: AccessDenied" in caplog.text


@pytest.mark.parametrize(("is_whole", "listed"), [(True, 1_000.0), (False, 0.0)])
def test_the_list_of_the_start_is_not_asked_for_twice(
    cloud: Cloud, *, is_whole: bool, listed: float
) -> None:
    poller, listing = fleet_of(cloud, [EAST]), UnitListing()
    listing.begin(1_000.0, is_whole=is_whole)
    assert listed_at(listing) == [listed]
    listing.renew(poller, lambda: ([WEST], []), 1_000.0 + RELIST_S - 1)
    assert [reading.unit.region for reading in poller.readings()] == ["us-east-1"]
    listing.renew(poller, lambda: ([WEST], []), 1_000.0 + RELIST_S)
    assert [reading.unit.region for reading in poller.readings()] == ["eu-west-1"]
