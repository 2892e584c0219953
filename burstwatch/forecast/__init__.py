"""How long is left, how likely it is that it runs out, and whether to page."""
