"""Where the files of the kernel and of udev are: a container has those of its host elsewhere."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Roots:
    """The folders of the kernel's and udev's files."""

    procfs: Path
    sysfs: Path
    udev: Path
