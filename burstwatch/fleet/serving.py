"""Serves a fleet to Prometheus: polls in the background until told to stop."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from prometheus_client import CollectorRegistry, ProcessCollector

from burstwatch.fleet.page import FleetCollector
from burstwatch.fleet.poller import Poller
from burstwatch.fleet.site import FleetSite
from burstwatch.web.address import Address
from burstwatch.web.app import App
from burstwatch.web.config import WebConfig, read_web_config
from burstwatch.web.passwords import Passwords
from burstwatch.web.refusals import Refusals
from burstwatch.web.server import open_server

LOG = logging.getLogger("burstwatch")


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """Where to serve and what to publish. ``tags`` are names of tags that become labels, ``every_s`` is the period of the polls."""

    address: Address
    web_config_file: Path | None = None
    tags: Sequence[str] = ()
    most_resources: int
    every_s: float


def serve_fleet(
    fleet: Poller,
    options: ServeOptions,
    *,
    clock: Callable[[], float],
    stop: Event,
) -> None:
    """Poll and serve until ``stop`` is set.

    Raises:
        ValueError: if the web configuration cannot be used.
        OSError: if the address cannot be bound.
    """
    web = read_web_config(options.web_config_file) if options.web_config_file else WebConfig()
    refusals = Refusals()
    registry = CollectorRegistry(auto_describe=False)
    registry.register(
        FleetCollector(
            fleet.readings,
            clock=clock,
            period_s=options.every_s,
            tags=options.tags,
            most_resources=options.most_resources,
            more=[refusals],
        )
    )
    ProcessCollector(registry=registry)
    app = App(FleetSite(registry, fleet.readings, clock=clock), Passwords(web.users), refusals)
    server = open_server(app, options.address, web.tls, setting="web.listen-address")
    LOG.info("polling %d accounts and regions every %g s", len(fleet.readings()), options.every_s)
    try:
        fleet.start()
        while not stop.wait(options.every_s):
            fleet.start()
    finally:
        fleet.stop()
        server.stop()
