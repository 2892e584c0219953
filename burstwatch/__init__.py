"""Tells how long until the burst credits of an AWS resource run out."""

__version__ = "0.1.0"
