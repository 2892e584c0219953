"""Volumes that burn beside fleets that stay empty: who is told by name, and how early.

Between one and five hundred volumes are empty for good, some for an hour and some for days, in one
shard, in four or in sixteen. Ten others are drained at random times. Nobody may be told by an OK that an empty
volume is well, and each burning one must be paged by its own name a lead before it is dry.
`python -m tests.aws.chronic` plays two hundred episodes, a test some of them.
"""

import argparse
import sys
from dataclasses import dataclass, field, replace
from random import Random

from burstwatch.aws.sweep.units import Units
from burstwatch.aws.watched.units import UnitSpec, connect
from burstwatch.kinds import find_kinds
from burstwatch.shards import shards_of
from tests.aws.sweeping import CONFIG, TOPIC, Disk
from tests.conftest import NOW, Cloud, fake_cloud

EPISODES = 10
FLEETS = (1, 4, 5, 6, 19, 20, 21, 60, 150, 500)
SHARDS = (1, 4, 16)
#: The first burns begin when the monitor has run for so many minutes, the last ones so much later.
FIRST_MINUTE, SPREAD_MINUTES, BURN_MINUTES = 1, 40, 38
OLD_MINUTES = 400
CHRONIC_NAME, BURNING_NAME = "dev", "orders"
KINDS = tuple(find_kinds("ebs_volume").values())
SETTINGS = replace(CONFIG, kinds="ebs_volume")


@dataclass(kw_only=True)
class Burn:
    """A volume that is drained from full: when that begins, when it was dry, and when it was paged by name."""

    disk: Disk
    begins: int
    dry_s: float | None = None
    paged_s: float | None = None


@dataclass(kw_only=True)
class Outcome:
    """What went wrong in a run, in words."""

    wrong: list[str] = field(default_factory=list)
    least_lead_s: float = float("inf")


def play(seed: int) -> Outcome:
    """Ten burns beside one fleet that stays empty."""
    random = Random(seed)  # noqa: S311 - the same episodes each time
    chronic, shards = FLEETS[seed % len(FLEETS)], SHARDS[seed % len(SHARDS)]
    with fake_cloud() as cloud:
        empty = [named(cloud, CHRONIC_NAME, percent=0) for _ in range(chronic)]
        for disk in empty:
            if random.random() < 0.5:
                for back in range(61, OLD_MINUTES):
                    disk.put(NOW - 60 * back, 0, iops=300)
        burns = [
            Burn(
                disk=named(cloud, BURNING_NAME, percent=100),
                begins=FIRST_MINUTE + random.randrange(SPREAD_MINUTES),
            )
            for _ in range(EPISODES)
        ]
        units, outcome = Units(home=cloud.clients, connect=connect), Outcome()
        for number in range(FIRST_MINUTE + SPREAD_MINUTES + BURN_MINUTES):
            a_minute(cloud, empty, burns, number)
            if random.random() < 0.1:  # a function that is started anew remembers nothing
                units = Units(home=cloud.clients, connect=connect)
            for shard in shards_of(shards):
                units.sweep(
                    UnitSpec(shard=shard),
                    KINDS,
                    SETTINGS,
                    now=cloud.clock.now,
                    deadline=cloud.never(),
                )
            told = len(cloud.aws.notifications)
            cloud.aws.evaluate_alarms()
            for topic, name, state in cloud.aws.notifications[told:]:
                judge(outcome, burns, cloud.clock.now, (topic, name, state))
        sum_up(outcome, burns, f"{chronic} empty, {shards} shards")
    return outcome


def named(cloud: Cloud, name: str, *, percent: float) -> Disk:
    disk = Disk(cloud, percent=percent)
    for tag in cloud.aws.regions["us-east-1"].volumes[disk.id]["Tags"]:
        tag["Value"] = name
    return disk


def a_minute(cloud: Cloud, empty: list[Disk], burns: list[Burn], number: int) -> None:
    """One minute of all, and the clock at its end."""
    at = cloud.clock.now
    for disk in empty:
        cloud.clock.now = at
        disk.minute(iops=3_000)
    for burn in burns:
        cloud.clock.now = at
        burn.disk.minute(iops=3_000 if number >= burn.begins else 50)
        if burn.disk.percent == 0 and burn.dry_s is None:
            burn.dry_s = cloud.clock.now


def judge(outcome: Outcome, burns: list[Burn], now: float, told: tuple[str, str, str]) -> None:
    """No OK is true here: what is empty stays so, and what burns burns to its end."""
    topic, name, state = told
    if state == "OK" and ".warning/" not in name:
        outcome.wrong.append(f"a false OK: {name}")
    for burn in burns:
        is_page = topic == TOPIC and state == "ALARM" and burn.disk.id in name
        if is_page and burn.paged_s is None:
            burn.paged_s = now


def sum_up(outcome: Outcome, burns: list[Burn], where: str) -> None:
    for burn in burns:
        if burn.dry_s is None:
            outcome.wrong.append(f"{where}: {burn.disk.id} was never dry")
            continue
        lead_s = burn.dry_s - (burn.paged_s or burn.dry_s)
        outcome.least_lead_s = min(outcome.least_lead_s, lead_s)
        if lead_s < SETTINGS.lead_s:
            outcome.wrong.append(f"{where}: {burn.disk.id} paged {lead_s:.0f} s before")


def main() -> int:
    """Play episodes by seed. 0 if nothing was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.aws.chronic", description=__doc__)
    parser.add_argument("--episodes", type=int, default=200)
    wrong, least_lead_s = list[str](), float("inf")
    for seed in range(parser.parse_args().episodes // EPISODES):
        outcome = play(seed)
        wrong += [f"seed {seed}: {line}" for line in outcome.wrong]
        least_lead_s = min(least_lead_s, outcome.least_lead_s)
        episodes = (seed + 1) * EPISODES
        print(
            f"{episodes} episodes, {len(wrong)} wrong, least lead {least_lead_s:.0f} s", flush=True
        )
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
