import math
import os
from pathlib import Path

import pytest

from burstwatch_exporter.measure import command
from burstwatch_exporter.measure import run as measure_run
from tests.exporter.planted import Planted, plant_host


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Planted:
    monkeypatch.setattr(os, "geteuid", lambda: 1_000)
    monkeypatch.setattr(command, "LOOK_S", 0.05)
    # Its counters are planted, and do not show what programs really do; on the throttled disk they do.
    monkeypatch.setattr(measure_run, "LEAST_MIB", math.inf)
    return plant_host(tmp_path / "host", tmp_path / "data")
