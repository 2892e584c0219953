"""Writes the generated parts of the docs: settings, and the tables of the backtest. Run by `make gen`."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

from burstwatch import kinds
from burstwatch.backtest.scores import COLUMNS, draw_scores
from burstwatch.config import SETTINGS
from burstwatch.fleet.metrics import served_metrics
from burstwatch.kinds import find_kinds
from burstwatch.web.exposition import Definition
from burstwatch_exporter.metrics import METRICS
from burstwatch_exporter.settings import SETTINGS as FLAGS
from tools import emulator_tables, fleet_tables, hero, json_tables, measured, security_tables
from tools.markdown import markdown_table

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
KINDS = ROOT / "docs" / "kinds.md"
SETTINGS_PAGE = ROOT / "docs" / "settings.md"
MEASURING = ROOT / "docs" / "measuring.md"
EXPORTER = ROOT / "docs" / "exporter.md"
SERVING = ROOT / "docs" / "serving.md"
BACKTEST = ROOT / "docs" / "backtest.md"
ALERTING = ROOT / "docs" / "alerting.md"
FLEETS = ROOT / "docs" / "fleets.md"
NOTES = ROOT / "docs" / "engineering-notes.md"
RESULTS_PAGE = ROOT / "benchmarks" / "RESULTS.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
SECURITY = ROOT / "docs" / "security.md"
JSON = ROOT / "docs" / "json.md"
RECORDINGS = ROOT / "docs" / "recordings.md"
RESULTS = ROOT / "benchmarks" / "results"
RECORDED = ROOT / "tests" / "recordings"
RECORDED_LINES, RECORDED_WIDTH = 8, 110
#: The stack itself fills these in.
OF_THE_STACK = {
    "deployment",
    "sweep_period_s",
    "page_topic_arn",
    "notice_topic_arn",
    "events_topic_arn",
}
UNSEEN = "burstwatch, family left out"
#: What the README shows of the policies.
SHOWN = (
    "oracle", "burstwatch", UNSEEN, "guarantee", "R8", "R", "naive 30 min",
    "predict_linear 60 min", "predict_linear 240 min", "static 20 %", "static 40 %", "static 50 %",
)  # fmt: skip
#: The rules that the README shows, by the name that people give them.
RULES = {
    "burstwatch": "**burstwatch**",
    "static 50 %": "alarm at `BurstBalance` < 50%",
    "static 20 %": "alarm at `BurstBalance` < 20%",
    "predict_linear 240 min": "straight line (Prometheus `predict_linear`), four hours ahead",
}
#: The lines of an alarm that the README shows.
OF_A_PAGE = ("Where:", "Do now:", "Do next:", "Command:", "Load:")
#: Words of the records that people know by other words.
SAID = {"made-up": "synthetic", "left out": "held out", " %": "%"}
FAMILIES, VIEWS = ("servers", "vm", "made-up"), ("fresh", "stale")
Record = dict[str, Any]


def settings_table() -> str:
    """The settings that a deployment can be given, as a table of Markdown."""
    lines = ["| setting | default | meaning |", "| --- | --- | --- |"]
    for setting in SETTINGS:
        if setting.name not in OF_THE_STACK:
            default = (
                f"{setting.default:g}" if isinstance(setting.default, float) else setting.default
            )
            lines.append(f"| `{setting.name}` | {default or 'none'} | {setting.help} |")
    return "\n".join(lines) + "\n"


def kinds_table() -> str:
    """The resource types that are watched, each by the first line of its own file."""
    lines = ["| kind | what runs out | metrics |", "| --- | --- | --- |"]
    for kind in find_kinds().values():
        text = (import_module(f"{kinds.__name__}.{kind.name}").__doc__ or "").partition("\n")[0]
        metrics = ", ".join(f"`{metric}`" for metric in kind.level_metrics)
        lines.append(f"| `{kind.name}` | {text} | {metrics} |")
    return "\n".join(lines) + "\n"


def rules_table() -> str:
    """How well burstwatch pages beside what people alarm on, on servers and fresh data."""
    policies = _record("servers-fresh")["policies"]
    rows: list[Sequence[str]] = [
        (
            said,
            f"{policies[name]['announced']:.0%}",
            f"{policies[name]['needless_per_week']:.1f}",
        )
        for name, said in RULES.items()
    ]
    table = markdown_table("rule | announced | false pages a week and volume", rows)
    return f"{table}\n{policies['burstwatch']['events']} buckets ran out in these recordings.\n"


def columns_list() -> str:
    """What each column of a backtest means."""
    return "".join(f"- **{column.name}**: {column.help}.\n" for column in COLUMNS)


def backtest_table(name: str) -> str:
    """One set of recordings, a row a policy."""
    record = _record(name)
    lines = [
        f"| policy | {' | '.join(column.name for column in COLUMNS)} |",
        f"| --- |{' --- |' * len(COLUMNS)}",
    ]
    for policy in SHOWN:
        if policy == UNSEEN and name.startswith("nab"):
            continue  # nothing was fitted on these two: both rows are the same model
        one = record["policies"][policy]
        cells = (_ranged(one[column.key], one["intervals"].get(column.key)) for column in COLUMNS)
        row = f"**{policy}**" if policy == "burstwatch" else policy
        lines.append(f"| {row} | {' | '.join(cells)} |")
    some = record["policies"]["burstwatch"]
    lines.append(f"\n{some['events']} run-outs in {some['volume_weeks']:.0f} volume-weeks.")
    return "\n".join(lines) + "\n"


def parts_table(name: str, parts: str, heading: str) -> str:
    """Our own policy on each machine, or in each scenario, of one set."""
    columns = COLUMNS[: len(COLUMNS) - 1]
    lines = [
        f"| {heading} | run-outs | {' | '.join(column.name for column in columns)} |",
        f"| --- | --- |{' --- |' * len(columns)}",
    ]
    for part, one in _record(name)[parts].items():
        cells = (part, str(one["events"]), *(_plain(one[column.key]) for column in columns))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def families_table() -> str:
    """Our own policy on families and on machines that it was not fitted on, beside R8."""
    rows: list[Sequence[str]] = []
    for family, view in product(FAMILIES, VIEWS):
        policies = _record(f"{family}-{view}")["policies"]
        shown = [UNSEEN, "burstwatch", "R8"]
        cells = [family, view, str(policies["R8"]["events"])]
        for name in shown:
            of_machine = name == "burstwatch" and family == "made-up"
            cells.append("-" if of_machine else _three(policies[name]))
        rows.append(cells)
    return markdown_table(
        "recordings | data | run-outs | family held out: announced, paged in time, false pages/week | machine held out | R8",
        rows,
    )


def equal_share_table() -> str:
    """The false pages of each rule at the share announced of ours, or at the best that it reaches."""
    families = ("static", "predict_linear", "R8", "R", "guarantee")
    lines = [
        f"| recordings | data | burstwatch: announced, false pages/week | {' | '.join(families)} |",
        f"| --- | --- | --- |{' --- |' * len(families)}",
    ]
    for name, view in product(FAMILIES, VIEWS):
        policies = _record(f"{name}-{view}")["policies"]
        ours = policies[UNSEEN if name == "made-up" else "burstwatch"]
        cells = [name, view, _two(ours)]
        for family in families:
            chosen = _at_share(policies, family, ours["announced"])
            prefix = "" if chosen == family else f"{chosen}: "
            cells.append(f"{prefix}{_two(policies[chosen])}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _two(one: Record) -> str:
    return f"{_plain(one['announced'])}, {_plain(one['needless_per_week'])}"


def _three(one: Record) -> str:
    return f"{_plain(one['announced'])}, {_plain(one['paged_in_time'])}, {_plain(one['needless_per_week'])}"


def cpu_sentence() -> str:
    """What the policy does on CPU credits, beside the static threshold that announces as much."""
    policies = _record("cpu")["policies"]
    ours = policies["burstwatch"]
    known = [(name, one) for name, one in policies.items() if name.startswith("static")]
    equal, static = min(
        (one for one in known if one[1]["announced"] >= ours["announced"]),
        key=lambda one: one[1]["needless_per_week"],
    )
    share = ours["needless_per_week"] / static["needless_per_week"]
    return (
        f"Of {ours['events']} run-outs burstwatch announces {_plain(ours['announced'])} at the kind's lead, with "
        f"{_plain(ours['needless_per_week'])} false pages a week of one instance. The static threshold that announces as "
        f"many or more is {equal.removeprefix('static ')}. It announces {_plain(static['announced'])}, with "
        f"{_plain(static['needless_per_week'])} false pages. So burstwatch makes {share:.0%} of the false pages of this "
        "threshold.\n"
    )


def cpu_table() -> str:
    """Every rule on CPU credits."""
    lines = [
        "| rule | announced | paged in time | false pages/week | one page | in alarm |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, one in _record("cpu")["policies"].items():
        names = ("announced", "paged_in_time", "needless_per_week", "one_page", "in_alarm")
        lines.append(f"| {name} | {' | '.join(_plain(one[key]) for key in names)} |")
    return "\n".join(lines) + "\n"


def hazard_table() -> str:
    """The share of the moments of each tenth of the hazard that ran out within the horizon."""
    record: Record = json.loads((RESULTS / "hazard.json").read_text(encoding="utf-8"))
    tenths = [f"{n / 10:.1f}" for n in range(10)]
    lines = [
        f"| recordings | data | {' | '.join(f'from {one}' for one in tenths)} |",
        f"| --- | --- |{' --- |' * len(tenths)}",
    ]
    for name, by_tenth in record.items():
        family, _, view = name.rpartition(" ")
        found = (by_tenth.get(one) for one in tenths)
        cells = (f"{one['said']:.2f}: {one['true']:.2f}" if one else "-" for one in found)
        lines.append(f"| {family} | {view} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def calibration_table() -> str:
    """The share of the time that the truth lay in the range."""
    record: Record = json.loads((RESULTS / "calibration.json").read_text(encoding="utf-8"))
    rows: list[Sequence[str]] = []
    for name, one in record.items():
        shares = (
            "covered", "ran_dry_before_low", "ran_dry_after_high", "never_ran_dry",
            "said_dry_covered", "last_hour_covered", "last_hour_median_of_likely_by_true",
        )  # fmt: skip
        cells = (name, f"{one['moments']:,}", *(_plain(one[share]) for share in shares))
        rows.append(cells)
    return markdown_table(
        "data | moments | truth in the range | ran out earlier than the range | later, or never | never ran out | truth in the range, if the likely time is within six hours | in the range, in the last hour | median of likely / true, last hour",
        rows,
    )


def _at_share(policies: Mapping[str, Record], family: str, announced: float) -> str:
    """The member of a family that announces as many and has the fewest false pages, or the nearest to it."""
    members = [name for name in policies if name == family or name.startswith(f"{family} ")]
    reached = [name for name in members if policies[name]["announced"] >= announced]
    if reached:
        return min(reached, key=lambda name: policies[name]["needless_per_week"])
    return max(members, key=lambda name: policies[name]["announced"])


def alarm_text() -> str:
    """The alarm of a draining volume, as its golden file has it."""
    return _golden("==== ALARM to page")


def page_text() -> str:
    """The lines of that alarm that say what happens, where, and what to do."""
    lines = alarm_text().splitlines(keepends=True)
    begin, title, end = lines[0], lines[1], lines[-1]
    return begin + title + "".join(line for line in lines if line.startswith(OF_A_PAGE)) + end


def email_text() -> str:
    """The e-mail about it, as its golden file has it."""
    return _golden("==== opened to events, e-mail")


def _golden(heading: str) -> str:
    text = (ROOT / "tests" / "golden" / "ebs_volume.txt").read_text(encoding="utf-8")
    _, _, found = text.partition(heading)
    message = found.partition("\n==== ")[0].partition("\n")[2]
    return f"```text\n{message.strip()}\n```\n"


def recording_start(name: str) -> str:
    """The beginning of a file that another program wrote."""
    text = (RECORDED / name).read_text(encoding="utf-8-sig")
    lines = text.splitlines()[:RECORDED_LINES]
    shown = (
        line if len(line) <= RECORDED_WIDTH else f"{line[:RECORDED_WIDTH]}..." for line in lines
    )
    return "```text\n" + "\n".join(shown) + "\n...\n```\n"


def flags_table() -> str:
    """The flags of the exporter."""
    lines = ["| flag | default | meaning |", "| --- | --- | --- |"]
    for flag in FLAGS:
        default = f"{flag.default:g}" if isinstance(flag.default, float) else flag.default
        lines.append(f"| `--{flag.name}` | {f'`{default}`' if default else 'none'} | {flag.help} |")
    return "\n".join(lines) + "\n"


def metrics_table() -> str:
    """Every metric of the exporter."""
    return _metrics_table(METRICS)


def served_table() -> str:
    """Every metric of `burstwatch serve`."""
    return _metrics_table(served_metrics())


def _metrics_table(metrics: Iterable[Definition]) -> str:
    lines = ["| metric | type | labels | |", "| --- | --- | --- | --- |"]
    for one in metrics:
        labels = ", ".join(one.labels) or "-"
        lines.append(
            f"| `{one.printed}` | {one.type} | {labels} | {one.help.replace('|', ' or ')} |"
        )
    return "\n".join(lines) + "\n"


def exporter_cost_table() -> str:
    """The exporter beside node_exporter, measured in one run."""
    record = json.loads((RESULTS / "exporter.json").read_text(encoding="utf-8"))
    rows: list[Sequence[str]] = []
    for one in record["records"]:
        cells = (
            f"{one['devices']:,}", one["program"], f"{one['cpu_ms_per_scrape']:.0f} ms",
            f"{one['p50_ms']:.0f} ms", f"{one['p99_ms']:.0f} ms", f"{one['resident_mib']:.0f} MiB",
        )  # fmt: skip
        rows.append(cells)
    return markdown_table(
        "devices | program | CPU a scrape | median scrape | 99th percentile | memory", rows
    )


PARTS: dict[Path, dict[str, Callable[[], str]]] = {
    README: {"page": page_text, "bill": fleet_tables.bill_sentence, "rules": rules_table},
    KINDS: {"kinds": kinds_table},
    SETTINGS_PAGE: {"settings": settings_table},
    EXPORTER: {
        "flags": flags_table,
        "metrics": metrics_table,
    },
    SERVING: {"served": served_table},
    MEASURING: {
        "plan": measured.plan_example,
        "profiles": measured.profiles_table,
        "drain": measured.example_text,
        "published-summary": measured.published_summary,
        "measure-flags": measured.flags_table,
    },
    JSON: {"documents": json_tables.documents_table, "fields": json_tables.fields_table},
    ALERTING: {"alarm": alarm_text, "email": email_text},
    FLEETS: {
        "month": fleet_tables.month_table,
        "bill": fleet_tables.bill_table,
        "day-summary": fleet_tables.day_summary,
        "spread": fleet_tables.spread_table,
    },
    NOTES: {
        "attacks": security_tables.attacks_table,
        "soak": security_tables.soak_table,
        "fuzz": security_tables.fuzz_table,
        "cost": exporter_cost_table,
        "served-memory": fleet_tables.served_memory_table,
        "cold-start": fleet_tables.cold_start_table,
    },
    RESULTS_PAGE: {
        "fresh": lambda: backtest_table("servers-fresh"),
        "stale": lambda: backtest_table("servers-stale"),
        "fresh-machines": lambda: parts_table("servers-fresh", "machines", "machine held out"),
        "stale-machines": lambda: parts_table("servers-stale", "machines", "machine held out"),
        "nab": lambda: backtest_table("nab-stale"),
        "cpu-rules": cpu_table,
        "hazard": hazard_table,
        "calibration": calibration_table,
        "grid": fleet_tables.grid_table,
        "delay": fleet_tables.delay_table,
        "mixed-kinds": fleet_tables.mixed_table,
        "mixed": fleet_tables.mixed_sentence,
        "balance-alone": fleet_tables.balance_alone_table,
        "shards": fleet_tables.shards_table,
        "programs": fleet_tables.programs_table,
        "day": fleet_tables.day_table,
        "published": measured.published_table,
    },
    RECORDINGS: {
        path.name: partial(recording_start, path.name)
        for path in sorted(RECORDED.glob("*.[cj]s*"))
        if f"<!-- {path.name} -->" in RECORDINGS.read_text(encoding="utf-8")
    },
    CONTRIBUTING: {"emulators": emulator_tables.emulators_table},
    ARCHITECTURE: {"gaps": emulator_tables.gaps_table},
    SECURITY: {"denied": security_tables.denied_table},
    BACKTEST: {
        "columns": columns_list,
        "families": families_table,
        "equal-share": equal_share_table,
        "cpu": cpu_sentence,
    },
}


def generated(page: Path) -> str:
    """A page's text with its generated parts as they must be, each between its marks."""
    text = page.read_text(encoding="utf-8")
    for name, make in PARTS[page].items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        made = make()
        for recorded, said in SAID.items() if page in {BACKTEST, RESULTS_PAGE} else ():
            made = made.replace(recorded, said)
        text = before + begin + made + end + after
    return text


def _record(name: str) -> Record:
    record: Record = json.loads((RESULTS / f"backtest-{name}.json").read_text(encoding="utf-8"))
    return record


def _plain(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _ranged(value: float | None, interval: list[float] | None) -> str:
    if value is None or interval is None:
        return _plain(value)
    return f"{value:.2f} ({interval[0]:.2f} to {interval[1]:.2f})"


def draw_policies(view: str) -> str:
    """The policies on server disks, from the record of the backtest."""
    positions = {
        name: (policy["needless_per_week"], policy["announced"])
        for name, policy in _record(f"servers-{view}")["policies"].items()
        if name in SHOWN and name != UNSEEN
    }
    return draw_scores(positions, title=f"servers, {view} data, lead 15 min")


PICTURES: dict[Path, Callable[[], str]] = {
    ROOT / "docs" / "incident.svg": hero.draw,
    ROOT / "docs" / "fleets.svg": fleet_tables.draw_growth,
    ROOT / "docs" / "backtest-fresh.svg": partial(draw_policies, "fresh"),
    ROOT / "docs" / "backtest-stale.svg": partial(draw_policies, "stale"),
}

if __name__ == "__main__":
    for path, draw in PICTURES.items():
        path.write_text(draw(), encoding="utf-8")
    for path in PARTS:
        path.write_text(generated(path), encoding="utf-8")
