"""Examines a deployment in the account that it runs in, by reading only.

A check that may not look says so, and the others go on. ``burstwatch drill`` proves what
changes something: alarms and their delivery.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from botocore import xform_name

from burstwatch.aws.client.deployment import Deployment, find_deployment
from burstwatch.aws.client.session import AWS_ERRORS, AwsError, Clients, describe_error
from burstwatch.aws.doctor.cadence import measure_cadence
from burstwatch.aws.doctor.checks import CHECKS, Finding, Patient, read_points
from burstwatch.bucket import HOUR_S
from burstwatch.config import Config, config_from_env
from burstwatch.kinds.base import Kind, Listing, Scope

#: How the codes of AWS begin that say that a permission is missing.
DENIED = ("AccessDenied", "UnauthorizedOperation", "AuthorizationError", "NotAuthorized")


def examine(
    clients: Clients, name: str, kinds: Sequence[Kind], *, now: float, stack: str = ""
) -> Iterator[Finding]:
    """Every check in turn, each finding as soon as it is known. Without credentials there is nothing else to check."""
    try:
        yield from _credentials(clients)
    except AwsError as error:
        todo = "set up credentials, then run the doctor again"
        yield Finding(check="credentials", state="failed", detail=str(error), do=todo)
        return
    for kind in kinds:
        yield from _permissions(clients, kind, now)
    if any(kind.inventory.service == "ec2" for kind in kinds):
        yield from _guarded("managed resources", partial(_managed_resources, clients))
    yield from _deployed(clients, name, stack, now)
    for kind in kinds:
        yield from _guarded(
            f"{kind.name} measured", partial(measure_cadence, clients, kind, now=now)
        )


def _deployed(clients: Clients, name: str, stack: str, now: float) -> Iterator[Finding]:
    """Find the deployment and run each check on it; without a deployment that is the only finding."""
    try:
        deployment = find_deployment(clients, name, stack)
    except AwsError as error:
        todo = "deploy it, or name another with --deployment, --stack or --region"
        yield Finding(check="stack", state="failed", detail=str(error), do=todo)
        return
    yield Finding(check="stack", state="ok", detail=deployment.stack)
    settings: list[Config] = []
    yield from _guarded("functions", partial(_functions, clients, deployment, settings))
    config = settings[0] if settings else Config(deployment=name)
    patient = Patient(clients=clients, deployment=deployment, config=config, now=now)
    for check, look in CHECKS.items():
        yield from _guarded(check, partial(look, patient))


def _guarded(check: str, look: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """The findings of a check. What it may not or cannot look at is unknown, and costs no other check."""
    try:
        yield from look()
    except AWS_ERRORS as error:
        detail = describe_error(error)
        is_denied = any(code in detail for code in DENIED)
        todo = (
            "allow this call to whoever runs the doctor"
            if is_denied
            else "try again, and report it if AWS keeps answering this"
        )
        yield Finding(check=check, state="unknown", detail=detail, do=todo)
    except Exception as error:  # noqa: BLE001 - an answer of a shape that nobody thought of
        detail = str(error) if isinstance(error, AwsError) else describe_error(error)
        yield Finding(check=check, state="unknown", detail=detail, do="report it")


def _credentials(clients: Clients) -> Iterator[Finding]:
    unit = clients.unit()
    detail = f"account {unit.account} in {unit.region}"
    yield Finding(check="credentials", state="ok", detail=detail)


def _permissions(clients: Clients, kind: Kind, now: float) -> Iterator[Finding]:
    """Check that each read of a kind is allowed, by calling it for one page."""
    calls: dict[str, Callable[[], object]] = {
        listing.iam_action: partial(_read_page, clients, listing) for listing in kind.listings
    }
    calls["cloudwatch:GetMetricData"] = partial(
        read_points,
        clients,
        (kind.namespace, kind.level_metrics[0]),
        {},
        "Minimum",
        start_s=now - HOUR_S,
        end_s=now,
    )
    for action, call in calls.items():
        check = f"{kind.name} {action}"
        try:
            call()
        except AWS_ERRORS as error:
            detail, todo = describe_error(error), f"allow {action}"
            yield Finding(check=check, state="failed", detail=detail, do=todo)
        else:
            yield Finding(check=check, state="ok", detail="allowed")


def _managed_resources(clients: Clients) -> Iterator[Finding]:
    """Tell whether EC2 hides what services of AWS manage: the listings ask for it in either case."""
    settings = clients("ec2").get_managed_resource_visibility()["Visibility"]
    default = settings.get("DefaultVisibility", "hidden")
    detail = f"{default} by default, and listed here in either case"
    yield Finding(check="managed resources", state="ok", detail=detail)


def _read_page(clients: Clients, listing: Listing) -> None:
    client, method = clients(listing.service), xform_name(listing.operation)
    if listing.page_size is None:
        getattr(client, method)()
        return
    size = {"PageSize": listing.page_size} if listing.page_size else {}
    arguments = listing.arguments(Scope())
    for _ in client.get_paginator(method).paginate(
        PaginationConfig={**size, "MaxItems": 1}, **arguments
    ):
        return


def _functions(
    clients: Clients, deployment: Deployment, settings: list[Config]
) -> Iterator[Finding]:
    """Check that each function is ready; ``settings`` takes in their settings."""
    for number, name in enumerate(deployment.functions, start=1):
        function = clients("lambda").get_function_configuration(FunctionName=name)
        try:
            settings.append(config_from_env(function.get("Environment", {}).get("Variables", {})))
        except ValueError as error:
            todo = "use the version of burstwatch that deployed it, or deploy it again"
            yield Finding(check=f"function {number}", state="failed", detail=str(error), do=todo)
            continue
        state, updated = function.get("State", "?"), function.get("LastUpdateStatus", "?")
        is_ready = (state, updated) == ("Active", "Successful")
        detail = (
            f"{state}, last update {updated}, {function['MemorySize']} MiB, {function['Timeout']} s"
        )
        yield Finding(
            check=f"function {number}",
            state="ok" if is_ready else "failed",
            detail=detail,
            do="" if is_ready else "deploy it again",
        )
