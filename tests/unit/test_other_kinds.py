"""What-if and replay of other kinds than EBS volumes, with what AWS and others have published of them."""

import io
import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from burstwatch.backtest.replay import Played
from burstwatch.cli.main import run
from burstwatch.config import Config
from burstwatch.forecast.policy import assess
from burstwatch.forecast.whatif import answer_for
from burstwatch.forecast.whatif_volume import Question, answer_for_volume
from burstwatch.history.observations import Resource, observe
from burstwatch.history.past import to_past
from burstwatch.history.points import NO_LIMIT, DemandPoint
from burstwatch.kinds import find_kinds
from burstwatch.kinds._by_hand import described_by_hand
from burstwatch.kinds._spent import binding_of
from burstwatch.kinds.base import Thing, Totals
from burstwatch.kinds.fsx_file_server import FULL_LASTS
from burstwatch.recordings.samples import Sample, to_points

HOUR_S = 3_600.0
KINDS = find_kinds()


def example_of(name: str) -> tuple[dict[str, str], dict[str, float]]:
    """A description of a resource with a bucket, and a load above what comes in."""
    examples = import_module(f"tests.kinds.{name}")
    return examples.SPEC, examples.LOAD


def burstwatch(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = run(args, stdout=out, stderr=err, env={}, clock=lambda: 0.0)
    return code, out.getvalue(), err.getvalue()


def whatif(text: str) -> dict[str, Any]:
    code, out, err = burstwatch("whatif", *text.split(), "--json")
    assert (code, err) == (0, "")
    answer: dict[str, Any] = json.loads(out)
    return answer


def replayed(rows: str, kind: str, spec: str, tmp_path: Path) -> list[dict[str, Any]]:
    path = tmp_path / "series.csv"
    path.write_text(rows)
    code, out, err = burstwatch(
        "explain", str(path), "--every-period", "--kind", kind, "--spec", spec, "--period-s", "300",
        "--delay-s", "0", "--json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_answers_what_if_and_empties_at_a_load_above_its_baseline(name: str) -> None:
    spec, load = example_of(name)
    found = answer_for(KINDS[name], spec, load)
    assert found.state == "finite"
    assert found.baseline is not None
    assert found.burst is not None
    assert found.time_to_empty_s is not None
    assert found.worst_s is not None
    assert 0 < found.worst_s <= found.time_to_empty_s
    assert 0 < found.baseline < found.burst
    assert found.at_zero
    idle = answer_for(KINDS[name], spec, dict.fromkeys(load, 0.0), balance_percent=50)
    assert idle.state == "infinite"
    assert idle.time_to_full_s is not None


@pytest.mark.parametrize("name", KINDS)
def test_what_is_served_at_a_limit_is_held_back_by_it_and_half_of_it_by_nothing(name: str) -> None:
    kind, (spec, load) = KINDS[name], example_of(name)
    for resource in described_by_hand(kind, spec):
        totals = kind.totals(resource, load)

        def spent(
            factor: float, resource: Resource = resource, totals: Totals = totals
        ) -> DemandPoint:
            point = kind.spent(
                resource, {one: factor * value for one, value in totals.items()}, 0.0, 1.0
            )
            assert point is not None
            return point

        to_limit = resource.limit.rate / spent(1.0).nominal
        assert spent(to_limit).binding == resource.limit.binding
        assert spent(to_limit / 2).binding == NO_LIMIT


@pytest.mark.parametrize("name", KINDS)
def test_what_a_kind_does_not_have_is_refused_by_name(name: str) -> None:
    spec, load = example_of(name)
    with pytest.raises(ValueError, match="has no 'colour'; allowed: "):
        answer_for(KINDS[name], {**spec, "colour": "red"}, load)
    with pytest.raises(ValueError, match="has no 'speed'; allowed: "):
        answer_for(KINDS[name], spec, {"speed": 3.0})
    with pytest.raises(ValueError, match="must be from 0 to"):
        answer_for(KINDS[name], spec, {next(iter(load)): -1.0})
    with pytest.raises(ValueError, match="is needed by "):
        answer_for(KINDS[name], {}, load)


def test_a_t3_medium_at_60_percent_lasts_12_hours_and_counts_in_aws_credits() -> None:
    found = whatif("--kind ec2_instance_cpu --type t3.medium --cpu-percent 60")
    assert (found["capacity"], found["credit_unit"], found["state"]) == (576, "credit", "finite")
    assert found["time_to_empty_s"] == pytest.approx(12 * HOUR_S)
    # 60 credits an hour and vCPU, 15 % faster, against 24 that come in.
    assert found["worst_s"] == pytest.approx(576 / (2 * 60 * 1.15 - 24) * HOUR_S)
    assert found["refill_from_empty_s"] == pytest.approx(24 * HOUR_S)


@pytest.mark.parametrize(
    ("size_gib", "burst", "baseline", "worst_s"),
    [
        (20, 3_000, 100, 1_862),
        (100, 3_000, 300, 2_000),
        (399, 3_000, 1_197, 2_995),
        (400, 12_000, 1_200, 2_000),
        (1_000, 12_000, 3_000, 2_400),
        (2_000, 12_000, 6_000, 3_600),
        (3_999, 12_000, 11_997, 7_200_000),
    ],
)
def test_rds_storage_has_the_published_rows(
    size_gib: int, burst: float, baseline: float, worst_s: float
) -> None:
    found = whatif(
        f"--kind rds_storage --type gp2 --size-gib {size_gib} --engine postgres --iops {burst}"
    )
    assert (found["burst"], found["baseline"]) == (burst, baseline)
    assert round(found["worst_s"]) == worst_s
    assert round(found["time_to_empty_s"]) == worst_s


def test_rds_storage_of_4000_gib_has_no_bucket() -> None:
    found = whatif("--kind rds_storage --type gp2 --size-gib 4000 --iops 12000")
    assert (found["state"], found["time_to_empty_s"]) == ("not_applicable", None)


@pytest.mark.parametrize(
    ("size_gib", "minutes_a_day"), [(10, 7.2), (256, 180), (512, 360), (1_024, 720)]
)
def test_efs_bursts_as_many_minutes_a_day_as_published(size_gib: int, minutes_a_day: float) -> None:
    found = whatif(f"--kind efs_file_system --size-gib {size_gib} --mib-s 100")
    # What comes in during a day, spent at the burst rate.
    assert found["baseline"] / found["burst"] * 24 * 60 == pytest.approx(minutes_a_day, rel=0.03)


def test_the_first_bucket_of_an_empty_efs_lasts_6_12_hours() -> None:
    found = whatif("--kind efs_file_system --size-gib 1 --mib-s 100")
    assert found["time_to_empty_s"] / HOUR_S == pytest.approx(6.12, abs=0.005)
    assert found["capacity"] == pytest.approx(2_308_974_418_330 / 2**20)


def test_the_published_week_of_a_t3_nano_is_replayed(tmp_path: Path) -> None:
    """The example of Standard mode in the EC2 user guide, seven periods: hours and load of each vCPU."""
    periods = [(24, 0.0), (12, 0.025), (24, 0.07), (12, 0.025), (2, 0.6), (14, 0.05), (24, 0.0)]
    rows, balance, t_s, ends = ["t_s,CPUCreditBalance,CPUCreditUsage"], 0.0, 0, []
    for hours, load in periods:
        for _ in range(hours * 12):
            used = min(2 * load * 5, balance + 0.5)
            balance = min(144.0, balance + 0.5 - used)
            rows.append(f"{t_s},{balance:.6f},{used:.6f}")
            t_s += 300
        ends.append((t_s, balance))
    assert [round(balance, 1) for _, balance in ends] == [144, 144, 86.4, 122.4, 0, 0, 144]
    moments = {
        one["at"]: one
        for one in replayed("\n".join(rows), "ec2_instance_cpu", "type=t3.nano", tmp_path)
    }
    for at, balance in ends:
        assert moments[at]["balance"] == pytest.approx(balance / 144, abs=0.01)
    began = ends[3][0]
    # Two hours at 60 %, with what is left for them: 122.4 credits against 66 an hour.
    seen = moments[began + 1_800]
    truth_s = 122.4 / 66 * HOUR_S - 1_800
    assert seen["worst_s"] <= truth_s
    assert seen["time_to_empty_s"] == pytest.approx(truth_s, rel=0.1)
    assert moments[ends[4][0]]["verdict"] == "exhausted"
    assert moments[ends[-1][0]]["verdict"] == "ok"


def test_the_published_surplus_of_a_t3_nano_is_replayed(tmp_path: Path) -> None:
    """The example of Unlimited mode in the EC2 user guide: five hours at full load from 122 credits.

    The instance spends 570 credits more than it earns. It owes 448 of them, 144 are free of
    charge, and AWS charges for 304.
    """
    step_s, minutes = 300, 5
    net = 2.0 * minutes - 0.5  # credits in one step: two vCPUs spend, the type earns 6 an hour
    rows = ["t_s,CPUSurplusCreditBalance,CPUCreditUsage"]
    rows += [
        f"{step * step_s},{min(144.0, max(0.0, net * step - 122)):.6f},{2.0 * minutes}"
        for step in range(1, 5 * 12 + 1)
    ]
    moments = replayed("\n".join(rows), "ec2_instance_cpu", "type=t3.nano,mode=unlimited", tmp_path)
    charged_from_s = next(one["at"] for one in moments if one["balance"] == 0.0)
    charged = net * (5 * HOUR_S - charged_from_s) / step_s
    assert charged == pytest.approx(304, abs=net)
    # An hour and a half into it 49 of the 144 are owed.
    seen = next(one for one in moments if one["at"] == 1.5 * HOUR_S)
    assert seen["time_to_empty_s"] == pytest.approx(charged_from_s - seen["at"], abs=step_s)
    assert {one["verdict"] for one in moments[1:]} <= {"ok", "watch", "warning"}


def test_a_t2_nano_with_launch_credits_is_at_or_below_the_published_week(tmp_path: Path) -> None:
    """The example of Standard mode with launch credits in the EC2 user guide, at the ends of its periods.

    Launch credits come on top of a full bucket. burstwatch leaves them out: it shows 100 %.
    """
    published = [(24, 102.0), (36, 102.0), (61, 72.0), (72, 72.0), (75, 45.0), (90, 72.0)]
    published.append((96, 72.0))
    rows = ["t_s,CPUCreditBalance,CPUCreditUsage"]
    before_h, before = 0, 30.0
    for hour, balance in published:
        for back in range(12 * (hour - before_h) - 1, -1, -1):
            share = 1 - back / (12 * (hour - before_h))
            now = before + (balance - before) * share
            used = max(0.0, 0.25 - (balance - before) / (12 * (hour - before_h)))
            rows.append(f"{hour * 3600 - 300 * back},{now:.6f},{used:.6f}")
        before_h, before = hour, balance
    moments = {
        one["at"]: one
        for one in replayed("\n".join(rows), "ec2_instance_cpu", "type=t2.nano", tmp_path)
    }
    for hour, balance in published:
        expected = min(1.0, balance / 72)
        assert moments[hour * 3600]["balance"] == pytest.approx(expected, abs=0.01)
        assert moments[hour * 3600]["verdict"] in {"ok", "watch"}


def test_the_storage_of_a_database_lets_no_more_bytes_through_than_its_volume() -> None:
    spec, load = {"type": "gp2", "size_gib": "100"}, {"iops": 3_000.0, "io_kib": 1_024.0}
    found = answer_for(KINDS["rds_storage"], {**spec, "engine": "sqlserver-ee"}, load)
    volume = answer_for_volume(Question(volume_type="gp2", size_gib=100, iops=3_000, io_kib=1_024))
    assert found.time_to_empty_s == pytest.approx(volume.time_to_empty_s)
    assert found.time_to_empty_s == pytest.approx(5.4e6 / (4 * 128 - 300))


def test_a_size_of_operations_that_nobody_gave_is_said() -> None:
    args = ["whatif", "--kind", "rds_storage", "--type", "gp2", "--size-gib", "100", "--mib-s", "9"]
    assert "assumed: 16 KiB per operation" in burstwatch(*args)[1]
    assert "KiB per operation" not in burstwatch(*args, "--io-kib", "64")[1]


def test_a_measured_fsx_server_drains_and_refills_within_a_tenth_of_the_model() -> None:
    """Others measured a server of 1,536 MB/s that bursts to 3,125: 99 % were spent in 27 min 10 s.

    In 18 idle minutes 60 % of it came back.
    """
    found = answer_for(
        KINDS["fsx_file_server"], {"throughput_capacity": "256"}, {"mib_s": 600}, balance_percent=99
    )
    assert found.worst_s == pytest.approx(27 * 60 + 10, rel=0.1)
    refill_s = FULL_LASTS.value * (3_125 - 1_536) / 1_536
    assert 18 * 60 / refill_s == pytest.approx(0.6, rel=0.1)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("--kind ec2_instance_cpu --cpu-percent 60", "--type is needed by"),
        ("--kind ec2_instance_cpu --type m5.large --cpu-percent 60", "type m5.large has no credits"),
        ("--kind ec2_instance_cpu --type t3.huge --cpu-percent 60", "'t3.huge'; allowed: "),
        ("--kind ec2_instance_cpu --type t3.nano --cpu-percent 101", "0 to 100, got 101"),
        ("--kind ec2_instance_cpu --type t3.nano --cpu-percent x", "--cpu-percent: 'x' is not a number"),
        ("--kind ec2_instance_cpu --type t3.nano --iops 3", "--iops is not for ec2_instance_cpu"),
        ("--kind ec2_instance_cpu --type t3.nano --mode odd --cpu-percent 3", "got 'odd'"),
        ("--kind efs_file_system --size-gib 256", "give the load: --mib-s"),
        ("--kind efs_file_system --size-gib -3 --mib-s 1", "above 0"),
        ("--kind rds_storage --type gp2 --size-gib 9 --engine x --iops 1", "engine 'x' is unknown"),
        ("--kind ec2_instance_cpu --type t3.nano --cpu-percent 3 --balance-percent 300", "0 to 100"),
        ("--type gp2 --size-gib 100 --iops 3000 --cpu-percent 3", "not for an EBS volume"),
        ("--iops 3000", "needs --type and --size-gib, or --kind"),
    ],
)  # fmt: skip
def test_a_wrong_question_is_refused_by_name(args: str, message: str) -> None:
    code, out, err = burstwatch("whatif", *args.split())
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("--kind ec2_instance_cpu --spec typ=t3.nano", "has no 'typ'; allowed: type, mode"),
        ("--kind ec2_instance_cpu --spec t3.nano", "takes key=value, got 't3.nano'"),
        (
            "--kind efs_file_system --spec size_gib=3",
            "no metric of efs_file_system: found CPUCreditBalance",
        ),
        ("--kind ec2_instance_cpu --type gp2", "type gp2 has no credits"),
        ("--type gp2 --size-gib 3", "no metric of ebs_volume"),
        ("--kind ec2_instance_cpu", "needs --type, to describe"),
    ],
)
def test_a_wrong_replay_is_refused_by_name(args: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "series.csv"
    path.write_text("t_s,CPUCreditBalance,CPUCreditUsage\n0,3,1\n300,2,1\n")
    code, out, err = burstwatch("explain", str(path), *args.split())
    assert (code, out) == (2, "")
    assert message in err


def test_people_read_the_answer_in_words() -> None:
    code, out, _ = burstwatch(
        "whatif", "--kind", "ec2_instance_cpu", "--type", "t3.medium", "--cpu-percent", "60"
    )
    assert code == 0
    assert out.splitlines() == [
        "runs out in 12 h, at worst in 5 h 3 min; then 20% of 2 vCPUs, slowed down gradually, within 15 minutes",
        "ec2_instance_cpu t3.medium: the load uses 1.2 vCPU, and 0.4 vCPU are earned",
        "the bucket holds 576 credits",
        "full now; from empty, it is full after 1 d without load",
        "assumed: standard mode (--mode)",
    ]


def test_the_io_of_a_database_without_credits_costs_none() -> None:
    kind = KINDS["rds_storage"]
    listed = import_module("tests.kinds.rds_storage").ITEMS
    (modern,) = (one for one in listed if one["StorageType"] == "gp3")
    (resource,) = kind.describe(kind.inventory.identify(modern), {}, 0.0)
    assert resource.bucket is None
    assert kind.spent(resource, dict.fromkeys(kind.metrics, 1_000.0), 0.0, 60.0) is None


def test_a_replay_of_a_node_that_began_without_credits_says_what_the_sweep_said() -> None:
    kind, start_s, period_s = KINDS["elasticache_node_cpu"], 1_000_000.0, 300.0
    (described,) = described_by_hand(kind, {"type": "cache.t3.micro"})
    node = replace(described, reporting=replace(described.reporting, in_use_since_s=start_s - 60.0))
    assert node.terms.starts_empty
    balances = [0.0] * 20 + [0.5 * number for number in range(60)]
    rows = [
        Sample(t_s=start_s + number * period_s, values={node.level_metric: balance, "CPUCreditUsage": 0.1})
        for number, balance in enumerate(balances)
    ]  # fmt: skip
    played, config = Played(rows, node, period_s, kind), Config()
    levels, demand = to_points(rows, node, period_s, kind)
    for number in range(1, len(rows)):
        now = start_s + number * period_s
        seen = observe(
            node, now, levels[:number], demand[:number], past=to_past(demand[:number]),
            looked_back_s=now - start_s,
        )  # fmt: skip
        assert assess(played.at(now, 0.0, config), config).verdict == assess(seen, config).verdict


def test_a_file_system_without_a_burst_limit_is_held_back_by_nothing() -> None:
    kind = KINDS["efs_file_system"]
    item = {"FileSystemId": "fs-1", "ThroughputMode": "elastic", "SizeInBytes": {"Value": 2**40}}
    (resource,) = kind.describe(kind.inventory.identify(item), {}, 0.0)
    point = kind.spent(resource, {"MeteredIOBytes": 2.0**30}, 0.0, 60.0)
    assert point is not None
    assert (resource.limit.rate, point.binding) == (0.0, NO_LIMIT)


def test_a_rate_is_held_back_from_97_percent_of_the_limit_on() -> None:
    (resource,) = described_by_hand(KINDS["efs_file_system"], example_of("efs_file_system")[0])
    limit = resource.limit
    assert binding_of(resource, 0.96 * limit.rate) == NO_LIMIT
    assert (
        binding_of(resource, 0.97 * limit.rate) == binding_of(resource, limit.rate) == limit.binding
    )


def test_the_limits_of_an_instance_by_hand_are_in_mib_and_aws_has_them_in_megabytes() -> None:
    spec = {"type": "gp2", "size_gib": "100", "instance_mib_s": "100", "instance_iops": "2000"}
    (resource,) = described_by_hand(find_kinds()["ebs_volume"], spec)
    assert resource.detail.instance.mib_s == pytest.approx(100)
    assert resource.detail.instance.iops == 2_000


@pytest.mark.parametrize(
    ("instance_class", "status", "why", "in_use"),
    [
        ("db.r5.2xlarge.tpc2.mem8x", "available", "AWS does not say on which instance type", True),
        ("db.r5.2xlarge.tpc2.mem8x", "stopped", "AWS does not say on which instance type", False),
    ],
)
def test_a_class_with_extra_memory_is_not_watched_and_a_stopped_one_not_in_use(
    instance_class: str, status: str, why: str, *, in_use: bool
) -> None:
    item = {
        "DBInstanceIdentifier": "orders",
        "DBInstanceClass": instance_class,
        "DBInstanceStatus": status,
        "Engine": "oracle-ee",
    }
    thing = Thing(id="orders", name="", tags={}, item=item)
    (resource,) = find_kinds()["rds_instance_ebs"].describe(thing, {"instance_types": {}}, 0.0)
    assert resource.terms.not_watched.startswith(why)
    assert resource.reporting.in_use is in_use


def test_an_instances_large_io_may_cost_as_much_as_its_reach_allows_for() -> None:
    kind = KINDS["ec2_instance_ebs"]
    spec = {
        "type": "m5.large", "baseline_iops": "3600", "maximum_iops": "18750",
        "baseline_mb_s": "81.25", "maximum_mb_s": "593.75",
    }  # fmt: skip
    of_io = described_by_hand(kind, spec)[0]
    for io_kib, most in ((4.0, 2_000.0), (16.0, 2_000.0), (64.0, 5_000.0), (256.0, 17_000.0)):
        totals = kind.totals(of_io, {"iops": 1_000.0, "io_kib": io_kib})
        point = kind.spent(of_io, totals, 0.0, 1.0)
        assert point is not None
        assert (point.nominal, point.most) == (1_000.0, most)
