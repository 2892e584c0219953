"""A file with one series: a number is taken for the balance where nothing says that it is something else."""

import io

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
