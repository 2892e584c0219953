"""Stores the figures of the benchmarks."""

import json
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def keep(name: str, record: object) -> None:
    """Write one benchmark's figures to its file."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
