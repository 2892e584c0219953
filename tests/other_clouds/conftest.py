"""One emulator that is not ours, with enforced rights, and what takes minutes played on it at once.

In one region the CDK app is deployed and lives; in another the plain template loses one permission after another.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from demo.localcloud.cloud import LocalCloud, free_port, local_cloud
from demo.localcloud.emulators import LOCALEMU
from tests.other_clouds.denied import Denials, Said
from tests.other_clouds.watched import Play, Watched, clients_of

DENIED_REGION = "us-west-2"


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    log = tmp_path_factory.mktemp("localemu") / "localemu.log"
    with (
        local_cloud(port=free_port(), log=log, emulator=LOCALEMU) as running,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("AWS_CA_BUNDLE", running.environment()["AWS_CA_BUNDLE"])
        yield running


@pytest.fixture(scope="session")
def plays(
    cloud: LocalCloud, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Future[Watched], Future[dict[str, Said]]]]:
    """Both begin together."""
    with ThreadPoolExecutor(2) as pool:
        watched = pool.submit(Play(cloud).play)
        denials = Denials(cloud, clients_of(cloud, DENIED_REGION))
        yield watched, pool.submit(denials.play, tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="session")
def watched(plays: tuple[Future[Watched], Future[dict[str, Said]]]) -> Watched:
    """The CDK app, from its deployment to its end."""
    return plays[0].result()


@pytest.fixture(scope="session")
def said(plays: tuple[Future[Watched], Future[dict[str, Said]]]) -> dict[str, Said]:
    """What a sweep says without each permission."""
    return plays[1].result()
