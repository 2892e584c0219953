"""Write ``exporter/burstwatch_exporter/instance_types.csv`` anew: what EC2 says of every type.

    python -m tools.instance_types

moto keeps a recording of ``DescribeInstanceTypes``. It is read out of moto's wheel, and nothing of moto is installed or run.
"""

import csv
import gzip
import json
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from burstwatch_exporter.instance_types import COLUMNS, TABLE

ROOT = Path(__file__).parents[1]
PIP = ROOT / ".cache" / "uv" / "bin" / "pip"
VERSION = "5.2.5"
#: The lock of the download: another file under the same version is refused.
SHA256 = "eef62cdcf3bfe73e0863743511ba042dfaba04ba3d5ecdcb896a196c693ad528"
RECORDING = "moto/ec2/resources/instance_types.json.gz"
MBPS_PER_GBPS = 1_000


def row_of(name: str, described: Mapping[str, Any]) -> dict[str, object]:
    """One line of the table. What AWS does not say is empty."""
    ebs = described["EbsInfo"].get("EbsOptimizedInfo", {})
    cards = described["NetworkInfo"]["NetworkCards"]
    return {
        "type": name,
        "ebs_max_mbps": ebs.get("MaximumBandwidthInMbps", ""),
        "ebs_max_iops": ebs.get("MaximumIops", ""),
        "network_baseline_mbps": _sum(cards, "BaselineBandwidthInGbps"),
        "network_peak_mbps": _sum(cards, "PeakBandwidthInGbps"),
    }


def _sum(cards: list[dict[str, Any]], member: str) -> int:
    """Of all network cards together, in Mbps."""
    return sum(round(card[member] * MBPS_PER_GBPS) for card in cards)


def recording() -> tuple[str, Mapping[str, Any]]:
    """The day of the recording's release, and the types that it has."""
    with TemporaryDirectory() as folder:
        pin = Path(folder) / "pin.txt"
        pin.write_text(f"moto=={VERSION} --hash=sha256:{SHA256}\n", encoding="utf-8")
        subprocess.run(  # noqa: S603 - our own arguments
            [PIP, "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes",
             "--only-binary=:all:", "--dest", folder, "--requirement", pin],
            check=True,
        )  # fmt: skip
        (path,) = Path(folder).glob("moto-*.whl")
        with zipfile.ZipFile(path) as wheel:
            year, month, day, *_ = wheel.getinfo(RECORDING).date_time
            types: Mapping[str, Any] = json.loads(gzip.decompress(wheel.read(RECORDING)))
    return f"{year}-{month:02}-{day:02}", types


def main() -> None:
    """Write the table."""
    date, types = recording()
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# DescribeInstanceTypes, as moto {VERSION} of {date} has recorded it\n")
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row_of(name, types[name]) for name in sorted(types))
    print(f"{TABLE.relative_to(ROOT)}: {len(types)} types")


if __name__ == "__main__":
    main()
