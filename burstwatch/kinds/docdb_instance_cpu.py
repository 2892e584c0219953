"""DocumentDB instances of the T classes: CPU credits. They are Unlimited, so this only warns."""

from burstwatch.kinds import _cpu, _rds
from burstwatch.kinds._database_cpu import database_kind

KIND = database_kind(
    name="docdb_instance_cpu",
    namespace="AWS/DocDB",
    metric=_cpu.SURPLUS,
    engine=_rds.DOCDB,
    is_own=lambda engine: engine.startswith(_rds.DOCDB),
    console="docdb/home?region={region}#instance-details/{id}",
    largest=lambda _engine: "medium",
    service="docdb",
)
