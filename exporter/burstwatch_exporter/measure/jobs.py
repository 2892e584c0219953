"""Reads fio's job files into steps, and writes the job file that a step is run with.

A job file is fio's own, and can be given to fio as it is (``SCRATCH=/data/x fio ...``). Here
it is read, limited, and written anew, so that what is predicted is what is run.
"""

import configparser
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Literal

from burstwatch.ebs.load import MIB
from burstwatch_exporter.measure.expect import IoPattern

Tool = Literal["fio", "dbench", "dd"]
SUFFIXES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
SIZE = re.compile(r"(\d+)([kmg]?)", re.IGNORECASE)
#: As fio writes them, with the share of reads.
READ_SHARES: Mapping[str, float | None] = MappingProxyType(
    {"read": 1.0, "write": 0.0, "randread": 1.0, "randwrite": 0.0, "rw": None, "randrw": None}
)
#: How many jobs a section with ``numjobs=${JOBS}`` is run with, one after the other.
SCALE = (1, 2, 4, 8, 16, 32, 64, 128, 256)
#: Options that a job file leaves to whoever runs it.
SCRATCH, JOBS = "${SCRATCH}", "${JOBS}"
KIB = 2**10


@dataclass(frozen=True, kw_only=True, slots=True)
class Step(IoPattern):
    """One run of one program. ``options`` are fio's, without those that are said here.

    ``most_ios`` is how many operations it may do in all: the program itself ends there, whoever looks or does not.
    """

    name: str
    tool: Tool
    runtime_s: float
    size_mib: float
    most_ios: float = math.inf
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def most_ios_per_job(self) -> int | None:
        """The operations of each job, at least one; None without a bound."""
        return None if math.isinf(self.most_ios) else max(1, int(self.most_ios / self.jobs))

    @property
    def least_rate(self) -> float:
        """The least that fio can be limited to: one a second for each job and direction."""
        ways = [share for share in (self.read_share, 1 - self.read_share) if share > 0]
        return self.jobs / min(ways)

    def limited(
        self, *, runtime_s: float | None, size_mib: float | None, rate_iops: float | None
    ) -> "Step":
        """With no more of each than that, but with room for an operation of each job."""
        least = self.block_kib * KIB / MIB * (self.jobs if self.tool == "dd" else 1)
        rates = [rate for rate in (self.rate_iops, rate_iops) if rate is not None]
        return replace(
            self,
            runtime_s=min(self.runtime_s, math.inf if runtime_s is None else runtime_s),
            size_mib=self.size_mib
            if size_mib is None
            else max(least, min(self.size_mib, size_mib)),
            rate_iops=min(rates, default=None),
        )


def read_jobs(path: Traversable) -> tuple[str, tuple[Step, ...]]:
    """Read a job file: its purpose, from its first line, and its steps in order.

    Raises:
        ValueError: naming the file, the section and what is wrong in it.
    """
    text = path.read_text(encoding="utf-8")
    parser = configparser.ConfigParser(
        delimiters=("=",), allow_no_value=True, interpolation=None, default_section="global"
    )
    try:
        parser.read_string(text)
        steps = [
            step
            for name in parser.sections()
            for step in _steps(name, {key: value or "1" for key, value in parser[name].items()})
        ]
    except (configparser.Error, ValueError) as error:
        msg = f"{path.name}: {' '.join(str(error).split())}"
        raise ValueError(msg) from error
    if not steps:
        msg = f"{path.name} has no section but global"
        raise ValueError(msg)
    heading = text.partition("\n")[0]
    return heading.removeprefix(";").strip(), tuple(steps)


def job_text(step: Step, *, scratch: str, log: str) -> str:
    """The job file of one step, as it is run.

    Threads and not processes, so that none outlives fio. ``log`` is what the names of the
    latency logs begin with.
    """
    options = {
        **step.options,
        "filename": scratch,
        "size": f"{step.size_mib * MIB:.0f}",
        "runtime": f"{step.runtime_s:g}s"
        if step.runtime_s >= 1
        else f"{step.runtime_s * 1000:.0f}ms",
        "numjobs": f"{step.jobs}",
        "thread": "1",
        "group_reporting": "1",
        "fallocate": "none",
        "percentile_list": "50:95:99:99.9",
        "write_lat_log": log,
        "log_avg_msec": "1000",
        "per_job_logs": "0",
    }
    if step.most_ios_per_job is not None:
        # fio ends at its runtime nevertheless, and begins its file again as often as it takes.
        options.pop("time_based", None)
        options["io_size"] = f"{step.most_ios_per_job * step.block_kib * KIB:.0f}"
    if step.rate_iops is not None:
        per_job = step.rate_iops / step.jobs
        ways = [per_job * share for share in (step.read_share, 1 - step.read_share)]
        options["rate_iops"] = ",".join(str(max(1, int(way))) for way in ways)
    lines = [f"{key}={value}" for key, value in options.items()]
    return "\n".join([f"[{step.name}]", *lines, ""])


def _steps(name: str, options: dict[str, str]) -> list[Step]:
    """Read one fio job into steps, one for each number of jobs; raises ValueError that names the option."""
    if options.get("filename") != SCRATCH:
        msg = f"[{name}] must have filename={SCRATCH}, so that it runs on a scratch file"
        raise ValueError(msg)
    del options["filename"]
    pattern = options["rw"] if "rw" in options else _missing(name, "rw")
    if pattern not in READ_SHARES:
        msg = f"[{name}] has rw={pattern}; allowed: {', '.join(READ_SHARES)}"
        raise ValueError(msg)
    share = READ_SHARES[pattern]
    if share is None:
        share = _number(name, "rwmixread", options.get("rwmixread", "50")) / 100
    rate = options.pop("rate_iops", None)
    jobs = options.pop("numjobs", "1")
    counts = SCALE if jobs == JOBS else (round(_number(name, "numjobs", jobs)),)
    runtime = options.pop("runtime") if "runtime" in options else _missing(name, "runtime")
    size = options.pop("size") if "size" in options else _missing(name, "size")
    return [
        Step(
            name=f"{name}-{count}" if jobs == JOBS else name,
            tool="fio",
            is_random=pattern.startswith("rand"),
            read_share=share,
            block_kib=_bytes(name, "bs", options.get("bs", "4k")) / KIB,
            jobs=count,
            depth=round(_number(name, "iodepth", options.get("iodepth", "1"))),
            runtime_s=_number(name, "runtime", runtime.removesuffix("s")),
            size_mib=_bytes(name, "size", size) / MIB,
            rate_iops=None if rate is None else _number(name, "rate_iops", rate) * count,
            options=MappingProxyType(dict(options)),
        )
        for count in counts
    ]


def _missing(name: str, key: str) -> str:
    msg = f"[{name}] has no {key}"
    raise ValueError(msg)


def _number(name: str, key: str, text: str) -> float:
    if not re.fullmatch(r"\d+(\.\d+)?", text) or float(text) <= 0:
        msg = f"[{name}] has {key}={text}; allowed: a number above 0"
        raise ValueError(msg)
    return float(text)


def _bytes(name: str, key: str, text: str) -> int:
    match = SIZE.fullmatch(text)
    if match is None or int(match[1]) <= 0:
        msg = f"[{name}] has {key}={text}; allowed: a size such as 16k, 1m or 5g"
        raise ValueError(msg)
    return int(match[1]) * SUFFIXES[match[2].lower()]
