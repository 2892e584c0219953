"""Serves a fleet to Prometheus: polls in the background until told to stop."""

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from prometheus_client import CollectorRegistry, ProcessCollector

from burstwatch.aws.watched.units import UnitSpec
from burstwatch.fleet import metrics as m
from burstwatch.fleet.page import FleetCollector
from burstwatch.fleet.poller import Poller
from burstwatch.fleet.site import FleetSite
from burstwatch.web.address import Address
from burstwatch.web.app import App
from burstwatch.web.config import WebConfig, read_web_config
from burstwatch.web.exposition import Page
from burstwatch.web.passwords import Passwords
from burstwatch.web.refusals import Refusals
from burstwatch.web.server import open_server

LOG = logging.getLogger("burstwatch")
#: How often the units of a deployment are listed again.
RELIST_S = 300.0


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """Where to serve and what to publish. ``tags`` are names of tags that become labels, ``every_s`` is the period of the polls.

    ``relist`` lists the units to poll anew, with what could not be listed; None where they are named by hand.
    ``is_listed`` is whether the list that the fleet begins with is whole.
    """

    address: Address
    web_config_file: Path | None = None
    tags: Sequence[str] = ()
    most_resources: int
    every_s: float
    relist: "Callable[[], tuple[Sequence[UnitSpec], Sequence[str]]] | None" = None
    is_listed: bool = True


class UnitListing:
    """The list of units to poll, renewed every few minutes. A source of the page."""

    def __init__(self) -> None:
        self._tried_at = self._listed_at = -math.inf

    def begin(self, now: float, *, is_whole: bool) -> None:
        """Take note of the list that the poller begins with: the next is due in a few minutes."""
        self._tried_at = now
        if is_whole:
            self._listed_at = now

    def renew(
        self,
        poller: Poller,
        relist: Callable[[], tuple[Sequence[UnitSpec], Sequence[str]]],
        now: float,
    ) -> None:
        """List them again, if that is due. What cannot be listed is still polled as it was."""
        if now - self._tried_at < RELIST_S:
            return
        self._tried_at = now
        try:
            specs, problems = relist()
        except ValueError as error:
            specs, problems = (), [str(error)]
        for problem in problems:
            LOG.warning("the units could not be listed in full: %s", problem)
        if not problems:
            self._listed_at = now
            poller.watch(specs)

    def add_to(self, page: Page, *_: object) -> None:
        """Say when that was last done."""
        if self._tried_at > -math.inf:
            page.add(m.LISTED_AT, (), max(0.0, self._listed_at))


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
    refusals, listing = Refusals(), UnitListing()
    if options.relist is not None:
        listing.begin(clock(), is_whole=options.is_listed)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(
        FleetCollector(
            fleet.readings,
            clock=clock,
            period_s=options.every_s,
            tags=options.tags,
            most_resources=options.most_resources,
            more=[refusals, listing],
        )
    )
    ProcessCollector(registry=registry)
    app = App(FleetSite(registry, fleet.readings, clock=clock), Passwords(web.users), refusals)
    server = open_server(app, options.address, web.tls, setting="web.listen-address")
    LOG.info("polling %d accounts and regions every %g s", len(fleet.readings()), options.every_s)
    try:
        fleet.start()
        while not stop.wait(options.every_s):
            if options.relist is not None:
                listing.renew(fleet, options.relist, clock())
            fleet.start()
    finally:
        fleet.stop()
        server.stop()
