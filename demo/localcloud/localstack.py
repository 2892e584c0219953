"""Starts LocalStack 4.13.1 with our repairs. Run by LocalStack's own interpreter.

Beside what ``repairs`` has: on Python 3.11 its KMS calls ``uuid5`` with bytes, which Python takes from
3.12 on; and it looks for its Lambda executor by entry point, which would need a package of its own to be
installed.
"""

import uuid
from typing import Any

from demo.localcloud.repairs import repair

_uuid5 = uuid.uuid5


def _uuid5_of_bytes(namespace: uuid.UUID, name: str | bytes) -> uuid.UUID:
    return _uuid5(namespace, name if isinstance(name, str) else name.hex())


def main() -> None:
    """Patch, then run until stopped."""
    uuid.uuid5 = _uuid5_of_bytes  # type: ignore[assignment]
    from localstack.runtime.main import main as run  # noqa: PLC0415 - after the repair
    from localstack.services.lambda_.invocation import runtime_executor  # noqa: PLC0415

    def executor() -> type[Any]:
        from demo.localcloud.executor import LocalExecutor  # noqa: PLC0415 - only when first used

        return LocalExecutor

    repair("localstack")
    runtime_executor.get_runtime_executor = executor
    run()


if __name__ == "__main__":
    main()
