"""A scraped page, by what its samples mean."""

from prometheus_client.parser import text_string_to_metric_families


def value(text: str, name: str, **labels: str) -> float | None:
    """The value of the one sample with these labels, or None without one."""
    found = [
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    ]
    assert len(found) <= 1, found
    return found[0] if found else None
