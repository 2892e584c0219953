"""The CDK app lives on both emulators: what drains is told once, resolves, and nothing is left at the end."""

import json

import pytest

from burstwatch.aws.client.names import parse_alarm_name
from tests.clouds.app import PAGED, PAGED_ELSEWHERE, RESOLVED, Watched, resource_of
from tests.clouds.emulators import KINDS, MEMBER

pytestmark = [pytest.mark.clouds, pytest.mark.timeout(0)]


def test_every_kind_that_the_emulator_has_is_found(app: Watched, emulator: str) -> None:
    assert app.kinds == KINDS[emulator]


def test_whatever_drains_is_told_once_in_every_account_and_a_page_ends(app: Watched) -> None:
    app.assert_seen(PAGED, PAGED_ELSEWHERE, RESOLVED)
    states: dict[str, list[str]] = {}
    told: dict[str, list[tuple[str, str, str]]] = {}
    for through, alarm, state in app.heard:
        resource = resource_of(alarm) if parse_alarm_name(alarm) else ""
        if resource in app.drained:
            states.setdefault(resource, []).append(state)
            told.setdefault(resource, []).append((through, alarm, state))
    assert states.keys() == app.drained.keys()
    assert any(resource.startswith(f"{MEMBER}.") for resource in states)
    for resource, heard in states.items():
        is_over = heard == ["ALARM", "OK"]
        assert is_over or (heard == ["ALARM"] and resource != app.victim), told[resource]


def test_a_sweep_deletes_the_alarm_of_what_is_well(app: Watched) -> None:
    app.assert_seen("a sweep deletes what is over")


def test_a_drill_is_heard_at_every_hop(app: Watched) -> None:
    drill = app.ran["drill"]
    assert drill.code == 0, drill.err
    hops = {hop["step"]: hop["result"] for hop in map(json.loads, drill.out.splitlines())}
    assert hops.keys() >= {"function", "metric", "alarm", "event", "raised", "delivered"}
    assert set(hops.values()) == {"ok"}


def test_the_digest_is_sent(app: Watched) -> None:
    app.assert_seen("the digest arrives")
    assert app.digest["title"]


def test_nothing_is_left_at_the_end(ended: Watched) -> None:
    assert [answer["Status"] for answer in ended.answers] == ["SUCCESS", "SUCCESS"]
    assert ended.alarms_left == []
