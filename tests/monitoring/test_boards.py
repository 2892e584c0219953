"""Every panel of the CloudWatch dashboards has something to show once the sweep runs."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from burstwatch.aws.fleet import fleet_metrics
from burstwatch.aws.memory import Memory
from burstwatch.aws.sweep import sweep
from burstwatch.config import Config
from burstwatch.kinds import find_kinds
from demo import burstable
from demo.burstable import Instance
from demo.feed import Feed
from demo.fleet import SMALL, Spec, load_for
from demo.play import Volume, entries, take_until
from monitoring.look.frames import Line, LookError, Span, Table
from monitoring.look.page import Looked, Wish, look, problems, repeated
from monitoring.look.sources import CloudWatch
from monitoring.look.transform import in_order, transformed
from monitoring.look.units import axis_ticks, written
from tests.conftest import NOW, Cloud, fake_cloud

FOLDER = Path(__file__).parents[2] / "monitoring" / "grafana"
BEFORE_S, MINUTES = 3 * 3600.0, 8
CONFIG = Config(page_topic_arn="arn:aws:sns:us-east-1:123456789012:page", lead_s=1800)


def board(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return found


@pytest.fixture(scope="module")
def watched() -> Iterator[tuple[Cloud, list[Volume]]]:
    """Two volumes, one of which drains, looked at for some minutes by a real sweep."""
    with fake_cloud() as cloud:
        yield cloud, play(cloud)


def play(cloud: Cloud) -> list[Volume]:
    cloud.aws.add_instance_type(
        SMALL, iops=18_750, mb_s=593.75, baseline_iops=3_600, baseline_mb_s=81.25
    )
    calm, drain = load_for(10_800, iops=200), load_for(10_800, iops=3_000)
    volumes = []
    for name, loads in (("calm", [calm, calm]), ("draining", [load_for(9_900, iops=200), drain])):
        spec = Spec(name=name, volume_type="gp2", size_gib=100, instance_type=SMALL)
        instance_id = cloud.aws.add_instance(SMALL)
        volume_id = cloud.aws.add_volume("gp2", 100, instance_id=instance_id, name=name)
        points = spec.simulation().play(loads, start_s=NOW - BEFORE_S)
        volumes.append(Volume(spec=spec, id=volume_id, instance_id=instance_id, feed=Feed(points)))
    agent = plant_agent(cloud)
    schedule = Memory()
    for _ in range(MINUTES):
        put(cloud, burstable.entries(agent, agent.until(cloud.clock.now)))
        for volume in volumes:
            put_until(cloud, volume, cloud.clock.now)
        result = sweep(
            cloud.unit, find_kinds().values(), cloud.clients, cloud.clients, CONFIG, schedule,
            now=cloud.clock.now, deadline=cloud.never(),
        )  # fmt: skip
        for name, value in fleet_metrics(result).items():
            cloud.aws.put("Burstwatch", name, {"Deployment": "burstwatch"}, cloud.clock.now, value)
        cloud.clock.now += 60
    return volumes


def plant_agent(cloud: Cloud) -> Instance:
    """An instance with CPU credits that are spent an hour from now."""
    (spec, *_) = burstable.build_burstable()
    points = replace(spec, left_s=3_600).points(NOW)
    instance = Instance(
        burstable=spec, id="i-0aaaaaaaaaaaaaa77", points=points, newest=next(points)
    )
    item = {
        "InstanceId": instance.id, "InstanceType": spec.instance_type, "State": {"Name": "running"},
        "LaunchTime": datetime.fromtimestamp(NOW - 7 * 86_400, tz=UTC),
    }  # fmt: skip
    cloud.aws.add_item("ec2", "DescribeInstances", item)
    return instance


def put_until(cloud: Cloud, volume: Volume, end_s: float) -> None:
    put(cloud, entries(volume, take_until(volume, end_s), now=end_s))


def put(cloud: Cloud, data: Iterable[dict[str, Any]]) -> None:
    for datum in data:
        pairs = {pair["Name"]: pair["Value"] for pair in datum["Dimensions"]}
        at = datum["Timestamp"].timestamp()
        cloud.aws.put(datum["namespace"], datum["MetricName"], pairs, at, datum["Value"])


def looked_at(cloud: Cloud, name: str, **chosen: str) -> tuple[str, list[Looked]]:
    now = cloud.clock.now
    source = CloudWatch(client=cloud.clients("cloudwatch"), region="us-east-1")
    wish = Wish(span=Span(start_s=now - 3_600, end_s=now + 1_800), now_s=now, chosen=chosen)
    return look(board(name), source, wish)


def test_every_panel_of_the_fleet_has_data(watched: tuple[Cloud, list[Volume]]) -> None:
    cloud, (calm, draining) = watched
    html, looked = looked_at(cloud, "burstwatch-fleet")
    assert problems(looked) == []
    worst = next(one for one in looked if one.title == "Least time left" and one.kind == "table")
    assert draining.id in worst.html
    assert calm.id not in worst.html
    lowest = next(one.html for one in looked if one.title == "Lowest balances")
    assert lowest.index(draining.id) < lowest.index(calm.id)
    assert f"var-volume={draining.id}" in lowest
    others = next(one.html for one in looked if one.title == "Least time left of other kinds")
    assert "ec2_instance_cpu i-0aaaaaaaaaaaaaa77.cpu" in others
    assert "without a Grafana server" in html


def test_every_panel_of_a_volume_that_drains_has_data_and_its_balance_goes_on_to_where_it_goes(
    watched: tuple[Cloud, list[Volume]],
) -> None:
    cloud, (_, draining) = watched
    chosen = {"volume": draining.id, "instance": draining.instance_id}
    _, looked = looked_at(cloud, "burstwatch-volume", **chosen)
    assert problems(looked) == []


def test_the_lines_ahead_begin_at_the_newest_balance_and_end_when_it_is_said_to_be_dry(
    watched: tuple[Cloud, list[Volume]],
) -> None:
    cloud, (calm, draining) = watched
    source = CloudWatch(client=cloud.clients("cloudwatch"), region="us-east-1")
    (panel,) = [
        one
        for one in board("burstwatch-volume")["panels"]
        if one["title"] == "Balance, and where it goes"
    ]
    span = Span(start_s=cloud.clock.now - 1_800, end_s=cloud.clock.now + 7_200)

    def lines(volume: Volume) -> dict[str, Line]:
        chosen = {"region": "us-east-1", "deployment": "burstwatch", "volume": volume.id}
        frames = source.query(panel["targets"], chosen, span)
        every = [line for frame in frames if not isinstance(frame, Table) for line in frame]
        return {line.name: line for line in every if line.points}

    found = lines(draining)
    assert found.keys() == {"balance", "soonest", "likely", "latest"}
    newest_at, newest = found["balance"].points[-1]
    first_at, first = found["likely"].points[0]
    # 3,000 a second are spent, 300 come in: 3 % of the bucket a minute, from the datapoint's end on.
    assert first_at - newest_at == 120  # the minute after the last sweep
    assert first == pytest.approx(newest - 3 * ((first_at - newest_at) / 60 - 1), abs=0.3)
    dry_at = next(at for at, value in found["likely"].points if value == 0)
    assert dry_at - newest_at == pytest.approx((newest / 3 + 1) * 60, abs=60)
    assert [value for _, value in found["likely"].points] == sorted(
        (value for _, value in found["likely"].points), reverse=True
    )
    for (_, soonest), (_, latest) in zip(
        found["soonest"].points, found["latest"].points, strict=True
    ):
        assert soonest <= latest
    assert lines(calm).keys() == {"balance"}


def test_a_line_is_whole_when_it_comes_in_pages(watched: tuple[Cloud, list[Volume]]) -> None:
    cloud, (_, draining) = watched
    whole = looked_at(cloud, "burstwatch-volume", volume=draining.id)
    cloud.aws.partial_after = 7
    try:
        assert looked_at(cloud, "burstwatch-volume", volume=draining.id) == whole
    finally:
        cloud.aws.partial_after = None


def test_a_panel_that_fails_says_why_and_hides_no_other(
    watched: tuple[Cloud, list[Volume]],
) -> None:
    cloud, _ = watched
    broken = board("burstwatch-fleet")
    panel = next(one for one in broken["panels"] if one["title"] == "Time left of the ten worst")
    panel["targets"][0]["expression"] = "NOSUCH(<b>)"
    now = cloud.clock.now
    source = CloudWatch(client=cloud.clients("cloudwatch"), region="us-east-1")
    html, looked = look(
        broken, source, Wish(span=Span(start_s=now - 600, end_s=now), now_s=now, chosen={})
    )
    assert len(problems(looked)) == 1
    assert "Time left of the ten worst" in problems(looked)[0]
    assert "<b>)" not in html
    assert "&lt;b&gt;" in html


def test_a_panel_that_is_repeated_stands_three_in_a_row_and_moves_down_what_is_below() -> None:
    def panel(title: str, y: int, **more: object) -> dict[str, object]:
        return {"title": title, "gridPos": {"x": 0, "y": y, "w": 24, "h": 8}, **more}

    panels = [panel("each", 0, repeat="device", maxPerRow=3), panel("below", 8)]
    found = repeated(panels, {"device": ["a", "b", "c", "d"], "job": ["x"]})
    places = [(one["gridPos"]["x"], one["gridPos"]["y"], one["gridPos"]["w"]) for one, _ in found]
    assert places == [(0, 0, 8), (8, 0, 8), (16, 0, 8), (0, 8, 8), (0, 16, 24)]
    assert [own["device"] for _, own in found] == ["a", "b", "c", "d", "(a|b|c|d)"]
    assert [own["job"] for _, own in found] == ["x"] * 5


def test_all_values_of_a_variable_are_a_pattern_that_promql_can_read() -> None:
    ((_, own),) = repeated(
        [{"gridPos": {"x": 0, "y": 0, "w": 1, "h": 1}}], {"instance": ["db-1:1", "b.c"]}
    )
    assert own["instance"] == r"(db\\-1:1|b\\.c)"


def test_a_variable_without_a_value_is_an_error_that_names_it(cloud: Cloud) -> None:
    with pytest.raises(LookError, match="deployment has no value"):
        looked_at(cloud, "burstwatch-fleet")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "s", "0 s"), (0.0008, "s", "800 µs"), (0.03, "s", "30 ms"), (59, "s", "59 s"), (90, "s", "1.5 min"),
        (7_200, "s", "2 h"), (6_600, "s", "1.83 h"), (200_000, "s", "2.31 d"), (float("inf"), "s", "never"),
        (3_000, "short", "3 K"), (12.345, "short", "12.3"), (2_945, "iops", "2.94 K io/s"),
        (49_152_000, "binBps", "46.9 MiB/s"), (99.5, "percent", "99.5%"), (0.125, "percentunit", "12.5%"),
        (1.2, "currencyUSD", "$1.20"), (float("inf"), "short", "∞"),
    ],
)  # fmt: skip
def test_a_value_is_written_as_its_unit_says(value: float, unit: str, text: str) -> None:
    assert written(value, unit) == text


def test_a_unit_that_is_not_known_is_refused_by_name() -> None:
    with pytest.raises(LookError, match="parsecs"):
        written(1, "parsecs")


@pytest.mark.parametrize(
    ("low", "high", "unit", "expected"),
    [
        (0, 100, "percent", [0, 20, 40, 60, 80, 100]),
        (0, 3_150, "iops", [0, 1_000, 2_000, 3_000]),
        (0, 1_900, "s", [0, 600, 1_200, 1_800]),
        (0, 10 * 86_400, "s", [0, 172_800, 345_600, 518_400, 691_200, 864_000]),
        (0, 1, "short", [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (5, 5, "short", [5]),
    ],
)
def test_an_axis_is_round_in_its_own_unit(
    low: float, high: float, unit: str, expected: list[float]
) -> None:
    assert axis_ticks(low, high, unit) == pytest.approx(expected)


def test_rows_of_the_same_labels_are_merged_and_what_has_no_value_comes_last() -> None:
    left = Table(columns=["Time", "device", "Value #A"], rows=[[1.0, "a", 5.0], [1.0, "b", 3.0]])
    right = Table(columns=["Time", "device", "Value #B"], rows=[[1.0, "b", 7.0], [1.0, "c", 9.0]])
    renamed = {"Value #A": "left", "Value #B": "right"}
    steps = [
        {"id": "merge", "options": {}},
        {"id": "organize", "options": {"excludeByName": {"Time": True}, "renameByName": renamed}},
    ]
    table = transformed([left, right], steps)
    assert table.columns == ["device", "left", "right"]
    assert in_order(table, [{"displayName": "left", "desc": False}]).rows == [
        ["b", 3.0, 7.0], ["a", 5.0, None], ["c", None, 9.0],
    ]  # fmt: skip


def test_a_transformation_that_is_not_known_is_refused_by_name() -> None:
    with pytest.raises(LookError, match="pivot"):
        transformed([], [{"id": "pivot", "options": {}}])
