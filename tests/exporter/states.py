"""States as the tests write them."""

from burstwatch.bucket import Bucket
from burstwatch_exporter.credits.interval import Interval
from burstwatch_exporter.credits.state import Saved
from burstwatch_exporter.kernel.diskstats import Counters


def some(low: float) -> Saved:
    return Saved(
        key="vol-0123456789abcdef0",
        name="sdb",
        sequence="5",
        boot_id="aaaa",
        at=1.0,
        wall_s=2.0,
        counters=Counters(1, 2, 3, 4, 5, 0),
        bucket=Bucket(capacity=100, refill=1, burst=10),
        spec_id="gp2 100 GiB",
        interval=Interval(low=low, high=100, likely=None),
    )
