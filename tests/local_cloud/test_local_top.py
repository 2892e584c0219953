"""The live view of the terminal on the demo's own fleet."""

from concurrent.futures import Future

import pytest

from demo.localcloud.cloud import LocalCloud
from tests.local_cloud.conftest import Played
from tests.terminal import top_until_q

pytestmark = [pytest.mark.local_cloud, pytest.mark.timeout(3_000)]


def test_top_shows_the_worst_of_the_demo_and_q_ends_it(
    cloud: LocalCloud, demo: Future[Played]
) -> None:
    dry = [volume for volume in demo.result().result["volumes"] if volume["exhausted_at"]]
    words = [dry[0]["name"].encode(), b"metrics"]
    top_until_q(words, cloud.environment("us-east-1"), "--region", "us-east-1")
