"""Writes links to AWS's console that open on a phone: a resource's own page, and a graph of its level."""

from datetime import UTC, datetime
from urllib.parse import quote

from burstwatch.config import SHOWN_AFTER_S, SHOWN_BEFORE_S
from burstwatch.history.observations import Resource
from burstwatch.kinds.base import Kind
from burstwatch.shards import thing_id

#: AWS documents no public address for the consoles of its isolated partitions: no link there.
#: https://docs.aws.amazon.com/general/latest/gr/aws-service-information.html (2026-11)
DOMAINS = {"cn-": "console.amazonaws.cn", "us-gov-": "console.amazonaws-us-gov.com"}
WITHOUT_LINK = ("us-iso", "eu-isoe", "eusc-")


def console_link(kind: Kind, resource: Resource) -> str:
    """The address of the resource's page; empty where the partition's console is not known."""
    path = kind.console.format(region=resource.region, id=quote(thing_id(resource.id), safe=""))
    return _address(resource.region, path)


def graph_link(kind: Kind, resource: Resource, at: float) -> str:
    """The address of CloudWatch's graph of the level around ``at``.

    AWS does not document this form: it is what the console's own "copy link" gives.
    """
    metric = [kind.namespace, resource.level_metric or kind.level_metrics[0]]
    metric += [text for pair in kind.dimensions_of(resource) for text in pair]
    begin, last = (
        f"{datetime.fromtimestamp(seconds, tz=UTC):%Y-%m-%dT%H:%M:%SZ}"
        for seconds in (at - SHOWN_BEFORE_S, at + SHOWN_AFTER_S)
    )
    graph = (
        f"~(metrics~(~({''.join(map(_text, metric))}))~view~'timeSeries~stacked~false"
        f"~region{_text(resource.region)}~stat{_text(resource.statistic)}~period~60"
        f"~start{_text(begin)}~end{_text(last)})"
    )
    return _address(
        resource.region, f"cloudwatch/home?region={resource.region}#metricsV2:graph={graph}"
    )


def _address(region: str, path: str) -> str:
    if region.startswith(WITHOUT_LINK):
        return ""
    domain = next((host for start, host in DOMAINS.items() if region.startswith(start)), None)
    return f"https://{domain or 'console.aws.amazon.com'}/{path}"


def _text(value: str) -> str:
    """A text in the console's own notation: what is no letter, digit, dot or hyphen as ``*`` and hex."""
    return "~'" + "".join(
        c if c.isascii() and (c.isalnum() or c in "._-") else f"*{ord(c):02x}" for c in value
    )
