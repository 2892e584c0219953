"""Whatever goes wrong during a sweep costs those concerned one sweep at most, and shows."""

import time

import pytest

from burstwatch.aws.client.session import Deadline
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.sweep.fleet_metrics import fleet_metrics
from burstwatch.aws.sweep.sweep import Sweep, sweep
from burstwatch.config import Config
from burstwatch.history.observations import Resource
from burstwatch.kinds import find_kinds
from burstwatch.kinds.base import Kind
from burstwatch.kinds.ebs_volume import EbsVolume
from burstwatch.polling.order import BATCH
from tests.conftest import NOW, Cloud
from tests.fake.herd import Herd, has_bucket

#: Whole sweeps of large fleets, or of days: not for the inner loop.
pytestmark = pytest.mark.slow

(VOLUMES,) = find_kinds("ebs_volume").values()
COUNT = 1_600
WITH_BUCKET = sum(map(has_bucket, range(COUNT)))


@pytest.fixture
def fleet(cloud: Cloud) -> Cloud:
    cloud.aws.add_herd(Herd(count=COUNT, ends_s=NOW))
    return cloud


def run_sweep(
    cloud: Cloud, memory: Memory, *, kind: Kind = VOLUMES, within_s: float = 60.0
) -> Sweep:
    return sweep(
        cloud.unit, [kind], cloud.clients, cloud.clients, Config(kinds="ebs_volume"), memory,
        now=cloud.clock.now, deadline=Deadline(time.monotonic, at=time.monotonic() + within_s),
    )  # fmt: skip


def unknown(result: Sweep) -> int:
    return sum(a.verdict == "unknown" for _, a in result.snapshot.assessments.values())


def assert_some_were_lost_and_come_back(
    cloud: Cloud, memory: Memory, faulty: Sweep, *, says: str
) -> None:
    lost = unknown(faulty)
    assert 0 < lost < WITH_BUCKET, faulty.problems
    assert any(says in problem.error for problem in faulty.problems), faulty.problems
    assert fleet_metrics(faulty)["ResourcesUnknown"] == lost
    cloud.clock.now += 60
    after = run_sweep(cloud, memory)
    assert unknown(after) == 0
    assert after.problems == ()


def test_a_whole_sweep_knows_all_of_them(fleet: Cloud) -> None:
    result = run_sweep(fleet, Memory())
    assert (unknown(result), result.problems, result.completed) == (0, (), True)


def test_throttling_in_the_middle_of_a_page(fleet: Cloud) -> None:
    memory = Memory()
    fleet.aws.partial_after = 20  # a glance is thirty datapoints: each call has a second page
    fleet.aws.throttled_pages = 5  # one batch more often than a call is tried, the other not
    faulty = run_sweep(fleet, memory)
    assert_some_were_lost_and_come_back(fleet, memory, faulty, says="Throttling")
    assert faulty.throttled >= 3


def test_a_call_that_stalls(fleet: Cloud) -> None:
    began = time.monotonic()
    run_sweep(fleet, Memory())
    takes_s, paid = time.monotonic() - began, fleet.aws.billed_metrics
    memory = Memory()
    with fleet.stalling("GetMetricData"):  # until the sweep has ended: nobody waits for it
        faulty = run_sweep(fleet, memory, within_s=3 * takes_s)
    # But it is paid for.
    assert faulty.snapshot.metrics_requested == fleet.aws.billed_metrics - paid
    assert_some_were_lost_and_come_back(fleet, memory, faulty, says="time was up")


def test_a_body_that_is_cut(fleet: Cloud) -> None:
    memory = Memory()
    run_sweep(fleet, memory)
    fleet.clock.now += 3_700  # all are due again
    fleet.aws.cut["GetMetricData"] = 1
    faulty = run_sweep(fleet, memory)
    assert_some_were_lost_and_come_back(fleet, memory, faulty, says="not whole")


def test_a_page_of_the_inventory_that_is_refused(fleet: Cloud) -> None:
    memory = Memory()
    fleet.aws.failing_pages["DescribeVolumes"] = 2
    faulty = run_sweep(fleet, memory)
    assert not faulty.completed
    assert len(faulty.snapshot.assessments) < COUNT
    assert any(problem.part == "DescribeVolumes" for problem in faulty.problems)
    fleet.clock.now += 60
    after = run_sweep(fleet, memory)
    assert (unknown(after), len(after.snapshot.assessments), after.completed) == (0, COUNT, True)


def test_a_batch_that_cannot_be_judged_costs_no_other(fleet: Cloud) -> None:
    defects = [ZeroDivisionError("a number that nobody thought of")]

    class FailingOnce(EbsVolume):
        def to_ratio(self, resource: Resource, value: float) -> float:
            if defects:
                raise defects.pop()
            return super().to_ratio(resource, value)

    memory = Memory()
    faulty = run_sweep(fleet, memory, kind=FailingOnce())
    assert_some_were_lost_and_come_back(fleet, memory, faulty, says="nobody thought of")


def test_a_batch_that_fails_is_no_sign_that_the_unit_can_be_seen(cloud: Cloud) -> None:
    instance = cloud.aws.add_instance("m5.large")
    for _ in range(BATCH + 20):  # two batches, and one volume that reports
        volume_id = cloud.aws.add_volume("gp2", 100, instance_id=instance)
    cloud.aws.put("AWS/EBS", "BurstBalance", {"VolumeId": volume_id}, NOW - 120, 100)

    class Failing(EbsVolume):
        def to_ratio(self, resource: Resource, value: float) -> float:
            raise ZeroDivisionError(resource.id, value)

    result = run_sweep(cloud, Memory(), kind=Failing())
    assert unknown(result) == BATCH + 20


def test_what_is_never_answered_is_a_problem_at_every_sweep_so_that_an_alarm_can_say_so(
    cloud: Cloud,
) -> None:
    instance = cloud.aws.add_instance("m5.large")
    lost, *others = (cloud.aws.add_volume("gp2", 100, instance_id=instance) for _ in range(10))
    cloud.aws.failing_series[lost] = "InternalError"
    memory = Memory()
    for _ in range(20):
        for one in others:
            at = cloud.clock.now - 120
            cloud.aws.put("AWS/EBS", "BurstBalance", {"VolumeId": one}, at, 100)
        result = run_sweep(cloud, memory)
        assert unknown(result) == 1
        (problem,) = result.problems
        assert (problem.part, problem.error) == (
            f"metrics of {lost}", "GetMetricData: InternalError",
        )  # fmt: skip
        cloud.clock.now += 60
    cloud.aws.failing_series.clear()
    cloud.clock.now += 300
    assert run_sweep(cloud, memory).problems == ()
