"""An answer of GetMetricData that cannot be is not believed, and the others in it are."""

import json
from io import BytesIO
from typing import Any

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse, HTTPHeaders

from burstwatch.aws.client.session import NEVER, Clients
from burstwatch.aws.look.metrics import read_metrics
from burstwatch.history.points import Series
from burstwatch.polling.queries import Query
from tests.conftest import NOW

CREDENTIALS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}


class Replies:
    """A client of CloudWatch to which every answer is this body."""

    def __init__(self, client: Any) -> None:
        self.body, self.client = b"{}", client
        client.meta.events.register("before-send.cloudwatch", self._reply)

    def _reply(self, request: AWSPreparedRequest, **_: object) -> AWSResponse:
        headers = HTTPHeaders()
        headers["content-type"] = "application/x-amz-json-1.0"
        return AWSResponse(request.url, 200, headers, _Raw(self.body))


class _Raw(BytesIO):
    """A body as urllib3 hands it on."""

    def stream(self) -> list[bytes]:
        return [self.read()]


def test_a_series_that_comes_out_of_order_is_sorted_and_the_last_of_two_values_counts() -> None:
    series = Series.of_columns([180.0, 60.0, 180.0], [1.0, 2.0, 3.0])
    assert list(series) == [(60.0, 2.0), (180.0, 3.0)]


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ({"Timestamps": [NOW, NOW + 60], "Values": [1.0]}, "BurstBalance has 2 timestamps and 1 values"),
        ({"Timestamps": [NOW], "Values": [-1.0]}, "BurstBalance is -1, which cannot be"),
        ({"Timestamps": [NOW], "Values": [float("nan")]}, "BurstBalance is nan, which cannot be"),
        ({"Timestamps": [NOW], "Values": [float("inf")]}, "BurstBalance is inf, which cannot be"),
        ({"Timestamps": [NOW], "Values": [1e308], "StatusCode": "Forbidden"}, "Forbidden"),
    ],
)  # fmt: skip
def test_an_answer_that_cannot_be_fails_its_own_query_and_no_other(
    result: dict[str, Any], why: str
) -> None:
    replies = Replies(Clients("us-east-1", credentials=CREDENTIALS)("cloudwatch"))
    good = {"Id": "q1", "Timestamps": [NOW], "Values": [50], "StatusCode": "Complete"}
    bad = {"Id": "q0", "StatusCode": "Complete", **result}
    replies.body = json.dumps({"MetricDataResults": [bad, good]}).encode()
    queries = [
        Query(
            namespace="AWS/EBS", metric="BurstBalance", dimensions=(("VolumeId", volume),),
            resource_id=volume, statistic="Minimum",
        )
        for volume in ("vol-1", "vol-2")
    ]  # fmt: skip
    answers = read_metrics(
        lambda _: replies.client,  # type: ignore[arg-type]  # all that it asks of clients
        queries,
        start_s=NOW,
        end_s=NOW + 120,
        period_s=60,
        deadline=NEVER,
    )
    assert why in answers.failed["vol-1", "BurstBalance"]
    assert list(answers.series["vol-2", "BurstBalance"]) == [(NOW, 50)]
