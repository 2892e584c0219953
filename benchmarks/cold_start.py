"""Measures the function's start time and size, beside a bare handler with Powertools.

Both run as AWS runs them: the runtime client of AWS in a process of its own, with the package as the
deployment builds it, against a Runtime API on loopback. A start is measured from the process to the first
question for work; nothing is asked of AWS. `PYTHON` is the Python of the functions, 3.13, whose bytecode is then in our
package. The bare handlers are as pip installs them for Lambda, without any, and once more with it.
"""

import os
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
import zipfile
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

from benchmarks.record import keep

ROOT = Path(__file__).parent.parent
RUNTIME = ROOT / ".cache" / "lambda-runtime-3.13"
UV = ROOT / ".cache" / "uv" / "bin" / "uv"
STARTS = 15
PATIENCE_S = 30.0
BUILD = "import { buildPackage } from './cdk/lib/bundle.ts'; console.log(buildPackage());"
BARE = """from aws_lambda_powertools import Logger, Metrics

logger = Logger(service="bare")
metrics = Metrics(namespace="Bare")


@metrics.log_metrics
def handler(event, context):
    return {}
"""
WITH_CLIENTS = """import boto3

clients = [boto3.client(name) for name in ("ec2", "cloudwatch", "sns")]
"""
#: What the runtime is made of: everything but these is the function's own.
OWN = ("burstwatch", "lambdas")


@dataclass
class _Api:
    """Says when a runtime first asks for work, and gives it none."""

    asked: threading.Event = field(default_factory=threading.Event)
    at: float = 0.0

    def serve(self) -> ThreadingHTTPServer:
        """On a free port of loopback."""
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                api.at = time.perf_counter()
                api.asked.set()
                time.sleep(PATIENCE_S)

            def do_POST(self) -> None:  # an error while it started
                self.send_response(202)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server


def main() -> None:
    """Measure both by turns."""
    python = os.environ.get("PYTHON", "python3.13")
    install_runtime(python)
    package = Path(_built(python))
    with tempfile.TemporaryDirectory() as folder:
        sides = {"burstwatch": (package, "lambdas.sweep.handler")}
        for name, source, ignored in (
            ("bare", BARE, "__pycache__"),
            ("bare with bytecode", BARE, ""),
            ("bare with clients", WITH_CLIENTS + BARE, "__pycache__"),
        ):
            where = Path(folder, name)
            ignore = shutil.ignore_patterns(*OWN, ignored)
            shutil.copytree(package, where, ignore=ignore)
            (where / "bare.py").write_text(source)
            sides[name] = (where, "bare.handler")
        starts: dict[str, list[float]] = {name: [] for name in sides}
        for turn in range(STARTS + 1):
            for name, (where, handler) in sides.items():
                seconds = _start(where, handler)
                if turn:  # the first one reads it all from the disk
                    starts[name].append(seconds)
        record = {
            name: {
                "start_ms": 1_000 * statistics.median(starts[name]),
                "slowest_ms": 1_000 * max(starts[name]),
                "package_mib": _zipped(where) / 2**20,
            }
            for name, (where, _) in sides.items()
        }
    keep("cold_start", record)
    for name, one in record.items():
        print(
            f"{name:12} start {one['start_ms']:.0f} ms (slowest {one['slowest_ms']:.0f}), zipped {one['package_mib']:.2f} MiB"
        )


def install_runtime(python: str) -> None:
    """Make an environment with AWS's runtime client for a Python."""
    requirements = ROOT / "demo" / "localcloud" / "runtime.txt"
    commands: tuple[list[str | Path], ...] = (
        [UV, "venv", "-q", "--clear", "--python", python, RUNTIME],
        [UV, "pip", "install", "-q", "--require-hashes", "--python", RUNTIME, "-r", requirements],
    )
    for command in commands:
        subprocess.run(command, check=True)  # noqa: S603 - our own


def _built(python: str) -> str:
    env = {**os.environ, "PYTHON": python}
    command = ["node", "--import", "tsx", "--input-type=module", "--eval", BUILD]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, env=env)  # noqa: S603 - our own
    return done.stdout.strip()


def _start(package: Path, handler: str) -> float:
    """Seconds from the process to its first question for work."""
    api = _Api()
    server = api.serve()
    env = {
        "PATH": os.environ["PATH"],
        "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{server.server_address[1]}",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
        "LAMBDA_TASK_ROOT": str(package),
        "_HANDLER": handler,
        "PYTHONPATH": str(package),
        # As in Lambda, where a package cannot be written to: each start compiles it.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    began = time.perf_counter()
    command: list[str | Path] = [RUNTIME / "bin" / "python", "-m", "awslambdaric", handler]
    child = subprocess.Popen(command, cwd=package, env=env)  # noqa: S603 - our own
    try:
        if not api.asked.wait(PATIENCE_S):
            msg = f"{handler} did not start"
            raise RuntimeError(msg)
        return api.at - began
    finally:
        child.kill()
        child.wait()
        server.shutdown()
        server.server_close()


def _zipped(package: Path) -> int:
    """Bytes of the package as it is uploaded."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _files(package):
            archive.write(path, path.relative_to(package))
    return len(buffer.getvalue())


def _files(package: Path) -> list[Path]:
    return sorted(
        Path(folder) / name
        for folder, _, names in os.walk(package, followlinks=True)
        for name in names
    )


if __name__ == "__main__":
    main()
