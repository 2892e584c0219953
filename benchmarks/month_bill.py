"""Prices everything that a month of the fleet costs: the requests, the warned hours, the deployment itself."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burstwatch.aws.alarms.api import ALARMS_PER_PAGE
from burstwatch.aws.alarms.plan import QUIET_S
from burstwatch.aws.alarms.publish import DATA_PER_CALL
from burstwatch.aws.client.names import ALARM_PERIOD_S, ALARMED
from burstwatch.bucket import HOUR_S
from burstwatch.config import Config
from burstwatch.ebs.watching_prices import MONTH_S, usd_of
from burstwatch.forecast.policy import SEVERITY
from burstwatch.history.observations import Verdict
from burstwatch.polling.bill import deployment_lines
from burstwatch.polling.cost import RESOURCE_METRICS

#: An alarm is told that it is over until it is OK and has been for ``QUIET_S``.
LASTS_ON_S = QUIET_S + ALARM_PERIOD_S
#: It is made and deleted, and its words change where the bucket is empty and at the end.
CALLS_OF_AN_ALARM = 4
#: The sizes of fleet whose bills are shown.
SIZES = (270, 5_000)


@dataclass(frozen=True, kw_only=True)
class Spell:
    """The life of one alarm of one resource. Times are unix seconds."""

    severity: Verdict
    began_s: float
    ended_s: float


def spells(changes: Sequence[tuple[float, Verdict]], *, end_s: float) -> list[Spell]:
    """The alarms of a resource in the order in which they began, by its verdicts at each look.

    As ``plan_alarms``: one of a severity is made when that is reached, and lasts until what is
    there is less. An unknown verdict changes nothing.
    """
    began: dict[Verdict, float] = {}
    found = []
    for at, verdict in changes:
        if verdict == "unknown":
            continue
        severity = SEVERITY[verdict]
        reached = next((one for one in ALARMED if severity >= SEVERITY[one]), None)
        for name in [one for one in began if severity < SEVERITY[one]]:
            since = began.pop(name)
            found.append(Spell(severity=name, began_s=since, ended_s=at + LASTS_ON_S))
        if reached is not None:
            began.setdefault(reached, at)
    found += [Spell(severity=name, began_s=since, ended_s=end_s) for name, since in began.items()]
    return sorted(found, key=lambda spell: spell.began_s)


def month_bill(
    billed: int, alarms: Sequence[Sequence[Spell]], *, volumes: int, config: Config
) -> list[Mapping[str, object]]:
    """The lines of a month for so many ``volumes`` of the fleet that was played: USD, and USD after the free tier.

    ``billed`` are the metric requests and ``alarms`` the alarms of each volume played. A month has
    30 days. The deployment's own metrics and alarms have used up what is free of these, and its
    calls leave enough.
    """
    times = volumes / len(alarms)
    month_hours = MONTH_S / HOUR_S
    metrics = len(RESOURCE_METRICS) * sum(len(hours_of(some)) for some in alarms) / month_hours
    made = sum(len(hours_of([one])) for some in alarms for one in some) / month_hours
    own = {
        "metric requests": usd_of("metric_request", times * billed),
        "metrics of resources": usd_of("custom_metric", times * metrics),
        "alarms of resources": usd_of("alarm_metric", times * made),
    }
    for_them = usd_of("metrics_call", calls(alarms, times=times))
    return [
        *({"line": name, "usd": usd, "paid_usd": usd} for name, usd in own.items()),
        {"line": "calls for resources", "usd": for_them, "paid_usd": 0.0},
        *(
            {"line": one.name, "usd": one.usd, "paid_usd": one.paid_usd}
            for one in deployment_lines(config)
        ),
    ]


def hours_of(some: Sequence[Spell]) -> set[int]:
    """The hours of the clock in which there is any: what is published in one is billed for it."""
    return {
        hour
        for one in some
        for hour in range(int(one.began_s // HOUR_S), math.ceil(one.ended_s / HOUR_S))
    }


def calls(alarms: Sequence[Sequence[Spell]], *, times: float) -> float:
    """Requests of PutMetricData, and pages of DescribeAlarms beyond the first, a sweep every minute."""
    there: dict[int, int] = {}
    for one in (one for some in alarms for one in some):
        for minute in range(int(one.began_s // 60), math.ceil(one.ended_s / 60)):
            there[minute] = there.get(minute, 0) + 1
    total = 0.0
    for count in there.values():
        # The severities and the times left are published apart.
        total += len(RESOURCE_METRICS) * math.ceil(times * count / DATA_PER_CALL)
        total += math.ceil(times * count / ALARMS_PER_PAGE) - 1
    made = times * sum(len(some) for some in alarms)
    return total + CALLS_OF_AN_ALARM * made
