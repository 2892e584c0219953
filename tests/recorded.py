"""Recordings of volumes for tests."""

from collections.abc import Iterable

from burstwatch.backtest.replay import volume
from burstwatch.kinds.ebs_volume import KIND
from burstwatch.recordings.grid import to_grid
from burstwatch.recordings.matching import match_metrics
from burstwatch.recordings.reading import read_text
from burstwatch.recordings.samples import Sample


def volume_samples(lines: Iterable[str]) -> list[Sample]:
    """The samples of a file in our own columns, of a gp2 volume."""
    contents = read_text("".join(lines), name="test.csv")
    matched = match_metrics(contents, KIND, [volume("gp2", 100)], only="", name="test.csv")
    return to_grid(matched, KIND, contents, period_s=None, name="test.csv").samples
