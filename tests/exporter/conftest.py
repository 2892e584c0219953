import os
from pathlib import Path

import pytest

from burstwatch_exporter.measure import command
from tests.exporter.planted import Planted, plant_host


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Planted:
    monkeypatch.setattr(os, "geteuid", lambda: 1_000)
    monkeypatch.setattr(command, "LOOK_S", 0.05)
    return plant_host(tmp_path / "host", tmp_path / "data")
