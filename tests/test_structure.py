"""The structure that keeps the code easy to enter: no circle of imports, and tests that stand alone."""

import ast
import re
import sys
from fnmatch import fnmatch
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("burstwatch", "burstwatch_exporter", "demo", "monitoring")
MOST_TOP_LEVEL_MODULES = 8


def circle(*packages: str) -> list[str]:
    """The modules of one import circle, the first of them again at the end; empty without one."""
    graph = grimp.build_graph(*packages, cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_no_module_imports_itself_by_a_detour() -> None:
    assert circle(*PACKAGES) == []


def test_a_planted_circle_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "planted"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "inner" / "__init__.py").touch()
    (package / "one.py").write_text("from planted.inner import two\n")
    (package / "inner" / "two.py").write_text("def late():\n    from planted import three\n")
    (package / "three.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import planted.one\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    found = circle("planted")
    sys.modules.pop("planted", None)
    assert {"planted.one", "planted.inner.two", "planted.three"} <= set(found)


def test_a_newcomer_meets_at_most_eight_modules_beside_the_packages() -> None:
    top = ROOT / "burstwatch"
    # Python itself looks for these two there.
    modules = {path.name for path in top.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert len(modules) <= MOST_TOP_LEVEL_MODULES


def test_no_folder_of_tests_has_a_name_that_pytest_leaves_out(pytestconfig: pytest.Config) -> None:
    patterns = pytestconfig.getini("norecursedirs")
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    parts = {part for folder in folders for part in folder.relative_to(ROOT).parts}
    left_out = [part for part in parts if any(fnmatch(part, pattern) for pattern in patterns)]
    assert "dist" in patterns
    assert left_out == []


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
                if owner not in {
                    "self",
                    "cls",
                    "os",
                    "ClientCreator",
                    "point",
                    "enforcer",
                    "recorder",
                }:
                    offences.append(f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)}")
    assert not offences
