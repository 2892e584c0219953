"""Files: our own and those that people write, read by a schema; written whole or not at all."""

import os
import re
import tempfile
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, TextIO, TypeVar

import msgspec
import msgspec.inspect
import yaml

_Schema = TypeVar("_Schema")
#: A step of the path in msgspec's errors: a name or an index.
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_UNKNOWN = re.compile(r"unknown field `(.*)`")


def read_json(path: Path, schema: type[_Schema]) -> _Schema:
    """The content of a JSON file in a schema: a dataclass or a type of msgspec.

    Raises:
        ValueError: with what is wrong, and where in the file.
        OSError: if it cannot be read.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=schema)
    except (msgspec.DecodeError, RecursionError, ArithmeticError) as error:
        raise ValueError(str(error)) from error


def read_yaml(path: Path) -> object:
    """The content of a YAML file.

    Raises:
        ValueError: naming the file and what is wrong.
    """
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: {error}"
        raise ValueError(msg) from error
    except (yaml.YAMLError, ValueError) as error:
        msg = f"{path} is no YAML: {' '.join(str(error).split())}"
        raise ValueError(msg) from error


def convert(entry: object, schema: type[_Schema], at: str, problems: list[str]) -> _Schema | None:
    """An entry of a file in a schema of msgspec, without what does not fit; None if nothing is left.

    ``at`` is where the entry is in its file. All that does not fit is added to ``problems``,
    each with its place, its value and what is allowed.
    """
    rest = deepcopy(entry)
    while True:
        try:
            return msgspec.convert(rest, schema)
        except msgspec.ValidationError as error:
            text, _, path = str(error).partition(" - at `$")
            steps = [int(index) if index else name for name, index in _STEP.findall(path)]
            unknown = _UNKNOWN.search(text)
            if unknown is not None:
                steps.append(unknown[1])
            where = ".".join(filter(None, [at, *map(str, steps)])) or "the file"
            parent: Any = rest
            for step in steps[:-1]:
                parent = parent[step]
            is_whole = not steps or "missing required" in text
            value = rest if is_whole else parent[steps[-1]]
            if unknown is not None:
                names = ", ".join(field.name for field in _struct(schema, steps[:-1]).fields)
                problems.append(f"{where} is unknown, allowed are {names}")
            elif "missing required" in text:
                problems.append(f"{where}: {text}")
            else:
                values = _values(schema, steps) if "enum" in text else ""
                problems.append(f"{where} is {value!r}: {text}{values}")
            if is_whole:
                return None
            del parent[steps[-1]]


def _struct(schema: type[Any], steps: Sequence[str | int]) -> msgspec.inspect.StructType:
    """The structure at a place of a schema."""
    info: msgspec.inspect.Type = msgspec.inspect.type_info(schema)
    for step in [None, *steps]:
        if isinstance(info, msgspec.inspect.StructType) and step is not None:
            info = next(field.type for field in info.fields if field.name == step)
        if isinstance(info, msgspec.inspect.UnionType):
            structs = (one for one in info.types if isinstance(one, msgspec.inspect.StructType))
            info = next(structs, info)
    if not isinstance(info, msgspec.inspect.StructType):
        raise TypeError(schema)
    return info


def _values(schema: type[Any], steps: Sequence[str | int]) -> str:
    fields = _struct(schema, steps[:-1]).fields
    info = next(field.type for field in fields if field.name == steps[-1])
    found = getattr(info, "values", ())
    return f", allowed are {', '.join(map(str, found))}" if found else ""


def put_in_place(path: Path, write: Callable[[TextIO], object]) -> None:
    """Write a file beside itself, bring it to the disk, and put it in the place of the one before.

    Raises:
        OSError: if that cannot be done; what was there before is there still.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
