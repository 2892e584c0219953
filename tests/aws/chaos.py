"""Episodes in an account where something fails every few minutes.

Two deployments watch the same volumes. Each volume is drained until it is dry, and refills. Answers
are cut, empty, partial, denied, throttled, doubled or lack something; sweeps overlap and are killed.
`python -m tests.aws.chaos` plays two hundred episodes, a test some of them.
"""

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random

from botocore.config import Config as ClientConfig

from burstwatch.aws.client import session
from burstwatch.aws.look.memory import Memory
from burstwatch.config import Config
from tests.aws.killing import sweep_killed_at
from tests.aws.sweeping import CONFIG, NOTICE, TOPIC, Disk, alarms, run_sweep
from tests.conftest import Cloud, fake_cloud, no_account

EPISODES, CALM = 10, 3
FIRST_MINUTES, DRY_MINUTES, REST_MINUTES = 40, 8, 110
OPERATIONS = (
    "DescribeVolumes", "DescribeInstances", "DescribeInstanceTypes", "DescribeVolumesModifications",
    "GetMetricData", "DescribeAlarms", "PutMetricData", "PutMetricAlarm", "DeleteAlarms", "Publish",
)  # fmt: skip
READS = OPERATIONS[:6]
BASE = replace(CONFIG, kinds="ebs_volume", mass_from=100)
DEPLOYMENTS = tuple(
    replace(
        BASE,
        deployment=name,
        page_topic_arn=f"{TOPIC}-{name}",
        notice_topic_arn=f"{NOTICE}-{name}",
    )
    for name in ("green", "blue")
)
#: Back at so much, a bucket is no longer near its end.
BACK_PERCENT = 20.0


@dataclass(kw_only=True)
class Life:
    """One volume: when its load begins and ends, when it ran out, and when each deployment paged for it."""

    disk: Disk
    begins: int
    ends: int | None = None
    dry_s: float | None = None
    paged: dict[str, float] = field(default_factory=dict)

    def minute(self, number: int) -> None:
        """Let it live one minute, the clock aside."""
        clock = self.disk.cloud.clock
        at = clock.now
        is_loaded = number >= self.begins and (self.ends is None or number < self.ends)
        self.disk.minute(iops=3_000 if is_loaded else 50)
        if self.disk.percent == 0 and self.dry_s is None:
            self.dry_s, self.ends = clock.now, number + DRY_MINUTES
        clock.now = at


@dataclass(kw_only=True)
class Outcome:
    """What went wrong in a run, in words; and how often each fault was played."""

    wrong: list[str] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    episodes: int = 0
    least_lead_s: float = float("inf")


def play(seed: int) -> Outcome:
    """Ten episodes for each of two deployments, and volumes in which nothing happens."""
    random, outcome = Random(seed), Outcome()  # noqa: S311 - the same episodes each time
    with fake_cloud() as cloud, no_account() as patch:
        patch.setenv("AWS_ENDPOINT_URL", cloud.url)
        once = ClientConfig(retries={"mode": "standard", "total_max_attempts": 1})
        patch.setattr(session, "CLIENT_CONFIG", session.CLIENT_CONFIG.merge(once))
        lives = [
            Life(disk=Disk(cloud, percent=100), begins=random.randrange(FIRST_MINUTES))
            for _ in range(EPISODES)
        ]
        lives += [Life(disk=Disk(cloud, percent=100), begins=10**6) for _ in range(CALM)]
        memories = {config.deployment: Memory() for config in DEPLOYMENTS}
        clean_from = 0
        for number in range(FIRST_MINUTES + 34 + DRY_MINUTES + REST_MINUTES):
            for life in lives:
                life.minute(number)
            cloud.clock.now += 60
            if number >= clean_from:
                _heal(cloud)
                if random.random() < 0.4:
                    lasts = _break(cloud, random, lives, outcome)
                    clean_from = number + lasts + 2
                    fault_ends = number + lasts
                else:
                    fault_ends = number
            elif number >= fault_ends:
                _heal(cloud)
            for config in DEPLOYMENTS:
                memories[config.deployment] = _sweeps(
                    cloud, config, memories[config.deployment], random, outcome
                )
            heard = len(cloud.aws.notifications)
            cloud.aws.evaluate_alarms()
            for topic, name, state in cloud.aws.notifications[heard:]:
                _judge(outcome, lives, cloud.clock.now, (topic, name, state))
        _sum_up(outcome, cloud, lives)
    return outcome


def _break(cloud: Cloud, random: Random, lives: list[Life], outcome: Outcome) -> int:
    """Play one fault, and say for how many minutes."""
    aws, operation = cloud.aws, random.choice(OPERATIONS)
    volume = random.choice(lives).disk.id
    fault = random.choice(
        (
            "cut",
            "empty",
            "partial",
            "denied",
            "throttled",
            "doubled",
            "unlisted",
            "failing",
            "lacking",
        )
    )
    outcome.faults[fault] += 1
    if fault == "cut":
        aws.cut[operation] = 2
    elif fault == "empty":
        aws.hollow.add(random.choice(READS))
    elif fault == "partial":
        aws.partial_after = 7
    elif fault == "denied":
        aws.denied.add(operation)
    elif fault == "throttled":
        aws.throttled[operation] = 2
    elif fault == "doubled":
        aws.doubles = True
    elif fault == "unlisted":
        aws.unlisted.add(volume)
        return 2  # three times in a row is what is taken for gone
    elif fault == "failing":
        aws.failing_series[volume] = "InternalError"
    else:
        aws.failing_pages["GetMetricData"] = 1
    return random.randint(1, 3)


def _heal(cloud: Cloud) -> None:
    aws = cloud.aws
    for faults in (
        aws.cut,
        aws.hollow,
        aws.denied,
        aws.throttled,
        aws.unlisted,
        aws.failing_series,
        aws.failing_pages,
    ):
        faults.clear()
    aws.partial_after, aws.doubles = None, False


def _sweeps(
    cloud: Cloud, config: Config, memory: Memory, random: Random, outcome: Outcome
) -> Memory:
    """The sweep of one minute: killed, forgotten or made twice now and then."""
    chance = random.random()
    if chance < 0.08:
        outcome.faults["killed"] += 1
        if sweep_killed_at(cloud, random.randrange(12), memory, config=config):
            return Memory()
        return memory
    if chance < 0.12:
        outcome.faults["forgotten"] += 1
        memory = Memory()
    if chance < 0.2:
        outcome.faults["overlap"] += 1
        run_sweep(cloud, Memory(), config=config)
    run_sweep(cloud, memory, config=config)
    return memory


def _judge(outcome: Outcome, lives: list[Life], now: float, heard: tuple[str, str, str]) -> None:
    """A page for a calm volume is false, and so is an OK for one that is not back."""
    topic, name, state = heard
    if not topic.startswith(TOPIC):
        return
    deployment = name.split("/")[-1]
    if not topic.endswith(deployment):
        outcome.wrong.append(f"{topic} heard {name}")
    life = next((one for one in lives if one.disk.id in name), None)
    if life is None or life.begins > 10**5:
        outcome.wrong.append(f"a false page: {name} {state}")
    elif state == "OK" and life.disk.percent < BACK_PERCENT:
        outcome.wrong.append(f"a false OK: {name} at {life.disk.percent:.0f} %")
    elif state == "ALARM" and life.dry_s is None:
        outcome.episodes += 1
        life.paged[deployment] = now


def _sum_up(outcome: Outcome, cloud: Cloud, lives: list[Life]) -> None:
    pages = Counter(name for _, name, state in cloud.aws.notifications if state == "ALARM")
    for life in lives:
        if life.dry_s is None:
            continue
        for config in DEPLOYMENTS:
            lead_s = life.dry_s - life.paged.get(config.deployment, life.dry_s)
            outcome.least_lead_s = min(outcome.least_lead_s, lead_s)
            if lead_s < config.lead_s:
                outcome.wrong.append(
                    f"{config.deployment} {life.disk.id}: paged {lead_s:.0f} s before"
                )
    outcome.wrong += [
        f"{times} pages: {name}"
        for name, times in pages.items()
        if times > 1 and "critical" in name
    ]
    outcome.wrong += [f"left behind: {name}" for name in alarms(cloud)]


def main() -> int:
    """Play episodes by seed. 0 if nothing was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.aws.chaos", description=__doc__)
    parser.add_argument("--episodes", type=int, default=200)
    args = parser.parse_args()
    whole, faults = Outcome(), Counter[str]()
    for seed in range(args.episodes // EPISODES):
        found = play(seed)
        faults += found.faults
        whole.wrong += [f"seed {seed}: {one}" for one in found.wrong]
        whole.least_lead_s = min(whole.least_lead_s, found.least_lead_s)
        whole.episodes += EPISODES
        print(
            f"{whole.episodes} episodes, {len(whole.wrong)} wrong, least lead {whole.least_lead_s:.0f} s",
            flush=True,
        )
    print(f"faults: {', '.join(f'{name} {times}' for name, times in sorted(faults.items()))}")
    print("\n".join(whole.wrong))
    return 1 if whole.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
