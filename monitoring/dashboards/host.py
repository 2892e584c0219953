"""*Host*: what the exporter knows of one host's disks, and how sure it is. Prometheus."""

from grafana_foundation_sdk.builders import dashboard as d
from grafana_foundation_sdk.models import dashboard as dm

from burstwatch.web.exposition import Definition
from burstwatch_exporter.page import metrics as m
from monitoring.dashboards.host_measured import log_page, measured
from monitoring.dashboards.parts import (
    BALANCE,
    BLUE,
    CALM,
    DOUBLING_HEIGHT,
    DURATION,
    GREEN,
    HOST,
    HOST_WIDTH,
    ID_WIDTH,
    LEAST_MINUTES,
    MINUTE_S,
    MOST_MINUTES,
    NOBODY_LOOKS,
    NONE_IS_WELL,
    ORANGE,
    PURPLE,
    RED,
    SOME_IS_WELL,
    Nothing,
    Panel,
    SeriesStyle,
    Steps,
    board,
    data_source,
    graph,
    in_minutes,
    number,
    query_variable,
)
from monitoring.dashboards.prometheus import (
    DISK,
    HOSTS,
    KIND,
    compared,
    now,
    one,
    rate,
    series,
    values_of,
)

BY_BUCKET = "instance, volume_id, device, bucket"
#: Seconds left from which the rules make an alert critical, and from which a warning. The mixin's own settings do not reach here.
CRITICAL_S, WARNING_S = 3_600.0, 21_600.0
LEFT: Steps = ((None, RED), (CRITICAL_S, ORANGE), (WARNING_S, GREEN))
#: How many disks the graphs show, those that run out first. The last is more than an instance can have.
SHOWN = ("5", "10", "20", "all : 1000")

#: The alerts of the host's disks, while they fire.
ANNOTATIONS = (
    {
        "name": "Alerts",
        "datasource": {"type": KIND, "uid": "${datasource}"},
        "enable": True,
        "iconColor": RED,
        "expr": 'ALERTS{alertname=~"Burstwatch.*",alertstate="firing",instance=~"$instance"}',
        "step": "60s",
        "titleFormat": "{{alertname}}",
        "textFormat": "{{device}}",
    },
)


def build() -> dm.Dashboard:
    """The dashboard."""
    return board(
        HOST,
        "burstwatch / Host",
        "The disks of one host: the range of each balance, how long the credits last, and what was measured.",
        variables=[
            data_source(KIND),
            values_of("job", "Job", "The scrape job of the exporter.", metric=m.BUILD_INFO.printed),
            values_of(
                "instance", "Host", "The host to show. Disks of different hosts can have the same name.",
                metric=m.BUILD_INFO.printed, matching='job=~"$job"',
            ),
            d.CustomVariable("most").label("Disks").description("So many disks are shown, those that run out first.")
            .values(",".join(SHOWN)).current(dm.VariableOption(text=SHOWN[0], value=SHOWN[0])),
            query_variable(
                "device", "Device", "The disks that are looked at.", kind=KIND, several=True,
                query={"query": f"query_result({_nearest()})", "qryType": 3, "refId": "the disks that run out first"},
            ).regex('/device="([^"]+)"/').sort(dm.VariableSort.DISABLED),
        ],
        time_from="now-3h",
        closed=("Network", "What EBS says (NVMe log page)", "Measured", "Exporter health"),
        rows=[
            ("Now", _now()),
            ("Worst first", _worst()),
            ("How long is left", _times()),
            ("Credits of each disk", _credits()),
            ("I/O", _moved()),
            ("Network", _network()),
            ("What EBS says (NVMe log page)", log_page()),
            ("Measured", measured()),
            ("Exporter health", _exporter()),
        ],
    )  # fmt: skip


def _nearest() -> str:
    """The disks that were nearest to running out in the range that is shown; those without a time stand behind all others."""
    likely = one(m.EXHAUSTION, of=HOSTS, bound="likely")
    nearest = f"min by (device) (min_over_time({likely}[$__range]))"
    every = f"min by (device) (last_over_time({one(m.VOLUME_INFO, of=HOSTS)}[$__range]))"
    return f"bottomk($most, {nearest} or {every} * Inf)"


def _now() -> list[Panel]:
    likely = one(m.EXHAUSTION, of=HOSTS, bound="likely")
    return [
        number(
            "Least time left", "Of the disk that is likely to run out first.",
            kind=KIND, unit=DURATION, steps=LEFT, none=Nothing(text="none runs out", color=CALM),
            targets=[now("left", f"min({likely} < Inf)", "time left")],
        ),
        number(
            "Out within 1 h", "Disks that are likely to run out within an hour at the demand of the last minutes.",
            kind=KIND, unit="short", steps=NONE_IS_WELL, none=NOBODY_LOOKS,
            targets=[now("dry", f"sum({likely} < bool 3600)", "disks")],
        ),
        number(
            "Exhausted", "Disks without credits, throttled to their baseline.",
            kind=KIND, unit="short", steps=NONE_IS_WELL, none=NOBODY_LOOKS,
            targets=[now("exhausted", f"sum({one(m.STATE, of=HOSTS, state='exhausted')})", "disks")],
        ),
        number(
            "At the baseline", "A hint that a bucket is empty, and no proof: an instance's limit, a snapshot that is read or a "
            "cgroup look the same.",
            kind=KIND, unit="short", steps=((None, GREEN), (1, ORANGE)),
            targets=[now("held", f"sum({one(m.HINT, of=HOSTS)})", "disks")],
        ),
        number(
            "Widest interval", "The widest interval that a balance lies in, as a share of the bucket. It narrows with time, and by what CloudWatch publishes.",
            kind=KIND, unit="percentunit", steps=((None, GREEN), (0.5, ORANGE)), decimals=0,
            targets=[
                now(
                    "width",
                    f"max({one(m.BALANCE, of=HOSTS, bound='high')} - ignoring(bound) {one(m.BALANCE, of=HOSTS, bound='low')})",
                    "width",
                )
            ],
        ),
        number(
            "Exporter up", "Whether the exporter was scraped. What is not scraped is not watched.",
            kind=KIND, unit="short", steps=SOME_IS_WELL, none=Nothing(text="not scraped", color=RED),
            targets=[now("up", f"count({one(m.BUILD_INFO, of=HOSTS)})", "exporter")],
        ),
    ]  # fmt: skip


def _worst() -> list[Panel]:
    def least(selector: str) -> str:
        return f"min by ({BY_BUCKET}) ({selector})"

    return [
        compared(
            "Disks with a bucket",
            "Time left at the demand of the last minutes; the balance lies between its two columns. The baseline is in IOPS (credits "
            "of io) or MiB/s (credits of throughput). If the time is missing, the balance is too uncertain to give one.",
            labels={
                "instance": ("host", SeriesStyle(width=HOST_WIDTH)),
                "device": ("device", SeriesStyle(width=90)),
                "volume_id": ("volume", SeriesStyle(width=ID_WIDTH)),
                "bucket": ("credits of", SeriesStyle(width=100)),
            },
            columns={
                "time left": (least(one(m.EXHAUSTION, of=HOSTS, bound="likely")), SeriesStyle(steps=LEFT, unit=DURATION)),
                "at the soonest": (least(one(m.EXHAUSTION, of=HOSTS, bound="low")), SeriesStyle(unit=DURATION)),
                "balance from": (least(one(m.BALANCE, of=HOSTS, bound="low")), SeriesStyle(unit="percentunit")),
                "balance to": (least(one(m.BALANCE, of=HOSTS, bound="high")), SeriesStyle(unit="percentunit")),
                "baseline": (least(one(m.REFILL, of=HOSTS)), SeriesStyle()),
                "full in": (least(one(m.FULL, of=HOSTS)), SeriesStyle(unit=DURATION)),
            },
            sort="time left", width=24,
        )
    ]  # fmt: skip


def _credits() -> list[Panel]:
    """A band for each disk: with all of them in one picture nobody can tell whose a line is."""
    return [
        graph(
            "Balance of $device",
            "The real balance lies in the band, however EBS merges and splits I/O. The dashed line is the balance from CloudWatch.",
            kind=KIND, unit="percentunit", most=1, steps=BALANCE, width=24, repeat="device",
            targets=[
                series("high", one(m.BALANCE, bound="high"), "at most"),
                series("likely", one(m.BALANCE, bound="likely"), "likely"),
                series("low", one(m.BALANCE, bound="low"), "at least"),
                series("published", one(m.PUBLISHED), "published"),
            ],
            looks={
                "at most": SeriesStyle(color=BLUE, fill_to="at least"),
                "likely": SeriesStyle(color=GREEN),
                "at least": SeriesStyle(color=BLUE),
                "published": SeriesStyle(color=PURPLE, dashed=True),
            },
        ),
        graph(
            "Charged I/O of $device",
            "Credits spent a second: the least (EBS merges all I/O) and the most (EBS merges none). *Baseline* is what comes in, *burst* is what "
            "can be spent. Above the baseline the bucket drains.",
            kind=KIND, unit="short", label="credits/s", width=24, repeat="device",
            targets=[
                series("most", rate(m.CHARGED, bound="most"), "at most"),
                series("least", rate(m.CHARGED, bound="least"), "at least"),
                series("refill", one(m.REFILL), "baseline"),
                series("burst", one(m.BURST), "burst"),
            ],
            looks={
                "at most": SeriesStyle(color=BLUE, fill_to="at least"),
                "at least": SeriesStyle(color=BLUE),
                "baseline": SeriesStyle(color=ORANGE, dashed=True),
                "burst": SeriesStyle(color=RED, dashed=True),
            },
        ),
    ]  # fmt: skip


def _times() -> list[Panel]:
    def minutes(metric: str) -> str:
        """In minutes, where it is under a day."""
        return f"({metric} < 86400) / {MINUTE_S:g}"

    return [
        graph(
            "Time left", "At the demand of the last minutes, if it is under a day: likely, and the shortest possible (from the lowest possible balance). "
            "Each step of the axis is twice the one before.",
            kind=KIND, unit="m", steps=in_minutes(LEFT), doubling=True, least=LEAST_MINUTES, most=MOST_MINUTES, height=DOUBLING_HEIGHT,
            targets=[
                series("likely", minutes(one(m.EXHAUSTION, bound="likely")), f"{DISK} likely"),
                series("low", minutes(one(m.EXHAUSTION, bound="low")), f"{DISK} soonest"),
            ],
            looks={"/ soonest$/": SeriesStyle(dashed=True)},
        ),
        graph(
            "Time left at full burst, and until full",
            "Nothing empties a bucket faster than full burst. *Until full* is there only if less is spent than comes in, and the time is under a day. "
            "Each step of the axis is twice the one before.",
            kind=KIND, unit="m", doubling=True, least=LEAST_MINUTES, most=MOST_MINUTES, height=DOUBLING_HEIGHT,
            targets=[
                series("worst", minutes(one(m.EXHAUSTION, bound="worst")), f"{DISK} at full burst"),
                series("full", minutes(one(m.FULL)), f"{DISK} until full"),
            ],
            looks={"/ until full$/": SeriesStyle(dashed=True)},
        ),
    ]  # fmt: skip


def _moved() -> list[Panel]:
    return [
        graph(
            "Operations", "Reads and writes a second, and the most that type and size give.",
            kind=KIND, unit="iops",
            targets=[
                series("reads", rate(m.READ_OPS), f"{DISK} reads"),
                series("writes", rate(m.WRITE_OPS), f"{DISK} writes"),
                series("limit", one(m.LIMIT_OPS), f"{DISK} limit"),
            ],
            looks={"/ limit$/": SeriesStyle(color=RED, dashed=True)},
        ),
        graph(
            "Throughput", "Bytes a second, and the most that type and size give.",
            kind=KIND, unit="binBps",
            targets=[
                series("reads", rate(m.READ_BYTES), f"{DISK} reads"),
                series("writes", rate(m.WRITE_BYTES), f"{DISK} writes"),
                series("limit", one(m.LIMIT_BYTES), f"{DISK} limit"),
            ],
            looks={"/ limit$/": SeriesStyle(color=RED, dashed=True)},
        ),
    ]  # fmt: skip


def _network() -> list[Panel]:
    def all_interfaces(metric: Definition) -> str:
        return f"sum by (instance) ({rate(metric, of=HOSTS)})"

    return [
        graph(
            "Network", "Bytes a second over all interfaces of ENA, and what the instance's type sustains in each direction. Above that it "
            "spends credits, which AWS does not publish.",
            kind=KIND, unit="binBps", width=8,
            targets=[
                series("received", all_interfaces(m.NET_RECEIVED), "in"),
                series("sent", all_interfaces(m.NET_SENT), "out"),
                series("baseline", one(m.NET_BASELINE, of=HOSTS), "baseline"),
            ],
            looks={"baseline": SeriesStyle(color=ORANGE, dashed=True)},
        ),
        graph(
            "Throttled packets", "Packets a second that were queued or dropped because the instance was above an allowance of its network.",
            kind=KIND, unit="pps", width=8,
            targets=[series("exceeded", f"sum by (allowance) ({rate(m.NET_EXCEEDED, of=HOSTS)})", "{{allowance}}")],
        ),
        graph(
            "Credits of the network", "An estimate of what is left, learned from a burst that has ended. Until then there is none.",
            kind=KIND, unit="percentunit", width=8, most=1, steps=BALANCE,
            targets=[series("balance", one(m.NET_BALANCE, of=HOSTS), "{{direction}}")],
        ),
    ]  # fmt: skip


def _exporter() -> list[Panel]:
    return [
        graph(
            "Sources", "1 if the last read of the source had no problem, else 0. The exporter's log names the problem.",
            kind=KIND, unit="short", width=8, most=1, label="up",
            targets=[series("up", f"min by (source) ({one(m.SOURCE_UP, of=HOSTS)})", "{{source}}")],
        ),
        graph(
            "How long reading took", "For each source, on the slowest host.",
            kind=KIND, unit="s", width=8,
            targets=[series("seconds", f"max by (source) ({one(m.SOURCE_SECONDS, of=HOSTS)})", "{{source}}")],
        ),
        graph(
            "Difference from CloudWatch",
            "How far CloudWatch's balance is outside the range that the exporter had for that moment, as a share of the bucket (0: inside). If it "
            "is large for long, the stated type or size is wrong.",
            kind=KIND, unit="percentunit", width=8, least=None, soft_most=0.1,
            targets=[series("drift", one(m.DRIFT), DISK)],
        ),
    ]  # fmt: skip
