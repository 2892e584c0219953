"""*Volume*: one volume's balance, where it goes, and what spends it. CloudWatch."""

from grafana_foundation_sdk.builders.cloudwatch import MetricsQuery
from grafana_foundation_sdk.models import dashboard as dm

from burstwatch.aws.client.names import LONGEST_S, TIME_METRIC
from burstwatch.ebs.prices import TABLE, price_in_table
from burstwatch.ebs.volume_types import GP3_FREE_IOPS, GP3_FREE_MIB_S
from burstwatch.fixes.prices import regions_of
from burstwatch.kinds.ebs_volume import KIND as EBS_VOLUME
from monitoring.dashboards.cloudwatch import (
    EBS,
    EC2,
    KIND,
    deployment,
    math,
    metric,
    region,
    values_of,
)
from monitoring.dashboards.parts import (
    BALANCE_PERCENT,
    BLUE,
    GREEN,
    NO_DATA,
    ORANGE,
    RED,
    TIME_LEFT,
    VOLUME,
    Panel,
    SeriesStyle,
    board,
    data_source,
    episodes,
    graph,
    number,
    words,
)
from monitoring.dashboards.verdict import BOUNDS, NOW, Verdict

MIB = 1_048_576
VERDICT = Verdict(kind=EBS_VOLUME.name, resource="$volume", steps=TIME_LEFT)
#: A projection is not drawn if it is older than the newest balance by more than this.
SAID_S = 600
#: The console shows the alarms whose names have the id, in the region that it showed last: the variable may be "default".
ALARM = "https://console.aws.amazon.com/cloudwatch/home#alarmsV2:?~(search~'$volume)"
ANNOTATIONS = (episodes("$volume"),)


def build() -> dm.Dashboard:
    """The dashboard. It reaches an hour ahead, for the balance is drawn on to where it goes."""
    return board(
        VOLUME,
        "burstwatch / Volume",
        "One volume: its balance and where it goes, how long is left, what would help, and what spends it.",
        variables=[
            data_source(KIND),
            region(),
            deployment(),
            values_of(
                "volume", "Volume", "The volume that is looked at.",
                namespace=EBS, metric_name="VolumeReadOps", dimension="VolumeId",
            ),
            values_of(
                "instance", "Instance", "The instance that the volume is attached to (Nitro only).",
                namespace=EBS, metric_name="VolumeIOPSExceededCheck", dimension="InstanceId",
                of={"VolumeId": "$volume"},
            ),
        ],
        time_from="now-3h",
        time_to="now+1h",
        rows=[("Now", _now()), ("How long is left", _left()), ("Fixes", [_fixes()]), ("Load", [*_load(), *_limits()])],
    )  # fmt: skip


def _now() -> list[Panel]:
    return [
        number(
            "Balance", "The newest BurstBalance that AWS has published. It publishes none for a volume that has no bucket or gets no I/O.",
            kind=KIND, unit="percent", steps=BALANCE_PERCENT, since=NOW, width=5, decimals=1, none=NO_DATA,
            targets=[_ebs("balance", "BurstBalance", "Minimum")],
        ),
        *VERDICT.tiles(width=5, state_width=4),
        number(
            "Queue length", "The length of the queue. It grows when more is asked for than is served.",
            kind=KIND, unit="short", steps=((None, GREEN), (8, ORANGE), (32, RED)), since=NOW, width=5, decimals=1,
            none=NO_DATA, targets=[_ebs("queue", "VolumeQueueLength", "Average")],
        ),
    ]  # fmt: skip


def _left() -> list[Panel]:
    # A minimum is reached at its period's end, when it falls.
    newest = "FILL(IF(balance >= 0, EPOCH(balance) + PERIOD(balance)), REPEAT)"
    return [
        graph(
            "Balance and forecast",
            "The balance that AWS has published, and the projection: likely, at the soonest and at the latest. The projection is there "
            "while burstwatch warns about the volume, if the time range of the dashboard ends in the future.",
            kind=KIND, unit="percent", most=100, steps=BALANCE_PERCENT, width=14, height=10,
            targets=[
                _ebs("balance", "BurstBalance", "Minimum"),
                math("newest", newest, hidden=True),
                math("level", "FILL(balance, REPEAT)", hidden=True),
                *(query for name, statistic in BOUNDS.items() for query in _ahead(name, statistic)),
            ],
            looks={
                "balance": SeriesStyle(color=BLUE),
                "soonest": SeriesStyle(color=RED, dashed=True),
                "likely": SeriesStyle(color=ORANGE, dashed=True),
                "latest": SeriesStyle(color=GREEN, hidden_line=True, fill_to="soonest"),
            },
        ),
        VERDICT.time_left(width=10),
    ]  # fmt: skip


def _fixes() -> Panel:
    """What may be done to any volume. How far it would help this one depends on its load, which its alarm has taken in."""
    usd = {name: _usd(name) for name in ("gp2", "gp3", "gp3_iops", "gp3_mib_s", "st1", "sc1")}
    return words(
        "What would help",
        "What may be done, in the order of how soon it works. The ranges are AWS's list prices a month over all regions.",
        f"If the volume is in danger, [its alarm]({ALARM}) says which of these helps at its load, with the price in its region and the "
        "command. So does `burstwatch explain $volume` in its region.\n\n"
        "- **Reduce the load**: under the baseline the credits come back.\n"
        f"- **Change gp2 to gp3**: {usd['gp3']} USD a GiB instead of {usd['gp2']}, {usd['gp3_iops']} for each IOPS over "
        f"{GP3_FREE_IOPS.value:,.0f} and {usd['gp3_mib_s']} for each MiB/s over {GP3_FREE_MIB_S.value:g}, works in minutes to hours. "
        "gp3 uses no credits.\n"
        f"- **Enlarge a gp2 volume**: {usd['gp2']} USD a GiB, works in minutes to hours. The baseline grows with each GiB.\n"
        f"- **Enlarge st1, or change sc1 to st1**: {usd['st1']} USD a GiB of st1, {usd['sc1']} of sc1, works in minutes to hours. "
        "The baseline grows with each GiB.",
    )


def _usd(name: str) -> str:
    """The least and the most that it costs in any region."""
    prices = [price_in_table(name_of_region, name) for name_of_region in regions_of(TABLE)]
    stated = [price for price in prices if price is not None]
    return f"{min(stated):.3f} to {max(stated):.3f}"


def _load() -> list[Panel]:
    ops, moved = (
        "(readOps + writeOps) / PERIOD(readOps)",
        "(readBytes + writeBytes) / PERIOD(readBytes)",
    )
    parts = [
        _ebs(name, metric_name, "Sum", hidden=True)
        for name, metric_name in (
            ("readOps", "VolumeReadOps"),
            ("writeOps", "VolumeWriteOps"),
            ("readBytes", "VolumeReadBytes"),
            ("writeBytes", "VolumeWriteBytes"),
        )
    ]
    return [
        graph(
            "Load",
            "gp2 counts I/O: its IOPS spend credits above the baseline. st1 and sc1 count MiB: their MiB/s do.",
            kind=KIND, unit="iops", width=12,
            targets=[
                *parts,
                math("iops", ops, label="IOPS"),
                math("mib", f"{moved} / {MIB}", label="MiB/s"),
            ],
            looks={
                "IOPS": SeriesStyle(color=BLUE),
                "MiB/s": SeriesStyle(color=GREEN, unit="MiBs", on_the_right=True, dashed=True),
            },
        ),
        graph(
            "Reads and writes", "Operations a second, counted when they are completed.",
            kind=KIND, unit="iops", width=6,
            targets=[
                *parts[:2],
                math("reads", "readOps / PERIOD(readOps)", label="reads"),
                math("writes", "writeOps / PERIOD(writeOps)", label="writes"),
            ],
            looks={"reads": SeriesStyle(color=BLUE), "writes": SeriesStyle(color=ORANGE)},
        ),
        graph(
            "Throughput", "Bytes a second, read and written.",
            kind=KIND, unit="binBps", width=6,
            targets=[
                *parts[2:],
                math("reads", "readBytes / PERIOD(readBytes)", label="reads"),
                math("writes", "writeBytes / PERIOD(writeBytes)", label="writes"),
            ],
            looks={"reads": SeriesStyle(color=BLUE), "writes": SeriesStyle(color=ORANGE)},
        ),
    ]  # fmt: skip


def _limits() -> list[Panel]:
    ops = [
        _ebs(name, metric_name, "Sum", hidden=True)
        for name, metric_name in (("readOps", "VolumeReadOps"), ("writeOps", "VolumeWriteOps"))
    ]
    return [
        graph(
            "Queue", "I/O that waits, on average over each minute.",
            kind=KIND, unit="short", width=6, targets=[_ebs("queue", "VolumeQueueLength", "Average", label="waiting I/O")],
        ),
        graph(
            "Latency", "Mean time that an operation took.",
            kind=KIND, unit="s", width=6,
            targets=[
                *ops,
                _ebs("readTime", "VolumeTotalReadTime", "Sum", hidden=True),
                _ebs("writeTime", "VolumeTotalWriteTime", "Sum", hidden=True),
                math("reads", "readTime / readOps", label="reads"),
                math("writes", "writeTime / writeOps", label="writes"),
            ],
            looks={"reads": SeriesStyle(color=BLUE), "writes": SeriesStyle(color=ORANGE)},
        ),
        graph(
            "Balances of the instance",
            "An instance has buckets for all its EBS traffic together. They are published for some sizes up to 4xlarge, and "
            "limit a volume whose own bucket is full. Shown is $instance.",
            kind=KIND, unit="percent", most=100, steps=BALANCE_PERCENT, width=6,
            targets=[
                metric("ops", EC2, "EBSIOBalance%", "Minimum", {"InstanceId": "$instance"}, label="I/O", period_s=300),
                metric("bytes", EC2, "EBSByteBalance%", "Minimum", {"InstanceId": "$instance"}, label="bytes", period_s=300),
            ],
            looks={"I/O": SeriesStyle(color=BLUE), "bytes": SeriesStyle(color=GREEN)},
        ),
        graph(
            "Limit exceeded",
            "1 in each minute in which AWS saw more asked for than the volume is provisioned with (Nitro only; AWS does not "
            "say whether a gp2's burst counts as provisioned).",
            kind=KIND, unit="short", most=1, width=6,
            targets=[
                math(name, _exceeded(metric_name), label=label)
                for name, label, metric_name in (
                    ("iops", "more IOPS", "VolumeIOPSExceededCheck"),
                    ("throughput", "more throughput", "VolumeThroughputExceededCheck"),
                )
            ],
            looks={"more IOPS": SeriesStyle(color=RED), "more throughput": SeriesStyle(color=ORANGE)},
        ),
    ]  # fmt: skip


def _ebs(
    name: str, metric_name: str, statistic: str, *, hidden: bool = False, label: str = ""
) -> MetricsQuery:
    dimensions = {"VolumeId": "$volume"}
    return metric(name, EBS, metric_name, statistic, dimensions, label=label or name, hidden=hidden)


def _ahead(name: str, statistic: str) -> list[MetricsQuery]:
    """The balance from the newest sweep on to where it is said to be 0.

    An EPOCH goes on to the end of the range, and so does what FILL repeats: CloudWatch has no
    function for the last value.
    """
    left, said, line = f"{name}Left", f"{name}Said", f"{name}Line"
    is_near = f"{left} < {LONGEST_S:g}"
    dry = f"({said} + FILL(IF({is_near}, {left}), REPEAT))"
    since = "(EPOCH(balance) - newest)"
    return [
        VERDICT.metric(left, TIME_METRIC, statistic, hidden=True),
        math(said, f"FILL(IF({is_near}, EPOCH({left})), REPEAT)", hidden=True),
        math(line, f"level * (1 - {since} / ({dry} - newest))", hidden=True),
        math(
            name,
            f"IF({since} > 0 AND (EPOCH(balance) - {said}) > 0 AND ({said} - newest) > -{SAID_S}, "
            f"IF({line} > 0, {line}, 0))",
            label=name,
        ),
    ]


def _exceeded(metric_name: str) -> str:
    terms = f'{{{EBS},InstanceId,VolumeId}} MetricName="{metric_name}" VolumeId="$volume"'
    return f"MAX(SEARCH('{terms}', 'Maximum', 60))"
