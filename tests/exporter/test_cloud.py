"""What AWS says of this host's volumes, and what the host makes of it."""

import io
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.aws.client.session import Clients
from burstwatch.history.points import LevelPoint, Statistic
from burstwatch_exporter.cloud import Cloud
from burstwatch_exporter.credits import interval as iv
from burstwatch_exporter.credits.ledger import Reading
from burstwatch_exporter.credits.published import CloudAnswer
from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.imds import read_identity
from burstwatch_exporter.instance_types import Bandwidth, find_type
from burstwatch_exporter.kernel.diskstats import Counters
from burstwatch_exporter.serve import write_once
from burstwatch_exporter.settings import parse_options
from tests.conftest import Cloud as Account
from tests.exporter.ledgers import BUCKET, HostileEbs, a_ledger, a_promise, shares
from tests.exporter.metadata import Handler, Metadata
from tests.exporter.pages import Hands, flags, plant
from tests.exporter.scraped import value


@pytest.fixture
def metadata() -> Iterator[Metadata]:
    server = Metadata(("127.0.0.1", 0), Handler)
    server.document = json.dumps(
        {"instanceId": "i-1", "instanceType": "m5.large", "region": "us-east-1", "accountId": "1"}
    ).encode()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_instance_is_asked_for_with_a_token(metadata: Metadata) -> None:
    identity = read_identity(metadata.url)
    assert (identity.instance_id, identity.instance_type) == ("i-1", "m5.large")


@pytest.mark.parametrize("document", [b"", b"[]", b"{}", b"<html>", b'{"instanceId": "i-1"}'])
def test_what_is_no_identity_is_an_error_that_names_the_service(
    metadata: Metadata, document: bytes
) -> None:
    metadata.document = document
    with pytest.raises(ValueError, match=f"instance metadata at {metadata.url}"):
        read_identity(metadata.url)
    metadata.refused = True
    with pytest.raises(ValueError, match="answers 403"):
        read_identity(metadata.url)


# A host of the fake account


@dataclass
class Rig:
    """An instance with one gp2 volume, which EC2 and the host's own files show."""

    account: Account
    metadata: Metadata
    root: Path
    hands: Hands = field(default_factory=Hands)
    ops: int = 0

    def __post_init__(self) -> None:
        instance = self.account.aws.add_instance("m5.large")
        self.volume_id = self.account.aws.add_volume("gp2", 100, instance_id=instance)
        self.account.aws.add_volume("gp2", 50)  # somebody else's
        document = json.loads(self.metadata.document) | {"instanceId": instance}
        self.metadata.document = json.dumps(document).encode()
        block = "sys/block/nvme1n1/"
        plant(
            {
                "proc/1/mountinfo": "", "proc/sys/kernel/random/boot_id": "b",
                block + "size": str(100 * 2**21), block + "queue/max_sectors_kb": "256",
                block + "device/model": "Amazon Elastic Block Store", block + "diskseq": "2",
                block + "device/serial": self.volume_id.replace("-", ""),
            },
            self.root,
        )  # fmt: skip
        self.does(0)
        self.exporter = Exporter(
            parse_options(flags(self.root, aws="cloudwatch"), {}), self.hands.clock
        )
        self.cloud = Cloud(
            imds=self.metadata.url,
            with_balances=True,
            sources=self.exporter.sources,
            make_clients=lambda region: Clients(region, endpoint_url=self.account.url),
        )

    def does(self, ops: int, *, seconds: float = 0.0) -> None:
        self.ops += ops
        self.hands.move(seconds)
        self.account.clock.now = self.hands.wall
        plant(
            {"proc/diskstats": f"259 1 nvme1n1 {self.ops} 0 {self.ops * 32} 0 0 0 0 0 0 0 0\n"},
            self.root,
        )

    def publishes(self, percent: float, at: float) -> None:
        where = {"VolumeId": self.volume_id}
        self.account.aws.put("AWS/EBS", "BurstBalance", where, at, percent)

    def asks(self) -> CloudAnswer:
        told = self.cloud.ask(self.hands.wall)
        self.exporter.host.apply(told)
        return told

    def problems(self, source: str) -> str:
        return "; ".join(self.exporter.sources.outcomes[source].problems)


@pytest.fixture
def rig(cloud: Account, metadata: Metadata, tmp_path: Path) -> Rig:
    return Rig(cloud, metadata, tmp_path)


def test_type_size_and_the_instances_limits_come_from_ec2(rig: Rig) -> None:
    rig.exporter.host.observe()
    assert "burstwatch_credit_capacity" not in rig.exporter.scrape()[1].decode()
    told = rig.asks()
    assert list(told.specs) == [rig.volume_id]
    text = rig.exporter.scrape()[1].decode()
    assert value(text, "burstwatch_volume_info", volume_type="gp2", type_source="ec2") == 1
    labels = {"volume_id": rig.volume_id, "device": "nvme1n1", "bucket": "io"}
    assert value(text, "burstwatch_credit_refill_per_second", **labels) == 300


def test_what_a_service_of_aws_manages_is_known_although_aws_hides_it(rig: Rig) -> None:
    there = rig.account.aws.regions["us-east-1"]
    for item in (*there.volumes.values(), *there.instances.values()):
        item["Operator"] = {
            "Managed": True,
            "Principal": "eks.amazonaws.com",
            "HiddenByDefault": True,
        }
    rig.exporter.host.observe()
    assert list(rig.asks().specs) == [rig.volume_id]


def test_a_new_volume_is_known_to_be_nearly_full(rig: Rig) -> None:
    made = datetime.fromtimestamp(rig.hands.wall - 60, tz=UTC)
    rig.account.aws.regions["us-east-1"].volumes[rig.volume_id]["CreateTime"] = made
    rig.exporter.host.observe()
    rig.asks()
    (view,) = rig.exporter.host.observe().views
    assert view.account is not None
    assert view.account.origin == "created"
    assert view.account.interval.low == 5_400_000 - 60 * 1.05 * 3_000


def test_a_published_balance_narrows_the_interval_and_its_drift_is_told(rig: Rig) -> None:
    rig.exporter.host.observe()
    rig.asks()
    start = rig.hands.wall
    for _ in range(60):  # ten minutes at 1,000 IOPS of 16 KiB
        rig.does(10_000, seconds=10)
        rig.exporter.host.observe()
    for minute in range(5):
        rig.publishes(50 - minute * 60 * 700 / 54_000, start + minute * 60)
    rig.asks()
    (view,) = rig.exporter.host.observe().views
    assert view.account is not None
    low, high = view.account.interval.low, view.account.interval.high
    truth = 2_700_000 - 600 * 700
    assert low < truth < high
    assert high - low < 700_000  # of 5,400,000: what merging may have saved since then
    assert view.account.origin == "published"
    text = rig.exporter.scrape()[1].decode()
    labels = {"volume_id": rig.volume_id, "device": "nvme1n1", "bucket": "io"}
    assert value(text, "burstwatch_reconciliation_drift_ratio", **labels) == 0
    assert value(text, "burstwatch_cloudwatch_balance_timestamp_seconds", **labels) == start + 300


def test_a_balance_that_comes_before_the_host_has_seen_its_period_out_gets_its_drift_later(
    rig: Rig,
) -> None:
    rig.exporter.host.observe()
    rig.asks()
    start = rig.hands.wall
    for _ in range(11):
        rig.does(10_000, seconds=10)
        rig.exporter.host.observe()
    rig.publishes(50, start)
    rig.publishes(49, start + 60)
    rig.does(10_000, seconds=12)  # the period ends between two readings
    rig.asks()
    (view,) = rig.exporter.host.observe().views
    assert view.account is not None
    assert view.account.published is not None
    assert view.account.published.point.end_s == start + 120
    assert view.account.published.drift == 0


def test_a_balance_that_the_host_thought_impossible_is_believed_and_told_and_counted(
    rig: Rig,
) -> None:
    rig.exporter.host.observe()
    rig.asks()
    start = rig.hands.wall
    for _ in range(60):  # large I/O: at least 100 credits a second, of 300 that come in
        rig.does(0, seconds=10)
        rig.exporter.host.observe()
    rig.publishes(100, start + 480)
    rig.publishes(100, start + 540)
    rig.asks()
    for _ in range(30):
        rig.does(0, seconds=10)
        rig.exporter.host.observe()
    rig.publishes(20, start + 780)
    rig.publishes(20, start + 840)
    rig.asks()
    (view,) = rig.exporter.host.observe().views
    assert view.account is not None
    assert view.account.published is not None
    assert view.account.published.drift == pytest.approx(-0.8)
    assert view.account.interval.low <= 0.2 * 5_400_000
    assert view.account.interval.high < 0.21 * 5_400_000
    assert view.account.disagreements == 1
    assert "lies 80.0% of the bucket below what the counters allow" in rig.problems("counters")
    labels = {"volume_id": rig.volume_id, "device": "nvme1n1", "bucket": "io"}
    page = rig.exporter.scrape()[1].decode()
    assert value(page, "burstwatch_reconciliation_disagreements_total", **labels) == 1
    for _ in range(12):
        rig.does(0, seconds=10)
        rig.exporter.host.observe()
    rig.publishes(20, rig.hands.wall - 90)
    rig.publishes(20, rig.hands.wall - 60)
    rig.does(0, seconds=10)
    rig.asks()
    (view,) = rig.exporter.host.observe().views
    assert view.account is not None
    assert view.account.interval.high < 0.25 * 5_400_000
    assert view.account.disagreements == 1


@pytest.mark.parametrize("behind_s", [120.0, 240.0, -300.0])
def test_a_host_whose_clock_is_off_places_a_balance_by_awss_clock_and_says_so(
    rig: Rig, behind_s: float
) -> None:
    rig.exporter.host.observe()
    rig.asks()
    truth = lowest = 0.5 * 5_400_000
    for step in range(90):  # five minutes of 3,000 small reads a second, then rest
        ops = 30_000 if step < 30 else 0
        lowest = truth if step % 6 == 0 else min(lowest, truth)
        truth += 10 * 300 - ops
        rig.does(ops, seconds=10)
        rig.account.clock.now = rig.hands.wall + behind_s
        rig.exporter.host.observe()
        if step % 6 == 5:
            rig.publishes(min(lowest, truth) / 54_000, rig.account.clock.now - 60)
    rig.asks()
    (view,) = rig.exporter.host.observe().views
    assert view.account is not None
    assert view.account.origin == "published"
    assert view.account.interval.low <= truth <= view.account.interval.high
    rig.exporter.host.observe()
    side = "behind" if behind_s > 0 else "ahead of"
    assert f"{side} AWS's, which is allowed for" in rig.problems("clock")


def test_while_ec2_resizes_a_volume_nothing_is_known_of_its_balance(rig: Rig) -> None:
    rig.exporter.host.observe()
    rig.asks()
    rig.does(0, seconds=20_000)
    assert rig.exporter.host.observe().views[0].account is not None
    volumes = rig.account.aws.regions["us-east-1"]
    volumes.modifications[rig.volume_id] = {
        "VolumeId": rig.volume_id, "ModificationState": "optimizing",
        "OriginalVolumeType": "gp2", "OriginalSize": 100, "TargetVolumeType": "gp2", "TargetSize": 200,
        "StartTime": datetime.fromtimestamp(rig.hands.wall - 5, tz=UTC),
    }  # fmt: skip
    rig.asks()
    for _ in range(3):
        rig.does(0, seconds=30_000)
        (view,) = rig.exporter.host.observe().views
        assert view.account is not None
        assert (view.account.interval.low, view.account.interval.high) == (0, 5_400_000)
        assert view.account.origin == "resized"


def test_a_wall_clock_that_was_set_takes_no_old_datapoint_for_a_new_one(rig: Rig) -> None:
    rig.exporter.host.observe()
    rig.asks()
    for _ in range(30):
        rig.does(10_000, seconds=10)
        rig.exporter.host.observe()
    rig.hands.wall += 1_000
    for _ in range(3):
        rig.does(10_000, seconds=10)
        rig.exporter.host.observe()
    before = rig.exporter.host.observe().views[0].account
    for minute in range(2):
        rig.publishes(90, rig.hands.wall - 900 + minute * 60)
    rig.account.clock.now = rig.hands.wall
    rig.asks()
    after = rig.exporter.host.observe().views[0].account
    assert before is not None
    assert after is not None
    assert after.interval == before.interval
    assert after.published is not None
    assert after.published.drift is None


@pytest.mark.parametrize("denied", ["DescribeVolumes", "GetMetricData"])
def test_what_aws_refuses_is_named_and_the_rest_goes_on(rig: Rig, denied: str) -> None:
    rig.exporter.host.observe()
    rig.asks()
    rig.account.aws.denied.add(denied)
    rig.asks()
    source = "ec2" if denied == "DescribeVolumes" else "cloudwatch"
    assert denied in rig.problems(source)
    assert rig.exporter.host.observe().views[0].account is not None  # as it was said before


def test_asked_once_it_asks_aws_once(rig: Rig) -> None:
    out, stop = io.StringIO(), threading.Event()
    stop.set()
    more = {"imds.endpoint": rig.metadata.url, "aws": "ec2"}
    options = parse_options(flags(rig.root, **more), {})
    write_once(options, clock=rig.hands.clock, stdout=out, stop=stop)
    found = value(out.getvalue(), "burstwatch_volume_info", volume_type="gp2", type_source="ec2")
    assert found == 1
    assert "burstwatch_credit_capacity" in out.getvalue()


def test_without_metadata_nothing_is_known_and_rates_are_served(rig: Rig) -> None:
    rig.metadata.refused = True
    rig.exporter.host.observe()
    rig.asks()
    assert "instance metadata at" in rig.problems("ec2")
    assert "EC2 has not said yet" in rig.problems("cloudwatch")
    assert "burstwatch_volume_read_ops_total" in rig.exporter.scrape()[1].decode()


def test_the_instances_limits_come_by_its_type_where_ec2_may_not_be_asked(
    rig: Rig, tmp_path: Path
) -> None:
    more = {"imds.endpoint": rig.metadata.url, "instance.type": "imds"}
    exporter = Exporter(parse_options(flags(tmp_path, **more), {}), Hands().clock)
    assert exporter.sources.outcomes["instance"].is_up
    exporter = Exporter(
        parse_options(flags(tmp_path, **{"instance.type": "x9.huge"}), {}), Hands().clock
    )
    assert exporter.sources.outcomes["instance"].is_up  # a limit that is not known is no fault
    assert any("the limits of x9.huge" in hint for hint in exporter.hints())


# The truth stays in the interval, however late a datapoint is

ios = st.lists(st.tuples(st.integers(1, 1_024), shares), max_size=10)


@pytest.mark.slow
@given(
    st.floats(0, 1),
    st.lists(
        st.tuples(st.sampled_from([10.0, 33.0]), ios, st.sampled_from([0, 2, 20])),
        min_size=8,
        max_size=20,
    ),
    st.integers(0, 5),
    st.sampled_from(["Minimum", "Average"]),
    st.sampled_from([0.01, 10.0]),
)
def test_a_late_datapoint_never_drives_the_truth_out_of_the_interval(
    ratio: float,
    steps: list[tuple[float, list[tuple[int, float]], int]],
    first: int,
    statistic: Statistic,
    refill: float,
) -> None:
    bucket = replace(BUCKET, refill=refill)
    ebs = HostileEbs(level=ratio * bucket.capacity, bucket=bucket)
    ledger, now, seen = a_ledger(iv.unknown(bucket), a_promise(bucket)), 0.0, [(0.0, ebs.level)]
    for seconds, sizes, completed in steps:
        ebs.refill(seconds)
        now += seconds
        seen.append((now, ebs.level))
        for size, merged in sizes:
            ebs.take(size, merged)
        seen.append((now, ebs.level))
        ebs.finish(completed)
        ledger.note(Reading(at=now, wall_s=now, slack_s=0.0, counters=ebs.counters))
    instants = sorted({at for at, _ in seen})
    start_s, end_s = instants[first + 1], instants[first + 3]
    # Of each instant the level before its I/O and the one after it.
    inside = [one for one in seen if start_s <= one[0] <= end_s][1:-1]
    if statistic == "Minimum":
        value = min(level for _, level in inside)
    else:
        pairs = list(zip(inside[::2], inside[1::2], strict=True))
        areas = [(one + other) / 2 * (end - start) for (start, one), (end, other) in pairs]
        value = sum(areas) / (end_s - start_s)
    ledger.reconcile(
        LevelPoint(
            start_s=start_s,
            period_s=end_s - start_s,
            ratio=value / BUCKET.capacity,
            statistic=statistic,
        )
    )
    interval = ledger.seen()
    assert interval.low <= ebs.level + 1e-6
    assert ebs.level <= interval.high + 1e-6


def test_of_an_average_only_the_end_of_its_period_is_sure() -> None:
    ledger = a_ledger(iv.unknown(BUCKET))  # empty, and filling by ten a second
    for now in range(10, 90, 10):
        ledger.note(Reading(at=now, wall_s=now, slack_s=0.0, counters=Counters(0, 0, 0, 0, 0, 0)))
    ledger.interval = iv.unknown(BUCKET)
    ledger.reconcile(LevelPoint(start_s=10, period_s=20, ratio=0.2, statistic="Average"))
    seen = ledger.seen()
    assert (seen.low, seen.high) == (699, 901)  # and 800 are left


def test_the_alarms_that_are_up_are_known_by_volume(rig: Rig) -> None:
    with pytest.raises(ValueError, match="its alarms are not known"):
        rig.cloud.alarms_up()
    rig.asks()
    name = f"burstwatch.critical/{rig.volume_id}/prod"
    where = {"Kind": "ebs_volume", "ResourceId": rig.volume_id}
    rig.account.clients("cloudwatch").put_metric_alarm(
        AlarmName=name, Namespace="Burstwatch", MetricName="Severity", Statistic="Maximum",
        Dimensions=[{"Name": key, "Value": value} for key, value in where.items()],
        Period=60, EvaluationPeriods=1, Threshold=3, TreatMissingData="ignore",
        ComparisonOperator="GreaterThanOrEqualToThreshold",
    )  # fmt: skip
    assert rig.cloud.alarms_up() == {}
    rig.account.aws.regions["us-east-1"].alarms[name]["StateValue"] = "ALARM"
    assert rig.cloud.alarms_up() == {rig.volume_id: name}
    rig.account.aws.denied.add("DescribeAlarms")
    with pytest.raises(ValueError, match=r"cannot check for active alarms: .*DescribeAlarms"):
        rig.cloud.alarms_up()


def test_a_datapoint_of_before_it_looked_holds_less_what_may_have_been_spent_since(
    rig: Rig,
) -> None:
    for minute in range(5, 3, -1):
        rig.publishes(100, rig.hands.wall - 60 * minute - 60)
    rig.exporter.host.observe()
    rig.asks()
    (view,) = rig.exporter.host.observe().views
    assert view.account is not None
    low, high = view.account.interval.low, view.account.interval.high
    assert view.account.origin == "published"
    assert high == 5_400_000
    # The newest is of the minute that began five minutes ago; 1.05 times the burst may have been spent.
    assert low == pytest.approx(5_400_000 - 300 * 1.05 * 3_000, abs=0.01 * 5_400_000)


@pytest.mark.parametrize(
    "begin",
    [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nT"],
    ids=["headers", "body"],
)
def test_a_metadata_service_that_sends_a_byte_now_and_then_is_given_up(
    monkeypatch: pytest.MonkeyPatch, begin: bytes
) -> None:
    monkeypatch.setattr("burstwatch_exporter.imds.ANSWERED_WITHIN_S", 0.3)
    ended = threading.Event()

    def trickle(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.sendall(begin)
            while not ended.wait(0.05):
                connection.sendall(b"X")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=trickle, args=(listener,))
        thread.start()
        with pytest.raises(ValueError, match=r"token is not answered in full within 0\.3 s"):
            read_identity(f"http://127.0.0.1:{listener.getsockname()[1]}")
        ended.set()
        thread.join()


# The network


def test_the_bandwidth_of_the_network_is_as_ec2_describes_the_type_or_else_as_in_the_table(
    rig: Rig, metadata: Metadata
) -> None:
    known = find_type("m5.large")
    assert known is not None
    assert rig.asks().bandwidth == known.bandwidth  # this EC2 says nothing of networks
    cards = [{"BaselineBandwidthInGbps": 1.5, "PeakBandwidthInGbps": 12.0}] * 2
    rig.account.aws.instance_types["m5.large"]["NetworkInfo"] = {"NetworkCards": cards}
    answer = rig.asks()
    assert answer.instance_type == json.loads(metadata.document)["instanceType"] == "m5.large"
    assert answer.bandwidth == Bandwidth(baseline=3e9 / 8, peak=24e9 / 8)
    rig.account.aws.denied = {"DescribeInstanceTypes"}
    assert rig.asks().bandwidth == Bandwidth(baseline=3e9 / 8, peak=24e9 / 8)
