"""Reads once a day what AWS charged for surplus credits on the day before, for the digest."""

import math
from datetime import UTC, datetime

from burstwatch.aws.client.session import Clients, Deadline
from burstwatch.aws.look.charges import read_charges
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import UnitSnapshot
from burstwatch.fixes.surplus import DAY_FORMAT, DayCharge
from burstwatch.formatting import DAY, HOUR
from burstwatch.polling.queries import Allowance
from burstwatch.shards import Problem

#: The datapoints of a day have all come so long after its end. What could not be read is asked for again as late.
LATE_S = HOUR


def charges_of_yesterday(
    clients: Clients,
    snapshot: UnitSnapshot,
    memory: Memory,
    allowance: Allowance,
    *,
    deadline: Deadline,
) -> tuple[list[DayCharge], list[Problem]]:
    """What AWS charged for on the last whole day, of resources of which the memory has not read it, and what failed.

    A memory that is new reads the day again.
    """
    day_end_s = (snapshot.at - LATE_S) // DAY * DAY
    if memory.charged_until_s < day_end_s:
        memory.charged_until_s, memory.charges_read, memory.charges_at = day_end_s, set(), -math.inf
    unread = [
        resource
        for resource, _ in snapshot.assessments.values()
        if resource.key not in memory.charges_read
        and snapshot.kinds[resource.kind].may_be_charged(resource)
    ]
    if not unread or snapshot.at - memory.charges_at < LATE_S:
        return [], []
    memory.charges_at = snapshot.at
    charges = read_charges(
        clients,
        snapshot.kinds,
        unread,
        start_s=day_end_s - DAY,
        end_s=day_end_s,
        deadline=deadline,
        allowance=allowance,
    )
    memory.charges_read |= charges.answered
    day = datetime.fromtimestamp(day_end_s - DAY, tz=UTC).strftime(DAY_FORMAT)
    return [
        DayCharge(
            unit=resource.unit,
            resource_id=resource.id,
            name=resource.name,
            day=day,
            credits=charge.credits,
            usd=charge.usd,
        )
        for resource in unread
        if (charge := charges.by_key.get(resource.key)) is not None and charge.credits > 0
    ], [*charges.problems]
