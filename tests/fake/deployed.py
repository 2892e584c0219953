"""What a deployment made, as Lambda, EventBridge and KMS describe it."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from tests.fake.wire import WireError


@dataclass
class Deployed:
    """``environments`` are the functions' settings by name, ``rules`` the states of rules by name, ``targets`` the events that a rule sends.

    ``key_policies`` are by key. ``logs`` are lines with their times, by log group, two on a page.
    """

    environments: dict[str, dict[str, str]] = field(default_factory=dict)
    function_state: str = "Active"
    concurrency: int = 1_000
    rules: dict[str, str] = field(default_factory=dict)
    targets: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    key_policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    logs: dict[str, list[tuple[float, str]]] = field(default_factory=dict)

    def _FilterLogEvents(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        name, pattern = params["logGroupName"], params.get("filterPattern", "")
        if name not in self.logs:
            raise WireError("ResourceNotFoundException", "The specified log group does not exist.")
        if pattern and not re.fullmatch(r'"[^"]+"', pattern):
            raise WireError("InvalidParameterException", f"this fake takes a phrase, not {pattern}")
        found = [
            {"timestamp": int(at * 1000), "message": text}
            for at, text in self.logs[name]
            if at * 1000 >= params.get("startTime", 0) and pattern.strip('"') in text
        ]
        first = int(params.get("nextToken", "0"))
        rest = {"nextToken": str(first + 2)} if len(found) > first + 2 else {}
        return {"events": found[first : first + 2], **rest}

    def _DescribeLogGroups(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        prefix = params.get("logGroupNamePrefix", "")
        return {
            "logGroups": [{"logGroupName": name} for name in self.logs if name.startswith(prefix)]
        }

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

    def _ListTargetsByRule(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        events = self.targets.get(params["Rule"], [{"unit": {}}])
        return {
            "Targets": [
                {"Id": str(number), "Arn": "arn:aws:lambda:x", "Input": json.dumps(event)}
                for number, event in enumerate(events)
            ]
        }

    def _DescribeRule(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        name = params["Name"]
        if name not in self.rules:
            raise WireError("ResourceNotFoundException", f"Rule {name} does not exist.")
        return {"Name": name, "State": self.rules[name], "ScheduleExpression": "rate(1 minute)"}

    def _GetKeyPolicy(self, params: dict[str, Any], _r: Any, _n: str) -> dict[str, Any]:
        return {"Policy": json.dumps(self.key_policies[params["KeyId"]])}
