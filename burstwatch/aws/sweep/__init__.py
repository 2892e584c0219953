"""Sweeps units: a look, the alarms, the heartbeat."""
