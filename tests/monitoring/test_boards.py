"""Every panel of the CloudWatch dashboards has something to show once the sweep runs."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from demo.play import Volume
from tests.conftest import Cloud, fake_cloud
from tests.look.frames import Frame, LookError, Span
from tests.look.page import Wish, look, problems, repeated
from tests.look.sources import CloudWatch, filled
from tests.monitoring.played import board, looked_at, play


@pytest.fixture(scope="module")
def watched() -> Iterator[tuple[Cloud, list[Volume]]]:
    """Two volumes, one of which drains, looked at for some minutes by a real sweep."""
    with fake_cloud() as cloud:
        yield cloud, play(cloud)


def test_every_panel_of_the_fleet_has_data(watched: tuple[Cloud, list[Volume]]) -> None:
    cloud, (calm, draining) = watched
    html, looked = looked_at(cloud, "burstwatch-fleet")
    assert problems(looked) == []
    assert "Drawn with Grafana 13 components" in html

    def names(title: str) -> list[str]:
        (panel,) = (one for one in looked if one.title == title and one.panel["type"] == "table")
        return [frame.name for frame in panel.frames]

    (well,) = (one for one in looked if one.title == "Overall")
    (frame,) = (one for one in well.frames if one.fields[-1].values)
    assert frame.fields[-1].values[-1] == -1.0  # not while somebody is paged
    assert set(names("In danger")) == {draining.id, "i-0aaaaaaaaaaaaaa77.cpu"}
    assert names("Lowest balances") == [draining.id, calm.id]


def test_every_panel_of_a_volume_that_drains_has_data_and_its_balance_goes_on_to_where_it_goes(
    watched: tuple[Cloud, list[Volume]],
) -> None:
    cloud, (_, draining) = watched
    chosen = {"volume": draining.id, "instance": draining.instance_id}
    _, looked = looked_at(cloud, "burstwatch-volume", **chosen)
    assert problems(looked) == []


def test_a_resource_of_another_kind_has_its_own_credits_and_nothing_of_others(
    watched: tuple[Cloud, list[Volume]],
) -> None:
    cloud, _ = watched
    html, looked = looked_at(cloud, "burstwatch-resource", resource="i-0aaaaaaaaaaaaaa77.cpu")
    assert problems(looked) == []
    assert "kind ec2_instance_cpu; thing i-0aaaaaaaaaaaaaa77." in html
    shown = {one.title: {frame.name for frame in one.frames if frame.known} for one in looked}
    assert shown == {
        "Time left": {"soonest", "likely", "latest"},
        "Earliest": {"soonest"},
        "State": {"severity"},
        "Credits": {"CPUCreditBalance"},
        "Load": {"CPUCreditUsage"},
    }
    (used,) = (one for one in looked if one.title == "Load")
    (frame,) = (one for one in used.frames if one.known)
    assert all(0.9 < vcpus < 1.0 for _, vcpus in frame.points)  # 95 % of one


def test_the_lines_ahead_begin_at_the_newest_balance_and_end_when_it_is_said_to_be_dry(
    watched: tuple[Cloud, list[Volume]],
) -> None:
    cloud, (calm, draining) = watched
    source = CloudWatch(client=cloud.clients("cloudwatch"), region="us-east-1")
    (panel,) = [
        one
        for one in board("burstwatch-volume")["panels"]
        if one["title"] == "Balance and forecast"
    ]
    span = Span(start_s=cloud.clock.now - 1_800, end_s=cloud.clock.now + 7_200)

    def lines(volume: Volume) -> dict[str, Frame]:
        chosen = {"region": "us-east-1", "deployment": "burstwatch", "volume": volume.id}
        frames = source.query(panel["targets"], chosen, span)
        return {frame.name: frame for frame in frames if frame.points}

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
    panel["targets"][0]["expression"] = "NOSUCH(</script>)"
    now = cloud.clock.now
    source = CloudWatch(client=cloud.clients("cloudwatch"), region="us-east-1")
    html, looked = look(
        broken, source, Wish(span=Span(start_s=now - 600, end_s=now), now_s=now, chosen={})
    )
    assert len(problems(looked)) == 1
    assert "Time left of the ten worst" in problems(looked)[0]
    (failed,) = (one for one in looked if one.error)
    assert "NOSUCH" in failed.as_json()["error"]
    assert html.count("</script>") == 2  # what failed ends no script


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


@pytest.mark.real
def test_the_graphs_of_a_host_show_the_disks_that_were_nearest_to_running_out(
    tmp_path: Path, program: Callable[[str], str]
) -> None:
    variables = board("burstwatch-host")["templating"]["list"]
    (query,) = [entry["query"]["query"] for entry in variables if entry["name"] == "device"]
    values = {"job": "b", "instance": "h", "most": "3", "__range": "3h"}
    expression = filled(query.removeprefix("query_result(").removesuffix(")"), values)
    # The second was nearest a minute before.
    times = {"nvme1n1": "600 600", "nvme2n1": "60 9000", "nvme3n1": "6000 6000"}
    labels = 'job="b",instance="h",device'
    exhaustion = "burstwatch_time_to_exhaustion_seconds"
    series = [
        {
            "series": f'{exhaustion}{{{labels}="{device}",bound="likely"}}',
            "values": seconds,
        }
        for device, seconds in times.items()
    ]
    # The last one has no time: its balance is too uncertain.
    series += [
        {"series": f'burstwatch_volume_info{{{labels}="{device}"}}', "values": "1x1"}
        for device in (*times, "nvme4n1")
    ]
    shown = [
        {"labels": f'{{device="{device}"}}', "value": value}
        for device, value in (("nvme2n1", 60), ("nvme1n1", 600), ("nvme3n1", 6_000))
    ]
    case = {"expr": expression, "eval_time": "1m", "exp_samples": shown}
    every = expression.replace("bottomk(3,", "count(bottomk(1000,") + ")"
    count = {"expr": every, "eval_time": "1m", "exp_samples": [{"labels": "{}", "value": 4}]}
    tests = [{"interval": "1m", "input_series": series, "promql_expr_test": [case, count]}]
    path = tmp_path / "variable.yml"
    path.write_text(yaml.safe_dump({"rule_files": [], "tests": tests}))
    command = [program("promtool"), "test", "rules", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_variable_without_a_value_is_an_error_that_names_it(cloud: Cloud) -> None:
    with pytest.raises(LookError, match="deployment has no value"):
        looked_at(cloud, "burstwatch-fleet")
