"""A deployment on the strict fake, with its function."""

from collections.abc import Callable

from burstwatch.aws.client.session import Clients
from burstwatch.aws.drill.steps import take_step
from burstwatch.config import Config
from tests.aws.sweeping import CONFIG
from tests.conftest import Cloud

FUNCTION = "burstwatch-sweep"


def deploy(cloud: Cloud, config: Config = CONFIG) -> None:
    """The function that does the steps, with its own clients."""
    home = Clients("us-east-1")
    cloud.aws.functions[FUNCTION] = lambda event: take_step(
        event["drill"], home, config, now=cloud.clock.now
    )


def sleeper(cloud: Cloud) -> Callable[[float], None]:
    """Time passes, and once a minute CloudWatch looks at the alarms."""

    cloud.clock.now += 7  # not on the minute's edge

    def sleep(seconds: float) -> None:
        before = cloud.clock.now
        cloud.clock.now += seconds
        if before // 60 != cloud.clock.now // 60:
            cloud.aws.evaluate_alarms()

    return sleep
