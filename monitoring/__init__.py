"""Holds what users look at: dashboards, rules and runbooks, and how they are made and tried."""
