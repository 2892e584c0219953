"""Whether a disk is what it promises."""

import pytest

from burstwatch.ebs.other_disks import OTHER_DISKS
from burstwatch.ebs.volumes import InstanceLimits, volume_spec
from burstwatch_exporter.measure.expect import DiskLimits, IoPattern, expect
from burstwatch_exporter.measure.verdict import Credits, judge

RANDOM = IoPattern(block_kib=16, depth=16, read_share=1, is_random=True)
FULL, EMPTY = Credits(low=0.9, high=1.0), Credits(low=0.0, high=0.1)
GP2 = DiskLimits(volume_spec=volume_spec("gp2", 100))
CASES = [
    (GP2, 2_990, FULL, "bursting", "2,700 credits a second more than it earns"),
    (GP2, 310, EMPTY, "at baseline", "out of credits"),
    (GP2, 310, FULL, "below its promise", "90% to 100% of the credits are left. Possible causes: 16 in flight"),
    (GP2, 1_200, FULL, "bursting", "13 ms each"),
    (GP2, 100, FULL, "below its promise", "1.6e+02 ms each"),
    (GP2, 0, FULL, "below its promise", "nothing was served"),
    (GP2, 9_000, FULL, "not this type", "another type or size"),
    (DiskLimits(volume_spec=volume_spec("gp2", 2_000)), 6_000, None, "as promised", ""),
    (DiskLimits(volume_spec=volume_spec("gp3", 100)), 3_000, None, "as promised", ""),
    (DiskLimits(volume_spec=volume_spec("gp3", 100, iops=6_000)), 3_000, None, "below its promise", ""),
    (DiskLimits(volume_spec=volume_spec("io1", 100, iops=500)), 503, None, "as promised", ""),
    (DiskLimits(volume_spec=volume_spec("standard", 100)), 190, None, "as promised", ""),
    (DiskLimits(volume_spec=volume_spec("standard", 100)), 7_904, None, "not this type", "a cache"),
    (
        DiskLimits(volume_spec=volume_spec("gp2", 100), instance=InstanceLimits(iops=2_000, mib_s=1_000)),
        1_980, FULL, "instance-limited", "the instance's limit",
    ),
    (DiskLimits(ways=OTHER_DISKS["instance-store"].of_size(32)), 22_527, None, "no promise", "nobody"),
    (
        DiskLimits(ways=OTHER_DISKS["pd-ssd"].of_size(1_000), cap=OTHER_DISKS["pd-ssd"].cap(32)),
        30_000, None, "as promised", "",
    ),
    (
        DiskLimits(ways=OTHER_DISKS["pd-ssd"].of_size(1_000), cap=OTHER_DISKS["pd-ssd"].cap(4)),
        15_000, None, "instance-limited", "the instance's limit",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("given", "iops", "left", "word", "reason"), CASES)
def test_the_word_and_its_reason(
    given: DiskLimits, iops: float, left: Credits | None, word: str, reason: str
) -> None:
    verdict = judge(RANDOM, given, iops=iops, ran_s=60, credits_left=left)
    assert verdict.word == word
    assert reason in verdict.reason


def test_several_volumes_that_are_no_stripe_promise_nothing_together() -> None:
    lvm = DiskLimits(volume_spec=volume_spec("gp2", 100), is_known=False)
    verdict = judge(RANDOM, lvm, iops=6_000, ran_s=60, credits_left=FULL)
    assert verdict.word == "no promise"
    assert "no stripe" in verdict.reason
    assert verdict.promised_iops is None


def test_a_step_of_a_second_has_no_verdict() -> None:
    assert judge(RANDOM, GP2, iops=9_000, ran_s=1, credits_left=FULL).word == "too short"


def test_a_rate_that_was_asked_for_is_no_limit_of_the_disk() -> None:
    slow = IoPattern(block_kib=4, depth=1, read_share=1, is_random=True, rate_iops=50)
    assert judge(slow, GP2, iops=50, ran_s=10, credits_left=FULL).word == "as asked"
    assert judge(slow, GP2, iops=20, ran_s=10, credits_left=FULL).word == "below its promise"


def test_more_than_the_limit_in_sequence_may_have_been_merged() -> None:
    in_sequence = IoPattern(block_kib=16, depth=16, read_share=1, is_random=False)
    merged = judge(in_sequence, GP2, iops=5_000, ran_s=60, credits_left=FULL)
    assert (merged.word, "may merge" in merged.reason) == ("bursting", True)
    assert judge(in_sequence, GP2, iops=50_000, ran_s=60, credits_left=FULL).word == "not this type"


def test_what_was_merged_is_bounded_by_the_instance_once_however_many_volumes() -> None:
    in_sequence = IoPattern(block_kib=16, depth=64, read_share=1, is_random=False)
    striped = DiskLimits(
        volume_spec=volume_spec("gp2", 100),
        members=2,
        instance=InstanceLimits(iops=9_000, mib_s=1_000),
    )
    assert judge(in_sequence, striped, iops=8_900, ran_s=60, credits_left=FULL).word == "bursting"
    assert (
        judge(in_sequence, striped, iops=12_000, ran_s=60, credits_left=FULL).word
        == "not this type"
    )


def test_a_throughput_volume_is_judged_by_its_bytes() -> None:
    st1 = DiskLimits(volume_spec=volume_spec("st1", 1_024))
    large = IoPattern(block_kib=1_024, depth=16, read_share=1, is_random=False)
    assert judge(large, st1, iops=250, ran_s=60, credits_left=FULL).word == "bursting"
    assert judge(large, st1, iops=40, ran_s=60, credits_left=EMPTY).word == "at baseline"
    small = IoPattern(block_kib=128, depth=16, read_share=1, is_random=False)
    assert expect(small, st1).best.iops == 2_000  # 250 MiB/s, merged
    at_random = IoPattern(block_kib=128, depth=16, read_share=1, is_random=True)
    assert expect(at_random, st1).best.iops == 250  # a MiB of credit each


def test_a_mix_is_held_back_by_the_way_that_has_less() -> None:
    local = OTHER_DISKS["local-ssd"]
    half = IoPattern(block_kib=4, depth=64, read_share=0.5, is_random=True)
    rates = expect(half, DiskLimits(ways=local.of_size(375), cap=local.cap(32))).best
    assert rates.iops == 180_000  # of which 90,000 are writes


def test_bandwidth_is_the_rate_times_the_size_and_latency_the_depth_by_the_rate() -> None:
    rates = expect(RANDOM, GP2).best
    assert rates.mib_s == pytest.approx(3_000 * 16 / 1_024)
    assert rates.latency_s == pytest.approx(16 / 3_000)
    large = IoPattern(block_kib=256, depth=16, read_share=1, is_random=True)
    held = expect(large, GP2)
    assert (held.best.mib_s, held.best.holds) == (128, "volume_throughput")
    assert held.empty is not None
    assert held.empty.mib_s == 75
