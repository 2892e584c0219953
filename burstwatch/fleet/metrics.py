"""Declares every metric of `burstwatch serve` once: its name, kind, labels and what it says. The docs are made of this."""

from collections.abc import Sequence

from burstwatch.web.exposition import Definition, counter, gauge
from burstwatch.web.refusals import REFUSALS

UNIT = ("account_id", "region")
RESOURCE = (*UNIT, "kind", "resource_id", "name")
BUCKET = (*RESOURCE, "bucket")

BALANCE = gauge(
    "resource_balance_ratio",
    (*BUCKET, "bound"),
    "Share of the credits that is left, 0 to 1: the truth lies between low and high, and the time left is computed from likely. "
    "bucket is CloudWatch's metric of the balance. Absent while it is unknown.",
)
TIME_LEFT = gauge(
    "resource_time_to_exhaustion_seconds",
    (*BUCKET, "bound"),
    "Seconds until no credits are left, +Inf for never, as of the scrape: likely and low at the present demand, worst at full burst. Absent while it is unknown.",
)
CHANCE = gauge(
    "resource_run_out_chance_ratio",
    BUCKET,
    "How likely it is to run out within two hours, 0 to 1, as measured on recorded disks. Absent far from danger, without credits, and where no model was measured.",
)
DEMAND = gauge(
    "resource_demand_per_second",
    BUCKET,
    "Credits that the resource spends a second now. Absent where it was not asked for: far from danger it cannot change the verdict.",
)
LIMIT = gauge(
    "resource_limit_per_second",
    BUCKET,
    "Credits that can be spent a second at most: the burst, or less where its instance allows less.",
)
REFILL = gauge(
    "resource_refill_per_second",
    BUCKET,
    "Credits that the bucket gains each second: the baseline of the resource.",
)
DATA_AT = gauge(
    "resource_data_timestamp_seconds",
    BUCKET,
    "The end of the newest datapoint that the verdict rests on. Absent where AWS has published none.",
)
JUDGED_AT = gauge(
    "resource_judged_timestamp_seconds",
    BUCKET,
    "When AWS was last asked for the metrics of the resource. Far from danger that can be an hour ago.",
)
VERDICT = gauge(
    "resource_verdict",
    (*RESOURCE, "verdict"),
    "1 with the verdict of the resource, by its worst bucket: ok, watch, warning, critical, exhausted, unknown, not_watched.",
)
UNKNOWN = gauge(
    "resource_unknown_info",
    (*RESOURCE, "reason"),
    "1 with the reason, for a resource that is unknown or not watched. Numbers in the reason are N, so that it stays the same series.",
)

UNIT_UP = gauge(
    "unit_up",
    UNIT,
    "1 if the account and region answered at the last poll, and anything in it can be watched, else 0: what is known of it ends after five periods without an answer.",
)
UNIT_POLLED_AT = gauge(
    "unit_polled_timestamp_seconds", UNIT, "When the account and region last answered."
)
UNIT_SECONDS = gauge("unit_poll_duration_seconds", UNIT, "How long the last poll took.")
UNIT_PROBLEMS = gauge(
    "unit_problems",
    UNIT,
    "Parts of the last poll that failed. The log names each when it is new.",
)
UNIT_RESOURCES = gauge(
    "unit_resources", (*UNIT, "kind", "verdict"), "Number of resources by kind and verdict."
)
UNIT_LEFT_OUT = gauge(
    "unit_resources_left_out",
    UNIT,
    "Resources without series of their own, as the fleet has more than --max-resources. Those in the least danger are left out, and still counted in burstwatch_unit_resources.",
)
KIND_UNWATCHED = gauge(
    "unit_kind_unwatched_info",
    (*UNIT, "kind", "reason"),
    "1 with the reason, for a kind whose resources nobody watches: they cannot be listed, described or asked about.",
)
REQUESTED = counter(
    "unit_metrics_requested", UNIT, "Metrics that were requested from CloudWatch since the start."
)
REQUESTED_USD = counter(
    "unit_metrics_requested_usd", UNIT, "What these cost in USD, at the list price of us-east-1."
)
REFUSED = gauge(
    "unit_metrics_refused",
    UNIT,
    "Metrics that wait because budget_usd_per_month is used up. Their resources are unknown.",
)
CALLS = counter("unit_calls", UNIT, "Answers of AWS since the start, repeated calls among them.")
THROTTLED = counter(
    "unit_calls_throttled", UNIT, "Answers of AWS that asked for fewer calls since the start."
)
LISTED_AT = gauge(
    "units_listed_timestamp_seconds",
    (),
    "When the accounts and regions to poll were last listed in full (--all-units); absent where they are named by hand.",
)
BUILD_INFO = gauge("fleet_build_info", ("version",), "1, with the version of the program.")

#: Characters of a tag's name that a label may not have become an underscore.
_LABEL_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def label_of_tag(tag: str) -> str:
    """The label that holds the values of a tag, as YACE names it: ``tag_`` and the tag's name."""
    return "tag_" + "".join(char if char in _LABEL_CHARACTERS else "_" for char in tag)


def resource_info(tags: Sequence[str] = ()) -> Definition:
    """The metric that describes each resource, with a label for each of the chosen tags."""
    return gauge(
        "resource_info",
        (*RESOURCE, "resource_type", "place", *map(label_of_tag, tags)),
        "1 for each resource, with its type, where it is, and the tags of --tags.",
    )


#: Metrics of one resource, which `burstwatch scan --openmetrics` prints too.
OF_RESOURCE = (
    BALANCE, TIME_LEFT, CHANCE, DEMAND, LIMIT, REFILL, DATA_AT, JUDGED_AT, VERDICT, UNKNOWN,
)  # fmt: skip
OF_UNIT = (
    UNIT_UP, UNIT_POLLED_AT, UNIT_PROBLEMS, UNIT_RESOURCES, UNIT_LEFT_OUT, KIND_UNWATCHED,
)  # fmt: skip
OF_COST = (UNIT_SECONDS, REQUESTED, REQUESTED_USD, REFUSED, CALLS, THROTTLED)


def served_metrics(tags: Sequence[str] = ()) -> tuple[Definition, ...]:
    """Every metric of the endpoint, in the order of its page."""
    return (BUILD_INFO, LISTED_AT, REFUSALS, *OF_UNIT, *OF_COST, resource_info(tags), *OF_RESOURCE)


def scan_metrics() -> tuple[Definition, ...]:
    """Every metric of `burstwatch scan --openmetrics`."""
    return (*OF_UNIT, resource_info(), *OF_RESOURCE)
