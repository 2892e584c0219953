"""Accounts and regions that are watched: which there are, and how each is reached."""
