"""Paging rules on recorded workloads: simulate, replay, score, explain."""
