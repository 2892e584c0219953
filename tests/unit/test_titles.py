"""Two resources are told apart by their titles and their alarms, however long their names are."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.aws.client.names import alarm_name, plain_part
from burstwatch.formatting import balance, number, plain_name, shortened
from burstwatch.messages.message import SHORTEST_NAME, TITLE_LENGTH, title_of

SAYS = (
    "burst credits run out in 4 min 40 s at this load (14:20Z), then 300 of 3,000 IOPS",
    "credits out in 51 min at this load (15:13Z), then extra CPU is billed",
    "out (14:20Z), then 10% of 2 vCPUs",
)
#: Names of replicas, as Kubernetes and people make them.
FAMILIES = (
    "kafka/data-kafka-{}", "elastic-system/elasticsearch-data-logs-es-hot-{}", "monitoring/prometheus-k8s-db-prometheus-k8s-{}",
    "production-orders-service-database-replica-{}", "pvc-0b1a7a52-{}", "ns/team-a/volume-{}",
)  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("says", SAYS)
def test_replicas_never_share_a_title_or_an_alarm_name(family: str, says: str) -> None:
    names = [family.format(number) for number in range(120)]
    titles = {title_of("CRITICAL", plain_name(name), says) for name in names}
    assert len(titles) == len(names)
    assert len({plain_part(name) for name in names}) == len(names)
    assert max(map(len, titles)) <= TITLE_LENGTH


@given(
    start=st.text(string.ascii_lowercase + "-/", max_size=80),
    ends=st.lists(st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=7), min_size=2, max_size=2, unique=True),
)  # fmt: skip
def test_names_that_end_otherwise_are_shortened_otherwise(start: str, ends: list[str]) -> None:
    first, second = (shortened(f"{start}{end}", SHORTEST_NAME) for end in ends)
    assert first != second
    assert max(len(first), len(second)) <= SHORTEST_NAME


def test_what_is_left_of_a_name_is_its_end() -> None:
    assert shortened("kafka/data-kafka-0", 16) == "…/data-kafka-0"
    assert (
        shortened("elastic-system/elasticsearch-data-logs-es-hot-2", 20) == "elasti…logs-es-hot-2"
    )
    assert plain_name("a" * 40 + "-7").endswith("-7")
    assert alarm_name("burstwatch/x/", "ns/" + "b" * 60 + "-9", "vol-1", "critical").split("/")[2].endswith("-9")  # fmt: skip


def test_a_small_number_is_not_called_nothing() -> None:
    rng = random.Random(0)  # noqa: S311 - the same numbers each time
    for value in [0.00098, 0.0477, 0.04, 1e-9, *(10 ** rng.uniform(-12, 3) for _ in range(500))]:
        assert number(value) not in {"0", "0.0", "-0"}
        assert balance(min(1.0, value)) != "0%"
    assert (number(0), balance(0.0)) == ("0", "0%")
    assert (number(0.00098), number(0.04), number(1e-9)) == ("under 0.001", "0.04", "under 0.001")
