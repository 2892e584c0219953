"""Finds the documents in a text of JSON or YAML, and which program wrote each.

Several documents may follow one another: people join the answers of several calls by ``cat``.
"""

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from io import StringIO
from itertools import islice, zip_longest
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, TypeAlias

from burstwatch.recordings import formats
from burstwatch.recordings.formats.frames import RowBehindError, next_document
from burstwatch.recordings.formats.layouts import DELIMITERS, FEWER, first_line
from burstwatch.recordings.formats.records import read_records
from burstwatch.recordings.raw import RawContents, merged

JsonDocument: TypeAlias = Any  # whatever JSON holds

#: Deeper than any program writes, and so many that a fortnight of minutes of five metrics fits.
DEEPEST_YAML, MOST_TOKENS = 64, 2_000_000
#: Blanks, and the sign that separates records (RFC 7464).
BETWEEN = frozenset(" \t\r\n\x1e")
#: What stands behind a document and is none of words.
JSON_SIGNS = frozenset('{[]},:"0123456789')
NOT_NESTED = frozenset(
    {"StreamStartToken", "StreamEndToken", "DocumentStartToken", "DocumentEndToken"}
)
#: A line that only YAML begins with: a key, or a list.
YAML_START = re.compile(r"(?:---\s*$|-\s+\S|[\"']?[A-Za-z_]\w*[\"']?:(?:\s|$))")


@cache
def json_formats() -> tuple[ModuleType, ...]:
    """The modules beside this one that read JSON, by their names: each has ``read_document`` and ``PROGRAMS``."""
    names = sorted(info.name for info in iter_modules(formats.__path__))
    modules = [import_module(f"{formats.__name__}.{name}") for name in names]
    return tuple(module for module in modules if hasattr(module, "read_document"))


def json_programs() -> list[str]:
    """The programs whose JSON can be read, as people call them."""
    return [program for module in json_formats() for program in module.PROGRAMS]


def read_documents(text: str, *, name: str) -> RawContents:
    """The series of all documents in a text of JSON.

    Raises:
        ValueError: if it is none, or written by no program that is known.
    """
    return read_all(_json(text, name=name), name=name)


def read_yaml_documents(text: str, *, name: str) -> RawContents:
    """The series of all documents in a text of YAML.

    Raises:
        ValueError: if it is none, or written by no program that is known.
    """
    import yaml  # noqa: PLC0415 - the function has no YAML

    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        _check_tokens(yaml.scan(text, Loader=loader), name=name)
        documents = [document for document in yaml.load_all(text, Loader=loader) if document]
    except (yaml.YAMLError, RecursionError) as error:
        problem = getattr(error, "problem", None) or "it is too deep"
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark else ""
        msg = f"{name} begins like YAML and is not valid: {line}{problem}"
        raise ValueError(msg) from None
    return read_all(documents, name=name)


def _check_tokens(tokens: Iterable[object], *, name: str) -> None:
    """Refuse YAML that would take the parser's stack, or memory and time without end. The C parser has no limit of its own."""
    depth = 0
    for count, token in enumerate(tokens):
        kind = type(token).__name__
        depth += kind.endswith("StartToken") and kind not in NOT_NESTED
        depth -= kind.endswith("EndToken") and kind not in NOT_NESTED
        if kind == "AliasToken":
            msg = f"{name} is YAML with an alias, which no program that is known writes"
            raise ValueError(msg)
        if depth > DEEPEST_YAML:
            msg = f"{name} begins like YAML and is not valid: it is too deep"
            raise ValueError(msg)
        if count > MOST_TOKENS:
            msg = f"{name} has more than {MOST_TOKENS:,} parts of YAML: {FEWER}"
            raise ValueError(msg)


def is_yaml(text: str) -> bool:
    """True if the first line of a text begins a document of YAML."""
    head = first_line(text)
    if YAML_START.match(head) is None or "," in head:
        return False
    lines = [line for line in islice(StringIO(text), 1, 40) if line.strip()]
    is_underlined = any("-" in line and not line.replace("-", " ").strip() for line in lines[:3])
    # Below a title such as ``Report: disks`` stands a table.
    cells = sum(any(sign in line for sign in DELIMITERS) for line in lines)
    return not is_underlined and 2 * cells <= len(lines)


def read_all(documents: Sequence[JsonDocument], *, name: str) -> RawContents:
    """The series of documents: each by the program that wrote it, or together as the rows of one table.

    Raises:
        ValueError: if no program is known that wrote one.
    """
    are_rows = len(documents) > 1 and all(isinstance(document, dict) for document in documents)
    if are_rows and _known(documents[0], name=name) is None:
        contents = read_records(documents, name=name)
        if contents is not None:
            return contents
    are_lists = len(documents) > 1 and all(isinstance(document, list) for document in documents)
    if are_lists and not any(isinstance(cell, dict | list) for row in documents for cell in row):
        documents = [documents]
    parts = [_read(document, name=name) for document in _joined_pages(documents)]
    if not parts:
        msg = f"{name}: no rows, the file is empty"
        raise ValueError(msg)
    return merged(parts)


def _joined_pages(documents: Sequence[JsonDocument]) -> Sequence[JsonDocument]:
    """The answers without the sign that a page is missing, where the next one stands behind it."""
    return [
        {**document, "NextToken": None}
        if isinstance(document, dict) and "NextToken" in document and after is not None
        else document
        for document, after in zip_longest(documents, documents[1:])
    ]


class RepeatedKeyError(ValueError):
    """An object of JSON has a key twice, so one of its values would be lost."""


def _with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise RepeatedKeyError(next(name for name in names if names.count(name) > 1)[:80])
    return members


def _json(text: str, *, name: str) -> list[JsonDocument]:
    """Parse JSON documents that follow each other; raises ValueError with the line of a mistake."""
    decoder = json.JSONDecoder(object_pairs_hook=_with_unique_keys)
    documents, at = [], len(text) - len(text.lstrip())
    try:
        while at < len(text):
            document, at = decoder.raw_decode(text, at)
            documents.append(document)
            at = _behind(text, at)
    except json.JSONDecodeError as error:
        msg = f"{name} begins like JSON and is not valid: line {error.lineno}: {error.msg}"
        raise ValueError(msg) from None
    except RepeatedKeyError as error:
        msg = f"{name} is JSON with the key {error.args[0]!r} twice in one object"
        raise ValueError(msg) from None
    except RowBehindError as error:
        line = text.count("\n", 0, error.place) + 1
        msg = f"{name} has a row of a table behind JSON, in line {line}: give each as a file"
        raise ValueError(msg) from None
    except (ValueError, RecursionError) as error:
        where = "too deep" if isinstance(error, RecursionError) else "a number has too many digits"
        msg = f"{name} begins like JSON and is not valid: {where}"
        raise ValueError(msg) from None
    return documents


def _behind(text: str, at: int) -> int:
    """Where the next document begins: behind blanks, or behind words such as a prompt or a signature."""
    while at < len(text) and text[at] in BETWEEN:
        at += 1
    return at if at == len(text) or text[at] in JSON_SIGNS else next_document(text, at)


def _known(document: JsonDocument, *, name: str) -> RawContents | None:
    """The contents by the first reader that knows the document's shape."""
    for module in json_formats():
        try:
            contents: RawContents | None = module.read_document(document)
        except ValueError as error:
            msg = f"{name}: {error}"
            raise ValueError(msg) from None
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError):
            continue  # like a document of that program, with something else inside it
        if contents is not None:
            return contents
    return None


def _read(document: JsonDocument, *, name: str) -> RawContents:
    """Read a document with the first reader that knows its shape; raises ValueError if none does."""
    contents = _known(document, name=name)
    if contents is None and isinstance(document, list) and document:
        parts = [_known(part, name=name) for part in document]
        answers = [part for part in parts if part is not None]
        if len(answers) == len(parts):
            contents = merged(answers)
    if contents is None:
        contents = read_records([document], name=name)
    if contents is None:
        *programs, last = json_programs()
        msg = f"{name} is a document of an unknown form; allowed: the answers of {', '.join(programs)} or {last}, and lists of rows with a time and values"
        raise ValueError(msg)
    return contents
