"""Projects the time that is left, how likely the end is, and whether to page."""
