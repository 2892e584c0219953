"""Declares the JSON that commands print: every field once, and which document has which.

One name is one thing in all documents. Times are in seconds, moments in seconds since 1970, rates per second, shares
from 0 to 1. A number that is not known, or "never", is null. `burstwatch catalog --schema` is made from here.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import burstwatch
from burstwatch.cli.output import to_json

#: Grows when a field changes its name or its meaning; a new field leaves it.
SCHEMA = 1

FieldType: TypeAlias = Literal["number", "text", "truth", "texts", "object", "objects"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """One field: the type of its value, which may be null, and what it means."""

    type: FieldType
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One document: the command that prints it, when, and the names of its fields beside those of all documents."""

    command: str
    when: str
    fields: tuple[str, ...]


def _fields(type_: FieldType, **texts: str) -> dict[str, Field]:
    return {name: Field(type=type_, text=text) for name, text in texts.items()}


FIELDS: Mapping[str, Field] = {
    **_fields(
        "number",
        schema="the version of this schema",
        at="the moment that the document is about, in seconds since 1970",
        balance="how full the bucket is, from 0 to 1; null where AWS does not publish its size",
        balance_lowest="the lowest balance",
        balance_lowest_afterwards="the lowest balance that the same load would have left after the fix",
        time_to_empty_s="how long until the credits have likely run out; null is never",
        low_s="the earlier end of the range of time_to_empty_s",
        high_s="the later end of the range of time_to_empty_s",
        worst_s="how long until the credits have run out at full burst; null is never",
        chance="how likely it is to run out within two hours, from 0 to 1; null far from that, without credits, and where nobody can say",
        time_to_full_s="how long until the bucket is full at the present load",
        refill_from_empty_s="how long an empty bucket takes to fill without load",
        data_age_s="how old the newest datapoint is",
        size_gib="the size of the volume or file system",
        baseline="what is earned, in rate_unit; in a what-if in credit_unit a second",
        burst="the highest rate while there are credits, in rate_unit; in a what-if in credit_unit a second",
        capacity="the size of the bucket in credit_unit",
        limit_rate="the highest rate that is served, in rate_unit",
        limit_mib_s="the highest throughput",
        limit_mib_s_when_empty="the highest throughput without credits",
        io_kib="the size of one operation",
        served_iops="the operations that are served",
        served_mib_s="the throughput that is served",
        served_iops_when_empty="the operations that are served without credits",
        served_mib_s_when_empty="the throughput that is served without credits",
        opened_at="when the first alarm came",
        paged_at="when somebody was paged",
        empty_at="when the bucket was first empty",
        refilled_at="when the bucket was no longer empty; null if it was empty at the end",
        closed_at="when the episode ended; null while it is open",
        at_zero_s="how long the bucket was empty",
        lasted_s="how long the episode lasted",
        lead_s="how long before the empty bucket the first page came, or the alarm without a page",
        history_s="how much of the past was read",
        days="how many days of the past were read",
        needed="the highest rate that was needed, in rate_unit",
        mean="the mean rate, in rate_unit",
        rate_afterwards="the rate that the fix gives, in rate_unit",
        run_out_count="how often the credits ran out; an empty bucket at the beginning is not counted",
        run_out_s="how long the bucket was empty in all, also at the beginning",
        run_out_last_at="when the credits last ran out; null if they never did, or only the load is known",
        run_out_count_afterwards="how often they would have run out after the fix",
        page_count="how often somebody would have been paged",
        warned_in_time_count="at how many of them the page alarm was on one lead before",
        usd_month="what it costs a month, in USD",
        usd_hour="what a change costs in an hour of the load, in USD, if it costs only while the load lasts",
        usd_month_afterwards="what it costs a month after the fix, in USD",
        charged_credits="the surplus credits that AWS has charged for in that time; null where it publishes none",
        charged_usd="their price in USD; null where it is not known",
        charged_usd_month="the price of as many in a month, in USD",
        charged_s="how long that time was",
        usd_month_if_full="what asking costs a month if every bucket is full, in USD",
        usd_month_after_free_tier="what it costs a month after AWS's free tier, in USD",
        resource_count="how many resources",
        metrics_month="how many metrics are asked for in a month",
        out_of_reach_count="how many have a full bucket that lasts less than the margin",
        quantity="how many of what AWS bills",
        events="how many run-outs the policies are scored on",
        announced="the share of the run-outs whose page alarm was on one lead before",
        paged_in_time="the share of the run-outs with a page at most two hours and at least one lead before",
        needless_per_week="false pages for each volume and week",
        precision="the share of the pages outside incidents that were not false",
        one_page="the share of the run-outs with exactly one page alarm",
        warned="the share of the pages that had an alarm 30 minutes before",
        needless_warnings_per_week="false alarms for each volume and week",
        in_alarm="the share of the time with the page alarm on",
        right_pages="pages that were followed by a run-out",
        needless_pages="pages that were not",
        volume_weeks="how long was played, in weeks of one volume",
        fast_events="run-outs of buckets that empty faster than a page can come",
        fast_lead_s="the median of their leads",
        left_s="what a full burst leaves from the alarm until the bucket is empty; below 0 it is empty before",
        took_s="how long the step took",
    ),
    **_fields(
        "text",
        version="the version of burstwatch",
        document="which of the documents below it is",
        account="the AWS account; null where there is none",
        region="the AWS region; null where there is none or where there are several",
        id="the id of the resource",
        name="its name as people know it, or the name of a file",
        kind="its kind, as in `burstwatch catalog`",
        thing="what is left: stack, alarm, log group, queue or tag",
        remove_with="the command that removes it",
        type="its type and size for people",
        volume_type="the type of the volume, such as gp2",
        instance_id="the instance that it is attached to",
        instance_type="the type of that instance",
        device="the device that it is attached as",
        zone="the availability zone",
        balance_metric="CloudWatch's metric of its balance",
        verdict="ok, watch, warning, critical, exhausted, unknown or not_watched",
        state="finite, infinite, exhausted, idle, unknown or not_applicable: what the balance does",
        reason="why, for people",
        binding="what sets the limit",
        at_zero="what happens without credits",
        access="random or sequential",
        rate_unit="the unit of rates",
        credit_unit="the unit of credits",
        fix="a change after which it would not happen again",
        console="a link to CloudWatch",
        finding="what the past shows",
        action="what to do",
        effect="what that does",
        takes="how long it takes",
        command="the commands that do it",
        cost_line="a line of the bill",
        watches="what the alarm watches",
        result="how it ended",
        check="what was looked at",
        detail="what was seen, for people",
        todo="what to do about it",
        step="the step of the drill",
        view="how the policies see the recording",
        group="the group of recordings",
        scenario="how the recording was changed",
    ),
    **_fields(
        "truth",
        is_estimate="true if AWS does not publish the size",
        is_censored="true if more may have been asked for than was served",
        lead_is_at_most="true if the episode is open, so that the lead is an upper bound",
    ),
    **_fields(
        "texts",
        caveats="what could not be learned of it",
        notes="what of a recording was taken for what; empty for a resource of the account",
        doubts="what in a recording contradicts itself or the resource, or may be wrong",
        cloudformation="the lines for CloudFormation",
        terraform="the lines for Terraform",
    ),
    **_fields(
        "object",
        exceeded="the share of time in which each limit was exceeded, by the limit",
        best_fix="the change that serves the load",
        last="the last moment",
        policies="the totals of each policy",
        settings="every setting by its name",
    ),
    **_fields(
        "objects",
        pages="the moments at which somebody would have been paged",
        changes="the moments at which the verdict changed",
        fixes="what would have helped at the last page",
        alternatives="other changes that serve the load",
        trials="the score of each recording",
        run_out="when the bucket was empty, each with its beginning and end",
    ),
}

_MOMENT = (
    "data_age_s", "balance", "time_to_empty_s", "low_s", "high_s", "worst_s", "chance", "state", "verdict", "reason",
)  # fmt: skip
_FIX = ("action", "effect", "takes", "usd_month", "usd_hour", "command")
#: The fields of the objects that stand in a field. Those of ``exceeded`` are limits in words, and those of ``settings`` settings.
OBJECTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("pages", "changes", "last"), ("at", *_MOMENT)),
    **dict.fromkeys(("fixes", "best_fix", "alternatives"), _FIX),
    "run_out": ("empty_at", "refilled_at"),
    "trials": ("name", "group", "scenario", "policies"),
}
#: The figures of each policy in ``policies``. ``lead_s`` is an object there: the lead by its quantile.
FIGURES = (
    "events", "announced", "paged_in_time", "needless_per_week", "precision", "one_page", "warned",
    "needless_warnings_per_week", "in_alarm", "right_pages", "needless_pages", "volume_weeks", "lead_s", "fast_events",
    "fast_lead_s",
)  # fmt: skip
COMMON = ("schema", "version", "document", "account", "region", "at")
_WHATIF = (
    "kind", "state", "reason", "baseline", "burst", "capacity", "credit_unit", "time_to_empty_s", "worst_s",
    "time_to_full_s", "refill_from_empty_s", "limit_mib_s", "limit_mib_s_when_empty", "binding", "io_kib", "access",
    "served_iops", "served_mib_s", "served_iops_when_empty", "served_mib_s_when_empty", "at_zero", "is_estimate",
)  # fmt: skip
_IDENTITY = ("id", "name", "kind")

DOCUMENTS: Mapping[str, Document] = {
    "resource": Document(
        command="scan",
        when="one in a line for each resource, the worst first",
        fields=(
            *_IDENTITY, "type", "volume_type", "size_gib", "baseline", "burst", "rate_unit", "instance_id", "instance_type",
            "device", "zone", "balance_metric", "verdict", "reason", "state", "balance",
            "time_to_empty_s", "low_s", "high_s", "worst_s", "chance", "time_to_full_s", "data_age_s", "binding", "limit_rate", "caveats",
            "charged_credits", "charged_usd_month",
        ),
    ),
    "past": Document(
        command="scan --past",
        when="one in a line for each resource with credits",
        fields=(
            *_IDENTITY, "type", "days", "page_count", "run_out_count", "warned_in_time_count", "run_out_s", "balance_lowest",
            "pages", "run_out",
        ),
    ),
    "cost": Document(
        command="scan --cost",
        when="one in a line for each type of resource",
        fields=("type", "resource_count", "metrics_month", "usd_month", "usd_month_if_full", "out_of_reach_count"),
    ),
    "cost_line": Document(
        command="scan --cost",
        when="one in a line for each line of the deployment's own bill, and last `all` with the metric requests in it",
        fields=("cost_line", "quantity", "usd_month", "usd_month_after_free_tier"),
    ),
    "moment": Document(command="explain --every-period", when="one in a line for each period", fields=_MOMENT),
    "story": Document(
        command="explain",
        when="one",
        fields=(*_IDENTITY, "notes", "doubts", "pages", "run_out", "changes", "last", "exceeded", "fixes"),
    ),
    "whatif": Document(command="whatif", when="one", fields=_WHATIF),
    "advice": Document(
        command="advise",
        when="one in a line for each resource, the worst first",
        fields=(
            *_IDENTITY, "type", "history_s", "finding", "needed", "mean", "rate_unit", "is_censored", "run_out_count",
            "run_out_s", "run_out_last_at", "balance_lowest", "time_to_empty_s", "exceeded", "charged_credits",
            "charged_usd", "charged_usd_month", "charged_s", "usd_month", "usd_month_afterwards", "best_fix",
            "alternatives", "cloudformation", "terraform", "run_out_count_afterwards", "balance_lowest_afterwards",
            "baseline", "rate_afterwards", "notes", "doubts",
        ),
    ),
    "alarm": Document(
        command="audit-alarms",
        when="one in a line for each alarm of the account on credits",
        fields=("id", "name", "watches", "result", "reason", "left_s"),
    ),
    "episode": Document(
        command="episodes",
        when="one in a line for each episode",
        fields=(
            *_IDENTITY, "verdict", "opened_at", "paged_at", "empty_at", "closed_at", "lasted_s", "lead_s", "lead_is_at_most",
            "at_zero_s", "balance_lowest", "fix", "console",
        ),
    ),
    "finding": Document(
        command="doctor",
        when="one in a line for each check; account and region are null, so that it can be shown to others",
        fields=("check", "result", "detail", "todo"),
    ),
    "leftover": Document(
        command="cleanup",
        when="one in a line for each thing that is still there",
        fields=("thing", "name", "remove_with"),
    ),
    "step": Document(
        command="drill",
        when="one in a line for each step, as soon as it ends",
        fields=("step", "result", "took_s", "detail"),
    ),
    "scores": Document(
        command="backtest", when="one", fields=("view", "lead_s", "policies", "trials")
    ),
    "settings": Document(command="catalog --settings", when="one", fields=("settings",)),
}  # fmt: skip


#: The type of a value as JSON Schema says it. Each may be null.
_TYPES: Mapping[FieldType, dict[str, Any]] = {
    "number": {"type": ["number", "null"]},
    "text": {"type": ["string", "null"]},
    "truth": {"type": ["boolean", "null"]},
    "texts": {"type": ["array", "null"], "items": {"type": "string"}},
    "object": {"type": ["object", "null"]},
    "objects": {"type": ["array", "null"], "items": {"type": "object"}},
}


def json_schema() -> dict[str, Any]:
    """The JSON Schema of one line: what it may have, by its field ``document``."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"burstwatch --json, schema {SCHEMA}",
        "oneOf": [
            {
                "title": f"burstwatch {document.command}",
                "description": document.when,
                "type": "object",
                "properties": {field: _property(field) for field in (*COMMON, *document.fields)}
                | {"schema": {"const": SCHEMA}, "document": {"const": name}},
                "required": [*COMMON],
                "additionalProperties": False,
            }
            for name, document in DOCUMENTS.items()
        ],
    }


def _property(name: str) -> dict[str, Any]:
    """One field, with those of the objects in it."""
    field = FIELDS[name]
    schema = {"description": field.text, **_TYPES[field.type]}
    if name == "policies":
        figures = {one: {"description": FIELDS[one].text} for one in FIGURES}
        return schema | {"additionalProperties": {"type": "object", "properties": figures, "additionalProperties": False}}  # fmt: skip
    if name not in OBJECTS:
        return schema
    inner = {
        "type": "object",
        "properties": {one: _property(one) for one in OBJECTS[name]},
        "additionalProperties": False,
    }
    return schema | ({"items": inner} if field.type == "objects" else inner | {"type": ["object", "null"]})  # fmt: skip


def as_document(
    name: str,
    body: Mapping[str, Any],
    *,
    at: float,
    account: str | None = None,
    region: str | None = None,
) -> str:
    """One document as a line of JSON: what all have, and its own ``body``.

    Raises:
        KeyError: for a field that the document does not declare, which is a mistake of ours.
    """
    _check_declared(name, body, {*DOCUMENTS[name].fields, *COMMON})
    for field, fields in OBJECTS.items():
        value = body.get(field)
        for part in [value] if isinstance(value, Mapping) else value or ():
            _check_declared(f"{field} of {name}", part, {*fields})
    for figures in body.get("policies", {}).values():
        _check_declared(f"policies of {name}", figures, {*FIGURES})
    head = {
        "schema": SCHEMA,
        "version": burstwatch.__version__,
        "document": name,
        "account": account,
        "region": region,
        "at": at,
    }
    return to_json({**head, **body})


def _check_declared(where: str, value: Mapping[str, Any], fields: AbstractSet[str]) -> None:
    undeclared = value.keys() - fields
    if undeclared:
        msg = f"{where} does not declare {', '.join(sorted(undeclared))}"
        raise KeyError(msg)


def place_of_unit(unit: str) -> dict[str, str | None]:
    """The account and the region of a unit such as ``123456789012/eu-central-1``."""
    account, _, region = unit.partition("/")
    return {"account": account or None, "region": region or None}
