"""A real-time test that fails runs again on a busy machine, and on no other."""

import itertools
import threading

import pytest

from tests.exporter.delivery import ATTEMPTS, longest_delay, repeats_when_busy


def attempts_of(*, busy: float, fails: int, load: float = 0.5) -> list[int]:
    """The attempts of a test that takes 10 s and fails so often, beside so much other work."""
    began: list[int] = []
    clock = [0.0]

    def test() -> None:
        began.append(len(began) + 1)
        clock[0] += 10
        assert len(began) > fails

    repeats_when_busy(
        test, waited_s=lambda: busy * clock[0], clock=lambda: clock[0], load=lambda: load
    )()
    return began


def test_a_test_that_holds_runs_once_however_busy_the_machine_is() -> None:
    assert attempts_of(busy=1.0, fails=0) == [1]


def test_a_test_that_fails_on_a_busy_machine_runs_again() -> None:
    assert attempts_of(busy=0.9, fails=2) == [1, 2, 3]


def test_a_test_that_fails_on_a_quiet_machine_fails() -> None:
    with pytest.raises(AssertionError):
        attempts_of(busy=0.1, fails=1)


def test_a_machine_that_is_always_busy_neither_passes_nor_fails_it() -> None:
    with pytest.raises(pytest.skip.Exception, match=f"in {ATTEMPTS} attempts"):
        attempts_of(busy=0.9, fails=ATTEMPTS)


def test_a_test_that_fails_beside_other_suites_runs_again_and_fails_if_it_always_does() -> None:
    assert attempts_of(busy=0.3, fails=2, load=2.0) == [1, 2, 3]
    with pytest.raises(AssertionError):
        attempts_of(busy=0.3, fails=ATTEMPTS, load=2.0)


def test_a_machine_that_stood_still_once_is_seen() -> None:
    times = itertools.chain([0.0, 0.02, 0.02, 1.54], itertools.repeat(2.0))
    woken = threading.Semaphore(0)
    with longest_delay(clock=lambda: next(times), sleep=lambda _: woken.release()) as delay_s:
        for _ in range(3):
            woken.acquire()
    assert delay_s() == pytest.approx(1.5)
