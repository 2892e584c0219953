"""One look at what is due of one kind: everything that its questions need to know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from burstwatch.aws.allowance import Allowance

if TYPE_CHECKING:
    from burstwatch.aws.pace import Pace
    from burstwatch.aws.session import Clients, Deadline
    from burstwatch.config import Config
    from burstwatch.kinds.base import Kind
    from burstwatch.polling.schedule import Schedule

#: So many resources are asked for the days before at one look: it is an extra, and large.
PASTS_PER_LOOK = 10


@dataclass(frozen=True, kw_only=True)
class Round:
    """What may be asked, by whom, until when.

    Whatever could be empty within ``demand_horizon_s`` is asked for its I/O too; the days
    before are asked for while ``pasts`` lasts, and nothing beyond ``allowance``, of which
    what the ``near_to_come`` of other kinds need is left to them.
    """

    kind: Kind
    clients: Clients
    config: Config
    schedule: Schedule
    now: float
    deadline: Deadline
    demand_horizon_s: float = 0.0
    pace: Pace | None = None
    allowance: Allowance = field(default_factory=Allowance)
    near_to_come: int = 0
    pasts: Allowance = field(default_factory=lambda: Allowance(PASTS_PER_LOOK))
