"""What is kept of a history changes no verdict: a replay that computes everything anew says the same."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from burstwatch.backtest.replay import Played, volume
from burstwatch.backtest.simulate import Phase
from burstwatch.config import Config
from burstwatch.forecast.policy import Assessment, assess
from burstwatch.history.memo import Memo
from tests.unit.played import rows_of, steady

CONFIG = Config()


def loads_of(seed: int) -> list[Phase]:
    """Hours of bursts and rests, so that some instants are held from before."""
    draw = random.Random(seed)  # noqa: S311 - loads of a test
    loads = [*steady(100, 60)]
    for _ in range(5):
        loads += steady(draw.choice((600, 1_500, 3_000)), draw.randint(3, 22))
        loads += steady(draw.choice((0, 100, 280)), draw.randint(2, 60))
    return loads


def verdicts(seed: int) -> Iterator[Assessment]:
    rows = rows_of(loads_of(seed))
    played = Played(rows, volume("gp2", 100), 60.0)
    for row in rows[60::7]:
        yield assess(played.at(row.t_s + 60.0, 120.0, CONFIG), CONFIG)


@pytest.mark.parametrize("seed", range(4))
def test_a_replay_that_keeps_nothing_says_the_same(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = list(verdicts(seed))

    def anew(_: Memo, key: tuple[object, ...], compute: Callable[[], Any]) -> Any:
        del key
        return compute()

    monkeypatch.setattr(Memo, "once", anew)
    assert list(verdicts(seed)) == kept
    assert len({assessment.verdict for assessment in kept}) > 1
