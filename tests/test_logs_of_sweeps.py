"""The log of a sweep as the tests on other clouds read it: lines come in any order, and not all at once."""

import itertools
import json

import pytest

from tests.clouds.denied import whole_log

SWEPT = json.dumps({"message": "swept", "not_listed": {"efs_file_system": "denied"}})
FAILED = json.dumps({"message": "part failed", "part": "DescribeInstances"})
END = "REPORT RequestId: 1"


@pytest.mark.parametrize("order", list(itertools.permutations((SWEPT, FAILED, END))))
def test_a_log_is_read_once_its_end_its_summary_and_every_problem_are_there(
    order: tuple[str, ...],
) -> None:
    for count in range(len(order)):
        assert whole_log(order[:count], problems=1) is None
    assert whole_log(order, problems=1) is not None


def test_a_log_without_problems_is_not_whole_before_its_summary() -> None:
    assert whole_log([END], problems=0) is None
    assert whole_log([END, SWEPT], problems=0) == [json.loads(SWEPT)]
