"""Writes a series in each form that people have."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import TypeAlias

import pytest

Points: TypeAlias = Sequence[tuple[int, float]]
VOLUME = "vol-0a1b2c3d4e5f60718"
CENTRAL = timezone(timedelta(hours=1))


def at(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def iso(seconds: int) -> str:
    return at(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")


def shaped(points: Points, pattern: str) -> list[tuple[str, float]]:
    return [(at(seconds).strftime(pattern), value) for seconds, value in points]


def csv_of(rows: Sequence[tuple[str, float]], head: str = "Time,BurstBalance") -> str:
    return "\n".join([head, *(f'"{time}",{value}' for time, value in rows), ""])


FORMS: dict[str, Callable[[Points], str]] = {}


def form(write: Callable[[Points], str]) -> Callable[[Points], str]:
    FORMS[write.__name__] = write
    return write


@form
def get_metric_statistics(points: Points) -> str:
    datapoints = [
        {"Timestamp": iso(t), "Minimum": v, "Unit": "Percent"} for t, v in reversed(points)
    ]
    return json.dumps({"Label": "BurstBalance", "Datapoints": datapoints}, indent=4)


@form
def get_metric_statistics_as_yaml(points: Points) -> str:
    pytest.importorskip("yaml")
    rows = [
        f"- Minimum: {v}\n  Timestamp: '{at(t).isoformat()}'\n  Unit: Percent" for t, v in points
    ]
    return "\n".join(["Datapoints:", *rows, "Label: BurstBalance", ""])


@form
def get_metric_statistics_as_text(points: Points) -> str:
    rows = (f"DATAPOINTS\t{v}\t{at(t).isoformat()}\tPercent" for t, v in points)
    return "\n".join(["BurstBalance", *rows, ""])


@form
def get_metric_statistics_as_a_table(points: Points) -> str:
    rows = (f"||  {v}  |  {iso(t)}  |  Percent  ||" for t, v in points)
    head = [
        "-" * 60, "|   GetMetricStatistics   |", "+----+----+", "|  Label  |  BurstBalance  |", "+----+----+",
        "||    Datapoints    ||", "|+----+----+----+|", "||  Minimum  |  Timestamp  |  Unit  ||", "|+----+----+----+|",
    ]  # fmt: skip
    return "\n".join([*head, *rows, "|+----+----+----+|", ""])


@form
def get_metric_data(points: Points) -> str:
    result = {"Id": "m0", "Label": "BurstBalance", "Timestamps": [iso(t) for t, _ in points], "Values": [v for _, v in points], "StatusCode": "Complete"}  # fmt: skip
    return json.dumps({"MetricDataResults": [result], "Messages": []})


@form
def get_metric_data_as_yaml(points: Points) -> str:
    pytest.importorskip("yaml")
    times = [f"  - '{iso(t)}'" for t, _ in points]
    values = [f"  - {v}" for _, v in points]
    head = ["MetricDataResults:", "- Id: m0", "  Label: BurstBalance", "  StatusCode: Complete"]
    return "\n".join([*head, "  Timestamps:", *times, "  Values:", *values, ""])


@form
def get_metric_data_as_text(points: Points) -> str:
    times = [f"TIMESTAMPS\t{iso(t)}" for t, _ in points]
    values = [f"VALUES\t{v}" for _, v in points]
    return "\n".join(["METRICDATARESULTS\tm0\tBurstBalance\tComplete", *times, *values, ""])


@form
def get_metric_data_as_a_table(points: Points) -> str:
    times = [f"|||  {iso(t)}  |||" for t, _ in points]
    values = [f"|||  {v}  |||" for _, v in points]
    head = [
        "-" * 40, "|    GetMetricData    |", "+----+", "||   MetricDataResults   ||", "|+----+----+----+|",
        "||  Id  |  Label  |  StatusCode  ||", "|+----+----+----+|", "||  m0  |  BurstBalance  |  Complete  ||", "|+----+|",
    ]  # fmt: skip
    border = "||+----+||"
    return "\n".join([*head, "|||  Timestamps  |||", border, *times, border, "|||  Values  |||", border, *values, border, ""])  # fmt: skip


@form
def one_result_by_query(points: Points) -> str:
    return json.dumps({"Label": "BurstBalance", "Timestamps": [iso(t) for t, _ in points], "Values": [v for _, v in points]})  # fmt: skip


@form
def pairs_by_query(points: Points) -> str:
    return json.dumps([[iso(t), v] for t, v in points])


@form
def datapoints_by_query(points: Points) -> str:
    return json.dumps([{"Timestamp": iso(t), "Minimum": v, "Unit": "Percent"} for t, v in points])


@form
def renamed_by_query(points: Points) -> str:
    return json.dumps([{"t": iso(t), "v": v} for t, v in points])


@form
def pairs_by_query_as_text(points: Points) -> str:
    return "".join(f"{at(t).isoformat()}\t{v}\n" for t, v in points)


@form
def pairs_by_query_as_yaml(points: Points) -> str:
    pytest.importorskip("yaml")
    return "".join(f"- - '{iso(t)}'\n  - {v}\n" for t, v in points)


@form
def pairs_by_query_as_a_table(points: Points) -> str:
    rows = (f"|  {iso(t)}|  {v}  |" for t, v in points)
    return "\n".join(
        ["-" * 40, "|   GetMetricStatistics   |", "+----+----+", *rows, "+----+----+", ""]
    )


@form
def powershell_csv(points: Points) -> str:
    rows = (f'"{v}","{at(t).strftime("%d.%m.%Y %H:%M:%S")}","Percent"' for t, v in points)
    return "\n".join(
        ["#TYPE Amazon.CloudWatch.Model.Datapoint", '"Minimum","Timestamp","Unit"', *rows, ""]
    )


@form
def metric_stream(points: Points) -> str:
    around = {"metric_stream_name": "s", "account_id": "111122223333", "region": "us-east-1", "namespace": "AWS/EBS", "metric_name": "BurstBalance", "dimensions": {"VolumeId": VOLUME}, "unit": "Percent"}  # fmt: skip
    lines = ({**around, "timestamp": t * 1000, "value": {"max": v, "min": v, "sum": v, "count": 1.0}} for t, v in points)  # fmt: skip
    return "\n".join(map(json.dumps, lines))


def console(points: Points, pattern: str, heads: Sequence[str]) -> str:
    names = ("BurstBalance", "BurstBalance", "300", heads[3].partition("=")[2], "m1")
    rows = [f"{head.partition('=')[0]},{name}" for head, name in zip(heads, names, strict=True)]
    return "\n".join([*rows, *(f"{time},{value}" for time, value in shaped(points, pattern)), ""])


@form
def console_in_english(points: Points) -> str:
    return console(
        points, "%Y/%m/%d %H:%M:%S", ("Full label", "Label", "Period", "Statistic=Minimum", "Id")
    )


@form
def console_in_german(points: Points) -> str:
    heads = ("Vollständige Bezeichnung", "Bezeichnung", "Zeitraum", "Statistik=Minimum", "ID")
    return console(points, "%d.%m.%Y %H:%M:%S", heads)


@form
def console_in_spanish(points: Points) -> str:
    heads = ("Etiqueta completa", "Etiqueta", "Período", "Estadística=Mínimo", "ID")
    return console(points, "%Y-%m-%d %H:%M:%S", heads)


@form
def console_in_japanese(points: Points) -> str:
    heads = ("完全なラベル", "ラベル", "期間", "統計=最小", "ID")
    return console(points, "%Y年%m月%d日 %H:%M:%S", heads)


@form
def grafana_raw(points: Points) -> str:
    return csv_of([(f"{t}000", v) for t, v in points], '"Time","BurstBalance"')


@form
def grafana_formatted(points: Points) -> str:
    rows = (f"{time},{v}%" for time, v in shaped(points, "%Y-%m-%d %H:%M:%S"))
    return "\n".join(["sep=,", '"Time","BurstBalance"', *rows, ""])


@form
def grafana_in_german(points: Points) -> str:
    rows = (
        f'"{time}";{f"{v}".replace(".", ",")} %' for time, v in shaped(points, "%d.%m.%Y %H:%M:%S")
    )
    return "\n".join(['"Time";"BurstBalance"', *rows, ""])


@form
def grafana_series_as_rows(points: Points) -> str:
    rows = (f"BurstBalance;{iso(t)};{v}" for t, v in points)
    return "\n".join(["sep=;", "Series;Time;Value", *rows, ""])


@form
def grafana_panel(points: Points) -> str:
    fields = [{"name": "Time", "type": "time", "values": [t * 1000 for t, _ in points]}, {"name": "BurstBalance", "type": "number", "values": [v for _, v in points]}]  # fmt: skip
    return json.dumps({"state": "Done", "series": [{"fields": fields}]})


@form
def prometheus_range(points: Points) -> str:
    result = {"metric": {"__name__": "aws_ebs_burst_balance_minimum", "volume_id": VOLUME}, "values": [[t, str(v)] for t, v in points]}  # fmt: skip
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": [result]}})


@form
def promtool_json(points: Points) -> str:
    return json.dumps([{"metric": {"__name__": "aws_ebs_burst_balance_minimum"}, "values": [[t, str(v)] for t, v in points]}])  # fmt: skip


@form
def victoriametrics(points: Points) -> str:
    return json.dumps({"metric": {"__name__": "aws_ebs_burst_balance_minimum"}, "values": [v for _, v in points], "timestamps": [t * 1000 for t, _ in points]})  # fmt: skip


@form
def influx_csv(points: Points) -> str:
    rows = (f"cloudwatch_aws_ebs,volume_id={VOLUME},{t}000000000,{v}" for t, v in points)
    return "\n".join(["name,tags,time,burst_balance_minimum", *rows, ""])


@form
def influx_annotated(points: Points) -> str:
    head = ["#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,double,string,string", "#group,false,false,true,true,false,false,true,true", "#default,_result,,,,,,,"]  # fmt: skip
    window = f"{iso(points[0][0])},{iso(points[-1][0])}"
    rows = (
        f",,0,{window},{iso(t)},{v},burst_balance_minimum,cloudwatch_aws_ebs" for t, v in points
    )
    return "\n".join(
        [*head, ",result,table,_start,_stop,_time,_value,_field,_measurement", *rows, ""]
    )


@form
def influx_json(points: Points) -> str:
    series = {"name": "cloudwatch_aws_ebs", "tags": {"volume_id": VOLUME}, "columns": ["time", "burst_balance_minimum"], "values": [[iso(t), v] for t, v in points]}  # fmt: skip
    return json.dumps({"results": [{"statement_id": 0, "series": [series]}]})


@form
def line_protocol(points: Points) -> str:
    return "".join(
        f"cloudwatch_aws_ebs,region=us-east-1,volume_id={VOLUME} burst_balance_minimum={v} {t}000000000\n"
        for t, v in points
    )


@form
def telegraf_json(points: Points) -> str:
    return "\n".join(json.dumps({"fields": {"burst_balance_minimum": v}, "name": "cloudwatch_aws_ebs", "tags": {"volume_id": VOLUME}, "timestamp": t}) for t, v in points)  # fmt: skip


@form
def datadog_api(points: Points) -> str:
    series = {"metric": "aws.ebs.burst_balance", "scope": f"volumeid:{VOLUME}", "pointlist": [[t * 1000.0, v] for t, v in points]}  # fmt: skip
    return json.dumps({"status": "ok", "series": [series]})


@form
def datadog_api_2(points: Points) -> str:
    attributes = {"series": [{"group_tags": [f"volumeid:{VOLUME}"], "query_index": 0}], "times": [t * 1000 for t, _ in points], "values": [[v for _, v in points]]}  # fmt: skip
    return json.dumps({"data": {"type": "timeseries_response", "attributes": attributes}})


@form
def datadog_csv(points: Points) -> str:
    return csv_of([(iso(t), v) for t, v in points], '"timestamp","avg:aws.ebs.burst_balance{*}"')


@form
def kibana_csv(points: Points) -> str:
    rows = [(at(t).strftime("%b %d, %Y @ %H:%M:%S.000"), v) for t, v in points]
    return csv_of(rows, '"@timestamp","aws.ebs.metrics.BurstBalance.avg"')


@form
def kibana_lens(points: Points) -> str:
    return csv_of([(iso(t), v) for t, v in points], '"@timestamp per 5 minutes","Minimum of aws.ebs.metrics.BurstBalance.avg"')  # fmt: skip


@form
def metricbeat(points: Points) -> str:
    return "\n".join(json.dumps({"@timestamp": iso(t), "aws": {"ebs": {"metrics": {"BurstBalance": {"avg": v}}}, "dimensions": {"VolumeId": VOLUME}}}) for t, v in points)  # fmt: skip


@form
def elasticsearch(points: Points) -> str:
    hits = [{"_index": "m", "_source": {"@timestamp": iso(t), "aws": {"ebs": {"metrics": {"BurstBalance": {"avg": v}}}}}} for t, v in points]  # fmt: skip
    return json.dumps({"took": 1, "hits": {"total": {"value": len(hits)}, "hits": hits}})


@form
def steampipe_csv(points: Points) -> str:
    rows = (f"{VOLUME},{iso(t)},{v},{v},{v},5" for t, v in points)
    return "\n".join(["volume_id,timestamp,minimum,maximum,average,sample_count", *rows, ""])


@form
def steampipe_json(points: Points) -> str:
    return json.dumps({"rows": [{"volume_id": VOLUME, "timestamp": iso(t), "minimum": v, "average": v} for t, v in points]})  # fmt: skip


@form
def pandas_csv(points: Points) -> str:
    rows = (f"{n},{at(t)},{v},Percent" for n, (t, v) in enumerate(points))
    return "\n".join([",Timestamp,Minimum,Unit", *rows, ""])


@form
def pandas_columns(points: Points) -> str:
    return json.dumps({"Timestamp": {str(n): t * 1000 for n, (t, _) in enumerate(points)}, "Minimum": {str(n): v for n, (_, v) in enumerate(points)}})  # fmt: skip


@form
def pandas_split(points: Points) -> str:
    return json.dumps({"columns": ["Timestamp", "BurstBalance"], "index": list(range(len(points))), "data": [[t * 1000, v] for t, v in points]})  # fmt: skip


@form
def pandas_lists(points: Points) -> str:
    return json.dumps(
        {"Timestamp": [iso(t) for t, _ in points], "BurstBalance": [v for _, v in points]}
    )


@form
def excel_with_semicolons(points: Points) -> str:
    rows = (f"{time};{f'{v}'.replace('.', ',')}" for time, v in shaped(points, "%d.%m.%Y %H:%M"))
    return "\n".join(["Zeit;BurstBalance", *rows, ""])


@form
def a_spreadsheet_with_halves_of_the_day(points: Points) -> str:
    rows = [(at(t).strftime("%b %d, %Y, %I:%M:%S %p"), v) for t, v in points]
    return csv_of(rows)


@form
def times_of_a_web_server(points: Points) -> str:
    return csv_of([(at(t).strftime("%d/%b/%Y:%H:%M:%S +0000"), v) for t, v in points])


@form
def times_of_javascript(points: Points) -> str:
    rows = [(at(t).astimezone(CENTRAL).strftime("%a %b %d %Y %H:%M:%S GMT+0100 (Central European Standard Time)"), v) for t, v in points]  # fmt: skip
    return csv_of(rows)


@form
def times_of_go(points: Points) -> str:
    return csv_of([(at(t).strftime("%Y-%m-%d %H:%M:%S +0000 UTC"), v) for t, v in points])


@form
def times_in_utc_by_the_heading(points: Points) -> str:
    return csv_of(shaped(points, "%Y-%m-%d %H:%M"), "Time (UTC),BurstBalance")


# As it is copied from a terminal, a mail, a chat or a ticket.


@form
def a_session_of_a_terminal(points: Points) -> str:
    command = "aws cloudwatch get-metric-statistics --namespace AWS/EBS \\\n    --metric-name BurstBalance"
    return f"$ {command}\n{get_metric_statistics(points)}\n$ \n"


@form
def a_session_with_a_host_in_the_prompt(points: Points) -> str:
    prompt = "ada@bastion:~/ops$"
    return f"{prompt} cat balance.csv\n{csv_of([(iso(t), v) for t, v in points])}{prompt} exit\n"


@form
def a_session_of_powershell(points: Points) -> str:
    return f"PS C:\\Users\\ada> aws cloudwatch get-metric-statistics `\n  --metric-name BurstBalance\n{get_metric_statistics(points)}\n"


@form
def a_session_of_root(points: Points) -> str:
    return f"[root@db-1 ~]# aws cloudwatch get-metric-data\n{get_metric_data(points)}\n"


@form
def words_above_json(points: Points) -> str:
    return f"Balance of the night:\n/usr/bin/aws cloudwatch get-metric-statistics\n\n{get_metric_statistics(points)}"


@form
def a_fence_of_markdown(points: Points) -> str:
    return f"This is the volume:\n\n```csv\n{csv_of([(iso(t), v) for t, v in points])}```\nWhat do you say?\n"


@form
def a_quotation_of_a_mail(points: Points) -> str:
    lines = csv_of([(iso(t), v) for t, v in points]).splitlines()
    return "\n".join(["On Monday Ada wrote:", *(f"> {line}" for line in lines), ""])


@form
def a_quotation_of_a_quotation(points: Points) -> str:
    return "\n".join(f">> {line}" for line in get_metric_statistics(points).splitlines()) + "\n"


@form
def colours_of_jq(points: Points) -> str:
    text = json.dumps([{"Timestamp": iso(t), "BurstBalance": v} for t, v in points])
    return text.replace("{", "\x1b[1;39m{\x1b[0m").replace("BurstBalance", "\x1b[34;1mBurstBalance")


@form
def lists_of_jq(points: Points) -> str:
    return "".join(f'["{iso(t)}",{v}]\n' for t, v in points)


@form
def pairs_of_awk(points: Points) -> str:
    return "".join(f"{iso(t)} {v}\n" for t, v in points)


@form
def pairs_of_awk_the_other_way(points: Points) -> str:
    return "".join(f"{v}   {t}\n" for t, v in points)


@form
def get_metric_statistics_in_aligned_columns(points: Points) -> str:
    rows = (f"DATAPOINTS  {v:<8} {iso(t):>26}  Percent" for t, v in points)
    return "\n".join(["BurstBalance", *rows, ""])


@form
def timestamps_and_values(points: Points) -> str:
    return json.dumps([[iso(t) for t, _ in points], [v for _, v in points]])


@form
def labels_with_timestamps_and_values(points: Points) -> str:
    return json.dumps([["BurstBalance", [iso(t) for t, _ in points], [v for _, v in points]]])


@form
def timestamps_and_values_as_text(points: Points) -> str:
    return "\t".join(iso(t) for t, _ in points) + "\n" + "\t".join(f"{v}" for _, v in points) + "\n"


# With a line for each cell.


@form
def format_list_of_powershell(points: Points) -> str:
    rows = (
        f"Average            : 0\nExtendedStatistics : {{}}\nMaximum            : 0\nMinimum            : {v}\n"
        f"SampleCount        : 0\nSum                : 0\nTimestamp          : {shaped([(t, v)], '%m/%d/%Y %I:%M:%S %p')[0][0]}\n"
        "Unit               : Percent\n"
        for t, v in points
    )
    # Two dates that are the same in either order are read month first, as PowerShell prints them in the USA.
    return "\n" + "\n".join(rows)


@form
def json_of_powershell(points: Points) -> str:
    datapoints = [
        {"Average": 0.0, "ExtendedStatistics": {}, "Maximum": 0.0, "Minimum": v, "Sum": 0.0, "Timestamp": f"/Date({1000 * t})/", "Unit": {"Value": "Percent"}}
        for t, v in points
    ]  # fmt: skip
    return json.dumps({"Label": "BurstBalance", "Datapoints": datapoints})


@form
def psql_expanded(points: Points) -> str:
    rows = (
        f"-[ RECORD {n} ]+-----\ntime         | {iso(t)}\nBurstBalance | {v}\n"
        for n, (t, v) in enumerate(points, 1)
    )
    return "".join(rows)


@form
def mysql_vertical(points: Points) -> str:
    stars = "*" * 27
    rows = (
        f"{stars} {n}. row {stars}\n        time: {iso(t)}\nBurstBalance: {v}\n"
        for n, (t, v) in enumerate(points, 1)
    )
    return "".join(rows) + f"{len(points)} rows in set (0.00 sec)\n"


@form
def clickhouse_vertical(points: Points) -> str:
    rows = (
        f"Row {n}:\n──────\ntime:         {iso(t)}\nBurstBalance: {v}\n"
        for n, (t, v) in enumerate(points, 1)
    )
    return "\n".join(rows)


@form
def a_title_with_a_colon(points: Points) -> str:
    return "Report: EBS burst\nPeriod: last 5 hours\n\n" + csv_of([(iso(t), v) for t, v in points])


@form
def a_search_of_splunk(points: Points) -> str:
    return json.dumps(
        {
            "fields": [{"name": "_time"}, {"name": "BurstBalance"}],
            "rows": [[iso(t), f"{v}"] for t, v in points],
        }
    )


@form
def get_metric_statistics_with_small_letters(points: Points) -> str:
    datapoints = [{"timestamp": iso(t), "minimum": v, "unit": "Percent"} for t, v in points]
    return json.dumps({"label": "BurstBalance", "datapoints": datapoints})
