"""Rules to measure against: what one writes first, what everybody has, and the two extremes."""

from collections.abc import Callable
from dataclasses import dataclass

from burstwatch.backtest.evaluate import Policy, Truth
from burstwatch.history.observations import Observation, Verdict

WINDOW_S = 300.0
SOON_S = 1_800.0


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule that is one function."""

    name: str
    help: str
    rule: Callable[[Observation, Truth], bool]

    def judge(self, observation: Observation, truth: Truth) -> Verdict:
        """Critical, where the rule holds."""
        return "critical" if self.rule(observation, truth) else "ok"


def naive(observation: Observation, _truth: Truth) -> bool:
    """True if the balance lasts less than half an hour at the last five minutes' rate."""
    history = observation.history
    newest = history.newest_slot() if history else -1
    if history is None or newest < 0:
        return False
    rate = history.likely.mean(history.size, history.slots(WINDOW_S))
    net = rate - history.bucket.refill
    credits_left = history.levels[newest] * history.bucket.capacity
    return net > 0 and credits_left / net < SOON_S


def oracle(observation: Observation, truth: Truth) -> bool:
    """True if an incident is on, or begins within the margin. Nothing can do better."""
    margin_s = truth.config.margin_s
    return any(
        event.empty_s - margin_s <= observation.at < event.recovered_s for event in truth.events
    )


def guarantee(observation: Observation, truth: Truth) -> bool:
    """True if a full burst could be too fast even now: misses nothing, and pages for every low balance."""
    history = observation.history
    if history is None or history.newest_slot() < 0:
        return False
    return history.worst_s() < truth.config.margin_s + history.level_age_s(observation.at)


def static(percent: float) -> Policy:
    """The alarm of most guides: page while the newest balance is under ``percent``."""

    def is_under(observation: Observation, _truth: Truth) -> bool:
        history = observation.history
        newest = history.newest_slot() if history else -1
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
