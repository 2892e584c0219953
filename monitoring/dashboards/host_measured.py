"""Builds the rows of the *Host* dashboard that EBS's own statistics and measurements fill."""

from burstwatch_exporter.page import metrics as m
from monitoring.dashboards.parts import GREEN, HOST_WIDTH, ORANGE, Panel, SeriesStyle, graph
from monitoring.dashboards.prometheus import DISK, KIND, compared, one, rate, series

#: Older than this a measurement says little: the timer measures once a day.
STALE_S = 3 * 86_400.0


def log_page() -> list[Panel]:
    """EBS's own statistics."""
    exceeded = (
        (m.EBS_EXCEEDED_IOPS, "own IOPS"),
        (m.EBS_EXCEEDED_TP, "own bytes/s"),
        (m.EBS_EC2_EXCEEDED_IOPS, "instance IOPS"),
        (m.EBS_EC2_EXCEEDED_TP, "instance bytes/s"),
    )
    return [
        graph(
            "Limit exceeded",
            "Share of the time in which the load was above a limit: the volume's own or the instance's, of IOPS or of bytes a second. Needs the NVMe helper.",
            kind=KIND, unit="percentunit", width=8, most=1,
            targets=[series(f"q{i}", rate(metric), f"{DISK} {whose}") for i, (metric, whose) in enumerate(exceeded)],
        ),
        graph(
            "Latency at the volume",
            "50% and 99% of the operations took no longer than this.",
            kind=KIND, unit="s", width=8,
            targets=[
                series(
                    f"{kind}{percent}",
                    f"histogram_quantile(0.{percent}, sum by (le, instance, device) ({rate(metric, suffix='_bucket')}))",
                    f"{DISK} {kind} {percent}%",
                )
                for kind, metric in (("reads", m.EBS_READ_LATENCY), ("writes", m.EBS_WRITE_LATENCY))
                for percent in (50, 99)
            ],
        ),
        graph(
            "Queue at the volume", "I/O that waits now, by the volume's own count.",
            kind=KIND, unit="short", width=8, targets=[series("queue", one(m.EBS_QUEUE), DISK)],
        ),
    ]  # fmt: skip


def measured() -> list[Panel]:
    """The newest measurements."""
    by = "by (instance, device, profile, step)"
    ops, promised = f"sum {by} ({one(m.FIO_IOPS)})", f"max {by} ({one(m.FIO_PROMISED)})"
    return [
        compared(
            "Model against measured",
            "The newest result of each step: operations a second as fio counted them, what type and size promise for it, how they compare, and the mean latency. "
            "burstwatch-exporter measure says in words what to make of it.",
            labels={
                "instance": ("host", SeriesStyle(width=HOST_WIDTH)),
                "device": ("device", SeriesStyle()),
                "profile": ("profile", SeriesStyle(wrapped=True)),
                "step": ("step", SeriesStyle(wrapped=True)),
            },
            columns={
                "measured": (ops, SeriesStyle(unit="iops")),
                "promised": (promised, SeriesStyle(unit="iops")),
                "share": (f"{ops} / {promised}", SeriesStyle(unit="percentunit")),
                "latency": (f"max {by} ({one(m.FIO_MEAN)})", SeriesStyle(unit="s")),
            },
            sort="share", width=16,
        ),
        graph(
            "Age of the results",
            "A disk changes: a result of last month says little. The timer measures once a day.",
            kind=KIND, unit="s", width=8, height=9, steps=((None, GREEN), (STALE_S, ORANGE)),
            targets=[
                series("age", one(m.FIO_AGE), f"{DISK} {{{{profile}}}}"),
            ],
        ),
        graph(
            "Credits that measuring spent", "Credits that all I/O on the disk spent during the measurement: at least and at most.",
            kind=KIND, unit="short", width=12,
            targets=[
                series("least", one(m.FIO_CREDITS, bound="least"), f"{DISK} {{{{profile}}}} at least"),
                series("most", one(m.FIO_CREDITS, bound="most"), f"{DISK} {{{{profile}}}} at most"),
            ],
        ),
        graph(
            "Latency that fio saw", "Of the newest result of each profile, in its slowest step: 99 of 100 operations took no longer.",
            kind=KIND, unit="s", width=12,
            targets=[
                series(
                    "p99",
                    f"max by (instance, device, profile) ({one(m.FIO_LATENCY, percentile='99')})",
                    f"{DISK} {{{{profile}}}}",
                )
            ],
        ),
    ]  # fmt: skip
