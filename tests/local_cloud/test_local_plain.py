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
