"""`burstwatch advise` over an account: what it asks for, what it says, and how it goes on after a stop."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from burstwatch.aws.client.pace import Pace
from burstwatch.aws.look.fleet_history import list_subjects, read_histories
from burstwatch.backtest.advice import advise
from burstwatch.bucket import DAY_S
from burstwatch.cli.advised import as_page, totals
from burstwatch.cli.main import PARTIAL
from burstwatch.kinds import find_kinds
from tests.aws.commands import burstwatch
from tests.conftest import NOW, Cloud
from tests.fake.quotas import Quotas

pytestmark = pytest.mark.slow


def volume(
    cloud: Cloud,
    kind: str = "gp2",
    size: int = 100,
    *,
    iops: float = 100.0,
    dry: bool = False,
    days: float = 8.0,
    name: str = "",
) -> str:
    """A volume with one load for days, at the end with an empty bucket."""
    volume_id = cloud.aws.add_volume(kind, size, instance_id=cloud.aws.add_instance("m5.large"))
    if name:
        cloud.aws.regions["us-east-1"].volumes[volume_id]["Tags"] = [{"Key": "Name", "Value": name}]
    count = round(days * DAY_S / 300)
    for number in range(count):
        at = NOW - 300.0 * (count - number)
        is_dry = dry and number >= count - 6
        values = {
            "VolumeReadOps": iops * 300, "VolumeWriteOps": 0.0,
            "VolumeReadBytes": iops * 300 * 4_096, "VolumeWriteBytes": 0.0,
        }  # fmt: skip
        if kind == "gp2":
            values["BurstBalance"] = 0.0 if is_dry else 90.0
        for metric, value in values.items():
            cloud.aws.put("AWS/EBS", metric, {"VolumeId": volume_id}, at, value)
    return volume_id


def test_each_resource_has_its_advice_its_price_and_its_command_the_worst_first(
    cloud: Cloud,
) -> None:
    calm, dry = volume(cloud, name="calm"), volume(cloud, dry=True, name="orders-db")
    code, out, err = burstwatch(cloud, "advise", "--kind", "ebs_volume", "--days", "9")
    assert code == 0
    assert "asks CloudWatch for 14 metrics of 2 resources over 9 days, 0.00 USD" in err
    table, effects, commands, totals = out.partition("\n")[2].split("\n\n")
    assert effects.startswith(f"orders-db ({dry}): ")
    assert all(line.startswith("aws ") for line in commands.splitlines())
    rows = table.splitlines()
    assert rows[1].startswith(f"orders-db ({dry})")
    assert "once, 30 min" in rows[1]
    assert rows[2].startswith(f"calm ({calm})")
    assert (
        f"aws ec2 modify-volume --region us-east-1 --volume-id {dry} --volume-type gp3 --iops 3000 --throughput 128"
        in commands
    )
    assert "Resources: 2. Ran out: 1. Advised a change: 2. Together the changes save 3.76" in totals


def test_it_says_the_same_to_programs_for_tickets_and_as_a_page(
    cloud: Cloud, tmp_path: Path
) -> None:
    dry = volume(cloud, dry=True, name="orders|db")
    page = tmp_path / "advice.html"
    code, out, _ = burstwatch(
        cloud, "advise", "--kind", "ebs_volume", "--json", "--html", str(page)
    )
    assert code == 0
    record = json.loads(out)
    assert (record["id"], record["finding"], record["run_out_count"]) == (dry, "runs out", 1)
    assert (record["usd_month"], record["usd_month_afterwards"]) == (10.0, 8.12)
    assert record["cloudformation"] == [
        "Type: AWS::EC2::Volume", "Properties:", "  VolumeType: gp3", "  Iops: 3000", "  Throughput: 128",
    ]  # fmt: skip
    assert record["terraform"] == [
        "# aws_ebs_volume", 'type = "gp3"', "iops = 3000", "throughput = 128",
    ]  # fmt: skip
    html = page.read_text()
    assert html.count("<figure") == 1
    assert record["best_fix"]["command"] in html
    code, out, _ = burstwatch(cloud, "advise", "--kind", "ebs_volume", "--markdown")
    assert code == 0
    assert f"## orders\uff5cdb ({dry})" in out
    assert "```hcl\n# aws_ebs_volume" in out
    assert "The price of what changes is 8.12 USD a month, instead of 10.00." in out


def test_after_a_stop_only_what_is_missing_is_asked_for(
    cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [volume(cloud) for _ in range(3)]
    kept = tmp_path / "kept.jsonl"
    monkeypatch.setattr("burstwatch.aws.look.fleet_history.BATCH", 1)

    class StopError(Exception):
        pass

    seen = 0

    def advise_two(recorded: object, **more: bool) -> object:
        nonlocal seen
        seen += 1
        if seen == 3:
            raise StopError
        return advise(recorded, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("burstwatch.cli.commands.advise.advise", advise_two)
    args = ("advise", "--kind", "ebs_volume", "--keep", str(kept), "--json")
    with pytest.raises(StopError):
        burstwatch(cloud, *args)
    assert len(kept.read_text().splitlines()) == 2
    monkeypatch.setattr("burstwatch.cli.commands.advise.advise", advise)
    code, out, err = burstwatch(cloud, *args)
    assert code == 0
    assert "7 metrics of 1 resources" in err
    assert {json.loads(line)["id"] for line in out.splitlines()} == set(ids)


@pytest.mark.parametrize(
    ("more", "later_s", "is_asked"),
    [((), 60.0, False), (("--load-is-enough",), 60.0, True), ((), 90_000.0, True)],
)
def test_what_is_kept_is_used_for_the_same_question_and_for_a_day(
    cloud: Cloud, tmp_path: Path, more: tuple[str, ...], later_s: float, *, is_asked: bool
) -> None:
    volume(cloud)
    args = ("advise", "--kind", "ebs_volume", "--keep", str(tmp_path / "kept.jsonl"), "--json")
    assert burstwatch(cloud, *args)[0] == 0
    cloud.clock.now += later_s
    _, _, err = burstwatch(cloud, *args, *more)
    assert ("7 metrics of 1 resources" in err) == is_asked


def record_of(
    unit: str, rates: list[float], *, kind: str = "rds_storage", type_: str = "postgres gp2 100 GiB"
) -> dict[str, Any]:
    """A record of an advice with a change whose words name gp3."""
    fix = {"action": "change to gp3 with 3,000 IOPS", "effect": "uses no credits", "takes": "takes minutes to hours",
           "usd_month": None, "usd_hour": None, "command": ""}  # fmt: skip
    return {
        "id": "orders", "name": "", "kind": kind, "unit": unit, "type": type_, "finding": "runs out",
        "needed": rates[0], "mean": 1.0, "rate_unit": "IOPS", "is_censored": False, "run_out_count": 1, "run_out_s": 60.0,
        "history_s": 172_800.0, "exceeded": {}, "charged_credits": None, "best_fix": fix, "run_out_count_afterwards": 0, "balance_lowest_afterwards": None,
        "usd_month": None, "usd_month_afterwards": None, "alternatives": [], "time_to_empty_s": None, "cloudformation": [],
        "terraform": [], "baseline": None, "rate_afterwards": None, "hourly": rates,
    }  # fmt: skip


def test_two_resources_of_one_name_in_two_regions_have_their_own_pictures() -> None:
    page = as_page(
        [record_of("1/eu-west-1", [1.0] * 48), record_of("1/eu-west-2", [900.0] * 48)], place="1"
    )
    first, second = page.split("<figure")[1:]
    assert ">800<" not in first.partition("</svg>")[0]
    assert ">800<" in second.partition("</svg>")[0]


def head_of(page: str) -> tuple[str, str]:
    """The number and the sentence that a page begins with, as somebody reads them."""
    figure, title = re.findall(r'<p class="figure \w+">(.*?)</p>|<h1>(.*?)</h1>', page)
    return figure[0], re.sub("<.*?>", "", title[1])


RAN_OUT_AT = 1_774_976_400.0
DRY = {"run_out_last_at": RAN_OUT_AT, "run_out_s": 1_800.0}
CALM = {"run_out_count": 0, "run_out_s": 0.0, "run_out_last_at": None}


@pytest.mark.parametrize(
    ("changes", "figure", "title"),
    [
        ([DRY], "30 min empty",
         "orders: credits ran out once, Tue 2026-03-31 17:00Z; change to gp3 with 3,000 IOPS"),
        ([CALM], "1 change", "orders: change to gp3 with 3,000 IOPS"),
        ([CALM, CALM], "2 changes", "Burst credits of 1; changes advised: 2"),
        ([CALM, DRY], "30 min empty", "Burst credits of 1: orders ran out last, Tue 2026-03-31 17:00Z; changes advised: 2"),
        ([DRY, {**DRY, "id": "users", "run_out_last_at": RAN_OUT_AT + 60}, {**DRY, "best_fix": None}], "3 ran out",
         "Burst credits of 1: users ran out last, Tue 2026-03-31 17:01Z; changes advised: 2"),
    ],
)  # fmt: skip
def test_a_page_of_advice_begins_with_what_ran_out_and_when(
    changes: list[dict[str, Any]], figure: str, title: str
) -> None:
    records = [{**record_of("1/eu-west-1", [900.0]), **change} for change in changes]
    assert head_of(as_page(records, place="1")) == (figure, title)


@pytest.mark.parametrize("hour", [0.5, 47.5])
def test_the_picture_of_an_advice_marks_when_the_credits_ran_out(hour: float) -> None:
    record = record_of("1/eu-west-1", [900.0] * 48)
    began = {"hourly_from_s": RAN_OUT_AT - hour * 3600}
    assert "out of credits, Tue 2026-03-31 17:00Z" in as_page(
        [{**record, **DRY, **began}], place="1"
    )
    for other in ({**DRY, "hourly_from_s": RAN_OUT_AT + 3_600}, {**CALM, **began}):
        assert "out of credits" not in as_page([{**record, **other}], place="1")


@pytest.mark.parametrize("began_h", [-1.0, 0.0, 12.0, 23.0, 25.0, 47.0])
@pytest.mark.parametrize("lasted_h", [2.0, 24.0, 400.0])
def test_the_words_on_a_run_out_stand_within_the_picture(began_h: float, lasted_h: float) -> None:
    record = record_of("1/eu-west-1", [900.0] * 48)
    spell = {"hourly_from_s": RAN_OUT_AT - began_h * 3600, "run_out_s": lasted_h * 3600}
    page = as_page([{**record, **DRY, **spell}], place="1")
    ((x, anchor),) = re.findall(r'x="([\d.]+)"[^>]*text-anchor="(\w+)"[^>]*>out of credits', page)
    width = 8 * len("out of credits, Tue 2026-03-31 17:00Z")
    left = float(x) - (width if anchor == "end" else 0)
    assert 0 <= left <= left + width <= 860


@pytest.mark.parametrize(
    ("kind", "type_", "is_named"),
    [
        ("ebs_volume", "gp2 100 GiB", True),
        ("ebs_volume", "st1 500 GiB", False),
        ("rds_storage", "postgres gp2 100 GiB", False),
    ],
)
def test_the_automation_of_aws_is_named_for_gp2_volumes_alone(
    kind: str, type_: str, *, is_named: bool
) -> None:
    said = totals([record_of("1/eu-west-1", [900.0], kind=kind, type_=type_)])
    assert ("Compute Optimizer" in said) == is_named


def test_one_resource_is_advised_by_its_id_or_its_name(cloud: Cloud) -> None:
    dry, _ = volume(cloud, dry=True, name="orders-db"), volume(cloud)
    for id_or_name in (dry, "orders-db"):
        code, out, err = burstwatch(cloud, "advise", id_or_name, "--json")
        assert (code, err) == (0, "")
        assert json.loads(out)["id"] == dry


def test_where_the_load_is_enough_gp3_is_given_no_more_than_it_needs(cloud: Cloud) -> None:
    volume_id = volume(cloud, size=500)
    for more, mib_s in (((), 250), (("--load-is-enough",), 125)):
        code, out, _ = burstwatch(cloud, "advise", volume_id, "--json", *more)
        assert code == 0
        fix = json.loads(out)["best_fix"]
        assert fix["command"].endswith(f"--iops 3000 --throughput {mib_s}")
        assert ("instead of" in fix["effect"]) == bool(more)


def test_a_file_that_is_not_one_of_its_own_is_refused(cloud: Cloud, tmp_path: Path) -> None:
    kept = tmp_path / "notes.txt"
    kept.write_text("hello\n")
    code, _, err = burstwatch(cloud, "advise", "--kind", "ebs_volume", "--keep", str(kept))
    assert (code, kept.read_text()) == (2, "hello\n")
    assert "notes.txt:1 is no record that advise has kept" in err


def test_a_resource_whose_metrics_fail_does_not_hide_the_others(cloud: Cloud) -> None:
    good, bad = volume(cloud, dry=True), cloud.aws.add_volume(
        "gp2", 100, instance_id=cloud.aws.add_instance("m5.large")
    )  # fmt: skip
    code, out, err = burstwatch(cloud, "advise", "--kind", "ebs_volume")
    assert code == PARTIAL
    assert good in out
    assert f"ebs_volume {bad}: CloudWatch has no datapoint of {bad}" in err


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("--days", "0"), "--days is 0; allowed: 1 to 63"),
        (("--days", "64"), "--days is 64; allowed: 1 to 63"),
        (("--example", "--days", "3"), "--days is for the account, and not for a file"),
        (("--size-gib", "100"), "--size-gib is for a file, and none is given"),
    ],
)
def test_what_cannot_be_advised_is_refused_by_name(
    cloud: Cloud, args: tuple[str, ...], named: str
) -> None:
    code, _, err = burstwatch(cloud, "advise", *args)
    assert code == 2
    assert named in err


def test_ten_thousand_volumes_are_advised_within_the_quotas(cloud: Cloud) -> None:
    """The fake refuses what is asked for faster than AWS answers. Time passes only where somebody waits."""
    for number in range(10_000):
        volume_id = cloud.aws.add_volume("gp2", 100, instance_id=f"i-{number:017x}")
        if number % 1_000 == 0:
            for minute in range(0, 1_440, 5):
                for metric in (
                    "BurstBalance",
                    "VolumeReadOps",
                    "VolumeWriteOps",
                    "VolumeReadBytes",
                    "VolumeWriteBytes",
                ):
                    cloud.aws.put(
                        "AWS/EBS", metric, {"VolumeId": volume_id}, NOW - 60.0 * minute, 50.0
                    )
    clients = cloud.clients
    fleet = list_subjects(clients, [find_kinds()["ebs_volume"]], now=NOW)
    assert len(fleet.subjects) == 10_000
    cloud.aws.quotas = Quotas(clock=cloud.clock)
    began = cloud.clock.now

    def sleep(seconds: float) -> None:
        cloud.clock.now += seconds

    pace = Pace(clock=lambda: cloud.clock.now, sleep=sleep)
    histories = list(read_histories(clients, fleet.subjects, now=NOW, back_s=14 * DAY_S, pace=pace))
    assert len(histories) == 10_000
    assert sum(not isinstance(recorded, str) for _, recorded in histories) == 10
    points = 50_000 * 14 * 288
    assert cloud.clock.now - began >= points / 396_000  # never faster than the quota
    assert cloud.aws.quotas.refused == {}


def instance_with_charges(cloud: Cloud, number: int, *, mode: str, charged: float | None) -> str:
    """A t3.large that has been busy for eight days, and the credits that AWS has charged for in each hour."""
    instance_id = f"i-0aaaaaaaaaaaaaa{number:02d}"
    item = {
        "InstanceId": instance_id, "InstanceType": "t3.large", "State": {"Name": "running"},
        "LaunchTime": datetime.fromtimestamp(NOW - 90 * DAY_S, tz=UTC),
        "Tags": [{"Key": "Name", "Value": f"batch-{number}"}],
    }  # fmt: skip
    cloud.aws.add_item("ec2", "DescribeInstances", item)
    modes = {"InstanceId": instance_id, "CpuCredits": mode}
    cloud.aws.add_item("ec2", "DescribeInstanceCreditSpecifications", modes)
    for back in range(round(8 * DAY_S / 300)):
        at = NOW - 300.0 * (back + 1)
        values = {"CPUCreditUsage": 8.0, "CPUCreditBalance": 0.0, "CPUSurplusCreditBalance": 864.0}
        if charged is not None:
            values["CPUSurplusCreditsCharged"] = charged if back % 12 == 0 else 0.0
        for metric, value in values.items():
            cloud.aws.put("AWS/EC2", metric, {"InstanceId": instance_id}, at, value)
    return instance_id


def test_what_aws_has_charged_for_surplus_is_said_with_what_would_end_it(cloud: Cloud) -> None:
    dear = instance_with_charges(cloud, 1, mode="unlimited", charged=60.0)
    cheap = instance_with_charges(cloud, 2, mode="unlimited", charged=1.0)
    instance_with_charges(cloud, 3, mode="unlimited", charged=None)
    instance_with_charges(cloud, 4, mode="standard", charged=60.0)  # before its mode was changed
    command = ("advise", "--kind", "ec2_instance_cpu", "--days", "8")
    code, out, err = burstwatch(cloud, *command)
    assert code == 0
    assert "asks CloudWatch for 11 metrics of 4 resources" in err
    assert (
        "Surplus CPU credits that AWS has charged for, of what is in Unlimited mode now: 9.76 USD.\n"
        f"batch-1 ({dear}.cpu): 11,520 credits, 9.60 USD in 8 d, 36.50 a month; ends with: change to m5.large "
        "(-27.16 USD a month in all)\n"
        f"batch-2 ({cheap}.cpu): 192 credits, 0.16 USD in 8 d, 0.61 a month; no change is advised\n"
    ) in out
    _, out, _ = burstwatch(cloud, *command, "--json")
    records = {record["name"]: record for record in map(json.loads, out.splitlines())}
    assert records["batch-1"]["charged_credits"] == 11_520
    assert records["batch-1"]["charged_usd_month"] == pytest.approx(36.5)
    assert records["batch-3"]["charged_credits"] is None
    for form in (["--markdown"], ["--html", "/dev/stdout"]):
        _, out, _ = burstwatch(cloud, *command, *form)
        assert "of what is in Unlimited mode now: 9.76 USD." in out


def test_a_scan_says_what_surplus_has_cost_in_the_last_month(cloud: Cloud) -> None:
    instance_with_charges(cloud, 1, mode="unlimited", charged=60.0)
    instance_with_charges(cloud, 2, mode="unlimited", charged=0.0)
    command = ("scan", "--kind", "ec2_instance_cpu")
    _, out, _ = burstwatch(cloud, *command)
    charged = "surplus CPU credits charged in 30 days, of what is in Unlimited mode now: 9.60 USD (batch-1 9.60)"
    assert f"{charged}\n" in out
    _, out, _ = burstwatch(cloud, *command, "--json")
    by_name = {record["name"]: record for record in map(json.loads, out.splitlines())}
    assert by_name["batch-1"]["charged_usd_month"] == pytest.approx(36.5, rel=0.01)
    assert by_name["batch-2"]["charged_credits"] == 0
    cloud.aws.denied.add("GetMetricData")
    code, _, err = burstwatch(cloud, *command)
    assert code == PARTIAL
    assert "GetMetricData" in err


@pytest.mark.parametrize(
    "name",
    ["[fix](https://e.example/x)", "<img src=//e.example/p>", "@acme/admins", "`code` *bold*", "![x](http://e.example)", "a|b", "~~gone~~"],
)  # fmt: skip
def test_a_name_writes_nothing_into_a_ticket_but_itself(cloud: Cloud, name: str) -> None:
    dry = volume(cloud, dry=True, name=name)
    _, out, _ = burstwatch(cloud, "advise", "--kind", "ebs_volume", "--markdown")
    (heading,) = (line for line in out.splitlines() if line.startswith("## "))
    assert dry in heading
    assert not set("[]<>@`*|~$").intersection(heading)
    assert "://" not in heading
    assert name not in out
