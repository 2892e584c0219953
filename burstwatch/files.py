"""Files: our own and those that people write, read by a schema; written whole or not at all."""

import errno
import fcntl
import os
import re
import stat
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import Any, Literal, TextIO, TypeAlias, TypeVar, get_args, get_origin

import msgspec
import msgspec.structs
import yaml
from msgspec import Struct

#: The state of a thousand volumes takes less than one MiB.
LARGEST_BYTES = 1 << 26
#: A person has written it; a configuration of a thousand volumes takes 100 kB.
LARGEST_YAML_BYTES = 1 << 20
_Schema = TypeVar("_Schema")
_Struct = TypeVar("_Struct", bound=Struct)


def read_json(path: Path, schema: type[_Schema]) -> _Schema:
    """The content of a JSON file in a schema: a dataclass or a type of msgspec.

    Raises:
        ValueError: with what is wrong, and where in the file.
        OSError: if it cannot be read.
    """
    try:
        return msgspec.json.decode(_read_bytes(path, LARGEST_BYTES), type=schema)
    except (msgspec.DecodeError, RecursionError, ArithmeticError) as error:
        raise ValueError(str(error)) from error


def read_yaml(path: Path) -> object:
    """The content of a YAML file.

    Raises:
        ValueError: naming the file and what is wrong.
    """
    try:
        text = _read_bytes(path, LARGEST_YAML_BYTES).decode("utf-8")
        return yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: {getattr(error, 'strerror', '') or error}"
        raise ValueError(msg) from error
    except yaml.MarkedYAMLError as error:  # without the lines that it quotes: they may be secret
        mark = error.problem_mark
        where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        msg = f"{path} is not allowed YAML: {error.problem}{where}"
        raise ValueError(msg) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        msg = f"{path} is not allowed YAML: {' '.join(str(error).split())}"
        raise ValueError(msg) from error


#: An inode, when it was last written, and its size: what is put in place of a file has another one.
Stamp: TypeAlias = tuple[int, int, int]


def stamp_of(path: Path) -> Stamp | None:
    """What tells one writing of a file from the next; None for one that cannot be looked at."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _read_bytes(path: Path, most: int) -> bytes:
    """The content, unless it is so large that somebody named another file."""
    with path.open("rb") as file:
        raw = file.read(most + 1)
    if len(raw) > most:
        raise OSError(errno.EFBIG, f"has more than {most >> 20} MiB", str(path))
    return raw


#: "Expected `float | null` > 0.0, got `str`", and the words for its types.
_EXPECTED = re.compile(r"Expected `([^`]+)`((?: [^,]+)?)")
_COMPARED = {
    " > 0.0": " above 0",
    " < 1000000000000000.0": " below 1e+15",
    " matching regex '^/'": " that begins with /",
    " of length >= 1": " that is not empty",
}
_WORDS = {
    "object": "a table of keys",
    "array": "a list",
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
}


class _Loader(yaml.SafeLoader):
    """Refuses what a person did not mean: a key twice, and links that may make a small file endless."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.constructor.ConstructorError(None, None, "aliases (*) are not allowed", mark)
        return super().compose_node(parent, index)

    def construct_mapping(
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002 - PyYAML's signature
    ) -> dict[Hashable, Any]:
        mapping = super().construct_mapping(node, deep=deep)
        names = set()
        for key, _ in node.value:
            name = self.construct_object(key, deep=True)
            if name in names:
                problem = f"the key {name!r} is there twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            names.add(name)
        return mapping


def convert(
    entry: object, schema: type[_Struct], at: str, problems: list[str], *, shows_values: bool = True
) -> _Struct | None:
    """An entry of a file as a structure of msgspec, of the fields that fit; None if these do not do.

    ``at`` is where the entry is in its file. Everything that does not fit is added to
    ``problems``, with its place and what is allowed, and with its value where that is no secret.
    """
    mistakes = list(_mistakes(entry, schema, at, shows_values=shows_values))
    problems += mistakes
    if mistakes and isinstance(entry, dict):
        fields = {field.name: field.type for field in msgspec.structs.fields(schema)}
        entry = {
            name: value
            for name, value in entry.items()
            if name in fields and not any(_mistakes(value, fields[name], at, shows_values=False))
        }
    try:
        return msgspec.convert(entry, schema)
    except msgspec.ValidationError:
        return None


def _mistakes(entry: object, schema: Any, at: str, *, shows_values: bool) -> Iterator[str]:  # noqa: ANN401 - any type
    """Name every mistake of a parsed file against its schema, where it is and what is allowed."""
    types = [schema, *get_args(schema)]
    struct = next(
        (
            candidate
            for candidate in types
            if isinstance(candidate, type) and issubclass(candidate, Struct)
        ),
        None,
    )
    if struct is None or not isinstance(entry, dict):
        try:
            msgspec.convert(entry, schema)
        except msgspec.ValidationError as error:
            literals = (candidate for candidate in types if get_origin(candidate) is Literal)
            allowed = [str(value) for literal in literals for value in get_args(literal)]
            value = f" is {entry!r}" if shows_values else " has a wrong value"
            values = f"; allowed: {', '.join(allowed)}" if allowed else ""
            yield f"{at or 'the file'}{value}{values or _allowed(str(error))}"
        return
    fields = {field.name: field for field in msgspec.structs.fields(struct)}
    prefix = f"{at}." if at else ""
    for name in entry:
        if name not in fields:
            yield f"{prefix}{name} is unknown; allowed: {', '.join(fields)}"
    for name, field in fields.items():
        if name in entry:
            yield from _mistakes(entry[name], field.type, prefix + name, shows_values=shows_values)
        elif field.required:
            yield f"{prefix}{name} is missing"


def _allowed(text: str) -> str:
    """Translate msgspec's expectation to the words of a file; words that are not known stay."""
    expected, _, place = text.partition(" - at ")
    match = _EXPECTED.match(expected)
    if match is None:
        return f": {text}"
    names = [_WORDS.get(word, word) for word in match[1].split(" | ") if word != "null"]
    name, more = " or ".join(names), match[2]
    for theirs, ours in _COMPARED.items():
        more = more.replace(theirs, ours)
    below = f" as each {'key' if 'key' in place else 'entry'}" if place else ""
    return f"; allowed: {name}{more}{below}"


def put_in_place(
    path: Path, write: Callable[[TextIO], object], *, is_private: bool = False
) -> None:
    """Write a file beside itself, bring it to the disk, and put it in the place of the one before.

    A private file is for its owner only; who may read another the umask says. One process
    writes at a time. The draft of one that was killed is written over.

    Raises:
        OSError: if that cannot be done; what was there before is there still.
    """
    draft = path.with_name(f".{path.name}.new")
    with os.fdopen(_open_draft(draft, is_private=is_private), "w", encoding="utf-8") as file:
        try:
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


def _open_draft(path: Path, *, is_private: bool) -> int:
    """Open, lock and empty the draft of a file, which must be our own and no link. Returns its descriptor.

    Raises:
        OSError: if another process writes it, or it is not ours.
    """
    # Without O_NONBLOCK a named pipe in its place would hold us up for ever.
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    while True:
        fd = os.open(path, flags, 0o600 if is_private else 0o666)
        try:
            _lock(fd, path)
            status = os.fstat(fd)
            # Another writer may have renamed the draft away between our opening and our lock: then try again.
            if os.path.samestat(status, path.lstat()):
                _check_ours(status, path)
                if is_private:
                    os.fchmod(fd, 0o600)
                os.ftruncate(fd, 0)
                return fd
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _check_ours(status: os.stat_result, path: Path) -> None:
    is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid()
    if not is_ours or status.st_nlink > 1:
        raise OSError(
            errno.EPERM,
            "was not made by this program or belongs to another user: remove it",
            str(path),
        )


def _lock(fd: int, path: Path) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise OSError(errno.EBUSY, "another process writes it", str(path)) from error
