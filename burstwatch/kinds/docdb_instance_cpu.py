"""DocumentDB instances of the T classes: CPU credits. They are Unlimited, so this only warns."""

from burstwatch.kinds import _cpu, _rds
from burstwatch.kinds._database_cpu import DatabaseCpu


class DocdbInstanceCpu(DatabaseCpu):
    """The instances of DocumentDB."""

    name = "docdb_instance_cpu"
    namespace = "AWS/DocDB"
    engine = _rds.DOCDB
    metric = _cpu.SURPLUS
    level_metrics = (metric,)
    charge_metric = _cpu.CHARGED
    service = "docdb"
    console = "docdb/home?region={region}#instance-details/{id}"
    spenders = "the running operations (`db.currentOp()`)"


KIND = DocdbInstanceCpu()
