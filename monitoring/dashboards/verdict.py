"""What the sweep publishes of a resource: tiles of its time left and state, and the range of its time left."""

from dataclasses import dataclass

from grafana_foundation_sdk.builders.cloudwatch import MetricsQuery

from burstwatch.aws.client.names import NAMESPACE, TIME_METRIC
from burstwatch.forecast.policy import SEVERITY
from monitoring.dashboards.cloudwatch import KIND, math, metric
from monitoring.dashboards.parts import (
    BLUE,
    CALM,
    DOUBLING_HEIGHT,
    DURATION,
    GREEN,
    LEAST_MINUTES,
    MINUTE_S,
    MOST_MINUTES,
    ORANGE,
    PLAIN,
    PURPLE,
    RED,
    Nothing,
    Panel,
    SeriesStyle,
    Steps,
    graph,
    in_minutes,
    number,
)

#: What is older than this is not now: a schedule of five minutes has been missed then.
NOW = "15m"
#: The statistic of the published time that is each end of its range.
BOUNDS = {"soonest": "Minimum", "likely": "Average", "latest": "Maximum"}
WORDS = {
    float(number_): (word, color)
    for word, color, number_ in (
        ("ok", GREEN, SEVERITY["ok"]),
        ("watch", BLUE, SEVERITY["watch"]),
        ("warning", ORANGE, SEVERITY["warning"]),
        ("critical", RED, SEVERITY["critical"]),
        ("exhausted", PURPLE, SEVERITY["exhausted"]),
    )
}
NONE_IS_NEAR = Nothing(text="none soon", color=CALM)
NOT_SOON = Nothing(text="not soon", color=CALM)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What is said of one resource. ``kind`` and ``resource`` are as in its dimensions, or variables.

    ``steps`` are the seconds left at which its kind warns and pages, if that is the same for all of it.
    """

    kind: str
    resource: str
    steps: Steps = PLAIN

    def metric(
        self, name: str, metric_name: str, statistic: str = "Minimum", *, hidden: bool = False
    ) -> MetricsQuery:
        """One metric of it."""
        dimensions = {
            "Deployment": "$deployment",
            "Kind": self.kind,
            "ResourceId": self.resource,
        }
        return metric(
            name, NAMESPACE, metric_name, statistic, dimensions, label=name, hidden=hidden
        )

    def tiles(self, *, width: int, state_width: int) -> list[Panel]:
        """Time left, at the soonest, and the state."""
        return [
            number(
                "Time left", "Until no credits are left, at the demand that is expected. A day stands for a day or more. Published only while burstwatch warns of it.",
                kind=KIND, unit=DURATION, steps=self.steps, since=NOW, width=width, none=NOT_SOON,
                targets=[self.metric("likely", TIME_METRIC, "Average")],
            ),
            number(
                "Earliest", "The shortest time that the projection allows.",
                kind=KIND, unit=DURATION, steps=self.steps, since=NOW, width=width, none=NOT_SOON,
                targets=[self.metric("soonest", TIME_METRIC, "Minimum")],
            ),
            number(
                "State", "The verdict of burstwatch. It is published from a warning until the warning ends. The Fleet dashboard shows whether burstwatch runs.",
                kind=KIND, unit="short", steps=((None, GREEN),), since=NOW, width=state_width,
                none=Nothing(text="no warning", color=CALM), names=WORDS,
                targets=[self.metric("severity", "Severity", "Maximum")],
            ),
        ]  # fmt: skip

    def time_left(self, *, width: int) -> Panel:
        """The range of the time left, at each sweep."""
        return graph(
            "Time left", "The range of the time to exhaustion, at each sweep. One day means a day or more. Each step of the axis is twice the one before.",
            kind=KIND, unit="m", steps=() if self.steps == PLAIN else in_minutes(self.steps), doubling=True, least=LEAST_MINUTES, most=MOST_MINUTES, width=width, height=DOUBLING_HEIGHT,
            targets=[
                *(self.metric(f"{name}Left", TIME_METRIC, statistic, hidden=True) for name, statistic in BOUNDS.items()),
                *(math(name, f"{name}Left / {MINUTE_S:g}", label=name) for name in BOUNDS),
            ],
            looks={
                "soonest": SeriesStyle(color=RED),
                "likely": SeriesStyle(color=ORANGE),
                "latest": SeriesStyle(color=GREEN, fill_to="soonest"),
            },
        )  # fmt: skip
