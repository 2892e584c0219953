"""Fuzzes one target, or all in turn: `python -m tests.fuzz MINUTES [TARGET ...]`. It needs atheris; `make fuzz` has it.

Each target starts from the corpus and runs in a process of its own. Inputs that reach new code are kept in
`.cache/fuzz/`, where the next run goes on. An input that breaks a target is put into its corpus, where the tests find it.
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

from tests.fuzz.targets import CORPUS, TARGETS

FOUND = Path(".cache/fuzz/found")
#: The figures of the last run.
KEPT = Path(".cache/fuzz/fuzz.json")
RUNS = re.compile(r"Done (\d+) runs")
LARGEST_BYTES = 4_096


def fuzz(name: str, seconds: int) -> tuple[int, str]:
    """How many inputs were tried, and what the broken target said, or nothing."""
    found = FOUND / name
    found.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable, "-m", "tests.fuzz.one", name, str(found), str(CORPUS / name), f"-max_total_time={seconds}",
        f"-max_len={LARGEST_BYTES}", "-timeout=20", "-rss_limit_mb=512", f"-artifact_prefix={CORPUS / name}/", "-verbosity=1",
    ]  # fmt: skip
    ended = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    runs = RUNS.search(ended.stderr)
    numbers = re.findall(r"^#(\d+)", ended.stderr, re.MULTILINE)
    count = int(runs[1]) if runs else int(numbers[-1]) if numbers else 0
    return count, "" if ended.returncode == 0 else (ended.stdout + ended.stderr)[-3_000:]


def main() -> None:
    """Share the time among the targets, print a line for each."""
    minutes, *names = sys.argv[1:]
    unknown = sorted({*names} - TARGETS.keys())
    if unknown:
        sys.exit(f"no target is called {', '.join(unknown)}; allowed: {', '.join(TARGETS)}")
    names = names or list(TARGETS)
    seconds = max(1, int(60 * float(minutes) / len(names)))
    total, broken, records = 0, [], []
    for name in names:
        began = time.monotonic()
        count, said = fuzz(name, seconds)
        total += count
        records.append({"target": name, "inputs": count, "broken": int(bool(said))})
        print(
            f"{name:14} {count:12,} inputs in {time.monotonic() - began:4.0f} s{'' if not said else ': BROKEN'}",
            flush=True,
        )
        if said:
            broken.append(name)
            print(said)
    print(f"{'all':14} {total:12,} inputs")
    KEPT.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
