"""Starts LocalStack with our executor. Run by LocalStack's own interpreter.

Ten repairs for LocalStack 4.13.1 on Python 3.11: its KMS calls ``uuid5`` with bytes,
which Python takes from 3.12 on; it looks for its Lambda executor by entry point, which
would need a package of its own to be installed; it asks its metric store once for each
period; it takes no expression in GetMetricData (both in ``metric_store``); an alarm that is
updated forgets its state, which AWS leaves unchanged; its list of credit specifications never
ends; an instance has run for as long as it exists here, where what is played for it begins a day
before; the values of its filters have no wildcards, which AWS's have; a service that it does not have, such as RDS, fails, where an account without any such
resource lists none; and it listens on every interface, whatever address it is told.
"""

import os
import signal
import threading
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import partial, wraps
from typing import Any

from demo.localcloud.metric_store import read_statistic, with_expressions

_uuid5 = uuid.uuid5
LOOPBACK = "127.0.0.1"
#: What an update leaves unchanged.
STATE = ("StateValue", "StateReason", "StateUpdatedTimestamp", "StateTransitionedTimestamp")


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


def _with_kept_states(original: Callable[..., Any]) -> Callable[..., Any]:
    """Leave the state of an alarm that is updated unchanged."""

    @wraps(original)
    def put_metric_alarm(self: Any, context: Any, request: Any) -> None:  # noqa: ANN401 - LocalStack's
        alarms = self.get_store(context.account_id, context.region).alarms
        known = {one.alarm["AlarmName"]: one.alarm for one in list(alarms.values())}
        before = known.get(request["AlarmName"], {})
        original(self, context, request)
        kept = {name: before[name] for name in STATE if name in before}
        for one in list(alarms.values()):
            if one.alarm["AlarmName"] == request["AlarmName"]:
                one.alarm.update(kept)

    return put_metric_alarm


def _only_standard(_self: object) -> Any:  # noqa: ANN401 - moto's
    """List no credit specification: AWS lists those of Unlimited instances, and here is none."""
    from moto.core.responses import ActionResult  # noqa: PLC0415

    return ActionResult({"InstanceCreditSpecifications": []})


def _with_wildcards(original: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Let a filter's value such as ``t3.*`` through as AWS does."""

    def is_in(value: Any, wanted: Any) -> bool:  # noqa: ANN401 - moto's
        found = isinstance(value, str) and any(fnmatchcase(value, one) for one in wanted)
        return found or original(value, wanted)

    return is_in


def _launched_before(original: Callable[..., None]) -> Callable[..., None]:
    """Make an instance that was launched a week ago."""

    @wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401, N807 - moto's
        original(self, *args, **kwargs)
        self.launch_time -= timedelta(days=7)

    return __init__


def _listen_on_loopback() -> None:
    """Whoever reaches it can run code as this user: its credentials are no secret."""
    from twisted.internet import endpoints  # noqa: PLC0415 - after the repair

    endpoints.TCP4ServerEndpoint = partial(endpoints.TCP4ServerEndpoint, interface=LOOPBACK)


def _end_with(parent: int) -> None:
    """Stop when whoever started us is gone, even if it was killed and could not say so."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Patch, then run until stopped."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    uuid.uuid5 = _uuid5_of_bytes  # type: ignore[assignment]
    from localstack.aws.handlers.service import ServiceExceptionSerializer  # noqa: PLC0415
    from localstack.runtime.main import main as run  # noqa: PLC0415 - after the repair
    from localstack.services.cloudwatch.cloudwatch_database_helper import (  # noqa: PLC0415
        CloudwatchDatabase,
    )
    from localstack.services.cloudwatch.provider_v2 import CloudwatchProvider  # noqa: PLC0415
    from localstack.services.lambda_.invocation import runtime_executor  # noqa: PLC0415
    from moto.ec2 import utils  # noqa: PLC0415
    from moto.ec2.models.instances import Instance  # noqa: PLC0415
    from moto.ec2.responses.instances import InstanceResponse  # noqa: PLC0415

    def executor() -> type[Any]:
        from demo.localcloud.executor import LocalExecutor  # noqa: PLC0415 - only when first used

        return LocalExecutor

    ServiceExceptionSerializer.create_exception_response = _with_empty_lists(
        ServiceExceptionSerializer.create_exception_response
    )
    _listen_on_loopback()
    runtime_executor.get_runtime_executor = executor
    utils.instance_value_in_filter_values = _with_wildcards(utils.instance_value_in_filter_values)
    Instance.__init__ = _launched_before(Instance.__init__)
    InstanceResponse.describe_instance_credit_specifications = _only_standard
    CloudwatchDatabase.get_metric_data_stat = read_statistic
    CloudwatchProvider.put_metric_alarm = _with_kept_states(CloudwatchProvider.put_metric_alarm)
    CloudwatchProvider.get_metric_data = with_expressions(CloudwatchProvider.get_metric_data)
    run()


if __name__ == "__main__":
    main()
