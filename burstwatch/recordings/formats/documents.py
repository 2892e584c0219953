"""Finds the JSON documents in a text, and which program wrote each.

Several documents may follow one another: people join the answers of several calls by ``cat``.
"""

import json
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, TypeAlias

from burstwatch.recordings import formats
from burstwatch.recordings.samples import Contents

Document: TypeAlias = Any  # whatever JSON holds


@cache
def json_formats() -> tuple[ModuleType, ...]:
    """The modules beside this one that read JSON, by their names: each has ``read_document`` and ``PROGRAMS``."""
    names = sorted(info.name for info in iter_modules(formats.__path__))
    modules = [import_module(f"{formats.__name__}.{name}") for name in names]
    return tuple(module for module in modules if hasattr(module, "read_document"))


def json_programs() -> list[str]:
    """The programs whose JSON can be read, as people call them."""
    return [program for module in json_formats() for program in module.PROGRAMS]


def read_documents(text: str, *, name: str) -> Contents:
    """The series of all documents in a text.

    Raises:
        ValueError: for what is no JSON, or written by no program that is known.
    """
    all_contents = [_read(document, name=name) for document in _documents(text, name=name)]
    head = all_contents[0]
    return Contents(
        format=head.format,
        series=[series for contents in all_contents for series in contents.series],
        gaps_are_silence=all(contents.gaps_are_silence for contents in all_contents),
        spec={},
        notes=tuple(dict.fromkeys(note for contents in all_contents for note in contents.notes)),
    )


def _documents(text: str, *, name: str) -> list[Document]:
    """Parse JSON documents that follow each other; raises ValueError with the line of a mistake."""
    decoder = json.JSONDecoder()
    documents, at = [], 0
    try:
        while at < len(text):
            document, at = decoder.raw_decode(text, at)
            documents.append(document)
            while at < len(text) and text[at] in " \t\r\n":
                at += 1
    except json.JSONDecodeError as error:
        msg = f"{name} begins like JSON and is not valid: line {error.lineno}: {error.msg}"
        raise ValueError(msg) from None
    except (ValueError, RecursionError) as error:
        where = "too deep" if isinstance(error, RecursionError) else "a number has too many digits"
        msg = f"{name} begins like JSON and is not valid: {where}"
        raise ValueError(msg) from None
    return documents


def _read(document: Document, *, name: str) -> Contents:
    """Read a document with the first reader that knows its shape; raises ValueError if none does."""
    for module in json_formats():
        try:
            contents: Contents | None = module.read_document(document)
        except ValueError as error:
            msg = f"{name}: {error}"
            raise ValueError(msg) from None
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError):
            continue  # like a document of that program, with something else inside it
        if contents is not None:
            return contents
    *programs, last = json_programs()
    msg = f"{name} is JSON of an unknown form, allowed are the answers of {', '.join(programs)} or {last}"
    raise ValueError(msg)
