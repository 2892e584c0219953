"""The sweep as a Lambda function: settings from the environment, numbers to the log.

Invoked for each unit, or shard of one, with that in the event: by a schedule of its own,
or through a queue, with some messages at once. What the function remembers between
invocations may be lost at any time (see ``burstwatch/aws/look/memory.py``).
"""

import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from burstwatch.aws.alarms.digest import CHARGED, SILENCED, make_digest, send_digest
from burstwatch.aws.alarms.episodes import CLOSED
from burstwatch.aws.client.names import NAMESPACE, part_name
from burstwatch.aws.client.session import Clients, Deadline
from burstwatch.aws.drill.steps import take_step
from burstwatch.aws.sweep.fleet_metrics import fleet_metrics, other_counts
from burstwatch.aws.sweep.sweep import PUBLISH_S
from burstwatch.aws.sweep.units import KNOWN_PER_MIB, Units
from burstwatch.aws.watched.units import UnitSpec, connect, parse_unit
from burstwatch.config import config_from_env
from burstwatch.kinds import find_kinds
from burstwatch.messages.silence import SilenceList

#: Time kept back to publish what was found, and to end, before the function is stopped.
RESERVE_S = PUBLISH_S + 1.0

config = config_from_env(os.environ)
units = Units(
    home=Clients(os.environ["AWS_REGION"]),
    connect=connect,
    most_known=KNOWN_PER_MIB * int(os.environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512")),
)
kinds = tuple(find_kinds(config.kinds).values())
logger = Logger(service="burstwatch")
metrics = Metrics(namespace=NAMESPACE)
metrics.set_default_dimensions(Deployment=config.deployment)


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Sweep what the event, or each of its messages, names; or take a step of a drill, or send the digest.

    Raises for an event that is not as allowed, and what AWS refuses of a digest. A message that fails is one
    of the ``batchItemFailures``, and costs no other.
    """
    if "digest" in event:
        return _digest(str(event["digest"]), event.get("fixed_usd_a_month"))
    if "drill" in event:
        answer = take_step(event["drill"], units.home, config, now=time.time())
        logger.info("drill", asked=event["drill"], answer=answer)
        return {**answer}
    swept: dict[str, Any] = _sweeps(event, context)
    return swept


def _digest(log_group: str, fixed_usd_a_month: float | None) -> dict[str, Any]:
    """Send the digest of the week, from the log of the sweeps. Raises what AWS refuses."""
    message = make_digest(
        units.home, log_group, config, fixed_usd_a_month=fixed_usd_a_month, now=time.time()
    )
    send_digest(units.home, message, config)
    logger.info("digest sent", title=message.title)
    return {"title": message.title}


@metrics.log_metrics
def _sweeps(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Sweep the unit of an event, and return its numbers; or those of its messages, and return which failed."""
    now = time.time()
    # The minute in which it began: one that ends late must not count twice in the next.
    metrics.set_timestamp(int(now * 1000))
    ends = now + context.get_remaining_time_in_millis() / 1000 - RESERVE_S
    messages = event.get("Records")
    if messages is None:
        return _sweep(parse_unit(event), sent_at=now, ends=ends)
    return {
        "batchItemFailures": [
            {"itemIdentifier": message_id} for message_id in _failed(messages, ends)
        ]
    }


def _failed(messages: Sequence[dict[str, Any]], ends: float) -> Iterator[str]:
    """Sweep what each message names, in its share of the time. Yields the ids of those that failed."""
    for number, message in enumerate(messages):
        now = time.time()
        share_s = (ends - now) / (len(messages) - number)
        sent_at = int(message["attributes"]["SentTimestamp"]) / 1000
        tries = int(message["attributes"]["ApproximateReceiveCount"])
        try:
            spec = parse_unit(json.loads(message["body"]))
            if tries > 1:
                _be_in_time_again(tries, sent_at, now)
            _sweep(spec, sent_at=sent_at, ends=now + share_s)
        except Exception:
            logger.exception("message failed", body=message["body"], run=_run(sent_at))
            # A unit fails once in its period, however often that is told.
            name = "UnitsFailed" if tries == 1 else "Problems"
            metrics.add_metric(name=name, unit=MetricUnit.Count, value=1)
            yield message["messageId"]


class BrokeBeforeError(Exception):
    """An earlier try of a message failed. It ends in the dead-letter queue."""


def _be_in_time_again(tries: int, sent_at: float, now: float) -> None:
    """Raise where the next sweep is due already: there is nothing to repeat, but something to see."""
    if _is_late(sent_at, now):
        msg = f"this is try {tries}: the sweep broke, its function was stopped, or Lambda throttled it"
        raise BrokeBeforeError(msg)


def _is_late(sent_at: float, now: float) -> bool:
    """True if the next one is due already."""
    return now - sent_at >= config.sweep_period_s


def _run(sent_at: float) -> str:
    """Name the period of a message by its start: the sweeps of all units in it share that name."""
    return datetime.fromtimestamp(sent_at - sent_at % config.sweep_period_s, tz=UTC).isoformat()


def _sweep(spec: UnitSpec, *, sent_at: float, ends: float) -> dict[str, Any]:
    """Sweep one unit and log it; of a message that came too late, report its unit as left out."""
    now = time.time()
    if not _is_late(sent_at, now):
        deadline = Deadline(time.time, at=ends)
        result = units.sweep(spec, kinds, config, now=now, deadline=deadline)
    else:
        reason = f"its message waited for {now - sent_at:.0f} s: more to sweep than runs at once"
        result = units.leave_out(spec, reason, now=now)
    run = _run(sent_at)
    name = part_name(result.snapshot.unit, result.snapshot.shard)
    for problem in result.problems:
        logger.warning("part failed", unit=name, run=run, part=problem.part, error=problem.error)
    numbers = fleet_metrics(result)
    for metric, value in numbers.items():
        in_seconds = metric in {"DataAge", "MinTimeToExhaustion"}
        unit = MetricUnit.Seconds if in_seconds else MetricUnit.Count
        metrics.add_metric(name=metric, unit=unit, value=value)
    for episode in result.closed:
        logger.info(CLOSED, run=run, episode=episode.record())
    for charge in result.charges:
        logger.info(CHARGED, run=run, charge=asdict(charge))
    if result.is_first_of_day:
        listed = SilenceList(part=name, at=result.snapshot.at, silences=result.snapshot.silences)
        logger.info(SILENCED, run=run, listed=asdict(listed))
    logger.info(
        "swept",
        unit=name,
        run=run,
        completed=result.completed,
        not_listed=dict(result.snapshot.unlisted),
        counts=other_counts(result.snapshot),
        alarms_created=[f"{resource_id} {severity}" for resource_id, severity in result.created],
        alarms_deleted=result.deleted,
    )
    return {"unit": name, "run": run, "completed": result.completed, **numbers}
