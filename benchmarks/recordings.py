"""The recorded workloads as trials: which there are, and at which sizes and loads they play."""

from pathlib import Path

from burstwatch.backtest.trials import Trial, make_trial
from burstwatch.backtest.workloads import read_workload

WORKLOADS = Path(__file__).parent.parent / "demo" / "workloads"
SIZES_GIB = (100.0, 200.0, 500.0)
RHOS = (0.5, 0.8, 0.95)


def recordings(folder: str) -> list[Path]:
    """The files of one set: ``smd`` or ``nab``."""
    return sorted((WORKLOADS / folder).glob("*.csv.gz"))


def machine_of(path: Path) -> str:
    """What is independent of the others: both disks' directions of one machine are one."""
    return path.name.removesuffix(".csv.gz").removesuffix("_r").removesuffix("_w")


def trials_of(path: Path) -> list[Trial]:
    """One recording in all scenarios."""
    workload = read_workload(path)
    return [
        make_trial(workload, volume_type="gp2", size_gib=size_gib, rho=rho)
        for rho in RHOS
        for size_gib in SIZES_GIB
    ]
