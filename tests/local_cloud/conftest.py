"""One local cloud for all of these tests, and everything that takes minutes played on it at once.

The demo plays in one region, as `make demo` does. In another, a deployment has its schedule
taken away, and three volumes run into danger there and out again. A further deployment watches
them too, and fire drills are held with it. They begin together and the tests await them.
"""

import inspect
import json
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest

from demo.__main__ import LIVE, run
from demo.localcloud.cloud import LocalCloud, free_port, local_cloud
from demo.pace import FULL
from demo.stack import Stack
from tests.local_cloud.denied import Denied, play_denied
from tests.local_cloud.episode import Episode, play_episode
from tests.local_cloud.plain import Plain, play_plain
from tests.local_cloud.queued import Queued, play_queued
from tests.local_cloud.second import Second, play_second
from tests.sockets import listening_below

REGION = "eu-west-1"
QUEUE_REGION = "ap-northeast-1"
PLAIN_REGION = "us-west-2"
DEMO_REGION = "us-east-1"
#: How often the demo is played again where the machine was too slow for it.
REPETITIONS = 2
#: What takes longest. Tests of other things run while these go on.
LONGEST = {"missed", "episode", "denied_unit", "second"}
#: Status and text of what is served, by its address.
Pages = dict[str, tuple[int, str]]


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Put the tests that wait for what takes longest at the end."""
    items.sort(key=lambda item: not LONGEST.isdisjoint(inspect.signature(item.function).parameters))


@dataclass(frozen=True, kw_only=True)
class Played:
    """How the demo ended, its result, and every page as it was served before the end.

    ``listening`` are the addresses that it and the local cloud listened on while it was kept.
    """

    code: int
    result: dict[str, Any]
    pages: Future[Pages]
    listening: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Deployed:
    """The second deployment: its outputs, and the schedule's targets taken away."""

    outputs: dict[str, str]
    client: Callable[[str], Any]


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    log = tmp_path_factory.mktemp("cloud") / "cloud.log"
    with local_cloud(port=free_port(), log=log) as running:
        yield running


@pytest.fixture(scope="session")
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(10) as workers:
        yield workers


@pytest.fixture(scope="session")
def demo_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the demo writes."""
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="session")
def demo(cloud: LocalCloud, pool: ThreadPoolExecutor, demo_out: Path) -> Future[Played]:
    """The demo, played while the other tests watch other regions; again where the machine was too slow for it."""

    def play() -> Played:
        played = play_demo(cloud, demo_out, pool)
        for _ in range(REPETITIONS):
            if played.code == 0 or not played.result["too_slow"]:
                break
            print(f"this machine was too slow, the demo is repeated: {played.result['too_slow']}")
            remove_fleet(client(cloud, "ec2", DEMO_REGION))
            played = play_demo(cloud, demo_out, pool)
        return played

    return pool.submit(play)


def play_demo(cloud: LocalCloud, out: Path, pool: ThreadPoolExecutor) -> Played:
    """The demo, kept running until its pages were fetched."""
    seen_enough, ended = threading.Event(), threading.Event()
    listening: set[str] = set()

    def fetch_all() -> Pages:
        try:
            while not (out / LIVE).exists():
                assert not ended.wait(1), "the demo has ended without its pages"
            address = (out / LIVE).read_text()
            volumes = json.loads((out / "result.json").read_text())["volumes"]
            wiki = next(volume["id"] for volume in volumes if volume["name"] == "wiki")
            boards = ["fleet", f"volume?var-volume={wiki}", "resource", "host"]
            listening.update(host for host, _ in listening_below(os.getpid()))
            paths = ["", *(f"d/burstwatch-{board}" for board in boards), "nowhere"]
            return {path: fetch(f"{address}{path}") for path in paths}
        finally:
            seen_enough.set()

    (out / LIVE).unlink(missing_ok=True)
    pages = pool.submit(fetch_all)
    try:
        code = run(cloud, out, FULL, keep_until=seen_enough)
    finally:
        ended.set()
    result = json.loads((out / "result.json").read_text())
    return Played(code=code, result=result, pages=pages, listening=frozenset(listening))


def remove_fleet(ec2: Any) -> None:
    """Remove every instance and volume, so that another run begins with its own."""
    found = [
        one for group in ec2.describe_instances()["Reservations"] for one in group["Instances"]
    ]
    ec2.terminate_instances(InstanceIds=[one["InstanceId"] for one in found])
    for volume in ec2.describe_volumes()["Volumes"]:
        for attached in volume["Attachments"]:
            ec2.detach_volume(VolumeId=volume["VolumeId"], InstanceId=attached["InstanceId"])
        ec2.delete_volume(VolumeId=volume["VolumeId"])


def fetch(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=120) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.fixture(scope="session")
def deployed(cloud: LocalCloud, demo: Future[Played]) -> Deployed:
    """Deployed, seen to beat, and then its schedule is silenced."""
    assert not demo.done()
    stack = Stack(cloud, region=REGION, settings=FULL.settings)
    stack.synth()
    stack.bootstrap()
    outputs = stack.deploy()
    events = client(cloud, "events")
    cloudwatch = client(cloud, "cloudwatch")

    def has_beaten() -> bool:
        metrics = cloudwatch.list_metrics(Namespace="Burstwatch", MetricName="SweepCompleted")
        return bool(metrics["Metrics"])

    eventually(has_beaten, seconds=600, what="a completed sweep")
    # Disabling a rule does not stop the local cloud from firing it; taking its targets does.
    targets = events.list_targets_by_rule(Rule=outputs["RuleName"])["Targets"]
    events.remove_targets(Rule=outputs["RuleName"], Ids=[target["Id"] for target in targets])
    return Deployed(outputs=outputs, client=lambda service: client(cloud, service))


@pytest.fixture(scope="session")
def missed(deployed: Deployed, pool: ThreadPoolExecutor) -> Future[list[str]]:
    """The states of the alarm on the heartbeat, since the schedule is silent."""
    cloudwatch = deployed.client("cloudwatch")

    def state() -> str:
        (alarm,) = cloudwatch.describe_alarms(
            AlarmNames=["burstwatch-burstwatch-no-completed-sweep"]
        )["MetricAlarms"]
        return str(alarm["StateValue"])

    def watch() -> list[str]:
        # The local cloud evaluates a five-minute alarm every five minutes and looks back seven.
        eventually(lambda: state() == "OK", seconds=900, what="the heartbeat is seen")
        eventually(lambda: state() == "ALARM", seconds=1500, what="the heartbeat is missed")
        return ["OK", "ALARM"]

    return pool.submit(watch)


@pytest.fixture(scope="session")
def episode(
    cloud: LocalCloud,
    deployed: Deployed,
    missed: Future[list[str]],
    queued: Future[Queued],
    second: Future[Second],
    denied_unit: Future[Denied],
    pool: ThreadPoolExecutor,
) -> Future[Episode]:
    """Three volumes at risk at once, each saved in another way."""
    assert all((missed, queued, second, denied_unit))  # begun before what is waited for
    return pool.submit(play_episode, cloud, REGION, deployed.outputs)


@pytest.fixture(scope="session")
def denied_unit(cloud: LocalCloud, deployed: Deployed, pool: ThreadPoolExecutor) -> Future[Denied]:
    """A unit that denies everything beside one that works."""
    return pool.submit(play_denied, cloud, REGION, deployed.outputs["SweepFunctionName"])


@pytest.fixture(scope="session")
def queued(cloud: LocalCloud, deployed: Deployed, pool: ThreadPoolExecutor) -> Future[Queued]:
    """A third deployment, with its sweeps in shards and through a queue."""
    assert deployed.outputs  # one after the other, for their start is most of their work
    return pool.submit(play_queued, cloud, QUEUE_REGION)


@pytest.fixture(scope="session")
def plain_paged() -> threading.Event:
    """Set when the plain deployment has paged, or could not."""
    return threading.Event()


@pytest.fixture(scope="session")
def plain(
    cloud: LocalCloud,
    plain_paged: threading.Event,
    pool: ThreadPoolExecutor,
    tmp_path_factory: pytest.TempPathFactory,
) -> Future[Plain]:
    """The plain template, deployed without CDK."""
    folder = tmp_path_factory.mktemp("plain")
    return pool.submit(play_plain, cloud, PLAIN_REGION, folder, plain_paged)


@pytest.fixture(scope="session")
def second(
    cloud: LocalCloud,
    deployed: Deployed,
    plain: Future[Plain],
    plain_paged: threading.Event,
    pool: ThreadPoolExecutor,
) -> Future[Second]:
    """A second deployment beside it, which is drilled. It begins when the plain one has paged: to start is most of the work."""
    assert deployed.outputs

    def play() -> Second:
        while not plain_paged.wait(1) and not plain.done():
            continue
        return play_second(cloud, REGION)

    return pool.submit(play)


def client(cloud: LocalCloud, service: str, region: str = REGION) -> Any:
    return boto3.client(
        service,
        endpoint_url=cloud.endpoint,
        region_name=region,
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


def eventually(check: Callable[[], bool], *, seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(3)
