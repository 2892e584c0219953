"""The page, `advise`, the digest and the runbooks name the same change for the same load, with the same sum."""

import re
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from burstwatch.fixes.fix import Fix
from burstwatch.fixes.prices import HOURS_A_MONTH
from burstwatch.history.observations import Resource
from burstwatch.kinds.base import Kind, PastLoad
from burstwatch.messages.episode import lasting_fix
from tests.unit.every_bucket import buckets

RUNBOOKS = Path("monitoring/runbooks")
UNIT = "123456789012/us-east-1"
HOURS = 336
SOMEWHERE = [(kind, replace(resource, unit=UNIT)) for kind, resource in buckets()]


def advised(kind: Kind, resource: Resource, demand: float) -> list[Fix]:
    """What `advise` chooses from for a fortnight at one load."""
    fortnight = PastLoad(periods=[{}] * HOURS, asked=[demand] * HOURS, period_s=3_600.0)
    return kind.changes(resource, demand, {}, past_load=fortnight)


def agree(of_page: Fix, of_advice: Fix) -> bool:
    """True if both say the same sum. That of an hour may allow for credits that a month does not bill."""
    if of_page.usd_hour is not None and of_advice.usd_month is not None:
        return 0 <= of_advice.usd_month <= of_page.usd_hour * HOURS_A_MONTH + 0.005
    return of_page.usd_month == of_advice.usd_month


@given(bucket=st.sampled_from(SOMEWHERE), share=st.floats(min_value=0.01, max_value=1))
def test_a_page_and_advise_say_the_same_of_the_same_change(
    bucket: tuple[Kind, Resource], share: float
) -> None:
    kind, resource = bucket
    assert resource.bucket is not None
    demand = resource.bucket.refill + share * (resource.limit.rate - resource.bucket.refill)
    page = kind.what_helps(resource, resource.bucket.capacity / 3, demand, {})
    changes = advised(kind, resource, demand)
    for fix in page:
        if not fix.commands:
            continue
        twins = [change for change in changes if change.commands == fix.commands]
        assert twins
        for twin in twins:
            assert twin.action == fix.action
            assert agree(fix, twin), (fix.text, twin.text)


@given(bucket=st.sampled_from(SOMEWHERE))
def test_the_digest_says_what_a_page_at_the_highest_load_says_or_sends_to_advise(
    bucket: tuple[Kind, Resource],
) -> None:
    kind, resource = bucket
    assert resource.bucket is not None
    at_most = min(resource.bucket.burst, resource.limit.rate)
    text = lasting_fix(kind, resource)
    if "burstwatch advise" in text:
        assert f"burstwatch advise {resource.id} --region us-east-1" in text
    else:
        assert text in {fix.text for fix in kind.changes(resource, at_most, {})}


def test_no_runbook_names_a_sum_that_a_page_knows_better() -> None:
    for path in RUNBOOKS.glob("*.md"):
        assert not re.search(r"\d USD|USD \d|\$\d", path.read_text(encoding="utf-8")), path
