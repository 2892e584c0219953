"""Reads AWS's list prices by region: on demand, without tax or discount, in USD.

They stand in ``prices.json`` by region, or once for all of AWS's commercial regions, which ``python -m tools.prices`` writes anew from AWS's price list. A region or a
name that is not there has no price here: nobody is told the price of another one.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from burstwatch.sources import Figure, Source

TABLES: Mapping[str, Any] = json.loads(
    Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
)

#: In place of a region: a price that AWS has once for all regions, of which those of its other partitions are none.
EVERYWHERE = "*"
APART = ("cn-", "us-gov-", "us-iso", "eu-isoe-", "eusc-")
#: Hours of a month, as AWS counts them where it prices by the hour.
HOURS_A_MONTH = 730.0


def price(table: str, region: str, name: str) -> Figure | None:
    """One price of a table, with its unit and its source; None where it is not known."""
    entry = TABLES[table]
    by_region = entry["prices"]
    everywhere = {} if region.startswith(APART) else by_region.get(EVERYWHERE, {})
    value = by_region.get(region, {}).get(name, everywhere.get(name))
    if value is None:
        return None
    return Figure(value=value, unit=entry["unit"], source=source_of(table))


def source_of(table: str) -> Source:
    """The page that a table is from, and when it was read."""
    entry = TABLES[table]
    return Source(url=entry["url"], read=entry["read"], note=entry["note"])


def regions_of(table: str) -> tuple[str, ...]:
    """The regions of a table."""
    return tuple(TABLES[table]["prices"])
