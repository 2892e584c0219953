"""RDS and Aurora instances of the T classes: CPU credits.

T3 and T4g are Unlimited: a bucket at zero costs money, after a surplus of up to a day's
earnings that is free. AWS documents no metric of the surplus for RDS. So the balance is the
level, and the first charge may come later than the time that is stated.
"""

from burstwatch.kinds import _cpu, _rds
from burstwatch.kinds._database_cpu import DatabaseCpu

#: Aurora has T classes up to large:
#: https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Concepts.DBInstanceClass.Types.html (2026-11)
AURORA, AURORA_LARGEST = "aurora", "large"


class RdsInstanceCpu(DatabaseCpu):
    """The instances of RDS and Aurora."""

    name = "rds_instance_cpu"
    namespace = "AWS/RDS"
    engine = "postgres"
    metric = _cpu.BALANCE
    level_metrics = (metric,)
    service = "rds"
    console = _rds.CONSOLE

    def is_own(self, engine: str) -> bool:
        """True for what RDS itself runs."""
        return not engine.startswith((_rds.DOCDB, _rds.NEPTUNE))

    def largest(self, engine: str) -> str:
        """The largest T size, which is smaller for Aurora."""
        return AURORA_LARGEST if engine.startswith(AURORA) else _cpu.LARGEST


KIND = RdsInstanceCpu()
