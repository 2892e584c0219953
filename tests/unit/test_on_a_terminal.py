"""What commands print on a real pseudo-terminal of each width: it fits, breaks no word, and obeys NO_COLOR."""

import pytest

from tests.terminal import WIDEST, WIDTHS, misfits, shown_by

pytestmark = pytest.mark.slow
COMMANDS = (
    "",
    "--help",
    "explain --help",
    "explain --example",
    "explain --example --verbose",
    "advise --example",
    "catalog",
    "whatif --type gp2 --size-gib 100 --iops 3000",
    "whatif --type nothing --size-gib 100 --iops 3000",
)


def seen(command: str, *, columns: int, **env: str) -> str:
    """All that a command prints on a terminal of so many columns."""
    return shown_by(["-m", "burstwatch", *command.split()], columns=columns, env=env)


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_line_fits_and_no_word_is_broken(command: str, columns: int) -> None:
    whole = seen(command, columns=WIDEST)
    assert misfits(seen(command, columns=columns), whole, columns=columns) == []


@pytest.mark.parametrize("command", ["explain --example", "explain --example --every-period"])
def test_who_asks_for_no_colour_gets_no_escape(command: str) -> None:
    assert "\033[" in seen(command, columns=80)
    assert "\033[" not in seen(command, columns=80, NO_COLOR="1")
