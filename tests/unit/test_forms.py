"""A series that is written in any form that people have is read back as it was."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.kinds import find_kinds
from burstwatch.kinds._by_hand import described_by_hand
from burstwatch.recordings.grid import to_grid
from burstwatch.recordings.matching import match_metrics, name_series
from burstwatch.recordings.reading import read_text
from burstwatch.recordings.times import Conventions
from tests.forms import (
    CENTRAL,
    FORMS,
    VOLUME,
    Points,
    at,
    csv_of,
    form,
    get_metric_statistics,
    iso,
    shaped,
)


def zone_of(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except ZoneInfoNotFoundError:
        return pytest.skip("this machine has no time zones")


GP2 = described_by_hand(find_kinds()["ebs_volume"], {"type": "gp2", "size_gib": "100"})
START_S = 1_580_000_100  # a Sunday in January 2020, and 300 divides what is added to it
series = st.tuples(
    st.integers(0, 1_000_000),
    st.lists(st.integers(0, 10_000), min_size=2, max_size=30),
).map(
    lambda drawn_: [
        (START_S + 300 * (drawn_[0] + n), hundredths / 100)
        for n, hundredths in enumerate(drawn_[1])
    ]
)


def read_back(text: str, conventions: Conventions = Conventions()) -> list[tuple[float, float]]:  # noqa: B008
    """The balance as `explain` plays it: by its name, and alone of its kind."""
    kind = find_kinds()["ebs_volume"]
    contents = read_text(text, name="file", conventions=conventions)
    matched = match_metrics(contents, kind, GP2, only="", name="file")
    to_grid(matched, kind, contents, period_s=None, name="file")
    return sorted(matched.points["BurstBalance"])


def test_there_are_forty_forms_and_more() -> None:
    assert len(FORMS) >= 40


PYTHON, SDK = "is what Python prints", "is what an SDK prints"
PROMETHEUS, GRAPHITE = (
    "is text of Prometheus: ask /api/v1/query_range",
    "of Graphite: ask with format=csv",
)
DRAWN, BLANKS = "is a table drawn with lines: write it as CSV", "has blanks between its columns"
PART = "is a part of the time: write times in one column, in ISO 8601"
#: Forms that another export replaces, with what is said of each.
REFUSED = {
    "{'Label': 'BurstBalance', 'Datapoints': [{'Timestamp': datetime.datetime(2026, 11, 2, 0, 0, tzinfo=tzutc()), 'Minimum': 9.0}]}": PYTHON,
    "[(datetime.datetime(2026, 11, 2, 0, 0), 99.0)]\n[(datetime.datetime(2026, 11, 2, 0, 5), 98.0)]": PYTHON,
    "OrderedDict([('Label', 'BurstBalance')])": PYTHON,
    '{"MetricDataResults":[{"Id":"m0","Label":"BurstBalance","Timestamps":"1 2","Values":"3 4"}]}': "convert with ConvertTo-Json -Depth 5",
    '{"Label":"BurstBalance","Datapoints":[{"Timestamp":"2026-11-02T00:00:00Z","ExtendedStatistics":{"p10":9.0}}]}': "percentiles alone (p10)",
    "{Label: BurstBalance,Datapoints: [{Timestamp: Tue Nov 17 21:00:00 UTC 2026,Average: 100.0,}]}": SDK,
    '#<struct Aws::CloudWatch::Types::GetMetricStatisticsOutput label="BurstBalance">': SDK,
    "<table><tr><th>Time</th><th>BurstBalance</th></tr></table>": "is a table of HTML: write it as CSV",
    'metric_name,account_id,timestamp,value\nBurstBalance,111122223333,1793577600000,"{max=99.0, min=98.0, sum=1.0, count=1.0}"\n': "write its parts as columns, such as value.min",
    "Time,vol-0a1b2c3d4e5f60718,vol-0a1b2c3d4e5f60719\n2026-11-02T00:00:00Z,99,98\n": "choose one, such as --only vol-0a1b2c3d4e5f60718",
    '{"Label":"BurstBalance","Datapoints":[]}': "has no series with a time and a value",
    '{__name__="BurstBalance", volume="a"} =>\n99 @[1793577600]\n': PROMETHEUS,
    '# TYPE b gauge\nburst_balance{volume="a"} 99 1793577600000\n': PROMETHEUS,
    '[{"target": "BurstBalance", "datapoints": [[99.0, 1793577600]]}]': GRAPHITE,
    "aws.ebs.BurstBalance,1793577600,1793578200,300|99.0,98.0": GRAPHITE,
    " Time | BurstBalance\n---------------------+------\n 2026-11-02 00:00:00 | 99\n": DRAWN,
    "| Time | BurstBalance |\n| --- | --- |\n| 2026-11-02T00:00:00Z | 99 |\n": DRAWN,
    "+----------------------+-----+\n| Time | BurstBalance |\n+----------------------+-----+\n": DRAWN,
    "Time|BurstBalance\n2026-11-02 00:00:00|99\n": "has | between its columns: write it as CSV",
    "│ Time │ BurstBalance │\n╞══════════╪══════════╡\n│ 2026-11-02 00:00:00 ┆ 99 │\n": DRAWN,
    "                 Time  BurstBalance\n0 2026-11-02 00:00:00          99.0\n": BLANKS,
    "1793577600 99.0 5\n1793577900 98.0 5\n": BLANKS,
    **{
        f"Time,{heading},BurstBalance\n2026-11-02 00:00:00,{first},99\n2026-11-02 00:05:00,{zone},98\n": PART
        for heading in ("TZ", "timezone", "Zone", "Offset", "utc_offset", "tz_name", "Time zone")
        for zone in ("CET", "UTC", "Z", "+0100", "+01:00", "-5", "UTC+2", "Europe/Berlin", "America/Argentina/Salta")
        for first in (zone, "")
    },
    **{
        f"Time,{heading},BurstBalance\n2026-11-02 00:00:00,{zone},99\n": PART
        for heading in ("where", "site", "")
        for zone in ("UTC", "+01:00", "UTC-05:00", "Europe/Berlin")
    },
    "Date,Time,BurstBalance\n2026-11-02,00:05,99\n": PART,
    "Time,BurstBalance\n2. août 2026 00:00,99\n": "allowed: seconds or milliseconds since 1970, or ISO 8601",
    "Time,BurstBalance\n46328.25,99\n46328.5,98\n": "would be in the year 1970; allowed: seconds",
    "Time,BurstBalance\n20261102000000,99\n": "allowed: seconds or milliseconds since 1970, or ISO 8601",
    "Time,BurstBalance\n2026-11-02 00:00:00 CET,99\n": "allowed: seconds or milliseconds since 1970, or ISO 8601",
    "2026-11-02T00:00:00Z,99,5\n2026-11-02T00:05:00Z,98,5\n": "2 columns of numbers have no heading",
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), REFUSED.items())
def test_a_form_that_another_export_replaces_is_refused_with_what_to_write(
    text: str, said: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        read_back(text)


WRONG = "12.3,4x"


#: Forms with a datapoint in a line. Of JSON and YAML the rows are counted, and of rows that take several lines the first is named.
BY_LINE = [
    name for name in FORMS
    if "yaml" not in name and "vertical" not in name and name not in {"psql_expanded", "format_list_of_powershell"} and FORMS[name](((START_S, 50.0), (START_S + 300, 50.25))).count("\n") > 1
]  # fmt: skip


@pytest.mark.parametrize("name", BY_LINE)
def test_a_wrong_value_is_named_with_its_own_line(name: str) -> None:
    points = [(START_S + 300 * n, 50 + n / 4) for n in range(9)]
    text = re.sub(r"51[.,]25", WRONG, FORMS[name](points))
    (place,) = (n for n, line in enumerate(text.splitlines(), start=1) if WRONG in line)
    with pytest.raises(ValueError, match="file") as error:
        read_back(text)
    named = re.search(r"line ([0-9]+)", str(error.value))
    assert named is None or int(named[1]) == place


#: What stands above a table or beside its columns and is no mark of another form.
TITLES = (
    "# exported 2026-11-02 by job 17", "# from 2026-11-01 to 2026-11-02 every 300 s", "Generated 2026-11-02 10:00 UTC by user 42",
    "Report for 2026-11-02 last 24 hours", "BurstBalance\n============", "BurstBalance\n------------", "a | b", "# | b |",
)  # fmt: skip
BESIDE = {
    "zone": "us-east-1a", "offset": "17", "availability_zone": "eu-west-1b", "Namespace": "AWS/EBS", "change": "-3", "unit": "NONE",
    "duration": "0:05:00", "maintenance": "22:00", "ExtendedStatistic": "p99",
}  # fmt: skip
ROWS = (("Time", "2026-11-02 00:00:00", "2026-11-02 00:05:00"), ("BurstBalance", "99", "98"))


def table(*columns: tuple[str, ...], delimiter: str = ",") -> str:
    return "\n".join(delimiter.join(cells) for cells in zip(*columns, strict=True)) + "\n"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("title", TITLES)
def test_a_title_above_a_table_is_no_reason_to_refuse_it(title: str, delimiter: str) -> None:
    whole = table(*ROWS, delimiter=delimiter)
    assert read_back(f"{title}\n{whole}") == read_back(whole)


@pytest.mark.parametrize("title", [title for title in TITLES if title.startswith("#")])
def test_a_comment_above_yaml_is_no_reason_to_refuse_it(title: str) -> None:
    pytest.importorskip("yaml")
    rows = ["- Minimum: 9.5", "  Timestamp: 2026-11-02T00:00:00+00:00"]
    whole = "\n".join(["Datapoints:", *rows, "Label: BurstBalance", ""])
    assert read_back(f"{title}\n{whole}") == read_back(whole)


@pytest.mark.parametrize("heading", BESIDE)
def test_a_column_that_is_no_part_of_the_time_is_no_reason_to_refuse_a_table(heading: str) -> None:
    time, balance = ROWS
    other = (heading, *[BESIDE[heading]] * 2)
    assert read_back(table(time, other, balance)) == read_back(table(*ROWS))


@pytest.mark.parametrize("zone", ["UTC", "+00:00", "Etc/UTC"])
def test_a_zone_beside_times_that_have_theirs_is_no_reason_to_refuse_a_table(zone: str) -> None:
    time, balance = ROWS
    whole = (time[0], *(f"{cell}Z" for cell in time[1:]))
    assert read_back(table(whole, ("timezone", zone, zone), balance)) == read_back(table(*ROWS))


@form
def pandas_json_by_time(points: Points) -> str:
    return json.dumps({"BurstBalance": {f"{t}000": v for t, v in points}})


@form
def pandas_json_by_row(points: Points) -> str:
    return json.dumps({f"{t}000": {"BurstBalance": v} for t, v in points})


@form
def pandas_split_by_time(points: Points) -> str:
    return json.dumps({"columns": ["BurstBalance"], "index": [t * 1000 for t, _ in points], "data": [[v] for _, v in points]})  # fmt: skip


@form
def yaml_stream(points: Points) -> str:
    pytest.importorskip("yaml")
    rows = [f"  - Minimum: {v}\n    Timestamp: '{iso(t)}'" for t, v in points]
    return "\n".join(["- Label: BurstBalance", "  Datapoints:", *rows, ""])


@form
def two_answers_in_a_list(points: Points) -> str:
    half = len(points) // 2
    parts = [points[:half], points[half:]]
    return json.dumps([json.loads(get_metric_statistics(part)) for part in parts if part])


@form
def two_queries_joined(points: Points) -> str:
    half = len(points) // 2
    return "\n".join(json.dumps([[iso(t), v] for t, v in part]) for part in (points[:half], points[half:]) if part)  # fmt: skip


@form
def line_protocol_with_texts(points: Points) -> str:
    return "".join(f'> ebs,volume_id={VOLUME} note="a b, c=1",burst_balance_minimum={v} {t}000000000\n' for t, v in points)  # fmt: skip


@form
def esql(points: Points) -> str:
    columns = [{"name": "@timestamp", "type": "date"}, {"name": "BurstBalance", "type": "double"}]
    return json.dumps({"columns": columns, "values": [[iso(t), v] for t, v in points]})


@form
def results_by_query_as_text(points: Points) -> str:
    times = [f"TIMESTAMPS\t{iso(t)}" for t, _ in points]
    values = [f"VALUES\t{v}" for _, v in points]
    other = [*times, *(f"VALUES\t{n}" for n in range(len(points)))]
    return "\n".join(["m1\tBurstBalance\tComplete", *times, *values, "m2\tVolumeQueueLength\tComplete", *other, ""])  # fmt: skip


@form
def graphite_csv(points: Points) -> str:
    rows = (f"aws.ebs.{name},{time},{value}" for time, v in shaped(points, "%Y-%m-%d %H:%M:%S") for name, value in (("BurstBalance", v), ("VolumeReadOps", 0)))  # fmt: skip
    return "\n".join([*rows, ""])


@form
def rows_that_name_their_statistic(points: Points) -> str:
    rows = (f"{iso(t)},BurstBalance,{statistic},{value}" for t, v in points for statistic, value in (("Minimum", v), ("Maximum", 100)))  # fmt: skip
    return "\n".join(["timestamp,metric,statistic,value", *rows, ""])


@form
def a_zone_in_the_heading(points: Points) -> str:
    rows = [(f"{at(t).astimezone(CENTRAL):%Y-%m-%d %H:%M:%S}", v) for t, v in points]
    return csv_of(rows, "Time (UTC+1),BurstBalance")


@form
def a_zone_in_parentheses(points: Points) -> str:
    return csv_of(
        [(f"{at(t).astimezone(CENTRAL):%Y-%m-%d %H:%M:%S} (UTC+01:00)", v) for t, v in points]
    )


@form
def local_times_beside_those_in_utc(points: Points) -> str:
    rows = (
        f"{at(t).astimezone(CENTRAL):%Y-%m-%d %H:%M:%S},{at(t):%Y-%m-%d %H:%M:%S},{v}"
        for t, v in points
    )
    return "\n".join(["time,time_utc,BurstBalance", *rows, ""])


@form
def blanks_after_commas_under_a_title(points: Points) -> str:
    rows = (f'"{iso(t)}", "{v}"' for t, v in points)
    return "\n".join(["Report for a volume", "Time, BurstBalance", *rows, "   ", ""])


@pytest.mark.parametrize("name", FORMS)
@given(points=series)
def test_a_series_is_read_back_as_it_was_written(name: str, points: Points) -> None:
    assert read_back(FORMS[name](points)) == [(float(t), v) for t, v in points]


@pytest.mark.parametrize(
    ("pattern", "order"),
    [
        ("%d/%m/%Y %H:%M:%S", "dmy"), ("%m/%d/%Y %H:%M:%S", "mdy"), ("%d-%m-%y %H:%M", "dmy"), ("%m/%d/%y, %I:%M %p", "mdy"),
        ("%Y/%m/%d %H:%M", "ymd"),
    ],
)  # fmt: skip
@given(start=st.integers(0, 1_500), days=st.integers(0, 9))
def test_the_order_of_day_and_month_is_what_the_whole_column_shows_or_it_is_said(
    pattern: str, order: str, start: int, days: int
) -> None:
    first = START_S + 86_400 * start
    points = [(first + 21_600 * n, 50.0) for n in range(4 * days + 2)]
    text = csv_of(shaped(points, pattern))
    contents = read_text(text, name="file")
    read = [t for t, _ in contents.series[0].points]
    is_said = any("nothing in the file decides it" in note for note in contents.about.notes)
    assert is_said or read == [t for t, _ in points]
    chosen = Conventions(date_order=order)  # type: ignore[arg-type]
    chosen_contents = read_text(text, name="file", conventions=chosen)
    assert chosen_contents.series[0].points == points


@given(start=st.integers(0, 24 * 12), falling=st.booleans())
@pytest.mark.parametrize(
    ("zone", "around"),
    [("Europe/Berlin", "2026-10-25T00:00Z"), ("America/New_York", "2026-11-01T05:00Z"),
     ("Australia/Lord_Howe", "2026-04-04T14:00Z"), ("Europe/Berlin", "2026-03-29T00:00Z"), ("UTC", "2026-10-25T00:00Z")],
)  # fmt: skip
def test_local_times_across_a_change_of_clocks_are_read_in_their_zone(
    zone: str,
    around: str,
    start: int,
    falling: bool,  # noqa: FBT001
) -> None:
    first = int(datetime.fromisoformat(around).timestamp()) - 12 * 3600 + 300 * start
    points = [(first + 300 * n, float(n % 100)) for n in range(200)]
    place = zone_of(zone)
    rows = [
        (datetime.fromtimestamp(t, place).strftime("%Y-%m-%d %H:%M:%S"), v)
        for t, v in (reversed(points) if falling else points)
    ]
    assert read_back(csv_of(rows), Conventions(zone=place)) == points
    local = [datetime.fromisoformat(time) for time, _ in rows]
    steps = {b - a for a, b in pairwise(local)}
    goes_back = len(steps) > 1 and len({a > b for a, b in pairwise(local)}) > 1
    if goes_back and zone != "Australia/Lord_Howe":
        with pytest.raises(ValueError, match="as when clocks change: --timezone names the zone"):
            read_text(csv_of(rows), name="file")


def test_a_recording_that_begins_in_the_hour_that_comes_twice_is_next_to_what_follows() -> None:
    place = zone_of("Europe/Berlin")
    second = int(datetime(2026, 10, 25, 1, 30, tzinfo=UTC).timestamp())
    points = [(second + 300 * n, float(n)) for n in range(20)]
    rows = [(datetime.fromtimestamp(t, place).strftime("%Y-%m-%d %H:%M:%S"), v) for t, v in points]
    assert read_back(csv_of(rows), Conventions(zone=place)) == points
    with pytest.raises(ValueError, match="showed twice, and no row tells which time it was"):
        read_back(csv_of(rows[:3]), Conventions(zone=place))
    with pytest.raises(ValueError, match="no clock in Europe/Berlin showed"):
        read_back(csv_of([("2026-03-29 02:30:00", 1.0)]), Conventions(zone=place))


def test_values_per_second_are_summed_over_their_periods_and_a_share_of_1_is_told_by_its_plateau() -> (
    None
):
    rows = [f"{START_S + 300 * n},{1 if n < 4 else 1 - n / 40},3K iops" for n in range(20)]
    contents = read_text("\n".join(["Time,BurstBalance,VolumeReadOps", *rows]), name="file")
    balance, reads = contents.series
    assert (reads.is_rate, reads.points[0][1]) == (True, 3_000.0)
    kind = find_kinds()["ebs_volume"]
    buckets = described_by_hand(kind, {"type": "gp2", "size_gib": "100"})
    matched = match_metrics(contents, kind, buckets, only="", name="file")
    grid = to_grid(matched, kind, contents, period_s=None, name="file")
    assert grid.samples[0].values == {"BurstBalance": 100.0, "VolumeReadOps": 900_000.0}
    assert "BurstBalance is a share of 1, as it stays at 1 and never above" in matched.notes
    falling = [(at, value) for at, value in balance.points if value < 1]
    low = replace(contents, series=[replace(balance, points=falling)])
    assert (
        dict(match_metrics(low, kind, buckets, only="", name="f").points)["BurstBalance"] == falling
    )


@pytest.mark.parametrize(
    ("text", "stated", "expected"),
    [
        ("Time,x\n{t},90\n{u},80\n", {"metric": "BurstBalance", "statistic": "Minimum"}, "Minimum"),
        ("Time,x\n{t},90\n{u},80\n", {"metric": "", "statistic": ""}, "Average"),
        ("Time,BurstBalance Minimum\n{t},90\n{u},80\n", {"metric": "", "statistic": "Average"}, "Minimum"),
    ],
)  # fmt: skip
def test_a_metric_and_a_statistic_are_taken_from_the_person_where_the_file_is_silent(
    text: str, stated: dict[str, str], expected: str
) -> None:
    kind = find_kinds()["ebs_volume"]
    contents = read_text(text.format(t=START_S, u=START_S + 300), name="file")
    named = name_series(contents, kind, **stated)
    buckets = described_by_hand(kind, {"type": "gp2", "size_gib": "100"})
    assert (
        match_metrics(named, kind, buckets, only="", name="f").resource.reporting.statistic
        == expected
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # Each of these was read wrongly once, without a word.
        ("Zeit,BurstBalance\n02.11.2026 00:00,98,5\n02.11.2026 00:05,97,25\n", "2 cells expected, got 3"),
        ("timestamp,metric,statistic,value\n2026-11-02T00:00:00Z,BurstBalance,Maximum,60\n", "as Maximum only"),
        ("Time,BurstBalance\n0,98\n5,97\n10,96\n", "which would be in the year 1970"),
        ("date,time,BurstBalance\n2026-11-02,0005,98\n2026-11-02,0010,98\n", "which would be in the year 1970"),
        ("Time,BurstBalance\n2611020005,98\n", "which would be in the year 2052"),
        ("Time (CET),BurstBalance\n2026-11-02 01:00:00,98\n", "which stands for several: --timezone"),
        ("Time,BurstBalance\n2026-11-02 01:00:00 (CET),98\n", "allowed: seconds or milliseconds since 1970"),
        ("Time,volume,BurstBalance\n2026-11-02T00:00:00Z,orders,100\n2026-11-02T00:00:00Z,users,100\n", "several series of BurstBalance"),
        ("# burstwatch kind=ebs_volume spec=type=gp2,size_gib=1\nt_s,balance_percent\n0,1\n# burstwatch kind=ebs_volume spec=type=gp2,size_gib=2\nt_s,balance_percent\n60,1\n", "files of 2 resources"),
        ('[{"Timestamp": "2026-11-02T00:00:00Z", "Minimum": 3}, 5]', "of an unknown form"),
        ('{"Label": "BurstBalance", "Datapoints": [], "Datapoints": []}', "the key 'Datapoints' twice"),
        ('{"columns":["BurstBalance"],"data":[[100],-1]}', "of an unknown form"),
        ('[{"Timestamps":["2026-11-02T00:00:00Z"],"Values":{"a":1}}]', "has not a value for each time"),
        ('{"status":"ok","series":[{"metric":"aws.ebs.burst_balance","pointlist":[[1]]}]}', "allowed: a time with a value"),
        ('{"errors":["Forbidden"]}', "Datadog answered with an error: Forbidden"),
        ("An error occurred (AccessDenied) when calling the operation", "has no data: it begins with"),
    ],
)  # fmt: skip
def test_what_would_be_read_wrongly_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        read_back(text)


def amounts(text: str, metric: str = "VolumeReadOps") -> tuple[list[float], bool]:
    contents = read_text(text, name="file")
    (series,) = [part for part in contents.series if metric in part.label and part.points]
    return [value for _, value in series.points], series.is_rate


@pytest.mark.parametrize(
    ("text", "value", "is_rate"),
    [
        ("Time,rate(VolumeReadOps)\n2026-11-02T00:00:00Z,5\n", 5, True),
        ("Time,VolumeReadOps (ops/s)\n2026-11-02T00:00:00Z,5\n", 5, True),
        ("Time,VolumeReadOps per second\n2026-11-02T00:00:00Z,5\n", 5, True),
        ("Time,VolumeReadOps/PERIOD(m2)\n2026-11-02T00:00:00Z,5\n", 5, True),
        ("Time,VolumeReadOps\n2026-11-02T00:00:00Z,5\n", 5, False),
        ("Time,VolumeReadOps,unit\n2026-11-02T00:00:00Z,5,Count\n", 5, False),
        ("Time,VolumeReadOps,unit\n2026-11-02T00:00:00Z,5,Count/Second\n", 5, True),
        ('{"Label":"VolumeReadOps","Datapoints":[{"Timestamp":"2026-11-02T00:00:00Z","Sum":5,"Unit":"Count/Second"}]}', 5, True),
        ('{"status":"ok","series":[{"expression":"sum:aws.ebs.VolumeReadOps{*}.as_rate()","pointlist":[[1793577600000,5]]}]}', 5, True),
        ('{"status":"ok","series":[{"metric":"aws.ebs.VolumeReadOps","unit":[{"name":"read"},{"name":"second"}],"pointlist":[[1793577600000,5]]}]}', 5, True),
        ('{"series":[{"fields":[{"type":"time","values":[1793577600000]},{"type":"number","name":"VolumeReadOps","config":{"unit":"iops"},"values":[5]}]}]}', 5, True),
    ],
)  # fmt: skip
def test_a_unit_beside_the_values_or_in_a_name_is_read(
    text: str,
    value: float,
    is_rate: bool,  # noqa: FBT001
) -> None:
    assert amounts(text) == ([value], is_rate)


def test_bytes_in_a_larger_unit_are_bytes() -> None:
    text = "Time,VolumeReadBytes (MiB)\n2026-11-02T00:00:00Z,5\n"
    assert amounts(text, "VolumeReadBytes") == ([5 * 2**20], False)


@pytest.mark.parametrize("step_s", [300, 3_600])
@pytest.mark.parametrize("missing", [set(), {5}, {143, 150}])
def test_an_hour_that_comes_twice_is_refused_also_with_rows_missing_or_out_of_order(
    step_s: int, missing: set[int]
) -> None:
    berlin = zone_of("Europe/Berlin")
    first = int(datetime(2026, 10, 24, 12, tzinfo=UTC).timestamp())
    points = [
        (first + step_s * n, float(n % 50)) for n in range(86_400 // step_s) if n not in missing
    ]
    rows = [(datetime.fromtimestamp(t, berlin).strftime("%Y-%m-%d %H:%M:%S"), v) for t, v in points]
    for ordered in (rows, rows[::-1], rows[50:] + rows[:50]):
        with pytest.raises(ValueError, match="--timezone names the zone"):
            read_back(csv_of(ordered))


def test_an_hour_that_is_missing_at_night_is_said() -> None:
    berlin = zone_of("Europe/Berlin")
    first = int(datetime(2026, 3, 28, 22, tzinfo=UTC).timestamp())
    rows = [(datetime.fromtimestamp(first + 300 * n, berlin).strftime("%Y-%m-%d %H:%M:%S"), 50.0) for n in range(80)]  # fmt: skip
    notes = read_text(csv_of(rows), name="file").about.notes
    assert (
        "an hour is missing after 2026-03-29 01:55, as when clocks change: --timezone names the zone"
        in notes
    )


@pytest.mark.parametrize(
    ("minutes", "period_s"), [([0, 10, 15, 25, 35, 40, 50], 300), ([0, 1.5, 3, 4.5, 6], 90)]
)
def test_the_period_is_what_the_rows_have(minutes: list[float], period_s: float) -> None:
    kind = find_kinds()["ebs_volume"]
    rows = [(str(int(START_S + 60 * minute)), 50.0) for minute in minutes]
    contents = read_text(csv_of(rows), name="file")
    matched = match_metrics(contents, kind, GP2, only="", name="file")
    assert to_grid(matched, kind, contents, period_s=None, name="file").period_s == period_s


#: Programs that ask CloudWatch by themselves and keep the answers: where one has no row it may have failed.
POLLERS = frozenset(
    {
        "prometheus_range", "promtool_json", "victoriametrics", "influx_csv",
        "influx_annotated", "influx_json", "line_protocol", "line_protocol_with_texts", "telegraf_json",
        "datadog_api", "datadog_api_2", "datadog_csv", "graphite_csv", "kibana_csv", "kibana_lens", "metricbeat",
        "elasticsearch",
    }
)  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_a_missing_row_is_silence_in_what_cloudwatch_answered_and_unknown_in_what_others_kept(
    name: str,
) -> None:
    points = [(START_S + 300 * n, 50.0) for n in range(9) if n != 4]
    contents = read_text(FORMS[name](points), name="file")
    assert contents.about.gaps_are_silence is (name not in POLLERS)


SIX = [(START_S + 300 * n, float(90 - n)) for n in range(6)]


def test_two_answers_of_one_name_are_joined_where_they_agree_and_refused_where_they_do_not() -> (
    None
):
    same = get_metric_statistics(SIX)
    assert read_back(same + get_metric_statistics(SIX[3:])) == sorted([*SIX, *SIX[3:]])
    other = get_metric_statistics([(at, value - 30) for at, value in SIX])
    with pytest.raises(
        ValueError, match="twice with other values for the same times, as of two resources"
    ):
        read_back(same + other)


def test_a_decimal_comma_is_known_by_one_cell_also_where_no_semicolon_separates_columns() -> None:
    cells = [(iso(t), f"{value + 0.25:.2f}".replace(".", ",")) for t, value in SIX]
    text = "\n".join(["Time\tBurstBalance", *(f"{t}\t{value}" for t, value in cells)])
    assert read_back(text) == [(t, value + 0.25) for t, value in SIX]


def notes_of(text: str) -> str:
    return "; ".join(read_text(text, name="file").about.notes)


def test_a_sign_that_may_separate_decimals_or_thousands_is_said() -> None:
    rows = "".join(f"{iso(t)};90;1.{200 + n}\n" for n, (t, _) in enumerate(SIX))
    text = f"Time;BurstBalance;VolumeReadOps\n{rows}"
    assert (
        "1.200 is read with '.' as the decimal sign, and nothing in the file decides it"
        in notes_of(text)
    )
    assert "decimal sign" not in notes_of(f"{text}{iso(START_S + 9_000)};90;1,5\n")
    assert "decimal sign" not in notes_of(text.replace(";", ","))


def test_an_order_of_dates_that_only_their_distance_decides_is_said() -> None:
    days = [START_S + 86_400 * 6, START_S + 86_400 * 7]  # the first and the second of February
    text = csv_of(shaped([(day, 50.0) for day in days], "%d/%m/%Y %H:%M"))
    assert "dates are read day first, as all lie closest together so" in notes_of(text)
    assert "--date-order mdy is the other way" in notes_of(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Time,BurstBalance\n1.793578E+12,98\n1.793578E+12,97\n", "a spreadsheet has cut its digits"),
        ("Time,BurstBalance,VolumeReadOps\n2026-11-02T00:00:00Z,98,5 iops\n2026-11-02T00:05:00Z,98,500\n", "has values per second and others"),
    ],
)  # fmt: skip
def test_cells_that_contradict_each_other_are_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_back(text)


def test_an_average_per_second_is_a_load_whose_sum_is_known() -> None:
    kind = find_kinds()["ebs_volume"]
    rows = "".join(f"{iso(t)},{value},5\n" for t, value in SIX)
    for heading, is_used in (("avg:VolumeReadOps per second", True), ("avg:VolumeReadOps", False)):
        contents = read_text(f"Time,BurstBalance,{heading}\n{rows}", name="file")
        matched = match_metrics(contents, kind, GP2, only="", name="file")
        assert ("VolumeReadOps" in matched.points) is is_used, matched.notes


def test_an_hour_that_a_clock_showed_twice_needs_rows_in_order() -> None:
    berlin = zone_of("Europe/Berlin")
    first = int(datetime(2026, 10, 24, 22, tzinfo=UTC).timestamp())
    points = [(first + 300 * n, float(n)) for n in range(60)]
    rows = [(datetime.fromtimestamp(t, berlin).strftime("%Y-%m-%d %H:%M:%S"), v) for t, v in points]
    shuffled = [*rows[1::2], *rows[::2]]
    with pytest.raises(ValueError, match="showed twice, and the rows are not in order: sort them"):
        read_back(csv_of(shuffled), Conventions(zone=berlin))
