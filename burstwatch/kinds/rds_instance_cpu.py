"""RDS and Aurora instances of the T classes: CPU credits.

T3 and T4g are Unlimited: a bucket at zero costs money, after a surplus of up to a day's
earnings that is free. AWS documents no metric of the surplus for RDS. So the balance is the
level, and the first charge may come later than the time that is stated.
"""

from burstwatch.kinds import _cpu, _rds
from burstwatch.kinds._database_cpu import database_kind
from burstwatch.sources import Figure, Source

PRICE_PAGE = Source(
    url="https://aws.amazon.com/rds/instance-types/",
    read="2024-01",
    note="as quoted by others; 0.144 for SQL Server",
)
SURPLUS_USD = Figure(value=0.075, unit="USD/vCPU-h", source=PRICE_PAGE)

KIND = database_kind(
    name="rds_instance_cpu",
    namespace="AWS/RDS",
    metric=_cpu.BALANCE,
    engine="postgres",
    is_own=lambda engine: not engine.startswith((_rds.DOCDB, _rds.NEPTUNE)),
    console=_rds.CONSOLE,
    largest="2xlarge",
    usd_vcpu_h=SURPLUS_USD,
)
