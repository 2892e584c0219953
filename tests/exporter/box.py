"""A host with two EBS volumes as files that a test writes, and a clock that it moves."""

from dataclasses import dataclass, field
from pathlib import Path

from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.serve import make_exporter
from burstwatch_exporter.settings import parse_options
from tests.exporter.pages import Hands, flags, plant
from tests.exporter.scraped import value

VOLUMES = {"nvme1n1": "vol-0aaaaaaaaaaaaaaa1", "nvme2n1": "vol-0bbbbbbbbbbbbbbb2"}
INSTANCE_STORE = {"device/model": "Amazon EC2 NVMe Instance Storage\n", "device/serial": "AWS1\n"}
EVERY_GP2 = 'volumes: {"*": {type: gp2}}\n'


@dataclass
class Box:
    """A host with two volumes of 100 GiB, gp2, as files."""

    root: Path
    config: str = EVERY_GP2
    options: dict[str, str] = field(default_factory=dict)
    hands: Hands = field(default_factory=Hands)
    ops: dict[str, int] = field(default_factory=lambda: dict.fromkeys(VOLUMES, 0))
    #: The numbers of disks that are not numbered as their names are.
    devnos: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.put("proc/1/mountinfo", "")
        self.put("proc/self/mountinfo", "")
        self.put("proc/sys/kernel/random/boot_id", "boot-1\n")
        for number, name in enumerate(VOLUMES, start=1):
            self.disk(name, VOLUMES[name], sequence=number)
        self.counts()

    def devno(self, name: str) -> str:
        return self.devnos.get(name, f"259:{name[4]}")

    def put(self, name: str, content: str) -> None:
        plant({name: content}, self.root)

    def disk(self, name: str, volume_id: str, *, sequence: int, **attributes: str) -> None:
        serial = volume_id.replace("-", "")
        devno = self.devno(name)
        files = {
            "size": f"{100 * 2**21}\n", "diskseq": f"{sequence}\n", "queue/max_sectors_kb": "256\n",
            "queue/iostats": "1\n", "device/model": "Amazon Elastic Block Store\n", "device/serial": f"{serial}\n",
            "dev": f"{devno}\n",
        } | attributes  # fmt: skip
        plant({f"sys/block/{name}/{file}": text for file, text in files.items()}, self.root)
        appeared = int((self.hands.boot - 80_000) * 1e6)
        self.put(
            f"udev/b{devno}",
            f"I:{appeared}\nS:disk/by-diskseq/{sequence}\nE:ID_SERIAL_SHORT={serial}\n",
        )

    def counts(self, *extra: str, hidden: tuple[str, ...] = (), in_flight: int = 0) -> None:
        lines = [
            f"{self.devno(name).replace(':', ' ')} {name} {ops} 0 {ops * 32} 0 0 0 0 0 {in_flight} 0 0\n"
            for name, ops in self.ops.items()
            if name not in hidden
        ]
        self.put("proc/diskstats", "".join([*lines, *extra]))

    def starts(self) -> Exporter:
        (self.root / "config.yml").write_text(self.config)
        options = flags(self.root, **{"config.file": str(self.root / "config.yml")}, **self.options)
        exporter = make_exporter(parse_options(options, {}), self.hands.clock)
        exporter.sample()
        return exporter

    def bounds(self, exporter: Exporter, volume: str = VOLUMES["nvme1n1"]) -> tuple[float, float]:
        page = exporter.scrape()[1].decode()
        labels = {"volume_id": volume, "bucket": "io"}
        low, high = (
            value(page, "burstwatch_credit_balance_ratio", bound=bound, **labels)
            for bound in ("low", "high")
        )
        assert low is not None
        assert high is not None
        return low, high

    def passes(self, exporter: Exporter, seconds: float, *, every_s: float = 10.0) -> None:
        for _ in range(round(seconds / every_s)):
            self.hands.move(every_s)
            exporter.sample()


def told(exporter: Exporter, source: str) -> str:
    return "; ".join(exporter.sources.outcomes[source].problems)
