"""Checks a deployment, and what AWS really publishes."""
