"""The real exporter under every attack of ``attacks``: an honest client gets its page, and nothing is left."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.exporter.attacks import ATTACKS, Target, attacked, descriptors, exporter

pytestmark = pytest.mark.real

#: Attacks that get nothing but what they ask for: scrapes, or a certificate as it was.
HARMLESS = {"none", "200 scrapers", "pages that are not read", "broken certificates"}
SECONDS = 2.0


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with exporter(tmp_path_factory.mktemp("host")) as running:
        yield running


@pytest.mark.parametrize("name", ATTACKS)
def test_an_honest_client_gets_every_page_and_afterwards_all_is_as_before(
    target: Target, name: str
) -> None:
    before, threads = descriptors(target.pid), count_threads(target)
    is_harmless = name in HARMLESS
    found = attacked(target, name, seconds=SECONDS, until_refused=not is_harmless)
    assert found.failed == 0
    assert found.scrapes > 0
    assert (found.refused > 0) != is_harmless
    until = time.monotonic() + 60  # a connection lasts 30 s at most
    while descriptors(target.pid) > before and time.monotonic() < until:
        time.sleep(0.1)
    assert descriptors(target.pid) <= before
    assert count_threads(target) == threads


def count_threads(target: Target) -> int:
    return sum(1 for _ in Path(f"/proc/{target.pid}/task").iterdir())


def test_the_log_has_lines_and_not_one_for_each_attack(target: Target) -> None:
    lines = (target.folder / "log").read_text().splitlines()
    refused = [line for line in lines if "refused since" in line]
    assert refused
    assert not [line for line in lines if "Traceback" in line]
    odd = [line for line in lines if not line.startswith("INFO ")]
    assert len([line for line in odd if "new certificate not taken" not in line]) < 10
