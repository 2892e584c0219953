"""Reads the datapoints of GetMetricData as the columns that they come in.

botocore makes an object of each timestamp, and looks at each value: of an answer with a hundred thousand datapoints
that is most of its time. Here they stay the two lists of numbers that AWS sends. All else of an answer (errors, what is
tried again, its other fields) is read by botocore as before, and so is every answer of another shape.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

NUMBERS = frozenset({int, float})


def register_columns(client: Any) -> None:  # noqa: ANN401 - boto3 makes its classes at run time
    """Let a client of CloudWatch return the datapoints of GetMetricData with timestamps in unix seconds."""
    client.meta.events.register("before-parse.cloudwatch.GetMetricData", _take_results)


def in_seconds(times: Sequence[datetime | float]) -> Sequence[float]:
    """Timestamps in unix seconds, whoever has read the answer."""
    if NUMBERS.issuperset(map(type, times)):
        return times  # type: ignore[return-value]  # all of them are numbers
    return [time.timestamp() if isinstance(time, datetime) else time for time in times]


def _take_results(
    *,
    operation_model: Any,  # noqa: ANN401 - as botocore made it
    response_dict: dict[str, Any],
    customized_response_dict: dict[str, Any],
    **_: object,
) -> None:
    """Take the results out of an answer before botocore reads it, where they have the shape that AWS documents."""
    is_json = operation_model.service_model.resolved_protocol == "json"
    if not is_json or response_dict["status_code"] >= 300:  # noqa: PLR2004 - as botocore does
        return
    try:
        answer = json.loads(response_dict["body"])
        results = answer.pop("MetricDataResults")
    except (AttributeError, KeyError, TypeError, ValueError):
        return  # botocore says what is wrong with it
    if not isinstance(results, list) or not all(map(_is_plain, results)):
        return
    customized_response_dict["MetricDataResults"] = results
    response_dict["body"] = json.dumps(answer).encode()


def _is_plain(result: object) -> bool:
    """True if a result has its timestamps and values as lists of numbers, one as long as the other."""
    if not isinstance(result, dict) or "Id" not in result:
        return False
    starts, values = result.setdefault("Timestamps", []), result.setdefault("Values", [])
    return (
        isinstance(starts, list)
        and isinstance(values, list)
        and len(starts) == len(values)
        and NUMBERS.issuperset(map(type, starts))
        and NUMBERS.issuperset(map(type, values))
    )
