"""`scan`, as a person runs it, against the strict fake."""

import json

import pytest

from burstwatch.aws.look.recording import record
from burstwatch.cli.commands.scan import ELASTIC, HEADINGS
from burstwatch.formatting import table
from burstwatch.kinds.ebs_volume import KIND as EBS_VOLUME
from tests.aws.commands import burstwatch
from tests.aws.doctored import FUNCTION, deploy
from tests.aws.sweeping import Disk
from tests.conftest import NOW, Cloud, iam_action, put_cache
from tests.kinds._rds import instance

pytestmark = pytest.mark.slow


def test_scan_shows_the_worst_first(cloud: Cloud) -> None:
    calm, hot = Disk(cloud, percent=100), Disk(cloud, percent=40)
    for _ in range(5):
        hot.minute(iops=3_000)
        cloud.clock.now -= 60
        calm.minute(iops=100)
    code, out, err = burstwatch(cloud, "scan")
    assert (code, err) == (0, "")
    place, _, first, *_ = lines = out.splitlines()
    assert place == "123456789012 us-east-1, 14:19Z"
    assert hot.id in first
    assert first.startswith("8 min ")
    assert "critical" in first
    assert lines[-1] == (
        "4 resources, 0 unknown, 2 without burst credits (--all shows them); 16 metrics requested"
    )


def test_a_name_cannot_forge_a_line_or_move_the_cursor(cloud: Cloud) -> None:
    forged = "\x9b2J\u202ewe\nvol-fake  critical"
    volume_id = cloud.aws.add_volume("gp2", 100, name=forged)
    for args in (("scan",), ("top",), ("snooze", volume_id, "4h", "--reason", "test")):
        _, out, _ = burstwatch(cloud, *args)
        assert "vol-fake" in out
        assert not [line for line in out.splitlines() if line.startswith("vol-fake")]
        assert "\x9b" not in out
        assert "\u202e" not in out


def test_scan_for_machines_is_one_object_a_resource(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=100)
    cloud.aws.add_volume("gp3", 100)
    _, out, _ = burstwatch(cloud, "scan", "--json")
    found = {entry["id"]: entry for entry in map(json.loads, out.splitlines())}
    assert sorted(entry["kind"] for entry in found.values()) == [
        "ebs_volume",
        "ebs_volume",
        "ec2_instance_ebs",
    ]
    assert found[disk.id]["state"] == "infinite"
    assert found[disk.id]["time_to_empty_s"] is None
    assert found[disk.id]["size_gib"] == 100


def test_scan_says_what_watching_would_cost_by_type(cloud: Cloud) -> None:
    for _ in range(2):
        Disk(cloud, percent=100)
    low = Disk(cloud, percent=50)
    cloud.aws.add_volume("gp3", 100)
    code, out, err = burstwatch(cloud, "scan", "--cost")
    assert (code, err) == (0, "")
    row = next(line for line in out.splitlines() if line.startswith("gp2 100 GiB"))
    month_s, name_cells = 30 * 86_400, 3
    # The full ones wait 2,000 - 1,140 s, which is fourteen sweeps; the low one is asked at each.
    metrics = 2 * month_s / 840 + month_s / 60
    # All of them full, silent, by data as late as it may be: 2,000 - 600 - 1,140 s, which is four.
    usd_full = 3 * month_s / 240 * 1e-5
    assert row.split()[name_cells:] == [
        "3",
        f"{metrics:,.0f}",
        f"{usd_full:.2f}",
        f"{metrics * 1e-5:.2f}",
    ]
    assert low.id not in out
    assert "warned of now: 0; each costs at most 0.0011 USD more in every hour" in out
    assert "at no cost: 4 " in out  # gp3, and instances that sustain their maximum
    found = [
        json.loads(line) for line in burstwatch(cloud, "scan", "--cost", "--json")[1].splitlines()
    ]
    types = {one["type"]: one for one in found if "type" in one}
    assert types.keys() == {"gp2 100 GiB", "gp3 100 GiB", "m5.large"}
    assert types["gp3 100 GiB"]["usd_month"] == 0
    (in_all,) = [one for one in found if one.get("cost_line") == "all"]
    found.remove(in_all)
    lines = {one["cost_line"]: one["usd_month"] for one in found if "cost_line" in one}
    asking_usd = sum(one["usd_month"] for one in types.values())
    assert in_all["usd_month"] == pytest.approx(asking_usd + sum(lines.values()))
    shown = out.splitlines()[-1]
    assert shown == (
        f"in all: {in_all['usd_month']:.2f} USD a month now ({in_all['usd_month_after_free_tier']:.2f} after AWS's "
        "free tier) for 7 resources"
    )
    assert lines.keys() >= {"alarms", "fleet metrics", "keys", "sweeps", "calls"}
    assert f"the deployment itself: {sum(lines.values()):.2f} USD a month (alarms 1.70, " in out
    paid = {
        one["cost_line"]: round(one["usd_month_after_free_tier"], 2)
        for one in found
        if "cost_line" in one
    }
    assert (paid["alarms"], paid["fleet metrics"], paid["calls"]) == (0.7, 0.9, 0)
    assert f"{sum(paid.values()):.2f} after AWS's free tier" in out


def test_a_lead_that_a_full_bucket_does_not_outlast_is_said(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    Disk(cloud, percent=100)
    monkeypatch.setenv("BURSTWATCH_LEAD_S", "1800")
    _, out, _ = burstwatch(cloud, "scan", "--cost")
    assert "out of reach: 1 resources whose full bucket lasts less than the margin" in out


def test_scan_needs_only_the_permissions_that_the_catalog_prints(cloud: Cloud) -> None:
    cloud.aws.add_instance("t3.nano")  # its mode is asked for
    Disk(cloud, percent=40)
    put_cache(cloud)
    database = instance("orders-db", "postgres", instance_class="db.t3.medium")
    cloud.aws.add_item("rds", "DescribeDBInstances", database)  # its surplus is looked for
    burstwatch(cloud, "scan", "--all-regions")
    _, policy, _ = burstwatch(cloud, "policy", "scan")
    allowed = json.loads(policy)["Statement"][0]["Action"]
    used = {iam_action(service, operation) for service, operation, _ in cloud.aws.calls}
    assert used - {"sts:GetCallerIdentity"} == set(allowed)


def test_scan_of_all_regions_goes_on_after_one_that_fails(cloud: Cloud) -> None:
    cloud.aws.enabled = ("ap-east-1", "eu-west-1", "us-east-1")
    cloud.aws.closed_regions = {"ap-east-1"}
    Disk(cloud, percent=100)
    cloud.aws.add_volume("gp3", 100, region="eu-west-1")
    code, out, err = burstwatch(cloud, "scan", "--all-regions")
    assert code == 1
    assert "3 resources" in out
    place, headings, *_ = out.splitlines()
    assert place == "123456789012 in 3 regions, 14:14Z"
    assert headings.endswith("region")
    _, out, _ = burstwatch(cloud, "scan", "--all-regions", "--all")
    assert {line.split()[-1] for line in out.splitlines()[2:-1]} == {"eu-west-1", "us-east-1"}
    assert err.startswith("burstwatch: ap-east-1: ")


def test_scan_says_why_something_is_in_danger_that_its_load_would_not_empty(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=5)
    for minute in range(8):
        disk.minute(iops=3_000 if minute < 4 else 0)
    _, out, _ = burstwatch(cloud, "scan")
    row = next(line for line in out.splitlines() if disk.id in line)
    assert "critical" in row
    assert "never" in row
    (why,) = [line for line in out.splitlines() if line.startswith(f"{disk.id}: ")]
    assert "ran out" in why


def test_a_denied_call_is_a_partial_result(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=100)
    cloud.aws.denied = {"DescribeInstances"}
    code, out, err = burstwatch(cloud, "scan")
    assert code == 1
    assert disk.id in out
    assert err.count("\n") == 1
    assert "DescribeInstances: UnauthorizedOperation" in err


def test_an_empty_account_is_said_to_be_empty(cloud: Cloud) -> None:
    code, out, _ = burstwatch(cloud, "scan")
    assert (code, out) == (
        0,
        "123456789012 us-east-1, 14:14Z\nno resource with credits in 123456789012 us-east-1; other regions: --all-regions; 0 metrics requested\n",
    )


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("scan", "--region", "mars-1"), "unknown region 'mars-1'; allowed: "),
        (("scan", "--profile", "nobody"), "nobody"),
    ],
)
def test_a_wrong_region_or_profile_is_one_line_and_exit_code_2(
    cloud: Cloud, args: tuple[str, ...], named: str
) -> None:
    code, out, err = burstwatch(cloud, *args)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert named in err


def test_without_credentials_it_says_so(aws_env: pytest.MonkeyPatch) -> None:
    aws_env.delenv("AWS_ACCESS_KEY_ID")
    aws_env.delenv("AWS_SECRET_ACCESS_KEY")
    code, out, err = burstwatch(None, "scan")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "credentials" in err.lower()


def test_a_denied_identity_is_exit_code_2(cloud: Cloud) -> None:
    cloud.aws.denied = {"GetCallerIdentity"}
    code, out, err = burstwatch(cloud, "scan")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "AccessDenied" in err


@pytest.mark.parametrize(("days", "period_s"), [("15", 60.0), ("16", 300.0)])
def test_what_is_older_than_the_minutes_that_are_kept_is_read_by_five(
    cloud: Cloud, days: str, period_s: float
) -> None:
    volume = cloud.aws.add_volume("gp2", 100)
    for back in range(60):
        cloud.aws.put(
            "AWS/EBS", "BurstBalance", {"VolumeId": volume}, NOW - 60.0 * (back + 1), 50.0
        )
    found = record(cloud.clients, [EBS_VOLUME], volume, now=NOW, back_s=float(days) * 86_400.0)
    assert found.period_s == period_s


def two_disks(cloud: Cloud) -> tuple[Disk, Disk]:
    """One that runs out soon, and one that is full; and a volume without credits."""
    calm, hot = Disk(cloud, percent=100), Disk(cloud, percent=40)
    for _ in range(5):
        hot.minute(iops=3_000)
        cloud.clock.now -= 60
        calm.minute(iops=100)
    cloud.aws.add_volume("gp3", 100)
    return calm, hot


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ("exhausted", 0), ("critical", 3), ("warning", 3), ("watch", 3), ("unknown", 0), ("unknown,critical", 3),
        ("Critical, not-watched", 3),
    ],
)  # fmt: skip
def test_fail_on_has_an_exit_code_of_its_own_for_a_verdict_or_a_worse_one(
    cloud: Cloud, verdicts: str, code: int
) -> None:
    two_disks(cloud)
    assert burstwatch(cloud, "scan", "--fail-on", verdicts)[0] == code
    assert burstwatch(cloud, "scan", "--json", "--fail-on", verdicts)[0] == code


def test_fail_on_looks_at_the_resources_that_are_chosen_and_at_those_beyond_the_limit(
    cloud: Cloud,
) -> None:
    cloud.aws.add_instance("t3.nano")  # it has credits and no datapoint, so it is unknown
    calm, hot = two_disks(cloud)
    assert burstwatch(cloud, "scan", calm.id, "--fail-on", "critical")[0] == 0
    assert burstwatch(cloud, "scan", hot.id, "--fail-on", "critical")[0] == 3
    assert burstwatch(cloud, "scan", "--fail-on", "unknown", "--limit", "1")[0] == 3
    cloud.aws.denied = {"DescribeInstances"}
    assert burstwatch(cloud, "scan", "--fail-on", "critical")[0] == 3  # and not 1: it was seen
    assert burstwatch(cloud, "scan", "--fail-on", "exhausted")[0] == 1


def test_rows_without_credits_are_counted_and_shown_on_demand(cloud: Cloud) -> None:
    calm, hot = two_disks(cloud)
    _, out, _ = burstwatch(cloud, "scan")
    assert len(out.splitlines()) == 2 + 2 + 1
    assert "3 without burst credits (--all shows them)" in out
    _, out, _ = burstwatch(cloud, "scan", "--all")
    assert len(out.splitlines()) == 2 + 5 + 1
    assert "without burst credits" not in out
    _, out, _ = burstwatch(cloud, "scan", "--limit", "1")
    assert hot.id in out
    assert calm.id not in out
    assert "less urgent and not shown: 1; leave out --limit" in out


@pytest.mark.parametrize("word", ["vol-*", "DB", "d?", "team=pay*", "TEAM=Payments"])
def test_ids_names_tags_and_patterns_choose_resources(cloud: Cloud, word: str) -> None:
    chosen = cloud.aws.add_volume("gp2", 100, name="db")
    cloud.aws.regions["us-east-1"].volumes[chosen]["Tags"].append(
        {"Key": "team", "Value": "payments"}
    )
    other = cloud.aws.add_volume("gp2", 100, name="wiki")
    _, out, _ = burstwatch(cloud, "scan", word, "--all")
    assert chosen in out
    assert (other in out) is (word == "vol-*")


def test_a_word_that_nothing_answers_to_is_refused_with_what_is_near(cloud: Cloud) -> None:
    cloud.aws.add_volume("gp2", 100, name="orders-db")
    code, _, err = burstwatch(cloud, "scan", "orders-bd")
    assert code == 2
    assert err == (
        "burstwatch: no resource 'orders-bd' with credits in 123456789012 us-east-1, did you mean 'orders-db'?\n"
    )


def test_settings_of_the_command_line_hold_over_those_of_the_environment(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_disks(cloud)
    monkeypatch.setenv("BURSTWATCH_LEAD_S", "60")
    watched = ("scan", "--fail-on", "critical")
    assert burstwatch(cloud, *watched)[0] == 0
    assert burstwatch(cloud, *watched, "--lead-s", "900")[0] == 3
    assert burstwatch(cloud, *watched, "--set", "lead_s=900")[0] == 3
    for more, said in (
        (("--set", "lead=900"), "unknown setting 'lead'; allowed: lead_s,"),
        (("--set", "lead_s"), "--set takes NAME=VALUE, got 'lead_s'"),
        (("--set", "lead_s=900", "--lead-s", "60"), "--lead-s is set twice: say it once"),
        (
            ("--lead-s", "soon"),
            "argument --lead-s: 'soon' is not a number; examples: 60, 60s and 5m",
        ),
        (
            ("--lead-s", "48h"),
            "--lead-s is '172800'; allowed: a number of seconds from 60 to 86400",
        ),
        (("--stack", "Other"), "--stack is the stack of a deployment: give --deployment too"),
    ):
        code, _, err = burstwatch(cloud, *watched, *more)
        assert (code, said in err) == (2, True), err


def test_a_scan_with_the_settings_of_a_deployment_judges_as_its_function_does(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy(cloud)
    two_disks(cloud)
    watched = ("scan", "--fail-on", "critical")
    variables = cloud.aws.environments[FUNCTION]
    variables["BURSTWATCH_LEAD_S"] = "60"
    assert burstwatch(cloud, *watched, "--deployment", "burstwatch")[0] == 0
    monkeypatch.setenv("BURSTWATCH_LEAD_S", "60")
    variables["BURSTWATCH_LEAD_S"] = "900"
    assert burstwatch(cloud, *watched, "--deployment", "burstwatch")[0] == 3
    assert burstwatch(cloud, *watched, "--deployment", "burstwatch", "--lead-s", "60")[0] == 0
    del variables["BURSTWATCH_LEAD_S"]  # then it has the default, and not what is set here
    assert burstwatch(cloud, *watched, "--deployment", "burstwatch")[0] == 3
    code, _, err = burstwatch(cloud, *watched, "--deployment", "nobody")
    assert code == 2
    assert "stack 'Burstwatch-nobody' in us-east-1 was not found" in err


@pytest.mark.parametrize("columns", [30, 60, 80, 200])
def test_a_table_fits_into_the_terminal_and_cuts_names_with_an_ellipsis(columns: int) -> None:
    rows = [("8 min", "8 min", "critical", "25%", "vol-0a1b2c3d4e5f60718", "a" * 60, "gp2 100 GiB")]
    drawn = table(HEADINGS, rows, columns=columns, elastic=ELASTIC)
    assert max(map(len, drawn.splitlines())) <= columns
    assert drawn.splitlines()[1].startswith("8 min")
    assert ("…" in drawn) is (60 < columns < 130)  # at 60 the id does not fit any more
    assert "vol-0a1b2c3d4e5f60718" in drawn or columns <= 60  # an id is never cut
    assert ("a" * 60 in drawn) is (columns > 130)


def test_a_scan_says_why_a_resource_is_unknown(cloud: Cloud) -> None:
    disk = Disk(cloud, percent=40)
    disk.minute(iops=3_000)
    cloud.clock.now += 3_600
    _, out, _ = burstwatch(cloud, "scan")
    (line,) = [line for line in out.splitlines() if line.startswith("unknown: ")]
    assert disk.id in line
    assert "newest datapoint" in line


@pytest.mark.parametrize("command", ["scan", "top", "advise", "audit-alarms"])
def test_every_command_that_looks_at_all_regions_refuses_one_beside_them_and_names_what_it_saw(
    cloud: Cloud, command: str
) -> None:
    cloud.aws.enabled = ("eu-west-1", "us-east-1")
    volume_id = cloud.aws.add_volume("gp2", 100)
    code, _, err = burstwatch(cloud, command, "--all-regions", "--region", "eu-west-1")
    assert (code, err) == (
        2,
        "burstwatch: give either --region or --all-regions, not both\n",
    )
    assert "123456789012 in 2 regions" in burstwatch(cloud, command, "--all-regions")[1]
    assert "123456789012 us-east-1" in burstwatch(cloud, command)[1]
    assert volume_id


def test_the_settings_of_a_deployment_are_read_in_its_own_region_alone(cloud: Cloud) -> None:
    deploy(cloud)
    cloud.aws.enabled = ("eu-west-1", "us-east-1")
    cloud.aws.add_volume("gp2", 100, region="eu-west-1")
    cloud.aws.environments[FUNCTION]["BURSTWATCH_KINDS"] = "ebs_volume"
    for command in (("scan",), ("advise", "--days", "1")):
        code, out, err = burstwatch(
            cloud, *command, "--all-regions", "--deployment", "burstwatch", "--json"
        )
        assert (code, "stack" in err) == (0, False), err
        listed = [json.loads(line) for line in out.splitlines()]
        assert {entry["kind"] for entry in listed} == {"ebs_volume"}
        if command == ("scan",):
            assert {entry["region"] for entry in listed} == {"eu-west-1", "us-east-1"}


def test_a_part_of_an_instance_is_chosen_by_the_id_of_the_instance(cloud: Cloud) -> None:
    instance_id = cloud.aws.add_instance("t3.nano")
    _, out, _ = burstwatch(cloud, "scan", instance_id, "--kind", "ec2_instance_cpu", "--json")
    assert json.loads(out)["id"] == f"{instance_id}.cpu"
