"""A fleet on the strict fake, and the page that a scrape of it gives."""

from collections.abc import Sequence

from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from burstwatch.aws.watched.units import Connections, UnitSpec, connect
from burstwatch.config import Config
from burstwatch.fleet.page import FleetCollector
from burstwatch.fleet.poller import Poller
from burstwatch.kinds import find_kinds
from burstwatch.web.exposition import encode
from tests.conftest import Cloud

HOME = UnitSpec(region="us-east-1")
Labels = dict[str, str]


def fleet_of(
    cloud: Cloud, specs: Sequence[UnitSpec] = (HOME,), config: Config | None = None, kinds: str = ""
) -> Poller:
    return Poller(
        specs,
        Connections(home=cloud.clients, connect=connect),
        [*find_kinds(kinds).values()],
        config or Config(),
        clock=cloud.clock,
    )


def page_of(
    cloud: Cloud, fleet: Poller, *, tags: Sequence[str] = (), most: int = 20_000, accept: str = ""
) -> str:
    """What Prometheus gets when it scrapes now."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(
        FleetCollector(
            fleet.readings, clock=cloud.clock, period_s=60.0, tags=tags, most_resources=most
        )
    )
    return encode(registry, accept)[1].decode()


def series_of(page: str, name: str) -> list[tuple[Labels, float]]:
    """The samples of one metric, by its name without ``burstwatch_``."""
    return [
        (sample.labels, sample.value)
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name == f"burstwatch_{name}"
    ]


def value_of(page: str, name: str, **labels: str) -> float:
    """The value of the one sample with these labels."""
    values = [
        value for its_labels, value in series_of(page, name) if labels.items() <= its_labels.items()
    ]
    assert len(values) == 1, (name, labels, values)
    return values[0]
