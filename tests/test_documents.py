"""Every document and every field of ``--json`` is declared once, used, and refused where it is not declared."""

import re

import pytest

from burstwatch.cli.documents import COMMON, DOCUMENTS, FIELDS, FIGURES, OBJECTS, as_document
from burstwatch.cli.main import command_names


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
