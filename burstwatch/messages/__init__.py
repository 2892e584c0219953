"""Writes what a person reads: one brief of a resource, as text, as chat and for programs."""
