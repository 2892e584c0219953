"""The truth never leaves the interval, whatever EBS makes of the I/O."""

import math
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from burstwatch.ebs.volumes import Charge
from burstwatch_exporter.config_file import VolumeConfig
from burstwatch_exporter.credits import interval as iv
from burstwatch_exporter.credits.disk_spec import disk_spec_of
from burstwatch_exporter.credits.first_read import DeviceAge, start_of
from burstwatch_exporter.credits.interval import Interval
from burstwatch_exporter.credits.ledger import Ledger, Reading
from burstwatch_exporter.credits.outlook import is_served_at_baseline, project
from burstwatch_exporter.credits.state import Saved
from burstwatch_exporter.kernel.diskstats import STILL, Rate
from tests.exporter.ledgers import (
    BUCKET,
    GIB,
    HostileEbs,
    a_disk,
    a_ledger,
    a_promise,
    custom,
    done,
    shares,
)

ios = st.tuples(st.sampled_from([1, 300, 1_024]) | st.integers(1, 1_024), shares)
steps = st.lists(
    st.tuples(
        st.floats(0.01, 60),  # before this step's reading
        st.lists(ios, max_size=12),  # charged before the credits come in
        st.lists(ios, max_size=12),  # and after
        st.sampled_from([0, 2, 30]),  # how many complete
        st.floats(0, 0.5),  # how long reading takes
        shares,  # when within that the counters are of
    ),
    min_size=1,
    max_size=30,
)


@given(shares, shares, shares, st.floats(0, 0.5), steps)
def test_the_truth_never_leaves_the_interval(
    ratio: float,
    below: float,
    above: float,
    read_s: float,
    steps: list[tuple[float, list[tuple[int, float]], list[tuple[int, float]], int, float, float]],
) -> None:
    level = ratio * BUCKET.capacity
    ebs = HostileEbs(level=level)
    start = Interval(low=level * below, high=level + (BUCKET.capacity - level) * above)
    # The first reading took so long, and its counters are of its very end.
    ledger = a_ledger(start, at=-read_s, slack_s=read_s)
    now = 0.0
    for seconds, early, late, completed, slack, within in steps:
        true_at = max(now, ledger.reading.at + seconds + slack * within)
        for size, merged in early:
            ebs.take(size, merged)
        ebs.refill(true_at - now)
        for size, merged in late:
            ebs.take(size, merged)
        ebs.finish(completed)
        now = true_at
        ledger.note(
            Reading(wall_s=0.0, at=true_at - slack * within, slack_s=slack, counters=ebs.counters),
        )
        seen = ledger.seen()
        assert seen.low <= ebs.level + 1e-6
        assert ebs.level <= seen.high + 1e-6


def test_what_is_full_and_does_small_random_io_is_charged_one_credit_each_as_is_likely() -> None:
    ledger = a_ledger(iv.full(BUCKET))
    for second in range(1, 11):
        ledger.note(
            Reading(wall_s=0.0, at=second, slack_s=0.0, counters=done(60 * second, 960 * second)),
        )
    seen = ledger.seen()
    assert seen.likely == 500  # ten seconds of 60 spent and 10 gained
    assert seen.low < 500 < seen.high
    projection = project(ledger, STILL, "none")
    assert projection.state == "finite"
    assert projection.time_to_empty_s == pytest.approx(10.0)


def test_large_sequential_io_is_charged_its_bytes() -> None:
    ledger = a_ledger(iv.full(BUCKET))
    ledger.note(Reading(wall_s=0.0, at=1.0, slack_s=0.0, counters=done(40, 40 * 256)))
    seen = ledger.seen()
    assert seen.likely == seen.high == 970  # 40 pieces of 256 KiB, and what came in meanwhile
    assert seen.low == 920  # or 80, if the requests were of odd sizes


def test_io_in_flight_may_have_been_begun_while_requests_could_be_larger() -> None:
    ledger = a_ledger(iv.full(BUCKET))
    ledger.note(Reading(wall_s=0.0, at=1.0, slack_s=0.0, counters=done(in_flight=5)))
    ledger.go_on_with(a_disk(largest_kib=256), a_promise())
    assert ledger.seen().low == 1_000 - 5 * 4


def test_until_the_interval_is_narrow_nothing_is_likely() -> None:
    wide = iv.after_seen(
        BUCKET, iv.unknown(BUCKET), seconds=10, charge=Charge(least=0, nominal=0, most=0)
    )
    assert (wide.low, wide.high, wide.likely) == (100, 1_000, None)
    narrow = iv.after_seen(BUCKET, wide, seconds=50, charge=Charge(least=0, nominal=0, most=0))
    assert narrow.likely == 800


def test_a_published_balance_narrows_the_interval_and_takes_its_place_where_they_exclude_each_other() -> (
    None
):
    start = Interval(low=100, high=900, likely=800)
    assert iv.narrowed(BUCKET, start, low=200, high=400) == Interval(low=200, high=400, likely=400)
    assert iv.narrowed(BUCKET, start, low=950, high=1_000) == Interval(
        low=950, high=1_000, likely=975
    )


def test_counters_that_begin_anew_leave_a_gap_and_not_a_mistake() -> None:
    ledger = a_ledger(iv.full(BUCKET))
    ledger.note(Reading(wall_s=0.0, at=1.0, slack_s=0.0, counters=done(50, 800)))
    ledger.note(Reading(wall_s=0.0, at=2.0, slack_s=0.0, counters=done(3, 48)))
    assert ledger.seen().low == pytest.approx(1_000 - 50 - 3.125 + 10 - 105)


@example(rate=150)
@given(st.integers(110, 1_000))
def test_more_io_than_the_bucket_lets_through_is_no_io_of_this_bucket(rate: int) -> None:
    ledger = a_ledger(iv.full(BUCKET))
    for second in range(1, 60):
        ledger.note(
            Reading(
                wall_s=0.0,
                at=second,
                slack_s=0.0,
                counters=done(rate * second, rate * 256 * second),
            )
        )
        if ledger.origin == "contradicted":
            break
    assert ledger.origin == "contradicted"
    assert project(ledger, STILL, "none").state == "unknown"


def test_what_is_served_above_its_baseline_with_nothing_left_costs_less_than_was_thought() -> None:
    ledger = a_ledger(iv.full(BUCKET))
    for second in range(1, 31):  # 60 small I/O a second, merged by EBS: they never get slower
        ledger.note(
            Reading(wall_s=0.0, at=second, slack_s=0.0, counters=done(60 * second, 960 * second)),
        )
    projection = project(ledger, STILL, "none")
    assert projection.state == "unknown"
    assert "costs less" in projection.reason
    assert projection.low_s == 0.0


def test_a_bucket_that_is_empty_and_asked_for_more_is_exhausted_and_hints_so() -> None:
    ledger = a_ledger(Interval(low=5, high=20, likely=8))
    for second in range(1, 31):
        ledger.note(
            Reading(
                wall_s=0.0,
                at=second,
                slack_s=0.0,
                counters=done(10 * second, 160 * second, in_flight=4),
            )
        )
    assert project(ledger, STILL, "none").state == "exhausted"
    assert is_served_at_baseline(ledger)


def test_a_volume_under_its_baseline_never_empties_whatever_is_left() -> None:
    ledger = a_ledger(iv.unknown(BUCKET))
    for second in range(1, 4):
        ledger.note(
            Reading(wall_s=0.0, at=second, slack_s=0.0, counters=done(5 * second, 80 * second)),
        )
    projection = project(ledger, STILL, "none")
    assert projection.state == "infinite"
    assert projection.low_s == math.inf
    assert projection.time_to_full_s == pytest.approx((1_000 - ledger.seen().low) / 5)


# Where it begins


def moment(*, age_s: float | None = None) -> DeviceAge:
    return DeviceAge(boot_id="b", age_s=age_s)


def test_what_was_counted_since_the_device_appeared_narrows_the_very_first_reading() -> None:
    reading = Reading(wall_s=10_000.0, at=500.0, slack_s=0.0, counters=done(100, 1_600))
    start = start_of(a_disk(), a_promise(), reading, moment(age_s=500.0), None)
    assert start.origin == "appeared"
    assert start.interval.low == 1_000 - 106.25
    assert "500 s" in start.reason or "8 min" in start.reason


def test_a_new_volume_is_full_when_it_is_made() -> None:
    said = VolumeConfig(custom=custom(BUCKET), created_s=9_990.0)
    spec, _ = disk_spec_of(said, size_bytes=GIB, instance=None)
    assert spec is not None
    reading = Reading(wall_s=10_000.0, at=500.0, slack_s=0.0, counters=done(20, 320))
    start = start_of(a_disk(), spec, reading, moment(age_s=8.0), None)
    assert start.origin == "created"
    # Two seconds of anything, then twenty small reads.
    assert start.interval.low == pytest.approx(1_000 - 2 * 105 + 8 * 10 - 21.25)
    assert start.interval.high == 1_000


def test_what_is_kept_for_a_later_process_allows_for_what_this_one_could_not_time() -> None:
    ledger = a_ledger(Interval(low=500, high=600, likely=550), slack_s=0.5)
    assert ledger.kept()[0] == Interval(low=495, high=605, likely=550)


class Life:
    """A hostile volume on a host whose exporter and kernel start anew now and then."""

    def __init__(self, level: float) -> None:
        self.ebs = HostileEbs(level=level)
        self.now, self.boot = 0.0, 1
        self.appeared: float | None = 0.0
        self.ledger = a_ledger(Interval(low=level, high=level))

    def reading(self) -> Reading:
        return Reading(at=self.now, wall_s=self.now, slack_s=0.0, counters=self.ebs.counters)

    def begin(self, saved: Saved | None) -> Ledger:
        disk, spec = a_disk(), a_promise()
        age_s = None if self.appeared is None else self.now - self.appeared
        moment = DeviceAge(boot_id=f"boot {self.boot}", age_s=age_s)
        start = start_of(disk, spec, self.reading(), moment, saved)
        return Ledger(
            disk,
            spec,
            start=start.interval,
            origin=start.origin,
            reading=self.reading(),
            slot_s=1.0,
        )

    def saved(self) -> Saved:
        ledger = self.ledger
        return Saved(
            key=ledger.disk.key,
            name=ledger.disk.name,
            sequence=ledger.disk.sequence,
            boot_id=f"boot {self.boot}",
            at=ledger.reading.at,
            wall_s=ledger.reading.wall_s,
            counters=replace(ledger.reading.counters, in_flight=0),
            bucket=BUCKET,
            spec_id=ledger.spec.spec_id,
            interval=ledger.kept()[0],
        )

    def does(self, seconds: float, sizes: list[tuple[int, float]], completed: int) -> None:
        for size, merged in sizes:
            self.ebs.take(size, merged)
        self.ebs.refill(seconds)
        self.now += seconds
        self.ebs.finish(completed)

    def reboots(self, seconds: float, rate: float) -> None:
        """Gone for so long, while others spend; what was in flight is never counted."""
        self.ebs.refill(seconds)
        self.ebs.level -= min(self.ebs.level, rate * seconds)
        self.ebs.waiting.clear()
        self.ebs.counters = done()
        self.now += seconds
        self.boot += 1


@given(
    shares,
    st.booleans(),
    st.lists(
        st.tuples(
            st.sampled_from(["look", "restart", "reboot"]),
            st.sampled_from([0.1, 3.0, 30.0]),
            st.lists(ios, max_size=10),
            st.sampled_from([0, 2, 30]),
            st.sampled_from([0.0, 100.0]),
        ),
        min_size=2,
        max_size=12,
    ),
)
def test_no_restart_and_no_reboot_lets_the_truth_out_of_the_interval(
    ratio: float,
    has_udev: bool,  # noqa: FBT001 - drawn
    steps: list[tuple[str, float, list[tuple[int, float]], int, float]],
) -> None:
    life = Life(ratio * BUCKET.capacity)
    for what, seconds, sizes, completed, rate in steps:
        kept = life.saved()
        if what == "reboot":  # what nobody counts is spent no faster than the volume bursts
            life.reboots(seconds, rate)
            life.appeared = life.now if has_udev else None
        if what != "reboot" or has_udev:
            life.does(seconds, sizes, completed)
        if what == "look":
            life.ledger.note(life.reading())
        else:
            life.ledger = life.begin(kept)
        seen = life.ledger.seen()
        assert seen.low <= life.ebs.level + 1e-6
        assert life.ebs.level <= seen.high + 1e-6


def test_the_instance_holds_a_volume_back_though_none_alone_reaches_its_limit() -> None:
    ledger = a_ledger(iv.full(BUCKET))
    ledger.note(Reading(wall_s=0.0, at=1.0, slack_s=0.0, counters=done(50, 800)))
    busy = replace(STILL, read_iops=50.0)
    assert project(ledger, busy, "instance_iops").binding == "instance_iops"
    assert project(ledger, STILL, "instance_iops").binding == "none"  # idle itself


def test_two_scrapes_at_once_are_no_time_to_judge_a_rate_by() -> None:
    rate = Rate(0.0, done())
    rate.note(10.0, done(500, 8_192))
    assert (rate.load.iops, rate.load.mib_s) == (50, 0.8)
    rate.note(10.01, done(501, 8_208))
    assert rate.load.iops == 50
    rate.note(20.0, done(3, 48))  # begun anew
    assert rate.load == STILL
    rate.note(21.0, done(9, 144))
    assert rate.load.iops == 6


@pytest.mark.parametrize(("age_s", "created_s"), [(500.0, None), (None, None), (5.0, 9_000.0)])
def test_what_was_resized_since_it_appeared_or_was_made_is_known_no_more(
    age_s: float | None, created_s: float | None
) -> None:
    spec = replace(a_promise(), changed_s=9_600.0, created_s=created_s)
    reading = Reading(wall_s=10_000.0, at=500.0, slack_s=0.0, counters=done(20, 320))
    start = start_of(a_disk(), spec, reading, moment(age_s=age_s), None)
    assert (start.origin, start.interval) == ("resized", iv.unknown(BUCKET))


def test_what_was_resized_before_it_appeared_is_counted_since() -> None:
    spec = replace(a_promise(), changed_s=9_400.0)
    reading = Reading(wall_s=10_000.0, at=500.0, slack_s=0.0, counters=done(20, 320))
    assert start_of(a_disk(), spec, reading, moment(age_s=500.0), None).origin == "appeared"
