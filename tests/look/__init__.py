"""A look at a dashboard without a Grafana server.

Its own queries are run against real data sources, and Grafana's own components draw what they give: the
package in ``grafana/``, a bundle that the page loads. Nothing of it is shipped.
"""
