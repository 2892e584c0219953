"""Gathers the digest of a week: episodes from the function's log, and what was asked for."""

import json
from datetime import UTC, datetime

from burstwatch.aws.alarms.episodes import lines_of_log, read_episodes
from burstwatch.aws.alarms.publish import send
from burstwatch.aws.client.names import NAMESPACE
from burstwatch.aws.client.session import NEVER, Clients
from burstwatch.aws.look.budget import SPENT_METRIC
from burstwatch.aws.look.metrics import read_metrics
from burstwatch.config import Config
from burstwatch.ebs.watching_prices import MONTH_S, usd_of
from burstwatch.fixes.surplus import DAY_FORMAT, DayCharge
from burstwatch.formatting import DAY, HOUR
from burstwatch.messages.digest import digest_message
from burstwatch.messages.message import Message
from burstwatch.messages.silence import NEWS_S, Silence, SilenceList, overdue, parse_list
from burstwatch.polling.bill import RARE_METRICS, deployment_lines
from burstwatch.polling.queries import Query

LASTS_S = 7.0 * DAY
#: The message of the log line of what AWS has charged for on a day.
CHARGED = "surplus charged"
#: That of the line of what tags keep from alarms, once a day.
SILENCED = "silenced by tag"


def make_digest(
    clients: Clients,
    log_group: str,
    config: Config,
    *,
    fixed_usd_a_month: float | None = None,
    now: float,
) -> Message:
    """The digest of the last seven days.

    ``fixed_usd_a_month`` is what the deployment costs without requests for metrics. If it is not known, the
    digest has the cost of a deployment with one function.

    Raises:
        AwsError: if the log cannot be read.
    """
    since_s = now - LASTS_S
    requested = _query(config, SPENT_METRIC, "Sum")
    not_watched = _query(config, *RARE_METRICS, "Maximum")
    answers = read_metrics(
        clients, [requested, not_watched], start_s=since_s, end_s=now, period_s=HOUR, deadline=NEVER
    )
    usd_a_month = fixed_usd_a_month
    if usd_a_month is None:
        usd_a_month = sum(line.usd for line in deployment_lines(config))
    series = answers.series.get(requested.key)
    return digest_message(
        read_episodes(clients, log_group, since_s=since_s),
        deployment=config.deployment,
        lasts_s=LASTS_S,
        requests_usd=usd_of("metric_request", sum(value for _, value in series))
        if series
        else None,
        silences=read_overdue(clients, log_group, now=now),
        charges=_read_charges(clients, log_group, since_s=since_s),
        not_watched=max((value for _, value in answers.series.get(not_watched.key, ())), default=0),
        fixed_usd=usd_a_month * LASTS_S / MONTH_S,
        is_of_one_function=fixed_usd_a_month is None,
        links=config.links,
        at=now,
    )


def _read_charges(clients: Clients, log_group: str, *, since_s: float) -> list[DayCharge]:
    """What AWS has charged for on the days since then, each resource and day once; raises AwsError if the log cannot be read."""
    charges: dict[tuple[str, str, str], DayCharge] = {}
    first_day = datetime.fromtimestamp(since_s, tz=UTC).strftime(DAY_FORMAT)
    for line in lines_of_log(clients, log_group, CHARGED, since_s=since_s):
        try:
            charge = DayCharge(**json.loads(line)["charge"])
        except (ValueError, KeyError, TypeError):
            continue  # another line that has these words
        if charge.day >= first_day:  # a function that started anew has told of an earlier one again
            charges[charge.key] = charge
    return [*charges.values()]


def read_overdue(clients: Clients, log_group: str, *, now: float) -> tuple[Silence, ...]:
    """What has been silenced by a tag for more than a week, or will be for more than thirty days.

    Raises:
        AwsError: if the log cannot be read.
    """
    lists: list[SilenceList] = []
    for line in lines_of_log(clients, log_group, SILENCED, since_s=now - LASTS_S - NEWS_S):
        try:
            lists.append(parse_list(json.loads(line)["listed"]))
        except (ValueError, KeyError, TypeError):
            continue  # another line that has these words
    return overdue(lists, now=now)


def _query(config: Config, metric: str, statistic: str) -> Query:
    return Query(
        namespace=NAMESPACE,
        metric=metric,
        dimensions=(("Deployment", config.deployment),),
        resource_id=config.deployment,
        statistic=statistic,
    )


def send_digest(clients: Clients, message: Message, config: Config) -> None:
    """Send it to the topic ``notice``. Pagers discard what is no alarm; a mailbox gets the text.

    Raises:
        one of AWS_ERRORS: if it cannot be sent.
    """
    unit = clients.unit()
    send(clients, message, config, topic=config.notice_topic_arn, severity="digest", unit=unit)
