"""Defines how long the demo takes: four minutes to see a page, or ten for everything."""

from collections.abc import Mapping
from dataclasses import dataclass

from demo.fleet import DAY_S, MINUTE_S


@dataclass(frozen=True, kw_only=True)
class Pace:
    """The times of one run, in seconds, and what it leaves out.

    ``settings`` are those of the deployed sweep. ``begins_after_s`` is when the played minutes may begin at
    the soonest, from the start or, with ``deploys_first``, from the end of `cdk deploy`. ``live_s`` is how long
    they last, and ``look_s`` after how many of them the dashboards are drawn.
    What runs out does so ``dry_earlier_s`` sooner than in the full run, and two minutes in at the soonest. ``history_s`` is how much of the
    day before is published. ``sweeps_at_once`` is whether the first sweep waits for the schedule, ``recovers`` whether volumes
    are seen to come close and recover.
    """

    settings: Mapping[str, str]
    begins_after_s: float
    live_s: float
    look_s: float
    deploys_first: bool = False
    dry_earlier_s: float = 0.0
    history_s: float = DAY_S
    sweeps_at_once: bool = False
    recovers: bool = True


#: Rules fire by the minute, so a lead of 15 minutes would make the demo an hour long.
FULL = Pace(
    settings={"lead_s": "240", "alarm_path_s": "60"},
    begins_after_s=45.0,
    # On a busy machine a deployment takes minutes.
    deploys_first=True,
    live_s=8 * MINUTE_S,
    # All alarms are up then, and most of what runs out has not yet.
    look_s=200.0,
)
QUICK = Pace(
    settings={"lead_s": "60", "alarm_path_s": "60"},
    begins_after_s=-45.0,
    live_s=190.0,
    look_s=125.0,
    dry_earlier_s=235.0,
    history_s=6 * 3_600.0,
    sweeps_at_once=True,
    recovers=False,
)
