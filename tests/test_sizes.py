"""Names and sizes that keep the code easy to enter."""

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("burstwatch", "exporter/burstwatch_exporter")
LONGEST_FUNCTION = 60
#: Words that could name anything.
SAY_NOTHING = re.compile(
    "found|one|some|there|its|what|known|told|near|over|now_|left|made|seen|asked|judged|wanted|given|fresh|"
    "his|their|others?|both|all|each|own|then|first|rest|it|that|this|these|those"
)


def trees(*folders: str) -> Iterator[tuple[Path, ast.Module]]:
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    assert paths
    return ((path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths)


def test_no_function_is_longer_than_sixty_lines() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path, tree in trees(*PACKAGES, "lambdas", "demo", "monitoring/dashboards")
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
    ]
    assert found == []


def test_no_folder_of_tests_has_a_name_that_pytest_leaves_out(pytestconfig: pytest.Config) -> None:
    patterns = pytestconfig.getini("norecursedirs")
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    parts = {part for folder in folders for part in folder.relative_to(ROOT).parts}
    left_out = [part for part in parts if any(fnmatch(part, pattern) for pattern in patterns)]
    assert "dist" in patterns
    assert left_out == []


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every name that is bound, and every parameter, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno


@pytest.mark.parametrize("folder", ["burstwatch", "exporter", "lambdas"])
def test_no_variable_parameter_or_field_has_a_name_that_says_nothing(folder: str) -> None:
    vague = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path, tree in trees(folder)
        for name, line in bound_names(tree)
        if SAY_NOTHING.fullmatch(name)
    ]
    assert vague == []


def test_a_planted_name_that_says_nothing_is_found() -> None:
    planted = "def f(found, *, own): return [one for one in found]\nclass C:\n    left: int\n"
    names = {name for name, _ in bound_names(ast.parse(planted)) if SAY_NOTHING.fullmatch(name)}
    assert names == {"found", "own", "one", "left"}


#: A sentence without a subject of its own: the reader must find out what it is about.
BEGIN_NOWHERE = (
    "The same",
    "What ",
    "Whether ",
    "Those ",
    "Who ",
    "That ",
    "So many ",
    "So long ",
    "So far ",
)


@pytest.mark.parametrize("folder", ["burstwatch", "exporter", "lambdas"])
def test_docstrings_and_comments_of_constants_begin_with_the_thing_they_are_about(
    folder: str,
) -> None:
    nodes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    texts = [
        f"{path.relative_to(ROOT)}: {ast.get_docstring(node)}"
        for path, tree in trees(folder)
        for node in ast.walk(tree)
        if isinstance(node, nodes) and (ast.get_docstring(node) or "").startswith(BEGIN_NOWHERE)
    ]
    texts += [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path, _ in trees(folder)
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith(tuple(f"#: {words}" for words in BEGIN_NOWHERE))
    ]
    assert texts == []


@pytest.mark.parametrize("folder", [*PACKAGES, "lambdas"])
def test_no_statement_is_a_puzzle(folder: str) -> None:
    """A choice among three is an ``if``, and what loops three times deep is a loop."""
    puzzles = []
    for path, tree in trees(folder):
        for node in ast.walk(tree):
            match node:
                case ast.IfExp(body=ast.IfExp()) | ast.IfExp(orelse=ast.IfExp()):
                    puzzles.append(f"{path.relative_to(ROOT)}:{node.lineno}")
                case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                    if len(node.generators) > 2:
                        puzzles.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not puzzles


#: What a command, a kind, a format or a program has to define: one name for one part of a contract.
PARTS_OF_A_CONTRACT = {
    "add_arguments", "at_zero", "build_parser", "cause", "describe", "fixes", "handler", "identify",
    "main", "read_document", "run", "savings", "spent", "to_ratio", "totals", "usd_month",
}  # fmt: skip


def test_no_public_name_stands_for_two_things() -> None:
    """Functions, classes and types of all that ships; a constant belongs to its module."""
    modules_by_name: dict[str, list[str]] = {}
    for path in (
        path for package in (*PACKAGES, "lambdas") for path in (ROOT / package).rglob("*.py")
    ):
        for node in ast.parse(path.read_text()).body:
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    pass
                case (
                    ast.Assign(targets=[ast.Name(id=name)])
                    | ast.AnnAssign(target=ast.Name(id=name))
                ):
                    if not re.fullmatch("[A-Z][a-z]+[A-Za-z]*", name):
                        continue
                case _:
                    continue
            if not name.startswith("_") and name not in PARTS_OF_A_CONTRACT:
                modules_by_name.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert not {name: paths for name, paths in modules_by_name.items() if len(paths) > 1}


def test_no_test_uses_another_test_or_a_private_part_of_the_product() -> None:
    """What tests share is in modules of its own; what they need of the product has a public name."""
    offences = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                is_ours = node.module.startswith(("burstwatch", "lambdas"))
                takes_private = is_ours and any(name.name.startswith("_") for name in node.names)
                if takes_private or node.module.rpartition(".")[2].startswith("test_"):
                    offences.append(f"{path.relative_to(ROOT)}:{node.lineno}")
            elif isinstance(node, ast.Attribute) and re.match("_[a-z]", node.attr):
                owner = ast.unparse(node.value)
                if owner not in {"self", "cls", "os", "ClientCreator", "point"}:
                    offences.append(f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)}")
    assert not offences
