"""Every setting once: name, default, help, check. Pure: text in, ``Config`` out.

The command line, the Lambda's environment (``BURSTWATCH_LEAD_S``), the page of
`burstwatch config` and the table in the docs are all made from ``SETTINGS``.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from burstwatch.ebs.prices import METRIC_REQUEST, MONTH_S
from burstwatch.owner_tags import WINDOWS_ALLOWED, WINDOWS_PATTERN

if TYPE_CHECKING:
    from collections.abc import Mapping

ENV_PREFIX = "BURSTWATCH_"
#: The host exporter's, which may run beside; its settings are its own.
EXPORTER_ENV_PREFIX = "BURSTWATCH_EXPORTER_"

Value = str | float


class ConfigError(ValueError):
    """Settings that cannot be used; the message names each with its value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One setting: a number (of seconds, mostly) between bounds, or a text of a pattern.

    ``allowed`` says in words what the pattern allows.
    """

    name: str
    default: Value
    help: str
    low: float = 0.0
    high: float = 0.0
    unit: str = " of seconds"
    pattern: str = ""
    allowed: str = ""

    def parse(self, text: str) -> Value:
        """The value of ``text``.

        Raises:
            ValueError: saying what is allowed.
        """
        if isinstance(self.default, str):
            if re.fullmatch(self.pattern, text) is None:
                raise ValueError(self.allowed)
            return text
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not self.low <= value <= self.high:
            msg = f"a number{self.unit} from {self.low:g} to {self.high:g}"
            raise ValueError(msg)
        return value


def _topic(name: str, text: str) -> Setting:
    allowed = "the ARN of an SNS topic, or nothing"
    return Setting(name=name, default="", help=text, pattern=r"(arn:\S+)?", allowed=allowed)


def _link(name: str, text: str) -> Setting:
    allowed = "an address that begins with https://, or nothing"
    return Setting(
        name=name, default="", help=text, pattern=r"(https://[^\s<>|]+)?", allowed=allowed
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Links:
    """Where to read on. ``runbooks`` is the folder's address, or empty for the repository's own."""

    dashboard: str = ""
    runbooks: str = ""

    def runbook(self, name: str) -> str:
        """The address of one runbook."""
        return f"{(self.runbooks or 'monitoring/runbooks').rstrip('/')}/{name}.md"


SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="lead_s",
        default=900.0,
        help="how long before a bucket is empty somebody must know",
        low=60,
        high=86_400,
    ),
    Setting(
        name="max_data_age_s",
        default=300.0,
        help="how late CloudWatch's datapoints may be before they are stale",
        low=0,
        high=3_600,
    ),
    Setting(
        name="sweep_period_s",
        default=60.0,
        help="how often the sweep runs",
        low=60,
        high=3_600,
    ),
    Setting(
        name="alarm_path_s",
        default=180.0,
        help="from a sweep's verdict to the page, through metric, alarm and topic",
        low=0,
        high=3_600,
    ),
    Setting(
        name="hold_s",
        default=5400.0,
        help="how long nothing may have been wrong before an alarm ends",
        low=60,
        high=5_400,
    ),
    Setting(
        name="needless_per_week",
        default=0.24,
        help="how often a week one busy volume may wake somebody needlessly",
        low=0.1,
        high=2.0,
        unit="",
    ),
    Setting(
        name="page_on",
        default="likely",
        help="likely pages when a bucket is likely to run dry; worst whenever it could be dry within the lead",
        pattern="likely|worst",
        allowed="likely or worst",
    ),
    Setting(
        name="budget_usd_per_month",
        default="",
        help="the most that asking for one unit's metrics may cost a month; beyond it volumes are unknown; nothing sets no limit",
        pattern=r"((?!0*(\.0*)?$)\d{1,6}(\.\d{1,2})?)?",
        allowed="an amount in USD above 0 such as 25 or 7.50, or nothing",
    ),
    Setting(
        name="mass_from",
        default=20.0,
        help="from so many resources in danger at once, one alarm for all and no new one for each",
        low=2,
        high=50,
        unit=" of resources",
    ),
    Setting(
        name="deployment",
        default="burstwatch",
        help="the name that tells several deployments in one account apart",
        pattern=r"[A-Za-z0-9-]{1,32}",
        allowed="1 to 32 letters, digits and hyphens",
    ),
    Setting(
        name="kinds",
        default="",
        help="resource types to watch, such as ebs_volume,ec2_instance_ebs; empty watches all",
        pattern=r"([a-z0-9_]+(,[a-z0-9_]+)*)?",
        allowed="names of resource types with commas between, or nothing",
    ),
    Setting(
        name="tag_filter",
        default="",
        help="watch only resources with this tag, as key=value; nothing watches all",
        pattern=r"([^=]+=.*)?",
        allowed="key=value, or nothing",
    ),
    Setting(
        name="maintenance",
        default="",
        help="hours in UTC in which no new alarm is made, as Sun 02:00-04:00 / Mon-Fri 22:00-01:30",
        pattern=f"({WINDOWS_PATTERN})?",
        allowed=f"{WINDOWS_ALLOWED}, or nothing",
    ),
    _topic("page_topic_arn", "topic for critical alarms"),
    _topic("notice_topic_arn", "topic for warnings"),
    _topic("events_topic_arn", "topic for readable details"),
    _link("dashboard_url", "link to a dashboard in every message; the stack's own if not said"),
    _link("runbooks_url", "where the runbooks are, in every message"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """The settings of ``SETTINGS``, checked. Seconds are seconds."""

    lead_s: float = 900.0
    max_data_age_s: float = 300.0
    sweep_period_s: float = 60.0
    alarm_path_s: float = 180.0
    hold_s: float = 5400.0
    needless_per_week: float = 0.24
    page_on: str = "likely"
    budget_usd_per_month: str = ""
    mass_from: float = 20.0
    deployment: str = "burstwatch"
    kinds: str = ""
    tag_filter: str = ""
    maintenance: str = ""
    page_topic_arn: str = ""
    notice_topic_arn: str = ""
    events_topic_arn: str = ""
    dashboard_url: str = ""
    runbooks_url: str = ""

    def with_lead(self, lead_s: float | None) -> Config:
        """The same for a resource that asks for another lead, or for none in particular."""
        return self if lead_s is None else replace(self, lead_s=lead_s)

    @property
    def tag(self) -> tuple[str, str] | None:
        """The key and the value of ``tag_filter``, or None to watch everything."""
        key, _, value = self.tag_filter.partition("=")
        return (key, value) if key else None

    @property
    def links(self) -> Links:
        """Where messages point to."""
        return Links(dashboard=self.dashboard_url, runbooks=self.runbooks_url)

    @property
    def budget_metrics_per_s(self) -> float:
        """Metrics that may be asked for, by the list price; infinite without a limit."""
        if not self.budget_usd_per_month:
            return math.inf
        return float(self.budget_usd_per_month) / METRIC_REQUEST.value / MONTH_S

    @property
    def margin_s(self) -> float:
        """Act when the worst case, rolled forward to now, is nearer than this.

        Waiting for the next sweep and the alarm's path must still leave the lead.
        The age of the data is not in it: rolling forward has spent that already.
        """
        return self.lead_s + self.sweep_period_s + self.alarm_path_s


def parse_config(texts: Mapping[str, str]) -> Config:
    """Settings by name, as text.

    Raises:
        ConfigError: naming every unknown name and every value that is not allowed.
    """
    known = {setting.name: setting for setting in SETTINGS}
    problems = [
        f"unknown setting {name!r}, allowed are {', '.join(known)}"
        for name in texts
        if name not in known
    ]
    values: dict[str, Value] = {}
    for name, text in texts.items():
        if name in known:
            try:
                values[name] = known[name].parse(text)
            except ValueError as error:
                problems.append(f"{name} is {text!r}, allowed is {error}")
    if problems:
        raise ConfigError("; ".join(problems))
    return Config(**values)  # type: ignore[arg-type]  # checked against SETTINGS just above


def config_from_env(env: Mapping[str, str]) -> Config:
    """Settings from ``BURSTWATCH_*``. An unknown one is an error, never ignored."""
    return parse_config(
        {
            name.removeprefix(ENV_PREFIX).lower(): text
            for name, text in env.items()
            if name.startswith(ENV_PREFIX) and not name.startswith(EXPORTER_ENV_PREFIX)
        }
    )
