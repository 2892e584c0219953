"""Reads EC2's answers by the elements that are in them.

botocore asks of each item for every field that its model has, seventy of an instance. That is half of the time of a large
inventory. Here each element is looked up in a table that is made once of the same model. Errors, and whatever is rare in a
model, are read by botocore as before; a test holds both against each other.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from botocore.model import Shape
from botocore.parsers import EC2QueryParser, ResponseParser, ResponseParserFactory

Element: TypeAlias = Any  # of ElementTree
Read: TypeAlias = Callable[[Element], Any]


class RepeatedError(Exception):
    """An element is there twice, which only botocore knows what to make of."""


class AnswerParsers(ResponseParserFactory):  # type: ignore[misc]  # botocore has no types
    """Makes botocore's parsers, and ours for EC2."""

    def __init__(self) -> None:
        super().__init__()
        self._readers: dict[Shape, Read] = {}

    def create_parser(self, protocol_name: str) -> ResponseParser:
        """Return the parser of a protocol."""
        if protocol_name != "ec2":
            return super().create_parser(protocol_name)
        return _Ec2Parser(self._readers, **self._defaults)


class _Ec2Parser(EC2QueryParser):  # type: ignore[misc]  # botocore has no types
    """Reads structures by their elements, as long as these are as the model says."""

    def __init__(self, readers: dict[Shape, Read], **defaults: object) -> None:
        super().__init__(**defaults)
        self._readers = readers

    def _handle_structure(self, shape: Shape, element: Element) -> Any:  # noqa: ANN401 - as botocore's
        if isinstance(element, list) or shape.metadata.get("exception"):
            return super()._handle_structure(shape, element)
        try:
            return self.reader(shape)(element)
        except RepeatedError:
            return super()._handle_structure(shape, element)

    def reader(self, shape: Shape) -> Read:
        """The function that reads an element of this shape. It is made once."""
        read = self._readers.get(shape)
        if read is None:
            read = self._readers[shape] = self._make_reader(shape)
        return read

    def _make_reader(self, shape: Shape) -> Read:
        """A function for the shapes that answers are full of, and botocore's own method for all others."""
        parse_time = self._timestamp_parser
        of_text: dict[str, Read] = {
            "string": lambda element: element.text or "",
            "integer": lambda element: int(element.text or ""),
            "long": lambda element: int(element.text or ""),
            "boolean": lambda element: element.text == "true",
            "timestamp": lambda element: parse_time(element.text or ""),
        }
        if shape.type_name in of_text:
            return of_text[shape.type_name]
        if shape.type_name == "list" and not shape.serialization.get("flattened"):
            member = self.reader(shape.member)
            return lambda element: [member(item) for item in element]
        if shape.type_name == "structure" and _is_plain(shape):
            return _structure_reader(_Members(shape, self.reader))
        return lambda element: super(_Ec2Parser, self)._parse_shape(shape, element)


def _is_plain(shape: Shape) -> bool:
    """True for a structure all of whose members are elements of their own."""
    unusual = ("location", "eventheader", "flattened", "xmlAttribute")
    return not shape.is_tagged_union and not any(
        member.serialization.get(key) for member in shape.members.values() for key in unusual
    )


class _Members(dict[str, tuple[str, Read] | None]):
    """The members of a structure by the tag of their element, each looked up when it is first met; None for what is not in the model."""

    def __init__(self, shape: Shape, reader: Callable[[Shape], Read]) -> None:
        super().__init__()
        self._reader = reader
        self._members = {
            member.serialization.get("name") or name: (name, member)
            for name, member in shape.members.items()
        }

    def __missing__(self, tag: str) -> tuple[str, Read] | None:
        """Find the member, without the namespace of its tag."""
        member = self._members.get(tag.rpartition("}")[2])
        entry = None if member is None else (member[0], self._reader(member[1]))
        self[tag] = entry
        return entry


def _structure_reader(members: _Members) -> Read:
    """A function that reads the members that are there."""

    def read(element: Element) -> dict[str, Any]:
        parsed: dict[str, Any] = {}
        for child in element:
            member = members[child.tag]
            if member is not None:
                name, read_member = member
                if name in parsed:
                    raise RepeatedError
                parsed[name] = read_member(child)
        return parsed

    return read
