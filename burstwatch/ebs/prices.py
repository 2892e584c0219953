"""The price of a volume: of its size, and of what is provisioned beyond what is free."""

from burstwatch.ebs.volume_types import GP3_FREE_IOPS, GP3_FREE_MIB_S
from burstwatch.fixes.prices import price

TABLE = "ebs"
#: io2 costs less for each IOPS beyond these, and less again.
IO2_TIERS = ((32_000.0, "io2_iops_over_32000"), (64_000.0, "io2_iops_over_64000"))


def price_in_table(region: str, name: str) -> float | None:
    """USD a month of a GiB of a type (``gp2``), or of what is provisioned (``gp3_iops``); None where it is not known."""
    figure = price(TABLE, region, name)
    return None if figure is None else figure.value


def monthly_usd(
    region: str,
    volume_type: str,
    size_gib: float,
    *,
    iops: float | None = None,
    mib_s: float | None = None,
) -> float | None:
    """The price of a volume for a month, or None where a part of it is not known.

    ``iops`` and ``mib_s`` are what is provisioned, with what is free of it; None is what comes with the type.
    """
    parts: list[tuple[str, float]] = [(volume_type, size_gib)]
    if volume_type == "gp3":
        free_iops, free_mib_s = GP3_FREE_IOPS.value, GP3_FREE_MIB_S.value
        parts.append(("gp3_iops", max(0.0, (iops or free_iops) - free_iops)))
        parts.append(("gp3_mib_s", max(0.0, (mib_s or free_mib_s) - free_mib_s)))
    elif volume_type == "io1":
        parts.append(("io1_iops", iops or 0.0))
    elif volume_type == "io2":
        parts += _io2_parts(iops or 0.0)
    usd = 0.0
    for name, amount in parts:
        usd_each = price_in_table(region, name)
        if amount and usd_each is None:
            return None
        usd += amount * (usd_each or 0.0)
    return usd


def _io2_parts(iops: float) -> list[tuple[str, float]]:
    """The IOPS of each tier, by the name of its price."""
    names = ["io2_iops", *(name for _, name in IO2_TIERS)]
    bounds = [0.0, *(begins for begins, _ in IO2_TIERS), float("inf")]
    return [
        (name, max(0.0, min(iops, last) - begins))
        for name, begins, last in zip(names, bounds[:-1], bounds[1:], strict=True)
    ]
