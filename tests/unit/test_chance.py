"""The chance that an assessment and its message tell: where there is one, and why there is none elsewhere."""

from dataclasses import replace

import pytest

from burstwatch.backtest.replay import Played
from burstwatch.config import Config
from burstwatch.forecast.chance import why_no_chance
from burstwatch.forecast.policy import Assessment, assess
from burstwatch.formatting import percent
from burstwatch.history.background import Background
from burstwatch.history.observations import Resource
from burstwatch.history.points import LevelPoint
from burstwatch.kinds import find_kinds
from burstwatch.kinds._by_hand import described_by_hand
from burstwatch.kinds.base import Kind
from burstwatch.messages.brief import make_brief
from burstwatch.recordings.samples import Sample
from tests.unit.every_bucket import START, buckets

PERIOD_S = 60.0
EVERY_BUCKET = [
    pytest.param(kind, resource, id=f"{kind.name} {resource.level_metric}")
    for kind, resource in buckets()
]


def falling(kind: Kind, resource: Resource, *, to: float, per_minute: float = 0.02) -> Assessment:
    """The assessment of a balance that was full for an hour, and then fell to a share of the bucket."""
    fall = round((1 - to) / per_minute)
    ratios = [1.0] * 60 + [1 - per_minute * (minute + 1) for minute in range(fall)]
    levels = [
        LevelPoint(START + PERIOD_S * n, PERIOD_S, max(0.0, ratio), resource.reporting.statistic)
        for n, ratio in enumerate(ratios)
    ]
    rows = [Sample(t_s=level.start_s, values={}) for level in levels]
    played = Played(rows, resource, PERIOD_S, kind, (levels, []))
    return assess(played.at(levels[-1].end_s, 0.0, Config()), Config())


@pytest.mark.parametrize(("kind", "resource"), EVERY_BUCKET)
def test_a_danger_has_a_chance_or_the_reason_why_nobody_knows_it(
    kind: Kind, resource: Resource
) -> None:
    assessment = falling(kind, resource, to=0.1)
    assert assessment.verdict in {"critical", "warning"}
    brief = make_brief(resource, assessment, kind, Background())
    why_not = why_no_chance(resource)
    if why_not:
        assert assessment.chance is None
        assert brief.chance == "never measured for these credits; the times hold if the load stays"
        assert assessment.projection.state == "finite"
        assert "chance" not in brief.numbers
    else:
        assert assessment.chance is not None
        assert f"{percent(assessment.chance)} to run out by " in brief.chance
        assert f"{percent(assessment.chance)} chance" in assessment.reason
        assert brief.numbers["chance"] == f"{assessment.chance:.2f}"


@pytest.mark.parametrize(("kind", "resource"), EVERY_BUCKET)
def test_a_full_bucket_and_an_empty_one_have_no_chance(kind: Kind, resource: Resource) -> None:
    for to in (1.0, 0.0):
        assessment = falling(kind, resource, to=to)
        assert assessment.chance is None
    assert make_brief(resource, assessment, kind, Background()).chance == ""


def test_the_chance_is_told_of_the_buckets_on_which_it_was_measured() -> None:
    known = {kind.name for kind, resource in buckets() if not why_no_chance(resource)}
    (single,) = described_by_hand(
        find_kinds()["rds_storage"], {"type": "gp2", "size_gib": "100", "engine": "mysql"}
    )
    assert known == {"ebs_volume"}
    assert why_no_chance(single) == ""


@pytest.mark.parametrize(
    ("chance", "words"),
    [(0.0, "under 1%"), (0.004, "under 1%"), (0.01, "1%"), (0.384, "38%"), (0.98, "98%"), (1.0, "over 99%")],
)  # fmt: skip
def test_a_chance_in_words_is_never_certain(chance: float, words: str) -> None:
    assert percent(chance) == words


def test_a_page_by_the_worst_case_alone_tells_the_chance_too() -> None:
    kind = find_kinds()["ebs_volume"]
    resource = next(one for of, one in buckets() if of is kind)
    worst = replace(Config(), page_on="worst")
    levels = [LevelPoint(START + PERIOD_S * n, PERIOD_S, 0.2) for n in range(120)]
    rows = [Sample(t_s=level.start_s, values={}) for level in levels]
    played = Played(rows, resource, PERIOD_S, kind, (levels, []))
    assessment = assess(played.at(levels[-1].end_s, 0.0, worst), worst)
    assert assessment.verdict == "critical"
    assert assessment.chance is not None
    assert assessment.chance < 0.5


@pytest.mark.parametrize("lead_s", [300.0, 900.0, 3_600.0, 14_400.0])
def test_the_chance_is_of_two_hours_whatever_the_lead(lead_s: float) -> None:
    kind = find_kinds()["ebs_volume"]
    resource = next(one for of, one in buckets() if of is kind)
    usual = falling(kind, resource, to=0.3)
    other = falling(kind, replace(resource, lead_s=lead_s), to=0.3)
    assert other.chance == usual.chance
    assert ("pages begin at" in other.reason) == (lead_s == 900.0)
