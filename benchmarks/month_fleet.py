"""Deals the fleet of the month: volumes of several sizes, some of them with a recorded load."""

from dataclasses import dataclass
from pathlib import Path

from benchmarks.recordings import RHOS, recordings

#: GiB of the volumes, and how many of a hundred have it. All of them have a bucket.
SHARES = {20: 15, 50: 15, 100: 20, 300: 20, 500: 20, 900: 10}
#: One volume in so many has a recorded workload: the fleet has each recording once at each load.
RECORDED = 5
FLEET = RECORDED * 18 * len(RHOS)


@dataclass(frozen=True, kw_only=True)
class Member:
    """A volume of the fleet, and its load: a recording at a mean of ``rho`` of the baseline, or none."""

    id: str
    size_gib: int
    path: Path | None = None
    rho: float = 0.0

    @property
    def load(self) -> str:
        """Its load in a word."""
        return f"recorded at {self.rho:g}" if self.path else "quiet"


def fleet(count: int) -> list[Member]:
    """Volumes of ``SHARES``; every fifth of each size has a recording, each in turn at each load."""
    combinations = [(path, rho) for rho in RHOS for path in recordings("smd")]
    sizes = [size for size, share in SHARES.items() for _ in range(round(share * count / 100))]
    # The combinations are dealt with a stride, so that no size gets one machine only.
    dealt = [combinations[(7 * n) % len(combinations)] for n in range(len(combinations))]
    members, given = [], 0
    for number, size in enumerate((sizes + [sizes[-1]] * count)[:count]):
        name = f"vol-{number:017x}"
        if number % RECORDED == 0:
            path, rho = dealt[given % len(dealt)]
            given += 1
            members.append(Member(id=name, size_gib=size, path=path, rho=rho))
        else:
            members.append(Member(id=name, size_gib=size))
    return members
