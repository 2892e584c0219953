"""Starts LocalStack 4.13.1 with our repairs. Run by LocalStack's own interpreter.

Beside what ``repairs`` has: on Python 3.11 its KMS calls ``uuid5`` with bytes, which Python takes from
3.12 on; it looks for its Lambda executor by entry point, which would need a package of its own to be
installed; and a service that it does not have, such as RDS, fails, where an account without any such
resource lists none.
"""

import uuid
from collections.abc import Callable
from typing import Any

from demo.localcloud.repairs import repair

_uuid5 = uuid.uuid5


def _uuid5_of_bytes(namespace: uuid.UUID, name: str | bytes) -> uuid.UUID:
    return _uuid5(namespace, name if isinstance(name, str) else name.hex())


def _with_empty_lists(original: Callable[..., Any]) -> Callable[..., Any]:
    """Answer lists of a service that is not there as an account without any such resource does."""

    def respond(handler: object, error: Exception, context: Any) -> Any:  # noqa: ANN401 - LocalStack's
        from localstack.aws.protocol.serializer import create_serializer  # noqa: PLC0415

        operation = context.operation
        is_list = operation is not None and operation.name.startswith(("Describe", "List"))
        if not (isinstance(error, NotImplementedError) and is_list):
            return original(handler, error, context)
        serializer = create_serializer(context.service, context.protocol)
        members = operation.output_shape.members if operation.output_shape else {}
        # AWS says an empty list; an answer without one would be one that was cut.
        nothing = {name: [] for name, shape in members.items() if shape.type_name == "list"}
        return serializer.serialize_to_response(
            nothing, operation, context.request.headers, context.request_id
        )

    return respond


def main() -> None:
    """Patch, then run until stopped."""
    uuid.uuid5 = _uuid5_of_bytes  # type: ignore[assignment]
    from localstack.aws.handlers.service import ServiceExceptionSerializer  # noqa: PLC0415
    from localstack.runtime.main import main as run  # noqa: PLC0415 - after the repair
    from localstack.services.lambda_.invocation import runtime_executor  # noqa: PLC0415

    def executor() -> type[Any]:
        from demo.localcloud.executor import LocalExecutor  # noqa: PLC0415 - only when first used

        return LocalExecutor

    ServiceExceptionSerializer.create_exception_response = _with_empty_lists(
        ServiceExceptionSerializer.create_exception_response
    )
    repair("localstack")
    runtime_executor.get_runtime_executor = executor
    run()


if __name__ == "__main__":
    main()
