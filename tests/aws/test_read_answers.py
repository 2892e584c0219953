"""Our readers of large answers give what botocore's own give, whatever AWS sends."""

import json
import random
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse, HTTPHeaders
from botocore.model import ListShape, OperationModel, Shape, StructureShape
from botocore.parsers import EC2QueryParser
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.aws.client.listed_items import AnswerParsers
from burstwatch.aws.client.session import NEVER, Clients, parse_aws_time
from burstwatch.aws.look.metrics import read_metrics
from burstwatch.history.points import Series
from burstwatch.kinds import find_kinds
from burstwatch.polling.queries import Query
from tests.conftest import NOW
from tests.fake.wire import service_model

EC2_OPERATIONS = sorted(
    {
        listing.operation
        for kind in find_kinds().values()
        for listing in kind.listings
        if listing.service == "ec2"
    }
)
XMLNS = 'xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"'
TEXTS = {
    "string": ["a", "", "<&é>"],
    "integer": ["3", "-1"],
    "long": ["12345678901"],
    "boolean": ["true", "false", ""],
    "timestamp": ["2026-11-01T10:00:00.000Z", "2026-11-01T10:00:00Z"],
    "double": ["0.5"],
    "float": ["0.5"],
}
ENTITIES = {"<": "&lt;", "&": "&amp;", ">": "&gt;"}


def document(shape: Shape, draw: random.Random, depth: int = 0) -> str:
    """An element's content of this shape: some members are left out, some are not in the model."""
    if isinstance(shape, StructureShape):
        names = [name for name in shape.members if draw.random() < (0.5 if depth < 6 else 0.0)]
        draw.shuffle(names)
        parts = []
        for name in names:
            member = shape.members[name]
            tag = member.serialization.get("name", name)
            parts.append(f"<{tag}>{document(member, draw, depth + 1)}</{tag}>")
        if draw.random() < 0.2:
            parts.append("<newFieldOfAws>x</newFieldOfAws>")
        return "".join(parts)
    if isinstance(shape, ListShape):
        items = (document(shape.member, draw, depth + 1) for _ in range(draw.randrange(3)))
        return "".join(f"<item>{item}</item>" for item in items)
    text = draw.choice(TEXTS[shape.type_name])
    return "".join(ENTITIES.get(sign, sign) for sign in text)


def read_both(operation: OperationModel, content: str) -> tuple[Any, Any]:
    body = f"<Response {XMLNS}><requestId>r-1</requestId>{content}</Response>".encode()
    response = {"body": body, "headers": {}, "status_code": 200}
    ours = AnswerParsers()
    ours.set_parser_defaults(timestamp_parser=parse_aws_time)
    plain = EC2QueryParser(timestamp_parser=parse_aws_time)
    shape = operation.output_shape
    return ours.create_parser("ec2").parse(response, shape), plain.parse(response, shape)


@pytest.mark.parametrize("name", EC2_OPERATIONS)
def test_an_inventory_of_any_shape_is_read_as_botocore_reads_it(name: str) -> None:
    operation = service_model("ec2").operation_model(name)
    shape = operation.output_shape
    assert shape is not None
    items = 0
    for seed in range(40):
        content = document(shape, random.Random(seed))  # noqa: S311 - answers of a test
        ours, plain = read_both(operation, content)
        assert ours == plain
        items += content.count("<item>")
    assert items > 10


@pytest.mark.parametrize("repeated", ["size", "attachmentSet", "state", "operator"])
def test_an_element_that_is_there_twice_is_read_as_botocore_reads_it(repeated: str) -> None:
    operation = service_model("ec2").operation_model("DescribeVolumes")
    content = {
        "attachmentSet": "<item><instanceId>i-1</instanceId></item>",
        "operator": "<managed>true</managed>",
    }
    element = f"<{repeated}>{content.get(repeated, '3')}</{repeated}>"
    body = f"<R><volumeSet><item>{element * 2}</item></volumeSet></R>".encode()
    outcomes = []
    for parser in (AnswerParsers().create_parser("ec2"), EC2QueryParser()):
        try:
            response = {"body": body, "headers": {}, "status_code": 200}
            outcomes.append(repr(parser.parse(response, operation.output_shape)))
        except Exception as error:  # noqa: BLE001 - whatever botocore makes of it
            outcomes.append(f"{type(error).__name__}")
    assert outcomes[0] == outcomes[1]


NUMBERS = st.one_of(st.integers(0, 2**40), st.floats(0, 1e12))
RESULTS = st.fixed_dictionaries(
    {"Id": st.sampled_from(["q0", "q1"])},
    optional={
        "Timestamps": st.lists(st.integers(0, 2**31), max_size=3),
        "Values": st.lists(NUMBERS, max_size=3),
        "StatusCode": st.sampled_from(["Complete", "PartialData", "Forbidden"]),
        "Label": st.text(max_size=3),
    },
)
ANSWERS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries(
        {"MetricDataResults": st.lists(RESULTS, max_size=3)},
        optional={"NextToken": st.text(max_size=3), "Messages": st.just([])},
    ),
    st.fixed_dictionaries({"MetricDataResults": st.one_of(st.none(), st.just([{}]))}),
    st.just({}),
)


def in_datetimes(page: dict[str, Any]) -> dict[str, Any]:
    """Timestamps as botocore makes them, and lists that are there even if AWS leaves them out."""
    results = [
        {
            **result,
            "Values": result.get("Values", []),
            "Timestamps": [
                at if isinstance(at, datetime) else datetime.fromtimestamp(at, tz=UTC)
                for at in result.get("Timestamps", [])
            ],
        }
        for result in page.get("MetricDataResults") or ()
    ]
    return {**page, "MetricDataResults": results}


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

    def page(self, body: bytes) -> dict[str, Any]:
        self.body = body
        page: dict[str, Any] = self.client.get_metric_data(
            MetricDataQueries=[], StartTime=NOW, EndTime=NOW
        )
        del page["ResponseMetadata"]
        return page


class _Raw(BytesIO):
    """A body as urllib3 hands it on."""

    def stream(self) -> list[bytes]:
        return [self.read()]


@pytest.fixture(scope="module")
def clients() -> tuple[Replies, Replies]:
    """Ours, and botocore's."""
    plain = boto3.Session(region_name="us-east-1", **CREDENTIALS).client("cloudwatch")
    ours = Clients("us-east-1", credentials=CREDENTIALS)("cloudwatch")
    return Replies(ours), Replies(plain)


@given(answer=ANSWERS)
def test_datapoints_are_those_that_botocore_reads(
    answer: dict[str, Any], clients: tuple[Replies, Replies]
) -> None:
    pages = [in_datetimes(each.page(json.dumps(answer).encode())) for each in clients]
    assert pages[0] == pages[1]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"nonsense",
        b'{"MetricDataResults": [{"Id": "q0", "Timestamps": ["2026-11-01T10:00:00Z"], "Values": [1.5]}]}',
        b'{"MetricDataResults": [{"Id": "q0", "Timestamps": [1790000000, 1790000060], "Values": [1.5]}]}',
        b'{"MetricDataResults": [{"Id": "q0", "Timestamps": [1790000000], "Values": ["1.5"]}]}',
        b'{"MetricDataResults": [{"Id": "q0", "Timestamps": {"at": 1790000000}, "Values": [1.5]}]}',
    ],
)
def test_a_body_of_another_shape_is_left_to_botocore(
    body: bytes, clients: tuple[Replies, Replies]
) -> None:
    outcomes: list[object] = []
    for each in clients:
        try:
            outcomes.append(each.page(body))
        except Exception as error:  # noqa: BLE001 - whatever botocore makes of it
            outcomes.append(f"{type(error).__name__}: {error}")
    assert outcomes[0] == outcomes[1]


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
