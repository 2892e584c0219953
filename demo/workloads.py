"""The recordings that the demo plays: see ``workloads/README.md``."""

from pathlib import Path

from burstwatch.backtest.workloads import read_workload

FOLDER = Path(__file__).parent / "workloads"


def recorded_rates(name: str) -> list[float]:
    """Operations of one recording by step, in the recording's own unit."""
    return read_workload(FOLDER / f"{name}.csv.gz").rates
