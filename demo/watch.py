"""Watches the demo while it runs: says what happens as it happens."""

import time
from collections.abc import Callable, Mapping, Sequence

from burstwatch.aws.client.names import parse_alarm_name
from burstwatch.formatting import span
from demo.fleet import MINUTE_S
from demo.inbox import Inbox
from demo.play import Player, Volume

#: A picture in which something is still missing is drawn again after so long.
AGAIN_S = 20.0
#: What happens, what to do now and what to do then.
SHOWN_LINES = 3
STARTED = time.monotonic()


def say(text: str) -> None:
    """A line of progress with the seconds since the start."""
    print(f"[{time.monotonic() - STARTED:4.0f} s] {text}", flush=True)


def watch(
    inbox: Inbox,
    volumes: Sequence[Volume],
    player: Player,
    *,
    until: float,
    look: Callable[[], list[str]],
    look_at: float,
) -> list[str]:
    """Say what happens until then.

    From ``look_at`` on it looks until nothing is missing, or to the end. Returns what is missing.
    """
    shown: set[int] = set()
    dry: set[str] = set()
    missing: list[str] = []
    names = {volume.id: volume.spec.name for volume in volumes}
    next_line = time.time() + MINUTE_S
    while time.time() < until + 5:
        time.sleep(2)
        if time.time() >= look_at:
            missing = look()
            look_at = time.time() + AGAIN_S if missing else float("inf")
        if time.time() >= next_line:
            next_line += MINUTE_S
            say(f"{span(max(0.0, until - time.time()))} to go: {_lowest(volumes)}")
        if player.error is not None:
            raise player.error
        _tell(inbox, names, shown)
        for volume in volumes:
            if volume.emptied and volume.id not in dry:
                dry.add(volume.id)
                say(f"{volume.spec.name} has run out")
    return missing


def _tell(inbox: Inbox, names: Mapping[str, str], shown: set[int]) -> None:
    """Say what has arrived at the queues since the last time."""
    for message in inbox.collect():
        alarm = message.alarm
        if alarm is None or id(message) in shown or message.through == "http":
            continue
        shown.add(id(message))
        label = alarm["AlarmName"]
        for volume_id, name in names.items():
            label = label.replace(volume_id, f"{volume_id} ({name})")
        say(f"{message.through}: {alarm['NewStateValue']} {label}")
        if parse_alarm_name(alarm["AlarmName"]):
            for line in str(alarm.get("AlarmDescription")).split("\n")[:SHOWN_LINES]:
                print(f"         {line}")


def _lowest(volumes: Sequence[Volume]) -> str:
    """The balances under one half, lowest first."""
    levels = sorted(
        (volume.ratios[-1][1], volume.spec.name)
        for volume in volumes
        if volume.ratios and volume.ratios[-1][1] < 0.5  # noqa: PLR2004 - what is worth a look
    )
    return ", ".join(f"{name} {level:.0%}" for level, name in levels)
