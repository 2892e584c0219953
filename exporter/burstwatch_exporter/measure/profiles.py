"""Every measurement by name: fio's from the job files, dbench's and dd's from here."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from burstwatch_exporter.measure.jobs import Step, read_jobs

DEFAULT = "probe"
#: The profile of ``--drain``, by the unit of the bucket.
DRAINS = MappingProxyType({"io": "drain", "MiB": "drain-hdd"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """A measurement: what for, and its steps one after the other.

    ``raid0`` is whether it wants a stripe of at least two volumes.
    """

    name: str
    help: str
    steps: tuple[Step, ...]
    raid0: bool = False


def find_profile(name: str) -> Profile:
    """The profile of that name.

    Raises:
        ValueError: naming the ones there are.
    """
    profile = profiles().get(name)
    if profile is None:
        msg = f"unknown profile {name!r}; allowed: {', '.join(profiles())}"
        raise ValueError(msg)
    return profile


@cache
def profiles() -> Mapping[str, Profile]:
    """All of them. A file in ``jobs`` is a profile by being there."""
    by_name: dict[str, Profile] = {}
    for path in sorted(
        files("burstwatch_exporter").joinpath("jobs").iterdir(),
        key=lambda path: path.name.removesuffix(".fio"),
    ):
        name = path.name.removesuffix(".fio")
        if name != path.name:
            text, steps = read_jobs(path)
            by_name[name] = Profile(name=name, help=text, steps=steps)
    return MappingProxyType(by_name | {profile.name: profile for profile in OTHERS})


def _dbench(clients: int) -> Step:
    """A file server's work.

    Its loads come from memory for the most part; what reaches the disk is its flushes. The
    figures of a step are what is assumed of that: small writes, one at a time.
    """
    return Step(
        name=f"clients-{clients}",
        tool="dbench",
        is_random=True,
        read_share=0.0,
        block_kib=4.0,
        jobs=clients,
        depth=1,
        runtime_s=60.0,
        size_mib=32.0 * clients,
    )


#: Writes without cache. One dd waits for each; four ask for more than 3,000 a second.
_DD = Step(
    name="write512",
    tool="dd",
    is_random=False,
    read_share=0.0,
    block_kib=0.5,
    jobs=4,
    depth=1,
    runtime_s=3_600.0,
    size_mib=256.0,
)
OTHERS = (
    Profile(
        name="dbench",
        help="The work of a file server with 1 and with 4 clients, as published in 2014. Most of it stays in memory.",
        steps=(_dbench(1), _dbench(4)),
    ),
    Profile(
        name="dd-drain",
        help="Writes of 512 bytes by dd for an hour. The rate is noted once a minute, as published in 2016.",
        steps=(_DD,),
    ),
    Profile(
        name="dd-drain-raid0",
        help="The same drain over an md RAID0 of two volumes or more, which spends from all of them.",
        steps=(_DD,),
        raid0=True,
    ),
)
