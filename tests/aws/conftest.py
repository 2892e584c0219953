"""What the tests against the strict fake share."""

import pytest
from aws_lambda_powertools.metrics.provider.cloudwatch_emf import cloudwatch


@pytest.fixture(autouse=True)
def _any_time_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of a test may stand where CloudWatch would take no datapoint any more."""
    monkeypatch.setattr(cloudwatch, "validate_emf_timestamp", lambda _: True)
