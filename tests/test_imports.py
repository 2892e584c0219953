"""No two modules import each other, at any depth and by any detour."""

import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

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
    top = Path(__file__).parents[1] / "burstwatch"
    # Python itself looks for these two there.
    modules = {path.name for path in top.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert len(modules) <= MOST_TOP_LEVEL_MODULES
