"""One file of worked examples per kind. ``ITEMS`` and ``FOUND`` are what AWS would answer."""
