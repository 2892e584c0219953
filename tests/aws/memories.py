"""Episodes of one unit whose sweeps are made by several functions at random, each with a memory of its own.

So it is with `fanOut=queue`, and with every restart and deployment. Nothing fails here: now and then a memory is lost, all
of them are, or a sweep has a clock that is wrong. `python -m tests.aws.memories` plays five hundred episodes.
"""

import sys
from collections import Counter
from dataclasses import dataclass, field
from random import Random

from burstwatch.aws.look.memory import Memory
from tests.aws.sweeping import Disk, run_sweep
from tests.conftest import Cloud, fake_cloud

EPISODES, MINUTES = 8, 250
#: The shares of the sweeps in which one memory is lost, all are, and the clock is wrong.
RESTARTED, DEPLOYED, MISTIMED = 0.02, 0.004, 0.01
#: Seconds by which a clock is wrong.
STEPS_S = (90.0, 240.0, 600.0, 3_600.0, 86_400.0)
#: So full, a volume of which nothing more is asked is in no danger.
SAFE_PERCENT = 15.0


@dataclass(kw_only=True)
class Life:
    """One volume with a single burn: when it begins, and for how long it goes on."""

    disk: Disk
    begins: int
    #: Minutes after the bucket is empty.
    lasts: int
    burn_iops: float
    rest_iops: float
    dry_at: int | None = None

    def is_burning(self, number: int) -> bool:
        """Whether the load is there in this minute."""
        return number >= self.begins and (self.dry_at is None or number < self.dry_at + self.lasts)

    def minute(self, number: int, random: Random) -> None:
        """Let it live one minute, the clock aside."""
        clock = self.disk.cloud.clock
        at = clock.now
        rest = self.rest_iops * random.choice((0.5, 1.0, 1.5))
        self.disk.minute(iops=self.burn_iops if self.is_burning(number) else rest)
        if self.dry_at is None and self.disk.percent == 0:
            self.dry_at = number
        clock.now = at


@dataclass(kw_only=True)
class Outcome:
    """What went wrong in a run, in words, and how many minutes before its end each volume was paged."""

    wrong: list[str] = field(default_factory=list)
    episodes: int = 0
    leads_min: list[int] = field(default_factory=list)


def play(seed: int, memories: int) -> Outcome:
    """Play one account with so many memories."""
    random, outcome = Random(seed), Outcome()  # noqa: S311 - the same episodes each time
    with fake_cloud() as cloud:
        lives = [_life(cloud, random) for _ in range(EPISODES)]
        remembered = [Memory() for _ in range(memories)]
        heard: list[tuple[int, Life, str, str]] = []
        for number in range(MINUTES):
            for life in lives:
                life.minute(number, random)
            cloud.clock.now += 60
            if random.random() < RESTARTED:
                remembered[random.randrange(memories)] = Memory()
            if random.random() < DEPLOYED:
                remembered = [Memory() for _ in range(memories)]
            _sweep_once(cloud, random.choice(remembered), random)
            known = len(cloud.aws.notifications)
            cloud.aws.evaluate_alarms()
            for _, name, state in cloud.aws.notifications[known:]:
                life = next(life for life in lives if life.disk.id in name)
                heard.append((number, life, name.partition("/")[0].rpartition(".")[2], state))
    _judge(heard, lives, outcome)
    return outcome


def _life(cloud: Cloud, random: Random) -> Life:
    return Life(
        disk=Disk(cloud, percent=100),
        begins=random.randrange(20),
        lasts=random.choice((1, 8, 20)),
        burn_iops=random.choice((1_800.0, 3_000.0, 3_000.0)),
        rest_iops=random.choice((20.0, 50.0, 100.0)),
    )


def _sweep_once(cloud: Cloud, memory: Memory, random: Random) -> None:
    """One sweep, by a clock that may be ahead."""
    at = cloud.clock.now
    if random.random() < MISTIMED:
        cloud.clock.now += random.choice(STEPS_S)
    run_sweep(cloud, memory)
    cloud.clock.now = at


def _judge(heard: list[tuple[int, Life, str, str]], lives: list[Life], outcome: Outcome) -> None:
    """Each alarm is raised once and over once, the page in time, and nothing is over while it burns."""
    heard = _without_early_ends(heard)
    times = Counter((life.disk.id, severity, state) for _, life, severity, state in heard)
    outcome.wrong += [f"{alarm} {count} times" for alarm, count in times.items() if count > 1]
    for life in lives:
        outcome.episodes += 1
        told = {
            (severity, state): number for number, other, severity, state in heard if other is life
        }
        paged, over = told.get(("critical", "ALARM")), told.get(("critical", "OK"))
        if paged is None or life.dry_at is None:
            outcome.wrong.append(f"{life} was not paged or is not dry")
            continue
        outcome.leads_min.append(life.dry_at - paged)
        if over is None:
            outcome.wrong.append(f"{life}: the page is not over")
    for number, life, severity, state in heard:
        if state == "OK" and severity in {"critical", "warning"} and life.is_burning(number):
            outcome.wrong.append(f"minute {number}: {severity} of {life} is over while it burns")


def _without_early_ends(
    heard: list[tuple[int, Life, str, str]],
) -> list[tuple[int, Life, str, str]]:
    """What was heard but for an OK of an alarm that was never raised.

    By a clock that is ahead, a new alarm comes before the metric that raises it. No pager knows of it yet.
    """
    raised = set[tuple[str, str]]()
    told = []
    for number, life, severity, state in heard:
        alarm = life.disk.id, severity
        raised |= {alarm} if state == "ALARM" else set()
        if alarm in raised:
            told.append((number, life, severity, state))
    return told


if __name__ == "__main__":
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        for memories in (1, 2, 3, 5):
            played = play(seed, memories)
            leads = sorted(played.leads_min)
            sys.stdout.write(f"seed {seed}, {memories} memories: leads {leads}\n")
            sys.stdout.writelines(f"  {line}\n" for line in played.wrong)
            sys.stdout.flush()
