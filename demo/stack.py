"""The real CDK app on the local cloud: the very commands that a real account takes."""

import contextlib
import json
import os
import platform
import signal
import subprocess
import threading
import time
from collections.abc import Mapping

from demo.localcloud.cloud import LocalCloud
from demo.localcloud.emulators import ROOT

TIMEOUT_S = 900


class StackError(RuntimeError):
    """A CDK command failed; the message ends with what it printed last."""


class Stack:
    """One deployment of the app, in one region of the local cloud."""

    def __init__(
        self,
        cloud: LocalCloud,
        *,
        region: str = "us-east-1",
        settings: Mapping[str, str],
        context: Mapping[str, str] | None = None,
    ) -> None:
        """``context`` is what ``cdk -c`` takes beside the settings."""
        self._environment = cloud.environment(region)
        self._account, self._region = cloud.account, region
        self._settings, self._context = settings, context or {}
        self._cancelled = threading.Event()
        self.deployment = self._context.get("deployment", "burstwatch")
        self._assembly = cloud.folder / f"cdk-{region}-{self.deployment}"
        self._outputs = cloud.folder / f"outputs-{region}-{self.deployment}.json"

    def synth(self) -> None:
        """Make the template and the Lambda package."""
        settings = ",".join(f"{name}={value}" for name, value in self._settings.items())
        machine = "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64"
        given = {"architecture": machine, "settings": settings, **self._context}
        context = [part for name, value in given.items() for part in ("-c", f"{name}={value}")]
        self._cdk("synth", "--quiet", "--output", str(self._assembly), *context)

    def bootstrap(self) -> None:
        """Make what `cdk deploy` needs once per account and region."""
        self._cdk(
            "bootstrap", "--app", str(self._assembly), f"aws://{self._account}/{self._region}"
        )

    def deploy(self) -> dict[str, str]:
        """Deploy what was synthesised. Returns the outputs by the last part of their names.

        Raises:
            StackError: if it cannot be deployed, or has no outputs.
        """
        outputs = self._deployed_outputs()
        if not outputs:
            # LocalStack writes the state of a stack before its outputs (`execute_change_set` of its CloudFormation), and CDK may
            # read between the two. The second command finds nothing to change.
            outputs = self._deployed_outputs()
        if not outputs:
            msg = f"the stack of {self.deployment} in {self._region} has no outputs"
            raise StackError(msg)
        names = (
            "PageTopicArn",
            "NoticeTopicArn",
            "EventsTopicArn",
            "SweepFunctionName",
            "RuleName",
            "LogGroupName",
        )
        return {name: value for name in names for key, value in outputs.items() if name in key}

    def _deployed_outputs(self) -> Mapping[str, str]:
        self._cdk(
            "deploy", "--app", str(self._assembly), "--require-approval", "never",
            "--outputs-file", str(self._outputs),
        )  # fmt: skip
        stacks: Mapping[str, Mapping[str, str]] = json.loads(self._outputs.read_text())
        return next(iter(stacks.values()), {})

    def destroy(self) -> None:
        """Delete the stack."""
        self._cdk("destroy", "--app", str(self._assembly), "--force")

    def cancel(self) -> None:
        """End the command that runs, from another thread, and begin no other."""
        self._cancelled.set()

    def _cdk(self, command: str, *arguments: str) -> None:
        with subprocess.Popen(  # noqa: S603 - our own arguments
            [ROOT / "node_modules" / ".bin" / "cdk", command, "--no-notices", *arguments],
            cwd=ROOT,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            printed = self._wait(process)
        if process.returncode != 0:
            msg = f"cdk {command} failed:\n" + "\n".join(printed.splitlines()[-20:])
            raise StackError(msg)

    def _wait(self, process: subprocess.Popen[str]) -> str:
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            try:
                return process.communicate(timeout=0.5)[0]
            except subprocess.TimeoutExpired:
                if self._cancelled.is_set() or time.monotonic() > deadline:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
