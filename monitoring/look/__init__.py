"""A look at a dashboard without a Grafana server.

Its own queries are run against real data sources, and what they give is drawn panel by panel in the
dashboard's own layout and units, as a page that needs nothing else. What our dashboards use of Grafana
is known here, and what is not known is refused.
"""
