"""One invocation of the sweep's own Lambda handler, as a process that other benchmarks measure.

With an argument such as ``3/16`` it sweeps that shard.
"""

import json
import os
import sys
import time

#: As long as a function may run at most.
TIMEOUT_S = 900.0


class Context:
    """What the handler asks of Lambda."""

    def __init__(self) -> None:
        self._ends = time.monotonic() + TIMEOUT_S

    def get_remaining_time_in_millis(self) -> int:
        """As Lambda says it."""
        return int(1_000 * (self._ends - time.monotonic()))


def main() -> int:
    """Sweep once. 0 if it is whole."""
    os.environ.setdefault("BURSTWATCH_KINDS", "ebs_volume")
    from lambdas.sweep import handler  # noqa: PLC0415 - it reads its settings where it is imported

    unit = {"shard": sys.argv[1]} if len(sys.argv) > 1 else {}
    told = handler({"unit": unit}, Context())  # type: ignore[arg-type]  # all that it asks of it
    print(json.dumps(told))
    return 0 if told["completed"] else 1


if __name__ == "__main__":
    sys.exit(main())
