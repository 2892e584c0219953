"""Rules to measure against: what one writes first, what everybody has, and the two extremes."""

from collections.abc import Callable
from dataclasses import dataclass

from burstwatch.backtest.evaluate import Known, Policy
from burstwatch.history.observations import Observation, Verdict

WINDOW_S = 300.0
SOON_S = 1_800.0


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule that is one function."""

    name: str
    help: str
    rule: Callable[[Observation, Known], bool]

    def judge(self, seen: Observation, known: Known) -> Verdict:
        """Critical, where the rule holds."""
        return "critical" if self.rule(seen, known) else "ok"


def naive(seen: Observation, _known: Known) -> bool:
    """Whether the balance lasts less than half an hour at the last five minutes' rate."""
    history = seen.history
    newest = history.newest_level() if history else -1
    if history is None or newest < 0:
        return False
    rate = history.likely.mean(history.size, history.slots(WINDOW_S))
    net = rate - history.bucket.refill
    left = history.levels[newest] * history.bucket.capacity
    return net > 0 and left / net < SOON_S


def oracle(seen: Observation, known: Known) -> bool:
    """Whether an incident is on, or begins within the margin. Nothing can do better."""
    margin_s = known.config.margin_s
    return any(event.empty_s - margin_s <= seen.at < event.recovered_s for event in known.events)


def guarantee(seen: Observation, known: Known) -> bool:
    """Whether a full burst could be too fast even now: misses nothing, and pages for every low balance."""
    history = seen.history
    if history is None or history.newest_level() < 0:
        return False
    return history.worst_s() < known.config.margin_s + history.level_age_s(seen.at)


def static(percent: float) -> Policy:
    """The alarm that everybody has: the newest balance is under a threshold."""

    def is_under(seen: Observation, _known: Known) -> bool:
        history = seen.history
        newest = history.newest_level() if history else -1
        return history is not None and newest >= 0 and history.levels[newest] < percent / 100

    return Rule(name=f"static {percent:g} %", help=f"balance under {percent:g} %", rule=is_under)


POLICIES = (
    Rule(
        name="guarantee",
        help="worst case within lead, data age and sweep period",
        rule=guarantee,
    ),
    Rule(name="naive 30 min", help="empty within 30 min at the rate of the last 5", rule=naive),
    Rule(name="oracle", help="knows the future", rule=oracle),
    static(20),
    static(40),
    static(50),
)
