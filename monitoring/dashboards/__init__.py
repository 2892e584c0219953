"""The Grafana dashboards, in code: one file for each, written to ``monitoring/grafana``.

Classic JSON, as Grafana 10 to 13 import it. ``python -m monitoring.dashboards`` writes it.
"""
