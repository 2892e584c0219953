"""Neptune instances of the T classes: CPU credits. They are Unlimited, so this only warns.

No page of AWS lists their credit metrics. Where AWS publishes none, the instance is unknown.
"""

from burstwatch.kinds import _cpu, _rds
from burstwatch.kinds._database_cpu import database_kind

KIND = database_kind(
    name="neptune_instance_cpu",
    namespace="AWS/Neptune",
    metric=_cpu.BALANCE,
    engine=_rds.NEPTUNE,
    is_own=lambda engine: engine.startswith(_rds.NEPTUNE),
    console="neptune/home?region={region}#database:id={id};is-cluster=false",
    largest=lambda _engine: "medium",
    service="neptune",
)
