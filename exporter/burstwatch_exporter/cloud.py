"""Asks AWS for types, sizes and balances, where the extra ``aws`` and a role are there.

Never asked on a scrape, but every so often beside it. What it said stays good until it says
otherwise; that it cannot be asked is told, and counts for nothing else.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from burstwatch.history.observations import Resource
from burstwatch.history.points import COARSE_S, FINE_S, LevelPoint
from burstwatch.kinds._volume import Volume
from burstwatch.kinds.base import Scope
from burstwatch.kinds.ebs_volume import KIND
from burstwatch.polling.queries import level_query
from burstwatch.shards import Unit
from burstwatch_exporter.credits.disk_spec import DiskSpec
from burstwatch_exporter.credits.published import CloudAnswer
from burstwatch_exporter.imds import Identity, read_identity
from burstwatch_exporter.instance_types import Bandwidth, bandwidth_in_mbps, find_type
from burstwatch_exporter.sources import Sources

if TYPE_CHECKING:  # boto3 takes long to import
    from burstwatch.aws.client.session import Clients
    from burstwatch.aws.inventory.listings import ItemListing

#: Datapoints of so long are asked for: CloudWatch may be ten minutes late, and give one each five.
LOOK_BACK_S = 1800.0
ANSWER_WITHIN_S = 30.0
#: An answer has its time in whole seconds, and takes a moment to come: less is no difference of clocks.
SAME_CLOCK_S = 2.0
MBPS_PER_GBPS = 1_000


class Cloud:
    """Asks EC2 about the volumes of this instance and, if wanted, CloudWatch about their balances."""

    def __init__(
        self,
        *,
        imds: str,
        with_balances: bool,
        sources: Sources,
        make_clients: "Callable[[str], Clients]",
    ) -> None:
        """``make_clients`` gives clients for a region."""
        self._imds, self._with_balances = imds, with_balances
        self._sources, self._make_clients = sources, make_clients
        self._clients: Clients | None = None
        self._resources: Sequence[Resource] = ()
        self._cloud = CloudAnswer(specs={}, balances={})

    def ask(self, now: float) -> CloudAnswer:
        """Ask for everything again, at ``now`` by this host's clock. Where a call fails, the last answer stays."""
        began = time.monotonic()
        with self._sources.attempt("ec2") as attempt:
            identity = read_identity(self._imds)
            described: ItemListing = {}
            resources = self._describe(identity, described, now, attempt.problems)
            ahead_s = self._ahead(now - began)
            self._cloud = replace(
                self._cloud,
                ahead_s=ahead_s,
                instance_type=identity.instance_type,
                bandwidth=self._bandwidth(identity.instance_type, described),
                specs={
                    resource.id: spec
                    for resource in resources
                    if (spec := _promise(resource, ahead_s))
                },
            )
        if self._with_balances:
            with self._sources.attempt("cloudwatch") as attempt:
                balances = self._balances(now, attempt.problems)
                self._cloud = replace(self._cloud, balances=balances)
        return self._cloud

    def _bandwidth(self, instance_type: str, described: "ItemListing") -> Bandwidth | None:
        """What the network moves: as EC2 says or has said, or else as it did when the table was written."""
        answer = _described_bandwidth(instance_type, described)
        if answer is None and instance_type == self._cloud.instance_type:
            answer = self._cloud.bandwidth
        known = find_type(instance_type) if answer is None else None
        return known.bandwidth if known is not None else answer

    def _ahead(self, began: float) -> float | None:
        """How far AWS's clock is ahead of this host's, which showed ``began`` when the monotonic clock was at 0."""
        if self._clients is None or self._clients.dated is None:
            return self._cloud.ahead_s
        aws_s, at = self._clients.dated
        ahead_s = aws_s - (began + at)
        before = self._cloud.ahead_s or 0.0
        return before if abs(ahead_s - before) < SAME_CLOCK_S else ahead_s

    def alarms_up(self) -> dict[str, str]:
        """The alarms that sweeps have raised on volumes, by volume id; ``cloudwatch:DescribeAlarms``.

        Raises:
            ValueError: if AWS cannot be asked.
        """
        from burstwatch.aws.alarms.api import read_alarms  # noqa: PLC0415 - boto3 takes long to import
        from burstwatch.aws.client.names import EVERY_ALARM  # noqa: PLC0415 - the same
        from burstwatch.aws.client.session import AWS_ERRORS, describe_error  # noqa: PLC0415 - the same

        if self._clients is None:
            msg = "EC2 has not said which instance this is, so its alarms are not known"
            raise ValueError(msg)
        try:
            alarms = read_alarms(self._clients, *EVERY_ALARM)
        except AWS_ERRORS as error:
            msg = f"cannot check for active alarms: {describe_error(error)}"
            raise ValueError(msg) from error
        return {alarm.resource_id: alarm.name for alarm in alarms if alarm.state == "ALARM"}

    def _describe(
        self, identity: Identity, described: "ItemListing", now: float, problems: list[str]
    ) -> Sequence[Resource]:
        """List the volumes attached to this instance, with what was ``described`` of it; raises ValueError if the list is not complete."""
        if self._clients is None:
            self._clients = self._make_clients(identity.region)
        from burstwatch.aws.inventory.inventory import take_inventory  # noqa: PLC0415 - boto3 takes long to import

        mine = Scope(parents=(identity.instance_id,))
        unit = Unit(account=identity.account, region=identity.region)
        inventory = take_inventory(KIND, self._clients, unit, now=now, scope=mine, listed=described)
        problems += [f"{problem.part}: {problem.error}" for problem in inventory.problems]
        if not inventory.complete:
            msg = "the volumes of this instance could not be listed"
            raise ValueError(msg)
        self._resources = inventory.resources
        return inventory.resources

    def _balances(self, now: float, problems: list[str]) -> dict[str, LevelPoint]:
        """Read each volume's newest published balance, by its id."""
        from burstwatch.aws.client.session import Deadline  # noqa: PLC0415 - the same
        from burstwatch.aws.look.metrics import read_metrics  # noqa: PLC0415 - boto3 takes long to import

        if self._clients is None:
            msg = "EC2 has not said yet what volumes there are"
            raise ValueError(msg)
        with_bucket = [resource for resource in self._resources if resource.bucket is not None]
        queries = [level_query(KIND, resource) for resource in with_bucket]
        answers = read_metrics(
            self._clients,
            queries,
            start_s=now - LOOK_BACK_S,
            end_s=now,
            period_s=int(FINE_S),
            deadline=Deadline(time.monotonic, at=time.monotonic() + ANSWER_WITHIN_S),
        )
        problems += [f"{problem.part}: {problem.error}" for problem in answers.problems]
        return {
            resource.id: newest
            for resource in with_bucket
            if (
                newest := _newest(
                    resource, answers.series.get((resource.id, resource.level_metric), [])
                )
            )
        }


def make_host_clients(region: str) -> "Clients":
    """Clients by the environment's credentials."""
    from burstwatch.aws.client.session import Clients  # noqa: PLC0415 - boto3 takes long to import

    return Clients(region)


def _promise(resource: Resource, ahead_s: float | None) -> DiskSpec | None:
    """Convert AWS's description of a volume; its times are by this host's clock."""
    volume = resource.detail
    if not isinstance(volume, Volume):
        return None
    own_bucket = resource.bucket
    if own_bucket is not None and volume.spec.bucket is not None:
        # Elsewhere it may be spent as fast as the volume itself allows.
        own_bucket = replace(own_bucket, burst=max(own_bucket.burst, volume.spec.bucket.burst))
    return DiskSpec(
        volume=volume,
        own_bucket=own_bucket,
        bucket=resource.bucket,
        limit=resource.limit,
        source="ec2",
        created_s=_by_host(volume.created_s, ahead_s),
        changed_s=_by_host(resource.reporting.history_from_s, ahead_s or 0.0),
        is_changing=volume.is_changing,
    )


def _described_bandwidth(instance_type: str, described: "ItemListing") -> Bandwidth | None:
    """What the network of a type moves, as EC2 has described it; None where it did not."""
    items = (item for listed, _ in described.values() for item in listed)
    spec = next((item for item in items if item.get("InstanceType") == instance_type and "NetworkInfo" in item), {})  # fmt: skip
    cards = spec.get("NetworkInfo", {}).get("NetworkCards", ())
    baseline, peak = (
        sum(card.get(f"{name}BandwidthInGbps", 0.0) for card in cards) * MBPS_PER_GBPS
        for name in ("Baseline", "Peak")
    )
    return bandwidth_in_mbps(baseline, peak) if baseline > 0 else None


def _by_host(at_s: float | None, ahead_s: float | None) -> float | None:
    return None if at_s is None or ahead_s is None else at_s - ahead_s


def _newest(resource: Resource, series: Sequence[tuple[float, float]]) -> LevelPoint | None:
    """The last datapoint, with the period that the datapoints really have."""
    cut = resource.reporting.history_from_s
    points = [point for point in series if cut is None or point[0] >= cut]
    if not points:
        return None
    start_s, percent = points[-1]
    # Of five minutes, unless two datapoints show that they are finer: both hold for that.
    is_fine = any(after[0] - before[0] < COARSE_S for before, after in pairwise(points))
    return LevelPoint(
        start_s=start_s,
        period_s=FINE_S if is_fine else COARSE_S,
        ratio=percent / 100,
        statistic=resource.reporting.statistic,
    )
