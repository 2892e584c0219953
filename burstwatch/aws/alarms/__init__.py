"""Compares the alarms that should be with those that are, and makes, rewrites and ends them."""
