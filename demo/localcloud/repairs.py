"""Repairs that LocalStack and its fork localemu both need. Run by the emulator's own interpreter.

Both ask their metric store once for each period (``metric_store``). An alarm that is updated forgets its state, which AWS leaves unchanged. The list of
credit specifications never ends. A list that they do not have, such as RDS's or that of mute rules, fails,
where an account without any such thing lists none. An instance has run for as long as it exists here, where what is
played for it begins a day before. The values of filters have no wildcards, which AWS's have. They listen
on every interface, whatever address they are told. A service that two ask for at once is there for the second
before it has any operation. And they run functions only in Docker, which ``executor`` does not.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import partial, wraps
from importlib import import_module
from typing import Any

from demo.localcloud.metric_store import read_statistic

LOOPBACK = "127.0.0.1"
#: What an update leaves unchanged.
STATE = ("StateValue", "StateReason", "StateUpdatedTimestamp", "StateTransitionedTimestamp")


def repair(package: str) -> None:
    """Patch the emulator whose modules are in ``package``, before it starts, and end it with its parent."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    _listen_on_loopback()
    _repair_moto()
    exceptions = import_module(f"{package}.aws.handlers.service").ServiceExceptionSerializer
    exceptions.create_exception_response = _with_empty_lists(
        exceptions.create_exception_response, package
    )
    skeleton = import_module(f"{package}.aws.skeleton").Skeleton
    skeleton.on_not_implemented_error = _with_empty_answers(skeleton.on_not_implemented_error)
    loader = import_module(f"{package}.aws.handlers.service_plugin").ServiceLoader
    loader.require_service = whole_before_used(loader.require_service)
    helper = import_module(f"{package}.services.cloudwatch.cloudwatch_database_helper")
    cloudwatch = import_module(f"{package}.services.cloudwatch.provider_v2").CloudwatchProvider
    helper.CloudwatchDatabase.get_metric_data_stat = read_statistic
    cloudwatch.put_metric_alarm = _with_kept_states(cloudwatch.put_metric_alarm)


def _repair_moto() -> None:
    from moto.ec2 import utils  # noqa: PLC0415 - it takes seconds, and this module none
    from moto.ec2.models.instances import Instance  # noqa: PLC0415
    from moto.ec2.responses.instances import InstanceResponse  # noqa: PLC0415

    utils.instance_value_in_filter_values = _with_wildcards(utils.instance_value_in_filter_values)
    Instance.__init__ = began_a_week_ago(Instance.__init__, "launch_time")
    InstanceResponse.describe_instance_credit_specifications = _only_standard


def _nothing(operation: Any) -> dict[str, list[Any]] | None:  # noqa: ANN401 - botocore's
    """What an account that has nothing answers to a list; None for another operation."""
    if operation is None or not operation.name.startswith(("Describe", "List")):
        return None
    members = operation.output_shape.members if operation.output_shape else {}
    # AWS says an empty list; an answer without one would be one that was cut.
    return {name: [] for name, shape in members.items() if shape.type_name == "list"}


def _with_empty_lists(original: Callable[..., Any], package: str) -> Callable[..., Any]:
    """Answer lists of a service that is not there as an account without any such resource does."""
    serializers = import_module(f"{package}.aws.protocol.serializer")

    def respond(handler: object, error: Exception, context: Any) -> Any:  # noqa: ANN401 - the emulator's
        nothing = _nothing(context.operation) if isinstance(error, NotImplementedError) else None
        if nothing is None:
            return original(handler, error, context)
        serializer = serializers.create_serializer(context.service, context.protocol)
        return serializer.serialize_to_response(
            nothing, context.operation, context.request.headers, context.request_id
        )

    return respond


def _with_empty_answers(original: Callable[..., Any]) -> Callable[..., Any]:
    """Answer lists that a service of the emulator lacks as an account without any such thing does."""

    def respond(skeleton: object, serializer: Any, context: Any, error: Exception) -> Any:  # noqa: ANN401 - the emulator's
        nothing = _nothing(context.operation)
        if nothing is None:
            return original(skeleton, serializer, context, error)
        return serializer.serialize_to_response(
            nothing, context.operation, context.request.headers, context.request_id
        )

    return respond


def whole_before_used(original: Callable[..., None]) -> Callable[..., None]:
    """Make a request wait while another loads the service: it counts as loaded before its operations are there."""

    @wraps(original)
    def require_service(self: Any, chain: Any, context: Any, response: Any) -> None:  # noqa: ANN401 - the emulator's
        if context.service:
            with self.service_locks[context.service.service_name]:
                original(self, chain, context, response)

    return require_service


def _with_kept_states(original: Callable[..., Any]) -> Callable[..., Any]:
    """Leave the state of an alarm that is updated unchanged."""

    @wraps(original)
    def put_metric_alarm(self: Any, context: Any, request: Any) -> None:  # noqa: ANN401 - the emulator's
        alarms = self.get_store(context.account_id, context.region).alarms
        by_name = {entry.alarm["AlarmName"]: entry.alarm for entry in list(alarms.values())}
        before = by_name.get(request["AlarmName"], {})
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
        matches = isinstance(value, str) and any(fnmatchcase(value, one) for one in wanted)
        return matches or original(value, wanted)

    return is_in


def began_a_week_ago(original: Callable[..., None], attribute: str) -> Callable[..., None]:
    """Make a thing that has been there for a week, by the time in one of its attributes."""

    @wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401, N807 - moto's
        original(self, *args, **kwargs)
        setattr(self, attribute, getattr(self, attribute) - timedelta(days=7))

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
