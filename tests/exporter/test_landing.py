"""The page at `/`: what a person reads of every volume, in every state that there is."""

import math
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import product
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from burstwatch.history.observations import State
from burstwatch_exporter.credits.interval import Interval
from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.kernel.evidence import Doubt
from burstwatch_exporter.page.landing import landing
from tests.exporter.box import VOLUMES, Box
from tests.exporter.pages import TREES
from tests.exporter.scraped import value

VOLUME = VOLUMES["nvme1n1"]


class Table(HTMLParser):
    """The cells of each row, by heading; a remark is the cell of the row before it that has no heading."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[dict[str, str]] = []
        self._heading: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "td":
            self._heading = dict(attrs).get("data-of") or "remark"
            if self._heading == "device":
                self.rows.append({})

    def handle_endtag(self, tag: str) -> None:
        if tag == "td":
            self._heading = None

    def handle_data(self, data: str) -> None:
        if self._heading is not None:
            self.rows[-1][self._heading] = self.rows[-1].get(self._heading, "") + data


def rows(exporter: Exporter) -> dict[str, dict[str, str]]:
    return {row["device"]: row for row in Table(exporter.landing()).rows}


def sentences(exporter: Exporter) -> list[str]:
    before_the_table = exporter.landing().partition("<table>")[0]
    return [unescape(text) for text in re.findall("<p>(.*?)</p>", before_the_table)]


def busy(box: Box, exporter: Exporter, seconds: float, *, iops: int = 3_000) -> None:
    """``nvme1n1`` does so many operations each second."""
    for _ in range(round(seconds / 10)):
        box.hands.move(10)
        box.ops["nvme1n1"] += 10 * iops
        box.counts()
        exporter.sample()


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def test_a_volume_that_drains_is_first_with_its_place_and_the_time_it_lasts(box: Box) -> None:
    box.put("proc/1/mountinfo", "26 1 259:1 / /data rw shared:1 - xfs /dev/nvme1n1 rw\n")
    exporter = box.starts()
    busy(box, exporter, 600)
    page = exporter.scrape()[1].decode()
    left_s = value(
        page, "burstwatch_time_to_exhaustion_seconds", volume_id=VOLUME, bucket="io", bound="likely"
    )
    assert left_s is not None
    assert math.isfinite(left_s)
    row, *_ = Table(exporter.landing()).rows
    assert (row["device"], row["volume"], row["mounted at"]) == ("nvme1n1", VOLUME, "/data")
    assert row["time left"] == f"{left_s / 60:.0f} min"
    assert sentences(exporter) == [
        f"nvme1n1 ({VOLUME}, /data) runs out in {row['time left']} at this load."
    ]
    assert rows(exporter)["nvme2n1"]["time left"] == "never (no I/O)"


def test_a_volume_that_has_run_out_is_said_to_have(box: Box) -> None:
    exporter = box.starts()
    busy(box, exporter, 2_100)
    busy(box, exporter, 600, iops=300)
    assert rows(exporter)["nvme1n1"]["time left"] == "has run out"
    assert sentences(exporter) == [f"nvme1n1 ({VOLUME}) has run out of credits."]


def test_where_nothing_drains_that_is_the_answer(box: Box) -> None:
    exporter = box.starts()
    busy(box, exporter, 300, iops=100)
    assert sentences(exporter) == ["Nothing runs out at this load."]
    assert rows(exporter)["nvme1n1"]["balance"] == "99% to 100%"


def test_counters_that_are_not_believed_are_never_an_answer(box: Box) -> None:
    exporter = box.starts()
    box.put("sys/block/nvme1n1/queue/iostats", "0\n")
    box.passes(exporter, 600)
    row = rows(exporter)["nvme1n1"]
    assert row["time left"].startswith("unknown")
    assert row["remark"] == "the kernel does not count its I/O: queue/iostats is 0"
    assert sentences(exporter) == [f"How long nvme1n1 ({VOLUME}) will last is unknown."]
    assert "<h2>Problems</h2>" in exporter.landing()


def test_a_volume_of_a_type_that_nobody_says_is_unknown(tmp_path: Path) -> None:
    exporter = Box(tmp_path, config="{}").starts()
    row = rows(exporter)["nvme1n1"]
    assert (row["type"], row["balance"], row["time left"]) == ("unknown", "unknown", "unknown")
    assert "name it in --config.file" in row["remark"]
    assert sentences(exporter) == [f"How long nvme1n1 ({VOLUME}) and 1 more will last is unknown."]


def test_a_volume_without_a_bucket_runs_out_of_nothing(tmp_path: Path) -> None:
    exporter = Box(tmp_path, config='volumes: {"*": {type: gp3}}\n').starts()
    row = rows(exporter)["nvme1n1"]
    assert (row["type"], row["balance"], row["time left"]) == ("gp3", "no credits", "-")
    assert sentences(exporter) == ["Nothing runs out at this load."]


def test_what_anybody_may_name_is_text_and_no_markup(box: Box) -> None:
    box.put(
        "proc/1/mountinfo",
        "26 1 259:1 / /<script>alert(1)</script> rw shared:1 - xfs /dev/nvme1n1 rw\n",
    )
    page = box.starts().landing()
    assert "<script>" not in page
    assert "/&lt;script&gt;alert(1)&lt;/script&gt;" in page


@pytest.mark.parametrize("tree", sorted(TREES.glob("*.prom")), ids=lambda tree: tree.stem)
def test_every_volume_of_the_metrics_is_on_the_page_and_no_balance_is_narrower(tree: Path) -> None:
    table = {row["device"]: row for row in Table(tree.with_suffix(".html").read_text()).rows}
    bounds: dict[str, dict[str, float]] = {}
    devices: set[str] = set()
    for family in text_string_to_metric_families(tree.read_text()):
        for sample in family.samples:
            if sample.name == "burstwatch_volume_info":
                devices.add(sample.labels["device"])
            if sample.name == "burstwatch_credit_balance_ratio":
                bounds.setdefault(sample.labels["device"], {})[sample.labels["bound"]] = (
                    sample.value
                )
    assert devices == table.keys() - {"CPU"}
    for device, ratios in bounds.items():
        shown = [float(word) / 100 for word in re.findall(r"(\d+)%", table[device]["balance"])]
        low, high = (min(shown), max(shown)) if shown else (0.0, 1.0)
        assert low <= ratios["low"]
        assert ratios["high"] <= high
        assert shown or table[device]["balance"] == "unknown"


def test_a_volume_that_gets_just_its_baseline_with_an_unknown_balance_is_no_good_news(
    box: Box,
) -> None:
    (box.root / "udev/b259:1").unlink()  # so nothing is known of the time before
    exporter = box.starts()
    for _ in range(60):
        box.hands.move(10)
        box.ops["nvme1n1"] += 10 * 300
        box.counts(in_flight=8)
        exporter.sample()
    row = rows(exporter)["nvme1n1"]
    assert row["balance"] == "unknown"
    assert row["time left"] == "unknown"
    assert "its credits may have run out" in row["remark"]
    assert sentences(exporter) == [f"How long nvme1n1 ({VOLUME}) will last is unknown."]


STATES: list[tuple[State, float | None, float | None]] = [
    ("finite", 900.0, 600.0),
    ("infinite", math.inf, 600.0),
    ("infinite", math.inf, math.inf),
    ("idle", math.inf, math.inf),
    ("exhausted", 0.0, 0.0),
    ("unknown", None, None),
    ("unknown", None, 600.0),
]
DOUBT = Doubt(reason="the kernel does not count its I/O", is_lost=True)
BALANCES = ((0.0, 1.0), (0.2, 0.3), (1.0, 1.0), (0.0, 0.0))


def test_good_news_is_told_only_of_counters_that_are_believed_and_of_no_volume_that_is_held_back(
    box: Box,
) -> None:
    """Every state beside every hint, doubt and width of the interval."""
    snapshot = box.starts().host.observe()
    view = snapshot.views[0]
    assert view.account is not None
    for state, at_baseline, doubt, balance in product(
        STATES, (False, True), (None, DOUBT), BALANCES
    ):
        name, likely_s, low_s = state
        low, high = (share * view.account.bucket.capacity for share in balance)
        projection = replace(
            view.account.projection,
            state=name,
            time_to_empty_s=likely_s,
            low_s=low_s,
            worst_s=2_000.0,
        )
        account = replace(
            view.account,
            interval=Interval(low=low, high=high),
            is_served_at_baseline=at_baseline,
            projection=projection,
        )
        shown = replace(snapshot, views=(replace(view, account=account, doubt=doubt),))
        page = landing(shown, problems=(), hints=())
        (row,) = Table(page).rows
        case = (state, at_baseline, doubt, balance)
        is_good = "never" in row["time left"] or "Nothing runs out" in page
        may_be_good = name in {"infinite", "idle"} and not at_baseline and doubt is None
        assert is_good == may_be_good, case
        assert ("has run out" in row["time left"]) == (name == "exhausted"), case
        assert (row["balance"] == "unknown") == (balance == (0.0, 1.0)), case
        assert doubt is None or row["remark"] == doubt.reason, case
