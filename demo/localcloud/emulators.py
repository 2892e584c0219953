"""The programs that stand in for AWS: how each is started, and what it cannot do.

``localstack`` runs the demo. ``localemu`` and ``fakecloud`` are by others, and check rights.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache"
RUNTIME_PYTHON = CACHE / "lambda-runtime" / "bin" / "python"
#: What fakecloud's own installer calls it; a binary elsewhere is named by this variable.
FAKECLOUD = Path(os.environ.get("FAKECLOUD", CACHE / "fakecloud" / "bin" / "fakecloud"))


@dataclass(frozen=True, kw_only=True)
class Emulator:
    """A program that answers as AWS does.

    In ``command`` and ``settings``, ``{port}`` stands for the port and ``{folder}`` for the folder that
    it may write to. ``cannot`` has what AWS does and it does not, each with what stands in for it.
    """

    name: str
    version: str
    account: str
    command: Sequence[str]
    settings: Mapping[str, str] = field(default_factory=dict)
    health: str
    cannot: Mapping[str, str]

    def started_with(self, *, port: int, folder: Path) -> tuple[list[str], dict[str, str]]:
        """The command line and the environment that start it."""
        command = [part.format(port=port, folder=folder) for part in self.command]
        settings = {
            name: value.format(port=port, folder=folder) for name, value in self.settings.items()
        }
        return command, settings


#: LocalStack and its fork take the same settings.
_OF_LOCALSTACK = {
    "PYTHONPATH": str(ROOT),
    "PYTHONDONTWRITEBYTECODE": "1",
    "FILESYSTEM_ROOT": "{folder}/root",
    "GATEWAY_LISTEN": "127.0.0.1:{port}",
    "BURSTWATCH_LAMBDA_PYTHON": str(RUNTIME_PYTHON),
    "DISABLE_EVENTS": "1",
    "SKIP_SSL_CERT_DOWNLOAD": "1",
    "LAMBDA_KEEPALIVE_MS": "900000",
}

LOCALSTACK = Emulator(
    name="localstack",
    version="4.13.1",
    account="000000000000",
    command=(str(CACHE / "localstack" / "bin" / "python"), "-m", "demo.localcloud.localstack"),
    settings={
        **_OF_LOCALSTACK,
        "LOCALSTACK_HOST": "localhost:{port}",
        "BURSTWATCH_EMULATOR": "localstack",
    },
    health="/_localstack/health",
    cannot={},
)
LOCALEMU = Emulator(
    name="localemu",
    version="1.3.2",
    account="000000000000",
    command=(str(CACHE / "localemu" / "bin" / "python"), "-m", "demo.localcloud.localemu"),
    settings={
        **_OF_LOCALSTACK,
        "LOCALEMU_HOST": "localhost:{port}",
        "BURSTWATCH_EMULATOR": "localemu",
        "IAM_ENFORCEMENT": "1",
        "ROOT_ACCESS_KEYS": "test",
        "BURSTWATCH_DECISIONS": "{folder}/decisions.jsonl",
    },
    health="/_localemu/health",
    cannot={},
)
FAKECLOUD_STRICT = Emulator(
    name="fakecloud",
    version="0.51.0",
    account="123456789012",
    command=(str(FAKECLOUD), "--addr", "127.0.0.1:{port}", "--iam", "strict", "--enforce-quotas"),
    health="/_fakecloud/health",
    cannot={},
)
EMULATORS = (LOCALSTACK, LOCALEMU, FAKECLOUD_STRICT)
