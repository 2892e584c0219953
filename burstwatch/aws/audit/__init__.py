"""Audits the account's own alarms on credits: what they watch, whether they can fire, and who hears them."""
