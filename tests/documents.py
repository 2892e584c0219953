"""Checks a document of ``--json`` against its declaration: every name, at every depth, and the type of every value."""

import math
from collections.abc import Mapping
from typing import Any

from burstwatch.cli.documents import COMMON, DOCUMENTS, FIELDS

#: Objects whose keys are not ours: limits, policies and settings by their names.
FREE = frozenset({"exceeded", "policies", "settings"})
TYPES: Mapping[str, tuple[type, ...]] = {
    "number": (int, float), "text": (str,), "truth": (bool,), "texts": (list, tuple), "object": (dict,), "objects": (list,),
}  # fmt: skip


def check_document(document: dict[str, Any]) -> None:
    allowed = {*COMMON, *DOCUMENTS[document["document"]].fields}
    assert [*document][: len(COMMON)] == [*COMMON]
    assert document.keys() <= allowed, document.keys() - allowed
    _check_values(document)


def _check_values(values: Mapping[str, Any]) -> None:
    value: Any
    for name, value in values.items():
        assert name in FIELDS, name
        field = FIELDS[name]
        if value is None:
            continue
        is_of_type = isinstance(value, TYPES[field.type])
        assert is_of_type, (name, value)
        assert field.type == "truth" or not isinstance(value, bool), (name, value)
        if name == "balance" or name.startswith("balance_lowest"):
            assert 0 <= value <= 1, (name, value)
        if name.endswith("_s") and name != "left_s":
            assert value >= 0 or math.isnan(value), (name, value)
        if field.type == "object" and name not in FREE:
            _check_values(value)
        if field.type == "objects" and name != "trials":
            for entry in value:
                _check_values(entry)
