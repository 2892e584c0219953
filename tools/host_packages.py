"""Builds the exporter's packages for hosts, a deb and an rpm for each architecture, by nfpm.

A package has the wheels of everything for each Python that it installs with, so that nothing is fetched there.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from tools.archives import PROGRAM

ROOT = Path(__file__).parents[1]
PIP = ROOT / ".cache" / "uv" / "bin" / "pip"
NFPM = Path(sys.executable).with_name("nfpm")
#: The versions of Python that Debian 12 and 13, Ubuntu 24.04 and 26.04, Amazon Linux 2023, Fedora and RHEL 8 to 10 have.
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
#: What Linux calls each architecture, by the name that Debian and nfpm have for it.
MACHINES: Mapping[str, str] = MappingProxyType({"amd64": "x86_64", "arm64": "aarch64"})
GLIBCS = ("manylinux2014", "manylinux_2_28")
HOME = Path("usr/lib/burstwatch-exporter")
PLACES: Mapping[str, str] = MappingProxyType(
    {".default": "etc/default", ".sysusers": "usr/lib/sysusers.d"}
)
UNITS = "usr/lib/systemd/system"


def build_host_packages(dist: Path, work: Path, *, version: str, at: int) -> None:
    """Write a deb and an rpm for each architecture into ``dist``, with the wheel that is there. Files are of the time ``at``."""
    for arch, machine in MACHINES.items():
        tree = work / "packages" / arch
        _plant(tree, dist, machine=machine, version=version)
        for path in (tree, *tree.rglob("*")):
            is_program = path.is_dir() or path.name == "make-environment"
            path.chmod(PROGRAM if is_program else 0o644)
            os.utime(path, (at, at))
        names = {
            "deb": f"burstwatch-exporter_{version}_{arch}.deb",
            "rpm": f"burstwatch-exporter-{version}-1.{machine}.rpm",
        }
        for packager, name in names.items():
            subprocess.run(  # noqa: S603 - our own arguments
                [NFPM, "package", "--config", "exporter/packages/nfpm.yml", "--packager", packager, "--target", dist / name],
                check=True, cwd=ROOT, stdout=subprocess.DEVNULL,
                env={**os.environ, "ARCH": arch, "VERSION": version, "TREE": str(tree), "SOURCE_DATE_EPOCH": str(at)},
            )  # fmt: skip


def _plant(tree: Path, dist: Path, *, machine: str, version: str) -> None:
    """Put what a package has into a tree: wheels, what makes the environment of them, units and their settings."""
    requirements = ROOT / "exporter" / "requirements.txt"
    wheels = tree / HOME / "wheels"
    wheels.mkdir(parents=True)
    platforms = [part for glibc in GLIBCS for part in ("--platform", f"{glibc}_{machine}")]
    for python in PYTHONS:
        subprocess.run(  # noqa: S603 - our own arguments
            [PIP, "download", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps",
             "--only-binary=:all:", "--implementation=cp", "--python-version", python, *platforms,
             "--dest", wheels, "--requirement", requirements],
            check=True, cwd=ROOT,
        )  # fmt: skip
    (wheel,) = dist.glob("burstwatch-*.whl")
    shutil.copy(wheel, wheels)
    text = requirements.read_text(encoding="utf-8")
    pins = re.findall(r"^[a-z0-9-]+==[^ \\]+", text, re.MULTILINE)
    names = "\n".join([*pins, f"burstwatch=={version}", ""])
    (tree / HOME / "requirements.txt").write_text(names, encoding="utf-8")
    shutil.copy(ROOT / "exporter" / "packages" / "make-environment", tree / HOME)
    for path in sorted((ROOT / "exporter" / "systemd").iterdir()):
        folder = tree / PLACES.get(path.suffix, UNITS)
        folder.mkdir(parents=True, exist_ok=True)
        name = {".default": path.stem, ".sysusers": f"{path.stem}.conf"}.get(path.suffix, path.name)
        shutil.copy(path, folder / name)
