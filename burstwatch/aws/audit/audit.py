"""Judges the account's own alarms on credits: which can never fire, which fire too late, which say nothing new.

Nothing is changed. An alarm is judged by its own definition, by who hears it, by the resource that it watches, and by
what its metric was in the last days.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

from burstwatch.aws.audit.definitions import CreditAlarm, Watched, credit_alarm, read_definitions
from burstwatch.aws.audit.listeners import Listeners
from burstwatch.aws.client.pace import Pace
from burstwatch.aws.client.session import NEVER, Clients
from burstwatch.aws.inventory.inventory import take_inventory
from burstwatch.aws.inventory.listings import ItemListing
from burstwatch.aws.look.metrics import read_metrics
from burstwatch.bucket import DAY_S, worst_time_to_empty
from burstwatch.config import Config
from burstwatch.forecast.margins import margins_of
from burstwatch.formatting import balance, span
from burstwatch.history.observations import Resource
from burstwatch.history.points import COARSE_S
from burstwatch.history.track import EMPTY_RATIO
from burstwatch.kinds.base import Kind
from burstwatch.owner_tags import read_owner_tags
from burstwatch.shards import Problem

#: The result for one alarm, what is to be mended first at the front.
AuditResult: TypeAlias = Literal[
    "cannot fire",
    "never fired",
    "tells nobody",
    "too late",
    "only money",
    "never near",
    "doubled",
    "useful",
    "not judged",
]
MEND_FIRST: tuple[AuditResult, ...] = get_args(AuditResult)
#: Days whose levels are looked at; a level that stayed above this share was never near any alarm.
LOOK_BACK_DAYS, NEVER_NEAR = 14, 0.95
#: A result, its reason, and what a full burst leaves.
AuditJudgement: TypeAlias = tuple[AuditResult, str, float | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditedAlarm:
    """One alarm with its result and the reason in words.

    ``left_s`` is what a full burst leaves from the moment it fires until the bucket is empty, None where that is not
    known; less than 0 where the bucket is empty before.
    """

    name: str
    resource_id: str
    watches: str
    result: AuditResult
    why: str
    left_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What is known of an alarm besides its definition.

    ``resources`` are the buckets of the resource that it names, ``is_listed_whole`` if every one of its kind could be
    listed. ``values`` are the lowest values of its metric in the last days, None where they could not be read.
    ``why_nobody`` says why nobody hears it, and ``has_unclear_rule`` if a composite alarm that could tell of it has a rule
    that is not understood here. ``has_own`` if burstwatch has alarms in the account.
    """

    resources: Sequence[Resource]
    is_listed_whole: bool
    values: Sequence[float] | None
    why_nobody: str
    has_own: bool
    has_unclear_rule: bool = False

    def resource_of(self, metric: str) -> Resource | None:
        """The bucket that has this metric as its level, else any of the resource."""
        same = (resource for resource in self.resources if resource.level_metric == metric)
        return next(same, next(iter(self.resources), None))


def audit_alarms(
    clients: Clients, kinds: Sequence[Kind], *, now: float
) -> tuple[list[AuditedAlarm], list[Problem]]:
    """Audit every alarm on credits, with what could not be read.

    Raises:
        AwsError: if the alarms cannot be listed.
    """
    definitions = read_definitions(clients)
    found = [credit_alarm(definition, kinds) for definition in definitions.metric]
    alarms = [alarm for alarm in found if alarm is not None]
    listeners = Listeners(clients, definitions.composite)
    by_values, whole, problems = _resources(clients, kinds, alarms, now=now)
    values, failed = _values(clients, alarms, now=now)
    audited = []
    for alarm in alarms:
        of_kind = alarm.kind.name if alarm.kind else ""
        seen = Seen(
            resources=by_values.get((of_kind, _in_order(alarm)), ()),
            is_listed_whole=of_kind in whole,
            values=None if alarm.watched is None else values.get(alarm.watched.query.key),
            why_nobody=listeners.why_nobody(alarm.definition),
            has_unclear_rule=listeners.has_unclear_rule(alarm.definition),
            has_own=definitions.has_own,
        )
        audited.append(judge_alarm(alarm, seen))
    problems += [*failed, *listeners.problems]
    return sorted(audited, key=lambda entry: (MEND_FIRST.index(entry.result), entry.name)), problems


def _in_order(alarm: CreditAlarm) -> tuple[str, ...]:
    """The values of the dimensions of an alarm on one resource, in the order of its kind."""
    if alarm.kind is None or alarm.watched is None:
        return ()
    value_by_name = dict(alarm.watched.dimensions)
    return tuple(value_by_name[name] for name in alarm.kind.dimensions)


def _resources(
    clients: Clients, kinds: Sequence[Kind], alarms: Sequence[CreditAlarm], *, now: float
) -> tuple[dict[tuple[str, tuple[str, ...]], list[Resource]], set[str], list[Problem]]:
    """The resources of the kinds that alarms name, by kind and dimensions; the kinds that were listed whole, and what failed."""
    listed: ItemListing = {}
    problems: list[Problem] = []
    whole: set[str] = set()
    by_values: dict[tuple[str, tuple[str, ...]], list[Resource]] = {}
    for kind in kinds:
        if not any(alarm.kind is kind for alarm in alarms):
            continue
        inventory = take_inventory(kind, clients, clients.unit(), now=now, listed=listed)
        problems += inventory.problems
        whole |= {kind.name} if inventory.complete and not inventory.refused else set()
        for resource in inventory.resources:
            values = tuple(value for _, value in kind.dimensions_of(resource))
            by_values.setdefault((kind.name, values), []).append(resource)
    return by_values, whole, problems


def _values(
    clients: Clients, alarms: Sequence[CreditAlarm], *, now: float
) -> tuple[dict[tuple[str, str], list[float]], list[Problem]]:
    """The lowest values of each alarm's metric in the last days, absent where they could not be read; and what failed."""
    queries = [alarm.watched.query for alarm in alarms if alarm.watched is not None]
    answers = read_metrics(
        clients,
        list(dict.fromkeys(queries)),
        start_s=now - LOOK_BACK_DAYS * DAY_S,
        end_s=now,
        period_s=int(COARSE_S),
        deadline=NEVER,
        pace=Pace(),
    )
    values = {key: [value for _, value in series] for key, series in answers.series.items()}
    return values, answers.problems


def judge_alarm(alarm: CreditAlarm, seen: Seen) -> AuditedAlarm:
    """Judge one alarm by the chain that it is: its metric, its resource, its condition, and who hears it."""
    result, why, left_s = _judged(alarm, seen)
    return AuditedAlarm(
        name=alarm.name,
        resource_id=alarm.watched.place if alarm.watched else "several metrics",
        watches=alarm.watches,
        result=result,
        why=why,
        left_s=left_s,
    )


def _judged(alarm: CreditAlarm, seen: Seen) -> AuditJudgement:
    """The first link of the chain that is missing, or when the alarm fires."""
    watched = alarm.watched
    if watched is None and seen.why_nobody:
        return _unheard(seen)
    if watched is None:
        return "not judged", "it watches an expression, and not the level of one resource", None
    if alarm.kind is None:
        return _of_another_metric(alarm, watched, seen)
    resource = seen.resource_of(watched.metric)
    if resource is None and not seen.is_listed_whole:
        return "not judged", "what it watches could not be listed", None
    if resource is None and seen.values:
        why = f"AWS does not list what it watches, and published its level in the last {LOOK_BACK_DAYS} days"
        return "not judged", why, None
    return (
        _cannot_fire(alarm, resource)
        or _never_fired(alarm, alarm.kind, resource, seen)
        or _says_little(alarm, watched, resource, seen)
        or _by_time(alarm, alarm.kind, resource, seen)
    )


def _unheard(seen: Seen) -> AuditJudgement:
    """Judge an alarm that nobody is known to hear: a rule that is not understood may still tell somebody."""
    return "not judged" if seen.has_unclear_rule else "tells nobody", seen.why_nobody, None


def _of_another_metric(alarm: CreditAlarm, watched: Watched, seen: Seen) -> AuditJudgement:
    """Judge an alarm on a metric that is no level of one resource, by whether there is any such metric."""
    names = " and ".join(name for name, _ in watched.dimensions) or "no dimension"
    if seen.values is None:
        return "not judged", "its metric could not be read", None
    if not seen.values:
        meant = f"; AWS has {alarm.meant}" if alarm.meant else ""
        why = f"{watched.namespace} has had no {watched.metric} with {names} in {LOOK_BACK_DAYS} days{meant}"
        return "cannot fire", why, None
    if seen.why_nobody:
        return _unheard(seen)
    if alarm.is_charge:
        return "only money", "it tells that AWS charges for surplus credits", None
    return "not judged", f"it watches a metric of {names}, and not the level of one resource", None


def _cannot_fire(alarm: CreditAlarm, resource: Resource | None) -> AuditJudgement | None:
    """Tell why an alarm can never fire, if it cannot."""
    if resource is None:
        if alarm.definition.get("TreatMissingData") == "breaching":
            why = "what it watches is gone, or has no credits, and without data it is in ALARM"
            return "not judged", why, None
        return "cannot fire", "what it watches is gone, or has no credits", None
    if resource.terms.not_watched:
        return "not judged", resource.terms.not_watched, None
    if resource.bucket is None:
        return "cannot fire", resource.terms.no_bucket_reason, None
    least = 0.0 if alarm.definition["ComparisonOperator"] == "LessThanThreshold" else -1e-9
    if alarm.fires_below and alarm.threshold is not None and alarm.threshold <= least:
        return "cannot fire", "the level is never under 0", None
    return None


def _never_fired(
    alarm: CreditAlarm, kind: Kind, resource: Resource | None, seen: Seen
) -> AuditJudgement | None:
    """Tell of an alarm that was silent while its bucket was empty, if it was."""
    if resource is None or not seen.values or not alarm.fires_below or alarm.threshold is None:
        return None
    if alarm.watched is None or resource.level_metric != alarm.watched.metric:
        return None  # in Unlimited mode its level is what it owes
    empty = [kind.to_ratio(resource, value) <= EMPTY_RATIO for value in seen.values]
    times = sum(now and not before for before, now in pairwise([False, *empty]))
    if not times or any(map(alarm.crosses, seen.values)):
        return None
    ran_out = "once" if times == 1 else f"{times} times"
    why = (
        f"in {LOOK_BACK_DAYS} days it ran out {ran_out}, and the metric never crossed the threshold"
    )
    return "never fired", why, None


def _says_little(
    alarm: CreditAlarm, watched: Watched, resource: Resource | None, seen: Seen
) -> AuditJudgement | None:
    """Tell why an alarm that fires helps nobody, or cannot be judged, if so."""
    if seen.why_nobody:
        return _unheard(seen)
    not_judged = _other_condition(alarm, watched)
    if not_judged:
        return "not judged", not_judged, None
    if resource is not None and not resource.terms.is_throttled:
        return "only money", "at zero nothing slows down, and AWS charges for the surplus", None
    if resource is not None and not resource.terms.is_sized:
        return "not judged", "how fast the bucket empties is not known here", None
    return None


def _other_condition(alarm: CreditAlarm, watched: Watched) -> str:
    """Why the condition of an alarm is none that a falling level meets; empty if it is one."""
    if watched.statistic == "SampleCount":
        return "it counts datapoints"
    if watched.statistic == "Sum":
        return "it adds up the datapoints of a period"
    return "" if alarm.fires_below else "it fires when the level rises"


def _by_time(
    alarm: CreditAlarm, kind: Kind, resource: Resource | None, seen: Seen
) -> AuditJudgement:
    """Judge an alarm that can fire by what a full burst leaves from then on."""
    if resource is None or resource.bucket is None or alarm.threshold is None:
        return "not judged", "its bucket is not known", None
    ratio = kind.to_ratio(resource, alarm.threshold)
    if ratio > 1:
        return (
            "not judged",
            "its threshold is above a full bucket: it is in ALARM all the time",
            None,
        )
    left_s = worst_time_to_empty(resource.bucket, level=ratio * resource.bucket.capacity)
    left_s -= alarm.delay_s
    margin_s = margins_of(resource, Config()).page_s
    if left_s < margin_s:
        when = f"{span(left_s)} before" if left_s > 0 else f"{span(-left_s)} after"
        why = f"at full burst it fires {when} the bucket is empty; {span(margin_s)} are needed"
        return "too late", why, left_s
    lowest_ratio = min(
        (kind.to_ratio(resource, value) for value in seen.values or ()), default=None
    )
    if lowest_ratio is not None and min(1.0, lowest_ratio) >= NEVER_NEAR > ratio:
        why = f"never under {balance(min(1.0, lowest_ratio))} in {LOOK_BACK_DAYS} days"
        return "never near", why, left_s
    if seen.has_own and read_owner_tags(resource.tags).watch:
        return "doubled", "burstwatch watches it too, and says how long is left", left_s
    return "useful", f"at full burst it fires {span(left_s)} before the bucket is empty", left_s
