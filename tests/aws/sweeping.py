"""A sweep over volumes whose levels the test decides, and the alarms that it leaves."""

from dataclasses import replace

from burstwatch.aws.alarms.api import Alarm
from burstwatch.aws.look.memory import Memory
from burstwatch.aws.sweep.sweep import Sweep, sweep
from burstwatch.config import Config
from burstwatch.history.observations import Verdict
from burstwatch.kinds import find_kinds
from burstwatch.messages.timeline import Timeline
from tests.conftest import NOW, Cloud

TOPIC = "arn:aws:sns:us-east-1:123456789012:page"


NOTICE = "arn:aws:sns:us-east-1:123456789012:notice"


EVENTS = "arn:aws:sns:us-east-1:123456789012:events"

#: What the name of an alarm says of a gp2 volume of 100 GiB.
EFFECT = "runs out, then 300 of 3,000 IOPS"


#: Every kind is listed at each sweep.
EVERY_KIND = Config(page_topic_arn=TOPIC, notice_topic_arn=NOTICE, events_topic_arn=EVENTS)
#: As most tests want it: what is listed at each sweep is half of what a sweep takes.
CONFIG = replace(EVERY_KIND, kinds="ebs_volume")


class Disk:
    """A 100 GiB gp2 volume whose every minute a test decides on."""

    def __init__(self, cloud: Cloud, *, percent: float, host: str | None = None) -> None:
        """It is attached to ``host``, or to an instance of its own."""
        self.cloud = cloud
        instance_id = host or cloud.aws.add_instance("m5.large")
        self.id = cloud.aws.add_volume("gp2", 100, instance_id=instance_id, name="db")
        self.percent = percent
        # As many operations as come in hold a balance that is not full.
        iops = 100 if percent == 100 else 300
        for minute in range(60, 0, -1):
            self.put(NOW - 60 * minute, percent, iops=iops)

    def minute(self, *, iops: float) -> None:
        """One minute at ``iops``, then the clock stands at its end."""
        served = min(iops, 3_000 if self.percent > 0 else 300)
        self.percent = min(100.0, max(0.0, self.percent - (served - 300) * 60 / 54_000))
        self.put(self.cloud.clock.now, self.percent, iops=served)
        self.cloud.clock.now += 60

    def put(self, at: float, percent: float, *, iops: float) -> None:
        for name, value in {
            "BurstBalance": percent,
            "VolumeReadOps": iops * 30,
            "VolumeWriteOps": iops * 30,
            "VolumeReadBytes": iops * 30 * 16_384,
            "VolumeWriteBytes": iops * 30 * 16_384,
        }.items():
            self.cloud.aws.put("AWS/EBS", name, {"VolumeId": self.id}, at, value)


def run_sweep(
    cloud: Cloud,
    schedule: Memory | None = None,
    *,
    config: Config = CONFIG,
) -> Sweep:
    """Sweep the account now."""
    return sweep(
        cloud.unit,
        find_kinds(config.kinds).values(),
        cloud.clients,
        cloud.clients,
        config,
        schedule or Memory(),
        now=cloud.clock.now,
        deadline=cloud.never(),
    )


def alarms(cloud: Cloud) -> dict[str, str]:
    return {
        name: alarm["StateValue"] for name, alarm in cloud.aws.regions["us-east-1"].alarms.items()
    }


def alarm_of(
    resource_id: str, severity: Verdict, timeline: Timeline, *, kind: str = "ebs_volume"
) -> Alarm:
    """An alarm of our own that fires since now."""
    return Alarm(
        name=f"burstwatch.{severity}/{resource_id}/burstwatch", kind=kind,
        resource_id=resource_id, severity=severity, state="ALARM", state_since=NOW,
        is_enabled=True, timeline=timeline,
    )  # fmt: skip


def operations(cloud: Cloud) -> list[str]:
    return [operation for _, operation, _ in cloud.aws.calls]
