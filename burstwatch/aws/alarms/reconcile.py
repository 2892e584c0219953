"""Brings the alarms in line with the plan, in an order that is safe to interrupt."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from burstwatch.aws.alarms.api import (
    Alarm,
    alarm_request,
    delete_alarms,
    read_alarms,
    read_tagged,
    write_members,
)
from burstwatch.aws.alarms.episodes import of_alarms
from burstwatch.aws.alarms.plan import AlarmPlan, plan_alarms
from burstwatch.aws.alarms.publish import publish_events, publish_severities
from burstwatch.aws.alarms.stack_tags import (
    MOST_COPIED,
    MOST_COPIED_OF_MANY,
    put_tagged,
    read_stack_tags,
)
from burstwatch.aws.alarms.texts import brief_of, events, message_of_new, message_of_old
from burstwatch.aws.alarms.unheard import find_unheard, tell_unheard
from burstwatch.aws.client.names import (
    LISTING,
    MASS,
    NOT_LISTED,
    alarm_name,
    effect_at_zero,
    foreign_name,
    group_of,
    is_name_before,
    mass_name,
    part_name,
    part_of,
    unit_prefixes,
)
from burstwatch.aws.client.session import (
    AWS_ERRORS,
    AwsError,
    Clients,
    describe_error,
    is_throttled,
)
from burstwatch.aws.look.snapshot import UnitSnapshot
from burstwatch.config import Config
from burstwatch.history.observations import Verdict
from burstwatch.messages.brief import at_zero_of
from burstwatch.messages.episode import Episode
from burstwatch.messages.message import danger_title
from burstwatch.messages.text import description
from burstwatch.messages.timeline import Timeline
from burstwatch.shards import Problem, Shard, Unit

#: CloudWatch's error for the tags of an alarm that does not exist.
NO_ALARM = "ResourceNotFound"
#: How often an alarm is tried, beside the client's own tries.
TRIES = 3


@dataclass(frozen=True, kw_only=True)
class Reconciled:
    """The alarms that were made and deleted. ``announced`` are ids that had an alarm before.

    ``is_complete`` is whether every metric was acknowledged and every planned alarm is there,
    ``is_heard`` whether the topics were asked about and somebody hears them.
    """

    created: tuple[tuple[str, Verdict], ...] = ()
    deleted: tuple[str, ...] = ()
    closed: tuple[Episode, ...] = ()
    announced: frozenset[str]
    problems: tuple[Problem, ...]
    is_complete: bool
    is_heard: bool = False


@dataclass(frozen=True, kw_only=True)
class AlarmListing:
    """The alarms that a unit has, and its ``foreign_name``, empty for the home unit.

    ``problems`` are why it could not be read whom some of the mass alarms stand for.
    """

    foreign: str
    alarms: tuple[Alarm, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def has_names_before(self) -> bool:
        """True if one of them has a name as it was before December 2026."""
        return any(is_name_before(alarm.name) for alarm in self.alarms)


def list_alarms(
    home: Clients,
    unit: Unit,
    shard: Shard,
    config: Config,
    *,
    is_home: bool,
    with_names_before: bool = True,
) -> AlarmListing | Problem:
    """The alarms that a unit has, with the members of those that stand for many of a shard; or why that is not known.

    Those of the names before December 2026 are another call, which can be left out.
    """
    try:
        foreign = "" if is_home or unit == home.unit() else foreign_name(unit)
        today, before = unit_prefixes(config.deployment, foreign)
        prefixes = (today, before) if with_names_before else (today,)
        alarms = read_alarms(home, *prefixes, deployment=config.deployment)
    except (*AWS_ERRORS, AwsError) as error:
        return Problem(part="DescribeAlarms", error=describe_error(error))
    part, listed, problems = (
        part_name(unit, shard),
        list[Alarm](),
        list[Problem](),
    )
    for alarm in alarms:
        if alarm.kind != MASS or part_of(alarm.resource_id) != part:
            listed.append(alarm)
            continue
        try:
            listed.append(replace(alarm, members=read_tagged(home, alarm.arn)))
        except AWS_ERRORS as error:
            if NO_ALARM in describe_error(error):
                continue  # another sweep has deleted it in between
            listed.append(replace(alarm, members=None))
            problems.append(Problem(part=f"tags of {alarm.name}", error=describe_error(error)))
    return AlarmListing(foreign=foreign, alarms=tuple(listed), problems=tuple(problems))


def reconcile(
    home: Clients,
    snapshot: UnitSnapshot,
    listed: AlarmListing | Problem,
    config: Config,
    *,
    close: Callable[[str, Sequence[Alarm]], Episode],
    is_hearing_due: bool,
    now: float,
) -> Reconciled:
    """Rewrite alarms and publish the severities, then create alarms, send events and delete what is over.

    ``close`` describes the episode of a resource by its alarms, which are all over. ``is_hearing_due``
    asks whether somebody hears the topics, which it also does when it has made an alarm.
    """
    alarms = () if isinstance(listed, Problem) else listed.alarms
    plan = plan_alarms(snapshot, alarms, config, now=now)
    # An alarm that goes to OK now must not repeat the danger. All other texts can wait until somebody is paged.
    ending = [entry for entry in plan.rewrite if entry[1].over_s is not None]
    lasting = [entry for entry in plan.rewrite if entry[1].over_s is None]
    _, problems = rewrite_alarms(home, snapshot, plan, ending, config)
    unpublished = publish_severities(home, snapshot, plan, config)
    problems += unpublished
    if plan.postponed:
        reason = f"{plan.postponed} alarms wait for the next sweep: this sweep made as many as one sweep may"
        problems.append(Problem(part="alarms", error=reason))
    # An alarm must find its metric: none is made while that is not acknowledged, and
    # none is made or deleted without knowing which there are.
    if isinstance(listed, Problem):
        # Without the list of alarms, everything is treated as announced.
        announced = frozenset(snapshot.assessments)
        return Reconciled(announced=announced, problems=(listed, *problems), is_complete=False)
    if unpublished:
        return Reconciled(announced=plan.announced, problems=tuple(problems), is_complete=False)
    created, failed, untagged = create_alarms(home, snapshot, plan, config)
    problems += [*failed.values(), *untagged]
    not_kept = [*listed.problems, *_keep_members(home, snapshot, plan, created, config)]
    problems += not_kept
    was_asked = bool(is_hearing_due or created)
    unmade = _unmade(snapshot, plan, failed)
    unheard = find_unheard(home, listed.alarms, unmade, config, asks_topics=was_asked)
    problems += [*unheard.problems, *tell_unheard(home, unheard, config, now=now)]
    rewritten, failed_words = rewrite_alarms(home, snapshot, plan, lasting, config)
    problems += failed_words
    closed, failed_ends = close_episodes(snapshot, plan, close)
    problems += failed_ends
    messages = events(snapshot, plan, created, rewritten, closed, config)
    problems += publish_events(home, snapshot, messages, config)
    problems += delete_alarms(home, plan.delete)
    return Reconciled(
        created=tuple(created),
        deleted=plan.delete,
        closed=tuple(closed),
        announced=plan.announced,
        problems=tuple(problems),
        # Without knowing whom an alarm stands for, somebody may be left out.
        is_complete=not failed and not not_kept,
        is_heard=was_asked and not unheard.is_deaf,
    )


def _unmade(
    snapshot: UnitSnapshot, plan: AlarmPlan, failed: Mapping[tuple[str, Verdict], Problem]
) -> dict[tuple[str, Verdict], str]:
    """A line for each alarm that could not be made: what it would have said first, and why not."""
    lines = {}
    for (key, severity), problem in failed.items():
        # Each of a group by its own name: who joins it later must be told as well.
        group = plan.groups.get(key)
        for resource_id in (key,) if group is None else group.resource_ids:
            try:
                brief = snapshot.brief(resource_id)
                title = danger_title(brief, severity)
            except Exception:  # noqa: BLE001 - perhaps its words were what failed
                title = severity
            # The id comes first: there may be room for little more, and nobody else can have written it.
            lines[resource_id, severity] = f"{resource_id}: {title}. No alarm: {problem.error}"
    return lines


def close_episodes(
    snapshot: UnitSnapshot, plan: AlarmPlan, close: Callable[[str, Sequence[Alarm]], Episode]
) -> tuple[list[Episode], list[Problem]]:
    """Describe the episodes that are over. Returns all of them, and what failed."""
    closed, problems = [], list[Problem]()
    for resource_id, alarms in plan.ended.items():
        try:
            episode = close(resource_id, alarms)
        except Exception as error:  # noqa: BLE001 - what is wrong with one must not keep the others' alarms
            episode = of_alarms(alarms, unit=str(snapshot.unit), closed_s=snapshot.at)
            part = f"end of the episode of {resource_id}"
            problems.append(Problem(part=part, error=describe_error(error)))
        closed.append(replace(episode, resource_id=resource_id))
    return closed, problems


def rewrite_alarms(
    clients: Clients,
    snapshot: UnitSnapshot,
    plan: AlarmPlan,
    changes: Sequence[tuple[Alarm, Timeline]],
    config: Config,
) -> tuple[list[tuple[Alarm, Timeline]], list[Problem]]:
    """Change the words of alarms that are there. Returns those changed, and what failed.

    "When you update an existing alarm, its state is left unchanged", and nobody is told:
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html (2026-11)
    """
    done, problems = [], list[Problem]()
    for alarm, timeline in changes:
        try:
            text = description(message_of_old(snapshot, plan, alarm, timeline, config))
            subject = (alarm.kind, alarm.resource_id)
            request = alarm_request(alarm.name, subject, text, alarm.severity, config)
            # Somebody may have silenced it by hand.
            request["ActionsEnabled"] = alarm.is_enabled
            clients("cloudwatch").put_metric_alarm(**request)
        except Exception as error:  # noqa: BLE001 - old words must not cost anybody their page
            part = f"words of {alarm.name}"
            problems.append(Problem(part=part, error=describe_error(error)))
        else:
            done.append((alarm, timeline))
    return done, problems


def create_alarms(
    clients: Clients, snapshot: UnitSnapshot, plan: AlarmPlan, config: Config
) -> tuple[list[tuple[str, Verdict]], dict[tuple[str, Verdict], Problem], list[Problem]]:
    """Make the planned alarms, those of groups first. Returns those made by id, why others could not be, and what their tags lack.

    CloudWatch takes three a second from the whole account: what it throttles is tried again.
    """
    created: list[tuple[str, Verdict]] = []
    failed: dict[tuple[str, Verdict], Problem] = {}
    of_groups = [(key, group.severity) for key, group in plan.new_groups.items()]
    pending = [*of_groups, *plan.create]
    tags, untagged = read_stack_tags(clients, config) if pending else ([], [])
    for _ in range(TRIES):
        throttled = []
        for resource_id, severity in pending:
            try:
                request = _request_for(snapshot, plan, resource_id, severity, config)
                fitting = tags[: MOST_COPIED_OF_MANY if resource_id in plan.groups else MOST_COPIED]
                untagged += put_tagged(clients, request, fitting)
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one must not cost the others their page
                part = f"{severity} alarm of {resource_id}"
                failed[resource_id, severity] = Problem(part=part, error=describe_error(error))
                throttled += [(resource_id, severity)] if is_throttled(error) else []
            else:
                created.append((resource_id, severity))
                failed.pop((resource_id, severity), None)
        pending = throttled
    return created, failed, list(dict.fromkeys(untagged))


def _keep_members(
    clients: Clients,
    snapshot: UnitSnapshot,
    plan: AlarmPlan,
    created: Sequence[tuple[str, Verdict]],
    config: Config,
) -> Iterator[Problem]:
    """Keep with each mass alarm which resources it stands for. Yields what failed."""
    created_keys = {key for key, _ in created}
    for key, group in plan.groups.items():
        if group.alarm is not None and group.has_changed:
            alarm, before = group.alarm, group.alarm.members or frozenset()
            yield from write_members(clients, alarm.name, alarm.arn, group.members, before=before)
        if group.alarm is None and key in created_keys:
            name = _group_alarm_name(snapshot, plan, key, config)
            try:
                alarms = read_alarms(clients, name)  # only CloudWatch knows its ARN
            except AWS_ERRORS as error:
                yield Problem(part=f"tags of {name}", error=describe_error(error))
                continue
            for alarm in alarms:
                if alarm.name == name:
                    yield from write_members(clients, name, alarm.arn, group.members, before=())


def _group_alarm_name(snapshot: UnitSnapshot, plan: AlarmPlan, key: str, config: Config) -> str:
    """The name of the alarm of many; that of an array has its host's name, as one volume's alarm has."""
    severity, name = plan.groups[key].severity, mass_name(snapshot.shard, group_of(key))
    make = partial(alarm_name, deployment=config.deployment, foreign=snapshot.foreign)
    array = brief_of(snapshot, plan, key)
    if array is None:
        return make("", name, severity)
    return make(array.resource.name, name, severity, effect=effect_at_zero(array.at_zero.short))


def _request_for(
    snapshot: UnitSnapshot,
    plan: AlarmPlan,
    resource_id: str,
    severity: Verdict,
    config: Config,
) -> dict[str, Any]:
    """Build the PutMetricAlarm request of a new alarm: of a mass (many resources at once), of a listing that failed or of a resource."""
    message = message_of_new(snapshot, plan, resource_id, severity, config)
    make = partial(alarm_name, deployment=config.deployment, foreign=snapshot.foreign)
    if resource_id in plan.groups:
        subject = (MASS, resource_id)
        name = _group_alarm_name(snapshot, plan, resource_id, config)
    elif resource_id not in snapshot.assessments:
        subject = (LISTING, resource_id)
        name = make("", f"{NOT_LISTED}-{group_of(resource_id)}", severity)
    else:
        resource = snapshot.assessments[resource_id][0]
        subject = (resource.kind, resource_id)
        at_zero = at_zero_of(resource, snapshot.kinds[resource.kind])
        effect = effect_at_zero(at_zero.short)
        # One without a name is known by its host, as in its title.
        own_name = resource.name or resource.words.host
        name = make(own_name, resource_id, severity, effect=effect)
    return alarm_request(name, subject, description(message), severity, config)
