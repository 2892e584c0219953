"""What stands around a recording goes, and no row of it goes with that."""

import json
import time

import pytest

from burstwatch.recordings.reading import read_text
from tests.forms import Points, csv_of, get_metric_statistics, get_metric_statistics_as_text, iso

POINTS: Points = [(1_794_949_200 + 300 * n, 100.0 - n) for n in range(40)]
FIRST, SECOND = POINTS[:20], POINTS[20:]
#: A prompt of each shell, and as it is after another command.
PROMPTS = {
    "sh": ("$ ", "$ "), "bash": ("ada@bastion:~/ops$ ", "ada@bastion:~$ "), "root": ("[root@db-1 ~]# ", "[root@db-1 ops]# "), "zsh": ("ada@mac ops % ", "ada@mac ~ % "),
    "fish": ("ada@host ~/ops> ", "ada@host ~> "), "oh my zsh": ("➜  ops git:(main) ✗ ", "➜  ops git:(main) "), "git": ("~/ops (main *)$ ", "~/ops (main)$ "),
    "starship": ("\u276f ", "\u276f "), "lambda": ("λ ", "λ "), "powershell": ("PS C:\\Users\\ada> ", "PS C:\\> "), "cmd": ("C:\\Users\\ada>", "C:\\>"), "continuation": ("> ", "> "),
}  # fmt: skip
BEHIND = ("", "exit\n", "Thanks, Ada\n")
ABOVE = ("", "Last login: Mon Nov 30 06:12:01 on ttys001\n")


def table(points: Points) -> str:
    return csv_of([(iso(t), v) for t, v in points])


def read(text: str) -> Points:
    (series,) = (part for part in read_text(text, name="file").series if part.points)
    return sorted((int(at), value) for at, value in series.points)


@pytest.mark.parametrize("above", ABOVE)
@pytest.mark.parametrize("write", [get_metric_statistics, table])
@pytest.mark.parametrize("prompts", PROMPTS.values(), ids=PROMPTS)
def test_a_session_of_any_shell_is_its_answer(
    prompts: tuple[str, str], write: type[str], above: str
) -> None:
    first, last = prompts
    answer = write(POINTS).rstrip("\n")
    command = "aws cloudwatch get-metric-statistics --metric-name BurstBalance" if write is get_metric_statistics else "cat balance.csv"  # fmt: skip
    for behind in ("", f"{last}exit\n", f"{last}\n"):
        assert read(f"{above}{first}{command}\n{answer}\n{behind}") == POINTS


@pytest.mark.parametrize("prompts", PROMPTS.values(), ids=PROMPTS)
def test_several_answers_of_a_session_are_all_read(prompts: tuple[str, str]) -> None:
    first, last = prompts
    text = f"{first}aws cloudwatch get-metric-statistics\n{get_metric_statistics(FIRST)}\n{last}aws cloudwatch get-metric-statistics --next\n{get_metric_statistics(SECOND)}\n{last}"
    series = read_text(text, name="file").series
    assert sorted(point for part in series for point in part.points) == POINTS


@pytest.mark.parametrize("behind", BEHIND)
def test_words_around_json_go(behind: str) -> None:
    assert read(f"Hello,\nthis is the volume:\n{get_metric_statistics(POINTS)}\n{behind}") == POINTS


def test_quotes_that_a_chat_made_curly_and_modes_of_a_terminal_go() -> None:
    rows = json.dumps([{"Timestamp": iso(t), "BurstBalance": v} for t, v in POINTS])
    curly = "".join("“”"[n % 2] if c == '"' else c for n, c in enumerate(rows))
    assert read(curly.replace("”", "“")) == POINTS
    assert (
        read(f"\x1b[?2004h$ cat x\n\x1b[?2004l{table(POINTS)}\x1b]0;ada@host\x07\x1b[?2004h$ ")
        == POINTS
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (table(FIRST) + get_metric_statistics(SECOND), "line 22: 2 cells expected, got 1"),
        (get_metric_statistics(FIRST) + "\n" + table(SECOND), "a row of a table behind JSON, in line 107"),
        (get_metric_statistics_as_text(FIRST) + get_metric_statistics(SECOND), "JSON behind rows, in line 22"),
        (f"{table(FIRST)}\nand later:\n\n```\n{table(SECOND)}```\n", "inside of a Markdown fence, and others outside, such as line 2:"),
        (f"$ cat a.csv\n{table(FIRST)}$ aws cloudwatch get-metric-statistics\n{get_metric_statistics(SECOND)}\n$ ", "line 24: 2 cells expected, got 1"),
    ],
    ids=["rows, JSON", "JSON, rows", "text, JSON", "rows, a fence", "a session of both"],
)  # fmt: skip
def test_a_file_of_two_forms_is_refused_with_the_line(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_text(text, name="file")


@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_a_fence_that_has_one_end_alone_hides_nothing(fence: str) -> None:
    assert read(f"{table(POINTS)}{fence}\n") == POINTS
    assert read(f"{fence}\n{table(POINTS)}") == POINTS


@pytest.mark.parametrize(
    "lines", [["> {}"], ["On Monday Ada wrote:", "", "> {}"], ["Hi,", "see below.", "", "> {}", "-- ", "Ada"]]
)  # fmt: skip
def test_a_quotation_with_words_around_it_is_its_answer(lines: list[str]) -> None:
    for write in (get_metric_statistics, table):
        quoted = "\n".join(f"> {line}" for line in write(POINTS).splitlines())
        assert read("\n".join(quoted if "{}" in line else line for line in lines) + "\n") == POINTS


@pytest.mark.parametrize(
    ("heading", "offset"),
    [("Zeit (UTC+1)", 1), ("Zeitpunkt (UTC+01:00)", 1), ("Zeit (Europe/Berlin)", 1), ("Hora (America/New_York)", -5), ("Heure (UTC)", 0)],
)  # fmt: skip
def test_the_zone_in_a_heading_of_any_language_is_that_of_its_times(
    heading: str, offset: int
) -> None:
    rows = [(iso(t + 3_600 * offset).rstrip("Z").replace("T", " "), v) for t, v in POINTS]
    assert read(csv_of(rows, f"{heading},BurstBalance")) == POINTS


def test_a_title_is_the_name_of_the_values_below_it() -> None:
    rows = csv_of([(iso(t), v) for t, v in POINTS], "Time,Value")
    (series,) = read_text(f"VolumeQueueLength\n{rows}", name="file").series
    assert "VolumeQueueLength" in series.names
    (series,) = read_text(f"BurstBalance Maximum\n{rows}", name="file").series
    assert "BurstBalance Maximum" in series.names
    (series,) = read_text(f"Report for a volume\n{rows}", name="file").series
    assert not any("Report" in name for name in series.names)


LONG = "Time,Metric,Value\n" + "".join(
    f"{iso(t)},VolumeReadOps,{90_000 + n}\n" for n, (t, _) in enumerate(POINTS)
)
TEXT = f"METRICDATARESULTS\tm1\tVolumeReadOps\tComplete\nTIMESTAMPS\t{iso(POINTS[0][0])}\nVALUES\t90000.0\n"
OPERATIONS = get_metric_statistics(POINTS).replace("BurstBalance", "VolumeReadOps")
BALANCE = get_metric_statistics(POINTS)


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{BALANCE}\n```\n```\n{OPERATIONS}\n",
        "\n".join(f"> {line}" for line in table(POINTS).splitlines()) + "\n" + LONG,
    ],
    ids=["a fence, an open fence", "a quotation, rows"],
)
def test_parts_that_can_be_told_apart_are_all_read(text: str) -> None:
    series = [part for part in read_text(text, name="file").series if part.points]
    names = " ".join(name for part in series for name in part.names)
    assert "BurstBalance" in names
    assert "VolumeReadOps" in names


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{BALANCE}\n{LONG}", "a row of a table behind JSON, in line 207"),
        (f"{BALANCE}\n{TEXT}", "a row of a table behind JSON, in line 206"),
        (f"{LONG}\n{BALANCE}", "line 43: 3 cells expected, got 1"),
        (f"{TEXT}\n{BALANCE}", "JSON behind rows, in line 5"),
        (f"```\n{BALANCE}\n```\nand:\n{OPERATIONS}\n", "rows inside of a Markdown fence, and others outside, such as line 209"),
    ],
    ids=["JSON, rows", "JSON, text", "rows, JSON", "text, JSON", "a fence, JSON"],
)  # fmt: skip
def test_parts_of_several_forms_are_refused_with_the_line(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_text(text, name="file")


@pytest.mark.parametrize(
    ("prompt", "heading"),
    [("C:\\Users\\me> type q.csv", "Cloud time,BurstBalance"), ("D:\\data> type q.csv", "Date,BurstBalance"), ("[~]$ cat q.csv", "Time,BurstBalance"), ("T > cat q.csv", "Time,BurstBalance")],
)  # fmt: skip
def test_no_heading_goes_because_it_begins_like_a_prompt(prompt: str, heading: str) -> None:
    rows = csv_of([(iso(t), v) for t, v in POINTS], heading)
    (series,) = (part for part in read_text(f"{prompt}\n{rows}", name="file").series if part.points)
    assert "BurstBalance" in series.names


@pytest.mark.parametrize(
    "title", ["BurstBalance % head", "Disk report\n────────────", "usage > 50", "a # b"]
)
def test_a_title_that_looks_like_a_prompt_or_a_rule_hides_nothing(title: str) -> None:
    assert read(f"{title}\n{table(POINTS)}") == POINTS


def test_a_rule_above_rows_with_blanks_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="file"):
        read_text(
            "Disk report\n────────────\n2026-11-24 12:00  50\n2026-11-24 12:05  49\n", name="file"
        )


def test_curly_quotes_inside_of_straight_ones_stay() -> None:
    text = get_metric_statistics(POINTS).replace("BurstBalance", "db “A” BurstBalance")
    (series,) = read_text(text, name="file").series
    assert "db “A” BurstBalance" in series.names


@pytest.mark.parametrize("between", [" x\n", "\n\x1e", "\n$ \n"])
def test_many_documents_with_words_between_take_time_by_their_number(between: str) -> None:
    def seconds(count: int) -> float:
        text = between.join(
            f'{{"time": {1_794_949_200 + 300 * n}, "BurstBalance": 50}}' for n in range(count)
        )
        began = time.process_time()
        read_text(text, name="file")
        return time.process_time() - began

    assert seconds(8_000) < 8 * seconds(2_000) + 0.5
