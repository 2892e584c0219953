"""What AWS charges for surplus credits is read once a day, and told in the digest of the week."""

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest

from burstwatch.aws.alarms.digest import CHARGED
from burstwatch.aws.doctor.cadence import measure_cadence
from burstwatch.aws.look.memory import Memory
from burstwatch.bucket import DAY_S, HOUR_S
from burstwatch.fixes.surplus import DayCharge
from burstwatch.kinds import find_kinds
from tests.aws.commands import burstwatch
from tests.aws.sweeping import CONFIG, run_sweep
from tests.conftest import NOW, Cloud
from tests.kinds._rds import instance

CPU = replace(CONFIG, kinds="ec2_instance_cpu")
ID = "i-0aaaaaaaaaaaaaa01"
#: The next midnight, and credits that are charged for at noon of each day before it.
MIDNIGHT = (NOW // DAY_S + 1) * DAY_S
CREDITS = {1: 300.0, 2: 0.0, 3: 60.0}


@pytest.fixture
def charged(cloud: Cloud) -> Cloud:
    """An Unlimited instance that AWS charges for, and a Standard one."""
    for number, mode in enumerate(("unlimited", "standard"), 1):
        instance_id = f"i-0aaaaaaaaaaaaaa{number:02d}"
        item = {
            "InstanceId": instance_id, "InstanceType": "t3.large", "State": {"Name": "running"},
            "LaunchTime": datetime.fromtimestamp(NOW - 90 * DAY_S, tz=UTC),
            "Tags": [{"Key": "Name", "Value": f"batch-{number}"}],
        }  # fmt: skip
        cloud.aws.add_item("ec2", "DescribeInstances", item)
        modes = {"InstanceId": instance_id, "CpuCredits": mode}
        cloud.aws.add_item("ec2", "DescribeInstanceCreditSpecifications", modes)
        for days, amount in CREDITS.items():
            at = MIDNIGHT - days * DAY_S + DAY_S / 2
            cloud.aws.put(
                "AWS/EC2", "CPUSurplusCreditsCharged", {"InstanceId": instance_id}, at, amount
            )
    return cloud


def a_charge(days_ago: int) -> DayCharge:
    day = datetime.fromtimestamp(MIDNIGHT - days_ago * DAY_S, tz=UTC)
    return DayCharge(
        unit="123456789012/us-east-1", resource_id=f"{ID}.cpu", name="batch-1", day=f"{day:%Y-%m-%d}",
        credits=CREDITS[days_ago], usd=CREDITS[days_ago] / 60 * 0.05,
    )  # fmt: skip


def sweeps(cloud: Cloud, memory: Memory, times: list[float]) -> list[tuple[DayCharge, ...]]:
    charges = []
    for at in times:
        cloud.clock.now = at
        charges.append(run_sweep(cloud, memory, config=CPU).charges)
    return charges


def test_each_day_is_read_once_when_all_of_it_has_come(charged: Cloud) -> None:
    times = [MIDNIGHT - DAY_S + HOUR_S * hour for hour in (0.5, 0.99, 1, 2, 12, 24, 25, 26)]
    assert sweeps(charged, Memory(), times) == [
        (a_charge(3),), (), (), (), (), (), (a_charge(1),), (),
    ]  # fmt: skip


def test_a_memory_that_is_new_reads_the_last_day_again(charged: Cloud) -> None:
    for _ in range(2):
        assert sweeps(charged, Memory(), [MIDNIGHT + HOUR_S]) == [(a_charge(1),)]


def test_what_could_not_be_read_is_asked_for_again(charged: Cloud) -> None:
    memory = Memory()
    charged.aws.denied.add("GetMetricData")
    assert sweeps(charged, memory, [MIDNIGHT + HOUR_S]) == [()]
    charged.aws.denied.clear()
    assert sweeps(charged, memory, [MIDNIGHT + HOUR_S + 300]) == [()]  # not at each sweep
    assert sweeps(charged, memory, [MIDNIGHT + 2 * HOUR_S]) == [(a_charge(1),)]


def test_what_was_read_is_not_read_again_for_the_sake_of_another(charged: Cloud) -> None:
    """One kind is listed late, and one series fails: both are asked for an hour later, and alone."""
    item = instance("orders", "docdb", instance_class="db.t3.medium")
    charged.aws.add_item("rds", "DescribeDBInstances", item)
    pairs = {"DBInstanceIdentifier": "orders"}
    charged.aws.put("AWS/DocDB", "CPUSurplusCreditsCharged", pairs, MIDNIGHT - DAY_S / 2, 12.0)
    both = replace(CPU, kinds="ec2_instance_cpu,docdb_instance_cpu")
    memory, told = Memory(), []
    charged.aws.denied.add("DescribeDBInstances")
    for hours in (1.0, 1.1, 2.0, 3.0):
        charged.clock.now = MIDNIGHT + hours * HOUR_S
        told.append(
            [charge.resource_id for charge in run_sweep(charged, memory, config=both).charges]
        )
        charged.aws.denied.clear()
    assert told == [[f"{ID}.cpu"], [], ["orders.cpu"], []]


def test_charges_are_read_after_all_that_somebody_waits_for(charged: Cloud) -> None:
    charged.clock.now = MIDNIGHT + HOUR_S
    run_sweep(charged, Memory(), config=CPU)
    asked = [
        any(query["MetricStat"]["Metric"]["MetricName"] == "CPUSurplusCreditsCharged" for query in request["MetricDataQueries"])
        if operation == "GetMetricData" else False
        for _, operation, request in charged.aws.calls
    ]  # fmt: skip
    written = [
        operation in {"PutMetricData", "PutMetricAlarm"} for _, operation, _ in charged.aws.calls
    ]
    assert max(n for n, is_write in enumerate(written) if is_write) < asked.index(True)


def test_what_could_not_be_listed_is_asked_for_when_it_can_be(charged: Cloud) -> None:
    memory = Memory()
    charged.aws.denied.add("DescribeInstances")
    assert sweeps(charged, memory, [MIDNIGHT + HOUR_S]) == [()]
    charged.aws.denied.clear()
    assert sweeps(charged, memory, [MIDNIGHT + HOUR_S + 300]) == [(a_charge(1),)]
    charged.aws.denied.add("DescribeInstances")  # its list of before serves for a time
    assert sweeps(charged, memory, [MIDNIGHT + HOUR_S + 600]) == [()]


def test_the_digest_counts_each_day_once_and_names_the_dearest(charged: Cloud) -> None:
    other = replace(a_charge(1), resource_id="orders.cpu", name="orders", credits=24.0, usd=None)
    lines = [a_charge(1), a_charge(1), a_charge(3), other]  # two functions that both read a day
    charged.aws.logs["logs"] = [
        (NOW, json.dumps({"message": CHARGED, "charge": asdict(charge)})) for charge in lines
    ]
    old = replace(a_charge(1), day="2026-09-01")
    charged.aws.logs["logs"].append((NOW, json.dumps({"message": CHARGED, "charge": asdict(old)})))
    charged.aws.logs["logs"].append((NOW, f"{CHARGED}: no charge"))
    charged.aws.outputs["Burstwatch-test"] = {"LogGroupName": "logs"}
    _, out, err = burstwatch(charged, "episodes", "--digest", "--deployment", "test")
    assert err == ""
    assert (
        "Surplus CPU credits that AWS charged for: 0.30 USD (batch-1 0.30) "
        "and 1 resource at a price that is not known here\n"
    ) in out


@pytest.mark.parametrize(("publishes", "state"), [(True, "ok"), (False, "unknown")])
def test_the_doctor_says_whether_aws_publishes_what_it_charges_for(
    cloud: Cloud, state: str, *, publishes: bool
) -> None:
    kind = find_kinds()["rds_instance_cpu"]
    for name in ("orders", "reports"):
        item = instance(name, "postgres", instance_class="db.t3.medium")
        cloud.aws.add_item("rds", "DescribeDBInstances", item)
    metrics = {"CPUCreditBalance": ("orders", "reports"), "CPUSurplusCreditBalance": ("orders",)}
    for metric, names in metrics.items():
        for name in names:
            cloud.aws.put("AWS/RDS", metric, {"DBInstanceIdentifier": name}, NOW - 300, 20.0)
    if publishes:
        at = {"DBInstanceIdentifier": "orders"}
        cloud.aws.put("AWS/RDS", "CPUSurplusCreditsCharged", at, NOW - 300, 0.0)
    findings = {found.check: found for found in measure_cadence(cloud.clients, kind, now=NOW)}
    surplus = findings["rds_instance_cpu surplus"]
    assert (surplus.state, surplus.detail) == (
        state,
        (
            "of 2 in Unlimited mode, 1 are judged by their surplus and 1 by their balance; "
            f"{int(publishes)} of 1 have CPUSurplusCreditsCharged"
        ),
    )
