"""The demo's page says what happened, and not what should have."""

import re
import threading
from datetime import UTC, datetime

import pytest

from demo.page import report, score
from demo.play import Player, sweeps_too_late
from tests.monitoring.playing import LIVE_AT, playing, result

pytestmark = pytest.mark.slow


def test_one_that_was_paged_in_time_is_told_with_its_warning() -> None:
    found = score(result(paged={"drain-100": 100}, dry={"drain-100": 400}))
    assert (
        found.answer(9) == "1 of 9 volumes ran out of credits; it was paged at least 5 min before"
    )
    assert found.others() == "1 came close and did not run out. False pages: none."


def test_a_page_that_came_too_late_or_not_at_all_is_told() -> None:
    for paged in ({"drain-100": 500.0}, {}):
        found = score(result(paged=paged, dry={"drain-100": 400}))
        assert found.leads == ()
        assert found.answer(9).endswith("1 of them was not paged before")


def test_a_false_page_is_told() -> None:
    found = score(result(paged={"drain-100": 100, "wiki": 100}, dry={"drain-100": 400}))
    assert found.others().endswith("False pages: 1.")


def test_nothing_that_ran_out_is_told_as_such() -> None:
    assert (
        score(result(paged={}, dry={})).answer(9) == "None of 9 volumes has run out of credits yet"
    )


def test_the_worst_is_first_and_what_has_no_bucket_has_no_curve() -> None:
    html = report(*playing(), now_s=LIVE_AT + 480)
    places = [
        html.index(f'<td data-name="id">vol-{name}</td>') for name in ("drain-100", "wiki", "cache")
    ]
    assert places == sorted(places)
    assert html.count("no bucket: nothing to run out of") == 1
    (paged,) = re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL)[:1]
    assert "drain-100" in paged
    assert "l7 12h-14z" in paged  # the triangle of its page
    assert html.count("l7 12h-14z") == 1


@pytest.mark.parametrize(("takes_s", "is_slow"), [(1.0, False), (31.0, True)])
def test_the_demo_says_if_the_machine_publishes_datapoints_too_late(
    takes_s: float, is_slow: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    due = LIVE_AT - LIVE_AT % 60 + 60
    clock = iter([due - 0.1, due + 1.0, due + takes_s])
    player = Player(None, [], clock=lambda: next(clock))
    stop = threading.Thread(target=player.stop)
    monkeypatch.setattr("demo.play.publish_until", lambda *_: stop.start())
    player.start()
    player.join()
    stop.join()
    assert (player.too_slow() is not None) is is_slow


class SweptAt:
    """CloudWatch with the metric of sweeps that began at some minutes."""

    def __init__(self, minutes: list[int]) -> None:
        self._minutes = minutes

    def list_metrics(self, **_: str) -> dict[str, list[dict[str, list[str]]]]:
        return {"Metrics": [{"Dimensions": []}]}

    def get_metric_statistics(self, **_: object) -> dict[str, list[dict[str, datetime]]]:
        times = [datetime.fromtimestamp(LIVE_AT + 60 * n, tz=UTC) for n in self._minutes]
        return {"Datapoints": [{"Timestamp": time} for time in reversed(times)]}


@pytest.mark.parametrize(
    ("minutes", "longest"),
    [([0, 1, 2, 3, 4, 5], None), ([0, 1, 4, 5], None), ([0, 4, 5], "4 min"), ([4, 5], "4 min"), ([], None)],
)  # fmt: skip
def test_the_demo_says_if_the_machine_lets_minutes_pass_without_a_sweep(
    minutes: list[int], longest: str | None
) -> None:
    late = sweeps_too_late(SweptAt(minutes), LIVE_AT, LIVE_AT + 360.0)
    expected = f"{longest} passed without a sweep, where one a minute is due" if longest else None
    assert late == expected
