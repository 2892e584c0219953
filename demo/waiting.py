"""Simulates how long I/O waits on the demo's disks, because people look at queues too."""

#: What an operation takes where nothing waits, and where the bucket is empty.
CALM_S, HELD_S = 0.0008, 0.030
#: I/O that waits where more is asked for than is served.
HELD_QUEUE = 32.0


def latency_s(level_ratio: float) -> float:
    """The latency of an operation with so much of the bucket left."""
    return HELD_S if level_ratio <= 0 else CALM_S


def queue_length(level_ratio: float, iops: float) -> float:
    """The operations that wait, by Little's law where nothing is held back."""
    return HELD_QUEUE if level_ratio <= 0 else iops * CALM_S
