"""List prices of EBS by region: list prices on demand, without tax or discount, in USD.

One table, read once. A region that is not in it has no price here, and that is said:
nobody is told the price of another region.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from burstwatch.sources import Source

EBS_PRICES_PAGE = Source(
    url="https://aws.amazon.com/ebs/pricing/",
    read="2026-11",
    note="from published captures of AWS's Price List: gp3 storage of 2026 in eight regions (us-east-1, "
    "us-west-2, eu-west-1, eu-west-2, eu-central-1, eu-north-1, ap-northeast-1, ap-southeast-1), gp2, st1 and "
    "sc1 of 2026 in us-east-1 and eu-west-1, the rest of 2021 to 2023; no capture of 2026 differs from an older one. "
    "gp3 throughput is listed per GiB/s and is divided by 1,024 here",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class EbsPrices:
    """USD a month in one region: by GiB, and for gp3 by IOPS over 3,000 and MiB/s over 125."""

    gib: Mapping[str, float]
    gp3_iops: float
    gp3_mib_s: float
    source: Source = EBS_PRICES_PAGE


def _row(rates: tuple[float, float, float, float, float, float]) -> EbsPrices:
    gp2, gp3, gp3_iops, gp3_mib_s, st1, sc1 = rates
    return EbsPrices(
        gib=MappingProxyType({"gp2": gp2, "gp3": gp3, "st1": st1, "sc1": sc1}),
        gp3_iops=gp3_iops,
        gp3_mib_s=gp3_mib_s,
    )


#: gp2, gp3, gp3 IOPS, gp3 MiB/s, st1, sc1.
EBS_PRICES: Mapping[str, EbsPrices] = MappingProxyType(
    {
        region: _row(rates)
        for region, rates in {
            "us-east-1": (0.10, 0.08, 0.005, 0.040, 0.045, 0.015),
            "us-east-2": (0.10, 0.08, 0.005, 0.040, 0.045, 0.015),
            "us-west-1": (0.12, 0.096, 0.006, 0.048, 0.054, 0.018),
            "us-west-2": (0.10, 0.08, 0.005, 0.040, 0.045, 0.015),
            "ca-central-1": (0.11, 0.088, 0.0055, 0.044, 0.050, 0.0168),
            "eu-west-1": (0.11, 0.088, 0.0055, 0.044, 0.050, 0.0168),
            "eu-west-2": (0.116, 0.0928, 0.0058, 0.0464, 0.053, 0.0174),
            "eu-central-1": (0.119, 0.0952, 0.006, 0.0476, 0.054, 0.018),
            "eu-north-1": (0.1045, 0.0836, 0.0052, 0.0418, 0.0475, 0.01596),
            "ap-south-1": (0.114, 0.0912, 0.0057, 0.0456, 0.051, 0.0174),
            "ap-northeast-1": (0.12, 0.096, 0.006, 0.048, 0.054, 0.018),
            "ap-southeast-1": (0.12, 0.096, 0.006, 0.048, 0.054, 0.018),
            "ap-southeast-2": (0.12, 0.096, 0.006, 0.048, 0.054, 0.018),
            "sa-east-1": (0.19, 0.152, 0.0095, 0.076, 0.086, 0.0288),
        }.items()
    }
)


def monthly_usd(
    prices: EbsPrices | None,
    volume_type: str,
    size_gib: float,
    *,
    paid_iops: float = 0.0,
    paid_mib_s: float = 0.0,
) -> float | None:
    """The price of a volume for a month, or None without prices, or for a type that is not in the table.

    ``paid_iops`` and ``paid_mib_s`` are what gp3 is given beyond what is free.
    """
    per_gib = prices.gib.get(volume_type) if prices else None
    if prices is None or per_gib is None:
        return None
    return per_gib * size_gib + prices.gp3_iops * paid_iops + prices.gp3_mib_s * paid_mib_s
