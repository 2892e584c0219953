"""The fake as a program of its own, with a fleet by rule: `python -m tests.fake --volumes 1000 --quotas`.

Prints its address, serves until its input ends, then prints what was asked of it as JSON.
"""

import argparse
import json
import sys
import threading
import time
from pathlib import Path

from tests.fake.aws import FakeAws
from tests.fake.herd import FLEETS, Herd
from tests.fake.quotas import Quotas
from tests.fake.server import FakeServer


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(prog="python -m tests.fake", description=__doc__)
    parser.add_argument("--volumes", type=int, default=1_000)
    parser.add_argument("--quotas", action="store_true", help="refuse what comes too fast")
    parser.add_argument(
        "--clock", type=Path, help="a file with the time, in place of the machine's"
    )
    parser.add_argument("--fleet", choices=FLEETS, default="mixed", help="what its volumes do")
    args = parser.parse_args()
    clock = time.time if args.clock is None else lambda: float(args.clock.read_text())
    aws = FakeAws(clock=clock, keeps_calls=False, evaluates_alarms=True)
    aws.add_instance_type("m5.large", iops=18_750, mb_s=593.75)
    aws.add_herd(Herd(count=args.volumes, ends_s=clock(), fleet=args.fleet))
    if args.quotas:
        aws.quotas = Quotas(time.time)
    server = FakeServer(aws)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.url, flush=True)
    sys.stdin.read()
    print(json.dumps({"calls": aws.counted, "billed_metrics": aws.billed_metrics}))


if __name__ == "__main__":
    main()
