"""Finds where watching costs more, and why: by size, load, lead and delay, and where sweeps forget.

Weeks and days of ``benchmarks.month``'s machinery, on fewer volumes.
"""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product

from benchmarks.month import MINUTE, Watching, cents_by, played
from benchmarks.month_fleet import FLEET, SHARES, Member, fleet
from benchmarks.record import keep
from benchmarks.recordings import RHOS, recordings
from burstwatch.config import Config
from burstwatch.ebs.volumes import volume_spec

GRID_DAYS = 7
#: A sample of the fleet, for so long, swept by so many that remember it each for itself.
SPREAD_OF, SPREAD_DAYS, ENVIRONMENTS = 3, 3, (1, 2, 5, 10)
LEADS_S, DELAYS_S = (300.0, 900.0, 1_800.0), (60.0, 180.0, 300.0)
#: The lead and delay of the sample that is swept by several environments.
LEAD_S, DELAY_S = 900.0, 180.0


def main() -> None:
    """Both tables."""
    config = Config(page_on="worst", lead_s=LEAD_S, max_data_age_s=DELAY_S)
    with ProcessPoolExecutor() as pool:
        keep("month_spread", list(_spread(pool, Watching(config=config, delay_s=DELAY_S))))
        keep("month_grid", list(_grid(pool)))


def _grid(pool: ProcessPoolExecutor) -> Iterator[dict[str, object]]:
    """Cents a volume-month by size, load, lead and delay, over a week of three machines."""
    members = [
        Member(id=f"vol-{number:017x}", size_gib=size, path=path, rho=rho)
        for number, (size, (path, rho)) in enumerate(
            product(SHARES, [(None, 0.0)] * 3 + list(product(recordings("smd")[:6:2], RHOS)))
        )
    ]
    for lead_s, delay_s in product(LEADS_S, DELAYS_S):
        config = Config(page_on="worst", lead_s=lead_s, max_data_age_s=delay_s)
        watching = Watching(config=config, delay_s=delay_s)
        what = f"lead {lead_s / MINUTE:g}, delay {delay_s / MINUTE:g}"
        costs = played(pool, members, watching, days=GRID_DAYS, what=what)
        for size in SHARES:
            some = [one for one in costs if one.member.size_gib == size]
            yield {
                "lead_s": lead_s,
                "delay_s": delay_s,
                "size_gib": size,
                "acted_on_at": acted_on_at(size, config, delay_s),
                "late": sum(one.late for one in some),
                "cents_per_volume_month": cents_by(some, "load", GRID_DAYS),
            }


def _spread(pool: ProcessPoolExecutor, watching: Watching) -> Iterator[dict[str, object]]:
    """How many times the metrics it takes where the sweeps of a unit fall to several environments."""
    members, alone = fleet(FLEET)[::SPREAD_OF], 0
    for environments in ENVIRONMENTS:
        what = f"{environments} environments"
        shared = replace(watching, environments=environments)
        costs = played(pool, members, shared, days=SPREAD_DAYS, what=what)
        billed = sum(one.billed for one in costs)
        alone = alone or billed
        late = sum(one.late for one in costs)
        yield {"environments": environments, "times": billed / alone, "late": late}
        print(f"{what}: {billed / alone:.2f} times the metrics of one, {late} late")


def acted_on_at(size_gib: int, config: Config, delay_s: float) -> float:
    """The share of the bucket at which the margin is reached, by data as late as that."""
    bucket = volume_spec("gp2", size_gib).bucket
    if bucket is None:
        raise TypeError(size_gib)
    margin_s = config.margin_s + delay_s + MINUTE
    return min(1.0, margin_s * (bucket.burst - bucket.refill) / bucket.capacity)


if __name__ == "__main__":
    main()
