"""Reads the metrics of what is due, and judges it: one snapshot of a unit."""
