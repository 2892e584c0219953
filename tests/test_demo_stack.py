"""What the demo reads of its stack once it is deployed."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from demo.stack import Stack, StackError

WHOLE = {"Burstwatch": {"BurstWatchPageTopicArn1A2B": "arn:page", "BurstWatchRuleName3C4D": "rule"}}


def deployed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *written: Mapping[str, Any]
) -> dict[str, str]:
    """The outputs where ``cdk deploy`` writes one document after the other."""
    cloud: Any = SimpleNamespace(
        environment=lambda _region: {}, account="000000000000", folder=tmp_path
    )
    left = list(written)

    def cdk(_stack: Stack, command: str, *arguments: str) -> None:
        assert command == "deploy"
        Path(arguments[-1]).write_text(json.dumps(left.pop(0)))

    monkeypatch.setattr(Stack, "_cdk", cdk)
    outputs = Stack(cloud, settings={}).deploy()
    assert left == []
    return outputs


@pytest.mark.parametrize("empty", [{}, {"Burstwatch": {}}])
def test_outputs_that_are_not_there_yet_are_read_once_more(
    empty: Mapping[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = {"PageTopicArn": "arn:page", "RuleName": "rule"}
    assert deployed(tmp_path, monkeypatch, WHOLE) == whole
    assert deployed(tmp_path, monkeypatch, empty, WHOLE) == whole


def test_a_stack_without_outputs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StackError, match="of burstwatch in us-east-1 has no outputs"):
        deployed(tmp_path, monkeypatch, {}, {})
