"""Measurements of a real disk under a budget of credits."""
