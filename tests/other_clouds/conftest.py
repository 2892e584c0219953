"""One emulator that is not ours, with enforced rights, and what takes minutes played on it at once.

In one region the CDK app is deployed and lives; in another the plain template loses one permission after another.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from demo.localcloud.cloud import LocalCloud, free_port, local_cloud
from demo.localcloud.emulators import LOCALEMU
from tests.other_clouds.denied import Denials, Said
from tests.other_clouds.examples import deploy_sam, deploy_terraform
from tests.other_clouds.watched import Play, Watched, clients_of

DENIED_REGION = "us-west-2"
EXAMPLES = {
    "terraform": ("eu-north-1", deploy_terraform),
    "sam": ("eu-central-1", deploy_sam),
}


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    log = tmp_path_factory.mktemp("localemu") / "localemu.log"
    with (
        local_cloud(port=free_port(), log=log, emulator=LOCALEMU) as running,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("AWS_CA_BUNDLE", running.environment()["AWS_CA_BUNDLE"])
        yield running


@dataclass(frozen=True, kw_only=True)
class Plays:
    """What is played at once. ``examples`` begin when the denials have ended."""

    watched: Future[Watched]
    said: Future[dict[str, Said]]
    examples: Future[dict[str, dict[str, str]]]


@pytest.fixture(scope="session")
def plays(cloud: LocalCloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plays]:
    release = tmp_path_factory.mktemp("plain")
    denials = Denials(cloud, clients_of(cloud, DENIED_REGION))

    def deploy_examples() -> dict[str, dict[str, str]]:
        return {
            name: deploy(clients_of(cloud, region), release)
            for name, (region, deploy) in EXAMPLES.items()
        }

    with ThreadPoolExecutor(2) as pool:
        yield Plays(
            watched=pool.submit(Play(cloud).play),
            said=pool.submit(denials.play, release),
            examples=pool.submit(deploy_examples),
        )


@pytest.fixture(scope="session")
def watched(plays: Plays) -> Watched:
    """The CDK app, from its deployment to its end."""
    return plays.watched.result()


@pytest.fixture(scope="session")
def said(plays: Plays) -> dict[str, Said]:
    """What a sweep says without each permission."""
    return plays.said.result()


@pytest.fixture(scope="session")
def examples(plays: Plays) -> dict[str, dict[str, str]]:
    """The status of each resource of the examples, by the example."""
    return plays.examples.result()
