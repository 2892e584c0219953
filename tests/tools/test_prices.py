"""The tables of prices are written anew from AWS's price list, and nothing else changes."""

import json
from pathlib import Path
from typing import Any

import pytest

from burstwatch.fixes.prices import TABLES
from tools import prices


def offer(service: str, *products: tuple[dict[str, str], float]) -> dict[str, Any]:
    """An offer in the form of https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/reading-service-price-list-files.html."""
    return {
        "formatVersion": "v1.0",
        "offerCode": service,
        "publicationDate": "2027-03-04T00:00:00Z",
        "products": {
            f"SKU{n}": {"sku": f"SKU{n}", "attributes": {"regionCode": "eu-west-3", **attributes}}
            for n, (attributes, _) in enumerate(products)
        },
        "terms": {
            "OnDemand": {
                f"SKU{n}": {
                    f"SKU{n}.JRTCKXETXF": {
                        "priceDimensions": {
                            f"SKU{n}.JRTCKXETXF.6YS6EN2CT7": {
                                "unit": "GB-Mo",
                                "beginRange": "0",
                                "endRange": "Inf",
                                "pricePerUnit": {"USD": f"{usd:.10f}"},
                            }
                        }
                    }
                }
                for n, (_, usd) in enumerate(products)
            }
        },
    }


def volume(volume_type: str, usage: str) -> dict[str, str]:
    return {"volumeApiName": volume_type, "usagetype": f"EUW3-EBS:{usage}"}


LINUX = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
}
STORAGE = {"deploymentOption": "Single-AZ", "databaseEngine": "Any"}
OFFERS = {
    "ec2.json": offer(
        "AmazonEC2",
        (volume("gp3", "VolumeUsage.gp3"), 0.0928),
        (volume("gp3", "VolumeP-IOPS.gp3"), 0.0058),
        (volume("gp3", "VolumeP-Throughput.gp3"), 47.5136),
        (volume("io2", "VolumeP-IOPS.io2.tier2"), 0.0532),
        ({"instanceType": "t3.large", **LINUX}, 0.0944),
        ({"instanceType": "t3.large", **LINUX, "tenancy": "Dedicated"}, 9.0),
        ({"instanceType": "m7i.large", **LINUX}, 0.112),
        ({"usagetype": "EUW3-CPUCredits:t3", "operatingSystem": "Linux"}, 0.05),
    ),
    "rds.json": offer("AmazonRDS", ({"usagetype": "EUW3-RDS:GP3-Storage", **STORAGE}, 0.133)),
    "efs.json": offer("AmazonEFS", ({"usagetype": "EUW3-ProvisionedTP-MiBpsHrs"}, 6.6)),
}


def test_each_price_of_the_offers_has_its_place_and_the_rest_stays() -> None:
    tables = prices.updated(TABLES, OFFERS)
    new = {table: entry["prices"].get("eu-west-3", {}) for table, entry in tables.items()}
    assert new == {
        "ebs": {"gp3": 0.0928, "gp3_iops": 0.0058, "gp3_mib_s": 0.0464, "io2_iops_over_32000": 0.0532},
        "ec2_linux": {"t3.large": 0.0944},
        "ec2_surplus": {"t3": 0.05},
        "rds_surplus": {},
        "rds_storage": {"gp3": 0.133},
        "efs": {"provisioned_mb_s": 6.6},
    }  # fmt: skip
    assert tables["ebs"]["read"] == "2027-03"
    assert tables["rds_surplus"] == TABLES["rds_surplus"]
    assert tables["ebs"]["prices"]["us-east-1"] == TABLES["ebs"]["prices"]["us-east-1"]


def test_the_file_is_written_anew_and_says_how_much_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "prices.json"
    target.write_text(json.dumps(TABLES))
    monkeypatch.setattr(prices, "TARGET", target)
    path = tmp_path / "rds.json"
    path.write_text(json.dumps(OFFERS["rds.json"]))
    assert prices.main([str(path)]) == 0
    assert "1 of them new or changed" in capsys.readouterr().out
    assert json.loads(target.read_text())["rds_storage"]["prices"]["eu-west-3"] == {"gp3": 0.133}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"offerCode": "AmazonS3"}', "the offer is of AmazonS3; allowed: AmazonEC2"),
        ("[]", "is no file of AWS's price list"),
        ("{", "Expecting"),
        (json.dumps(offer("AmazonEC2", ({"instanceType": "m5.large"}, 1.0))), "has no price that"),
    ],
)
def test_what_is_no_price_list_changes_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    named: str,
) -> None:
    target = tmp_path / "prices.json"
    target.write_text(json.dumps(TABLES))
    monkeypatch.setattr(prices, "TARGET", target)
    path = tmp_path / "offer.json"
    path.write_text(text)
    assert prices.main([str(path)]) == 2
    assert named in capsys.readouterr().err
    assert json.loads(target.read_text()) == TABLES
