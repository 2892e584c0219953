"""Calls AWS: sessions, pace, the deployment's outputs and the names of alarms and metrics."""
