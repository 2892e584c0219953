"""What a measurement sees of its volumes while it runs, and when it says stop."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from burstwatch.ebs.volumes import Charge
from burstwatch_exporter.clock import system_clock
from burstwatch_exporter.credits.interval import Interval
from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.kernel.diskstats import Counters
from burstwatch_exporter.measure.meter import GoneError, Meter, MeterReading
from burstwatch_exporter.measure.plan import Bounds
from burstwatch_exporter.measure.watch import BUDGET_SPENT, MOST_SAMPLES, TICK_S, Stop, Watch
from burstwatch_exporter.settings import parse_options
from tests.exporter.planted import DISK, Planted, plant_host


class Script:
    """A meter that shows what it is told to, and then that the volume is gone."""

    def __init__(self, spent: Sequence[float], *, tick_s: float = TICK_S) -> None:
        self._seen: Iterator[MeterReading] = (
            MeterReading(
                at=i * tick_s,
                wall_s=i * tick_s,
                counters=Counters(int(value), int(value) * 4096, 0, 0, 0, 0),
                spent={DISK: Charge(least=0, nominal=value, most=value)},
                intervals={DISK: Interval(low=10_000 - value, high=10_000)},
            )
            for i, value in enumerate(spent)
        )

    def look(self) -> MeterReading:
        try:
            return next(self._seen)
        except StopIteration:
            msg = f"{DISK} is gone"
            raise GoneError(msg) from None


def watching(
    spent: Sequence[float], *, budget: float = 1e9, floor: float = 0.0, tick_s: float = TICK_S
) -> Watch:
    bounds = Bounds(budget=budget, floors={DISK: floor})
    return Watch(Script(spent, tick_s=tick_s), bounds, stop=threading.Event())  # type: ignore[arg-type]


def test_it_stops_before_what_the_next_look_would_find_too_much() -> None:
    """100 a look: at 800 the next one may find 900, and with 100 on their way a thousand."""
    watch = watching([0, 0, *range(100, 2_000, 100)])
    watch.begin("a", in_flight=100)
    said = [watch.reason(1_000) for _ in range(8)]
    assert said == [None] * 7 + [BUDGET_SPENT]
    assert watch.spent == 800


def test_what_is_idle_is_let_go_on_to_the_end_of_its_budget() -> None:
    watch = watching([0, 0, 990, 990, 990, 1_001])
    watch.begin("a")
    assert watch.reason(1_000) == BUDGET_SPENT  # it was fast until then
    assert [watch.reason(1_000) for _ in range(2)] == [None, None]
    assert watch.reason(1_000) == BUDGET_SPENT


def test_the_whole_budget_holds_whatever_a_step_is_allowed() -> None:
    watch = watching([0, 0, 400, 400], budget=300)
    watch.begin("a")
    assert watch.reason(1_000) == BUDGET_SPENT


def test_a_floor_is_of_what_is_certain() -> None:
    watch = watching([0, 0, 900, 1_100], floor=9_000)
    watch.begin("a")
    assert watch.reason(1e9) is None
    assert watch.reason(1e9) == Stop("floor", f"the balance of {DISK} may be under its floor")


def test_a_volume_that_is_gone_stays_as_it_was_last_seen() -> None:
    watch = watching([0, 0, 500])
    watch.begin("a")
    assert watch.reason(1e9) is None
    assert watch.reason(1e9) == Stop("gone", f"{DISK} is gone")
    watch.look()
    assert (watch.is_gone, watch.spent) == (True, 500)


def test_a_long_step_keeps_its_samples_few_and_their_means() -> None:
    count = 3 * MOST_SAMPLES
    watch = watching([0, *range(0, 10 * count, 10)], tick_s=1.0)
    watch.begin("a")
    for _ in range(count - 1):
        watch.reason(1e9)
    assert MOST_SAMPLES / 2 <= len(watch.samples) < MOST_SAMPLES
    assert all(one.iops == pytest.approx(10) for one in watch.samples)
    assert watch.samples[-1].seconds >= 2
    assert sum(one.seconds for one in watch.samples) == pytest.approx(count - 1, abs=4)


@pytest.fixture
def host(tmp_path: Path) -> Planted:
    return plant_host(tmp_path / "host", tmp_path / "data")


def test_a_meter_charges_what_was_done_since_the_host_looked(host: Planted) -> None:
    flags = {"path.procfs": "proc", "path.sysfs": "sys", "config.file": "config.yml"}
    options = parse_options({name: f"{host.root}/{path}" for name, path in flags.items()}, {})
    clock = system_clock()
    exporter = Exporter(options, clock)
    looked_at = clock.boot()
    views = exporter.host.observe().views
    before = views[0].account
    host.ops += 50_000
    host.write()
    meter = Meter(views, options.roots, clock, looked_at=looked_at)
    seen = meter.look()
    assert before is not None
    assert seen.intervals[DISK].low == pytest.approx(before.interval.low - 50_000, abs=500)
    assert seen.spent[DISK].most == 50_000


def test_a_meter_tells_another_volume_of_the_same_name(host: Planted) -> None:
    flags = {"path.procfs": "proc", "path.sysfs": "sys", "config.file": "config.yml"}
    options = parse_options({name: f"{host.root}/{path}" for name, path in flags.items()}, {})
    clock = system_clock()
    views = Exporter(options, clock).host.observe().views
    meter = Meter(views, options.roots, clock, looked_at=clock.boot())
    (host.root / "sys" / "block" / DISK / "diskseq").write_text("8\n")
    with pytest.raises(GoneError, match="detached or replaced"):
        meter.look()
