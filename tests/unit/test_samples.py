"""What a sample of one bucket knows, beside what it kept from the last look."""

from array import array

import pytest

from burstwatch.backtest.replay import volume
from burstwatch.config import Config
from burstwatch.forecast.policy import Assessment
from burstwatch.forecast.projection import Projection
from burstwatch.history.points import Levels, Series
from burstwatch.kinds import find_kinds
from burstwatch.polling.queries import Answers
from burstwatch.polling.samples import GLANCE_S, LevelSample
from burstwatch.polling.schedule import LastLook, Schedule, fingerprint

NOW = 1_789_999_980.0


@pytest.mark.parametrize("kept_minutes", [60, 6 * 60])
def test_kept_levels_reach_back_as_far_as_they_were_kept_and_no_further(kept_minutes: int) -> None:
    resource = volume("gp2", 100)
    kept = Levels(
        start_s=NOW - 60 * kept_minutes, values=array("d", [50.0] * kept_minutes), until_s=NOW - 60
    )
    assessment = Assessment(
        verdict="warning", reason="", projection=Projection(state="finite", reason="", at=NOW - 60)
    )
    schedule = Schedule()
    schedule.looks[resource.key] = LastLook(
        fingerprint=fingerprint(resource), assessment=assessment, due_at=NOW, late_at=NOW,
        is_near=True, levels=kept,
    )  # fmt: skip
    sample = LevelSample(resource, find_kinds()["ebs_volume"], schedule, Config(), NOW)
    newest = {sample.level_key: Series([NOW - 120], [49.0])}
    sample.take_levels(Answers(series=newest), GLANCE_S)
    assert sample.is_deep == (60 * kept_minutes >= sample.look_back_s)
    assert sample.from_s == pytest.approx(NOW - 60 * kept_minutes, abs=1)
    assert sample.series is not None
    assert sample.series[-1] == (NOW - 120, 49.0)
