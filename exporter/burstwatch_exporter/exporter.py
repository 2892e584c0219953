"""Reads one host, keeps its accounts and its state, and renders its metrics."""

from collections.abc import Sequence
from pathlib import Path

from prometheus_client import CollectorRegistry

from burstwatch.ebs.volumes import InstanceLimits
from burstwatch.files import Stamp, put_in_place, stamp_of
from burstwatch.kinds._cpu import cpu_spec, is_burstable
from burstwatch.web.exposition import encode
from burstwatch_exporter.clock import Clock
from burstwatch_exporter.cloud import Cloud, make_host_clients
from burstwatch_exporter.config_file import HostConfig, read_config_file
from burstwatch_exporter.credits.published import CloudAnswer
from burstwatch_exporter.credits.state import (
    NOTHING_SAVED,
    SavedState,
    keep_aside,
    read_state,
    write_state,
)
from burstwatch_exporter.host import Host
from burstwatch_exporter.imds import Identity, read_identity
from burstwatch_exporter.instance_types import find_type
from burstwatch_exporter.kernel.first_boot import made_with_instance_s
from burstwatch_exporter.page.collector import Extra, HostCollector
from burstwatch_exporter.page.cpu import CpuAccount, CpuSource
from burstwatch_exporter.page.landing import landing
from burstwatch_exporter.page.network import NetworkAccount, NetworkSource
from burstwatch_exporter.settings import Options
from burstwatch_exporter.sources import Sources

NO_VOLUMES = (
    "this host has no EBS volume that the exporter can see, so there are no burst credits to show: "
    "EBS volumes are NVMe disks of the model 'Amazon Elastic Block Store', xvd disks, "
    "or devices that the configuration names"
)
#: As values of --instance.type: the instance metadata service is to say it, or may be missing.
ASKS_IMDS, MAY_ASK_IMDS = "imds", "auto"
#: Later than so many seconds after the boot nothing tells any more that it was the first one.
FIRST_START_S = 1_800.0
#: The service can be late when a host starts, and it may be allowed later.
IMDS_AGAIN_S = 60.0
NO_IMDS = f"polled every {IMDS_AGAIN_S:g} s; in a container, the instance's metadata options need a hop limit of 2"


class Exporter:
    """One host with its sources, its state and its page."""

    def __init__(self, options: Options, clock: Clock, *, extras: Sequence[Extra] = ()) -> None:
        """Reads the configuration and the state. ``extras`` are sources beside the kernel's files.

        Raises:
            ValueError: if the configuration cannot be used.
        """
        self._options, self._clock = options, clock
        self.config = read_config_file(options.config_file) if options.config_file else HostConfig()
        self.instance_type = options.instance_type
        self.sources = Sources(clock.boot)
        self._state_is_strange = False
        # Of the state file as it was last read or written here.
        self._state_stamp: Stamp | None = None
        self._is_without_limits = False
        self._identity: Identity | None = None
        self._told_by_ec2: CloudAnswer | None = None
        state = self._read_state()
        self._network = NetworkSource(
            roots=options.roots, clock=clock, slot_s=options.sample_period_s, saved=state.network
        )
        instance = self._ask_instance()
        self.host = Host(
            roots=options.roots,
            clock=clock,
            sources=self.sources,
            config=self.config,
            saved=state.by_key,
            slot_s=options.sample_period_s,
            instance=instance,
            reconciles=options.aws == "cloudwatch",
            mounts_exclude=options.mounts_exclude,
        )
        self._tell_first_start()
        self.cloud = Cloud(
            imds=options.imds,
            with_balances=options.aws == "cloudwatch",
            sources=self.sources,
            make_clients=make_host_clients,
        )
        self._extras = [self._network, *extras, *self._cpu()]
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(
            HostCollector(
                self.host,
                self.sources,
                saved_at=lambda: self._saved_wall_s,
                extras=self._extras,
            )
        )
        self._saved_wall_s: float | None = None
        self._began_at = self._saved_at = self._looked_at = self._asked_imds_at = clock.boot()

    @property
    def known_type(self) -> str:
        """The type of the instance; empty where nobody has said it yet."""
        return "" if self.instance_type in {ASKS_IMDS, MAY_ASK_IMDS} else self.instance_type

    def observe(self) -> None:
        """Read the counters, and move every account on."""
        self.host.observe()
        with self.sources.attempt(self._network.name) as attempt:
            self._network.observe(attempt)

    def sample(self) -> None:
        """Read the counters, and write what is due."""
        self.observe()
        is_due = self._clock.boot() - self._asked_imds_at >= IMDS_AGAIN_S
        if is_due:
            self._asked_imds_at = self._clock.boot()
            if self._asks_again():
                self.host.set_instance(self._ask_instance())
                self._extras += self._cpu()
            self._tell_first_start()
        if self._clock.boot() - self._looked_at >= self._options.refresh_period_s:
            self._looked_at = self._clock.boot()
            self.host.look()
        if self._options.textfile is not None:
            with self.sources.attempt("textfile"):
                self.write_page(self._options.textfile)
        if self._clock.boot() - self._saved_at >= self._options.state_period_s:
            self.save()

    def _asks_again(self) -> bool:
        """True while the metadata service has not said the type, and may still say it: one that may be missing is given up."""
        if self.instance_type == MAY_ASK_IMDS:
            return self._clock.boot() - self._began_at <= FIRST_START_S
        return self.instance_type == ASKS_IMDS

    def save(self) -> None:
        """Write the state, if there is a place for it."""
        self._saved_at = self._clock.boot()
        if self._options.state_file is None:
            return
        path = self._options.state_file
        with self.sources.attempt("state") as attempt:
            if self._state_is_strange:
                keep_aside(path, wall_s=self._clock.wall())
                self._state_is_strange = False
            if stamp_of(path) not in {None, self._state_stamp}:
                attempt.problems.append(
                    f"another process has written {path}, and this one writes over it: give each its own --state.file"
                )
            write_state(
                path,
                SavedState(format=1, volumes=self.host.saved(), network=self._network.saved()),
            )
            self._state_stamp = stamp_of(path)
            self._saved_wall_s = self._clock.wall()

    def scrape(self, accept: str = "") -> tuple[str, bytes]:
        """The content type and everything as of now, in the format that is accepted."""
        return encode(self.registry, accept)

    def write_page(self, path: Path) -> None:
        """Write everything as of now for the textfile collector.

        Raises:
            OSError: if that cannot be done.
        """
        put_in_place(path, lambda file: file.write(self.scrape()[1].decode()))

    def is_ready(self) -> bool:
        """True if the counters could be read when that was last tried."""
        outcome = self.sources.outcomes.get("diskstats")
        return outcome is not None and not outcome.has_failed

    def landing(self) -> str:
        """The page for people, as HTML and as of now."""
        snapshot = self.host.observe()
        account: CpuAccount | None = None
        for source in self._extras:
            if isinstance(source, CpuSource):
                with self.sources.attempt(source.name) as attempt:
                    account = source.observe(snapshot, attempt)
        accounts: list[NetworkAccount] = []
        with self.sources.attempt(self._network.name) as attempt:
            accounts = self._network.observe(attempt)
        return landing(
            snapshot,
            problems=self.problems(),
            hints=self.hints(),
            cpu=account,
            network=accounts,
        )

    def problems(self) -> list[str]:
        """The problems of now, for people."""
        return [
            f"{name}: {problem}"
            for name, outcome in sorted(self.sources.outcomes.items())
            for problem in outcome.problems
        ]

    def hints(self) -> list[str]:
        """Hints for people at what is no error but may not be meant."""
        no_volumes = [] if self.host.has_volumes() else [NO_VOLUMES]
        no_limits = (
            f"the limits of {self.instance_type} are not known to the exporter, so nothing says when all volumes "
            "together reach them: set them under instance_types in --config.file, or let EC2 say them (--aws=ec2)"
        )
        return no_volumes + ([no_limits] if self._is_without_limits else [])

    def reload(self) -> None:
        """Read the configuration anew. One that cannot be used is told, and the one before stays."""
        with self.sources.attempt("reload"):
            path = self._options.config_file
            config = read_config_file(path) if path else HostConfig()
            self.host.observe()  # what has been done until now was under the configuration before
            self.config = config
            self.host.set_instance(self._ask_instance())
            self.host.reconfigure(config)

    def ask_aws(self) -> None:
        """Ask AWS what it may be asked, and go by that."""
        answer = self.cloud.ask(self._clock.wall())
        self.host.apply(answer)
        self._told_by_ec2 = answer
        if answer.instance_type:
            self._network.set_type(answer.instance_type, answer.bandwidth)

    def _ask_instance(self) -> InstanceLimits | None:
        """The limits of the whole instance: as the configuration says, or by its type, which IMDS may have to say."""
        limits = self.config.instance
        if not self.instance_type:
            return limits
        with self.sources.attempt("instance") as attempt:
            if self.instance_type in {ASKS_IMDS, MAY_ASK_IMDS}:
                try:
                    self._identity = read_identity(self._options.imds)
                    self.instance_type = self._identity.instance_type
                except ValueError as error:
                    if self.instance_type == ASKS_IMDS:
                        attempt.problems.append(f"{error}; {NO_IMDS}")
                    return limits
            name = self.instance_type
            known = find_type(name)
            limits = (
                limits or self.config.instance_types.get(name) or (known.limits if known else None)
            )
            told = self._told_by_ec2
            if told is None or told.instance_type != name:
                self._network.set_type(name, known.bandwidth if known else None)
        self._is_without_limits = limits is None
        return limits

    def _tell_first_start(self) -> None:
        """Tell the host when its root volume was new. The service and cloud-init can be later than the exporter."""
        identity = self._identity
        if identity is None or self._clock.boot() > FIRST_START_S:
            return
        made_s = made_with_instance_s(
            self._options.cloud_init,
            identity.instance_id,
            pending_s=identity.pending_s,
            booted_s=self._clock.wall() - self._clock.boot(),
        )
        if made_s is not None:
            self.host.set_root_created(made_s)

    def _cpu(self) -> list[Extra]:
        """The source of CPU credits, where the instance's type has them."""
        if not is_burstable(self.instance_type):
            return []
        with self.sources.attempt("cpu"):
            source = CpuSource(
                self.instance_type,
                cpu_spec(self.instance_type),
                roots=self._options.roots,
                clock=self._clock,
                slot_s=self._options.sample_period_s,
            )
            return [source]
        return []

    def _read_state(self) -> SavedState:
        """What an earlier process saved; nothing where that cannot be read, which is told."""
        path = self._options.state_file
        state = NOTHING_SAVED
        if path is not None:
            with self.sources.attempt("state"):
                self._state_stamp = stamp_of(path)
                state = read_state(path)
            self._state_is_strange = self.sources.outcomes["state"].has_failed
        return state
