"""Every document and every field of ``--json`` is declared once, used, and refused where it is not declared."""

import json
import re
from io import StringIO

import pytest
from jsonschema import Draft202012Validator

from burstwatch.cli.documents import (
    COMMON,
    DOCUMENTS,
    FIELDS,
    FIGURES,
    OBJECTS,
    as_document,
    json_schema,
)
from burstwatch.cli.main import command_names, run


def test_every_field_is_declared_once_and_used() -> None:
    parts = [*OBJECTS.values(), FIGURES]
    used = {*COMMON}.union(*parts, *(document.fields for document in DOCUMENTS.values()))
    assert used == FIELDS.keys()
    for document in DOCUMENTS.values():
        assert len({*document.fields}) == len(document.fields)
        assert not {*COMMON} & {*document.fields}


def test_names_say_their_unit() -> None:
    for name, field in FIELDS.items():
        if field.type == "number":
            assert not re.search(r"_(ratio|percent|seconds|ms|pct)$", name), name
        assert not field.text.endswith("."), name


def test_every_document_names_a_command_that_exists() -> None:
    assert {document.command.split()[0] for document in DOCUMENTS.values()} <= {*command_names()}


def test_a_field_that_is_not_declared_is_a_mistake_of_ours() -> None:
    with pytest.raises(KeyError, match="moment does not declare assessment"):
        as_document("moment", {"assessment": "ok"}, at=0.0)
    with pytest.raises(KeyError, match="last of story does not declare assessment"):
        as_document("story", {"last": {"assessment": "ok"}}, at=0.0)


@pytest.mark.parametrize(
    "command",
    [
        "whatif --type gp2 --size-gib 100 --iops 3000",
        "explain --example",
        "explain --example --every-period",
        "advise --example",
        "catalog --settings",
    ],
)
def test_what_a_command_prints_is_what_the_schema_says(command: str) -> None:
    out = StringIO()
    assert run([*command.split(), "--json"], stdout=out, stderr=StringIO(), env={}, clock=lambda: 0.0) == 0  # fmt: skip
    printed = StringIO()
    assert run(["catalog", "--schema"], stdout=printed, stderr=StringIO(), env={}, clock=lambda: 0.0) == 0  # fmt: skip
    validator = Draft202012Validator(json.loads(printed.getvalue()))
    lines = out.getvalue().splitlines()
    assert lines
    for line in lines[:50]:
        assert [error.message for error in validator.iter_errors(json.loads(line))] == []


def test_the_schema_refuses_a_field_that_no_document_has_and_a_number_in_words() -> None:
    validator = Draft202012Validator(json_schema())
    head = {"schema": 1, "version": "0", "document": "step", "account": None, "region": None, "at": 0.0}  # fmt: skip
    assert validator.is_valid({**head, "step": "alarm", "took_s": 3.0})
    assert not validator.is_valid({**head, "step": "alarm", "took_s": "3 s"})
    assert not validator.is_valid({**head, "assessment": "ok"})
