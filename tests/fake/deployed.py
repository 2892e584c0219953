"""What a deployment made, as Lambda, EventBridge and KMS describe it."""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.fake.wire import WireError


@dataclass
class Deployed:
    """``environments`` are the functions' settings by name, ``rules`` the states of rules by name.

    ``key_policies`` are by key.
    """

    environments: dict[str, dict[str, str]] = field(default_factory=dict)
    function_state: str = "Active"
    concurrency: int = 1_000
    rules: dict[str, str] = field(default_factory=dict)
    key_policies: dict[str, dict[str, Any]] = field(default_factory=dict)

    def _GetFunctionConfiguration(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        name = params["FunctionName"]
        if name not in self.environments:
            raise WireError("ResourceNotFoundException", f"Function not found: {name}", 404)
        return {
            "FunctionName": name,
            "State": self.function_state,
            "LastUpdateStatus": "Successful",
            "MemorySize": 512,
            "Timeout": 50,
            "Environment": {"Variables": self.environments[name]},
        }

    def _GetAccountSettings(self, _p: Any, _r: Any, _n: str) -> dict[str, Any]:
        limits = {
            "ConcurrentExecutions": self.concurrency,
            "UnreservedConcurrentExecutions": self.concurrency,
        }
        return {"AccountLimit": limits}

    def _DescribeRule(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        name = params["Name"]
        if name not in self.rules:
            raise WireError("ResourceNotFoundException", f"Rule {name} does not exist.")
        return {"Name": name, "State": self.rules[name], "ScheduleExpression": "rate(1 minute)"}

    def _GetKeyPolicy(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        return {"Policy": json.dumps(self.key_policies[params["KeyId"]])}
