"""Neptune instances of the T classes: CPU credits. They are Unlimited, so this only warns.

No page of AWS lists their credit metrics. Where AWS publishes none, the instance is unknown.
"""

from burstwatch.kinds import _cpu, _rds
from burstwatch.kinds._database_cpu import DatabaseCpu


class NeptuneInstanceCpu(DatabaseCpu):
    """The instances of Neptune."""

    name = "neptune_instance_cpu"
    namespace = "AWS/Neptune"
    engine = _rds.NEPTUNE
    metric = _cpu.BALANCE
    level_metrics = (metric,)
    service = "neptune"
    console = "neptune/home?region={region}#database:id={id};is-cluster=false"
    spenders = "the running queries (`/gremlin/status`, `/openCypher/status` or `/sparql/status`)"


KIND = NeptuneInstanceCpu()
