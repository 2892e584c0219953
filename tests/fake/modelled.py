"""Lists that are answered by AWS's own service model alone, with no code for the service.

The model says how an operation is paged, which members an item has, and, in its texts, which
filters it takes and how large a page may be. What the model does not have is refused.
"""

import re
from typing import Any

from botocore.model import ListShape, OperationModel, Shape, StructureShape

from tests.fake.filters import matches
from tests.fake.wire import WireError, paginators, service_model

_NUMBERS = re.compile(r"[Mm]inimum:? (\d+)[,;] maximum:? (\d+)")
_NAMES = re.compile(r"<code>([\w.:/<>-]+)</code> (?:-|\u2013)")
MOST_ON_A_PAGE = 100
#: EC2's texts leave it out; its pages are this large where its reference says so.
EC2_PAGES = (5, 1_000)


def member(shape: Shape, path: str) -> Shape:
    """The shape at a path such as ``Attachments[].InstanceId``.

    Raises:
        KeyError: naming the step that AWS does not have.
    """
    for step in path.split("."):
        if not isinstance(shape, StructureShape):
            raise KeyError(step)
        shape = shape.members[step.removesuffix("[]")]
        if step.endswith("[]"):
            if not isinstance(shape, ListShape):
                raise KeyError(step)
            shape = shape.member
    return shape


class Modelled:
    """One listing operation of a service, as its model describes it."""

    def __init__(self, service: str, operation: str) -> None:
        """Raises KeyError for an operation that the service does not have, or does not page."""
        model = service_model(service)
        if operation not in model.operation_names:
            raise KeyError(operation)
        self.service = service
        self.operation: OperationModel = model.operation_model(operation)
        paging = paginators(service).get(operation)
        if paging is None:
            raise KeyError(f"{operation} is not paged")
        self.size, self.token = paging.get("limit_key"), paging["input_token"]
        results = paging["result_key"]
        self.next_token = paging["output_token"]
        self.result = results[0] if isinstance(results, list) else results

    @property
    def filters(self) -> set[str]:
        """The names of the filters that its text documents."""
        return set(_NAMES.findall(self._text("Filters")))

    @property
    def page_sizes(self) -> tuple[int, int]:
        """The smallest and the largest page."""
        found = _NUMBERS.search(self._text(self.size or ""))
        if not found and self.service == "ec2":
            return EC2_PAGES
        return (int(found[1]), int(found[2])) if found else (1, MOST_ON_A_PAGE)

    def _text(self, name: str) -> str:
        shape = self.operation.input_shape
        has_it = shape is not None and name in shape.members
        return str(shape.members[name].documentation) if has_it else ""

    def answer(self, items: list[dict[str, Any]], params: dict[str, Any]) -> dict[str, Any]:
        """One page of the items. What AWS would refuse is refused."""
        for one in params.get("Filters", ()):
            if one["Name"] not in self.filters:
                raise WireError("InvalidParameterValue", f"Unrecognized filter name: {one['Name']}")
        least, most = self.page_sizes
        size = params.get(self.size, most)
        if not least <= size <= most:
            text = f"Invalid value {size} for {self.size}. Must be between {least} and {most}"
            raise WireError("InvalidParameterValue", text)
        items = [one for one in items if matches(one, params.get("Filters", ()))]
        first = int(params.get(self.token, "0"))
        page: dict[str, Any] = {self.result: items[first : first + size]}
        shape = self.operation.output_shape
        repeats_it = self.token != self.next_token and shape and self.token in shape.members
        if repeats_it and self.token in params:
            page[self.token] = params[self.token]  # as EFS does
        if first + size < len(items):
            page[self.next_token] = str(first + size)
        return page
