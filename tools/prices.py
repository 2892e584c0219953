"""Write ``burstwatch/fixes/prices.json`` anew from files of AWS's Price List, without a network.

    python -m tools.prices FILE...

A file is an offer of one service, for one region or all:
``https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current/us-east-1/index.json``, and the same of
AmazonRDS and AmazonEFS. What no file names stays as it is.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from burstwatch.fixes import prices as table_module

TARGET = Path(table_module.__file__).with_suffix(".json")
GIB_PER_TIB = 1024
#: A product's attributes, as AWS's price list has them.
Attributes = Mapping[str, str]
#: Table, region, name and price of one product, or None for one that is not in the tables.
Row = tuple[str, str, str, float]

EC2_FAMILY = re.compile(r"(t\d+\w*|c5a?|c6g|m5a?|m6g)\.\w+")


def ebs_row(attributes: Attributes, usd: float) -> tuple[str, float] | None:
    """Name and price of a product of EBS."""
    volume_type = attributes.get("volumeApiName", "")
    usage = attributes.get("usagetype", "").partition("EBS:")[2].partition(".")[0]
    if volume_type not in {"gp2", "gp3", "st1", "sc1", "io1", "io2"}:
        return None
    if usage == "VolumeUsage":
        return volume_type, usd
    if usage == "VolumeP-IOPS" and volume_type != "io2":
        return f"{volume_type}_iops", usd
    if usage == "VolumeP-IOPS":
        tier = attributes.get("usagetype", "").rpartition(".")[2]
        return {
            "io2": ("io2_iops", usd),
            "tier2": ("io2_iops_over_32000", usd),
            "tier3": ("io2_iops_over_64000", usd),
        }.get(tier)
    if usage == "VolumeP-Throughput" and volume_type == "gp3":
        return "gp3_mib_s", usd / GIB_PER_TIB  # it is listed by GiB/s
    return None


def ec2_row(attributes: Attributes, usd: float) -> tuple[str, float] | None:
    """Type and price an hour of an instance of these families with Linux, on demand and on a shared host."""
    wanted = {
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
    }
    instance_type = attributes.get("instanceType", "")
    is_wanted = all(attributes.get(name) == value for name, value in wanted.items())
    return (instance_type, usd) if is_wanted and EC2_FAMILY.fullmatch(instance_type) else None


def ec2_surplus_row(attributes: Attributes, usd: float) -> tuple[str, float] | None:
    """Family and price of a vCPU-hour of surplus credits with Linux."""
    found = re.search(r"CPUCredits:(t\w+)$", attributes.get("usagetype", ""))
    is_linux = attributes.get("operatingSystem", "Linux") == "Linux"
    return (found[1], usd) if found and is_linux else None


def rds_storage_row(attributes: Attributes, usd: float) -> tuple[str, float] | None:
    """Name and price of gp2 or gp3 storage of a database in one zone."""
    if attributes.get("deploymentOption") != "Single-AZ" or attributes.get("databaseEngine") not in {"Any", "PostgreSQL"}:  # fmt: skip
        return None
    usage = attributes.get("usagetype", "").partition("RDS:")[2]
    return {
        "GP2-Storage": ("gp2", usd),
        "GP3-Storage": ("gp3", usd),
        "GP3-PIOPS": ("gp3_iops", usd),
        "GP3-Throughput": ("gp3_mib_s", usd),
    }.get(usage)


def efs_row(attributes: Attributes, usd: float) -> tuple[str, float] | None:
    """Name and price of throughput of EFS."""
    names = {
        "ProvisionedTP": "provisioned_mb_s",
        "ETDataAccess-Writes": "elastic_written_gb",
        "ETDataAccess-Reads": "elastic_read_gb",
    }
    usage = attributes.get("usagetype", "")
    name = next((name for part, name in names.items() if part in usage), None)
    return (name, usd) if name else None


Reader = Callable[[Attributes, float], tuple[str, float] | None]
#: The tables of each service's offer, with what reads a product.
READERS: Mapping[str, Mapping[str, Reader]] = {
    "AmazonEC2": {"ebs": ebs_row, "ec2_linux": ec2_row, "ec2_surplus": ec2_surplus_row},
    "AmazonRDS": {"rds_storage": rds_storage_row},
    "AmazonEFS": {"efs": efs_row},
}


def rows_of(offer: Mapping[str, Any]) -> Iterator[Row]:
    """The prices of an offer that the tables have.

    Raises:
        ValueError: for an offer of another service.
    """
    service = str(offer.get("offerCode"))
    if service not in READERS:
        msg = f"the offer is of {service}; allowed: {', '.join(READERS)}"
        raise ValueError(msg)
    for sku, product in offer["products"].items():
        attributes = product["attributes"]
        region, usd = attributes.get("regionCode"), on_demand(offer, sku)
        if not region or not usd:
            continue
        for table, read in READERS[service].items():
            row = read(attributes, usd)
            if row is not None:
                yield table, region, *row


def on_demand(offer: Mapping[str, Any], sku: str) -> float | None:
    """The price of a product on demand, of its first tier; None without one."""
    for term in offer["terms"].get("OnDemand", {}).get(sku, {}).values():
        for dimension in term["priceDimensions"].values():
            if dimension.get("beginRange", "0") == "0" and "USD" in dimension["pricePerUnit"]:
                return float(dimension["pricePerUnit"]["USD"])
    return None


def updated(tables: Mapping[str, Any], offers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The tables with the prices of offers, by the files' names. A table that changes has the date of its offer.

    Raises:
        ValueError: naming the file that is no offer, or has no price that is in the tables.
    """
    result: dict[str, Any] = json.loads(json.dumps(tables))
    for name, offer in offers.items():
        try:
            rows = list(rows_of(offer))
            read = offer["publicationDate"][:7]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            msg = f"{name} is no file of AWS's price list: {error}"
            raise ValueError(msg) from None
        if not rows:
            msg = f"{name} has no price that the tables have"
            raise ValueError(msg)
        for table, region, key, usd in rows:
            result[table]["prices"].setdefault(region, {})[key] = float(f"{usd:.6g}")
            result[table] |= {"read": read, "note": "from AWS's price list"}
    return result


def main(files: list[str]) -> int:
    """Write the tables anew, and say how many prices are other than before."""
    if not files:
        print(__doc__)
        return 2
    try:
        offers = {name: json.loads(Path(name).read_text(encoding="utf-8")) for name in files}
        tables = json.loads(TARGET.read_text(encoding="utf-8"))
        new = updated(tables, offers)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    before, after = _flat(tables), _flat(new)
    changed = sum(before.get(key) != usd for key, usd in after.items())
    TARGET.write_text(json.dumps(new, indent=2) + "\n", encoding="utf-8")
    print(f"{len(after)} prices in {TARGET}, {changed} of them new or changed")
    return 0


def _flat(tables: Mapping[str, Any]) -> dict[tuple[str, str, str], float]:
    return {
        (table, region, name): usd
        for table, entry in tables.items()
        for region, prices in entry["prices"].items()
        for name, usd in prices.items()
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
