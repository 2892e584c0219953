"""The tables of docs/security.md, from what the attacks, the soaks and the fuzzing found."""

import json
from typing import Any

from tools.fleet_tables import RESULTS

SOAKS = ("day",)


def attacks_table() -> str:
    """An honest client's scrapes under each attack."""
    lines = [
        "| attack | scrapes | failed | median | slowest | refused | descriptors | MiB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in _read("attacks"):
        cells = (
            one["attack"], str(one["scrapes"]), str(one["failed"]), f"{one['median_s']:.2f} s", f"{one['worst_s']:.2f} s",
            f"{one['refused']:,.0f}", str(one["descriptors"]), f"{one['resident_mib']:.0f}",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def soak_table() -> str:
    """A day and an hour."""
    lines = [
        "| soak | pages | failed | restarts | levels outside | median page | slowest | MiB, begin to end | descriptors |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in (_read(f"soak_{name}") for name in SOAKS):
        memory, held = one["resident_mib"], one["descriptors"]
        cells = (
            one["what"], f"{one['scrapes']:,}", str(one["failed"]), str(one["restarts"]), str(one["wrong"]),
            f"{one['median_s']:.2f} s", f"{one['worst_s']:.2f} s", f"{memory[0]:.0f} to {memory[1]:.0f}",
            f"{held[0]} to {held[1]}",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def fuzz_table() -> str:
    """The inputs of one run, by parser."""
    found = _read("fuzz")
    total, broken = (sum(one[name] for one in found) for name in ("inputs", "broken"))
    lines = [
        "| parser | inputs | broke it |",
        "| --- | --- | --- |",
        *(
            f"| {one['target'].replace('_', ' ')} | {one['inputs']:,} | {one['broken']} |"
            for one in found
        ),
        f"| all | {total:,} | {broken} |",
    ]
    return "\n".join(lines) + "\n"


def _read(name: str) -> Any:  # noqa: ANN401 - as it was kept
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
