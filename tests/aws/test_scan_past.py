"""`scan --past`: what would have happened to an account in the last days, by replay."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.aws.commands import burstwatch
from tests.conftest import NOW, Cloud

pytestmark = pytest.mark.slow

DAY_S = 86_400.0


def volume(
    cloud: Cloud, *, drains_at: tuple[float, ...] = (), name: str = "", days: float = 2.0
) -> str:
    """A gp2 volume of 100 GiB that is full, and drained to zero in 40 minutes from some hours before now on."""
    volume_id = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"), name=name)  # fmt: skip
    count = round(days * DAY_S / 300)
    percent = 100.0
    for number in range(count):
        at = NOW - 300.0 * (count - number)
        since = [
            NOW - 3_600 * hours for hours in drains_at if 0 <= at - (NOW - 3_600 * hours) < 3_000
        ]
        iops = 3_000.0 if since else 100.0
        earned = (300.0 - iops) * 300 / 5_400_000 * 100
        percent = min(100.0, max(0.0, percent + earned))
        served = iops if percent > 0 else 300.0
        values = {
            "VolumeReadOps": served * 300, "VolumeWriteOps": 0.0, "VolumeReadBytes": served * 300 * 4_096,
            "VolumeWriteBytes": 0.0, "BurstBalance": percent,
        }  # fmt: skip
        for metric, value in values.items():
            cloud.aws.put("AWS/EBS", metric, {"VolumeId": volume_id}, at, value)
    return volume_id


def test_it_says_in_one_sentence_what_would_have_happened_and_where(cloud: Cloud) -> None:
    busy = volume(cloud, drains_at=(40.0, 20.0), name="orders-db")
    calm = volume(cloud, name="wiki")
    cloud.aws.add_volume("gp3", 100)
    code, out, err = burstwatch(cloud, "scan", "--past", "2d", "--kind", "ebs_volume")
    assert code == 0
    assert "asks CloudWatch for 10 metrics of 2 resources over 2 days, 0.00 USD" in err
    place, answer, _, headings, row, quiet, more, command = out.splitlines()
    assert place.startswith("123456789012 us-east-1, ")
    assert answer == (
        "in the last 2 days: would have paged twice, ran out twice, 2 of 2 with 15 min or more"
    )
    assert headings.startswith("ran out  would have paged  in time  resource")
    assert row.startswith("twice ")
    assert "2 of 2" in row
    assert busy in row
    assert "orders-db" in row
    assert calm not in out
    assert quiet == "1 of 2 resources had neither"
    assert (more, command) == (
        "what happened to one of them:",
        f"burstwatch explain {busy} --hours 48",
    )


def test_machines_get_each_page_and_each_time_without_credits(cloud: Cloud) -> None:
    busy = volume(cloud, drains_at=(20.0,))
    calm = volume(cloud)
    _, out, _ = burstwatch(cloud, "scan", "--past", "2d", "--kind", "ebs_volume", "--json")
    first, second = map(json.loads, out.splitlines())
    assert (first["id"], first["page_count"], first["run_out_count"]) == (busy, 1, 1)
    assert first["warned_in_time_count"] == 1
    (page,), (empty,) = first["pages"], first["run_out"]
    assert empty["empty_at"] - page["at"] >= 900
    assert first["run_out_s"] == empty["refilled_at"] - empty["empty_at"]
    assert first["balance_lowest"] == 0
    assert (second["id"], second["pages"], second["run_out"]) == (calm, [], [])
    code, explained, _ = burstwatch(cloud, "explain", busy, "--hours", "47", "--json")
    assert code == 0
    told = json.loads(explained)
    assert abs(told["pages"][0]["at"] - page["at"]) <= 300
    assert len(told["run_out"]) == 1


def test_a_shorter_lead_pages_later_and_a_word_chooses(cloud: Cloud) -> None:
    busy, other = (
        volume(cloud, drains_at=(20.0,), name="orders-db"),
        volume(cloud, drains_at=(10.0,)),
    )
    asked = ("scan", "--past", "2d", "--kind", "ebs_volume", "--json", "orders-db")
    _, out, err = burstwatch(cloud, *asked)
    assert "of 1 resources" in err
    usual = json.loads(out)
    shorter = json.loads(burstwatch(cloud, *asked, "--lead-s", "120")[1])
    assert usual["id"] == shorter["id"] == busy
    assert usual["pages"][0]["at"] < shorter["pages"][0]["at"]
    assert other not in out


def test_after_a_stop_it_goes_on_and_asks_nothing_twice(cloud: Cloud, tmp_path: Path) -> None:
    volume(cloud, drains_at=(20.0,))
    volume(cloud)
    keep = tmp_path / "kept.jsonl"
    asked = ("scan", "--past", "2d", "--kind", "ebs_volume", "--keep", str(keep))
    _, whole, _ = burstwatch(cloud, *asked)
    kept = keep.read_text().splitlines()
    keep.write_text(f"{kept[0]}\n")
    _, again, err = burstwatch(cloud, *asked)
    assert again == whole
    assert "of 1 resources" in err
    _, _, err = burstwatch(cloud, *asked, "--lead-s", "1200")
    assert "of 2 resources" in err  # another question


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--past", "64d"), "--past is 64 days; allowed: 1 to 63"),
        (("--past", "soon"), "argument --past: 'soon' is not a number; examples: 14, 14d, 2w and 36h"),
        (("--past", "2d", "--cost"), "--cost would be ignored: --past is of the last days"),
        (("--keep", "x.jsonl"), "--keep works only with --past"),
    ],
)  # fmt: skip
def test_what_would_be_ignored_is_refused(cloud: Cloud, args: tuple[str, ...], said: str) -> None:
    code, _, err = burstwatch(cloud, "scan", *args)
    assert (code, said in err) == (2, True), err


def test_a_part_that_fails_does_not_hide_the_others(cloud: Cloud) -> None:
    busy = volume(cloud, drains_at=(20.0,))
    cloud.aws.denied = {"DescribeFileSystems"}
    code, out, err = burstwatch(cloud, "scan", "--past", "2d")
    assert code == 1
    assert busy in out
    assert "DescribeFileSystems" in err


def test_nothing_that_happened_is_said_in_words(cloud: Cloud) -> None:
    volume(cloud)
    _, out, _ = burstwatch(cloud, "scan", "--past", "2d", "--kind", "ebs_volume")
    assert out.splitlines()[1:] == [
        "in the last 2 days: would have paged nobody, nothing ran out",
        "1 of 1 resources had neither",
    ]


def drawn(cloud: Cloud, percents: list[float]) -> str:
    """A gp2 volume of 100 GiB with these levels, five minutes each, until now."""
    volume_id = cloud.aws.add_volume("gp2", 100, instance_id=cloud.aws.add_instance("m5.large"))
    for number, percent in enumerate(percents):
        at = NOW - 300.0 * (len(percents) - number)
        cloud.aws.put("AWS/EBS", "BurstBalance", {"VolumeId": volume_id}, at, percent)
    return volume_id


DRAIN = [85.0, 70.0, 55.0, 40.0, 25.0, 10.0, 0.0]
BACK = [min(100.0, 1.67 * n) for n in range(1, 62)]


def past_of(cloud: Cloud) -> dict[str, Any]:
    _, out, _ = burstwatch(cloud, "scan", "--past", "2d", "--kind", "ebs_volume", "--json")
    told: dict[str, Any] = json.loads(out)
    return told


def test_a_page_of_hours_before_does_not_warn_of_a_bucket_that_is_emptied_at_once(
    cloud: Cloud,
) -> None:
    """The alarm had ended: nobody was warned of the second time."""
    drawn(cloud, [*[100.0] * 100, *DRAIN, *BACK, *[100.0] * 150, 0.0, 0.0, *BACK, *[100.0] * 20])
    past = past_of(cloud)
    assert past["page_count"] >= 1
    assert (past["run_out_count"], past["warned_in_time_count"]) == (2, 1)


def test_a_bucket_that_is_empty_when_the_days_begin_did_not_run_out_in_them(cloud: Cloud) -> None:
    drawn(cloud, [*[0.0] * 10, *BACK, *[100.0] * 300, *DRAIN, *BACK])
    past = past_of(cloud)
    assert (past["run_out_count"], past["warned_in_time_count"]) == (1, 1)
    assert len(past["run_out"]) == 1


@pytest.mark.parametrize("drained", range(1, 8))
def test_the_pages_are_those_that_explain_tells_and_none_is_due_after_now(
    cloud: Cloud, drained: int
) -> None:
    """Datapoints come five minutes late in both; explain reads minutes, so that its page is up to two periods earlier."""
    volume_id = drawn(cloud, [*[100.0] * 300, *DRAIN[:drained]])
    past = past_of(cloud)
    told = json.loads(burstwatch(cloud, "explain", volume_id, "--hours", "25", "--json")[1])
    periods = burstwatch(cloud, "explain", volume_id, "--hours", "25", "--every-period", "--json")[
        1
    ]
    assert max(json.loads(line)["at"] for line in periods.splitlines()) <= cloud.clock.now
    assert all(page["at"] <= NOW for page in past["pages"])
    assert len(past["pages"]) <= len(told["pages"])
    for page, of_explain in zip(past["pages"], told["pages"], strict=False):
        assert page["data_age_s"] >= 300
        assert 0 <= page["at"] - of_explain["at"] <= 600


def test_a_period_that_is_not_over_pages_nobody_yet(cloud: Cloud) -> None:
    volume_id = drawn(cloud, [100.0] * 300)
    cloud.aws.put("AWS/EBS", "BurstBalance", {"VolumeId": volume_id}, NOW - 60, 1.0)
    assert past_of(cloud)["pages"] == []
