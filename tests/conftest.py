import gc
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import botocore.session
import pytest
from botocore.client import ClientCreator
from botocore.config import Config as ClientConfig
from botocore.loaders import Loader
from botocore.model import ServiceModel
from hypothesis import HealthCheck, settings

from burstwatch.aws.client import pace, session
from burstwatch.aws.client.session import Clients, Deadline
from burstwatch.aws.doctor import checks
from burstwatch.cli import documents
from burstwatch.cli.output import to_json
from burstwatch.kinds import find_kinds
from burstwatch.shards import Unit
from tests.documents import check_document
from tests.fake.aws import ACCOUNT, FakeAws
from tests.fake.server import STALLS_S, FakeServer
from tools.find_python import fitting_python

# Their asserts say what they compared, as those of tests do.
pytest.register_assert_rewrite("tests.kinds.playing")
# A busy machine must fail no test: time is no limit of an example. `make test-all` tries many examples, all else few.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("few", patient, max_examples=10)
settings.register_profile("many", patient, max_examples=60)
settings.load_profile("few")
# The models of AWS's services are a million objects that stay: to look through them again and again is a sixth of the run.
gc.set_threshold(100_000, 20, 20)

#: Fixtures that give a program, or skip their test.
NEED_PROGRAMS = {"program", "helm"}

NOW = 1_790_000_040.0  # a whole minute


class Clock:
    """A clock that a test moves."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@dataclass
class Cloud:
    """The fake on the wire, with clients that reach it."""

    aws: FakeAws
    clients: Clients
    clock: Clock
    url: str
    unit: Unit

    def never(self) -> Deadline:
        return Deadline(lambda: 0.0, at=3_600.0)

    @contextmanager
    def stalling(self, operation: str) -> Iterator[None]:
        """The next call of that operation is not answered before the block ends."""
        answered = self.aws.stalled[operation] = threading.Event()
        try:
            yield
        finally:
            answered.set()


@pytest.fixture(scope="session", autouse=True)
def _documents_are_as_declared() -> Iterator[None]:
    """Every document of ``--json`` that any test makes is checked against docs/json.md's declarations."""
    with pytest.MonkeyPatch.context() as patch:
        write = to_json

        def checked(document: object) -> str:
            text = write(document)
            check_document(json.loads(text))
            return text

        patch.setattr(documents, "to_json", checked)
        yield


@pytest.fixture(scope="session", autouse=True)
def _models_are_read_once() -> Iterator[None]:
    """Every session of botocore makes its clients anew, which is most of the time of a test."""
    with pytest.MonkeyPatch.context() as patch:
        loader = Loader()
        patch.setattr(botocore.session, "create_loader", lambda *_: loader)
        made: dict[str, type] = {}
        create = ClientCreator._create_client_class

        def create_once(self: ClientCreator, name: str, model: ServiceModel) -> type:
            if name not in made:
                made[name] = create(self, name, model)
            return made[name]

        patch.setattr(ClientCreator, "_create_client_class", create_once)
        # It reads every operation of a service to find that none discovers its endpoint.
        patch.setattr(ClientCreator, "_register_endpoint_discovery", lambda *_: None)
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Mark what needs a program that the machine may not have, and begin with what waits for real parts."""
    for item in items:
        if not NEED_PROGRAMS.isdisjoint(item.fixturenames):
            item.add_marker("real")
    items.sort(key=lambda item: item.get_closest_marker("real") is None)


@contextmanager
def no_account() -> Iterator[pytest.MonkeyPatch]:
    """No real account is ever reached from a test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
            patch.delenv(name, raising=False)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("AWS_CONFIG_FILE", "/dev/null")
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_REGION", "us-east-1")
        yield patch


@contextmanager
def fake_cloud() -> Iterator[Cloud]:
    """The strict fake, serving, and the environment that leads to it."""
    clock = Clock(NOW)
    aws = FakeAws(clock=clock)
    aws.add_instance_type("m5.large", iops=18_750, mb_s=593.75)
    aws.add_instance_type("t3.nano", iops=11_800, mb_s=260.625)
    aws.add_instance_type("m3.medium", iops=2_000, mb_s=50, hypervisor="xen")
    server = FakeServer(aws)
    threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    ).start()
    with no_account() as patch:
        patch.setenv("AWS_ENDPOINT_URL", server.url)
        # A call that stalls does so for as long as its test likes, and is not tried again.
        patient = session.CLIENT_CONFIG.merge(ClientConfig(read_timeout=STALLS_S))
        patch.setattr(session, "CLIENT_CONFIG", patient)
        # No test follows a link to the network.
        patch.setattr(checks, "fetch_status", lambda _: 200 if aws.has_runbooks else 404)
        # Sweeps a minute apart come at once here, and pages would wait for a quota of the real time.
        patch.setattr(pace, "LISTINGS", replace(pace.LISTINGS, value=1e9))
        yield Cloud(
            aws=aws,
            clients=Clients("us-east-1"),
            clock=clock,
            url=server.url,
            unit=Unit(account=ACCOUNT, region="us-east-1"),
        )
    server.shutdown()
    server.server_close()


@pytest.fixture
def aws_env() -> Iterator[pytest.MonkeyPatch]:
    """See ``no_account``."""
    with no_account() as patch:
        yield patch


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    """See ``fake_cloud``."""
    with fake_cloud() as made:
        yield made


def iam_action(service: str, operation: str) -> str:
    """The permission that a call needs."""
    listings = [one for kind in find_kinds().values() for one in kind.listings]
    known = {(one.service, one.operation): one.iam_action for one in listings}
    return known.get((service, operation), f"{service}:{operation}")


def put_cache(cloud: Cloud) -> None:
    """A cluster of caches: the tags of such a one are listed by a service of their own."""
    item = {
        "CacheClusterId": "sessions",
        "ARN": "arn:aws:elasticache:us-east-1:123456789012:cluster:sessions",
        "CacheNodeType": "cache.r6g.large",
    }
    cloud.aws.add_item("elasticache", "DescribeCacheClusters", item)


def find_program(name: str) -> str:
    """Where a program of Debian's is; without it the test is left out, but not where all must run."""
    path = shutil.which(name)
    if path is None and os.environ.get("REQUIRE_PROGRAMS"):
        pytest.fail(f"{name} is not installed, and every test must run here")
    if path is None:
        pytest.skip(
            f"{name} is not installed (Debian's packages prometheus, prometheus-alertmanager, chromium, fio, "
            "dbench, openssl)"
        )
    return path


def find_emulator(name: str, *, is_here: bool) -> None:
    """Leave a test out where its emulator is not installed, but not where all must run."""
    why = f"{name} is not installed (make .cache/{'localcloud' if name == 'localstack' else name}.stamp)"
    can_be_had = name == "localstack" or fitting_python()
    if not is_here and can_be_had and os.environ.get("REQUIRE_PROGRAMS"):
        pytest.fail(f"{why}, and every test must run here")
    if not is_here:
        pytest.skip(why)


@pytest.fixture
def program() -> Callable[[str], str]:
    """See ``find_program``."""
    return find_program
