"""Measurements of the product itself. Each module prints what it measured, and keeps it as JSON."""
