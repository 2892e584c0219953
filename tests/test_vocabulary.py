"""One word for one idea, in everything that people read: what is not said any more is not there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from burstwatch.cli.main import build_parser, command_names
from burstwatch.config import SETTINGS
from burstwatch_exporter.main import build_measure_parser
from burstwatch_exporter.main import build_parser as build_exporter_parser
from burstwatch_exporter.metrics import METRICS

ROOT = Path(__file__).parents[1]
#: What is not said, by what is said in its place.
NOT_SAID = {
    "false page": r"\bneedless\b",
    "run out": r"\b(run|runs|ran|running) dry\b|(?<!time to )\bexhaustions?\b|\bdry (with)?in\b|\bcredits end\b",
    "synthetic load": r"made-up",
    "held-out family, unseen machine": r"\b(family|families|machines?) (is |was |were )?left out\b",
    "immediately, together": r"\bworks? at once\b|\bhelps? at once\b",
    "resolved": r"\bgood again\b",
    "poll": r"\b(asks?|asked|looks?|looked) again\b",
    "throttled to the baseline": r"\bfalls? to (its|the) baseline\b|\bheld back\b",
    "20%, without a space": r"\d %(?![\w}])",
    "what is true every time": r"\bcosts nothing\b",
}
PAGES = [
    path.relative_to(ROOT).as_posix()
    for pattern in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "monitoring/runbooks/*.md")
    for path in sorted(ROOT.glob(pattern))
]  # fmt: skip
CODE = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)]*\)|<!--.*?-->", re.DOTALL)


def old_words(text: str) -> list[str]:
    """What a text says that is not said any more, with what is said."""
    return [
        f"{match[0]!r}: say {said}"
        for said, pattern in NOT_SAID.items()
        for match in re.finditer(pattern, " ".join(text.split()), re.IGNORECASE)
    ]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_one_word_for_one_idea(page: str) -> None:
    assert old_words(CODE.sub(" ", (ROOT / page).read_text(encoding="utf-8"))) == []


def helps() -> Iterator[tuple[str, str]]:
    """Every help that a person can read, by its name."""
    for name in command_names():
        yield f"burstwatch {name}", build_parser().by_name[name].format_help()
    yield "burstwatch-exporter", build_exporter_parser().format_help()
    yield "burstwatch-exporter measure", build_measure_parser().format_help()
    yield "settings", "\n".join(setting.help for setting in SETTINGS)
    yield "metrics", "\n".join(metric.help for metric in METRICS)


@pytest.mark.parametrize(("name", "text"), [pytest.param(*entry, id=entry[0]) for entry in helps()])
def test_a_help_has_one_word_for_one_idea(name: str, text: str) -> None:
    assert text, name
    assert old_words(CODE.sub(" ", text)) == []


GOLDEN = sorted((ROOT / "tests" / "golden").glob("*.txt"))
RULES = sorted((ROOT / "monitoring").glob("prometheus/*.yml"))
BOARDS = sorted((ROOT / "monitoring" / "grafana").glob("*.json"))


@pytest.mark.parametrize("path", [*GOLDEN, *RULES, *BOARDS], ids=lambda path: path.name)
def test_messages_rules_and_dashboards_have_one_word_for_one_idea(path: Path) -> None:
    assert old_words(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("folder", ["burstwatch", "exporter", "lambdas", "monitoring/dashboards"])
def test_what_the_code_prints_has_one_word_for_one_idea(folder: str) -> None:
    """Every literal text of more than two words, docstrings as well."""
    said = [
        f"{path.relative_to(ROOT)}:{node.lineno} {words}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") > 1
        for words in old_words(CODE.sub(" ", node.value.replace("``", "`")))
    ]  # fmt: skip
    assert said == []


def test_the_words_are_found_where_they_are() -> None:
    texts = ("needless page", "runs dry", "made-up demand", "machine left out", "works at once", "good again",
             "it is asked again", "falls to its baseline", "20 % left", "costs nothing")  # fmt: skip
    assert [len(old_words(text)) for text in texts] == [1] * len(texts)
