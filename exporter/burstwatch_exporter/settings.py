"""Every flag of the exporter once: the command line, the environment and the docs are made of it."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from burstwatch.config import EXPORTER_ENV_PREFIX, declare, parse_settings, raise_all, settings_of
from burstwatch.web.address import ADDRESS_PATTERN, Address, parse_address
from burstwatch_exporter.imds import ENDPOINT
from burstwatch_exporter.kernel.roots import Roots

#: Variables that Kubernetes sets for a service with this program's name.
OF_KUBERNETES = re.compile(r"_(SERVICE_HOST|SERVICE_PORT\w*|PORT\w*)$")


def path(name: str, text: str, *, default: str = "") -> Any:  # noqa: ANN401 - as declare
    """A setting that is a path; without a default it may be empty, which is None."""
    return declare(
        default,
        text,
        name=name,
        pattern=r"[^\0]+" if default else r"[^\0]*",
        allowed="a path",
        make=lambda text: Path(text) if text else None,
    )


#: Mounts that come and go with containers, of which there are hundreds on a node.
OF_CONTAINERS = r"^/var/lib/kubelet/pods/[^/]+/volume-subpaths/|^/var/lib/(docker|containers/storage)/|^/run/(containerd|credentials)/"


def _pattern(text: str) -> re.Pattern[str]:
    """Compile an expression; an empty one fits nothing."""
    try:
        return re.compile(text or r"(?!)")
    except re.error as error:
        msg = f"a regular expression ({error})"
        raise ValueError(msg) from error


#: Settings that ``measure`` uses too: the host, its volumes, and the folder of results.
OF_HOST = frozenset(
    {
        "path.procfs", "path.sysfs", "path.udev.data", "instance.type", "aws", "imds.endpoint",
        "config.file", "state.file", "measure.results",
    }
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Every flag of the exporter, checked. A path that is not set is None."""

    listen: str = declare(
        "127.0.0.1:10047",
        "the address to serve on; without a host it serves on every address, and an empty value opens no port",
        name="web.listen-address",
        pattern=f"({ADDRESS_PATTERN})?",
        allowed="HOST:PORT, [IPv6]:PORT, :PORT or nothing",
    )
    web_config_file: Path | None = path(
        "web.config.file", "TLS and passwords, in the exporter toolkit's format"
    )
    procfs: Path = path("path.procfs", "where the kernel's /proc is", default="/proc")
    sysfs: Path = path("path.sysfs", "where the kernel's /sys is", default="/sys")
    udev: Path = path(
        "path.udev.data", "where udev keeps what it knows of devices", default="/run/udev/data"
    )
    cloud_init: Path = path(
        "path.cloud-init",
        "where cloud-init keeps its marks, which say when an instance was first started; used with --instance.type=auto or imds",
        default="/var/lib/cloud",
    )
    mounts_exclude: re.Pattern[str] = declare(
        OF_CONTAINERS,
        "mount points that are not shown: a regular expression",
        name="mounts.exclude",
        pattern=r"(?s).*",
        allowed="a regular expression",
        make=_pattern,
    )
    log_level: str = declare(
        "info",
        "the least that is logged: debug, info, warning or error",
        name="log.level",
        pattern="debug|info|warning|error",
        allowed="debug, info, warning or error",
    )
    instance_type: str = declare(
        "",
        "the EC2 instance type, for its limits; imds asks the instance metadata service, and auto does so where there is one",
        name="instance.type",
        pattern=r"(auto|imds|[a-z0-9-]+\.[a-z0-9-]+)?",
        allowed="a type such as m5.large, auto, imds, or nothing",
    )
    aws: str = declare(
        "off",
        "what to ask AWS: off, ec2 (types and sizes) or cloudwatch (also balances); needs an IAM role",
        pattern="off|ec2|cloudwatch",
        allowed="off, ec2 or cloudwatch",
    )
    aws_period_s: float = declare(
        300.0,
        "seconds between two requests to AWS; each balance costs 0.00001 USD each time",
        name="aws.period",
        low=60,
        high=86400,
    )
    imds: str = declare(
        ENDPOINT,
        "where the instance metadata service is",
        name="imds.endpoint",
        pattern=r"http://[^\s/]+",
        allowed="http://HOST or http://HOST:PORT",
    )
    config_file: Path | None = path(
        "config.file", "the YAML file with the types and sizes of this host's volumes"
    )
    state_file: Path | None = path(
        "state.file", "the file that keeps what is known of each balance across restarts"
    )
    nvme_socket: Path | None = path(
        "nvme.socket", "where burstwatch-nvme-helper listens, for EBS's own statistics"
    )
    textfile: Path | None = path(
        "textfile",
        "write the metrics to this file each sample, for node_exporter's textfile collector",
    )
    measure_results: Path | None = path(
        "measure.results",
        "where `measure` keeps the newest result of each profile and volume, which is then exported",
    )
    sample_period_s: float = declare(
        10.0,
        "seconds between two reads of the counters, whether or not there is a scrape",
        name="sample.period",
        low=0.1,
        high=60,
    )
    state_period_s: float = declare(
        60.0, "seconds between two saves of the state", name="state.period", low=1, high=3600
    )
    refresh_period_s: float = declare(
        15.0,
        "seconds between two full listings of devices and mounts; each sample notices a device that comes or goes",
        name="refresh.period",
        low=1,
        high=3600,
    )

    @property
    def roots(self) -> Roots:
        """The folders of the kernel's and udev's files."""
        return Roots(procfs=self.procfs, sysfs=self.sysfs, udev=self.udev)

    @property
    def address(self) -> Address | None:
        """The address to serve on, or None to serve nobody."""
        return parse_address("web.listen-address", self.listen) if self.listen else None


SETTINGS = settings_of(Options)


def parse_options(flags: Mapping[str, str], env: Mapping[str, str]) -> Options:
    """Parse settings given by name, as text: a flag comes before its variable, as ``BURSTWATCH_EXPORTER_WEB_LISTEN_ADDRESS``.

    Raises:
        ValueError: naming every unknown name and every value that is not allowed.
    """
    by_variable = {variable_of(setting.name): setting.name for setting in SETTINGS}
    problems: list[ValueError] = []
    texts: dict[str, str] = {}
    for variable, text in env.items():
        if variable in by_variable:
            texts[by_variable[variable]] = text
        elif variable.startswith(EXPORTER_ENV_PREFIX) and not OF_KUBERNETES.search(variable):
            msg = f"unknown variable {variable}; allowed: {', '.join(by_variable)}"
            problems.append(ValueError(msg))
    texts |= flags
    options = Options(**parse_settings(SETTINGS, texts, problems))
    try:
        _ = options.address
    except ValueError as error:
        problems.append(error)
    problems += map(ValueError, _same_files(options))
    raise_all(problems)
    return options


def _same_files(options: Options) -> Iterator[str]:
    """Settings that name one file: what is written would take the place of what is read."""
    paths = {
        "config.file": options.config_file,
        "web.config.file": options.web_config_file,
        "state.file": options.state_file,
        "textfile": options.textfile,
    }
    named = [(name, os.path.realpath(path)) for name, path in paths.items() if path is not None]
    for (name, path), (other_name, same) in combinations(named, 2):
        if path == same or _is_one_file(path, same):
            yield f"{name} and {other_name} are both {path}; allowed: a file for each"


def _is_one_file(path: str, same: str) -> bool:
    """True if two paths lead to one file; what may not be looked at is told by whoever uses it."""
    with suppress(OSError):
        return os.path.samefile(path, same)  # noqa: PTH121 - texts, as os.path resolves what Path refuses
    return False


def variable_of(name: str) -> str:
    """The environment variable of a setting."""
    return EXPORTER_ENV_PREFIX + name.upper().replace(".", "_").replace("-", "_")
