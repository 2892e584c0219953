"""Without CDK: the template of a release pages as the app does."""

from concurrent.futures import Future

import pytest

from tests.local_cloud.plain import DEPLOYMENT, Plain

pytestmark = [pytest.mark.local_cloud, pytest.mark.timeout(3_000)]


def test_the_plain_template_is_deployed_pages_a_draining_volume_and_is_deleted(
    plain: Future[Plain],
) -> None:
    found = plain.result()
    names = {page.alarm["AlarmName"] for page in found.pages if page.alarm}
    assert names == {f"burstwatch/{DEPLOYMENT}/{found.volume}/critical"}
    assert found.left == []


def test_an_open_episode_outlives_an_upgrade_and_a_rollback_and_nobody_is_paged_again(
    plain: Future[Plain],
) -> None:
    played = plain.result()
    if not played.changes:
        pytest.skip("the history of this clone does not have the version before")
    assert [version for version, _, _ in played.changes] == ["now", "before"]
    assert {state for _, state, _ in played.changes} == {"ALARM"}
    assert len({since for _, _, since in played.changes}) == 1  # it never ended in between
    assert len(played.pages) == 1
