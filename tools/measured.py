"""The generated parts of the page on measuring: flags, profiles, published figures, pictures, an example."""

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from burstwatch.charts import picture
from burstwatch.formatting import number
from burstwatch_exporter.measure.picture import scaling_charts, step_charts
from burstwatch_exporter.measure.plan import imagined, make_plan
from burstwatch_exporter.measure.profiles import find_profile, profiles
from burstwatch_exporter.measure.record import read_result
from burstwatch_exporter.measure.report import plan_text, record_text
from burstwatch_exporter.measure.settings import SETTINGS, SWITCHES
from tools.pages import MEASURED
from tools.published import TABLE_OF, TABLES, figures
from tools.published_figure import Figure

THREE_DIGITS = 100
SETTING = {one.name: float(one.default) for one in SETTINGS if isinstance(one.default, float)}
DOCS = Path(__file__).parents[1] / "docs"


def flags_table() -> str:
    """The flags of ``measure``."""
    lines = ["| flag | default | meaning |", "| --- | --- | --- |"]
    lines += [f"| `--{name}` | | {text} |" for name, text in SWITCHES.items()]
    for flag in SETTINGS:
        default = f"{flag.default:g}" if isinstance(flag.default, float) else flag.default
        lines.append(f"| `--{flag.name}` | {f'`{default}`' if default else 'none'} | {flag.help} |")
    return "\n".join(lines) + "\n"


def profiles_table() -> str:
    """Every profile with what it runs."""
    lines = [
        "| profile | steps | each step: size, jobs x in flight, time | published table | |",
        "| --- | --- | --- | --- | --- |",
    ]
    for one in profiles().values():
        step = one.steps[0]
        each = f"{step.block_kib:g} KiB, {step.jobs} x {step.depth} in flight, {step.runtime_s:g} s"
        if len({(s.block_kib, s.jobs, s.depth) for s in one.steps}) > 1:
            each = f"{each} and others"
        table = f"`{TABLE_OF[one.name]}.csv`" if one.name in TABLE_OF else "-"
        lines.append(f"| `{one.name}` | {len(one.steps)} | {each} | {table} | {one.help} |")
    return "\n".join(lines) + "\n"


def published_summary() -> str:
    """The number of figures, and how many of them are apart."""
    found = figures()
    lines = [
        "| table | figures | within a tenth | explained | nothing promised |",
        "| --- | --- | --- | --- | --- |",
    ]
    for table in TABLES:
        of = [one for one in found if one.table == table]
        kinds = Counter(_kind(one) for one in of)
        lines.append(
            f"| `{table}.csv` | {len(of)} | {kinds['near']} | {kinds['apart']} | {kinds['nothing']} |"
        )
    kinds = Counter(_kind(one) for one in found)
    lines.append(
        f"| all | {len(found)} | {kinds['near']} | {kinds['apart']} | {kinds['nothing']} |"
    )
    return "\n".join(lines) + "\n"


def published_table() -> str:
    """Every figure beside its promise, and why where they are apart."""
    return "\n".join(_published_lines()) + "\n"


def plan_example() -> str:
    """An example of a plan."""
    given, credit = imagined(
        "gp2",
        100,
        members=1,
        balance_ratio=1,
        budget_ratio=SETTING["budget-percent"] / 100,
        vcpus=1,
    )
    profile = find_profile("fio-16k-16jobs")
    text = plan_text(profile, make_plan(profile.steps, given, credit), "gp2 of 100 GiB")
    command = (
        "burstwatch-exporter measure --plan --profile fio-16k-16jobs --type gp2 --size-gib 100"
    )
    return f"```console\n$ {command}\n{text.strip()}\n```\n"


def example_text() -> str:
    """An example of a measurement's output, as a disk that the kernel throttled gave it."""
    return f"```\n{record_text(read_result(MEASURED / 'drain.json')).strip()}\n```\n"


def pictures() -> dict[Path, str]:
    """The pictures of the page, by file."""
    drain, scaling = (read_result(MEASURED / f"{name}.json") for name in ("drain", "scaling"))
    return {
        DOCS / "drain.svg": picture(list(step_charts(drain.steps[0], drain))),
        DOCS / "scaling.svg": picture(list(scaling_charts(scaling))),
    }


def _published_lines() -> Iterator[str]:
    for table in TABLES:
        yield f"### `{table}.csv`\n"
        yield "| row | figure | published | promised | ratio | why they are apart |"
        yield "| --- | --- | --- | --- | --- | --- |"
        for one in figures():
            if one.table == table:
                promised = "-" if one.promised is None else _short(one.promised)
                ratio = "-" if one.ratio is None else f"{one.ratio:.2f}"
                yield (
                    f"| {one.row} | {one.what}, {one.unit} | {_short(one.published)} | {promised} | {ratio} | {one.reason} |"
                )
        yield ""


def _kind(figure: Figure) -> str:
    if figure.promised is None:
        return "nothing"
    return "apart" if figure.is_apart else "near"


def _short(value: float) -> str:
    """Three digits at least, and whole numbers from there on."""
    is_long = abs(value) >= THREE_DIGITS or math.isclose(value, round(value))
    return number(value) if is_long else f"{value:.3g}"


if __name__ == "__main__":
    for path, text in pictures().items():
        path.write_text(text, encoding="utf-8")
