"""Starts localemu 1.3.2 with our repairs, and writes down what its enforcer decides. Run by localemu's own interpreter.

Beside what ``repairs`` has:

- Its code needs Python 3.13 for one name, which 3.12 has in another module.
- It checks the rights for two services under names that IAM does not have (``IAM_PREFIXES``).
- The ARN of a bucket names no account, and so it has no `aws:ResourceAccount`, which CDK's own roles demand.
- It knows none of CloudWatch's condition keys (`cloudwatch:namespace`, `cloudwatch:AlarmActions`).
- It does not know what the requests DeleteAlarms, those for the tags of an alarm, CreateTags and DeleteTags are
  about, and it names a rule of the default bus after that bus.
- It evaluates an alarm once in all of its periods together, where AWS does it every minute at the latest; and it
  looks at older datapoints as well, where AWS looks at the newest, as many as the alarm has periods.
- A database has run for as long as it exists here, where what is played for it begins before.
- A function reaches it over plain HTTP, and the policies of topics and queues refuse that.
- Each call starts a thread that tells EventBridge of it a minute later. Thousands are too many, and no rule here listens.

Each decision is a line of JSON in the file ``BURSTWATCH_DECISIONS``: caller, action, resource, the
condition keys of CloudWatch and whether it was allowed.
"""

import json
import os
import threading
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import typing_extensions

from demo.localcloud.repairs import LOOPBACK, began_a_week_ago, repair

#: IAM's prefix of a service, where it differs from the name of its model.
IAM_PREFIXES = {"efs": "elasticfilesystem", "resourcegroupstaggingapi": "tag"}
#: The type of what has an id of EC2, by its beginning.
EC2_TYPES = {"i": "instance", "vol": "volume"}
#: How often an alarm is evaluated at the least.
EVALUATED_S = 5.0
_written = threading.Lock()
_several = threading.local()


def _action_names(original: Callable[[str, str], list[str]]) -> Callable[[str, str], list[str]]:
    def map_action(service: str, operation_name: str) -> list[str]:
        return original(IAM_PREFIXES.get(service, service), operation_name)

    return map_action


def _resource_arns(original: Callable[..., str]) -> Callable[..., str]:
    """Name what a request is about as AWS does; one about several things is decided for each."""

    def build_resource_arn(
        service: str,
        operation: str,
        request_params: dict[str, Any] | None,
        region: str,
        account_id: str,
    ) -> str:
        request = request_params or {}
        start = f"arn:aws:{service}:{region}:{account_id}"
        _several.arns = []
        if service == "cloudwatch" and operation == "DeleteAlarms":
            _several.arns = [f"{start}:alarm:{name}" for name in request["AlarmNames"]]
        elif service == "cloudwatch" and "ResourceARN" in request:
            _several.arns = [str(request["ResourceARN"])]
        elif service == "ec2" and operation in {"CreateTags", "DeleteTags"}:
            _several.arns = [
                f"{start}:{EC2_TYPES[thing.partition('-')[0]]}/{thing}"
                for thing in request["Resources"]
            ]
        if _several.arns:
            return str(_several.arns[0])
        arn = original(service, operation, request_params, region, account_id)
        return arn.replace(":rule/default/", ":rule/")

    return build_resource_arn


def _condition_keys(original: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    def build_conditions(context: Any, caller: Any) -> dict[str, Any]:
        keys = original(context, caller)
        keys.setdefault("aws:ResourceAccount", context.account_id)
        request = context.service_request or {}
        if context.service.service_name == "cloudwatch":
            if "Namespace" in request:
                keys["cloudwatch:namespace"] = request["Namespace"]
            if "AlarmActions" in request:
                keys["cloudwatch:AlarmActions"] = list(request["AlarmActions"])
        return keys

    return build_conditions


def _written_down(original: Callable[..., Any], path: str) -> Callable[..., Any]:
    """Decide for every resource that the request is about, and write each decision down."""

    def evaluate(
        self: object,
        caller: Any,
        action: str,
        resource: str,
        conditions: dict[str, Any],
        resource_policy: dict[str, Any] | None = None,
    ) -> Any:
        for arn in getattr(_several, "arns", None) or [resource]:
            decision = original(self, caller, action, arn, conditions, resource_policy)
            is_allowed = decision.name == "ALLOW"
            keys = {
                name: value for name, value in conditions.items() if name.startswith("cloudwatch:")
            }
            line = {
                "caller": caller.arn,
                "action": action,
                "resource": arn,
                "keys": keys,
                "allowed": is_allowed,
            }
            with _written, open(path, "a", encoding="utf-8") as log:  # noqa: PTH123
                log.write(json.dumps(line) + "\n")
            if not is_allowed:
                break
        return decision

    return evaluate


def _repair_rights() -> None:
    names = import_module("localemu.services.iam_enforcement.service_action_map")
    enforcer = import_module("localemu.services.iam_enforcement.enforcer")
    names.map_action = _action_names(names.map_action)
    enforcer.build_resource_arn = _resource_arns(enforcer.build_resource_arn)
    enforcer._build_conditions = _condition_keys(enforcer._build_conditions)
    evaluator = enforcer.PolicyEvaluator
    evaluator.evaluate = _written_down(evaluator.evaluate, os.environ["BURSTWATCH_DECISIONS"])


def _repair_alarms_and_databases() -> None:
    alarms = import_module("localemu.services.cloudwatch.alarm_scheduler")

    class Often(alarms.Scheduler):  # type: ignore[misc, name-defined]
        """Evaluates each alarm every few seconds."""

        def schedule(self, *args: Any, period: float, **options: Any) -> Any:
            return super().schedule(*args, period=min(period, EVALUATED_S), **options)

    def is_exceeded(values: list[float | None], alarm: dict[str, Any]) -> bool:
        newest: bool = exceeds(values[: alarm["EvaluationPeriods"]], alarm)
        return newest

    exceeds = alarms.is_threshold_exceeded
    alarms.is_threshold_exceeded = is_exceeded
    alarms.Scheduler = Often
    database = import_module("moto.rds.models").DBInstance
    database.__init__ = began_a_week_ago(database.__init__, "instance_create_time")


def _tell_no_bus_of_calls() -> None:
    recorder = import_module("localemu.services.cloudtrail.recording_hook")
    recorder._emit_cloudtrail_to_eventbridge = lambda **_: None


def _executor() -> type[Any]:
    from localemu import config  # noqa: PLC0415
    from localemu.utils.ssl import get_cert_pem_file_path  # noqa: PLC0415

    from demo.localcloud.executor import LocalExecutor  # noqa: PLC0415 - only when first used

    class EncryptedExecutor(LocalExecutor):
        """Functions that reach the emulator over TLS."""

        def start(self, env_vars: dict[str, str]) -> None:
            endpoint = f"https://{LOOPBACK}:{config.GATEWAY_LISTEN[0].port}"
            tls = {"AWS_ENDPOINT_URL": endpoint, "AWS_CA_BUNDLE": get_cert_pem_file_path()}
            super().start({**env_vars, **tls})

    return EncryptedExecutor


def main() -> None:
    """Patch, then run until stopped."""
    if not hasattr(warnings, "deprecated"):
        warnings.deprecated = typing_extensions.deprecated  # type: ignore[attr-defined]
    from localemu.runtime.main import main as run  # noqa: PLC0415 - after the repair

    repair("localemu")
    _repair_rights()
    _repair_alarms_and_databases()
    _tell_no_bus_of_calls()
    for module in (
        "invocation.runtime_executor", "invocation.execution_environment", "invocation.version_manager", "provider",
    ):  # fmt: skip
        import_module(f"localemu.services.lambda_.{module}").get_runtime_executor = _executor
    run()


if __name__ == "__main__":
    main()
