"""Holds observations: levels and demand on an even grid, cut at an instant."""
