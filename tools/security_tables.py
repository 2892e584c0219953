"""The tables of docs/security.md, from what the attacks and the fuzzing found."""

import json
from collections.abc import Sequence
from typing import Any

from tools.fleet_tables import RESULTS
from tools.markdown import markdown_table

DENIED = RESULTS / "denied.json"


def attacks_table() -> str:
    """An honest client's scrapes under each attack."""
    rows: list[Sequence[str]] = []
    for one in _read("attacks"):
        cells = (
            one["attack"], str(one["scrapes"]), str(one["failed"]), f"{one['median_s']:.2f} s", f"{one['worst_s']:.2f} s",
            f"{one['refused']:,.0f}", str(one["descriptors"]), f"{one['resident_mib']:.0f}",
        )  # fmt: skip
        rows.append(cells)
    return markdown_table(
        "attack | scrapes | failed | median | slowest | refused | descriptors | MiB", rows
    )


def denied_table() -> str:
    """What is said when the function lacks one permission, by what is said."""
    rows = [
        (f"`{one['action']}`", "<br>".join(one["parts"]), "<br>".join(one["told"]), one["victim"])
        for one in json.loads(DENIED.read_text(encoding="utf-8"))
    ]
    return markdown_table(
        "without | what failed, in the log | alarms that this makes, or raises if it lasts | a volume in danger is",
        rows,
    )


def fuzz_table() -> str:
    """The inputs of one run, by parser."""
    found = [
        (one["target"].replace("_", " "), one["inputs"], one["broken"]) for one in _read("fuzz")
    ]
    everything = ("all", sum(inputs for _, inputs, _ in found), sum(broken for *_, broken in found))
    rows = [(name, f"{inputs:,}", str(broken)) for name, inputs, broken in (*found, everything)]
    return markdown_table("parser | inputs | broke it", rows)


def soak_table() -> str:
    """The exporter over a day on a faster clock, and over a real hour."""
    rows: list[Sequence[str]] = []
    for name in ("soak_day", "soak_hour"):
        one = _read(name)
        (first_mib, last_mib), (first_open, last_open) = one["resident_mib"], one["descriptors"]
        cells = (
            one["what"], f"{one['looks']:,}", f"{one['scrapes']:,}", str(one["failed"]), str(one["restarts"]),
            str(one["wrong"]), f"{one['median_s']:.2f} s", f"{first_mib:.0f}, {last_mib:.0f}", f"{first_open}, {last_open}",
        )  # fmt: skip
        rows.append(cells)
    return markdown_table(
        "soak | looks | scrapes | failed | restarts | levels outside | median scrape | MiB, first and last | descriptors, first and last",
        rows,
    )


def _read(name: str) -> Any:  # noqa: ANN401 - as it was kept
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
