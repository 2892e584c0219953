"""Both emulators, and everything that takes minutes played on them at once; each test waits for what it needs.

On each, the CDK app lives from its deployment to its end. On localemu, which enforces rights, the plain template loses
one permission after another in another region; on LocalStack sweeps go through a queue.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
from botocore.config import Config as ClientConfig

from burstwatch.aws.client import session
from demo.localcloud.cloud import LocalCloud, free_port, local_cloud
from demo.localcloud.emulators import LOCALSTACK
from tests.clouds.app import Play, Watched
from tests.clouds.denied import Denials, Said
from tests.clouds.emulators import EMULATORS, LOCALEMU
from tests.clouds.examples import deploy_sam, deploy_terraform
from tests.clouds.queued import Queued, play_queued
from tests.clouds.waiting import STANDSTILL_S, clients_of
from tests.conftest import find_emulator
from tools.dist import function_and_template

DENIED_REGION = "us-west-2"
Played = TypeVar("Played")
EXAMPLES = {
    "terraform": ("eu-north-1", deploy_terraform),
    "sam": ("eu-central-1", deploy_sam),
}
#: What is played beside the tests begins with the first that needs it, so these come after the demo, which is alone.
PLAYED = {"app", "clients", "cloud", "ended", "examples", "queued", "said"}


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """The demo first, and the end of the app last."""
    items.sort(
        key=lambda item: (
            not PLAYED.isdisjoint(item.fixturenames),
            "ended" in item.fixturenames,
        )
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test of the app runs on each emulator, but for those that are marked with the one that they are for."""
    if "emulator" in metafunc.fixturenames:
        mark = metafunc.definition.get_closest_marker("on")
        names = mark.args if mark else tuple(EMULATORS)
        metafunc.parametrize("emulator", names, scope="session")


@dataclass(frozen=True, kw_only=True)
class Plays:
    """What is played at once on the emulators that are here."""

    clouds: Mapping[str, LocalCloud]
    apps: Mapping[str, tuple[Play, Future[Watched]]]
    said: Future[dict[str, Said]] | None
    examples: Mapping[str, Future[dict[str, str]]]
    queued: Future[Queued] | None


@pytest.fixture(scope="session")
def plays(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plays]:
    release = tmp_path_factory.mktemp("release")
    function_and_template(release, at=0)
    here = [emulator for emulator in EMULATORS.values() if Path(emulator.command[0]).exists()]
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        # An emulator on a busy machine answers when it can.
        patient = session.CLIENT_CONFIG.merge(
            ClientConfig(read_timeout=STANDSTILL_S, connect_timeout=STANDSTILL_S)
        )
        patch.setattr(session, "CLIENT_CONFIG", patient)
        clouds = {
            emulator.name: stack.enter_context(
                local_cloud(
                    port=free_port(),
                    log=tmp_path_factory.mktemp(emulator.name) / "cloud.log",
                    emulator=emulator,
                )
            )
            for emulator in here
        }
        if LOCALEMU.name in clouds:
            patch.setenv("AWS_CA_BUNDLE", clouds[LOCALEMU.name].environment()["AWS_CA_BUNDLE"])
        pool = stack.enter_context(ThreadPoolExecutor(8))
        players = {name: Play(cloud) for name, cloud in clouds.items()}
        apps = {name: (player, pool.submit(player.play)) for name, player in players.items()}
        said: Future[dict[str, Said]] | None = None
        examples: dict[str, Future[dict[str, str]]] = {}
        if LOCALEMU.name in clouds:
            emulator = clouds[LOCALEMU.name]
            _, before = apps[LOCALEMU.name]
            denials = Denials(emulator, clients_of(emulator, DENIED_REGION))
            said = pool.submit(_after, before, denials.play, release)
            for name, (region, deploy) in EXAMPLES.items():
                clients = clients_of(emulator, region)
                examples[name] = pool.submit(_after, before, deploy, clients, release)
        yield Plays(
            clouds=clouds,
            apps=apps,
            said=said,
            examples=examples,
            queued=pool.submit(play_queued, clouds[LOCALSTACK.name])
            if LOCALSTACK.name in clouds
            else None,
        )
        for player in players.values():
            player.ended.set()


def _after(before: Future[Any], play: Callable[..., Played], *arguments: object) -> Played:
    """Play when another has ended, however it did: commands of the app have the patience of the product."""
    wait([before])
    return play(*arguments)


@pytest.fixture(scope="session")
def cloud(plays: Plays, emulator: str) -> LocalCloud:
    """One of the emulators, running."""
    find_emulator(emulator, is_here=emulator in plays.clouds)
    return plays.clouds[emulator]


@pytest.fixture(scope="session")
def app(plays: Plays, cloud: LocalCloud) -> Watched:
    """The CDK app, up to its end."""
    return plays.apps[cloud.emulator.name][1].result()


@pytest.fixture(scope="session")
def ended(plays: Plays, app: Watched, cloud: LocalCloud) -> Watched:
    """The CDK app, when its stack is gone."""
    plays.apps[cloud.emulator.name][0].end()
    return app


@pytest.fixture(scope="session")
def said(plays: Plays, cloud: LocalCloud) -> dict[str, Said]:
    """What a sweep says without each permission."""
    assert cloud
    assert plays.said is not None
    return plays.said.result()


@pytest.fixture(scope="session")
def examples(plays: Plays, cloud: LocalCloud) -> Mapping[str, Future[dict[str, str]]]:
    """The status of each resource of an example, by the example."""
    assert cloud
    return plays.examples


@pytest.fixture(scope="session")
def queued(plays: Plays, cloud: LocalCloud) -> Queued:
    """A deployment with its sweeps in shards and through a queue."""
    assert cloud
    assert plays.queued is not None
    return plays.queued.result()
