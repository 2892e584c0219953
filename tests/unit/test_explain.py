"""What is told of a series, in words and as a picture."""

import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burstwatch.backtest.simulate import Phase, Simulation
from burstwatch.cli.main import run
from burstwatch.ebs.volumes import volume_spec
from tests.recorded import write_series

GP2 = ("--type", "gp2", "--size-gib", "100", "--delay-s", "0")
#: Three days in which a volume of 100 GiB ran out twice.
THREE_DAYS = str(Path(__file__).parents[1] / "recordings" / "three-days.csv")
LATE = (*GP2[:-1], "300")


def explain(*args: str) -> tuple[int, str, str]:
    """What it tells in full; tests/unit/test_summary.py has what it tells in short."""
    out, err = io.StringIO(), io.StringIO()
    code = run(["explain", "--verbose", *args], stdout=out, stderr=err, env={}, clock=lambda: 0.0)
    return code, out.getvalue(), err.getvalue()


@pytest.fixture
def drain(tmp_path: Path) -> Path:
    """Two hours of calm, an hour of full burst that empties it after 33 min, calm again."""
    spec = volume_spec("gp2", 100)
    assert spec.bucket is not None
    loads = [
        Phase(seconds=7_200, read_iops=50, write_iops=50),
        Phase(seconds=3_600, read_iops=1_500, write_iops=1_500),
        Phase(seconds=4 * 3_600, read_iops=5, write_iops=5),
    ]
    path = tmp_path / "drain.csv"
    points = Simulation(spec=spec, bucket=spec.bucket).play(loads)
    path.write_text("".join(write_series(points)))
    return path


def test_the_story_names_the_page_the_forecast_and_the_truth(drain: Path) -> None:
    code, out, err = explain(str(drain), *GP2)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert (
        lines[0] == "credits ran out +2:34 to +3:02, 28 min; would have paged +2:15, 19 min before"
    )
    assert lines[2].endswith(
        "gp2 100 GiB, 7 h in periods of 1 min, each datapoint 0 s late (--delay-s)"
    )
    (page,) = [line for line in lines if line.startswith("would page at")]
    assert re.search(r"expected empty at \+2:3\d, in \d+ min \(\+2:3\d to ", page)
    assert "ran out " in page
    assert any(line.startswith("ran out at     +2:34, empty for ") for line in lines)


def test_a_recording_that_ends_before_the_bucket_does_is_not_called_a_page_for_nothing(
    drain: Path,
) -> None:
    lines = drain.read_text().splitlines(keepends=True)
    drain.write_text("".join(lines[:148]))
    _, out, _ = explain(str(drain), *GP2)
    (page,) = [line for line in out.splitlines() if line.startswith("would page at")]
    assert re.search(r"; the recording ends \d+ min later, with \d+% left$", page)
    drain.write_text("".join(lines))
    assert "the recording ends" not in explain(str(drain), *GP2)[1]


def test_a_page_that_is_later_than_the_newest_row_says_so(drain: Path) -> None:
    lines = drain.read_text().splitlines(keepends=True)
    drain.write_text("".join(lines[:132]))
    _, out, _ = explain(str(drain), *GP2, "--delay-s", "300")
    (page,) = [line for line in out.splitlines() if line.startswith("would page at")]
    assert re.search(r"; the recording ends before that, with \d+% left$", page)


def test_a_recording_that_ends_in_danger_says_when_its_bucket_is_empty(drain: Path) -> None:
    heading, *rows = drain.read_text().splitlines()
    began_s = 1_763_971_200  # 2025-11-24 08:00Z
    dated = [f"{began_s + float(t):.0f},{rest}" for t, rest in (row.split(",", 1) for row in rows)]
    drain.write_text("\n".join([heading, *dated[:148]]))
    _, out, _ = explain(str(drain), *GP2)
    # What is left of 33 minutes of full burst, which began at 10:00.
    assert re.match(
        r"critical at 2025-11-24 10:28Z: runs out in 5 min, at 10:33Z \(10:3\dZ to 10:\d\dZ\); paged 2025-11-24 10:15Z\n",
        out,
    )
    _, local, _ = explain(str(drain), *GP2, "--timezone", "Europe/Berlin")
    assert local.startswith(
        "critical at 2025-11-24 11:28 CET: runs out in 5 min, at 11:33 CET (11:3"
    )
    assert not re.search(r"\d\dZ", local)
    drain.write_text("\n".join([heading, *dated]))
    assert explain(str(drain), *GP2)[1].startswith("credits ran out Mon 2025-11-24 10:34Z")


def test_the_first_line_is_the_answer_for_each_ending(drain: Path) -> None:
    rows = drain.read_text().splitlines(keepends=True)
    present = r"critical at \+2:27: runs out in 6 min, at \+2:33 \(.*\); paged \+2:15"
    for length, answers in (
        (100, ("credits did not run out; would have paged nobody",)),
        (148, (present, r"credits did not run out; would have paged once, \+2:15")),
        (
            170,
            (
                r"exhausted at \+2:49: the credits have run out; paged \+2:15",
                r"credits ran out \+2:34, and is empty at the end; would have paged \+2:15, 19 min before",
            ),
        ),
    ):
        drain.write_text("".join(rows[:length]))
        lines = explain(str(drain), *GP2)[1].splitlines()
        for line, answer in zip(lines, answers, strict=False):
            assert re.fullmatch(answer, line), line


def test_the_first_line_counts_and_names_the_first_and_a_page_that_came_late(drain: Path) -> None:
    _, out, _ = explain(THREE_DAYS, *LATE)
    assert out.startswith(
        "credits ran out 2 times, first +36:05 to +36:20, 15 min; would have paged +35:25, 40 min before; pages in all: "
    )
    late = explain(str(drain), *GP2, "--delay-s", "3600")[1].splitlines()[0]
    assert re.search(r"^credits ran out \+2:34 to \+3:02, 28 min; would have paged .* after$", late)


def test_no_reason_has_a_range_without_a_width(drain: Path) -> None:
    assert "never to never" not in explain(str(drain), *GP2)[1]


def test_machines_get_pages_changes_and_exhaustions(drain: Path) -> None:
    _, out, _ = explain(str(drain), *GP2, "--json")
    told = json.loads(out)
    assert len(told["pages"]) == 1
    assert told["run_out"] == [{"empty_at": 9_240.0, "refilled_at": 10_920.0}]
    assert [change["verdict"] for change in told["changes"]][-1] == "ok"
    assert 9_200 - told["pages"][0]["at"] >= 900


def test_the_page_is_self_contained_and_draws_fan_exhaustion_and_verdicts(
    drain: Path, tmp_path: Path
) -> None:
    target = tmp_path / "page.html"
    explain(str(drain), *GP2, "--html", str(target))
    page = target.read_text()
    assert page.startswith("<!doctype html>")
    assert 'src="' not in page
    assert "href=" not in page.replace('<link rel="icon" href="data:', "")
    assert page.count("stroke-dasharray") >= 4  # the fan's bounds, baseline and limit
    assert "<circle" in page  # the exhaustion
    assert page.count("<rect") >= 4  # the verdicts, each in a lane with its name
    assert all(f">{verdict}</text>" in page for verdict in ("ok", "critical", "exhausted"))
    assert 'name="viewport"' in page
    assert "exhausted" in page


@pytest.mark.parametrize(("volume_type", "unit"), [("gp2", "IOPS"), ("st1", "MiB/s")])
def test_the_page_names_the_unit_of_the_rates(
    volume_type: str, unit: str, drain: Path, tmp_path: Path
) -> None:
    target = tmp_path / "page.html"
    explain(str(drain), "--type", volume_type, "--size-gib", "500", "--html", str(target))
    assert f"Served, in {unit}, against baseline" in target.read_text()


def test_a_series_in_which_nothing_happens_wakes_nobody(tmp_path: Path) -> None:
    path = tmp_path / "calm.csv"
    rows = "".join(f"{60 * n},100,600,600,1e6,1e6\n" for n in range(60))
    path.write_text(f"t_s,balance_percent,read_ops,write_ops,read_bytes,write_bytes\n{rows}")
    _, out, _ = explain(str(path), *GP2)
    assert out.splitlines()[0] == "credits did not run out; would have paged nobody"
    assert out.count("nobody") == 1


def test_a_name_is_escaped_in_the_page(drain: Path, tmp_path: Path) -> None:
    odd = drain.rename(tmp_path / "<b>&.csv")
    target = tmp_path / "page.html"
    explain(str(odd), *GP2, "--html", str(target))
    assert "<b>" not in target.read_text()


def test_a_series_without_any_balance_is_told_without_one(tmp_path: Path) -> None:
    path = tmp_path / "blind.csv"
    rows = "".join(f"{60 * n},,600,600,1e6,1e6\n" for n in range(30))
    path.write_text(f"t_s,balance_percent,read_ops,write_ops,read_bytes,write_bytes\n{rows}")
    code, out, err = explain(str(path), *GP2, "--html", str(tmp_path / "page.html"))
    assert (code, err) == (0, "")
    assert "CloudWatch had no balance" in out


def test_the_example_is_explained() -> None:
    code, out, err = explain("--example")
    assert (code, err) == (0, "")
    assert "recorded writes on a simulated volume" in out
    first, *_ = out.splitlines()
    assert re.fullmatch(
        r"credits ran out Fri 2014-04-11 \d\d:\d\dZ to .*; would have paged \d\d:\d\dZ, (1[5-9]|[2-9]\d) min before",
        first,
    )
    # One page, which somebody would want.
    assert len(re.findall(r"would page at .*; ran out \d+ min later", out)) == 1
    assert out.count("would page at") == 1


def test_the_balance_alone_is_enough_for_advice(tmp_path: Path) -> None:
    path = tmp_path / "balance.csv"
    rows = "".join(f"2026-11-24T08:{n:02d}:00Z,{95 - 3 * max(0, n - 30)}\n" for n in range(60))
    path.write_text(f"time,BurstBalance\n{rows}")
    _, out, _ = explain(str(path), *GP2)
    # 3 % of 5.4 million a minute, beside the 300 a second that come in: 3,000 IOPS in most of the quarter of an hour.
    assert "reduce the load. At 1,307 IOPS" in out
    assert "change to gp3" in out


def test_a_page_of_a_projection_that_ran_ahead_is_not_called_late() -> None:
    out, err = io.StringIO(), io.StringIO()
    env = {"BURSTWATCH_LEAD_S": "60", "BURSTWATCH_ALARM_PATH_S": "60"}
    run(
        ["explain", "--verbose", THREE_DAYS, *LATE],
        stdout=out,
        stderr=err,
        env=env,
        clock=lambda: 0.0,
    )
    for line in out.getvalue().splitlines():
        if line.startswith("would page at    +35:"):
            assert line.endswith("ran out 35 min later")
            break
    else:
        raise AssertionError(out.getvalue())


def test_explain_needs_the_volume_of_a_series(drain: Path) -> None:
    code, _, err = explain(str(drain))
    assert code == 2
    assert "explain needs --type and --size-gib" in err


def test_a_story_with_a_page_ends_with_how_long_it_was_empty_and_what_would_have_helped() -> None:
    out, err = io.StringIO(), io.StringIO()
    code = run(
        ["explain", "--verbose", "--example"], stdout=out, stderr=err, env={}, clock=lambda: 0.0
    )
    assert code == 0
    assert "ran out at 2014-04-11 18:45Z, empty for 30 min" in out.getvalue()
    assert "what would have helped at 2014-04-11 18:25Z: reduce the load" in out.getvalue()
    assert (
        "what would have helped at 2014-04-11 18:25Z: change to gp3 with 3,000 IOPS"
        in out.getvalue()
    )


def written(tmp_path: Path, levels: list[float], *, step_s: int = 300) -> Path:
    path = tmp_path / "levels.csv"
    rows = "".join(f"{1_790_000_100 + step_s * n},{level}\n" for n, level in enumerate(levels))
    path.write_text(f"Time,BurstBalance\n{rows}")
    return path


def test_a_bucket_that_was_empty_at_the_beginning_did_not_run_out_then(tmp_path: Path) -> None:
    path = written(tmp_path, [0.0] * 6 + [1.6 * n for n in range(30)])
    assert explain(str(path), *GP2)[1].startswith("was empty at the beginning; ")


@pytest.mark.parametrize(
    ("size", "is_doubtful"), [("100", False), ("50", True), ("10", True), ("300", True)]
)
def test_a_run_that_is_too_fast_for_the_stated_size_is_doubtful_also_where_no_step_is(
    size: str,
    is_doubtful: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    """A gp2 volume of 100 GiB that drains at full burst and fills without load."""
    levels = [
        100.0,
        85.0,
        70.0,
        55.0,
        40.0,
        25.0,
        10.0,
        *(round(10 + 1.667 * n, 2) for n in range(50)),
    ]
    _, _, err = explain(str(written(tmp_path, levels)), "--type", "gp2", "--size-gib", size)
    assert ("faster than this type" in err) is is_doubtful


def test_a_file_of_a_spreadsheet_on_windows_is_read(tmp_path: Path) -> None:
    path = tmp_path / "de.csv"
    rows = "".join(f"02.11.2026 00:{5 * n:02d};{90 - n},5\n" for n in range(10))
    path.write_bytes(
        f"Zeit;BurstBalance;Größe\n{rows.replace(chr(10), ';groß' + chr(10))}".encode("cp1252")
    )
    code, out, _ = explain(str(path), *GP2)
    assert (code, out.splitlines()[0]) == (0, "credits did not run out; would have paged nobody")


def drawn(source: Path, *args: str) -> str:
    page = source.with_suffix(".html")
    assert explain(str(source), *args, "--html", str(page))[0] == 0
    return page.read_text()


def test_the_picture_shows_the_incident_and_its_title_is_the_answer(drain: Path) -> None:
    page = drawn(drain, *GP2)
    assert "<h1>gp2 100 GiB: credits ran out +2:34 to +3:02, 28 min; would have paged +2:15" in page
    assert page.index("Paged 19 min before the credits ran out") < page.index("The whole time")
    first, _ = page.split("The whole time")
    assert re.findall(r">(\+\d:\d\d)</text>", first) == ["+2:00", "+2:15", "+2:30", "+2:45"]
    assert first.count("<circle") == 1


@pytest.mark.parametrize(
    ("levels", "title"),
    [
        ([100, 100, *range(96, -1, -8), 0, 0, 40], " before the credits ran out"),
        ([100, 100, 0, 0, 0, 40], "Paged when the credits ran out"),
        ([100, 60, 30, 12, 30, 60, 100, 100], "Paged, and the credits did not run out"),
    ],
)
def test_the_title_of_the_incident_says_whether_the_page_came_before_it(
    tmp_path: Path, levels: list[float], title: str
) -> None:
    page = drawn(written(tmp_path, [100.0] * 12 + levels), *GP2)
    assert re.search(rf">(Paged )?[^<]*{title}</text>", page)


def test_a_page_that_came_too_late_is_called_late(drain: Path) -> None:
    page = drawn(drain, *GP2, "--delay-s", "3600")
    assert re.search(r">Paged \d+ min after the credits ran out</text>", page)


@pytest.mark.parametrize(("rows", "delay_s"), [(132, 300), (148, 0), (150, 3_600)])
def test_a_page_near_the_end_of_a_recording_is_not_called_false_and_has_its_balance(
    drain: Path, rows: int, delay_s: int
) -> None:
    lines = drain.read_text().splitlines(keepends=True)
    drain.write_text("".join(lines[:rows]))
    first, _ = drawn(drain, *GP2[:4], "--delay-s", str(delay_s)).split("The whole time")
    assert ">Paged, and the recording ends before the credits would have run out</text>" in first
    (curve,) = re.findall(r'<polyline class="curve" stroke="#1f60c4"[^>]* points="([^"]+)"', first)
    assert len(curve.split()) > 1


@pytest.mark.parametrize("delay_s", [0, 900, 1_500, 3_600])
def test_a_forecast_begins_on_the_curve_of_the_balance(drain: Path, delay_s: int) -> None:
    first, _ = drawn(drain, *GP2[:4], "--delay-s", str(delay_s)).split("The whole time")
    (curve,) = re.findall(r'<polyline class="curve" stroke="#1f60c4"[^>]* points="([^"]+)"', first)
    lines = re.findall(r'<polyline class="curve" stroke="#a14a00"[^>]* points="([^ "]+) ', first)
    forecasts = [begin for begin in lines if begin in curve.split()]
    assert len(forecasts) == len(lines) - 1  # one is the line of the page


@pytest.mark.parametrize("levels", [[0.0], [0.0, 0.0], [100.0, 0.0]])
def test_the_words_of_a_picture_stay_inside_of_it(tmp_path: Path, levels: list[float]) -> None:
    first, _ = drawn(written(tmp_path, levels), *GP2).split("The whole time")
    assert (">Empty at the beginning</text>" in first) == (levels[0] == 0.0)
    for x, anchor in re.findall(r'x="([0-9.]+)" y="[0-9.]+" text-anchor="(start|end)"', first):
        assert float(x) < 780 or anchor == "end"


def test_a_long_incident_has_days_below_its_picture(tmp_path: Path) -> None:
    levels = [100.0] * 12 + [100 - 0.3 * n for n in range(333)] + [0.0] * 12
    first, _ = drawn(written(tmp_path, levels, step_s=3_600), *GP2).split("The whole time")
    labels = re.findall(r">(\d\d \w+ \d\dZ)</text>", first)
    assert len(labels) >= 3


def test_a_series_in_which_nothing_happened_has_no_incident(tmp_path: Path) -> None:
    assert "The whole time" not in drawn(written(tmp_path, [100.0] * 24), *GP2)


@given(first=st.integers(0, 200), length=st.integers(1, 200))
@settings(max_examples=30, deadline=None)
def test_a_part_of_a_recording_has_the_pages_of_that_time_and_no_others(
    first: int, length: int
) -> None:
    _, out, _ = explain(THREE_DAYS, *LATE, "--json")
    whole = json.loads(out)
    begin_s, end_s = 600.0 * first, 600.0 * (first + length)
    within = [moment for moment in whole["pages"] if begin_s <= moment["at"] <= end_s]
    code, out, err = explain(
        THREE_DAYS, *LATE, "--json", "--from", f"{begin_s:.0f}", "--to", f"{end_s:.0f}"
    )
    if code:
        assert "has nothing of that time" in err
        return
    assert json.loads(out)["pages"] == within


def test_a_part_that_begins_behind_the_page_says_that_somebody_was_paged_before(
    drain: Path,
) -> None:
    heading, *rows = drain.read_text().splitlines()
    began_s = 1_763_971_200  # 2025-11-24 08:00Z, and the page is at 10:15
    dated = [f"{began_s + float(t):.0f},{rest}" for t, rest in (row.split(",", 1) for row in rows)]
    drain.write_text("\n".join([heading, *dated]))
    _, out, _ = explain(str(drain), *GP2, "--from", "2025-11-24T10:20", "--to", "2025-11-24T10:40")
    assert out.startswith(
        "exhausted at 2025-11-24 10:40Z: the credits have run out; paged before\n"
    )
    assert "would have paged" not in out
    assert "would page" not in out


@pytest.mark.parametrize(
    ("files", "arguments", "code", "lines"),
    [
        (("good", "good"), (), 0, 2), (("good", "broken"), (), 1, 1), (("broken", "broken"), (), 2, 0), (("good", "doubtful"), ("--strict",), 2, 1),
        (("good", "doubtful"), (), 0, 2), (("good", "good"), ("--only", "nope"), 2, 0), (("good", "good"), ("--type", "gp9"), 2, 0),
    ],
)  # fmt: skip
def test_of_several_files_each_has_a_line_and_the_code_says_whether_all_have(
    drain: Path, files: tuple[str, ...], arguments: tuple[str, ...], code: int, lines: int
) -> None:
    for name in ("good", "broken", "doubtful"):
        text = drain.read_text()
        if name == "doubtful":
            head, *rows = text.splitlines()
            text = "\n".join([head, *(_tripled(row) for row in rows)])
        (drain.parent / f"{name}.csv").write_text("x" if name == "broken" else text)
    named = [str(drain.parent / f"{name}.csv") for name in files]
    got, out, err = explain(*named, *GP2, *arguments)
    assert (got, len(out.splitlines())) == (code, lines), err
    documents = explain(*named, *GP2, *arguments, "--json")[1].splitlines()
    assert len(documents) == lines


def _tripled(row: str) -> str:
    """A row with three times its load."""
    at, balance, *loads = row.split(",")
    return ",".join([at, balance, *(f"{3 * float(load)}" if load else "" for load in loads)])


def test_a_time_that_may_be_two_days_is_refused_for_a_part(drain: Path) -> None:
    code, _, err = explain(str(drain), *GP2, "--from", "04/11/2026")
    assert (code, "which may be two days" in err) == (2, True)
    code, _, err = explain(str(drain), *GP2, "--from", "7200", "--to", "3600")
    assert (code, "is not before --to" in err) == (2, True)
    code, out, _ = explain(str(drain), *GP2, "--every-period", "--from", "2030-01-01")
    assert (code, out) == (2, "")


def test_a_part_keeps_the_clock_and_the_fixes_of_the_whole(drain: Path) -> None:
    _, whole, _ = explain(str(drain), *GP2)
    _, part, _ = explain(str(drain), *GP2, "--from", "8050")  # the page is at 8100
    assert whole.splitlines()[0] == part.splitlines()[0]
    fixes = [
        json.loads(explain(str(drain), *GP2, "--json", *arguments)[1])["fixes"]
        for arguments in ((), ("--from", "8050"))
    ]
    assert fixes[0]
    assert fixes[0] == fixes[1]


def test_a_name_of_a_file_moves_no_cursor(tmp_path: Path, drain: Path) -> None:
    hostile = tmp_path / "a\x1b[31mred\nline.csv"
    hostile.write_text(drain.read_text())
    for command in (
        ("explain", str(hostile)),
        ("explain", str(hostile), str(drain)),
        ("advise", str(hostile)),
    ):
        out, err = io.StringIO(), io.StringIO()
        run([*command, *GP2], stdout=out, stderr=err, env={}, clock=lambda: 0.0)
        assert "\x1b" not in out.getvalue() + err.getvalue()
        assert "\nline.csv" not in out.getvalue()
