"""Each alarm has its runbook, and each command in it is one that AWS and burstwatch have."""

import re
import shlex

import botocore.session
import pytest

from burstwatch.cli.main import build_parser
from burstwatch.config import Config
from burstwatch.forecast.judge import RELAPSE_S
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind
from burstwatch.messages.message import RUNBOOK_BY_KIND
from burstwatch_exporter.main import build_measure_parser
from burstwatch_exporter.main import build_parser as build_exporter_parser
from tests.runbooks import ALERTING, FOLDER, RUNBOOKS, blocks

pytestmark = pytest.mark.slow

#: What the AWS CLI takes everywhere.
GLOBAL = {"query", "output", "max-items", "region", "profile"}


def lines(text: str) -> list[list[str]]:
    """Every line of a runbook's blocks, and the commands in its tables, as arguments."""
    found = "\n".join(blocks(text)).replace("\\\n", " ").splitlines()
    found = [re.sub(r"^[A-Z_]+=\$\((.*)\)$", r"\1", line.strip()) for line in found]
    found += re.findall(r"`((?:aws|burstwatch) [^`]+)`", text)
    return [words for words in map(shlex.split, found) if words]


def commands(text: str) -> list[list[str]]:
    """Every command of the AWS CLI and of burstwatch."""
    return [words for words in lines(text) if words[0] in {"aws", "burstwatch"}]


def every_command() -> list[tuple[str, list[str]]]:
    return [
        (path.stem, words) for path in [*RUNBOOKS, ALERTING] for words in commands(path.read_text())
    ]


@pytest.mark.parametrize(("runbook", "words"), every_command(), ids=lambda value: str(value)[:60])
def test_a_command_of_a_runbook_is_one_that_there_is(runbook: str, words: list[str]) -> None:
    if words[0] == "burstwatch":
        build_parser().parse_args(words[1:])
        return
    service, operation, *rest = words[1:]
    session = botocore.session.Session()
    if operation == "wait":
        assert rest[0].replace("-", "_") in map(
            botocore.xform_name, session.get_waiter_model(service).waiter_names
        )
        return
    model = session.get_service_model(service)
    by_cli_name = {_dashed(name): name for name in model.operation_names}
    assert operation in by_cli_name, runbook
    shape = model.operation_model(by_cli_name[operation]).input_shape
    members = {_dashed(name) for name in shape.members} if shape else set()
    # The AWS CLI has another name for this one: --endpoint-url would be its own.
    members |= {"notification-endpoint"} if (service, operation) == ("sns", "subscribe") else set()
    options = {word.removeprefix("--").removeprefix("no-") for word in rest if word[:2] == "--"}
    assert options <= members | GLOBAL, runbook


def test_a_flag_of_the_exporter_in_a_runbook_is_one_that_it_has() -> None:
    found = [
        words[1:]
        for path in RUNBOOKS
        for words in lines(path.read_text())
        if words[0] == "burstwatch-exporter"
    ]
    assert len(found) >= 4
    for words in found:
        parser = build_measure_parser() if words[0] == "measure" else build_exporter_parser()
        parser.parse_args(words[1:] if words[0] == "measure" else words)


def test_every_runbook_has_impact_fix_diagnosis_and_when_it_is_resolved() -> None:
    assert len(RUNBOOKS) >= 15
    for path in RUNBOOKS:
        text = path.read_text()
        assert "\n**Impact.** " in text, path.name
        assert "\n## Diagnose\n" in text, path.name
        assert (
            text.index("\n## Fix\n")
            < text.index("\n## Diagnose\n")
            < text.index("\n## Resolved when\n")
        ), path.name
        assert commands(text) or "burstwatch-exporter" in text, path.name


NOTE = "# Write the account and the region of the "


def test_every_runbook_for_aws_asks_for_account_and_region_before_its_first_command() -> None:
    """What is pasted says so where the shell is in another account, and sets no profile: that may be one that exists."""
    for path in RUNBOOKS:
        text = "\n".join(blocks(path.read_text()))
        assert "AWS_PROFILE" not in text
        uses_account = re.search(
            r"^(?:\w+=\$\()?(?:aws|burstwatch (?!whatif)) ?", text, re.MULTILINE
        )
        if uses_account and not path.stem.startswith("host-"):
            assert re.match(
                rf"{re.escape(NOTE)}(resource|deployment)\..*\nexport ACCOUNT=123456789012 AWS_REGION=.*\naws sts get-caller-identity ",
                text,
            ), path.name


def test_the_runbook_of_a_critical_alarm_says_when_it_ends_with_the_defaults_numbers() -> None:
    text = " ".join((FOLDER / f"{RUNBOOK_BY_KIND}.md").read_text().split())
    assert f"no danger for {Config().hold_s / 60:g} minutes (`hold_s`)" in text
    assert f"can stay on for {RELAPSE_S / 60:g} minutes, or for the lead if that is longer" in text


def test_a_section_that_a_runbook_names_is_there() -> None:
    for path in RUNBOOKS:
        text = path.read_text()
        headings = set(re.findall(r"^#+ (.+)$", text, re.MULTILINE))
        assert {*re.findall(r"\(see \*([^*]+)\*\)", text)} <= headings, path.name


def test_the_runbook_that_an_alarm_names_is_there() -> None:
    for name in (RUNBOOK_BY_KIND, "resource-warning"):
        assert (FOLDER / f"{name}.md").exists()
    assert (FOLDER / "mass.md").exists()


def test_the_runbook_of_a_critical_alarm_has_a_section_for_each_kind() -> None:
    headings = re.findall(
        r"^### `(\w+)`$", (FOLDER / f"{RUNBOOK_BY_KIND}.md").read_text(), re.MULTILINE
    )
    assert sorted(headings) == sorted(find_kinds())


@pytest.mark.parametrize("kind", find_kinds().values(), ids=lambda kind: kind.name)
def test_the_section_of_a_kind_has_all_that_its_page_says_to_look_at(kind: Kind) -> None:
    text = (FOLDER / f"{RUNBOOK_BY_KIND}.md").read_text()
    section = " ".join(text.partition(f"### `{kind.name}`")[2].partition("\n##")[0].split())
    programs = re.findall(r"`([^`]+)`", kind.spenders) or [
        kind.spenders.partition("(")[2].rstrip(")")
    ]
    assert [program for program in programs if program not in section] == []


def test_the_links_between_runbooks_lead_somewhere() -> None:
    for path in RUNBOOKS:
        for target in re.findall(r"\]\(([^)]+)\)", path.read_text()):
            assert (FOLDER / target).exists(), f"{path.name}: {target}"


def _dashed(name: str) -> str:
    return str(botocore.xform_name(name, "-"))


def test_every_source_of_the_exporter_that_can_fail_has_a_row_and_a_place_in_the_docs() -> None:
    code = "".join(
        path.read_text()
        for path in (FOLDER.parents[1] / "exporter/burstwatch_exporter").rglob("*.py")
    )
    sources = {*re.findall(r'attempt\("([a-z_0-9]+)"\)', code), *re.findall(r'^    name = "([a-z_0-9]+)"', code, re.MULTILINE)}  # fmt: skip
    assert {"diskstats", "cpu", "network"} <= sources
    table = (FOLDER / "host-source-down.md").read_text().partition("## Fix")[2].partition("##")[0]
    rows = {name for line in table.splitlines() for name in re.findall("`([a-z_0-9]+)`", line.split("|")[1] if "|" in line else "")}  # fmt: skip
    assert rows == sources
    docs = (
        (FOLDER.parents[1] / "docs/exporter.md").read_text().partition("the others still work:")[2]
    )
    named = set(re.findall("`([a-z_0-9]+)`", docs.partition("\n\n")[0]))
    assert named == sources | {"web"}  # which counts refusals, and cannot fail
