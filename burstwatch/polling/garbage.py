"""Lets Python look for garbage seldom.

A look makes a hundred thousand objects, and nearly all of them end with it by themselves. To search them again and again for
those that only refer to one another was a fifth of a sweep.
"""

import gc

#: Objects that are made before the newest are searched, and how many of such searches before the older ones are.
NEWEST, OLDER, OLDEST = 50_000, 10, 10


def collect_seldom() -> None:
    """Keep what is loaded so far out of every search, and search the rest seldom. For the start of a program."""
    gc.freeze()
    gc.set_threshold(NEWEST, OLDER, OLDEST)
