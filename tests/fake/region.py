"""The state of one region of the fake."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from tests.fake.herd import Herd
from tests.fake.mixed import Mixed

Key = tuple[str, str, tuple[tuple[str, str], ...]]


@dataclass
class Region:
    """What one region holds."""

    volumes: dict[str, dict[str, Any]] = field(default_factory=dict)
    instances: dict[str, dict[str, Any]] = field(default_factory=dict)
    modifications: dict[str, dict[str, Any]] = field(default_factory=dict)
    metrics: dict[Key, dict[float, float]] = field(default_factory=lambda: defaultdict(dict))
    #: The least and the most of what was published as a set of statistics.
    ranges: dict[Key, dict[float, tuple[float, float]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    herd: Herd | None = None
    mixed: Mixed | None = None
    alarms: dict[str, dict[str, Any]] = field(default_factory=dict)
    alarm_tags: dict[str, dict[str, str]] = field(default_factory=dict)
    #: What is listed by the service's model alone, by service and operation.
    items: dict[tuple[str, str], list[dict[str, Any]]] = field(
        default_factory=lambda: defaultdict(list)
    )
