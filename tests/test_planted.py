"""Nothing is decided by a sentence: with a word more in each of them, everything is as it was but for that word."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.planted import NAMES, PACKAGES, ROOT, SENTENCE

pytestmark = pytest.mark.slow

WORD = "qz"


def outcomes(*words: str) -> dict[str, Any]:
    """What every case does, with the word planted or without."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.planted", *words]
    environment = {"PATH": "", "PYTHONPATH": ":".join(sys.path), "TZ": "UTC"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, check=True, text=True
    )
    tried: dict[str, Any] = json.loads(done.stdout)
    return tried


def without_word(outcome: Any) -> Any:
    """The same without the planted word; lines may be broken elsewhere for it."""
    if isinstance(outcome, list):
        return [without_word(part) for part in outcome]
    if not isinstance(outcome, str):
        return outcome
    return " ".join(re.sub(rf"\s*\b{WORD}\b", "", outcome).split())


def test_a_word_more_in_every_sentence_changes_nothing_else() -> None:
    plain, planted = outcomes(), outcomes(WORD)
    assert sum(WORD in str(outcome) for outcome in planted.values()) > len(plain) / 2
    changed = [name for name in plain if without_word(plain[name]) != without_word(planted[name])]
    assert changed == []


#: What reads the sentences of others, which have no code for it.
OTHERS = {
    "does not exist": "CloudFormation, of a stack",
    "FAILURES": "the AWS CLI, in place of an answer",
    "!= MORE": "our own, in the text of an alarm, which is the only store that it has",
}
#: Methods that look into a text, and fields that have one for people.
LOOKS = {
    "startswith",
    "endswith",
    "removeprefix",
    "removesuffix",
    "partition",
    "rpartition",
    "find",
    "index",
    "count",
}
TEXTS = {"reason", "why", "detail", "action", "headline", "effect", "title", "message"}


def sentences(tree: ast.Module) -> set[str]:
    """The constants of a module that are sentences, or have some in them. The values of a table are texts, and only its keys are looked up."""
    return {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Dict | ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name) and any(map(is_sentence, ast.walk(node.value)))
    }


def is_sentence(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value not in NAMES
        and SENTENCE.search(node.value) is not None
    )


def test_no_comparison_reads_a_sentence() -> None:
    trees = {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for package in PACKAGES
        for path in find_modules(package)
    }
    constants = set[str]().union(*map(sentences, trees.values()))
    decisions = [
        f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare | ast.Call)
        and any(reads(part, constants & names_of(tree)) for part in parts_of(node))
    ]
    assert [line for line in decisions if not any(words in line for words in OTHERS)] == []


def names_of(tree: ast.Module) -> set[str]:
    """What a module defines as a sentence, or imports."""
    imported = (
        name.name for node in tree.body if isinstance(node, ast.ImportFrom) for name in node.names
    )
    return sentences(tree) | set(imported)


def find_modules(package: str) -> list[Path]:
    return sorted((ROOT / ("" if package == "burstwatch" else "exporter") / package).rglob("*.py"))


def parts_of(node: ast.Compare | ast.Call) -> list[ast.expr]:
    """What is compared, or looked for in a text and the text itself."""
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    is_look = isinstance(node.func, ast.Attribute) and node.func.attr in LOOKS
    return [*node.args, node.func.value] if is_look and isinstance(node.func, ast.Attribute) else []


def reads(part: ast.expr, constants: set[str]) -> bool:
    if isinstance(part, ast.Tuple | ast.Set | ast.List):
        return any(reads(element, constants) for element in part.elts)
    if isinstance(part, ast.Attribute):
        return part.attr in TEXTS
    return is_sentence(part) or (isinstance(part, ast.Name) and part.id in constants)
