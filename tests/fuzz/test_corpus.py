"""Every input of the corpus, those that once broke a parser among them, goes through its parser."""

import pytest

from tests.fuzz.targets import TARGETS, corpus_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "data"),
    [
        pytest.param(name, path.read_bytes(), id=f"{name}-{path.name}")
        for name in TARGETS
        for path in corpus_of(name)
    ],
)
def test_an_input_is_read_or_refused(name: str, data: bytes) -> None:
    TARGETS[name](data)


def test_every_target_has_something_to_start_from() -> None:
    assert [name for name in TARGETS if not corpus_of(name)] == []
