"""Collects the facts of a message about one resource. Text, chat and JSON are made from it.

Times are absolute, because an alarm is read later than it is written.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import quote

from burstwatch.config import SHOWN_AFTER_S, SHOWN_BEFORE_S
from burstwatch.fixes.fix import Fix, wait_fix
from burstwatch.forecast.chance import FORESIGHT_S, why_no_chance
from burstwatch.forecast.policy import Assessment
from burstwatch.forecast.projection import Projection
from burstwatch.formatting import (
    DAY,
    MINUTE,
    balance,
    clock_time,
    countdown,
    hour_of,
    number,
    percent,
    plain_name,
)
from burstwatch.history.background import Background
from burstwatch.history.observations import Resource, Verdict
from burstwatch.history.points import AT_LIMIT
from burstwatch.kinds._names import cluster_of, is_made_by_terraform, stack_of
from burstwatch.kinds.base import AtZero, Kind, RatesByMetric
from burstwatch.shards import thing_id

#: Of a bucket whose size and baseline are not known.
AT_ZERO_UNKNOWN = AtZero(short="throttled to the baseline")


@dataclass(frozen=True, kw_only=True, slots=True)
class Brief:
    """A resource with its assessment, and everything there is to say of them in short phrases.

    ``does`` says what happens to the credits, as what follows "orders-db: burst credits", and ``when``. ``chance`` says how
    sure that is. ``level`` is the balance. A phrase that is empty does not apply. ``metric_id`` is the resource's id in our metrics. ``console``
    and ``graph`` are addresses in AWS's console. ``ended_because`` says why nothing is in danger any more, if the credits
    did not come back. ``others`` are the ids of the other volumes of its array, if it stands for one.
    """

    resource: Resource
    assessment: Assessment
    metric_id: str
    does: str
    when: str
    between: str
    chance: str
    at_zero: AtZero
    fixes: tuple[Fix, ...]
    cause: str
    spenders: str
    credits: str
    level: str
    place: str
    data: str
    exceeded: str
    undone_by: str
    console: str
    graph: str
    ended_because: str = ""
    account_name: str = ""
    others: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict of the assessment."""
        return self.assessment.verdict

    @property
    def ids(self) -> tuple[str, ...]:
        """Its id, or those of all volumes of its array, in an order that stays."""
        return tuple(sorted([self.resource.id, *self.others]))

    @property
    def at(self) -> float:
        """The time of the assessment."""
        return self.assessment.projection.at

    @property
    def has_run_out(self) -> bool:
        """True if there are no credits left."""
        return self.assessment.projection.state == "exhausted"

    @property
    def is_running_out(self) -> bool:
        """True if the credits run out at the present load."""
        likely = self.assessment.projection.time_to_empty_s
        return likely is not None and 0 < likely < math.inf

    @property
    def left(self) -> str:
        """The time that is left at the present load, as ``17 min``; empty if that is none, unknown or more than a day."""
        likely = self.assessment.projection.time_to_empty_s
        return countdown(likely) if likely is not None and 0 < likely < DAY else ""

    @property
    def type(self) -> str:
        """What messages call the resource."""
        return self.resource.words.facts.get("type", self.resource.kind)

    @property
    def says(self) -> str:
        """What the credits do, and when."""
        return f"{self.resource.words.credit_name} {self.headline}"

    @property
    def headline(self) -> str:
        """What they do, and when, as what follows their name."""
        return f"{self.does} {self.when}"

    @property
    def numbers(self) -> dict[str, str]:
        """The projection's numbers for programs; what is not known or never comes is absent."""
        projection = self.assessment.projection
        numbers = {
            "as_of_s": projection.at,
            "time_to_empty_s": projection.time_to_empty_s,
            "low_s": projection.low_s,
            "high_s": projection.high_s,
            "worst_s": projection.worst_s,
            "data_age_s": projection.data_age_s,
        }
        finite = {
            name: f"{seconds:.1f}"
            for name, seconds in numbers.items()
            if seconds is not None and math.isfinite(seconds)
        }
        likely = self.assessment.chance
        chance = {} if likely is None else {"chance": f"{likely:.2f}"}
        return {"verdict": self.verdict, "state": projection.state, **finite, **chance}


def _why_resolved(resource: Resource) -> str:
    """Why a resource cannot run out any more, as the end of a sentence, or nothing."""
    if resource.terms.not_watched:
        return "cannot be watched any more"
    if resource.bucket is None:
        return f"has no {resource.words.credit_name} any more"
    return "" if resource.can_spend else "not in use any more"


def make_brief(
    resource: Resource,
    assessment: Assessment,
    kind: Kind,
    background: Background,
    *,
    metric_id: str = "",
    account_name: str = "",
) -> Brief:
    """The brief of one assessment. ``metric_id`` is the resource's id in metrics, if it has another one there.

    ``account_name`` is the name of its account, where that is known.
    """
    projection = assessment.projection
    fixes = _fixes(resource, projection, kind, background)
    does, when = _outlook(projection, background)
    return Brief(
        resource=resource,
        assessment=assessment,
        ended_because=_why_resolved(resource),
        metric_id=metric_id or resource.id,
        does=does,
        when=when,
        between=_between(resource, projection),
        chance=_chance(resource, assessment),
        at_zero=at_zero_of(resource, kind),
        fixes=fixes,
        cause=_cause(resource, projection, kind, background.rates),
        spenders=kind.spenders_of(resource),
        credits=_credits(projection, background) if resource.terms.has_share else "",
        level=_level(projection) if resource.terms.has_share else "",
        place=_place(resource, account_name),
        account_name=account_name,
        data=_data(projection),
        exceeded=_exceeded(background),
        undone_by=_undone_by(resource, fixes),
        console=console_link(kind, resource),
        graph=graph_link(kind, resource, projection.at),
    )


def of_array(volumes: Sequence[Brief]) -> Brief:
    """The brief of equal volumes of one host: that of the first, with the name of them all."""
    worst, *others = volumes
    if not others:
        return worst
    resource = worst.resource
    # It may be detached by now.
    instance_id = next(iter(resource.parents), "")
    device = resource.words.facts.get("device", "").rpartition("/")[2]
    host = resource.words.host.removesuffix(device).strip()
    named = f"{host} ({instance_id})" if host else instance_id
    return replace(
        worst,
        resource=replace(resource, name=f"{host or instance_id or thing_id(resource.id)} array"),
        place=f"of {named} in {unit_text(resource.unit, worst.account_name)}"
        if named
        else worst.place,
        others=tuple(other.resource.id for other in others),
    )


def at_zero_of(resource: Resource, kind: Kind) -> AtZero:
    """The rest that a resource has without credits."""
    return kind.at_zero(resource) if resource.terms.is_sized else AT_ZERO_UNKNOWN


def _outlook(projection: Projection, background: Background) -> tuple[str, str]:
    """What the credits do, as sure as the projection is, and when."""
    now = projection.at
    if projection.state == "exhausted":
        return "have run out", f"({_ran_out_at(background, now)})"
    if projection.state == "unknown":
        return "are unknown", f"({hour_of(now)})"
    return _expected(projection)


def _expected(projection: Projection) -> tuple[str, str]:
    """What is expected of credits that are left, and when."""
    now = projection.at
    likely, worst = projection.time_to_empty_s, projection.worst_s
    if likely is not None and math.isfinite(likely):
        if likely >= DAY:
            return "run out", f"in more than a day (as of {hour_of(now)})"
        return "run out", f"in {countdown(likely)} at this load ({hour_of(now + likely)})"
    soonest_s = min(
        (seconds for seconds in (projection.low_s, worst) if seconds is not None and seconds < DAY),
        default=None,
    )
    if soonest_s is None:
        return "are low", f"({hour_of(now)})"
    if soonest_s < MINUTE:
        return "may run out", f"any minute ({hour_of(now)})"
    return "may run out", f"by {hour_of(now + soonest_s)}"


def _ran_out_at(background: Background, now: float) -> str:
    """When the credits ran out, by their balance. Where it was zero as long as is known, it was before that."""
    since_s = background.empty_since_s
    if since_s is None:
        return hour_of(now)
    before = "before " if background.asked_before is None else ""
    return f"{before}{clock_time(since_s, now=now)}"


def _between(resource: Resource, projection: Projection) -> str:
    """The times at which they run out, with the load of each, where these are not all the same."""
    if projection.state != "finite":
        return ""
    now, demand = projection.at, projection.demand
    lowest = "at the latest"
    if demand is not None and number(demand.low) != number(demand.likely):
        lowest = f"at {number(demand.low)} {resource.words.rate_unit}"
    loads = {
        _time_of(projection.low_s, now): "at the earliest",
        _time_of(projection.time_to_empty_s, now): "at this load",
        _time_of(projection.high_s, now): lowest,
    }
    return ", ".join(f"{time} {load}" for time, load in loads.items()) if len(loads) > 1 else ""


def _time_of(seconds: float | None, now: float) -> str:
    """The clock time in so many seconds, if that is within a day."""
    if seconds is None or seconds >= DAY:
        return "not within a day"
    return clock_time(now + seconds, now=now)


def _chance(resource: Resource, assessment: Assessment) -> str:
    """How likely it is to run out, until when, or why nobody can say."""
    if assessment.projection.state == "exhausted":
        return ""
    if why_no_chance(resource):
        is_finite = assessment.projection.state == "finite"
        return f"never measured for these credits{'; the times hold if the load stays' if is_finite else ''}"
    if assessment.chance is None:
        return ""
    now = assessment.projection.at
    until, likely = clock_time(now + FORESIGHT_S, now=now), percent(assessment.chance)
    return f"{likely} to run out by {until}, counting that the load may stop"


def _fixes(
    resource: Resource, projection: Projection, kind: Kind, background: Background
) -> tuple[Fix, ...]:
    """Ask the kind what helps, for the load that drains it, or has; nothing while nothing drains it."""
    bucket, level, demand = resource.bucket, projection.level, projection.demand
    if projection.state == "unknown" and resource.changes.under_way:
        return (wait_fix(resource.changes.under_way),)
    if bucket is None or level is None or demand is None:
        return ()
    # Where only the high end of the expected demand drains it, a fix must serve that. What an
    # empty bucket serves is not what was asked for.
    needed = demand.likely if demand.likely > bucket.refill else demand.high
    if projection.state == "exhausted":
        before = background.asked_before
        needed = bucket.burst if before is None else max(before, demand.high)
    # The bucket's own rate may allow for what AWS does not say. Nothing serves more than the limit.
    needed = min(needed, resource.limit.rate)
    if needed <= bucket.refill:
        return ()
    return kind.what_helps(resource, level.likely * bucket.capacity, needed, background.rates)


def _cause(resource: Resource, projection: Projection, kind: Kind, rates: RatesByMetric) -> str:
    """Say what load the resource serves, and the limit that holds it back."""
    cause = kind.cause(resource, rates)
    if cause is None:
        return ""
    if projection.state == "exhausted":
        end = clock_time(projection.at - (projection.data_age_s or 0.0), now=projection.at)
        return f"{cause.text}, average of the 5 minutes to {end}"
    held = kind.limits.get(projection.binding)
    if projection.binding == resource.limit.binding and cause.rate < AT_LIMIT * resource.limit.rate:
        held = None  # it only would be, if there were more
    return f"{cause.text}{f', at the limit of {held}' if held else ''}"


def _exceeded(background: Background) -> str:
    """The limits that AWS says were exceeded in the last minutes, or nothing."""
    limits = [limit for limit, share in background.exceeded.items() if share > 0]
    return f"{' and '.join(limits)}, by AWS's own check" if limits else ""


def _credits(projection: Projection, background: Background) -> str:
    """How much is left, and how much there was when the drain began."""
    if projection.level is None:
        return ""
    share_left = f"{_level(projection)} left"
    if background.since_s is None or background.since_ratio is None:
        return share_left
    if projection.state == "infinite":
        return f"{share_left}, they run out only if the load returns"
    began, before = (
        clock_time(background.since_s, now=projection.at),
        balance(background.since_ratio),
    )
    return (
        share_left
        if before == _level(projection)
        else f"{share_left}, down from {before} at {began}"
    )


def _level(projection: Projection) -> str:
    """The balance in percent, or nothing."""
    return "" if projection.level is None else balance(projection.level.likely)


def unit_text(unit: str, account_name: str) -> str:
    """``123456789012 (prod)/us-east-1``: a unit with the name of its account, where that is known."""
    account, _, region = unit.partition("/")
    name = plain_name(account_name)
    return f"{account} ({name})/{region}" if name else unit


def _place(resource: Resource, account_name: str) -> str:
    """Device and host, the cluster, account and region, as far as they are known."""
    unit = unit_text(resource.unit, account_name)
    cluster = plain_name(cluster_of(resource.tags))
    place = ", ".join(filter(None, (resource.words.place, f"cluster {cluster}" if cluster else "")))
    return f"{place} in {unit}" if place else unit


def _undone_by(resource: Resource, fixes: Sequence[Fix]) -> str:
    """The stack, or the program, that may undo a change by hand, in a sentence; empty without one, or without a change."""
    stack = plain_name(stack_of(resource.tags))
    maker = f"the stack {stack}" if stack else ""
    if not stack and is_made_by_terraform(resource.tags):
        maker = "Terraform"
    if not maker or not any(fix.command for fix in fixes):
        return ""
    return f"{maker} made it and may undo a change by hand: change it there too"


def _data(projection: Projection) -> str:
    age = projection.data_age_s
    if age is None:
        return ""
    return f"data as of {clock_time(projection.at - age, now=projection.at)}"


#: AWS documents no public address for the consoles of its isolated partitions: no link there.
#: https://docs.aws.amazon.com/general/latest/gr/aws-service-information.html (2026-11)
DOMAINS = {"cn-": "console.amazonaws.cn", "us-gov-": "console.amazonaws-us-gov.com"}
WITHOUT_LINK = ("us-iso", "eu-isoe", "eusc-")


def console_link(kind: Kind, resource: Resource) -> str:
    """The address of the resource's page; empty where the partition's console is not known."""
    path = kind.console.format(region=resource.region, id=quote(thing_id(resource.id), safe=""))
    return _address(resource.region, path)


def graph_link(kind: Kind, resource: Resource, at: float) -> str:
    """The address of CloudWatch's graph of the level around ``at``.

    AWS does not document this form: it is what the console's own "copy link" gives.
    """
    metric = [kind.namespace, resource.level_metric or kind.level_metrics[0]]
    metric += [text for pair in kind.dimensions_of(resource) for text in pair]
    begin, last = (
        f"{datetime.fromtimestamp(seconds, tz=UTC):%Y-%m-%dT%H:%M:%SZ}"
        for seconds in (at - SHOWN_BEFORE_S, at + SHOWN_AFTER_S)
    )
    graph = (
        f"~(metrics~(~({''.join(map(_text, metric))}))~view~'timeSeries~stacked~false"
        f"~region{_text(resource.region)}~stat{_text(resource.reporting.statistic)}~period~60"
        f"~start{_text(begin)}~end{_text(last)})"
    )
    return _address(
        resource.region, f"cloudwatch/home?region={resource.region}#metricsV2:graph={graph}"
    )


def _address(region: str, path: str) -> str:
    if region.startswith(WITHOUT_LINK):
        return ""
    domain = next((host for start, host in DOMAINS.items() if region.startswith(start)), None)
    return f"https://{domain or 'console.aws.amazon.com'}/{path}"


def _text(value: str) -> str:
    """A text in the console's own notation: what is no letter, digit, dot or hyphen as ``*`` and hex."""
    return "~'" + "".join(
        c if c.isascii() and (c.isalnum() or c in "._-") else f"*{ord(c):02x}" for c in value
    )
