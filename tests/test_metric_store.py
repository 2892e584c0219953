"""The local cloud's metric store answers as CloudWatch does."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from demo.localcloud.metric_store import read_periods

ACCOUNT, REGION, NAMESPACE, NAME, VOLUME = SERIES = (
    "000000000000", "us-east-1", "AWS/EBS", "VolumeReadOps", "VolumeId=vol-1\t",
)  # fmt: skip


@pytest.fixture
def store() -> Iterator[sqlite3.Connection]:
    common = "account_id, region, metric_name, namespace, timestamp, dimensions, unit"
    with closing(sqlite3.connect(":memory:")) as made:
        made.execute(f"CREATE TABLE SINGLE_METRICS ({common}, value)")
        made.execute(f"CREATE TABLE AGGREGATED_METRICS ({common}, sample_count, sum, min, max)")
        yield made


def put(store: sqlite3.Connection, at: int, *values: float, volume: str = VOLUME) -> None:
    """One single value, or a statistic set of (count, sum, min, max)."""
    row = (ACCOUNT, REGION, NAME, NAMESPACE, at, volume, "Count", *values)
    table = "SINGLE_METRICS" if len(values) == 1 else "AGGREGATED_METRICS"
    store.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608


def read(store: sqlite3.Connection, statistic: str, *, unit: str | None = None) -> object:
    return read_periods(
        store, SERIES, statistic=statistic, unit=unit, start_s=600, end_s=1500, period_s=300
    )


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [("Sum", 27), ("Average", 5.4), ("Minimum", 1), ("Maximum", 13), ("SampleCount", 5)],
)
def test_single_values_and_statistic_sets_make_one_statistic(
    store: sqlite3.Connection, statistic: str, expected: float
) -> None:
    put(store, 600, 5.0)
    put(store, 899, 1.0)
    put(store, 660, 3, 21.0, 2.0, 13.0)
    assert read(store, statistic) == [(600, expected)]


def test_a_period_without_a_value_is_left_out_and_the_end_is_not_of_the_range(
    store: sqlite3.Connection,
) -> None:
    for at in (599, 600, 1200, 1499, 1500):
        put(store, at, 1.0)
    assert read(store, "Sum") == [(600, 1), (1200, 2)]


def test_another_series_does_not_add_to_it(store: sqlite3.Connection) -> None:
    put(store, 600, 1.0, volume="VolumeId=vol-10\t")
    assert read(store, "Sum") == []
    put(store, 600, 2.0)
    assert read(store, "Sum", unit="Count") == [(600, 2)]
    assert read(store, "Sum", unit="Bytes") == []
