"""Every flag of the exporter once: the command line, the environment and the docs are made of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from burstwatch.config import EXPORTER_ENV_PREFIX, ConfigError, Setting
from burstwatch_exporter.imds import ENDPOINT

if TYPE_CHECKING:
    from collections.abc import Mapping

LAST_PORT = 65_535
#: What Kubernetes sets for a service that is called as this program is.
OF_KUBERNETES = re.compile(r"_(SERVICE_HOST|SERVICE_PORT\w*|PORT\w*)$")


def _path(name: str, default: str, text: str) -> Setting:
    return Setting(name=name, default=default, help=text, pattern=r"[^\0]*", allowed="a path")


SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="web.listen-address",
        default="127.0.0.1:10047",
        help="where to serve; without the host to everybody, and nothing serves nobody",
        pattern=r"((\[[0-9a-fA-F:.]+\]|[^:\[\]\s]*):\d{1,5})?",
        allowed="HOST:PORT, [IPv6]:PORT, :PORT or nothing",
    ),
    _path("web.config.file", "", "TLS and passwords, in the exporter toolkit's format"),
    _path("path.procfs", "/proc", "where the kernel's /proc is"),
    _path("path.sysfs", "/sys", "where the kernel's /sys is"),
    _path("path.udev.data", "/run/udev/data", "where udev keeps what it knows of devices"),
    Setting(
        name="instance.type",
        default="",
        help="the EC2 instance type, for its limits; imds asks the instance metadata service",
        pattern=r"(imds|[a-z0-9-]+\.[a-z0-9-]+)?",
        allowed="a type such as m5.large, imds, or nothing",
    ),
    Setting(
        name="aws",
        default="off",
        help="what to ask AWS, with a role and the extra aws: ec2 (types and sizes) or cloudwatch (balances too)",
        pattern="off|ec2|cloudwatch",
        allowed="off, ec2 or cloudwatch",
    ),
    Setting(
        name="aws.period",
        default=300.0,
        help="how often AWS is asked; a balance costs 0.00001 USD each time",
        low=60,
        high=86_400,
    ),
    Setting(
        name="imds.endpoint",
        default=ENDPOINT,
        help="where the instance metadata service is",
        pattern=r"http://[^\s/]+",
        allowed="http://HOST or http://HOST:PORT",
    ),
    _path("config.file", "", "what the volumes of this host are"),
    _path(
        "state.file",
        "",
        "where the intervals outlive the process; without it each start begins anew",
    ),
    _path("nvme.socket", "", "where burstwatch-nvme-helper listens, for EBS's own statistics"),
    _path(
        "textfile",
        "",
        "write the metrics to this file each sample, for node_exporter's textfile collector",
    ),
    _path(
        "measure.results",
        "",
        "where `measure` keeps the newest result of each profile and volume, which is then exported",
    ),
    Setting(
        name="sample.period",
        default=10.0,
        help="how often the counters are read, scraped or not",
        low=0.1,
        high=60,
    ),
    Setting(
        name="state.period",
        default=60.0,
        help="how often the state is saved",
        low=1,
        high=3_600,
    ),
    Setting(
        name="refresh.period",
        default=15.0,
        help="how often devices and mounts are looked for anew, beside when one comes or goes",
        low=1,
        high=3_600,
    ),
)


#: Those that ``measure`` heeds too: what the host and its volumes are, and where its results go.
OF_HOST = frozenset(
    {
        "path.procfs", "path.sysfs", "path.udev.data", "instance.type", "aws", "imds.endpoint",
        "config.file", "state.file", "measure.results",
    }
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Roots:
    """Where the kernel's and udev's files are."""

    procfs: Path
    sysfs: Path
    udev: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """The settings of ``SETTINGS``, checked. A path that is not given is None, as is the port of nothing."""

    host: str
    port: int | None
    web_config_file: Path | None
    roots: Roots
    instance_type: str
    aws: str
    aws_period_s: float
    imds: str
    config_file: Path | None
    state_file: Path | None
    nvme_socket: Path | None
    textfile: Path | None
    measure_results: Path | None
    sample_period_s: float
    state_period_s: float
    refresh_period_s: float


def parse_options(flags: Mapping[str, str], env: Mapping[str, str]) -> Options:
    """Settings by name, as text: a flag comes before ``BURSTWATCH_EXPORTER_WEB_LISTEN_ADDRESS``.

    Raises:
        ConfigError: naming every unknown name and every value that is not allowed.
    """
    known = {setting.name: setting for setting in SETTINGS}
    by_variable = {variable_of(name): name for name in known}
    problems: list[str] = []
    texts: dict[str, str] = {}
    for variable, text in env.items():
        if variable in by_variable:
            texts[by_variable[variable]] = text
        elif variable.startswith(EXPORTER_ENV_PREFIX) and not OF_KUBERNETES.search(variable):
            problems.append(f"unknown variable {variable}, allowed are {', '.join(by_variable)}")
    texts |= flags
    values = {name: setting.default for name, setting in known.items()}
    for name, text in texts.items():
        try:
            values[name] = known[name].parse(text)
        except ValueError as error:
            problems.append(f"{name} is {text!r}, allowed is {error}")
    listen = str(values["web.listen-address"])
    host, _, port = listen.rpartition(":")
    if listen and int(port) > LAST_PORT:
        problems.append(f"web.listen-address has port {port}, allowed is 0 to {LAST_PORT}")
    if problems:
        raise ConfigError("; ".join(problems))
    return Options(
        host=host.strip("[]"),
        port=int(port) if listen else None,
        web_config_file=_given_path(values["web.config.file"]),
        roots=Roots(
            procfs=Path(str(values["path.procfs"])),
            sysfs=Path(str(values["path.sysfs"])),
            udev=Path(str(values["path.udev.data"])),
        ),
        instance_type=str(values["instance.type"]),
        aws=str(values["aws"]),
        aws_period_s=float(values["aws.period"]),
        imds=str(values["imds.endpoint"]),
        config_file=_given_path(values["config.file"]),
        state_file=_given_path(values["state.file"]),
        nvme_socket=_given_path(values["nvme.socket"]),
        textfile=_given_path(values["textfile"]),
        measure_results=_given_path(values["measure.results"]),
        sample_period_s=float(values["sample.period"]),
        state_period_s=float(values["state.period"]),
        refresh_period_s=float(values["refresh.period"]),
    )


def variable_of(name: str) -> str:
    """The environment variable of a setting."""
    return EXPORTER_ENV_PREFIX + name.upper().replace(".", "_").replace("-", "_")


def _given_path(value: str | float) -> Path | None:
    return Path(str(value)) if value else None
