"""Reads once a day what AWS charged for surplus credits on the day before, for the digest."""

from datetime import UTC, datetime

from burstwatch.aws.client.session import Clients, Deadline
from burstwatch.aws.look.charges import read_charges
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.look.snapshot import UnitSnapshot
from burstwatch.fixes.surplus import DayCharge
from burstwatch.formatting import DAY, HOUR
from burstwatch.polling.queries import Allowance
from burstwatch.shards import Problem

#: The datapoints of a day have all come so long after its end.
LATE_S = HOUR


def charges_of_yesterday(
    clients: Clients,
    snapshot: UnitSnapshot,
    memory: Memory,
    allowance: Allowance,
    *,
    deadline: Deadline,
) -> tuple[list[DayCharge], list[Problem]]:
    """What AWS charged for on the last whole day, and what could not be read; nothing where the memory has read that day.

    Of the ``allowance`` nothing has been taken yet. A memory that is new reads the day again.
    """
    day_end_s = (snapshot.at - LATE_S) // DAY * DAY
    if memory.charged_until_s >= day_end_s:
        return [], []
    resources = [resource for resource, _ in snapshot.assessments.values()]
    charges, problems = read_charges(
        clients,
        snapshot.kinds,
        resources,
        start_s=day_end_s - DAY,
        end_s=day_end_s,
        deadline=deadline,
        allowance=allowance,
    )
    # While nothing could be listed, there was nothing to ask for.
    if not problems and (allowance.taken or not snapshot.incomplete):
        memory.charged_until_s = day_end_s
    day = datetime.fromtimestamp(day_end_s - DAY, tz=UTC).strftime("%Y-%m-%d")
    return [
        DayCharge(
            unit=resource.unit,
            resource_id=resource.id,
            name=resource.name,
            day=day,
            credits=charge.credits,
            usd=charge.usd,
        )
        for resource in resources
        if (charge := charges.get(resource.key)) is not None and charge.credits > 0
    ], problems
