"""GetMetricData: many series in few calls, within its limits, with every gap known.

A call takes 500 queries and returns 100,800 datapoints; what is asked for is
billed per query, not per datapoint. Pages, partial data and errors of a single
series are all seen; a series that failed is reported, never empty.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from burstwatch.aws.client.pace import Pace
from burstwatch.aws.client.session import (
    AWS_ERRORS,
    LATE,
    Clients,
    CutError,
    Deadline,
    problem_of,
)
from burstwatch.formatting import first_of
from burstwatch.history.points import Series
from burstwatch.polling.queries import Allowance, Answers, Failure, Query
from burstwatch.shards import Problem

#: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html (2026-11)
QUERIES_PER_CALL = 500
DATAPOINTS_PER_CALL = 100_800
#: Why what is beyond the allowance is not known.
BUDGET_USED = "the budget for metric requests is used up"


def read_metrics(
    clients: Clients,
    queries: Sequence[Query],
    *,
    start_s: float,
    end_s: float,
    period_s: int,
    deadline: Deadline,
    pace: Pace | None = None,
    allowance: Allowance | None = None,
) -> Answers:
    """Ask for every query's datapoints from ``start_s`` up to ``end_s``, no faster than ``pace``.

    When the deadline passes, or the ``allowance`` is used up, what is left is reported as failed.
    Of the allowance is taken what is about to be asked for and nothing else: a call whose
    answer is never waited for is paid for all the same.
    """
    answers = Answers()
    # Periods are counted from StartTime, so an even minute keeps AWS's own timestamps.
    start_s -= start_s % period_s
    points = max(1, int((end_s - start_s) // period_s) + 1)
    size = max(1, min(QUERIES_PER_CALL, DATAPOINTS_PER_CALL // points))
    for start in range(0, len(queries), size):
        batch = queries[start : start + size]
        if allowance is not None:
            granted = allowance.take(len(batch))
            if granted < len(batch):
                _fail(answers, batch[granted:], BUDGET_USED, "unpaid")
            batch = batch[:granted]
        if not batch:
            continue
        is_in_time = not deadline.passed() and (
            pace is None
            or pace.take(
                points * len(batch),
                back_s=end_s - start_s,
                deadline=deadline,
                throttled=clients.throttled,
            )
        )
        if not is_in_time:
            if allowance is not None:
                allowance.give_back(len(batch))
            _fail(answers, batch, LATE)
            continue
        try:
            _read_batch(answers, clients, batch, start_s=start_s, end_s=end_s, period_s=period_s)
        except AWS_ERRORS as error:
            problem = problem_of("GetMetricData", error)
            failure: Failure = "forbidden" if problem.cause == "forbidden" else "unanswered"
            _fail(answers, batch, problem.error, failure)
    return answers


def _read_batch(
    answers: Answers,
    clients: Clients,
    batch: Sequence[Query],
    *,
    start_s: float,
    end_s: float,
    period_s: int,
) -> None:
    """Ask GetMetricData for one batch and file each query's series or problem in ``answers``."""
    by_id = {f"q{index}": query for index, query in enumerate(batch)}
    request = _request(by_id, start_s=start_s, end_s=end_s, period_s=period_s)
    starts: dict[str, list[float]] = {query_id: [] for query_id in by_id}
    values: dict[str, list[float]] = {query_id: [] for query_id in by_id}
    status: dict[str, str] = {}
    uneven: dict[str, str] = {}
    while True:
        page = clients("cloudwatch").get_metric_data(**request)
        if "MetricDataResults" not in page:
            # botocore passes on a body like this when it was cut, or came from a proxy.
            raise CutError(operation="GetMetricData")
        for result in page["MetricDataResults"]:
            if result["Id"] not in by_id:
                continue
            status[result["Id"]] = result.get("StatusCode", "without a status")
            # AWS's model requires neither list, so an empty one may be left out.
            times, amounts = result.get("Timestamps", ()), result.get("Values", ())
            if len(times) != len(amounts):
                uneven[result["Id"]] = f"{len(times)} timestamps and {len(amounts)} values"
            starts[result["Id"]] += [at.timestamp() for at in times]
            values[result["Id"]] += amounts
        if not page.get("NextToken"):
            break
        if page["NextToken"] == request.get("NextToken"):
            _fail(answers, batch, "GetMetricData: NextToken was repeated, so the answer has no end")
            return
        request["NextToken"] = page["NextToken"]
    for query_id, query in by_id.items():
        code = status.get(query_id, "missing from the answer")
        why = _why_refused(query.metric, code, values[query_id], uneven.get(query_id, ""))
        if why:
            _fail(answers, [query], f"GetMetricData: {why}")
        else:
            answers.series[query.key] = Series.of_columns(starts[query_id], values[query_id])


def _why_refused(metric: str, code: str, values: Sequence[float], uneven: str) -> str:
    """Why an answer to one query is not believed, or nothing; ``uneven`` are its counts, where a page has more of one list."""
    wrong = _impossible(values)
    if wrong is not None:
        return f"{metric} is {wrong:g}, which cannot be"
    if code != "Complete":
        return code
    return f"{metric} has {uneven}" if uneven else ""


def _impossible(values: Sequence[float]) -> float | None:
    """The first value that no metric of ours can have: below nothing, infinite or not a number. None if there is none."""
    if not values or (min(values) >= 0 and math.isfinite(sum(values))):
        return None
    return next((value for value in values if not 0 <= value < math.inf), None)


def _request(
    by_id: Mapping[str, Query], *, start_s: float, end_s: float, period_s: int
) -> dict[str, object]:
    """Build the request of GetMetricData for a batch."""
    return {
        "MetricDataQueries": [
            {
                "Id": query_id,
                "MetricStat": {
                    "Metric": {
                        "Namespace": query.namespace,
                        "MetricName": query.metric,
                        "Dimensions": [
                            {"Name": name, "Value": value} for name, value in query.dimensions
                        ],
                    },
                    "Period": period_s,
                    "Stat": query.statistic,
                },
            }
            for query_id, query in by_id.items()
        ],
        "StartTime": datetime.fromtimestamp(start_s, tz=UTC),
        "EndTime": datetime.fromtimestamp(end_s, tz=UTC),
        "ScanBy": "TimestampAscending",
    }


def _fail(
    answers: Answers, batch: Sequence[Query], reason: str, failure: Failure = "unanswered"
) -> None:
    for query in batch:
        answers.failed[query.key] = reason
        answers.failures[query.key] = failure
    names = first_of([query.resource_id for query in batch])
    answers.problems.append(Problem(part=f"metrics of {names}", error=reason))
