"""A sweep that dies before one of its calls."""

from dataclasses import replace
from itertools import count
from typing import Any

from burstwatch.aws.look.memory import Memory
from burstwatch.config import Config
from tests.aws.sweeping import EVERY_KIND, run_sweep
from tests.conftest import Cloud

#: An episode that ends soon.
BRIEF = replace(EVERY_KIND, hold_s=600.0)


class Killed(BaseException):
    """Not an Exception: nothing that the sweep does may catch it, as nothing catches SIGKILL."""


def sweep_killed_at(
    cloud: Cloud, call: int, memory: Memory | None = None, *, config: Config = BRIEF
) -> bool:
    """Sweep, and die before that call is sent. Whether there was such a call."""
    counter = count()

    def before_send(**_: Any) -> None:
        if next(counter) == call:
            raise Killed

    services = [cloud.clients(name).meta.events for name in ("ec2", "cloudwatch", "sns")]
    for events in services:
        events.register("before-send", before_send)
    try:
        run_sweep(cloud, memory, config=config)
    except Killed:
        return True
    finally:
        for events in services:
            events.unregister("before-send", before_send)
    return False
