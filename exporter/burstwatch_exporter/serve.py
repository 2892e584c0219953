"""The running exporter: it reads, saves and serves until it is told to stop."""

from __future__ import annotations

import logging
from threading import Thread
from typing import TYPE_CHECKING, TextIO

from prometheus_client import CollectorRegistry, write_to_textfile

from burstwatch.ebs.instance_types import limits_of
from burstwatch_exporter.cloud import Cloud, make_clients
from burstwatch_exporter.collector import HostCollector
from burstwatch_exporter.config_file import HostConfig, read_config_file
from burstwatch_exporter.exposition import encode
from burstwatch_exporter.host import Host
from burstwatch_exporter.imds import read_identity
from burstwatch_exporter.measure.source import MeasureSource
from burstwatch_exporter.nvme import NvmeSource
from burstwatch_exporter.sources import Sources
from burstwatch_exporter.state import read_state, write_state
from burstwatch_exporter.web.app import App
from burstwatch_exporter.web.config import WebConfig, read_web_config
from burstwatch_exporter.web.passwords import Passwords
from burstwatch_exporter.web.server import Server, serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event

    from burstwatch.ebs.volumes import InstanceLimits
    from burstwatch_exporter.clock import Clock
    from burstwatch_exporter.collector import Extra
    from burstwatch_exporter.settings import Options
    from burstwatch_exporter.state import Saved

LOG = logging.getLogger("burstwatch_exporter")


class Exporter:
    """A host with everything that an exporter does with it, but serving."""

    def __init__(self, options: Options, clock: Clock) -> None:
        """Reads the configuration and the state.

        Raises:
            GivenError: if the configuration cannot be used.
        """
        self._options, self._clock = options, clock
        self.config = read_config_file(options.config_file) if options.config_file else HostConfig()
        self.instance_type = options.instance_type
        self.sources = Sources(clock.boot)
        self.host = Host(
            roots=options.roots,
            clock=clock,
            sources=self.sources,
            config=self.config,
            saved=self._read_state(),
            slot_s=options.sample_period_s,
            instance=self._instance(self.config),
            reconciles=options.aws == "cloudwatch",
        )
        self._cloud = Cloud(
            imds=options.imds,
            with_balances=options.aws == "cloudwatch",
            sources=self.sources,
            make_clients=make_clients,
        )
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(
            HostCollector(
                self.host,
                self.sources,
                saved_at=lambda: self._saved_wall_s,
                extras=self._extras(),
            )
        )
        self._saved_wall_s: float | None = None
        self._saved_at = self._looked_at = clock.boot()

    def sample(self) -> None:
        """Read the counters, and write what is due."""
        self.host.observe()
        if self._clock.boot() - self._looked_at >= self._options.refresh_period_s:
            self._looked_at = self._clock.boot()
            self.host.look()
        if self._options.textfile is not None:
            with self.sources.attempt("textfile"):
                write_to_textfile(str(self._options.textfile), self.registry)
        if self._clock.boot() - self._saved_at >= self._options.state_period_s:
            self.save()

    def save(self) -> None:
        """Write the state, if there is a place for it."""
        self._saved_at = self._clock.boot()
        if self._options.state_file is None:
            return
        with self.sources.attempt("state"):
            write_state(self._options.state_file, self.host.saved())
            self._saved_wall_s = self._clock.wall()

    def scrape(self, accept: str = "") -> tuple[str, bytes]:
        """The content type and everything as of now, in the format that is accepted."""
        return encode(self.registry, accept)

    def is_ready(self) -> bool:
        """Whether the counters could be read when that was last tried."""
        outcome = self.sources.outcomes.get("diskstats")
        return outcome is not None and not outcome.has_failed

    def problems(self) -> list[str]:
        """What is not well now, for people."""
        return [
            f"{name}: {problem}"
            for name, outcome in sorted(self.sources.outcomes.items())
            for problem in outcome.problems
        ]

    def ask_aws(self) -> None:
        """Ask AWS what it may be asked, and go by that."""
        self.host.apply(self._cloud.ask(self._clock.wall()))

    def alarms_up(self) -> dict[str, str]:
        """The alarms of ours that are up, by volume id.

        Raises:
            ValueError: if AWS cannot be asked: nobody is to take that for none.
        """
        return self._cloud.alarms_up()

    def _extras(self) -> list[Extra]:
        """What is said beside the kernel's files, as far as it was asked for."""
        found: list[Extra] = []
        if self._options.nvme_socket is not None:
            found.append(NvmeSource(self._options.nvme_socket))
        if self._options.measure_results is not None:
            found.append(MeasureSource(self._options.measure_results, wall=self._clock.wall))
        return found

    def _instance(self, config: HostConfig) -> InstanceLimits | None:
        """What the whole instance may move: as the configuration says, or by its type."""
        if config.instance is not None or not self._options.instance_type:
            return config.instance
        limits = None
        with self.sources.attempt("instance") as attempt:
            name = self._options.instance_type
            if name == "imds":
                name = self.instance_type = read_identity(self._options.imds).instance_type
            limits = config.instance_types.get(name) or limits_of(name)
            if limits is None:
                attempt.problems.append(
                    f"the limits of {name} are not known: say them in instance_types"
                )
        return limits

    def _read_state(self) -> dict[str, Saved]:
        path = self._options.state_file
        saved: dict[str, Saved] = {}
        if path is not None:
            with self.sources.attempt("state"):
                saved = read_state(path)
        return saved


def serve(options: Options, *, clock: Clock, stop: Event) -> None:
    """Serve until ``stop`` is set, then save and end.

    Raises:
        ValueError: if a configuration cannot be used.
        OSError: if the address cannot be bound.
    """
    web = read_web_config(options.web_config_file) if options.web_config_file else WebConfig()
    exporter = Exporter(options, clock)
    end = None if options.port is None else _open(exporter, web, options.host, options.port)
    if options.aws != "off":
        arguments = (exporter, options.aws_period_s, stop)
        Thread(target=_keep_asking, args=arguments, name="aws", daemon=True).start()
    try:
        exporter.sample()
        while not stop.wait(options.sample_period_s):
            exporter.sample()
    finally:
        if end is not None:
            end()
        exporter.host.observe()
        exporter.save()
    LOG.info("stopped")


def _keep_asking(exporter: Exporter, period_s: float, stop: Event) -> None:
    """Ask AWS every so often, beside all else: it may take its time."""
    while not stop.is_set():
        exporter.ask_aws()
        stop.wait(period_s)


def _open(exporter: Exporter, web: WebConfig, host: str, port: int) -> Callable[[], None]:
    """Serve from now on, until what is returned is called."""
    app = App(exporter, Passwords(web.users))
    try:
        server = Server(app, host=host, port=port, tls=web.tls)
    except OSError as error:
        msg = f"web.listen-address {host}:{port}: {error}"
        raise OSError(msg) from error
    wait = serving(server)
    LOG.info("serving on %s:%d", host or "every address", server.port)

    def end() -> None:
        server.stop()
        wait()

    return end


def write_once(options: Options, *, clock: Clock, stdout: TextIO, stop: Event) -> None:
    """Two readings, a sample period apart, and the metrics to ``stdout`` or the text file."""
    exporter = Exporter(options, clock)
    exporter.host.observe()
    if options.aws != "off":
        exporter.ask_aws()
        exporter.host.observe()
    LOG.info("reading for %g s", options.sample_period_s)
    stop.wait(options.sample_period_s)
    if options.textfile is not None:
        write_to_textfile(str(options.textfile), exporter.registry)
    else:
        stdout.write(exporter.scrape()[1].decode())
    exporter.save()
