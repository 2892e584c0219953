"""*Fleet (Prometheus)*: the fleet as `burstwatch serve` sees it, for a shop that has no Lambda of ours."""

from grafana_foundation_sdk.models import dashboard as dm

from burstwatch.config import Config
from burstwatch.fleet import metrics as m
from monitoring.dashboards.parts import (
    BLUE,
    CALM,
    COLUMNS,
    DOUBLING_HEIGHT,
    DURATION,
    FLEET_PROMETHEUS,
    GREEN,
    HOUR_MINUTES,
    ID_WIDTH,
    MINUTE_S,
    NOBODY_LOOKS,
    NONE_IS_BEST,
    NONE_IS_WELL,
    ORANGE,
    PLAIN,
    PURPLE,
    RED,
    SOME_IS_WELL,
    TIME_LEFT,
    WELL,
    Nothing,
    Panel,
    SeriesStyle,
    board,
    data_source,
    graph,
    in_minutes,
    number,
)
from monitoring.dashboards.prometheus import (
    KIND,
    compared,
    now,
    one,
    rate,
    series,
    values_of,
)
from monitoring.dashboards.verdict import WORDS

TO_RUNBOOK = ("what to do", f"{Config().runbooks_url}/resource-critical.md")
UNITS = 'job=~"$job",account_id=~"$account_id",region=~"$region"'
RESOURCES = f'{UNITS},kind=~"$kind"'
IDENTITY = "account_id, region, kind, resource_id, name"
NAMED = "{{name}} {{resource_id}}"
UNIT = "{{account_id}} {{region}}"
MONTH_S = 30 * 86_400
#: How many the graphs of the worst show, and the table.
WORST, LISTED = 10, 50
#: Verdicts of which somebody should know.
NOT_CALM = "~exhausted|critical|warning|unknown"
#: A column with a time or a share, in pixels.
VALUE_WIDTH = 110

#: The alerts of the fleet, while they fire.
ANNOTATIONS = (
    {
        "name": "Alerts",
        "datasource": {"type": KIND, "uid": "${datasource}"},
        "enable": True,
        "iconColor": RED,
        "expr": 'ALERTS{alertname=~"Burstwatch.*",alertstate="firing",account_id=~"$account_id",region=~"$region"}',
        "step": "60s",
        "titleFormat": "{{alertname}}",
        "textFormat": NAMED,
    },
)


def build() -> dm.Dashboard:
    """The dashboard."""
    return board(
        FLEET_PROMETHEUS,
        "burstwatch / Fleet (Prometheus)",
        "Which resources run out of burst credits, how long is left, and whether the monitor can be believed.",
        variables=[
            data_source(KIND),
            values_of("job", "Job", "The scrape job of `burstwatch serve`.", metric=m.BUILD_INFO.printed),
            values_of(
                "account_id", "Account", "The accounts to show.",
                metric=m.UNIT_UP.printed, matching='job=~"$job"', several=True,
            ),
            values_of(
                "region", "Region", "The regions to show.",
                metric=m.UNIT_UP.printed, matching='job=~"$job",account_id=~"$account_id"', several=True,
            ),
            values_of(
                "kind", "Kind", "The kinds of credits to show.",
                metric=m.VERDICT.printed, matching=UNITS, several=True,
            ),
        ],
        rows=[
            ("Now", _now()),
            ("Worst first", _worst()),
            ("History", _history()),
            ("Balances, demand, and why a resource is unknown", _details()),
            ("The monitor itself", _monitor()),
        ],
        closed={"Balances, demand, and why a resource is unknown", "The monitor itself"},
    )  # fmt: skip


def _now() -> list[Panel]:
    likely = one(m.TIME_LEFT, of=RESOURCES, bound="likely")
    return [
        number(
            "Least time left", "For the resource that is likely to run out next, in the colour of its verdict.",
            kind=KIND, unit=DURATION, steps=TIME_LEFT, width=8, none=Nothing(text="none is draining", color=CALM),
            targets=[now("left", f"min({likely} > 0 < Inf) or min({likely} < Inf)", "time left")],
        ),
        number(
            "Exhausted", "Resources without credits, held to their baseline.",
            kind=KIND, unit="short", width=3, steps=NONE_IS_WELL, none=NOBODY_LOOKS,
            targets=[now("exhausted", _counted("exhausted"), "resources")],
        ),
        number(
            "Paging", "Resources that somebody is paged for: they run out before the lead is over.",
            kind=KIND, unit="short", width=3, steps=NONE_IS_WELL, none=NOBODY_LOOKS,
            targets=[now("critical", _counted("critical"), "resources")],
        ),
        number(
            "Warnings", "Resources that may run out within twice that time. They wake nobody.",
            kind=KIND, unit="short", width=3, steps=NONE_IS_BEST, none=NOBODY_LOOKS,
            targets=[now("warning", _counted("warning"), "resources")],
        ),
        number(
            "Unknown", "Resources that are unknown: no data, a refused call, or a change that has no datapoint yet.",
            kind=KIND, unit="short", width=3, steps=NONE_IS_BEST, none=NOBODY_LOOKS,
            targets=[now("unknown", _counted("unknown"), "resources")],
        ),
        number(
            "Answering", "The accounts and regions that answered at the last poll. What does not answer is not watched.",
            kind=KIND, unit="short", steps=SOME_IS_WELL, none=Nothing(text="not scraped", color=RED),
            targets=[now("up", f"sum({one(m.UNIT_UP, of=UNITS)})", "units")],
        ),
        number(
            "Overall", "Green while every account and region answers, each resource that is seen is judged, and none is in danger.",
            kind=KIND, unit="suffix: resources watched, none in danger", steps=((None, WELL),), width=COLUMNS, height=3, is_small=True,
            none=Nothing(text="some in danger or unknown: see the table", color=CALM),
            targets=[now("calm", f"{_counted('~.+')} unless on () ({_counted(NOT_CALM)}) > 0 unless on () sum({one(m.UNIT_UP, of=UNITS)} == bool 0) > 0", "resources")],
        ),
    ]  # fmt: skip


def _worst() -> list[Panel]:
    def least(bound: str) -> str:
        return f"min by ({IDENTITY}) ({one(m.TIME_LEFT, of=RESOURCES, bound=bound)})"

    listed = f"bottomk({LISTED}, {least('likely')})"
    balance = f"min by ({IDENTITY}) ({one(m.BALANCE, of=RESOURCES, bound='likely')})"
    severity = " or ".join(
        f"{number:g} * max by ({IDENTITY}) ({one(m.VERDICT, of=RESOURCES, verdict=word)})"
        for number, (word, _) in sorted(WORDS.items(), reverse=True)
    )
    return [
        compared(
            "Resources by time left",
            "The verdict, the likely time left at the present demand and at full burst, and the balance. A verdict is followed by its runbook.",
            labels={
                "name": ("name", SeriesStyle(wrapped=True)),
                "account_id": ("account", SeriesStyle(width=130)),
                "region": ("region", SeriesStyle(width=130)),
                "kind": ("type", SeriesStyle(wrapped=True)),
                "resource_id": ("resource", SeriesStyle(width=ID_WIDTH)),
            },
            columns={
                "verdict": (f"({severity}) and {listed}", SeriesStyle(names=WORDS, width=VALUE_WIDTH, links=(TO_RUNBOOK,))),
                "time left": (listed, SeriesStyle(unit=DURATION, width=VALUE_WIDTH)),
                "at full burst": (f"{least('worst')} and {listed}", SeriesStyle(unit=DURATION, width=VALUE_WIDTH)),
                "balance": (f"{balance} and {listed}", SeriesStyle(unit="percentunit", width=VALUE_WIDTH)),
            },
            first=("verdict", "time left"), sort="time left", width=COLUMNS, height=12,
        ),
    ]  # fmt: skip


def _history() -> list[Panel]:
    likely = one(m.TIME_LEFT, of=RESOURCES, bound="likely")
    worst_ten = f"bottomk({WORST}, min by ({IDENTITY}) ({likely}) < Inf)"
    return [
        graph(
            "Time left of the ten worst",
            "Likely time to exhaustion of those that drain, of the next hour. Below the orange line somebody is paged, below the green one warned.",
            kind=KIND, unit="m", steps=in_minutes(TIME_LEFT), least=0.0, most=HOUR_MINUTES, height=DOUBLING_HEIGHT, none="none is draining",
            targets=[series("left", f"{worst_ten} / {MINUTE_S:g}", NAMED)],
        ),
        graph(
            "Resources in danger", "How many are in which state. Warnings wake nobody; critical and exhausted page.",
            kind=KIND, unit="short", stacked=True, height=DOUBLING_HEIGHT,
            targets=[series(verdict, _counted(verdict), verdict) for verdict in ("exhausted", "critical", "warning")],
            looks={"exhausted": SeriesStyle(color=PURPLE), "critical": SeriesStyle(color=RED), "warning": SeriesStyle(color=ORANGE)},
        ),
    ]  # fmt: skip


def _details() -> list[Panel]:
    demand = one(m.DEMAND, of=RESOURCES)
    return [
        graph(
            "Lowest balances", "The likely balance of the ten lowest, as a share of the bucket.",
            kind=KIND, unit="percentunit", shades=True, most=1.0,
            targets=[series("lowest", f"bottomk({WORST}, min by ({IDENTITY}) ({one(m.BALANCE, of=RESOURCES, bound='likely')}))", NAMED)],
        ),
        graph(
            "Demand over the baseline", "Credits spent a second for each that comes in, of the ten highest. Over 1 a bucket drains.",
            kind=KIND, unit="short", shades=True, steps=((None, GREEN), (1.0, ORANGE)),
            targets=[series("demand", f"topk({WORST}, max by ({IDENTITY}) ({demand} / {one(m.REFILL, of=RESOURCES)}))", NAMED)],
        ),
        compared(
            "Why a resource is unknown",
            "Each resource that cannot be judged or is not watched, with the reason.",
            labels={
                "account_id": ("account", SeriesStyle()),
                "region": ("region", SeriesStyle()),
                "name": ("name", SeriesStyle(wrapped=True)),
                "resource_id": ("resource", SeriesStyle(width=ID_WIDTH)),
                "reason": ("reason", SeriesStyle(wrapped=True)),
            },
            columns={
                "of the kind": (
                    f"count by (account_id, region, name, resource_id, reason) ({one(m.UNKNOWN, of=RESOURCES)})",
                    SeriesStyle(width=VALUE_WIDTH),
                )
            },
            sort="reason", width=COLUMNS, height=8,
        ),
    ]  # fmt: skip


def _monitor() -> list[Panel]:
    by_unit = "account_id, region"
    return [
        graph(
            "Coverage", "How many resources are seen, and how many of them cannot be judged now.",
            kind=KIND, unit="short", width=8,
            targets=[
                series("seen", f"sum({one(m.UNIT_RESOURCES, of=RESOURCES)})", "seen"),
                series("unknown", _counted("unknown"), "unknown"),
            ],
            looks={"seen": SeriesStyle(color=BLUE), "unknown": SeriesStyle(color=RED)},
        ),
        graph(
            "Since the last answer", "Of each account and region. After five periods its resources are unknown.",
            kind=KIND, unit="s", width=8,
            targets=[series("age", f"time() - max by ({by_unit}) ({one(m.UNIT_POLLED_AT, of=UNITS)})", UNIT)],
        ),
        graph(
            "Problems", "Parts of polls that failed, accounts and regions that did not answer, and calls that AWS throttled in a minute. The log names them.",
            kind=KIND, unit="short", width=8, soft_most=1,
            targets=[
                series("problems", f"sum({one(m.UNIT_PROBLEMS, of=UNITS)})", "problems"),
                series("units", f"sum({one(m.UNIT_UP, of=UNITS)} == bool 0)", "do not answer"),
                series("throttled", f"60 * sum({rate(m.THROTTLED, of=UNITS)})", "throttled"),
            ],
            looks={"do not answer": SeriesStyle(color=RED), "problems": SeriesStyle(color=ORANGE), "throttled": SeriesStyle(color=BLUE)},
        ),
        graph(
            "Metrics requested", "By GetMetricData, which AWS bills by the metric: so many an hour.",
            kind=KIND, unit="short", width=8,
            targets=[series("requested", f"3600 * sum by ({by_unit}) ({rate(m.REQUESTED, of=UNITS)})", UNIT)],
        ),
        number(
            "API cost a month", "At the mean of the range shown, and at the list price. Nothing else of `burstwatch serve` is billed by AWS.",
            kind=KIND, unit="currencyUSD", steps=PLAIN, width=8, height=8, decimals=2, is_small=True,
            calculation="mean", targets=[series("cost", f"{MONTH_S} * sum({rate(m.REQUESTED_USD, of=UNITS)})", "USD a month")],
        ),
        number(
            "Not watched", "Resources whose credits AWS does not publish, or whose limits it does not state: no alert covers them.",
            kind=KIND, unit="short", steps=NONE_IS_BEST, width=8, height=8,
            targets=[now("not_watched", _counted("not_watched"), "resources")],
        ),
    ]  # fmt: skip


def _counted(verdict: str) -> str:
    """The number of resources with a verdict; 0 where resources are seen and none has it."""
    seen = f"sum({one(m.UNIT_RESOURCES, of=RESOURCES)})"
    return f"sum({one(m.UNIT_RESOURCES, of=RESOURCES, verdict=verdict)}) or 0 * {seen}"
