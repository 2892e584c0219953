"""The program that stands in for AWS, and how it is started: LocalStack. The tests have another, a fork of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache"
RUNTIME_PYTHON = CACHE / "lambda-runtime" / "bin" / "python"


@dataclass(frozen=True, kw_only=True)
class Emulator:
    """A program that answers as AWS does.

    In ``command`` and ``settings``, ``{port}`` stands for the port and ``{folder}`` for the folder that
    it may write to. ``certificate`` is the file in that folder that clients must trust, where the emulator speaks
    TLS: policies refuse what comes without.
    """

    name: str
    account: str
    command: Sequence[str]
    settings: Mapping[str, str] = field(default_factory=dict)
    health: str
    certificate: str = ""

    def started_with(self, *, port: int, folder: Path) -> tuple[list[str], dict[str, str]]:
        """The command line and the environment that start it."""
        command = [part.format(port=port, folder=folder) for part in self.command]
        settings = {
            name: value.format(port=port, folder=folder) for name, value in self.settings.items()
        }
        return command, settings


#: Settings that LocalStack and its forks take.
OF_LOCALSTACK = {
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
    account="000000000000",
    command=(str(CACHE / "localstack" / "bin" / "python"), "-m", "demo.localcloud.localstack"),
    settings={
        **OF_LOCALSTACK,
        "LOCALSTACK_HOST": "localhost:{port}",
        "BURSTWATCH_EMULATOR": "localstack",
    },
    health="/_localstack/health",
)
