"""Lists what there is to watch."""
