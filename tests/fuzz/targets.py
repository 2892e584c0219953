"""One function for each parser: it takes any bytes, and raises only where the parser is wrong.

What a parser refuses it refuses with a ``ValueError``, as it says in its docstring. Anything else is a defect, and so is a
result that no caller expects: a number that is not finite, say.
"""

import atexit
import io
import json
import math
import shutil
import struct
import tempfile
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from burstwatch.aws.client.session import Deadline
from burstwatch.aws.look.reading import Reader, ask
from burstwatch.aws.watched.units import parse_unit
from burstwatch.backtest.replay import volume
from burstwatch.backtest.workloads import read_workload
from burstwatch.cli.main import Terminal, build_parser
from burstwatch.cli.recorded import read_recorded
from burstwatch.config import SETTINGS, Config, parse_config
from burstwatch.kinds import find_kinds
from burstwatch.owner_tags import LEAD_TAG, MAINTENANCE_TAG, WATCH_TAG, quiet_until, read_owner_tags
from burstwatch.polling.queries import Allowance
from burstwatch.polling.sampling import Task
from burstwatch.polling.schedule import Schedule
from burstwatch.recordings.reading import read_text
from burstwatch.web.config import read_web_config
from burstwatch_exporter.clock import Clock
from burstwatch_exporter.config_file import read_config_file
from burstwatch_exporter.credits.state import read_state
from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.kernel.diskstats import parse_diskstats
from burstwatch_exporter.kernel.ebs_stats import MAGIC, PAGE_BYTES, parse_stats
from burstwatch_exporter.kernel.mounts import read_mounts
from burstwatch_exporter.measure import fio
from burstwatch_exporter.measure.outputs import Outcome, parse_dbench, parse_dd
from burstwatch_exporter.measure.record import read_result
from burstwatch_exporter.settings import parse_options

NOW = 1_790_000_100.0


@cache
def folder() -> Path:
    """A folder in memory, one for each process."""
    memory = Path("/dev/shm")  # noqa: S108 - where there is one, files cost nothing
    made = Path(
        tempfile.mkdtemp(prefix="burstwatch-fuzz-", dir=memory if memory.is_dir() else None)
    )
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def as_file(data: bytes, name: str) -> Path:
    """The bytes as a file."""
    path = folder() / name
    path.write_bytes(data)
    return path


def text_of(data: bytes) -> str:
    """As programs' output is read."""
    return data.decode("utf-8", "replace")


class Choices:
    """Values that the bytes choose; zeros when they are used up."""

    ODD = (0.0, -0.0, 1.0, 100.0, -1.0, 1e308, 1e-308, math.inf, -math.inf, math.nan, 3e9, 2.0**63)

    def __init__(self, data: bytes) -> None:
        """``data`` is used from its beginning."""
        self._data, self._at = data, 0

    def byte(self) -> int:
        """One of 256."""
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def number(self) -> float:
        """Any number, the odd ones often."""
        kind = self.byte()
        if kind < len(self.ODD):
            return self.ODD[kind]
        if kind < 128:
            return float(self.byte() * 256 + self.byte())
        found: float = struct.unpack("<d", bytes(self.byte() for _ in range(8)))[0]
        return found

    @property
    def is_used_up(self) -> bool:
        """Whether only zeros are left."""
        return self._at >= len(self._data)


def config(data: bytes) -> None:
    """The exporter's configuration."""
    with suppress(ValueError):
        read_config_file(as_file(data, "config.yml"))


def web_config(data: bytes) -> None:
    """The server's configuration."""
    with suppress(ValueError):
        read_web_config(as_file(data, "web.yml"))


def diskstats(data: bytes) -> None:
    """The kernel's counters."""
    found = parse_diskstats(text_of(data))
    assert all(one.read_ops >= 0 for one in found.counters.values())


def mounts(data: bytes) -> None:
    """The kernel's mounts."""
    place = folder() / "1"
    place.mkdir(exist_ok=True)
    (place / "mountinfo").write_bytes(data)
    for mount in read_mounts(folder())[0]:
        mount.mountpoint.encode()


#: The files of a host with one disk, a partition of it and an array on it.
HOST = (
    "proc/diskstats", "proc/1/mountinfo", "proc/sys/kernel/random/boot_id", "config.yml", "state.json", "udev/b259:0",
    "sys/block/nvme0n1/size", "sys/block/nvme0n1/diskseq", "sys/block/nvme0n1/device/serial", "sys/block/nvme0n1/device/model",
    "sys/block/nvme0n1/queue/max_sectors_kb", "sys/block/nvme0n1/nvme0n1p1/partition", "sys/block/md0/md/level",
    "sys/block/md0/md/raid_disks", "sys/block/md0/size", "sys/block/md0/slaves/nvme0n1",
)  # fmt: skip
SANE: dict[str, bytes] = {
    "proc/diskstats": b"259 0 nvme0n1 1 0 8 1 1 0 8 1 0 1 1\n9 0 md0 1 0 8 1 1 0 8 1 0 1 1\n",
    "config.yml": b"volumes: {vol-0aaaaaaaaaaaaaaa1: {type: gp2}}\n",
    "sys/block/nvme0n1/size": b"209715200\n",
    "sys/block/nvme0n1/device/serial": b"vol0aaaaaaaaaaaaaaa1\n",
    "sys/block/nvme0n1/device/model": b"Amazon Elastic Block Store\n",
    "sys/block/nvme0n1/queue/max_sectors_kb": b"256\n",
}


def host(data: bytes) -> None:
    """A whole host: each part of the bytes, up to a zero, is one of its files; empty is as usual."""
    root = folder() / "host"
    for name, content in zip(HOST, [*data.split(b"\0"), *[b""] * len(HOST)], strict=False):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content or SANE.get(name, b""))
    flags = {
        "path.procfs": "proc", "path.sysfs": "sys", "path.udev.data": "udev", "config.file": "config.yml",
        "state.file": "state.json",
    }  # fmt: skip
    now = NOW
    clock = Clock(boot=lambda: now, awake=lambda: now, wall=lambda: now)
    try:
        options = parse_options({name: f"{root}/{path}" for name, path in flags.items()}, {})
        exporter = Exporter(options, clock)
    except ValueError:
        return
    exporter.sample()
    now += 60
    exporter.scrape()
    exporter.save()


def nvme(data: bytes) -> None:
    """A log page; what is short is filled up, so that more than its length is tried."""
    with suppress(ValueError):
        parse_stats(data)
    page = bytearray(PAGE_BYTES)
    page[: len(data)] = data[:PAGE_BYTES]
    struct.pack_into("<I", page, 0, MAGIC)
    with suppress(ValueError):
        found = parse_stats(bytes(page))
        assert found.read_latencies[-1][1] >= 0


def _check(found: Outcome) -> None:
    for way in (found.read, found.write):
        assert way is None or (math.isfinite(way.iops) and math.isfinite(way.mib_s))
    assert found.files_mib_s is None or math.isfinite(found.files_mib_s)
    assert all(math.isfinite(at) and math.isfinite(mean) for at, mean in found.latencies)


def fio_output(data: bytes) -> None:
    """The result of fio, and its log."""
    text = text_of(data)
    with suppress(ValueError):
        _check(fio.parse_output(text))
    for at, mean in fio.parse_latency_log(text):
        assert math.isfinite(at)
        assert math.isfinite(mean)


def dbench_output(data: bytes) -> None:
    """The output of dbench and of dd."""
    text = text_of(data)
    with suppress(ValueError):
        _check(parse_dbench(text))
    with suppress(ValueError):
        _check(parse_dd(text, block_bytes=512, seconds=60.0))


def state(data: bytes) -> None:
    """The exporter's state."""
    with suppress(ValueError):
        read_state(as_file(data, "state.json"))


def record(data: bytes) -> None:
    """The result of a measurement."""
    with suppress(ValueError):
        read_result(as_file(data, "record.json"))


@cache
def replayed(kind: str, spec: str) -> Namespace:
    """The arguments of a replay of standard input."""
    return build_parser().parse_args(["explain", "-", "--kind", kind, "--spec", spec])


def series(data: bytes) -> None:
    """A recording of any program, of two kinds, and a workload."""
    out = io.StringIO()
    terminal = Terminal(
        stdin=lambda most: data[:most], stdout=out, stderr=out, env={}, clock=lambda: NOW
    )
    for kind, spec in (
        ("ebs_volume", "type=gp2,size_gib=100"),
        ("ec2_instance_cpu", "type=t3.nano"),
    ):
        with suppress(ValueError):
            seen = read_recorded("-", replayed(kind, spec), command="explain", terminal=terminal)
            times = [sample.t_s for sample in seen.samples]
            assert times == sorted(set(times))
            assert all(0 <= point.ratio <= 1 for point in seen.points[0])
    with suppress(ValueError):
        assert all(math.isfinite(rate) for rate in read_workload(as_file(data, "load.csv")).rates)


def readers(data: bytes) -> None:
    """A recording of any program, as far as its series: finite times, and values that a metric can have."""
    with suppress(ValueError):
        contents = read_text(text_of(data), name="file")
        for series_of_file in contents.series:
            for at, value in series_of_file.points:
                assert math.isfinite(at)
                assert 0 <= value < math.inf


#: What opens something in JSON, YAML and tables, closes it, or stands inside.
PIECES = (
    "[", "]", "{", "}", "- ", "? ", ": ", ",", '"', "'", "\n", "  ", "|\n", "&a ", "*a ", "!!x ", "<<: ", "a", "1", "50", "-", ";", "\t", "#",
    '{"a":', "{a: ", "[{", '"Timestamps":', "Values:\n", "MetricDataResults:\n- ", "time,BurstBalance\n", "1790000000",
)  # fmt: skip


def nested(data: bytes) -> None:
    """A recording and a configuration of parts that are repeated thousands of times: deep, wide or long."""
    choices = Choices(data)
    text = ""
    while not choices.is_used_up and len(text) < 1 << 20:
        piece, often = PIECES[choices.byte() % len(PIECES)], choices.byte()
        text += piece * (often if often < 128 else 1 << (often % 15))
    with suppress(ValueError):
        read_text(text, name="file")
    with suppress(ValueError):
        read_config_file(as_file(text.encode(), "nested.yml"))


def tags(data: bytes) -> None:
    """The tags of a resource."""
    values = text_of(data).split("\0")
    found = read_owner_tags(dict(zip((WATCH_TAG, LEAD_TAG, MAINTENANCE_TAG), values, strict=False)))
    until = quiet_until(found.windows, NOW)
    assert until is None or until > NOW
    assert found.lead_s is None or math.isfinite(found.lead_s)


def settings(data: bytes) -> None:
    """The settings of the function, and the event of a unit."""
    text = text_of(data)
    names = [setting.name for setting in SETTINGS]
    name, _, value = text.partition("=")
    with suppress(ValueError):
        parse_config({names[len(name) % len(names)]: value})
    with suppress(ValueError, RecursionError):
        event = json.loads(text)
        parse_unit(event if isinstance(event, dict) else {"unit": event})


KIND = find_kinds()["ebs_volume"]
DISKS = (volume("gp2", 100), volume("gp2", 500), volume("st1", 500))
CODES = ("Complete", "PartialData", "InternalError", "Forbidden", "")


class _Answers:
    """CloudWatch with answers that the bytes choose. Stands where ``Clients`` does."""

    throttled = 0

    def __init__(self, choices: Choices) -> None:
        self._choices, self._pages = choices, 0

    def __call__(self, _: str) -> "_Answers":
        return self

    def get_metric_data(self, **request: Any) -> dict[str, Any]:
        choices = self._choices
        self._pages += 1
        results = [self._series(query["Id"]) for query in request["MetricDataQueries"]]
        shape = choices.byte()
        page: dict[str, Any] = {
            "MetricDataResults": results[shape % 4 :] if shape < 32 else results
        }
        if shape == 255:
            page = {}
        if 200 < shape < 255 and not choices.is_used_up and self._pages < 20:
            page["NextToken"] = str(choices.byte())
        return page

    def _series(self, query_id: str) -> dict[str, Any]:
        choices = self._choices
        count = choices.byte() % 40
        times = [NOW - 60 * (index + choices.byte() % 4) for index in range(count)]
        return {
            "Id": query_id,
            "StatusCode": CODES[choices.byte() % len(CODES)] if choices.byte() < 64 else "Complete",
            "Timestamps": [datetime.fromtimestamp(at, tz=UTC) for at in times],
            "Values": [choices.number() for _ in times],
        }


def cloudwatch(data: bytes) -> None:
    """Answers of CloudWatch, through two looks with one memory."""
    choices, schedule = Choices(data), Schedule()
    for now in (NOW, NOW + 60):
        task = Task(kind=KIND, config=Config(), schedule=schedule, now=now)
        clients: Any = _Answers(choices)
        reader = Reader(
            clients=clients, now=now, allowance=Allowance(), deadline=Deadline(lambda: 0.0, at=60.0)
        )
        answered = ask(task, reader, DISKS, list)
        assert len(answered.judgements) == len(DISKS)
        for judged in answered.judgements:
            projection = judged.assessment.projection
            for seconds in (projection.low_s, projection.time_to_empty_s, projection.high_s):
                assert seconds is None or seconds >= 0, seconds
            schedule.note(judged, task.config, now)


TARGETS: dict[str, Callable[[bytes], None]] = {
    one.__name__: one
    for one in (
        config, web_config, diskstats, mounts, host, nvme, fio_output, dbench_output, state, record, series, readers, nested, tags,
        settings, cloudwatch,
    )
}  # fmt: skip
CORPUS = Path(__file__).parent / "corpus"


def corpus_of(name: str) -> Sequence[Path]:
    """The inputs of a target that are kept."""
    return sorted((CORPUS / name).iterdir())
