"""One word for one idea, in everything that people read: what is not said any more is not there."""

import ast
import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import pytest

from burstwatch.cli.main import build_parser, command_names
from burstwatch.config import SETTINGS
from burstwatch_exporter.main import build_measure_parser
from burstwatch_exporter.main import build_parser as build_exporter_parser
from burstwatch_exporter.page.metrics import METRICS

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
CODE = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)]*\)|<!--.*?-->", re.DOTALL)


def old_words(text: str) -> list[str]:
    """What a text says that is not said any more, with what is said."""
    return [
        f"{match[0]!r}: say {said}"
        for said, pattern in NOT_SAID.items()
        for match in re.finditer(pattern, " ".join(text.split()), re.IGNORECASE)
    ]


def helps() -> Iterator[tuple[str, str]]:
    """Every help that a person can read, by its name."""
    parsers = build_parser().by_name
    yield from ((f"burstwatch {name}", parsers[name].format_help()) for name in command_names())
    yield "burstwatch-exporter", build_exporter_parser().format_help()
    yield "burstwatch-exporter measure", build_measure_parser().format_help()
    yield "settings", "\n".join(setting.help for setting in SETTINGS)
    yield "metrics", "\n".join(metric.help for metric in METRICS)


def files(*patterns: str) -> Iterator[tuple[str, str]]:
    """The text of each file by its path."""
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def literals(folder: str) -> Iterator[tuple[str, str]]:
    """Every literal text of more than two words in the code, docstrings as well, by its line."""
    for name, text in files(f"{folder}/**/*.py"):
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Constant(value=str(literal)) if literal.count(" ") > 1:
                    yield f"{name}:{node.lineno}", literal.replace("``", "`")


TEXTS: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
    "pages": lambda: files(
        "*.md", "docs/*.md", "docs/contributing/*.md", "monitoring/runbooks/*.md"
    ),
    "helps": helps,
    "messages": lambda: files("tests/golden/*.txt"),
    "rules": lambda: files("monitoring/prometheus/*.yml"),
    "dashboards": lambda: files("monitoring/grafana/*.json"),
    "code": lambda: chain.from_iterable(
        map(literals, ("burstwatch", "exporter", "lambdas", "monitoring/dashboards"))
    ),
}


@pytest.mark.parametrize("texts", TEXTS)
def test_what_people_read_has_one_word_for_one_idea(texts: str) -> None:
    read = list(TEXTS[texts]())
    assert read
    has_code = texts in {"pages", "helps", "code"}
    assert not [
        (name, words)
        for name, text in read
        if (words := old_words(CODE.sub(" ", text) if has_code else text))
    ]


def test_the_words_are_found_where_they_are() -> None:
    texts = ("needless page", "runs dry", "made-up demand", "machine left out", "works at once", "good again",
             "it is asked again", "falls to its baseline", "20 % left", "costs nothing")  # fmt: skip
    assert [len(old_words(text)) for text in texts] == [1] * len(texts)
