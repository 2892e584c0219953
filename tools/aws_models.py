"""Tells what AWS has changed in the operations that burstwatch calls, between two versions of botocore.

    python -m tools.aws_models            the differences from the extract that is committed
    python -m tools.aws_models --accept   write the extract anew, once each difference is ticked

``aws_models.txt`` has what botocore says of each operation that the code calls: members of request and response, values
of enumerations, limits, deprecations. ``aws_changes.toml`` has a person's word on each difference that there ever was:
used, irrelevant or to do, and why. A test fails while the two are not of the botocore that is installed.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import botocore
import botocore.session
from botocore import xform_name
from botocore.model import ListShape, MapShape, Shape, StructureShape

from burstwatch.kinds import find_kinds

HERE = Path(__file__).parent
EXTRACT, CHANGES = HERE / "aws_models.txt", HERE / "aws_changes.toml"
PRODUCT = HERE.parent / "burstwatch"
#: What a person says of a difference.
Tick: TypeAlias = Literal["used", "irrelevant", "to do"]
#: Of these only the families are kept: sizes come every week, and are read from the account.
INSTANCE_TYPE = "InstanceType"
#: A service and the name of an operation as AWS spells it.
Call: TypeAlias = tuple[str, str]
#: Commands whose names the code puts together.
COMMANDS: frozenset[Call] = frozenset(
    {
        ("docdb", "ModifyDBInstance"),
        ("ec2", "ModifyInstanceAttribute"),
        ("ec2", "StartInstances"),
        ("ec2", "StopInstances"),
        ("neptune", "ModifyDBInstance"),
    }
)


@dataclass(frozen=True, kw_only=True)
class Change:
    """A difference that was found in ``version`` of botocore, with a person's word on it."""

    version: str
    line: str
    tick: Tick
    why: str


def called() -> set[Call]:
    """Each operation that the product calls, or tells people to call, as the code has it."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in PRODUCT.rglob("*.py")]
    listings = [listing for kind in find_kinds().values() for listing in kind.listings]
    taggings = [kind.tagging for kind in find_kinds().values() if kind.tagging is not None]
    clients = {
        service for tree in trees for node in ast.walk(tree) if (service := _client_of(node))
    }
    session = botocore.session.get_session()
    names = {
        (service, xform_name(name)): name
        for service in clients
        for name in session.get_service_model(service).operation_names
    }
    methods = {method for tree in trees for method in _methods(tree)}
    return {
        *COMMANDS,
        *((service, names[service, name]) for service, name in methods if (service, name) in names),
        *(command for tree in trees for command in _commands(tree)),
        *((listing.service, listing.operation) for listing in listings),
        *((tagging.service, tagging.put_operation) for tagging in taggings),
        *((tagging.service, tagging.remove_operation) for tagging in taggings),
    }


def _commands(tree: ast.Module) -> Iterator[Call]:
    """What people are told to run: each is a ``Command`` with a service and an operation."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Command":
            named = {keyword.arg: keyword.value for keyword in node.keywords}
            service, operation = named.get("service"), named.get("operation")
            if isinstance(service, ast.Constant) and isinstance(operation, ast.Constant):
                yield str(service.value), str(operation.value)


def _client_of(node: ast.AST) -> str:
    """The service of an expression such as ``clients("ec2")``, or nothing."""
    if not isinstance(node, ast.Call) or len(node.args) != 1:
        return ""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    (argument,) = node.args
    is_client = name in {"clients", "self"} and isinstance(argument, ast.Constant)
    return str(argument.value) if is_client and isinstance(argument, ast.Constant) else ""


def _methods(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The services and methods of the calls in a module, of a client or of a name that is bound to one."""
    bound = {
        name.id: service
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        for name, value in _pairs(target, node.value)
        if isinstance(name, ast.Name) and (service := _client_of(value))
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        owner = node.value
        service = _client_of(owner) or bound.get(getattr(owner, "id", ""), "")
        if service:
            yield service, node.attr
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "get_paginator":
            client = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            service = _client_of(client) or bound.get(getattr(client, "id", ""), "")
            if service and isinstance(node.args[0], ast.Constant):
                yield service, str(node.args[0].value)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """A name and what it is bound to; of a tuple each name with its own."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        yield from zip(target.elts, value.elts, strict=True)
    else:
        yield target, value


def extract() -> list[str]:
    """What the installed botocore says of each operation that is called and of each shape in it, a line each."""
    session = botocore.session.get_session()
    lines: set[str] = set()
    for service, operation in called():
        model = session.get_service_model(service).operation_model(operation)
        shapes = filter(None, (model.input_shape, model.output_shape))
        lines.add(f"{service} {operation}(){' deprecated' if model.deprecated else ''}")
        seen: dict[str, Shape] = {}
        for shape in shapes:
            _reach(shape, seen)
        lines |= {f"{service} {line}" for shape in seen.values() for line in _lines_of(shape)}
    return sorted(lines)


def _reach(shape: Shape, seen: dict[str, Shape]) -> None:
    """Add a shape, and all that is in it, to what was ``seen`` by name."""
    if shape.name in seen:
        return
    seen[shape.name] = shape
    if isinstance(shape, ListShape):
        _reach(shape.member, seen)
    elif isinstance(shape, MapShape):
        _reach(shape.value, seen)
    elif isinstance(shape, StructureShape):
        for member in shape.members.values():
            _reach(member, seen)


def _lines_of(shape: Shape) -> Iterator[str]:
    """The members of a structure, the values of an enumeration, or the limits of anything else."""
    if isinstance(shape, StructureShape):
        for name, member in shape.members.items():
            marks = " required" * (name in shape.required_members)
            marks += " deprecated" * bool(member.metadata.get("deprecated"))
            yield f"{shape.name}.{name}: {_type_of(member)}{marks}"
        return
    for name in {"min", "max"} & set(shape.metadata):
        yield f"{shape.name} {name} {shape.metadata[name]}"
    values = getattr(shape, "enum", ())
    if shape.name == INSTANCE_TYPE:
        values = {value.partition(".")[0] for value in values}
    for value in values:
        yield f"{shape.name} = {value}"


def _type_of(shape: Shape) -> str:
    """The name of a shape, and of what a list or a map holds."""
    if isinstance(shape, ListShape):
        return f"{_type_of(shape.member)}[]"
    return f"{_type_of(shape.value)}{{}}" if isinstance(shape, MapShape) else str(shape.name)


def differences() -> list[str]:
    """Each line that came with ``+`` and each that went with ``-``, from the committed extract to the installed botocore."""
    before, now = set(EXTRACT.read_text(encoding="utf-8").splitlines()[1:]), set(extract())
    return sorted([f"+ {line}" for line in now - before] + [f"- {line}" for line in before - now])


def extracted_version() -> str:
    """The version of botocore that the committed extract is of."""
    return EXTRACT.read_text(encoding="utf-8").partition("\n")[0].removeprefix("botocore ")


def read_changes() -> list[Change]:
    """All that a person has ticked so far.

    Raises:
        ValueError: naming the entry that has another tick than there are, or no reason.
    """
    document = tomllib.loads(CHANGES.read_text(encoding="utf-8"))
    changes = []
    for version, entries in document.items():
        for entry in entries:
            if entry["tick"] not in get_args(Tick) or not entry["why"]:
                msg = f"{CHANGES.name}: {entry}; allowed as tick: {', '.join(get_args(Tick))}, with a reason"
                raise ValueError(msg)
            changes += [
                Change(version=version, line=line, tick=entry["tick"], why=entry["why"])
                for line in entry["lines"]
            ]
    return changes


def unticked(lines: list[str], changes: list[Change]) -> list[str]:
    """The differences on which nobody has said anything for the installed version."""
    ticked = {change.line for change in changes if change.version == botocore.__version__}
    return [line for line in lines if not any(_covers(tick, line) for tick in ticked)]


def _covers(tick: str, line: str) -> bool:
    """True if a tick is of this line: itself, or all below a path that ends with ``...``."""
    return line.startswith(tick.removesuffix("...")) if tick.endswith("...") else tick == line


def main(arguments: list[str]) -> int:
    """Print the differences, or accept them. Returns an exit code."""
    lines = differences()
    # Within one version they are of what the code calls now, and nothing that AWS has changed.
    left = unticked(lines, read_changes()) if extracted_version() != botocore.__version__ else []
    for line in left:
        print(line)
    if arguments == ["--accept"] and not left:
        text = "\n".join([f"botocore {botocore.__version__}", *extract(), ""])
        EXTRACT.write_text(text, encoding="utf-8")
        return 0
    print(
        f"{len(lines)} differences, {len(left)} of them not ticked in {CHANGES.name}",
        file=sys.stderr,
    )
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
