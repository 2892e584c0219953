"""Puts an owner's tag on a resource, and takes it away: the only calls that change one."""

from collections.abc import Iterable

from botocore import xform_name

from burstwatch.aws.client.session import AWS_ERRORS, AwsError, Clients, describe_error
from burstwatch.aws.inventory.inventory import list_things
from burstwatch.kinds.base import Kind, Scope, Thing
from burstwatch.shards import Problem, thing_id


def find_thing(clients: Clients, kinds: Iterable[Kind], resource_id: str) -> tuple[Kind, Thing]:
    """The thing that a resource is a part of, and the first kind that lists it.

    Raises:
        AwsError: if there is none in the account and region, with what could not be asked.
    """
    unit, wanted_id = clients.unit(), thing_id(resource_id)
    problems: dict[Problem, None] = {}
    for kind in kinds:
        things, failed = list_things(kind, clients, unit, Scope(ids=(wanted_id,)))
        problems |= dict.fromkeys(failed)
        for thing in things:
            if thing.id == wanted_id:
                return kind, thing
    unasked = "".join(f"; {problem.part} failed: {problem.error}" for problem in problems)
    msg = f"{resource_id} is no resource with credits in {unit}{unasked}"
    raise AwsError(msg)


def put_tag(clients: Clients, kind: Kind, thing: Thing, key: str, value: str) -> None:
    """Put one tag on a thing, in place of its last value.

    Raises:
        AwsError: if AWS refuses.
    """
    tagging = kind.tagging
    _call(clients, tagging.service, tagging.put_operation, tagging.put(thing, key, value))


def remove_tag(clients: Clients, kind: Kind, thing: Thing, key: str) -> None:
    """Take one tag off a thing.

    Raises:
        AwsError: if AWS refuses.
    """
    tagging = kind.tagging
    _call(clients, tagging.service, tagging.remove_operation, tagging.remove(thing, key))


def _call(clients: Clients, service: str, operation: str, arguments: dict[str, object]) -> None:
    try:
        getattr(clients(service), xform_name(operation))(**arguments)
    except AWS_ERRORS as error:
        raise AwsError(describe_error(error)) from error
