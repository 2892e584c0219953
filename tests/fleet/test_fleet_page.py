"""What a scrape of a fleet says: nothing that is gone, frozen or made up."""

import logging
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as openmetrics_families,
)

from burstwatch.aws.watched.units import UnitSpec
from burstwatch.config import Config
from burstwatch.fleet import metrics as m
from burstwatch.fleet.page import NO_ANSWER, OPENMETRICS
from burstwatch.fleet.poller import Poller
from burstwatch.fleet.reasons import LONGEST_REASON, stable_reason
from tests.aws.looking import FULL_BURST, drain
from tests.conftest import NOW, Cloud
from tests.fake.herd import Herd
from tests.fake.mixed import Mixed
from tests.fleet.fleets import fleet_of, page_of, series_of, value_of
from tests.goldens import FLEET_PAGE, fleet_page

pytestmark = pytest.mark.slow

MEMBER = "222222222222"
ROLE = f"arn:aws:iam::{MEMBER}:role/burstwatch-member"
MEMBER_SPEC = UnitSpec(account=MEMBER, region="us-east-1", role_arn=ROLE, external_id="watch-me")


def burning(cloud: Cloud, *, to_percent: float = 40.0, name: str = "orders-db") -> str:
    instance = cloud.aws.add_instance("m5.large")
    volume = cloud.aws.add_volume("gp2", 100, instance_id=instance, name=name)
    drain(cloud, volume, to_percent=to_percent, **FULL_BURST)
    return volume


def polled(cloud: Cloud, fleet: Poller, *, minutes: float = 0.0) -> str:
    cloud.clock.now += 60.0 * minutes
    fleet.poll()
    return page_of(cloud, fleet)


def test_a_volume_that_drains_has_its_balance_its_times_and_its_verdict(cloud: Cloud) -> None:
    volume = burning(cloud)
    page = polled(cloud, fleet_of(cloud))
    assert value_of(page, "resource_balance_ratio", resource_id=volume, bound="likely") == (
        pytest.approx(0.4, abs=0.05)
    )
    times = {
        bound: value_of(
            page, "resource_time_to_exhaustion_seconds", resource_id=volume, bound=bound
        )
        for bound in ("low", "likely", "worst")
    }
    assert 0 < times["worst"] <= times["low"] <= times["likely"] < 1_200
    assert value_of(page, "resource_verdict", resource_id=volume, verdict="critical") == 1
    assert value_of(page, "resource_demand_per_second", resource_id=volume) == (
        pytest.approx(3_000, rel=0.05)
    )
    assert value_of(page, "resource_limit_per_second", resource_id=volume) == 3_000
    assert value_of(page, "resource_refill_per_second", resource_id=volume) == 300
    labels, _ = next(entry for entry in series_of(page, "resource_info"))
    assert labels["name"] == "orders-db"
    assert labels["account_id"] == cloud.unit.account
    assert labels["resource_type"] == "gp2 100 GiB"


def test_time_left_counts_down_between_two_polls(cloud: Cloud) -> None:
    volume, fleet = burning(cloud), fleet_of(cloud)
    fleet.poll()
    name = "resource_time_to_exhaustion_seconds"
    first_s = value_of(page_of(cloud, fleet), name, resource_id=volume, bound="likely")
    cloud.clock.now += 45
    assert value_of(page_of(cloud, fleet), name, resource_id=volume, bound="likely") == (
        pytest.approx(first_s - 45)
    )


def test_what_is_deleted_leaves_no_series(cloud: Cloud) -> None:
    volume, fleet = burning(cloud), fleet_of(cloud)
    assert volume in polled(cloud, fleet)
    del cloud.aws.regions["us-east-1"].volumes[volume]
    for _ in range(3):  # three inventories must lack it
        page = polled(cloud, fleet, minutes=6)
    assert volume not in page


def test_what_cannot_be_asked_is_unknown_with_its_reason_and_has_no_value(cloud: Cloud) -> None:
    volume = burning(cloud)
    cloud.aws.denied.add("GetMetricData")
    page = polled(cloud, fleet_of(cloud))
    assert value_of(page, "resource_verdict", resource_id=volume, verdict="unknown") == 1
    labels, _ = next(iter(series_of(page, "resource_unknown_info")))
    assert "GetMetricData" in labels["reason"]
    for name in ("resource_balance_ratio", "resource_time_to_exhaustion_seconds"):
        assert not series_of(page, name)
    assert [labels["kind"] for labels, _ in series_of(page, "unit_kind_unwatched_info")] == [
        "ebs_volume"
    ]


def test_an_account_that_stops_answering_is_unknown_after_five_periods_and_not_before(
    cloud: Cloud,
) -> None:
    cloud.aws.roles[ROLE] = "watch-me"
    volume, fleet = burning(cloud), fleet_of(cloud, [MEMBER_SPEC])
    assert value_of(polled(cloud, fleet), "unit_up", account_id=MEMBER) == 1
    cloud.aws.denied.add("GetCallerIdentity")
    page = polled(cloud, fleet, minutes=4)
    assert value_of(page, "unit_up", account_id=MEMBER) == 0
    assert value_of(page, "resource_verdict", resource_id=volume, verdict="critical") == 1
    page = polled(cloud, fleet, minutes=2)
    assert value_of(page, "resource_verdict", resource_id=volume, verdict="unknown") == 1
    assert value_of(page, "resource_unknown_info", resource_id=volume, reason=NO_ANSWER) == 1
    assert not series_of(page, "resource_time_to_exhaustion_seconds")
    assert value_of(page, "unit_resources", kind="ebs_volume", verdict="unknown") == 1
    cloud.aws.denied.clear()
    drain(cloud, volume, to_percent=30, **FULL_BURST, until=cloud.clock.now + 60)
    page = polled(cloud, fleet, minutes=1)
    assert value_of(page, "unit_up", account_id=MEMBER) == 1
    assert series_of(page, "resource_time_to_exhaustion_seconds")


def test_an_account_that_cannot_be_reached_hides_no_other(cloud: Cloud) -> None:
    volume = burning(cloud)
    page = polled(cloud, fleet_of(cloud, [MEMBER_SPEC, UnitSpec(region="us-east-1")]))
    assert value_of(page, "unit_up", account_id=MEMBER) == 0
    assert value_of(page, "unit_problems", account_id=MEMBER) == 1
    assert value_of(page, "resource_verdict", resource_id=volume, verdict="critical") == 1


def test_an_account_that_hangs_holds_up_no_other(cloud: Cloud) -> None:
    fleet = fleet_of(cloud, [UnitSpec(region="eu-west-1"), UnitSpec(region="us-east-1")])
    with cloud.stalling("GetCallerIdentity"):
        fleet.start()
        # One of the two hangs in its first call; the other one is polled meanwhile, again and again.
        ends = time.monotonic() + 60
        while time.monotonic() < ends:
            answered = [reading for reading in fleet.readings() if reading.snapshot is not None]
            if answered:
                break
            time.sleep(0.05)
        assert len(answered) == 1
        assert len(fleet.start()) == 1
    fleet.stop()


def test_of_too_many_resources_those_in_the_most_danger_are_shown(cloud: Cloud) -> None:
    cloud.aws.add_herd(Herd(200, NOW))
    volume, fleet = burning(cloud), fleet_of(cloud)
    fleet.poll()
    page = page_of(cloud, fleet, most=10)
    assert len(series_of(page, "resource_info")) == 10
    assert value_of(page, "resource_verdict", resource_id=volume) == 1
    counted = sum(value for _, value in series_of(page, "unit_resources"))
    assert counted > 201
    assert value_of(page, "unit_resources_left_out") == counted - 10


def test_chosen_tags_are_labels(cloud: Cloud) -> None:
    volume = burning(cloud)
    cloud.aws.regions["us-east-1"].volumes[volume]["Tags"] += [
        {"Key": "app.kubernetes.io/name", "Value": 'a "quoted"\nname 🚀'},
    ]
    fleet = fleet_of(cloud)
    fleet.poll()
    page = page_of(cloud, fleet, tags=["app.kubernetes.io/name", "team"])
    labels, _ = next(iter(series_of(page, "resource_info")))
    assert labels["tag_app_kubernetes_io_name"] == 'a "quoted" name 🚀'
    assert labels["tag_team"] == ""


def test_every_series_of_a_mixed_fleet_has_help_and_is_read_in_both_formats(cloud: Cloud) -> None:
    cloud.aws.add_herd(Herd(100, NOW))
    cloud.aws.add_mixed(Mixed(100))
    fleet = fleet_of(cloud)
    fleet.poll()
    plain, openmetrics = page_of(cloud, fleet), page_of(cloud, fleet, accept=OPENMETRICS)
    families = [family.name for family in openmetrics_families(openmetrics)]  # type: ignore[no-untyped-call]
    assert len(families) == len(set(families))
    helps = {line.split()[2] for line in plain.splitlines() if line.startswith("# HELP")}
    names = {line.partition("{")[0] for line in plain.splitlines() if not line.startswith("#")}
    assert names <= helps
    kinds = {labels["kind"] for labels, _ in series_of(plain, "resource_info")}
    assert len(kinds) >= 6
    timed, reasoned = (
        {labels["resource_id"] for labels, _ in series_of(plain, name)}
        for name in ("resource_time_to_exhaustion_seconds", "resource_unknown_info")
    )
    verdicts = {
        labels["resource_id"]: labels["verdict"]
        for labels, _ in series_of(plain, "resource_verdict")
    }
    unanswered = {key for key, verdict in verdicts.items() if verdict in {"unknown", "not_watched"}}
    assert reasoned == unanswered
    assert not timed & unanswered
    assert timed


def test_what_it_costs_is_counted(cloud: Cloud) -> None:
    burning(cloud)
    fleet = fleet_of(cloud)
    page = polled(cloud, fleet)
    requested = value_of(page, "unit_metrics_requested_total")
    assert requested == cloud.aws.billed_metrics
    assert value_of(page, "unit_metrics_requested_usd_total") == pytest.approx(requested * 1e-5)
    assert value_of(page, "unit_calls_total") == cloud.aws.counted.total()
    again = polled(cloud, fleet, minutes=1)
    assert value_of(again, "unit_metrics_requested_total") == cloud.aws.billed_metrics


def test_a_budget_that_is_used_up_leaves_resources_unknown_and_is_told(cloud: Cloud) -> None:
    cloud.aws.add_herd(Herd(1_000, NOW))
    fleet = fleet_of(cloud, config=replace(Config(), budget_usd_per_month="0.01"))
    page = polled(cloud, fleet)
    assert value_of(page, "unit_metrics_refused") > 100
    reasons = {labels["reason"] for labels, _ in series_of(page, "resource_unknown_info")}
    assert any("budget" in reason for reason in reasons)


def test_units_can_be_added_and_taken_away_while_the_others_keep_what_is_known(
    cloud: Cloud,
) -> None:
    cloud.aws.roles[ROLE] = "watch-me"
    burning(cloud)
    fleet = fleet_of(cloud)
    fleet.poll()
    billed = cloud.aws.billed_metrics
    fleet.watch([UnitSpec(region="us-east-1"), MEMBER_SPEC])
    assert value_of(page_of(cloud, fleet), "unit_up", account_id=cloud.unit.account) == 1
    assert cloud.aws.billed_metrics == billed
    fleet.poll()
    assert len(series_of(page_of(cloud, fleet), "unit_up")) == 2
    fleet.watch([MEMBER_SPEC])
    assert [labels["account_id"] for labels, _ in series_of(page_of(cloud, fleet), "unit_up")] == [
        MEMBER
    ]


def test_a_problem_is_logged_once_until_it_is_gone(
    cloud: Cloud, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    cloud.aws.add_herd(Herd(100, NOW))
    fleet = fleet_of(cloud)
    cloud.aws.denied.add("GetMetricData")
    for _ in range(8):  # each time for other volumes
        polled(cloud, fleet, minutes=1)
    denials = [record for record in caplog.records if "GetMetricData" in record.getMessage()]
    assert len(denials) == 1
    cloud.aws.denied.clear()
    for _ in range(20):
        polled(cloud, fleet, minutes=1)
    assert any("no problem any more" in record.getMessage() for record in caplog.records)
    cloud.aws.denied.add("GetMetricData")
    for _ in range(8):
        polled(cloud, fleet, minutes=1)
    denials = [record for record in caplog.records if "GetMetricData" in record.getMessage()]
    assert len(denials) == 2


@given(st.floats(min_value=0, max_value=1e6), st.text(max_size=300))
def test_a_reason_is_the_same_label_at_any_age_and_of_a_bounded_length(
    age_s: float, words: str
) -> None:
    text = f"the newest datapoint is {age_s:.0f} s old, and no other data shows whether it is late"
    assert stable_reason(text) == (
        "the newest datapoint is N s old, and no other data shows whether it is late"
    )
    assert len(stable_reason(words)) <= LONGEST_REASON
    error = f"DescribeVolumes: UnauthorizedOperation: You are not authorized: {words}"
    assert stable_reason(error) == "DescribeVolumes: UnauthorizedOperation"


def test_the_page_is_the_golden_one() -> None:
    assert FLEET_PAGE.read_text(encoding="utf-8") == fleet_page(), "run 'make gen'"


def test_each_metric_is_declared_once() -> None:
    names = [definition.name for definition in m.served_metrics(["team"])]
    assert len(names) == len(set(names))
    assert {definition.name for definition in m.scan_metrics()} <= set(names)


def test_an_account_in_which_nothing_can_be_listed_is_not_up(cloud: Cloud) -> None:
    burning(cloud)
    kinds = "ebs_volume,efs_file_system"
    fleet = fleet_of(cloud, kinds=kinds)
    assert value_of(polled(cloud, fleet), "unit_up") == 1
    cloud.aws.denied |= {"DescribeVolumes", "DescribeFileSystems"}
    fresh = fleet_of(cloud, kinds=kinds)
    assert value_of(polled(cloud, fresh), "unit_up") == 0
    cloud.aws.denied.discard("DescribeVolumes")
    assert value_of(polled(cloud, fresh, minutes=1), "unit_up") == 1


def test_nothing_of_a_unit_that_has_ended_is_repeated(cloud: Cloud) -> None:
    cloud.aws.add_herd(Herd(100, NOW))
    cloud.aws.denied.add("DescribeFileSystems")
    config = replace(Config(), budget_usd_per_month="0.01")
    fleet = fleet_of(cloud, config=config)
    page = polled(cloud, fleet)
    ending = ("unit_metrics_refused", "unit_kind_unwatched_info", "unit_resources_left_out")
    assert all(series_of(page, name) for name in ending)
    cloud.aws.denied.add("GetCallerIdentity")
    page = polled(cloud, fleet, minutes=6)
    assert not any(series_of(page, name) for name in ending)
    assert value_of(page, "unit_up") == 0
