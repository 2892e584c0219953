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
    """An md array: its level, and how many devices it is made of."""

    name: str
    level: str
    members: int

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
    level, disks = (
        (folder / "md" / name).read_text(encoding="ascii", errors="replace").strip()
        for name in ("level", "raid_disks")
    )
    if not disks.isdecimal() or int(disks) <= 0:
        msg = f"{folder.name} has raid_disks {disks!r}, expected is a number of them"
        raise StripeError(msg)
    return Stripe(name=folder.name, level=level, members=int(disks))
