"""A file with one series: a number is taken for the balance where nothing says that it is something else."""

import io
import json
import shlex
from typing import Any

import pytest

from burstwatch.cli.main import run
from burstwatch.kinds import find_kinds

#: Of CloudWatch, YACE, telegraf, node_exporter and of people: none is a balance of a gp2 volume.
OTHERS = (
    "aws_ec2_ebsiobalance_average", "disk free %", "mem_used_percent", "cpu_usage_user", "latency_ms", "Size", "account_id", "VolumeQueueLength",
    "VolumeIdleTime", "VolumeTotalReadTime", "CPUUtilization", "EBSByteBalance%", "node_filesystem_avail_bytes", "FreeStorageSpace", "size_gib",
    "DatabaseConnections", "aws_rds_free_storage_space_average", "BytesUsedForCache", "temperature", "Iops", "disk_used_percent", "p99 latency", "Throughput",
)  # fmt: skip
NOTHING = (
    "",
    "value",
    "Values",
    "Minimum",
    "Value #A",
    "m1",
    "vol-0a1b2c3d4e5f60718",
    "vol-0a1b2c3d4e5f60718 Minimum",
    "balance %",
    "Average",
    "burst balance",
)


def explain(heading: str, *args: str, kind: str = "") -> tuple[int, str]:
    err = io.StringIO()
    rows = "".join(f"{1_790_000_100 + 300 * n},{100 - n}\n" for n in range(20))
    described = (
        ["--kind", kind, "--spec", "type=t3.medium"]
        if kind
        else ["--type", "gp2", "--size-gib", "100"]
    )
    code = run(
        ["explain", "-", *described, *args],
        stdout=io.StringIO(), stderr=err, env={}, clock=lambda: 0.0, stdin=lambda _: f"Time,{heading}\n{rows}".encode(),
    )  # fmt: skip
    return code, err.getvalue()


@pytest.mark.parametrize("heading", OTHERS)
def test_a_series_with_the_name_of_something_else_is_refused_with_what_to_say(heading: str) -> None:
    code, said = explain(heading)
    assert code == 2
    assert said.count("\n") == 1
    if "balance" not in heading.lower():  # the name of another kind's metric is one
        assert "--metric BurstBalance" in said or "no metric of ebs_volume" in said


def test_what_the_refusal_says_works() -> None:
    assert explain("latency_ms")[0] == 2
    assert explain("latency_ms", "--metric", "BurstBalance")[0] == 0


@pytest.mark.parametrize("heading", NOTHING)
def test_a_series_whose_name_says_nothing_is_taken_as_the_balance(heading: str) -> None:
    code, said = explain(heading)
    assert (code, "BurstBalance" in said) == (0, True)


@pytest.mark.parametrize("kind", sorted(find_kinds()))
def test_no_metric_of_another_kind_is_taken_as_the_balance(kind: str) -> None:
    metrics = {metric for metric in find_kinds()[kind].metrics if "BurstBalance" not in metric}
    taken = [metric for metric in metrics if explain(metric)[0] == 0]
    assert taken == []


def played(text: str, *args: str) -> tuple[int, str, dict[str, Any]]:
    out, err = io.StringIO(), io.StringIO()
    code = run(
        ["explain", "-", *args, "--json"],
        stdout=out, stderr=err, env={}, clock=lambda: 0.0, stdin=lambda _: text.encode(),
    )  # fmt: skip
    return code, err.getvalue(), json.loads(out.getvalue() or "{}")


GP2 = ("--type", "gp2", "--size-gib", "100")
TIMES = range(1_790_000_100, 1_790_006_100, 300)


@pytest.mark.parametrize("beside", ["account_id", "region_code", "size_gib", "itemid", "ns"])
@pytest.mark.parametrize("value", ["value", "Values", "min", "Average", ""])
def test_a_number_beside_the_values_of_a_long_table_is_no_balance(beside: str, value: str) -> None:
    rows = "".join(f"BurstBalance,42,{at},{100 - n}\n" for n, at in enumerate(TIMES))
    code, err, story = played(f"metric_name,{beside},timestamp,{value}\n{rows}", *GP2)
    assert (code, story["last"]["balance"]) == (0, pytest.approx(0.81, abs=0.02))
    assert f"left out {beside}" in err


@pytest.mark.parametrize(
    ("kind", "heading", "cell", "said"),
    [
        ("ec2_instance_cpu", "CPUCreditBalance", "{} %", "in percent"),
        ("ec2_instance_cpu", "CPUCreditBalance (%)", "{}", "in percent"),
        ("ec2_instance_cpu", "CPUCreditBalance (ms)", "{}", "in a unit of time"),
        ("ebs_volume", "BurstBalance (ms)", "{}", "in a unit of time"),
        ("ebs_volume", "BurstBalance (Seconds)", "{}", "in a unit of time"),
        ("ebs_volume", "BurstBalance", "{} MiB", "in bytes"),
        ("ebs_volume", "BurstBalance (Bytes)", "{}", "in bytes"),
    ],
)
def test_a_balance_in_a_unit_that_it_has_not_is_refused(
    kind: str, heading: str, cell: str, said: str
) -> None:
    described = ("--type", "t3.medium") if kind == "ec2_instance_cpu" else GP2
    rows = "".join(f"{at},{cell.format(90 - n)}\n" for n, at in enumerate(TIMES))
    code, err, _ = played(f"Time,{heading}\n{rows}", "--kind", kind, *described)
    assert code == 2
    assert said in err


def test_the_statistic_that_a_person_states_is_that_of_the_balance() -> None:
    rows = "".join(f"{at},{100 - n},3000,0,3000,0\n" for n, at in enumerate(TIMES))
    head = "Time,BurstBalance,VolumeReadOps,VolumeWriteOps,VolumeReadBytes,VolumeWriteBytes"
    _, plain, _ = played(f"{head}\n{rows}", *GP2)
    assert "is taken as an Average" in plain
    code, err, _ = played(f"{head}\n{rows}", *GP2, "--statistic", "Minimum")
    assert code == 0
    assert "left out" not in err
    assert "taken as an Average" not in err
    assert (
        "VolumeReadOps, VolumeWriteOps, VolumeReadBytes, VolumeWriteBytes are taken as Sums" in err
    )


@pytest.mark.parametrize("only", ["orders", "Orders"])
def test_a_name_is_chosen_before_names_that_have_it(only: str) -> None:
    rows = "".join(f"{at},{100 - n},{100 - 2 * n}\n" for n, at in enumerate(TIMES))
    text = f"Time,orders BurstBalance,orders-replica BurstBalance\n{rows}"
    code, _, story = played(text, *GP2, "--only", only)
    assert (code, story["last"]["balance"]) == (0, pytest.approx(0.81, abs=0.02))
    assert played(text, *GP2, "--only", "replica")[2]["last"]["balance"] == pytest.approx(
        0.6, abs=0.03
    )
    assert played(text, *GP2, "--only", "order")[0] == 2


def test_what_the_refusal_of_columns_of_ids_says_works() -> None:
    rows = "".join(f"{at},{100 - n},{100 - 2 * n}\n" for n, at in enumerate(TIMES))
    text = f"Time,vol-0a1b2c3d4e5f60718,vol-0a1b2c3d4e5f60719\n{rows}"
    code, err, _ = played(text, *GP2)
    assert code == 2
    only = shlex.split(err.partition("such as ")[2])
    assert played(text, *GP2, *only)[2]["last"]["balance"] == pytest.approx(0.81, abs=0.02)
