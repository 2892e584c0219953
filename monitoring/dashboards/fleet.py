"""*Fleet*: what runs out, when, and whether the monitor can be believed. CloudWatch."""

from grafana_foundation_sdk.builders.cloudwatch import MetricsQuery
from grafana_foundation_sdk.models import dashboard as dm

from burstwatch.aws.client.names import HEARTBEAT_METRIC, NAMESPACE
from burstwatch.config import Config
from burstwatch.ebs.watching_prices import METRIC_REQUEST
from monitoring.dashboards.cloudwatch import (
    EBS,
    KIND,
    deployment,
    insights,
    math,
    metric,
    region,
)
from monitoring.dashboards.parts import (
    BLUE,
    CALM,
    COLUMNS,
    DOUBLING_HEIGHT,
    DURATION,
    FLEET,
    GREEN,
    HOUR_MINUTES,
    MINUTE_S,
    NOBODY_LOOKS,
    NONE_IS_BEST,
    NONE_IS_WELL,
    ORANGE,
    PLAIN,
    PURPLE,
    RED,
    RESOURCE_BOARD,
    SOME_IS_WELL,
    TIME_LEFT,
    VOLUME,
    WELL,
    Nothing,
    Panel,
    SeriesStyle,
    board,
    data_source,
    episodes,
    graph,
    in_minutes,
    link,
    listing,
    number,
    transform,
)
from monitoring.dashboards.verdict import NONE_IS_NEAR, NOW, WORDS

MONTH_S = 30 * 86_400
#: The metric is published only while there is something to count.
NONE_TO_SHOW = Nothing(text="none", color=CALM)
RESOURCE = "${PROP('Dim.ResourceId')}"
#: A column with a time or a share, in pixels.
VALUE_WIDTH = 110
#: How many the graphs of the worst and the table of balances show, and that of what is in danger.
WORST, LISTED = 10, 100
WORST_HEIGHT = 12
VOLUME_URL = (
    f"/d/{VOLUME}?var-datasource=${{datasource}}&var-region=${{region}}&var-deployment=${{deployment}}&var-volume=${{__value.text}}"
    "&from=now-3h&to=now%2B1h"
)
TO_VOLUME = ("look at this volume", VOLUME_URL)
RESOURCE_URL = (
    f"/d/{RESOURCE_BOARD}?var-datasource=${{datasource}}&var-region=${{region}}&var-aws_region=${{region}}&var-deployment=${{deployment}}&var-resource=${{__value.text}}"
    "&from=now-12h&to=now"
)
TO_RESOURCE = ("look at this resource", RESOURCE_URL)
TO_RUNBOOK = ("what to do", f"{Config().runbooks_url}/resource-critical.md")
#: The counts of the fleet, without resources that are not watched.
COUNTS = {"seen": "ResourcesSeen", "exhausted": "ResourcesExhausted", "critical": "ResourcesCritical", "warning": "ResourcesWarning", "unknown": "ResourcesUnknown", "failed": "UnitsFailed"}  # fmt: skip
#: What stands behind the number of resources where all is well, and what stands there else.
WATCHED, NOT_CALM = (
    "suffix: resources watched, none in danger",
    "some in danger or unknown: see the table",
)
#: In the region that the console showed last: the variable may be "default".
CONSOLE = "https://console.aws.amazon.com/cloudwatch/home#"
#: Each unit, or shard of one, has a heartbeat of its own.
HEARTBEATS = f"SEARCH('{{{NAMESPACE},Deployment,Unit}} Deployment=\"$deployment\" MetricName=\"{HEARTBEAT_METRIC}\"', 'Sum', 300)"

ANNOTATIONS = (episodes(),)


def build() -> dm.Dashboard:
    """The dashboard."""
    return board(
        FLEET,
        "burstwatch / Fleet",
        "Which EBS volumes and instances run out of burst credits, how long is left, and whether "
        "the monitor can be believed.",
        variables=[
            data_source(KIND),
            region(),
            deployment(),
        ],
        links=[
            link("alarms", f"{CONSOLE}alarmsV2:?~(search~'/${{deployment}})"),
        ],
        rows=[
            ("Now", _now()),
            ("Worst first", _worst()),
            ("History", _history()),
            ("Lowest balances", _balances()),
            ("The monitor itself", _monitor()),
        ],
        closed={"Lowest balances", "The monitor itself"},
    )


def _now() -> list[Panel]:
    return [
        number(
            "Least time left",
            "For the resource that is likely to run out first, in the colour of its verdict. If sweeps complete and this is empty, no resource runs out at its present load.",
            kind=KIND, unit=DURATION, steps=TIME_LEFT, width=8, since=NOW, none=NONE_IS_NEAR,
            targets=[_fleet("least", "MinTimeToExhaustion", "Minimum")],
        ),
        number(
            "Exhausted",
            "Resources without credits, throttled to their baseline.",
            kind=KIND, unit="short", width=3, steps=NONE_IS_WELL, since=NOW, none=NOBODY_LOOKS,
            targets=[_fleet("exhausted", "ResourcesExhausted")],
        ),
        number(
            "Paging",
            "Resources with a critical verdict: likely to run out within their lead, and paged.",
            kind=KIND, unit="short", width=3, steps=NONE_IS_WELL, since=NOW, none=NOBODY_LOOKS,
            targets=[_fleet("paging", "ResourcesCritical")],
        ),
        number(
            "Warnings",
            "Resources that are likely to run out within twice the time at which they page.",
            kind=KIND, unit="short", width=3, steps=NONE_IS_BEST, since=NOW, none=NOBODY_LOOKS,
            targets=[_fleet("warnings", "ResourcesWarning")],
        ),
        number(
            "Unknown",
            "Resources that can't be judged: no data, a denied call, or a change that has no datapoint yet. Their alarms stay as they are until they are judged again.",
            kind=KIND, unit="short", width=3, steps=NONE_IS_BEST, since=NOW, none=NOBODY_LOOKS,
            targets=[_fleet("unknown", "ResourcesUnknown")],
        ),
        number(
            "Sweeps in 5 min",
            "Completed sweeps of all units in the last five minutes. The last minute may still be missing. No sweep means that nothing is watched.",
            kind=KIND, unit="short", steps=SOME_IS_WELL, since=NOW, none=Nothing(text="no sweep", color=RED),
            targets=[math("sweeps", f"SUM({HEARTBEATS})", label="sweeps", period_s=300)],
        ),
        number(
            "Overall", "Green while every account and region answers, each resource that is seen is judged, and none is in danger.",
            kind=KIND, unit=WATCHED, steps=((None, WELL),), width=COLUMNS, height=3, is_small=True, since=NOW,
            names={-1.0: (NOT_CALM, CALM)},
            targets=[
                *(_fleet(name, metric_name, hidden=True) for name, metric_name in COUNTS.items()),
                math("calm", f"IF({' + '.join(name for name in COUNTS if name != 'seen')} == 0, seen, -1)", label="calm"),
            ],
        ),
    ]  # fmt: skip


def _worst() -> list[Panel]:
    by_time = (
        f"SELECT AVG(TimeToExhaustion) FROM SCHEMA({NAMESPACE}, Deployment, Kind, ResourceId) "
        f"WHERE Deployment = '$deployment' GROUP BY ResourceId ORDER BY AVG() ASC LIMIT {LISTED}"
    )
    return [
        listing(
            "In danger",
            "What burstwatch warned of in the last 15 minutes, with its verdict and the time left that it expects. "
            "A time left is followed by its page, a verdict by its runbook. The end of an id names the credits: i-0123.cpu are the CPU credits of i-0123.",
            kind=KIND, unit="short", sort="time left", since=NOW, width=COLUMNS, height=WORST_HEIGHT,
            none="no warning",
            targets=[
                insights("left", by_time),
                # A call may have one such query.
                math("severity", f"SORT({_search('Severity', 'Maximum')}, MAX, DESC, {LISTED})", label=RESOURCE),
            ],
            texts={"resource": SeriesStyle(links=(TO_RESOURCE, TO_VOLUME))},
            columns={
                "verdict": SeriesStyle(names=WORDS, width=VALUE_WIDTH, links=(TO_RUNBOOK,)),
                "time left": SeriesStyle(unit=DURATION, width=VALUE_WIDTH),
            },
            transformations=[
                # Two reducers that mean the same here, so that the columns have names of their own.
                transform("reduce", of="severity", mode="seriesToRows", reducers=["last"]),
                transform("reduce", of="left", mode="seriesToRows", reducers=["lastNotNull"]),
                transform("joinByField", byField="Field", mode="outer"),
                transform(
                    "organize",
                    indexByName={"Last": 0, "Last *": 1, "Field": 2},
                    renameByName={"Last": "verdict", "Last *": "time left", "Field": "resource"},
                ),
            ],
        ),
    ]  # fmt: skip


def _balances() -> list[Panel]:
    # A SEARCH sorts the first 500 that it finds; this sorts 10,000.
    lowest = (
        f'SELECT MIN(BurstBalance) FROM SCHEMA("{EBS}", VolumeId) GROUP BY VolumeId '
        f"ORDER BY MIN() ASC LIMIT {WORST}"
    )
    return [
        listing(
            "Lowest balances",
            "The newest balance that AWS published for each volume in the last hour. A percentage is not a time: "
            "on 100 GiB of gp2, 20% last seven minutes at full burst, and for ever at a load under the baseline.",
            kind=KIND, unit="percent", sort="balance", since="1h", width=COLUMNS, height=WORST_HEIGHT,
            targets=[insights("lowest", lowest, period_s=300)],
            texts={"volume": SeriesStyle(links=(TO_VOLUME,))},
            columns={"balance": SeriesStyle(unit="percent", width=VALUE_WIDTH)},
            transformations=[
                transform("reduce", mode="seriesToRows", reducers=["lastNotNull"]),
                transform("organize", renameByName={"Field": "volume", "Last *": "balance"}),
            ],
        ),
    ]  # fmt: skip


def _history() -> list[Panel]:
    left = _search("TimeToExhaustion", "Average")
    return [
        graph(
            "Time left of the ten worst",
            "Likely time to exhaustion, for as long as burstwatch watches a resource closely. If a line ends, the resource is no longer in danger. "
            "Below the orange line somebody is paged, below the green one warned.",
            kind=KIND, unit="m", steps=in_minutes(TIME_LEFT), least=0.0, most=HOUR_MINUTES, height=DOUBLING_HEIGHT,
            targets=[math("left", f"SORT({left}, MIN, ASC, {WORST}) / {MINUTE_S:g}", label=RESOURCE)],
        ),
        graph(
            "Resources in danger",
            "How many are in which state. Warnings wake nobody; critical and exhausted page.",
            kind=KIND, unit="short", stacked=True, height=DOUBLING_HEIGHT,
            targets=[
                _fleet("exhausted", "ResourcesExhausted"),
                _fleet("critical", "ResourcesCritical"),
                _fleet("warning", "ResourcesWarning"),
            ],
            looks={"exhausted": SeriesStyle(color=PURPLE), "critical": SeriesStyle(color=RED), "warning": SeriesStyle(color=ORANGE)},
        ),
    ]  # fmt: skip


def _monitor() -> list[Panel]:
    # A period without a sweep has asked for nothing.
    per_month = f"FILL(requested, 0) / PERIOD(requested) * {MONTH_S} * {METRIC_REQUEST.value:.5f}"
    return [
        graph(
            "Coverage",
            "How many resources the sweeps see, and how many of them they cannot judge now.",
            kind=KIND, unit="short", width=8,
            targets=[_fleet("seen", "ResourcesSeen"), _fleet("unknown", "ResourcesUnknown")],
            looks={"seen": SeriesStyle(color=BLUE), "unknown": SeriesStyle(color=RED)},
        ),
        graph(
            "Age of the newest data",
            "For the resource with the oldest datapoints. Alarms come later by this time.",
            kind=KIND, unit="m", width=8, steps=((None, GREEN), (5.0, ORANGE), (15.0, RED)),
            targets=[
                _fleet("seconds", "DataAge", "Maximum", hidden=True),
                math("age", f"seconds / {MINUTE_S:g}", label="age"),
            ],
        ),
        graph(
            "Problems",
            "Parts of sweeps that failed, units that could not be read, and calls that AWS throttled. The function's log names them.",
            kind=KIND, unit="short", width=8, soft_most=1,
            targets=[
                _fleet("problems", "Problems"),
                _fleet("units", "UnitsFailed"),
                _fleet("throttled", "CallsThrottled"),
            ],
            looks={"units": SeriesStyle(color=RED), "problems": SeriesStyle(color=ORANGE), "throttled": SeriesStyle(color=BLUE)},
        ),
        graph(
            "Sweeps of each unit",
            "Completed in five minutes, by account and region. A line that has ended is a unit that nobody looks at.",
            kind=KIND, unit="short", width=8,
            targets=[math("sweeps", HEARTBEATS, label="${PROP('Dim.Unit')}", period_s=300)],
        ),
        graph(
            "Metrics requested",
            "By GetMetricData, which AWS bills by the metric.",
            kind=KIND, unit="short", width=6,
            targets=[_fleet("requested", "MetricsRequested", period_s=300)],
        ),
        number(
            "API cost a month",
            f"At the mean of the range shown, and at {METRIC_REQUEST.value * 1_000:g} USD per 1,000 metrics (list price). "
            "Alarms, the function and the dashboards are not included: `cdk synth` prints their price.",
            kind=KIND, unit="currencyUSD", steps=PLAIN, width=6, is_small=True, height=8, calculation="mean", decimals=2,
            targets=[
                _fleet("requested", "MetricsRequested", period_s=300, hidden=True),
                math("cost", per_month, label="USD a month", period_s=300),
            ],
        ),
        number(
            "Not watched",
            "Resources whose credits AWS does not publish, or whose limits it does not state: no alarm covers them. `burstwatch scan` says which and why. The metric exists only while there are some.",
            kind=KIND, unit="short", steps=NONE_IS_BEST, since=NOW, width=4, height=8, none=NONE_TO_SHOW, is_small=True,
            targets=[_fleet("not_watched", "ResourcesNotWatched")],
        ),
    ]  # fmt: skip


def _fleet(
    name: str, metric_name: str, statistic: str = "Sum", *, period_s: int = 60, hidden: bool = False
) -> MetricsQuery:
    """A metric of the whole deployment: units add up, for each publishes its own."""
    return metric(
        name, NAMESPACE, metric_name, statistic, {"Deployment": "$deployment"},
        label=name, period_s=period_s, hidden=hidden,
    )  # fmt: skip


def _search(metric_name: str, statistic: str) -> str:
    of_resources = f'{{{NAMESPACE},Deployment,Kind,ResourceId}} Deployment="$deployment"'
    return f"SEARCH('{of_resources} MetricName=\"{metric_name}\"', '{statistic}', 60)"
