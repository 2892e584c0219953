"""Every setting once: name, default, help, check. Pure: text in, ``Config`` out.

The command line, the Lambda's environment (``BURSTWATCH_LEAD_S``), the page of
`burstwatch catalog --settings` and the table in the docs are all made from the fields of ``Config``.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import quote

from burstwatch.ebs.watching_prices import METRIC_REQUEST, MONTH_S
from burstwatch.formatting import InputError
from burstwatch.owner_tags import WINDOWS_ALLOWED, WINDOWS_PATTERN

ENV_PREFIX = "BURSTWATCH_"
#: The host exporter's, which may run beside; its settings are its own.
EXPORTER_ENV_PREFIX = "BURSTWATCH_EXPORTER_"

Value = str | float


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One setting: a number (of seconds, mostly) between bounds, or a text of a pattern.

    ``name`` is what people write, ``field`` the field of its dataclass. ``allowed`` says in
    words what the pattern allows, ``make`` makes the field's value of a checked one. ``judges`` is for one that
    decides when somebody is paged.
    """

    name: str
    field: str
    default: Value
    help: str
    low: float = 0.0
    high: float = 0.0
    unit: str = " of seconds"
    pattern: str = ""
    allowed: str = ""
    judges: bool = False
    make: Callable[[Any], object]

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


def declare(  # noqa: PLR0913 - what a setting has
    default: Value,
    text: str,
    *,
    name: str = "",
    low: float = 0.0,
    high: float = 0.0,
    unit: str = " of seconds",
    pattern: str = "",
    allowed: str = "",
    judges: bool = False,
    make: Callable[[Any], object] | None = None,
) -> Any:  # noqa: ANN401 - any type of field
    """A field of a dataclass of settings, with its help; without a ``name`` people write the field's."""
    setting = Setting(
        name=name,
        field="",
        default=default,
        help=text,
        low=low,
        high=high,
        unit=unit,
        pattern=pattern,
        allowed=allowed,
        judges=judges,
        make=make or _as_it_is,
    )
    return field(default=setting.make(default), metadata={Setting: setting})


def _as_it_is(value: object) -> object:
    return value


def settings_of(declared: type[Any]) -> tuple[Setting, ...]:
    """The settings that a dataclass declares, in order."""
    return tuple(
        replace(setting, name=setting.name or member.name, field=member.name)
        for member in fields(declared)
        if (setting := member.metadata.get(Setting)) is not None
    )


def parse_settings(
    settings: Iterable[Setting], texts: Mapping[str, str], problems: list[ValueError]
) -> dict[str, Any]:
    """The values of the settings in ``texts``, by field; what is not allowed is added to ``problems``."""
    values: dict[str, Any] = {}
    for setting in settings:
        if setting.name not in texts:
            continue
        text = texts[setting.name]
        try:
            values[setting.field] = setting.make(setting.parse(text))
        except ValueError as error:
            problems.append(InputError(f"is {text!r}; allowed: {error}", name=setting.name))
    return values


def raise_all(problems: Sequence[ValueError]) -> None:
    """Raise one problem as it is, and several as one; nothing where there is none."""
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise ValueError("; ".join(map(str, problems)))


#: A dashboard's link shows so long before and after the message.
SHOWN_BEFORE_S, SHOWN_AFTER_S = 6 * 3600.0, 3600.0
#: ``arn:aws:sns:us-east-1:123456789012:page``.
REGION_IN_ARN = 3


def _topic(text: str) -> Any:  # noqa: ANN401 - as declare
    return declare("", text, pattern=r"(arn:\S+)?", allowed="the ARN of an SNS topic, or nothing")


@dataclass(frozen=True, kw_only=True, slots=True)
class Links:
    """Links to read on: the addresses of the dashboard, and of the folder of runbooks, for one deployment.

    ``home`` is the deployment's region, empty where it is not known.
    """

    dashboard: str
    runbooks: str
    deployment: str = "burstwatch"
    home: str = ""

    def runbook(self, name: str) -> str:
        """The address of one runbook."""
        return f"{self.runbooks.rstrip('/')}/{name}.md"

    def dashboard_of(self, board: str, resource_id: str, at: float) -> str:
        """The address of a dashboard around a time: ``board`` of burstwatch's own, or another for one resource or for all.

        ``board`` is complete, with its variables. Empty where there is none, or none for all.
        """
        if not resource_id and "{resource_id}" in self.dashboard:
            return ""
        values = {
            "resource_id": resource_id,
            "from_ms": f"{(at - SHOWN_BEFORE_S) * 1000:.0f}",
            "to_ms": f"{(at + SHOWN_AFTER_S) * 1000:.0f}",
        }
        address = self.dashboard.replace("{board}", board)
        for name, value in values.items():
            address = address.replace(f"{{{name}}}", quote(value, safe=""))
        return address


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """Every setting of the sweep, as ``parse_config`` has checked it. Times are in seconds."""

    lead_s: float = declare(
        900.0,
        "the least time between the page and the empty bucket",
        low=60,
        high=86400,
        judges=True,
    )
    max_data_age_s: float = declare(
        300.0,
        "how old the newest datapoint may be, in addition to its period; older data is not used",
        high=3600,
        judges=True,
    )
    sweep_period_s: float = declare(
        60.0, "how often the sweep runs", low=60, high=3600, judges=True
    )
    alarm_path_s: float = declare(
        180.0,
        "how long a page takes after a sweep's verdict, through metric, alarm and topic",
        high=3600,
        judges=True,
    )
    hold_s: float = declare(
        4500.0,
        "how long a resource must be fine before its alarm ends",
        low=60,
        high=5400,
        judges=True,
    )
    page_on: str = declare(
        "balanced",
        "how likely a run-out within two hours must be for a page, where full burst could empty the bucket within the margin (lead_s + sweep_period_s + alarm_path_s): early (fewer run-outs without a page), balanced, or sure (fewer false pages); worst: page whenever it could",
        pattern="early|balanced|sure|worst",
        allowed="early, balanced, sure or worst",
        judges=True,
    )
    budget_usd_per_month: str = declare(
        "",
        "the monthly limit in USD for one unit's metric requests; burstwatch does not look at resources that it cannot pay for (verdict unknown); empty means no limit",
        pattern=r"((?!0*(\.0*)?$)\d{1,6}(\.\d{1,2})?)?",
        allowed="an amount in USD above 0 such as 25 or 7.50, or nothing",
    )
    mass_from: float = declare(
        20.0,
        "from this many resources that come into danger within ten minutes, one alarm covers them all; what comes into danger later has its own",
        low=2,
        high=50,
        unit=" of resources",
    )
    deployment: str = declare(
        "burstwatch",
        "the name that tells several deployments in one account apart",
        pattern="[A-Za-z0-9-]{1,32}",
        allowed="1 to 32 letters, digits and hyphens",
    )
    kinds: str = declare(
        "",
        "resource types to watch, such as ebs_volume,ec2_instance_ebs; empty watches all",
        pattern="([a-z0-9_]+(,[a-z0-9_]+)*)?",
        allowed="names of resource types with commas between, or nothing",
    )
    tag_filter: str = declare(
        "",
        "watch only resources with this tag, as key=value; empty watches all",
        pattern="([^=]+=.*)?",
        allowed="key=value, or nothing",
    )
    maintenance: str = declare(
        "",
        "hours in UTC in which no new alarm is made, as Sun 02:00-04:00 / Mon-Fri 22:00-01:30",
        pattern=f"({WINDOWS_PATTERN})?",
        allowed=f"{WINDOWS_ALLOWED}, or nothing",
    )
    page_topic_arn: str = _topic("topic for critical alarms")
    notice_topic_arn: str = _topic("topic for warnings")
    events_topic_arn: str = _topic("topic for readable details")
    dashboard_url: str = declare(
        "",
        "link to a dashboard in every message, such as https://grafana.example.org/d/{board}&from={from_ms}&to={to_ms}; {board} is the one of burstwatch's dashboards that shows the resource, with its variables, and {resource_id} is for your own; the default is the dashboard of the stack, if it has one",
        pattern=r"(https://[^\s<>|]+)?",
        allowed="an address that begins with https://, or nothing",
    )
    chat: str = declare(
        "slack",
        "how the chat client writes a link that has a name: slack, or teams for Microsoft Teams",
        pattern="slack|teams",
        allowed="slack or teams",
    )
    runbooks_url: str = declare(
        "https://github.com/burstwatch/burstwatch/blob/main/monitoring/runbooks",
        "the folder of the runbooks, in every message",
        pattern=r"https://[^\s<>|]+",
        allowed="an address that begins with https://",
    )

    @property
    def tag(self) -> tuple[str, str] | None:
        """The key and the value of ``tag_filter``, or None to watch everything."""
        key, _, value = self.tag_filter.partition("=")
        return (key, value) if key else None

    @property
    def links(self) -> Links:
        """The links of messages."""
        return Links(
            dashboard=self.dashboard_url,
            runbooks=self.runbooks_url,
            deployment=self.deployment,
            home=self.home_region,
        )

    @property
    def home_region(self) -> str:
        """The region of the deployment, by its topic; empty without one."""
        parts = self.page_topic_arn.split(":")
        return parts[REGION_IN_ARN] if len(parts) > REGION_IN_ARN else ""

    @property
    def budget_metrics_per_s(self) -> float:
        """Metrics a second that the budget pays for, by the list price; infinite without a limit."""
        if not self.budget_usd_per_month:
            return math.inf
        return float(self.budget_usd_per_month) / METRIC_REQUEST.value / MONTH_S

    @property
    def margin_s(self) -> float:
        """Seconds of worst case, rolled forward to now, under which to act.

        Waiting for the next sweep and the alarm's path must still leave the lead.
        The age of the data is not in it: rolling forward has spent that already.
        """
        return self.lead_s + self.sweep_period_s + self.alarm_path_s


SETTINGS = settings_of(Config)


def parse_config(texts: Mapping[str, str]) -> Config:
    """The config of settings that are given by name, as text.

    Raises:
        ValueError: naming every unknown name and every value that is not allowed.
    """
    names = [setting.name for setting in SETTINGS]
    problems = [
        ValueError(f"unknown setting {name!r}; allowed: {', '.join(names)}")
        for name in texts
        if name not in names
    ]
    values = parse_settings(SETTINGS, texts, problems)
    raise_all(problems)
    return Config(**values)


def config_from_env(env: Mapping[str, str]) -> Config:
    """Settings from ``BURSTWATCH_*``. An unknown one is an error, never ignored."""
    return parse_config(
        {
            name.removeprefix(ENV_PREFIX).lower(): text
            for name, text in env.items()
            if name.startswith(ENV_PREFIX) and not name.startswith(EXPORTER_ENV_PREFIX)
        }
    )
