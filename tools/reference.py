"""Writes the tables of the docs that are made of the code: settings, kinds, metrics, flags, JSON, messages. Run by `make gen`."""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path

from burstwatch import kinds
from burstwatch.backtest.scores import COLUMNS
from burstwatch.cli.documents import DOCUMENTS
from burstwatch.cli.policies import policy_of
from burstwatch.config import SETTINGS, Setting
from burstwatch.kinds import find_kinds
from burstwatch_exporter.measure.plan import imagined, make_plan
from burstwatch_exporter.measure.profiles import find_profile
from burstwatch_exporter.measure.record import read_result
from burstwatch_exporter.measure.report import plan_text, record_text
from burstwatch_exporter.measure.settings import SETTINGS as MEASURE_FLAGS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
DRAINED = ROOT / "tests" / "exporter" / "measured" / "drain.json"
GOLDEN = ROOT / "tests" / "golden" / "ebs_volume.txt"
#: The stack itself fills these in.
OF_THE_STACK = {
    "deployment",
    "sweep_period_s",
    "page_topic_arn",
    "notice_topic_arn",
    "events_topic_arn",
}
#: The lines of an alarm that the README shows.
OF_A_PAGE = ("Where:", "Do now:", "Do next:", "Command:")


def markdown_table(headings: str, rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown. ``headings`` are divided by ``|``, as in the table itself."""
    width = headings.count("|") + 1
    lines = [
        headings,
        " | ".join(["---"] * width),
        *(" | ".join(cell.replace("|", r"\|") for cell in row) for row in rows),
    ]
    return "".join(f"| {line} |\n" for line in lines)


def settings_table() -> str:
    """The settings that a deployment can be given."""
    rows = [
        (f"`{setting.name}`", _default(setting) or "none", setting.help)
        for setting in SETTINGS
        if setting.name not in OF_THE_STACK
    ]
    return markdown_table("setting | default | meaning", rows)


def _default(setting: Setting) -> str:
    value = setting.default
    return f"{value:g}" if isinstance(value, float) else value


def kinds_table() -> str:
    """The resource types that are watched, each by the first line of its own file."""
    rows = []
    for kind in find_kinds().values():
        text = (import_module(f"{kinds.__name__}.{kind.name}").__doc__ or "").partition("\n")[0]
        metrics = ", ".join(f"`{metric}`" for metric in kind.level_metrics)
        rows.append((f"`{kind.name}`", text, metrics))
    return markdown_table("kind | what runs out | metrics", rows)


def documents_table() -> str:
    """Each document of ``--json``, and the command that prints it."""
    rows = [
        (f"`{name}`", f"`burstwatch {document.command}`", document.when)
        for name, document in DOCUMENTS.items()
    ]
    return markdown_table("document | command | how often", rows)


def plan_example() -> str:
    """An example of a plan."""
    budgets = [flag.default for flag in MEASURE_FLAGS if flag.name == "budget-percent"]
    budget_ratio = float(budgets[0]) / 100
    given, credit = imagined(
        "gp2", 100, members=1, balance_ratio=1, budget_ratio=budget_ratio, vcpus=1
    )
    profile = find_profile("fio-16k-16jobs")
    text = plan_text(profile, make_plan(profile.steps, given, credit), "gp2 of 100 GiB")
    command = (
        "burstwatch-exporter measure --plan --profile fio-16k-16jobs --type gp2 --size-gib 100"
    )
    return f"```console\n$ {command}\n{text.strip()}\n```\n"


def drain_example() -> str:
    """What a drain of a throttled disk has printed, from its record."""
    return f"```text\n{record_text(read_result(DRAINED)).strip()}\n```\n"


def scan_actions() -> str:
    """The actions on an account that `burstwatch scan` needs."""
    look = policy_of("scan")["Statement"][0]
    return ", ".join(f"`{action}`" for action in look["Action"]) + "\n"


def columns_list() -> str:
    """What each column of a backtest means."""
    return "".join(f"- **{column.name}**: {column.help}.\n" for column in COLUMNS)


def alarm_text() -> str:
    """The alarm of a draining volume, as its golden file has it."""
    return _golden("==== ALARM to page")


def page_text() -> str:
    """The lines of that alarm that say what happens, where, and what to do."""
    lines = alarm_text().splitlines(keepends=True)
    fence, title, end = lines[0], lines[1], lines[-1]
    return fence + title + "".join(line for line in lines if line.startswith(OF_A_PAGE)) + end


def events_table() -> str:
    """The title of each message of an episode, as its golden file has it."""
    golden = GOLDEN.read_text(encoding="utf-8")
    rows = "".join(
        f"| `{event}` | {golden.partition(f'==== {event} to events, e-mail')[2].splitlines()[1].removeprefix('Subject: ')} |\n"
        for event in ("opened", "escalated", "empty", "recovered")
    )
    return f"| event | title |\n| --- | --- |\n{rows}"


def _golden(heading: str) -> str:
    _, _, rest = GOLDEN.read_text(encoding="utf-8").partition(heading)
    message = rest.partition("\n==== ")[0].partition("\n")[2]
    return f"```text\n{message.strip()}\n```\n"


PARTS: dict[Path, dict[str, Callable[[], str]]] = {
    ROOT / "README.md": {"page": page_text},
    DOCS / "kinds.md": {"kinds": kinds_table},
    DOCS / "security.md": {"scan": scan_actions},
    DOCS / "settings.md": {"settings": settings_table},
    DOCS / "measuring.md": {"plan": plan_example, "drain": drain_example},
    DOCS / "json.md": {"documents": documents_table},
    DOCS / "alerting.md": {"alarm": alarm_text, "events": events_table},
    DOCS / "contributing" / "backtest.md": {"columns": columns_list},
}


def with_parts(page: Path, parts: dict[str, Callable[[], str]]) -> str:
    """A page's text with its generated parts as they must be, each between its marks."""
    text = page.read_text(encoding="utf-8")
    for name, make in parts.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = before + begin + make() + end + after
    return text


if __name__ == "__main__":
    for path, tables in PARTS.items():
        path.write_text(with_parts(path, tables), encoding="utf-8")
