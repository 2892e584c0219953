"""Writes the dashboards to ``monitoring/grafana``."""

from pathlib import Path

from monitoring.dashboards.boards import dashboards

FOLDER = Path(__file__).parents[1] / "grafana"

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in dashboards().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
