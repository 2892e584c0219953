"""What on-call reads, whole, as files that a reviewer sees change. `make gen` rewrites them."""

import pytest

from tools.golden import CASES, CROWD, golden_path, rendered


@pytest.mark.parametrize("name", [*CASES, CROWD])
def test_the_messages_are_the_golden_ones(name: str) -> None:
    assert golden_path(name).read_text(encoding="utf-8") == rendered(name), "run 'make gen'"


def test_every_golden_file_has_its_case() -> None:
    assert {path.stem for path in golden_path("any").parent.iterdir()} == {*CASES, CROWD, "doctor"}
