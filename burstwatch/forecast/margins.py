"""Says how near the end of a bucket may be before somebody is told. Every part that must know asks here."""

from dataclasses import dataclass

from burstwatch.config import Config
from burstwatch.history.observations import Resource

#: A warning is what would be critical with so many times the margin.
WARNING_MARGINS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Margins:
    """The margins of one resource, in seconds of worst case that are left.

    Under ``page_s`` a page can be due: waiting for the next sweep and the alarm's path must still leave the lead
    ``lead_s``. Under ``warning_s`` a warning can be. The age of the data is in neither: rolling the level forward has
    spent that already.
    """

    page_s: float
    warning_s: float
    lead_s: float


def margins_of(resource: Resource, config: Config) -> Margins:
    """The margins of a resource: with its owner's lead, or else with its kind's least where that is longer."""
    lead_s = resource.lead_s
    if lead_s is None:
        lead_s = max(config.lead_s, resource.least_lead_s)
    page_s = config.margin_s - config.lead_s + lead_s
    return Margins(page_s=page_s, warning_s=WARNING_MARGINS * page_s, lead_s=lead_s)
