"""`burstwatch top` on the strict fake: by Textual's own pilot, and once through a real pseudo-terminal."""

import asyncio
import io
import os
import re
import threading
from collections.abc import Awaitable, Callable
from typing import Any, get_args

import pytest

from burstwatch.cli.account import chosen_regions
from burstwatch.cli.board import CHART_ROWS, SPARK_WIDTH, Board, ShownResource, bar, word_of
from burstwatch.cli.commands.top import make_look
from burstwatch.cli.main import Terminal, build_parser, run
from burstwatch.config import Config
from burstwatch.formatting import spark
from burstwatch.history.observations import Verdict
from tests.conftest import NOW, Cloud
from tests.terminal import top_until_q

pytest.importorskip("textual")
from textual.widgets import DataTable, Input, Static

from burstwatch.cli.live import Explanation, Top, table_cells

pytestmark = pytest.mark.slow
#: What stands in the rows of the two volumes.
WORDS = ("orders-db", "wiki", "critical", "warning", "ok", "watch", "min", "gp2", "%")


def put_levels(cloud: Cloud, volume_id: str, levels: list[float], *, iops: float) -> None:
    for back, level in enumerate(reversed(levels), start=1):
        at, of = NOW - 60.0 * back, {"VolumeId": volume_id}
        values = {
            "BurstBalance": level,
            "VolumeReadOps": 0.0,
            "VolumeWriteOps": 60 * iops,
            "VolumeReadBytes": 0.0,
            "VolumeWriteBytes": 60 * iops * 16_384,
        }
        for name, value in values.items():
            cloud.aws.put("AWS/EBS", name, of, at, value)


@pytest.fixture
def volumes(cloud: Cloud) -> list[str]:
    """One that drains, and one that rests."""
    cloud.aws.add_instance_type("m5.large", iops=18_750, mb_s=593.75)
    instance = cloud.aws.add_instance("m5.large")
    burning = cloud.aws.add_volume("gp2", 100, instance_id=instance, name="orders-db")
    calm = cloud.aws.add_volume("gp2", 100, instance_id=instance, name="wiki")
    cloud.aws.regions["us-east-1"].volumes[burning]["Tags"].append(
        {"Key": "team", "Value": "payments"}
    )
    put_levels(cloud, burning, [100 - 3.0 * n for n in range(20)], iops=3_000)
    put_levels(cloud, calm, [100.0] * 20, iops=10)
    return [burning, calm]


def app_of(cloud: Cloud) -> Top:
    out = io.StringIO()
    terminal = Terminal(
        stdin=lambda _: b"", stdout=out, stderr=out, env=dict(os.environ), clock=cloud.clock
    )
    args = build_parser().parse_args(["top", "--kind", "ebs_volume"])
    look = make_look(args, terminal, Config(), chosen_regions(args, terminal.env))
    return Top(look, clock=cloud.clock, every_s=3_600.0)


def driven(
    app: Top, story: Callable[..., Awaitable[None]], *, size: tuple[int, int] = (100, 24)
) -> None:
    """Run the app without a terminal, wait for its first look, and play."""

    async def play() -> None:
        async with app.run_test(size=size) as pilot:
            await app.workers.wait_for_complete()
            await pilot.pause()
            await story(pilot)

    asyncio.run(play())


def shown(app: Top) -> list[dict[str, str]]:
    """The rows by the headings of the columns that are shown."""
    table = app.query_one(DataTable)
    headings = [str(column.value) for column in table.columns]
    rows = (table.get_row_at(n) for n in range(table.row_count))
    return [dict(zip(headings, map(str, row), strict=True)) for row in rows]


@pytest.mark.usefixtures("volumes")
def test_the_worst_is_first_with_its_bar_and_the_cost_of_the_session(cloud: Cloud) -> None:
    app = app_of(cloud)

    async def story(_pilot: object) -> None:
        first, second = shown(app)
        assert first["resource"] == "orders-db"
        assert first["verdict"] in {"warning", "critical"}
        assert "░" in first["balance"]
        assert second["resource"] == "wiki"
        assert second["balance"].startswith("█" * 10)
        summary = str(app.query_one("#summary", Static).render())
        assert "2 resources" in summary
        assert "metrics requested" in summary
        assert "USD" in summary

    driven(app, story)


@pytest.mark.usefixtures("volumes")
def test_the_time_left_counts_down_between_looks(cloud: Cloud) -> None:
    app = app_of(cloud)

    async def story(_pilot: object) -> None:
        before = shown(app)[0]["worst case"]
        cloud.clock.now += 180
        app.redraw()
        after = shown(app)[0]["worst case"]
        assert int(re.sub(r"\D", "", before)) - int(re.sub(r"\D", "", after)) == 3

    driven(app, story)


@pytest.mark.usefixtures("volumes")
def test_a_filter_narrows_by_name_kind_region_and_tag_and_escape_shows_all(cloud: Cloud) -> None:
    app = app_of(cloud)

    async def story(pilot: object) -> None:
        await pilot.press("slash")  # type: ignore[attr-defined]
        await pilot.press(*"team=pay us-east")  # type: ignore[attr-defined]
        await pilot.pause()  # type: ignore[attr-defined]
        assert [row["resource"] for row in shown(app)] == ["orders-db"]
        await pilot.press(*"x")  # type: ignore[attr-defined]
        await pilot.pause()  # type: ignore[attr-defined]
        assert shown(app) == []
        assert "nothing matches 'team=pay us-eastx'" in str(
            app.query_one("#problems", Static).render()
        )
        await pilot.press("enter", "escape")  # type: ignore[attr-defined]
        await pilot.pause()  # type: ignore[attr-defined]
        assert len(shown(app)) == 2
        assert app.query_one(Input).value == ""

    driven(app, story)


def test_enter_explains_and_q_comes_back(cloud: Cloud, volumes: list[str]) -> None:
    app = app_of(cloud)

    async def story(pilot: object) -> None:
        await pilot.press("enter")  # type: ignore[attr-defined]
        await pilot.pause()  # type: ignore[attr-defined]
        assert isinstance(app.screen, Explanation)
        text = app.screen.text
        assert volumes[0] in text
        assert "what helps, the soonest first:\nreduce the load. At " in text
        assert "change to gp3 with 3,000 IOPS" in text
        assert "tags: Name=orders-db, team=payments" in text
        await pilot.press("q")  # type: ignore[attr-defined]
        await pilot.pause()  # type: ignore[attr-defined]
        assert not isinstance(app.screen, Explanation)

    driven(app, story)


@pytest.mark.usefixtures("volumes")
def test_a_look_that_fails_is_named_and_what_was_seen_stays(cloud: Cloud) -> None:
    app = app_of(cloud)

    async def story(pilot: object) -> None:
        def fails(_board: Board) -> None:
            raise ValueError("the account cannot be reached")

        app.look = fails
        await pilot.press("r")  # type: ignore[attr-defined]
        await app.workers.wait_for_complete()
        await pilot.pause()  # type: ignore[attr-defined]
        assert "the account cannot be reached" in str(app.query_one("#problems", Static).render())
        assert len(shown(app)) == 2

    driven(app, story)


@pytest.mark.usefixtures("volumes")
@pytest.mark.parametrize("width", [60, 80, 200])
def test_it_fits_into_the_terminal_and_nothing_of_the_summary_is_cut(
    width: int, cloud: Cloud
) -> None:
    app = app_of(cloud)

    async def story(pilot: object) -> None:
        await pilot.resize_terminal(width, 20)  # type: ignore[attr-defined]
        await pilot.pause()  # type: ignore[attr-defined]
        table = app.query_one(DataTable)
        assert table.size.width <= width
        # Nothing is off the right edge: the table is not wider than the terminal.
        assert table.virtual_size.width <= width
        assert {"runs out in", "verdict", "resource"} <= shown(app)[0].keys()
        summary = app.query_one("#summary", Static)
        lines = [strip.text.strip() for strip in summary.render_lines(summary.size.region)]
        assert " ".join(lines) == str(summary.render())
        assert shown(app)

    driven(app, story, size=(width, 20))


@pytest.mark.usefixtures("volumes")
def test_on_a_pipe_it_prints_once(cloud: Cloud) -> None:
    out, err = io.StringIO(), io.StringIO()
    code = run(["top"], stdout=out, stderr=err, env=dict(os.environ), clock=cloud.clock)
    assert (code, err.getvalue()) == (0, "")
    lines = out.getvalue().splitlines()
    assert lines[0].startswith("runs out in  worst case")
    assert "orders-db" in lines[1]
    assert "metrics requested" in lines[-1]


@pytest.mark.usefixtures("volumes")
def test_a_real_terminal_shows_the_volumes_and_q_ends_it(cloud: Cloud) -> None:
    cloud.aws.keeps_calls = False
    env = {"AWS_ENDPOINT_URL": cloud.url}
    shown = top_until_q([b"orders-db", b"metrics"], env, "--kind", "ebs_volume")
    assert b"\x1b[31m" not in shown  # NO_COLOR


@pytest.mark.parametrize("verdict", get_args(Verdict))
def test_every_verdict_is_shown_as_a_word_with_a_style(verdict: Verdict) -> None:
    line = ShownResource(
        key="vol-1", name="db", type="gp2", verdict=verdict, balance="-", spark="", time_left="-", worst="-"
    )  # fmt: skip
    shown = table_cells(line)["verdict"]
    assert str(shown) == word_of(verdict)
    assert "_" not in str(shown)


def test_a_level_is_a_bar_and_levels_are_blocks() -> None:
    assert bar(0.0) == "░░░░░░░░░░   0%"
    assert bar(1.0) == "██████████ 100%"
    assert "".join(map(spark, (0.0, 0.5, 1.0))) == "▁▅█"
    board = Board()
    assert board.summary(0.0) == "◒ burstwatch: looking for the first time ..."
    assert board.lines(0.0) == []


def test_a_look_that_takes_long_is_not_overtaken_by_another() -> None:
    begun: list[int] = []
    goes_on = threading.Event()

    def look(_board: Board) -> None:
        begun.append(len(begun))
        goes_on.wait(60)

    async def play() -> None:
        app = Top(look, clock=lambda: 0.0, every_s=3_600.0)
        async with app.run_test() as pilot:
            app.action_poll()
            app.action_poll()
            await pilot.pause()
            during = len(begun)
            goes_on.set()
            await app.workers.wait_for_complete()
            app.action_poll()
            await app.workers.wait_for_complete()
            assert (during, len(begun)) == (1, 2)

    asyncio.run(play())


@pytest.mark.usefixtures("volumes")
def test_a_view_that_is_being_closed_draws_and_asks_no_more(cloud: Cloud) -> None:
    app = app_of(cloud)

    async def story(_pilot: object) -> None:
        await app.screen.remove_children()  # what a closing app does while its clock still ticks
        app.redraw()

    driven(app, story)
    app.redraw()


def contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        red, green, blue = (
            part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("has_colour", [True, False])
@pytest.mark.usefixtures("volumes")
def test_every_word_of_the_rows_can_be_read_under_the_cursor_and_without_colour(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, *, has_colour: bool
) -> None:
    if has_colour:
        monkeypatch.delenv("NO_COLOR", raising=False)
    else:
        monkeypatch.setenv("NO_COLOR", "1")
    app = app_of(cloud)
    faint: list[tuple[str, float]] = []

    async def story(pilot: Any) -> None:
        await pilot.pause()
        table = app.query_one(DataTable)
        for y in range(table.row_count + 1):
            for segment in table.render_line(y):
                style = segment.style
                if (
                    not segment.text.strip("░█ ")
                    or style is None
                    or style.color is None
                    or style.bgcolor is None
                ):
                    continue
                drawn, ground = style.color.get_truecolor().hex, style.bgcolor.get_truecolor().hex
                if style.reverse:
                    drawn, ground = ground, drawn
                if contrast(drawn, ground) < 4.5 and any(word in segment.text for word in WORDS):
                    faint.append((segment.text.strip(), contrast(drawn, ground)))

    driven(app, story, size=(120, 24))
    assert faint == []


@pytest.mark.usefixtures("volumes")
def test_a_wide_terminal_tells_of_the_row_under_the_cursor_and_a_narrow_one_has_all_of_the_table(
    cloud: Cloud,
) -> None:
    async def wide(pilot: Any) -> None:
        pane, detail = app.query_one("#pane"), app.query_one("#detail", Static)
        assert pane.display
        assert "orders-db" in str(detail.render())
        assert "aws ec2 modify-volume" in str(detail.render())
        await pilot.press("down")
        await pilot.pause()
        assert "wiki" in str(detail.render())

    async def narrow(_pilot: object) -> None:
        assert not app.query_one("#pane").display

    app = app_of(cloud)
    driven(app, wide, size=(140, 40))
    app = app_of(cloud)
    driven(app, narrow, size=(100, 24))


@pytest.mark.usefixtures("volumes")
def test_the_command_of_a_row_is_copied_and_the_keys_are_told(cloud: Cloud) -> None:
    async def story(pilot: Any) -> None:
        await pilot.press("y")
        assert app.clipboard.startswith("aws ec2 modify-volume --region us-east-1 --volume-id vol-")
        await pilot.press("question_mark")
        await pilot.pause()
        assert isinstance(app.screen, Explanation)
        assert "copy the command" in app.screen.text

    app = app_of(cloud)
    driven(app, story)


@pytest.mark.usefixtures("volumes")
def test_from_the_first_look_on_a_row_shows_the_hours_before_it_in_a_line_and_as_a_picture(
    cloud: Cloud,
) -> None:
    app = app_of(cloud)

    async def story(_pilot: object) -> None:
        draining, calm = shown(app)
        assert len(draining["last 3 h"]) == SPARK_WIDTH
        assert draining["last 3 h"].endswith("▄")
        assert calm["last 3 h"].endswith("█")
        *picture, axis = app.board.chart(app.board.lines(NOW)[0].key, NOW, 36).splitlines()
        assert [len(line) for line in picture] == [36] * CHART_ROWS
        assert picture[0][-4:].strip("\u2800")  # full twenty minutes ago
        assert picture[0][-1] == "\u2800"  # and not now
        assert axis == "3 h ago" + " " * 26 + "now"

    driven(app, story, size=(170, 40))


def test_credits_that_are_out_have_the_most_ink() -> None:
    ink = {ratio: bar(ratio).count("█") for ratio in (1.0, 0.5, 0.1)}
    assert bar(0.0, is_out=True).count("█") == max(ink.values())
    assert "OUT" in bar(0.0, is_out=True)
    assert len(bar(0.0, is_out=True)) == len(bar(0.5))
