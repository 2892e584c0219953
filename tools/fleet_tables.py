"""The tables of docs/fleets.md, from what the benchmarks measured."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from burstwatch.charts import BLUE, GREY, RED, Chart, picture
from burstwatch.ebs.watching_prices import METRIC_REQUEST
from tools.markdown import markdown_table

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
COLORS = {"burstwatch": RED, "yace": BLUE, "cloudwatch_exporter": GREY}
CENTS = 100
SECONDS = 60
#: The delay that the large table shows, as the month's.
DELAY_S = 180.0
NAMES = {
    "deadline": "by the worst case, each page at the margin (`page_on=worst`)",
    "deadline, likely": "the same looks, paged when it is likely (`page_on=likely`, the default)",
    "fixed 5 min": "fixed five minutes: balance, read and write operations",
}


def month_table() -> str:
    """A month of a mixed fleet under each way of watching it."""
    rows: list[Sequence[str]] = []
    for one in _read("month"):
        cells = (
            NAMES[one["policy"]], f"{one['billed_metrics'] / one['volumes']:,.0f}",
            f"{CENTS * one['usd_per_volume_month']:.2f}", f"{one['share_of_fixed']:.2f}",
            str(one["dry"]), str(one["late"]),
        )  # fmt: skip
        rows.append(cells)
    return markdown_table(
        "watched | metrics a volume-month | cents a volume-month | of fixed | ran out | late", rows
    )


def bill_sentence() -> str:
    """The whole of a month's bill in one sentence."""
    totals = [
        f"{CENTS * sum(one['usd'] for one in lines) / int(size):.1f} cents in a fleet of {int(size):,} volumes "
        f"({CENTS * sum(one['paid_usd'] for one in lines) / int(size):.1f} with AWS's free tier)"
        for size, lines in _bill().items()
    ]
    return f"The full cost for each volume and month is {', and '.join(totals)}.\n"


def _bill() -> dict[str, list[dict[str, Any]]]:
    (bill,) = (one["bill"] for one in _read("month") if one["policy"] == "deadline, likely")
    found: dict[str, list[dict[str, Any]]] = bill
    return found


def bill_table() -> str:
    """Every line of a month's bill, with its share, for fleets of several sizes."""
    bill = _bill()
    usd = {
        size: {
            **{line["line"]: line["usd"] for line in lines},
            "**all, a volume-month**": sum(line["usd"] for line in lines),
            "**after AWS's free tier**": sum(line["paid_usd"] for line in lines),
        }
        for size, lines in bill.items()
    }
    rows = [
        [
            name,
            *(
                cell
                for size, one in usd.items()
                for cell in (
                    f"{CENTS * one[name] / int(size):.2f}",
                    f"{one[name] / one['**all, a volume-month**']:.0%}",
                )
            ),
        ]
        for name in next(iter(usd.values()))
    ]
    sizes = " | ".join(f"cents at {int(size):,} volumes | share" for size in bill)
    return markdown_table(f"line | {sizes}", rows)


def grid_table() -> str:
    """Cents a volume-month by size, load and lead."""
    shown = [one for one in _read("month_grid") if one["delay_s"] == DELAY_S]
    loads = list(shown[0]["cents_per_volume_month"])
    lines = [
        f"| lead | size | acted on at | {' | '.join(loads)} |",
        f"| --- | --- | --- | {' | '.join('---' for _ in loads)} |",
    ]
    for one in shown:
        cents = [f"{one['cents_per_volume_month'][load]:.1f}" for load in loads]
        at = (
            f"{one['acted_on_at']:.0%}"
            if one["acted_on_at"] < 1
            else "always: a full bucket lasts less"
        )
        lead = f"{one['lead_s'] / SECONDS:.0f} min"
        lines.append(f"| {lead} | {one['size_gib']} GiB | {at} | {' | '.join(cents)} |")
    return "\n".join(lines) + "\n"


def delay_table() -> str:
    """The cost of late data for a quiet volume."""
    grid = [one for one in _read("month_grid") if one["lead_s"] == 900.0]  # noqa: PLR2004 - the default lead
    delays = sorted({one["delay_s"] for one in grid})
    lines = [
        f"| size | {' | '.join(f'{delay / SECONDS:.0f} min late' for delay in delays)} |",
        f"| --- | {' | '.join('---' for _ in delays)} |",
    ]
    for size in dict.fromkeys(one["size_gib"] for one in grid):
        cents = [
            f"{one['cents_per_volume_month']['quiet']:.1f}"
            for one in grid
            if one["size_gib"] == size
        ]
        lines.append(f"| {size} GiB | {' | '.join(cents)} |")
    return "\n".join(lines) + "\n"


def programs_table() -> str:
    """One round of each program on the same fleet."""
    rows: list[Sequence[str]] = []
    records = _read("programs")
    for volumes in dict.fromkeys(one["volumes"] for one in records):
        for one in records:
            if one["volumes"] != volumes:
                continue
            cells = (
                f"{volumes:,}", one["program"], f"{one['api_calls']:,}", f"{one['billed_metrics']:,}",
                f"{one['billed_metrics'] * METRIC_REQUEST.value:.3f}",
                f"{1_000 * one['cpu_s'] / volumes:.2f} ms", f"{one['wall_s']:.1f} s",
                f"{one['peak_mib']:.0f} MiB",
            )  # fmt: skip
            rows.append(cells)
    return markdown_table(
        "volumes | program | calls | metrics billed | dollars a round | CPU a volume | wall | memory",
        rows,
    )


def day_table() -> str:
    """A day of burstwatch with each fleet, beside the pollers, which do the same with all."""
    rows: list[Sequence[str]] = []
    days = _read("day")
    for volumes in dict.fromkeys(day["volumes"] for day in days):
        of_size = [day for day in days if day["volumes"] == volumes]
        fleets = dict.fromkeys(day["fleet"] for day in of_size)
        ours = [
            day for fleet in fleets for day in of_size if day["fleet"] == fleet and _is_ours(day)
        ]
        peers = [
            day for day in of_size if day["fleet"] == of_size[0]["fleet"] and not _is_ours(day)
        ]
        for day in [*ours, *peers]:
            cells = (
                f"{volumes:,}", day["fleet"] if _is_ours(day) else "any", day["program"],
                f"{day['asks_every_s'] // 60} min", f"{day['billed_metrics_per_volume_day']:,.0f}",
                f"{CENTS * day['usd_per_volume_day']:.2f}", f"{1_000 * day['cpu_s_per_volume_day']:,.0f} ms",
                f"{day['calls_per_day']:,.0f}", f"{day['peak_mib']:.0f} MiB",
            )  # fmt: skip
            rows.append(cells)
    return markdown_table(
        "volumes | fleet | program | looks every | metrics a volume | cents a volume | CPU a volume | calls | memory",
        rows,
    )


def _is_ours(day: Mapping[str, Any]) -> bool:
    return str(day["program"]).startswith("burstwatch")


def day_summary() -> str:
    """CPU and metrics of burstwatch beside YACE at the same notice, and at YACE's default."""
    days = {
        (day["volumes"], day["fleet"], day["program"], day["asks_every_s"]): day
        for day in _read("day")
    }
    rows = []
    for volumes, fleet in dict.fromkeys(key[:2] for key in days):
        for ours_s, yace_s in ((60, 60), (300, 300), (60, 300)):
            yace = days[volumes, fleet, "yace", yace_s]
            sweep, serve = (
                days[volumes, fleet, name, ours_s] for name in ("burstwatch", "burstwatch serve")
            )
            cells = (
                f"{volumes:,}", fleet, f"{ours_s // 60} min", f"{yace_s // 60} min",
                _ratio(sweep, yace, "cpu_s_per_volume_day"), _ratio(serve, yace, "cpu_s_per_volume_day"),
                _ratio(sweep, yace, "billed_metrics_per_volume_day"),
            )  # fmt: skip
            rows.append(cells)
    return markdown_table(
        "volumes | fleet | burstwatch every | YACE every | CPU of the sweep | CPU of `serve` | metrics",
        rows,
    )


def _ratio(ours: Mapping[str, Any], theirs: Mapping[str, Any], name: str) -> str:
    return f"{ours[name] / theirs[name]:.2f}"


def served_memory_table() -> str:
    """Memory of `burstwatch serve` over a whole day."""
    (day,) = _read("served_memory")
    hours = (1, 3, 6, 12, 18, 24)
    row = [
        f"{day['volumes']:,}",
        *(f"{day['resident_mib_by_hour'][hour - 1]} MiB" for hour in hours),
    ]
    return markdown_table(" | ".join(["volumes", *(f"{hour} h" for hour in hours)]), [row])


def balance_alone_table() -> str:
    """The worth to the pages of the operations behind a balance."""
    rows: list[Sequence[str]] = []
    for one in _read("balance_alone"):
        cells = (
            one["seen"], f"{one['events']:,}", f"{one['announced']:.1%}", f"{one['needless_per_week']:.2f}",
        )  # fmt: skip
        rows.append(cells)
    return markdown_table("seen | run-outs | announced | false pages/week", rows)


def shards_table() -> str:
    """In how many shards, with how much memory, a fleet of a size is swept."""
    rows: list[Sequence[str]] = []
    for one in _read("shards"):
        cells = (
            f"{one['volumes']:,}", str(one["shards"]), f"{one['memory_mib']:,} MiB",
            f"{one['minutes']} min", f"{one['slowest_s']:.0f} s of {one['timeout_s']:.0f} s", f"{one['peak_mib']:.0f} MiB",
            f"{1_000 * one['cpu_s'] / one['volumes']:.2f} ms", f"{one['billed_metrics']:,}",
        )  # fmt: skip
        rows.append(cells)
    return markdown_table(
        "volumes | shards | memory of each | every | time of the slowest | memory used | CPU a volume | metrics",
        rows,
    )


def mixed_sentence() -> str:
    """How long the first sweep of a mixed account takes."""
    one = _read("mixed")[0]["sweep"]
    return (
        f"The first sweep of {one['volumes'] + one['others']:,} things takes {one['wall_s']:.0f} s of "
        f"{one['timeout_s']:.0f} s, {one['peak_mib']:.0f} MiB of {one['memory_mib']:,} MiB and "
        f"{one['billed_metrics']:,} metrics, in one shard.\n"
    )


def mixed_table() -> str:
    """What it costs to watch each kind for a month."""
    rows: list[Sequence[str]] = [
        (
            f"`{one['kind']}`", f"{one['resources']}", f"{one['metrics_a_month']:,.0f}",
            f"{CENTS * one['usd_month']:.2f} cents",
        )
        for one in _read("mixed")[0]["kinds"]
    ]  # fmt: skip
    return markdown_table(
        "kind | buckets watched | metrics a bucket and month | a bucket and month", rows
    )


def spread_table() -> str:
    """The cost where several environments remember the same unit each for itself."""
    found = _read("month_spread")
    rows = (
        ["environments", *(str(one["environments"]) for one in found)],
        ["---"] * (1 + len(found)),
        ["metrics", *(f"{one['times']:.1f}" for one in found)],
    )
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def cold_start_table() -> str:
    """The function's start and package beside bare handlers."""
    record = json.loads((RESULTS / "cold_start.json").read_text(encoding="utf-8"))
    bare = record["bare"]["start_ms"]
    rows: list[Sequence[str]] = []
    for name, one in record.items():
        cells = (
            name, f"{one['start_ms']:.0f} ms", f"{one['start_ms'] / bare:.1f}", f"{one['package_mib']:.2f} MiB",
        )  # fmt: skip
        rows.append(cells)
    return markdown_table("handler | start | share of *bare* | package, zipped", rows)


def _power(power: float, *, unit: str) -> str:
    return f"{10.0**power:g}{unit}"


def draw_growth() -> str:
    """CPU and metrics a volume, of each program, as the fleet grows."""
    records = _read("programs")
    sizes = sorted({one["volumes"] for one in records})
    ends = (math.log10(sizes[0]), math.log10(sizes[-1]))
    panels: dict[str, Callable[[dict[str, Any]], float]] = {
        "CPU a volume in one round, process start included": lambda one: 1_000 * one["cpu_s"] / one["volumes"],
        "Metrics billed a volume in one round": lambda one: one["billed_metrics"] / one["volumes"],
    }  # fmt: skip
    charts = []
    for title, value_of in panels.items():
        values = [value_of(one) for one in records]
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        chart = Chart(title=title, x_range=ends, y_range=(low, high), right=150.0)
        unit = " ms" if title.startswith("CPU") else ""
        chart.axes(
            x_text=lambda power: f"{10.0**power:,.0f} volumes",
            x_ticks=[math.log10(size) for size in sizes],
            y_text=partial(_power, unit=unit),
            y_ticks=range(low, high + 1),
        )
        named: list[tuple[float, str, str]] = []
        for program, color in COLORS.items():
            points = [
                (math.log10(one["volumes"]), math.log10(value_of(one)))
                for one in records
                if one["program"] == program
            ]
            chart.line(points, color)
            for x, y in points:
                chart.dot(x, y, color, radius=3)
            named.append((points[-1][1], program, color))
        chart.names(named)
        charts.append(chart)
    return picture(charts)


def _read(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found
