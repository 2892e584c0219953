"""Whether a device is a stripe over several volumes, from what md shows in ``/sys``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: A device on a device on a device: more would be a circle.
DEEPEST = 16


class StripeError(ValueError):
    """What md shows and no md would."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stripe:
    """An md array: its level, how many devices it is made of, and how much goes to one at a time."""

    name: str
    level: str
    members: int
    chunk_kib: float

    @property
    def is_even(self) -> bool:
        """Whether each member gets an equal share of what is asked."""
        return self.level == "raid0"


def read_stripe(sysfs: Path, name: str) -> Stripe | None:
    """The array that ``name`` is or lies on, or None.

    A partition, an encrypted device or a logical volume on one device lies on that.

    Raises:
        StripeError: if the kernel's files say what cannot be.
    """
    block = sysfs / "block"
    for _ in range(DEEPEST):
        folder = block / name
        if not folder.is_dir():
            parent = next(
                (one.parent.name for one in block.glob(f"*/{name}") if one.is_dir()), None
            )
            if parent is None:
                return None
            name = parent
            continue
        if (folder / "md" / "level").exists():
            return _array(folder)
        try:
            under = [one.name for one in (folder / "slaves").iterdir()]
        except OSError:
            return None
        if len(under) != 1:
            return None
        name = under[0]
    return None


def _array(folder: Path) -> Stripe:
    texts = {
        name: (folder / "md" / name).read_text(encoding="ascii", errors="replace").strip()
        for name in ("level", "raid_disks", "chunk_size")
    }
    try:
        members, chunk = int(texts["raid_disks"]), int(texts["chunk_size"])
    except ValueError:
        members = chunk = -1
    if members <= 0 or chunk < 0:
        msg = f"{folder.name} has raid_disks {texts['raid_disks']!r} and chunk_size {texts['chunk_size']!r}"
        raise StripeError(msg)
    return Stripe(name=folder.name, level=texts["level"], members=members, chunk_kib=chunk / 1024)
