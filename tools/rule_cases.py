"""The cases of ``promtool test rules``: the load of a disk, the faults of its exporter, and which alert must fire when.

``make gen`` writes them, with what a real exporter said (``rule_replay``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from burstwatch.backtest.simulate import Phase
from burstwatch.config import Config
from demo.fleet import load_for
from tools.fleet_replay import (
    FLEET_RULES,
    FleetLoad,
    close_role,
    deny,
    minutes_at,
    open_role,
    replay_fleet,
    shrink,
)
from tools.rule_replay import (
    FOLDER,
    RULES,
    Played,
    configure,
    measured,
    move,
    published,
    replay,
    replay_cpu,
    replay_ebs_csi,
    replay_yace,
    restart,
    several,
    volume,
    written,
)

CASES = FOLDER / "tests"
DAY_S = 86_400.0


@dataclass(frozen=True, kw_only=True)
class Case:
    """One disk, and what must follow.

    Minutes count from the first scrape. ``unseen`` are scrapes that fail, ``acts`` what befalls the host or its exporter,
    ``others`` series that somebody else exports. ``expected`` are instants with how many alerts of a name and severity
    fire, ``never`` those that must not have fired at any minute, ``absent`` what must have no value at an instant.
    ``rules`` is who exports. With a ``fleet``, there is that in place of the disk.
    """

    text: str
    loads: Sequence[Phase] = ()
    minutes: int
    size_gib: int = 100
    ratio: float = 1.0
    unseen: range = range(0)
    acts: Mapping[int, Callable[[Played], None]] = field(default_factory=dict)
    others: Callable[[], Mapping[str, Sequence[str]]] = dict
    expected: Sequence[tuple[int, str, str, int]] = ()
    never: Sequence[tuple[str, str]] = ()
    absent: Sequence[tuple[int, str]] = ()
    rules: str = "burstwatch"
    fleet: FleetLoad | None = None


def load(minutes: float, iops: float) -> Phase:
    """A load of so many minutes at a rate."""
    return load_for(60 * minutes, iops=iops)


def _fires(
    name: str, *instants: tuple[int, int], severity: str = "warning"
) -> list[tuple[int, str, str, int]]:
    return [(minute, name, severity, count) for minute, count in instants]


DRY, THROTTLED, HELD = "BurstwatchRunsDry", "BurstwatchThrottledNow", "BurstwatchServedAtBaseline"
DOWN, ABSENT = "BurstwatchExporterDown", "BurstwatchAbsent"
PAGES = ((DRY, "critical"), (THROTTLED, "critical"))
MOUNTS = "proc/1/mountinfo"
LISTED = (
    'burstwatch_units_listed_timestamp_seconds{instance="monitor:10048",job="burstwatch-fleet"}'
)
#: Minutes in which the units of a deployment cannot be listed.
UNLISTED = range(20, 90)
#: Minutes in which nothing is written for node_exporter: what was written before stays.
UNWRITTEN = range(50, 100)
_WRITTEN_AT = [60.0 * (UNWRITTEN.start if minute in UNWRITTEN else minute) for minute in range(150)]
CASES_BY_NAME = {
    "drain": Case(
        text="A calm hour, then a full burst: it is empty after 93 minutes, and paged a quarter of an hour before.",
        loads=[load(60, 100), load(60, 3000)],
        minutes=110,
        expected=[*_fires(DRY, (60, 0), (78, 1), (92, 1), severity="critical"),
                  *_fires(THROTTLED, (92, 0), (96, 1), severity="critical")],
    ),
    "slow-drain": Case(
        text="Little more than the baseline for hours: a warning within the day, and no page while hours are left.",
        size_gib=500,
        loads=[load(60, 500), load(120, 1900)],
        minutes=165,
        expected=[*_fires(DRY, (60, 0), (150, 1)), *_fires(DRY, (150, 0), severity="critical")],
    ),
    "burst": Case(
        text="Five minutes of full burst each hour, which the bucket gets back: nobody is woken.",
        loads=[load(55, 100), load(5, 3000)] * 4,
        minutes=190,
        never=[*PAGES, (DRY, "warning")],
    ),
    "recovery": Case(
        text="A drain that is stopped in time: the page comes, and resolves within a quarter of an hour of the end.",
        loads=[load(60, 100), load(25, 3000), load(60, 50)],
        minutes=140,
        expected=_fires(DRY, (84, 1), (105, 0), (139, 0), severity="critical"),
        never=[(THROTTLED, "critical")],
    ),
    "restart": Case(
        text="The exporter begins anew twice, first without its state and then with it, under a load that is harmless.",
        loads=[load(240, 250)],
        minutes=170,
        acts={60: restart(with_state=False), 120: restart(with_state=True)},
        never=[*PAGES, (DRY, "warning"), (HELD, "warning"), (DOWN, "warning")],
    ),
    "unknown": Case(
        text="A disk of which nobody knows how full it was: no time is said but that, and that it is served just its baseline.",
        ratio=0.9,
        loads=[load(10, 100), load(60, 3000), load(60, 50)],
        minutes=125,
        acts={90: published(0.04)},
        expected=[*_fires(HELD, (35, 0), (60, 1), (100, 0)), *_fires("BurstwatchBalanceUnknown", (25, 0), (35, 1), (95, 0))],
        never=[(DRY, "critical")],
    ),
    "gap": Case(
        text="Half an hour without a scrape, under a load that is harmless: no page, but it is said that nobody watched.",
        loads=[load(55, 100), load(5, 3000)] * 4,
        minutes=140,
        unseen=range(70, 100),
        expected=[*_fires(DOWN, (73, 0), (80, 1), (110, 0)), *_fires(ABSENT, (80, 1), (110, 0), severity="critical")],
        never=PAGES,
    ),
    "exporter": Case(
        text="What the exporter lacks is said, each thing by its own alert, until it has it again.",
        loads=[load(200, 100)],
        minutes=150,
        acts={
            0: several(published(0.99), measured("probe", age_s=3 * DAY_S - 1_800), measured("dbench", age_s=0, failed="x")),
            10: move(MOUNTS, "elsewhere"),
            40: move("elsewhere", MOUNTS),
            100: several(published(0.99), measured("probe", age_s=0), measured("dbench", age_s=0)),
        },
        others=lambda: {'node_textfile_mtime_seconds{file="/var/lib/burstwatch.prom",instance="db-1",job="node"}': written(_WRITTEN_AT)},
        expected=[
            *_fires("BurstwatchSourceDown", (15, 0), (30, 1), (45, 0)),
            *_fires("BurstwatchCloudWatchStale", (50, 0), (90, 1), (105, 0)),
            *_fires("BurstwatchMeasurementStale", (60, 0), (95, 1), (105, 0)),
            *_fires("BurstwatchMeasurementFailed", (50, 0), (90, 1), (105, 0)),
            *_fires("BurstwatchTextfileStale", (50, 0), (70, 1), (105, 0)),
        ],
        never=PAGES,
    ),
    "untyped": Case(
        text="A volume of which nobody has said what it is: that is said, until somebody does.",
        loads=[load(200, 3000)],
        minutes=90,
        acts={0: configure({}), 70: configure({"volumes": {"*": {"type": "gp2"}}})},
        expected=_fires("BurstwatchTypeUnknown", (50, 0), (65, 1), (75, 0)),
    ),
    "cpu": Case(
        text="A t3.small at full load: a warning two hours before its CPU credits end, and another when it is held back.",
        loads=[load(600, 100)],
        minutes=560,
        others=lambda: replay_cpu("t3.small", [(4_060, 0.1), (400, 2.0), (100, 0.05)], level=0.9, skipped=4_000),
        expected=[
            *_fires("BurstwatchCpuCreditsRunOut", (60, 0), (290, 0), (330, 1), (550, 0)),
            *_fires("BurstwatchCpuHeldBack", (400, 0), (450, 1), (550, 0)),
        ],
        never=PAGES,
    ),
    "yace-drain": Case(
        text="What YACE would export of a drain, ten minutes late: the page comes, later than with the exporter; NaN is no recovery.",
        size_gib=500,
        loads=[load(60, 500), load(120, 3000)],
        minutes=150,
        unseen=range(135, 150),
        expected=[*_fires(DRY, (60, 0), (105, 1), severity="critical"), *_fires(THROTTLED, (130, 1), (143, 1), severity="critical")],
        never=[(ABSENT, "critical"), (DOWN, "warning")],
        absent=[(143, "bucket:burstwatch_exhausted:bool")],
        rules="yace",
    ),
    "yace-burst": Case(
        text="What YACE would export of bursts that the bucket gets back: nobody is woken.",
        loads=[load(55, 100), load(5, 3000)] * 4,
        minutes=190,
        never=[*PAGES, (ABSENT, "critical")],
        rules="yace",
    ),
    "ebs-csi-throttled": Case(
        text="What the EBS CSI driver would export of a drain: nothing before, and that the limit is reached after.",
        loads=[load(60, 100), load(60, 3000)],
        minutes=115,
        expected=_fires("BurstwatchLimitReached", (92, 0), (112, 1)),
        never=[(DRY, "critical"), (ABSENT, "critical")],
        rules="ebs-csi",
    ),
    "fleet-drain": Case(
        text="A volume of a member account burns until it is empty, then rests: the page comes before, one follows at the end, and both resolve.",
        minutes=400,
        fleet=FleetLoad(iops=minutes_at((20, 100), (25, 3_000), (355, 100))),
        expected=[
            *_fires("BurstwatchResourceCritical", (19, 0), (30, 2), (399, 0), severity="critical"),
            *_fires("BurstwatchResourceExhausted", (30, 0), (45, 2), (399, 0), severity="critical"),
        ],
        never=[("BurstwatchFleetAbsent", "critical"), ("BurstwatchUnitNotWatched", "critical"), ("BurstwatchManyUnknown", "warning")],
        rules="fleet",
    ),
    "fleet-warning": Case(
        text="A load that empties a volume within the hour: a warning first, which resolves when the load ends.",
        minutes=200,
        fleet=FleetLoad(iops=minutes_at((10, 100), (90, 800), (100, 100))),
        expected=_fires("BurstwatchResourceWarning", (9, 0), (90, 2), (199, 0)),
        rules="fleet",
    ),
    "fleet-burst": Case(
        text="Three minutes of full burst an hour: nobody is woken.",
        minutes=180,
        fleet=FleetLoad(iops=minutes_at((3, 3_000), (57, 100)) * 3),
        never=[("BurstwatchResourceCritical", "critical"), ("BurstwatchResourceExhausted", "critical")],
        rules="fleet",
    ),
    "fleet-unwatched": Case(
        text="What is not watched is said, each thing by its own alert, until it is watched again.",
        minutes=170,
        fleet=FleetLoad(
            iops=minutes_at((170, 100)),
            herd=20,
            most_resources=40,
            acts={20: deny("GetMetricData"), 60: deny(), 80: close_role, 110: open_role, 120: shrink},
            unseen=range(150, 158),
        ),
        expected=[
            *_fires("BurstwatchKindNotWatched", (19, 0), (50, 2), (75, 0)),
            *_fires("BurstwatchManyUnknown", (19, 0), (50, 1), (75, 0)),
            *_fires("BurstwatchUnitNotWatched", (79, 0), (100, 2), (145, 0), severity="critical"),
            *_fires("BurstwatchFleetAbsent", (149, 0), (156, 1), (160, 0), severity="critical"),
            *_fires("BurstwatchFleetDown", (149, 0), (156, 1), (160, 0), severity="critical"),
            *_fires("BurstwatchResourcesLeftOut", (10, 0), (30, 2), (145, 0)),
        ],
        rules="fleet",
    ),
    "fleet-lost": Case(
        text="A volume is critical, and then nobody can ask for it: the page does not end as if all were well.",
        minutes=150,
        fleet=FleetLoad(
            iops=minutes_at((20, 100), (100, 3_000), (30, 100)),
            acts={32: deny("GetMetricData"), 60: deny()},
        ),
        expected=_fires("BurstwatchDangerUnknown", (30, 0), (45, 2), (75, 0), severity="critical"),
        rules="fleet",
    ),
    "fleet-unlisted": Case(
        text="The units of a deployment were listed until minute 20, and are again from minute 90 on.",
        minutes=120,
        fleet=FleetLoad(iops=minutes_at((120, 100))),
        others=lambda: {LISTED: [f"{60 * (UNLISTED.start if minute in UNLISTED else minute)}" for minute in range(120)]},
        expected=_fires("BurstwatchUnitsNotListed", (40, 0), (70, 1), (100, 0)),
        rules="fleet",
    ),
    "fleet-budget": Case(
        text="A budget that is too low for the fleet: said after a quarter of an hour, and no longer when the fleet is smaller.",
        minutes=120,
        fleet=FleetLoad(
            iops=minutes_at((120, 100)),
            herd=20,
            acts={60: shrink},
            config=Config(kinds="ebs_volume", budget_usd_per_month="0.05"),
        ),
        expected=_fires("BurstwatchBudgetReached", (10, 0), (30, 2), (119, 0)),
        rules="fleet",
    ),
}  # fmt: skip


def write_cases() -> None:
    """All of them, to where promtool is told to look."""
    CASES.mkdir(exist_ok=True)
    for name, case in CASES_BY_NAME.items():
        (CASES / f"{name}.yml").write_text(render(case), encoding="utf-8")


def render(case: Case) -> str:
    """A file for ``promtool test rules``."""
    own = {"burstwatch": RULES, "fleet": (FLEET_RULES,)}
    rules = own.get(case.rules, (f"from-{case.rules}.rules.yml", RULES[1]))
    content = {
        "rule_files": [f"../{name}" for name in rules],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": name, "values": " ".join(values)} for name, values in _series(case).items()
                ],
                "promql_expr_test": [
                    *(_counted(*one) for one in case.expected),
                    *(_never(case.minutes - 1, name, severity) for name, severity in case.never),
                    *({"expr": name, "eval_time": f"{minute}m", "exp_samples": []} for minute, name in case.absent),
                ],
            }
        ],
    }  # fmt: skip
    text = yaml.safe_dump(content, sort_keys=False, width=10**6)
    return f"# {case.text} Written by `make gen`.\n{text}"


def _series(case: Case) -> dict[str, Sequence[str]]:
    if case.fleet is not None:
        return {**replay_fleet(case.fleet, case.minutes), **case.others()}
    disk = volume(case.loads, size_gib=case.size_gib, ratio=case.ratio)
    if case.rules == "yace":
        return {**replay_yace(disk, case.minutes, unseen=case.unseen)}
    if case.rules == "ebs-csi":
        return {**replay_ebs_csi(disk, case.minutes)}
    return {**replay(disk, case.minutes, unseen=case.unseen, acts=case.acts), **case.others()}


def _counted(minute: int, name: str, severity: str, count: int) -> dict[str, Any]:
    selector = f'ALERTS{{alertname="{name}",severity="{severity}",alertstate="firing"}}'
    return {
        "expr": f"count({selector}) or vector(0)",
        "eval_time": f"{minute}m",
        "exp_samples": [{"labels": "{}", "value": count}],
    }


def _never(minute: int, name: str, severity: str) -> dict[str, Any]:
    selector = f'ALERTS{{alertname="{name}",severity="{severity}",alertstate="firing"}}'
    return {
        "expr": f"count_over_time({selector}[{minute + 1}m])",
        "eval_time": f"{minute}m",
        "exp_samples": [],
    }


if __name__ == "__main__":
    write_cases()
