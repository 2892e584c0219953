"""The names that AWS keeps for us: of metrics, of their dimensions and of alarms."""

import re
import unicodedata
from dataclasses import dataclass

from burstwatch.bucket import DAY_S
from burstwatch.config import Config
from burstwatch.formatting import shortened
from burstwatch.history.observations import Verdict
from burstwatch.kinds import find_kinds
from burstwatch.shards import Shard, Unit

NAMESPACE = "Burstwatch"
#: The names of the queues of drills begin so.
DRILL_QUEUE = "burstwatch-drill-"
#: Its Minimum, Average and Maximum are the least, likely and most seconds left.
TIME_METRIC = "TimeToExhaustion"
#: The longest time that is published; it stands for that long or longer.
LONGEST_S = DAY_S
SEVERITY_METRIC = "Severity"
HEARTBEAT_METRIC = "SweepCompleted"
#: The alarms on it, without the beginning of their names.
HEARTBEAT_ALARM = "no-completed-sweep"
#: The end of the name of the alarm on the heartbeats of all units that were found, and what it compares.
FOUND = "found"
FOUND_METRIC, FOUND_HEARTBEAT_METRIC = "UnitsFound", "UnitsCompleted"
#: The severities that have an alarm of their own, most urgent first.
ALARMED: tuple[Verdict, ...] = ("critical", "warning")
#: A heartbeat is missed when so many periods are without one.
HEARTBEATS_MISSED = 5
#: An alarm looks at one whole minute.
ALARM_PERIOD_S = 60
#: The kind of an alarm that stands for many resources: the value of its dimension ``Kind``.
MASS = "mass"
#: Groups that a mass alarm is named for: resources that came into danger together, or that have been empty for hours.
MANY_AT_ONCE, LONG_EMPTY = "many_at_once", "long_empty"
#: The names of groups that are equal volumes of one host begin so.
ARRAY = "array_"
#: Divides a part from one of its groups of resources.
GROUP = "#"
#: The kind of the alarm of a fire drill.
DRILL = "drill"
#: The kind of an alarm that tells of a kind of resources that could never be listed.
LISTING = "listing"
#: The group that such an alarm is named for.
NOT_LISTED = "not_listed"
#: Two alarms that exist since the deployment, for what nobody would hear, and what each of them watches.
NOT_PAGED, NOT_HEARD = "not-paged", "not-heard"
STANDBY_METRICS = {NOT_PAGED: "NotPaged", NOT_HEARD: "NotHeard"}
#: Divides a deployment's name, which cannot have it, from a unit that is not the home unit.
FOREIGN = "@"
#: An e-mail's subject has so much of an alarm's name: it is cut at 100 characters, and begins with `ALARM: "`.
SUBJECT_LENGTH = 92
#: The part of an alarm's name before the resource's id: its name, and the effect.
_WITH_EFFECT = re.compile(r"(?:(\S+) )?runs out(?:, then .*)?")
#: A resource's name is cut at so many characters and bytes in an alarm's name.
NAME_LENGTH, NAME_BYTES = 32, 64
#: The first word of the names of all alarms that sweeps make, and what divides the severity from what is before it.
HEAD, BEFORE_SEVERITY = "burstwatch", "."
#: Prefixes of the names of all alarms of all deployments. Until December 2026 a slash and the deployment came next, and the
#: severity last. Alarms of such a name live on until they end.
EVERY_ALARM = (f"{HEAD}{BEFORE_SEVERITY}", f"{HEAD}{FOREIGN}", f"{HEAD}/")


def stack_name(deployment: str) -> str:
    """The name of the stack that the CDK app makes for a deployment."""
    return "Burstwatch" if deployment == "burstwatch" else f"Burstwatch-{deployment}"


def alarm_prefixes(deployment: str) -> tuple[str, ...]:
    """Prefixes by which a deployment's alarms are listed. Other deployments have the first two as well: ``is_of`` tells them apart."""
    today, elsewhere, before = EVERY_ALARM
    return today, elsewhere, f"{before}{deployment}/", f"{before}{deployment}{FOREIGN}"


def alarm_patterns(deployment: str) -> tuple[str, ...]:
    """What a permission to write a deployment's alarms names, with ``*`` for what is not known at the deployment."""
    today, elsewhere, *before = alarm_prefixes(deployment)
    return f"{today}*/{deployment}", f"{elsewhere}*/{deployment}", *(f"{old}*" for old in before)


def foreign_name(unit: Unit) -> str:
    """``<account>.<region>``: a unit that is not the home unit, in names of alarms and ids in metrics."""
    return f"{unit.account}.{unit.region}"


def unit_prefixes(deployment: str, foreign: str) -> tuple[str, str]:
    """Prefixes of the names of one unit's alarms, today's first; ``foreign`` is its ``foreign_name``, empty for the home unit.

    All alarms are kept at home. CloudWatch finds alarms only by the beginning of their names, and a
    sweep must not read those of every other unit.
    """
    at = f"{FOREIGN}{foreign}" if foreign else ""
    return f"{HEAD}{at}{BEFORE_SEVERITY}", f"{HEAD}/{deployment}{at}/"


def alarm_name(
    name: str,
    resource_id: str,
    severity: Verdict,
    *,
    deployment: str,
    foreign: str = "",
    effect: str = "",
) -> str:
    """``burstwatch.<severity>/<name> <effect>/<resource-id>/<deployment>``: a lock screen often shows only its beginning.

    ``name`` is somebody's free text, of any script. CloudWatch takes UTF-8 without control characters. ``effect``
    is left out where the subject of an e-mail would not show the id any more. It must be the same at each sweep, and so has no
    time in it: two sweeps that overlap would make two alarms, and page twice.
    """
    plain, head = plain_part(name), f"{unit_prefixes(deployment, foreign)[0]}{severity}"
    alarm = "/".join(filter(None, [head, plain, resource_id]))
    whole = "/".join([head, " ".join(filter(None, [plain, effect])), resource_id])
    return f"{whole if effect and len(whole) <= SUBJECT_LENGTH else alarm}/{deployment}"


def effect_at_zero(words: str) -> str:
    """The effect in an alarm's name, of ``words`` such as ``300 of 3,000 IOPS``: what a resource has without credits."""
    # A slash divides the parts of the name.
    return f"runs out{f', then {words}' if words else ''}".replace("/s", " a second")


def plain_part(name: str) -> str:
    """The letters, digits, dots, underscores and symbols of a name, with a hyphen for whatever else is between them."""
    kept = "".join(
        letter if letter in "._" or _is_kept(letter) else "-"
        for letter in unicodedata.normalize("NFC", name)
    )
    short = shortened(re.sub("-+", "-", kept).strip("-"), NAME_LENGTH).replace("…", "-")
    # A receiver may count bytes, of which a letter can have four.
    return short.encode()[-NAME_BYTES:].decode(errors="ignore").strip("-")


def _is_kept(letter: str) -> bool:
    """True if it is a letter, a mark, a digit or a symbol such as an emoji; not a sign of ASCII, or one that nobody sees."""
    if letter.isascii():
        return letter.isalnum()
    return unicodedata.category(letter)[0] in "LMN" or unicodedata.category(letter) == "So"


@dataclass(frozen=True, kw_only=True)
class AlarmName:
    """What the name of an alarm says. ``foreign`` is the ``foreign_name`` of its unit, empty for the home unit."""

    severity: Verdict
    deployment: str
    foreign: str
    resource_name: str

    @property
    def unit(self) -> str:
        """``<account>/<region>``; empty for the home unit."""
        return self.foreign.replace(".", "/", 1)


def parse_alarm_name(name: str) -> AlarmName | None:
    """The parts of the name of an alarm that a sweep made, as it is now or was until December 2026; None for any other."""
    head, *middle = name.split("/")
    if len(middle) <= 1:
        return None
    if head == HEAD:
        (whose, *parts), severity = middle[:-1], middle[-1]
        deployment, _, foreign = whose.partition(FOREIGN)
    else:
        parts, deployment = middle[:-1], middle[-1]
        whose, _, severity = head.rpartition(BEFORE_SEVERITY)
        first, _, foreign = whose.partition(FOREIGN)
        if first != HEAD:
            return None
    alarmed = next((verdict for verdict in ALARMED if verdict == severity), None)
    if alarmed is None or not parts:
        return None
    before_id = parts[0] if len(parts) > 1 else ""
    with_effect = _WITH_EFFECT.fullmatch(before_id)
    return AlarmName(
        severity=alarmed,
        deployment=deployment,
        foreign=foreign,
        resource_name=(with_effect[1] or "") if with_effect else before_id,
    )


def parts_of(name: str) -> AlarmName:
    """The parts of the name of an alarm that a sweep or a drill makes.

    Raises:
        ValueError: if it is any other name: a default would watch another resource.
    """
    parts = parse_alarm_name(name)
    if parts is None:
        msg = f"{name!r} is no name that sweeps give an alarm"
        raise ValueError(msg)
    return parts


def is_name_before(name: str) -> bool:
    """True if an alarm is called as alarms were until December 2026."""
    return name.startswith(EVERY_ALARM[2])


def is_of(name: str, deployment: str) -> bool:
    """True if it is the name of an alarm that sweeps of this deployment made."""
    parts = parse_alarm_name(name)
    return parts is not None and parts.deployment == deployment


def mass_name(shard: Shard, group: str = MANY_AT_ONCE) -> str:
    """The part of a group alarm's name that stands for a resource's id. No id has its underscore."""
    return group if shard.is_whole else f"{group}-{shard.number}-of-{shard.count}"


def mass_id(unit: Unit, shard: Shard, group: str, severity: Verdict) -> str:
    """The id in metrics of a group of resources with a severity: each group has an alarm, which ends by itself."""
    return f"{part_name(unit, shard)}{GROUP}{group}.{severity}"


def listing_id(unit: Unit, kind: str) -> str:
    """The id in metrics of a kind that could never be listed in a unit."""
    return f"{unit}{GROUP}{kind}"


def part_of(group_id: str) -> str:
    """The name of the part in the id of a group."""
    return group_id.partition(GROUP)[0]


def group_of(group_id: str) -> str:
    """The name of the group in its id."""
    return group_id.partition(GROUP)[2].partition(".")[0]


def metric_id(kind: str, resource_id: str, foreign: str) -> str:
    """The id of a resource in metrics: in another unit, a name that people gave begins with its ``foreign_name``.

    Two units may have databases of the same name. Ids that AWS gives, such as ``vol-...``, are unique.
    """
    definition = find_kinds().get(kind)
    has_name = definition is not None and definition.inventory.has_names
    return f"{foreign}/{resource_id}" if foreign and has_name else resource_id


def resource_dimensions(
    config: Config, kind: str, resource_id: str, *, foreign: str
) -> list[dict[str, str]]:
    """The dimensions of everything that a deployment publishes about one resource.

    Two deployments may watch the same resource, each with settings of its own. ``foreign`` is the
    ``foreign_name`` of the resource's unit, empty for the home unit.
    """
    values = {
        "Deployment": config.deployment,
        "Kind": kind,
        "ResourceId": metric_id(kind, resource_id, foreign),
    }
    return [{"Name": name, "Value": value} for name, value in values.items()]


def unit_dimensions(unit: Unit, shard: Shard, config: Config) -> list[dict[str, str]]:
    """The dimensions of what is published about one unit, or about one shard of it."""
    return part_dimensions(config.deployment, part_name(unit, shard))


def standby_name(deployment: str, name: str) -> str:
    """The name of an alarm that exists since the deployment."""
    return f"burstwatch-{deployment}-{name}"


def standby_arn(config: Config, name: str) -> str:
    """The ARN of such an alarm: it is where the topic is. Empty without a topic, as there is no deployment then."""
    where = re.match(r"(arn:[^:]+):sns:([^:]+:\d{12}):", config.page_topic_arn)
    if where is None:
        return ""
    return f"{where[1]}:cloudwatch:{where[2]}:alarm:{standby_name(config.deployment, name)}"


def deployment_dimensions(deployment: str) -> list[dict[str, str]]:
    """The dimensions of what is published about a whole deployment."""
    return [{"Name": "Deployment", "Value": deployment}]


def part_dimensions(deployment: str, part: str) -> list[dict[str, str]]:
    """Dimensions of a part's own metrics, by the part's name."""
    return [{"Name": "Deployment", "Value": deployment}, {"Name": "Unit", "Value": part}]


def part_name(unit: Unit, shard: Shard) -> str:
    """``<account>/<region>``, and ``/<number>/<count>`` of a unit in shards."""
    return str(unit) if shard.is_whole else f"{unit}/{shard}"
