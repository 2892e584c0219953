"""Runs a Lambda function's own package as AWS does: ``awslambdaric`` in a process of its own.

Loaded inside the emulator's environment. LocalStack and localemu can run functions only in
Docker; this executor speaks the Lambda Runtime API (2018-06-01) on a loopback port
and starts the runtime client in the unzipped package, with the environment that
LocalStack computed. The function sees its package, boto3 and nothing else.

Lines of embedded metrics (EMF) that the function prints become metrics, as
CloudWatch Logs would make them. Memory limits, IAM, layers and a read-only file
system are not enforced.
"""

import json
import logging
import os
import signal
import subprocess
import threading
import time
from importlib import import_module
from typing import Any

from demo.localcloud.emf import metric_data
from demo.localcloud.runtime import Output, RuntimeApi, Turn

#: The package of the emulator that loads this: LocalStack, or its fork localemu.
EMULATOR = os.environ["BURSTWATCH_EMULATOR"]
connect_to = import_module(f"{EMULATOR}.aws.connect").connect_to
config = import_module(f"{EMULATOR}.config")
_INVOCATION = f"{EMULATOR}.services.lambda_.invocation"
InvocationResult = import_module(f"{_INVOCATION}.lambda_models").InvocationResult
RuntimeExecutor = import_module(f"{_INVOCATION}.runtime_executor").RuntimeExecutor
LOG = logging.getLogger("burstwatch.localcloud")
STARTUP_S = 60.0
#: The interpreter that has awslambdaric and boto3, and nothing else.
RUNTIME_PYTHON = os.environ.get("BURSTWATCH_LAMBDA_PYTHON", "python3")


class LocalExecutor(RuntimeExecutor):  # type: ignore[misc, valid-type]
    """One execution environment: one process, one invocation at a time."""

    def __init__(self, id: str, function_version: Any) -> None:  # noqa: A002, ANN401 - LocalStack's own signature
        super().__init__(id=id, function_version=function_version)
        self._api = RuntimeApi()
        self._process: subprocess.Popen[bytes] | None = None
        self._environment: dict[str, str] = {}
        self._output = Output()
        threading.Thread(target=self._api.serve_forever, daemon=True).start()

    def start(self, env_vars: dict[str, str]) -> None:
        """Start the process, and wait until it asks for its first event."""
        code = self.function_version.config.code.get_unzipped_code_location()
        self._environment = {name: str(value) for name, value in env_vars.items()} | {
            "AWS_LAMBDA_RUNTIME_API": self._api.address,
            "LAMBDA_TASK_ROOT": str(code),
            "PYTHONPATH": str(code),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            "PATH": os.defpath,
            "TZ": "UTC",
        }
        self._spawn()

    def _spawn(self) -> None:
        self._api.hang_up()
        self._api.ready.clear()
        self._api.init_error = b""
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and the function's handler
            [RUNTIME_PYTHON, "-m", "awslambdaric", self.function_version.config.handler],
            env=self._environment,
            cwd=self._environment["LAMBDA_TASK_ROOT"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
        self._output = Output()
        threading.Thread(target=self._output.follow, args=(self._process,), daemon=True).start()
        deadline = time.monotonic() + STARTUP_S
        while not self._api.ready.wait(0.05):
            if self._process.poll() is not None or time.monotonic() > deadline:
                break
        if not self._api.ready.is_set() or self._api.init_error:
            # AWS reports a failed init with the invocation, not before it.
            LOG.warning("the runtime did not start: %s", self.get_logs()[-2000:])

    def stop(self) -> None:
        """End the process and the API."""
        self._kill()
        self._api.hang_up()
        self._api.shutdown()
        self._api.server_close()

    def invoke(self, payload: dict[str, str], **_: object) -> Any:  # noqa: ANN401 - the emulator's
        """Run one event to its end, its error or its timeout, which is the function's own."""
        if self._process is None or self._process.poll() is not None:
            self._spawn()
        self._output.lines.clear()
        timeout_s = float(self.function_version.config.timeout)
        began = time.monotonic()
        turn = Turn(
            request_id=payload["invoke-id"],
            arn=payload["invoked-function-arn"],
            payload=payload["payload"].encode(),
            trace_id=payload["trace-id"],
            deadline_ms=int((time.time() + timeout_s) * 1000),
        )
        self._api.turns.put(turn)
        while not turn.done.wait(0.02):
            if time.monotonic() - began > timeout_s:
                self._kill()
                turn.finish(
                    _error(f"{turn.request_id} Task timed out after {timeout_s:.2f} seconds"),
                    is_error=True,
                )
            elif self._process is None or self._process.poll() is not None:
                turn.finish(self._api.init_error or _error("Runtime exited"), is_error=True)
        self._api.current = None
        took_ms = (time.monotonic() - began) * 1000
        # What was printed before the answer may still be in the pipe.
        self._output.take_all(self._process)
        lines = list(self._output.lines)
        threading.Thread(target=self._publish, args=(lines,), daemon=True).start()
        logs = "\n".join(
            [
                f"START RequestId: {turn.request_id} Version: $LATEST",
                *lines,
                f"END RequestId: {turn.request_id}",
                f"REPORT RequestId: {turn.request_id}\tDuration: {took_ms:.2f} ms",
            ]
        )
        return InvocationResult(turn.request_id, turn.result, is_error=turn.is_error, logs=logs)

    def _publish(self, lines: list[str]) -> None:
        """Embedded metrics, as CloudWatch Logs extracts them."""
        version = self.function_version.id
        for line in lines:
            for namespace, data in metric_data(line):
                try:
                    client = connect_to(
                        aws_access_key_id=version.account, region_name=version.region
                    ).cloudwatch
                    client.put_metric_data(Namespace=namespace, MetricData=data)
                except Exception:
                    LOG.exception("embedded metrics of %s", version.function_name)

    def _kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def get_logs(self) -> str:
        """Return what the process has printed since the last event began."""
        return "\n".join(self._output.lines)

    def get_address(self) -> str:
        """Return the environment's address."""
        return "127.0.0.1"

    def get_endpoint_from_executor(self) -> str:
        """Return LocalStack's address as the function sees it: on the same host."""
        return "127.0.0.1"

    def get_runtime_endpoint(self) -> str:
        """LocalStack's own callback, which this executor does not use."""
        return f"http://127.0.0.1:{config.GATEWAY_LISTEN[0].port}"

    @classmethod
    def prepare_version(cls, function_version: Any) -> None:  # noqa: ANN401
        """Unzip the package."""
        function_version.config.code.prepare_for_execution()

    @classmethod
    def cleanup_version(cls, function_version: Any) -> None:  # noqa: ANN401
        """Keep the unzipped package: a version with other settings may run the same one."""

    @classmethod
    def validate_environment(cls) -> bool:
        """Nothing is needed beside the interpreter."""
        return True


def _error(message: str) -> bytes:
    return json.dumps({"errorMessage": message, "errorType": "Runtime.Error"}).encode()
