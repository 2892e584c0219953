"""Recordings of volumes for tests."""

from collections.abc import Iterable

from burstwatch.backtest.replay import volume
from burstwatch.backtest.simulate import Datapoint
from burstwatch.kinds.base import PERCENT
from burstwatch.kinds.ebs_volume import KIND
from burstwatch.recordings.grid import to_grid
from burstwatch.recordings.matching import match_metrics
from burstwatch.recordings.reading import read_text
from burstwatch.recordings.samples import COLUMNS, Sample


def volume_samples(lines: Iterable[str]) -> list[Sample]:
    """The samples of a file in our own columns, of a gp2 volume."""
    contents = read_text("".join(lines), name="test.csv")
    matched = match_metrics(contents, KIND, [volume("gp2", 100)], only="", name="test.csv")
    return to_grid(matched, KIND, contents, period_s=None, name="test.csv").samples


def write_series(datapoints: Iterable[Datapoint]) -> list[str]:
    """Lines with line ends in our own columns, rounded as CloudWatch prints."""
    lines = [",".join(COLUMNS) + "\n"]
    for point in datapoints:
        sums = (point.read_ops, point.write_ops, point.read_bytes, point.write_bytes)
        cells = (
            f"{point.start_s:.0f}",
            f"{point.balance_minimum * PERCENT:.2f}",
            *(f"{value:.0f}" for value in sums),
        )
        lines.append(",".join(cells) + "\n")
    return lines
