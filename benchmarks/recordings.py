"""The demand to learn from and to judge on, by family: which there is, and how it is played."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.made_up import EACH, SHAPES, make_up
from benchmarks.vm_disks import read_vm, vm_names
from burstwatch.backtest.trials import Trial, make_trial
from burstwatch.backtest.workloads import Workload, read_workload

WORKLOADS = Path(__file__).parent.parent / "demo" / "workloads"
SIZES_GIB = (100.0, 200.0, 500.0)
RHOS = (0.5, 0.8, 0.95)
#: Every size at every load, and each once: for families with many machines.
GRID = tuple((rho, size_gib) for rho in RHOS for size_gib in SIZES_GIB)
#: VMs and services are left out by so many parts.
VM_FOLDS, SERVICE_FOLDS = 5, 5
#: The folder of a family, where it has another name.
FOLDERS = {"servers": "smd"}
DIAGONAL = tuple(zip(RHOS, SIZES_GIB, strict=True))


@dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    """One series of a family. ``machine`` is what is independent of the others."""

    family: str
    machine: str
    name: str
    path: Path | None = None

    def read(self) -> Workload:
        """The demand.

        Raises:
            ValueError: if it cannot be read.
        """
        if self.family == "made-up":
            return make_up(self.name)
        if self.path is None:
            msg = f"{self.name} has no file"
            raise ValueError(msg)
        found = read_vm(self.path, self.name) if self.family == "vm" else read_workload(self.path)
        if found is None:
            msg = f"{self.path} has no {self.name} to learn from"
            raise ValueError(msg)
        return found

    @property
    def fold(self) -> str:
        """The name of the model that has not seen this machine; of what is made up, its family's."""
        if self.family == "vm":
            return f"vm-{int(self.name[2:]) % VM_FOLDS}"
        if self.family == "services":
            return f"services-{int(self.name[-2:]) % SERVICE_FOLDS}"
        return self.machine if self.family == "servers" else self.family

    @property
    def scenarios(self) -> Sequence[tuple[float, float]]:
        """The loads and sizes at which it is played."""
        return GRID if self.family in {"servers", "nab"} else DIAGONAL

    def trials(self) -> list[Trial]:
        """The recording in all its scenarios."""
        workload = self.read()
        return [
            make_trial(workload, volume_type="gp2", size_gib=size_gib, rho=rho)
            for rho, size_gib in self.scenarios
        ]


def recordings(folder: str) -> list[Path]:
    """The files of one set: ``smd``, ``services`` or ``nab``."""
    return sorted((WORKLOADS / folder).glob("*.csv.gz"))


def machine_of(path: Path) -> str:
    """What is independent of the others: both disks' directions of one machine are one."""
    return path.name.removesuffix(".csv.gz").removesuffix("_r").removesuffix("_w")


def recorded(family: str) -> list[Recording]:
    """The recordings of this repository: ``servers``, ``services``, or with ``nab`` CloudWatch's own two weeks."""
    return [
        Recording(
            family=family,
            machine=machine_of(path),
            name=path.name.removesuffix(".csv.gz"),
            path=path,
        )
        for path in recordings(FOLDERS.get(family, family))
    ]


def made_up() -> list[Recording]:
    """The series that are made up; those of one shape are one machine."""
    return [
        Recording(family="made-up", machine=shape, name=f"{shape}-{number}")
        for shape in SHAPES
        for number in range(EACH)
    ]


def vms(folder: Path) -> list[Recording]:
    """The disks of a hosting company's VMs; see ``vm_disks``."""
    return [
        Recording(family="vm", machine=name, name=name, path=folder) for name in vm_names(folder)
    ]


def trials_of(path: Path) -> list[Trial]:
    """One server disk in all scenarios."""
    return next(one for one in recorded("servers") if one.path == path).trials()
