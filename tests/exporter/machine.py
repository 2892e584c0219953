"""A host that is switched off and on, and whose exporter is restarted."""

from dataclasses import dataclass, field
from pathlib import Path

from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.settings import parse_options
from tests.exporter.pages import Hands, flags, plant

CONFIG = """
devices:
  sdb: {volume_id: vol-0123456789abcdef0, bucket: {capacity: 100000, refill: 100, burst: 1000}}
"""


BOOT_A, BOOT_B = "aaaa\n", "bbbb\n"


@dataclass
class Machine:
    """A host with one disk, in a folder."""

    root: Path
    hands: Hands = field(default_factory=Hands)
    ops: int = 0

    def __post_init__(self) -> None:
        plant(
            {
                "config.yml": CONFIG,
                "proc/1/mountinfo": "",
                "proc/sys/kernel/random/boot_id": BOOT_A,
                "sys/block/sdb/size": f"{2**31}\n",
                "sys/block/sdb/diskseq": "5\n",
                "sys/block/sdb/queue/max_sectors_kb": "256\n",
                "udev/b8:16": f"I:{int((self.hands.boot - 1_000) * 1e6)}\nS:disk/by-diskseq/5\n",
            },
            self.root,
        )
        self.does(0)

    def does(self, ops: int, *, seconds: float = 0.0) -> None:
        """So many reads of 16 KiB, in so long."""
        self.ops += ops
        self.hands.move(seconds)
        plant(
            {"proc/diskstats": f"8 16 sdb {self.ops} 0 {self.ops * 32} 0 0 0 0 0 0 0 0\n"},
            self.root,
        )

    def reboots(self, *, down_s: float) -> None:
        self.ops = 0
        self.hands.wall += down_s
        self.hands.boot = 60.0
        plant(
            {
                "proc/sys/kernel/random/boot_id": BOOT_B,
                "udev/b8:16": "I:50000000\nS:disk/by-diskseq/5\n",
            },
            self.root,
        )
        self.does(0)

    def starts(self) -> Exporter:
        return Exporter(
            parse_options(
                flags(
                    self.root,
                    **{
                        "config.file": str(self.root / "config.yml"),
                        "state.file": str(self.root / "state.json"),
                        "state.period": "60",
                    },
                ),
                {},
            ),
            self.hands.clock,
        )
