"""Where something fails every few minutes: each dry volume is paged in time, and nothing false is said."""

import pytest

from tests.aws.chaos import DEPLOYMENTS, EPISODES, play

pytestmark = pytest.mark.many


@pytest.mark.parametrize("seed", [0, 7])
def test_in_an_account_where_something_always_fails_every_page_is_in_time_and_none_is_false(
    seed: int,
) -> None:
    found = play(seed)
    assert found.wrong == []
    assert found.episodes == EPISODES * len(DEPLOYMENTS)
    assert len(found.faults) >= 9
