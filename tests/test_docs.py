"""What is written down is what is there."""

import io
import json
import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import tables
from burstwatch.backtest.replay import Played, volume
from burstwatch.cli.catalog import catalog, member_role
from burstwatch.cli.main import run
from burstwatch.config import Config
from burstwatch.forecast.chance import PAGED_FROM
from burstwatch.forecast.policy import assess
from burstwatch.formatting import percent
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind
from burstwatch.owner_tags import read_owner_tags
from tests.unit.played import rows_of, steady
from tools import reference
from tools.site import pages

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
HOW_IT_WORKS = (ROOT / "docs" / "how-it-works.md").read_text()
CONSOLE = re.findall(r"```(?:console|sh)\n(.*?)```", HOW_IT_WORKS, flags=re.DOTALL)
#: A stranger reads it in the time of a coffee.
LONGEST_README = 7_000


@pytest.mark.parametrize("writer", [reference, tables], ids=["reference", "benchmarks"])
def test_the_tables_of_the_docs_are_those_of_the_code_and_the_records(writer: ModuleType) -> None:
    for page, parts in writer.PARTS.items():
        assert reference.with_parts(page, parts) == page.read_text(), (
            f"run python -m {writer.__name__}"
        )


def test_the_catalog_of_the_cdk_app_is_the_one_of_the_library() -> None:
    committed = json.loads((ROOT / "cdk" / "catalog.json").read_text())
    assert committed == json.loads(json.dumps(catalog())), "run 'make gen'"


def test_the_role_of_a_member_account_only_reads_what_a_look_needs() -> None:
    committed = json.loads((ROOT / "cdk" / "member-role.json").read_text())
    assert committed == json.loads(json.dumps(member_role())), "run 'make gen'"
    (policy,) = committed["Resources"]["Role"]["Properties"]["Policies"]
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert all(
        action.partition(":")[2].startswith(("Describe", "Get", "List"))
        for action in statement["Action"]
    )
    assert set(statement["Action"]) <= set(catalog()["read_actions"])


@pytest.mark.parametrize("of", ["lambdas", "exporter"])
def test_the_function_and_the_image_are_pinned_as_the_project_is(of: str) -> None:
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    versions = {entry["name"]: entry.get("version") for entry in lock["package"]}
    pins = re.findall(
        r"^([a-z0-9-]+)==(\S+)", (ROOT / of / "requirements.txt").read_text(), re.MULTILINE
    )
    assert pins
    assert all(versions[name] == version for name, version in pins), "run 'make gen'"


EXAMPLES = [
    (line.removeprefix("$ "), block.split(line, 1)[1].strip())
    for block in CONSOLE
    for line in block.splitlines()
    if line.startswith("$ burstwatch ")
]


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_what_the_docs_show_is_what_the_command_prints(command: str, shown: str) -> None:
    out = io.StringIO()
    code = run(shlex.split(command)[1:], stdout=out, stderr=out, env={}, clock=lambda: 0.0)
    assert code == 0
    assert out.getvalue().strip() == shown


def test_the_readme_is_short_enough_to_be_read() -> None:
    assert len(README.encode()) <= LONGEST_README


def test_the_level_that_the_docs_say_a_full_burst_is_acted_on_is_the_one_that_it_is() -> None:
    rows = rows_of([*steady(100, 120), *steady(3_000, 33)])
    played, config = Played(rows, volume("gp2", 100), 60.0), Config()
    acted_on = next(
        row.values["BurstBalance"]
        for row in rows
        if assess(played.at(row.t_s + 360, 300.0, config), config).verdict == "critical"
    )
    assert (
        f"five minutes late, burstwatch pages when CloudWatch shows about {acted_on:.0f}%"
        in " ".join(HOW_IT_WORKS.split())
    )


def test_the_chance_from_which_the_docs_say_that_burstwatch_pages_is_the_defaults() -> None:
    limit = percent(PAGED_FROM[Config().page_on])
    text = " ".join(HOW_IT_WORKS.split())
    assert f"the chance of a run-out within two hours is at least {limit}" in text
    for page_on, begins in PAGED_FROM.items():
        assert re.search(rf"\*{page_on}\*[^,]* from {percent(begins)}", text)
    glossary = (ROOT / "docs" / "glossary.md").read_text()
    assert f"the limit of `page_on` ({limit} by default)" in glossary
    assert f"From {limit} on it pages" in (ROOT / "docs" / "faq.md").read_text()


FILES = subprocess.run(
    ["/usr/bin/git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
).stdout.split()
PAGES = sorted({*pages(), ".github/SECURITY.md"})
DECISIONS = ROOT / "docs" / "contributing" / "decisions"


@pytest.mark.parametrize("page", PAGES)
def test_every_target_of_make_that_a_page_names_exists(page: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", (ROOT / page).read_text(), re.MULTILINE))
    assert named <= targets


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_a_page_within_the_repo_leads_somewhere(page: str) -> None:
    for link in re.findall(r"\]\(([^)#\s]+)", (ROOT / page).read_text()):
        if "://" not in link and not link.startswith("mailto:"):
            assert (ROOT / page).parent.joinpath(link).exists(), link


@pytest.mark.parametrize("page", PAGES)
def test_every_file_and_function_that_a_page_names_exists(page: str) -> None:
    """A path in backquotes may leave out its first folders: ``look/snapshot.py:look``."""
    named = re.findall(
        r"`([A-Za-z0-9_./{}*-]+\.(?:py|ts|toml))(?::([A-Za-z_.]+))?`", (ROOT / page).read_text()
    )
    for path, symbol in named:
        files = [file for file in FILES if f"/{file}".endswith(f"/{path}")]
        assert files or set("{*") & set(path), path
        for name in filter(None, symbol.split(".")):
            defined = re.compile(rf"(?:def|class) {name}\b|^\s*{name}\b.*=", re.MULTILINE)
            assert any(defined.search((ROOT / file).read_text()) for file in files), (path, name)


def test_contributing_is_short_enough_to_be_read() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_bytes()) <= 8_000


def test_every_decision_is_in_the_list_of_decisions() -> None:
    records = sorted(path.name for path in DECISIONS.glob("0*.md"))
    index = (DECISIONS / "README.md").read_text()
    assert re.findall(r"\((0\S+)\)", index) == records
    assert len(records) <= 10


def test_every_alarm_of_the_stack_is_explained() -> None:
    source = (ROOT / "cdk" / "lib" / "health-alarms.ts").read_text()
    names = re.findall(r"add\('([a-z-]+)'", source)
    explained = (ROOT / "docs" / "alerting.md").read_text()
    assert len(names) >= 10
    for name in names:
        last = name.rpartition("-")[2]
        assert f"…-{name}`" in explained or f"`-{last}`" in explained, name


#: Services as people write them.
SPELLED = {"elasticache": "ElastiCache", "fsx": "FSx"}


@pytest.mark.parametrize("kind", find_kinds().values(), ids=lambda kind: kind.name)
def test_the_docs_name_what_a_sweep_lists(kind: Kind) -> None:
    service = kind.inventory.service
    listed = (
        (ROOT / "docs" / "security.md")
        .read_text()
        .split("inventories of ")[1]
        .partition(", tags")[0]
    )
    assert SPELLED.get(service, service.upper()) in listed


TEXTS = [
    path
    for pattern in (
        "docs/**/*.md",
        "README.md",
        "monitoring/**/*.md",
        "burstwatch/**/*.py",
        "cdk/lib/*.ts",
    )
    for path in ROOT.glob(pattern)
]


def test_every_tag_that_people_are_told_to_set_is_one_that_is_taken() -> None:
    told = {
        (path.name, tag, value)
        for path in TEXTS
        for tag, value in re.findall(r"(burstwatch:[a-z-]+)=([\w:+-]+)", path.read_text("utf-8"))
    }
    assert told
    refused = [entry for entry in told if read_owner_tags({entry[1]: entry[2]}).refused]
    assert refused == []


#: A paragraph is five lines at most.
LONGEST_PARAGRAPH = 90


@pytest.mark.parametrize("page", PAGES)
def test_no_paragraph_or_item_of_a_list_is_longer_than_ninety_words(page: str) -> None:
    text = re.sub(r"```.*?```|<!--.*?-->", "", (ROOT / page).read_text(), flags=re.DOTALL)
    blocks = [block for block in re.split(r"\n\s*\n", text) if not block.lstrip().startswith("|")]
    items = [item for block in blocks for item in re.split(r"\n(?=\s*(?:[-*]|\d+\.) )", block)]
    long = [item for item in items if len(item.split()) > LONGEST_PARAGRAPH]
    assert long == []


@pytest.mark.parametrize(
    "page", sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")}), ids=lambda page: page.name
)
def test_what_is_pasted_is_a_fence_of_sh_and_a_session_has_its_prompt(page: Path) -> None:
    """A highlighter takes a line without a prompt for output, and a # for the prompt of root."""
    text = page.read_text(encoding="utf-8")
    sessions = re.findall(r"^ *```console\n(.*?)^ *```", text, flags=re.DOTALL | re.MULTILINE)
    assert all(re.search(r"^ *\$ ", session, re.MULTILINE) for session in sessions)
    pasted = re.findall(r"^ *```sh\n(.*?)^ *```", text, flags=re.DOTALL | re.MULTILINE)
    assert not any(re.search(r"^ *\$ ", lines, re.MULTILINE) for lines in pasted)


def test_every_runbook_is_linked_by_a_page() -> None:
    pages = "".join(page.read_text() for page in (ROOT / "docs").glob("*.md"))
    runbooks = {path.name for path in (ROOT / "monitoring" / "runbooks").glob("*.md")}
    assert {name for name in runbooks if f"runbooks/{name}" not in pages} == set()


def test_every_check_of_a_claim_is_there() -> None:
    text = (ROOT / "docs" / "contributing" / "claims.md").read_text()
    checks = re.findall(
        r"`{1,2}(\S+?\.(?:py|ts))::(.+?)`{1,2}(?=[,| ])", text.replace("``, ", "`` , ")
    )
    assert len(checks) > 90
    for path, name in checks:
        source = (ROOT / path).read_text()
        assert name in source if path.endswith(".ts") else f"def {name}(" in source, (path, name)
    for module in re.findall(r"`python -m ([\w.]+)`", text):
        assert (ROOT / f"{module.replace('.', '/')}.py").exists(), module


def test_what_the_page_of_the_backtest_says_first_is_what_its_table_says() -> None:
    text = (ROOT / "docs" / "backtest.md").read_text()
    table = text.split("<!-- page-on -->")[1].split("<!-- /page-on -->")[0]
    balanced = [
        [float(cell) for cell in row.split(" | ")[3].split(", ")]
        for row in table.strip().splitlines()[2:]
    ]
    announced, right = ([row[column] for row in balanced] for column in (0, 3))
    first = " ".join(text.split("\n\n")[1].split())
    assert f"{min(announced):.0%} to {max(announced):.0%} of the run-outs" in first
    assert f"{min(right):.0%} to {max(right):.0%} are right" in first


def test_what_the_readme_says_first_is_what_its_tables_say() -> None:
    text = " ".join(README.split())
    (announced, right) = re.findall(r"\| \*\*burstwatch\*\* \| (\d+)% \| (\d+)% \|", text)[0]
    (alone,) = re.findall(r"\| 1 \| (\d+) \| \d+ \|", text)
    assert f"{announced}% of run-outs were announced 15 minutes ahead" in text
    assert 45 <= int(right) <= 55
    assert "half of the pages were false" in text
    (of_ten,) = re.findall(r"\| 10 \| (\d+) \| \d+ \|", text)
    assert f"{alone} USD a month for one account ({of_ten} for ten), one region each" in text
    (a_week,) = re.findall(r"\| \*\*burstwatch\*\* \|.*?\| ([\d.]+) \|", text)
    assert (a_week, "one per volume every two weeks" in text) == ("0.5", True)
    backtest = (ROOT / "docs" / "backtest.md").read_text().split("page-on -->")[1]
    (vm,) = re.findall(r"\| vm \| stale \| [^|]* \| ([^|]*) \|", backtest)
    vm_announced, _, _, vm_right = map(float, vm.split(", "))
    assert f"{vm_announced:.0%} announced, but only {vm_right:.0%} right" in text
    (more,) = re.findall(r"Each volume that can burst adds ([\d.]+) cents a month", text)
    assert f"plus {more} cents for each volume that can burst" in text
    (missed, as_right) = re.findall(r"`BurstBalance` < 20% \| (\d+)% \| (\d+)% \|", text)[0]
    assert 62 <= int(missed) <= 70  # a third of the run-outs
    assert abs(int(as_right) - int(right)) <= 5
