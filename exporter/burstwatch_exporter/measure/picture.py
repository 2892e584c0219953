"""A result as one page of HTML with its pictures in it: what was served when, and how far more jobs bring more."""

import re
from collections import defaultdict
from collections.abc import Iterator
from html import escape

from burstwatch.drawing.charts import BLUE, GREEN, GREY, ORANGE, RED, Chart, picture
from burstwatch.drawing.pages import document, table_of
from burstwatch.formatting import number, span
from burstwatch_exporter.measure.outputs import MS_PER_S
from burstwatch_exporter.measure.record import Record, StepRecord
from burstwatch_exporter.measure.report import HEADINGS, heading, remarks, step_cells

#: The end of a step's name that is its number of jobs.
JOBS = re.compile(r"(.+)-(\d+)")
COLORS = (BLUE, ORANGE, GREEN, RED, GREY)
#: Room above the highest point.
HEADROOM = 1.15
#: The room to the right of a chart for the names of its limits, in pixels.
LIMIT_NAMES_PX = 110.0


def page(record: Record) -> str:
    """The whole page; it needs nothing from anywhere."""
    charts = [
        *scaling_charts(record),
        *(chart for step in record.steps for chart in step_charts(step, record)),
    ]
    parts = [
        table_of(HEADINGS, map(step_cells, record.steps), sentences=HEADINGS[-1:]),
        f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in remarks(record))}</ul>",
        f"<figure>{picture(charts)}</figure>" if charts else "<p>nothing was sampled</p>",
    ]
    return document(heading(record), "\n".join(parts), width=1_400)


def step_charts(step: StepRecord, record: Record) -> Iterator[Chart]:
    """Operations over time with the limits and the knee, and latency over time."""
    if len(step.samples) > 1:
        yield _iops_chart(step, record)
    points = [(at, seconds * MS_PER_S) for at, seconds in step.latencies]
    if len(points) > 1:
        top = max(value for _, value in points) * HEADROOM or 1.0
        chart = Chart(
            title=f"{step.name}: {'greatest' if step.tool == 'dbench' else 'mean'} latency, ms",
            x_range=(0.0, points[-1][0]),
            y_range=(0.0, top),
            height=180.0,
            right=110.0,
        )
        chart.axes(x_text=lambda value: f"{value:g} s", y_text=number)
        chart.line(points, ORANGE)
        yield chart


def scaling_charts(record: Record) -> Iterator[Chart]:
    """Operations and latency by number of jobs, a line a pattern, where a profile has such steps."""
    series: dict[str, list[tuple[int, StepRecord]]] = defaultdict(list)
    for step in record.steps:
        match = JOBS.fullmatch(step.name)
        if match and step.iops is not None and step.tool == "fio" and int(match[2]) == step.jobs:
            series[match[1]].append((step.jobs, step))
    curves = {
        name: sorted(points, key=lambda pair: pair[0])
        for name, points in series.items()
        if len(points) > 1
    }
    if not curves:
        return
    yield _scaling("IOPS by number of jobs", {
        name: [(jobs, step.iops or 0.0) for jobs, step in points] for name, points in curves.items()
    })  # fmt: skip
    latencies = {
        name: [(jobs, step.mean_s * MS_PER_S) for jobs, step in points if step.mean_s is not None]
        for name, points in curves.items()
    }
    if all(latencies.values()):
        yield _scaling("mean latency by number of jobs, ms", latencies)


def _iops_chart(step: StepRecord, record: Record) -> Chart:
    """The operations a second of a step, with the limits of its volumes and, for a drain, when these were reached."""
    points = [(seconds, iops) for seconds, iops, _ in step.samples]
    limits = _limits(step, record)
    highest = max([value for _, value in points] + [value for _, value in limits])
    top = highest * HEADROOM or 1.0
    chart = Chart(
        title=f"{step.name}: operations a second",
        x_range=(0.0, points[-1][0]),
        y_range=(0.0, top),
        right=LIMIT_NAMES_PX,
    )
    chart.axes(x_text=lambda value: f"{value:g} s", y_text=number)
    for name, value in limits:
        chart.line([(0.0, value), (points[-1][0], value)], GREY, dashes="4 4")
        chart.text(
            chart.width - LIMIT_NAMES_PX + 6,
            chart.y(value) + 4,
            f"{name} {number(value)}",
            anchor="start",
            small=True,
        )
    chart.line(points, BLUE)
    is_drain = record.drain is not None and step is record.steps[0]  # the others come after it
    if record.drain is not None and is_drain:
        knee_s = record.drain.knee_s
        chart.line([(knee_s, 0.0), (knee_s, top)], RED, dashes="2 3")
        chart.text(chart.x(knee_s), 30, f"knee at {span(knee_s)}", color=RED, small=True)
    return chart


def _limits(step: StepRecord, record: Record) -> list[tuple[str, float]]:
    """The burst and the baseline as operations of this step, where they can be said."""
    volume = record.volumes[0] if record.volumes else None
    if volume is None or volume.credit is None:
        promised = step.verdict.promised_iops if step.verdict else None
        return [] if promised is None else [("promised", promised)]
    members = len(record.volumes) if record.stripe.startswith("raid0") else 1
    factor = members * (1.0 if volume.unit == "io" else 1024 / step.block_kib)
    return [("burst", volume.credit.burst * factor), ("baseline", volume.credit.refill * factor)]


def _scaling(title: str, curves: dict[str, list[tuple[int, float]]]) -> Chart:
    """Draw values over the number of jobs, a curve for each pattern."""
    counts = sorted({jobs for points in curves.values() for jobs, _ in points})
    place = {jobs: float(i) for i, jobs in enumerate(counts)}
    top = max(value for points in curves.values() for _, value in points) * HEADROOM or 1.0
    chart = Chart(title=title, x_range=(0.0, len(counts) - 1.0), y_range=(0.0, top), right=130.0)
    chart.axes(
        x_text=lambda value: str(counts[round(value)]),
        y_text=number,
        x_name="jobs",
        x_ticks=[place[jobs] for jobs in counts],
    )
    named: list[tuple[float, str, str]] = []
    for (name, pairs), color in zip(curves.items(), COLORS * len(curves), strict=False):
        points = [(place[jobs], value) for jobs, value in pairs]
        chart.line(points, color)
        for x, value in points:
            chart.dot(x, value, color, radius=3)
        named.append((points[-1][1], name, color))
    chart.names(named)
    return chart
