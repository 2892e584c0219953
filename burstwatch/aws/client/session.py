"""Clients with bounded retries, and errors in words that name the thing."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, TypeVar

import botocore.session
from botocore.config import Config as ClientConfig
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    ProfileNotFound,
)
from botocore.parsers import ResponseParserError, ResponseParserFactory
from botocore.utils import parse_timestamp

from burstwatch.shards import Cause, Problem, Unit

#: The error codes by which AWS's services ask for fewer calls.
THROTTLED = frozenset(
    {
        "RequestLimitExceeded",
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "TooManyRequestsException",
        "EC2ThrottledException",
    }
)

#: The code of STS for a role that may not be assumed.
ACCESS_DENIED = "AccessDenied"
#: AWS's words for a call that a policy of the organisation denies, or allows nowhere: there is no code for it.
BY_POLICY = ("explicit deny in a service control policy", "no service control policy allows")
#: Why what there was no time for is not known.
LATE = "the sweep's time was up"
T = TypeVar("T")

# botocore's own limits (60 s to connect and to read) are longer than a whole sweep.
CLIENT_CONFIG = ClientConfig(
    connect_timeout=3,
    read_timeout=10,
    retries={"mode": "standard", "total_max_attempts": 3},
    user_agent_appid="burstwatch",
)


class LateError(Exception):
    """The time is up before all was asked."""

    def __init__(self) -> None:
        super().__init__(LATE)


class CutError(Exception):
    """An answer without the part that was asked for, as botocore passes on a body that was cut."""

    def __init__(self, *, operation: str) -> None:
        super().__init__(f"{operation}: the answer is not whole")


#: Errors that an AWS call can raise. A response that is cut off is neither of botocore's own two.
AWS_ERRORS = (BotoCoreError, ClientError, ResponseParserError, LateError, CutError)


class AwsError(ValueError):
    """An answer of AWS that could not be had; the message says why, in words for people."""


class Clients:
    """The clients of one region, made when first asked for and then kept."""

    def __init__(
        self,
        region: str | None = None,
        *,
        profile: str | None = None,
        fallback: str | None = None,
        endpoint_url: str | None = None,
        credentials: Mapping[str, str] | None = None,
    ) -> None:
        """``region``, ``profile`` and ``endpoint_url`` default to what the environment says.

        ``fallback`` is the region where the environment says none.

        ``credentials`` are those of boto3, where they are not the environment's: ``aws_access_key_id`` and so on.
        boto3 itself is not imported: its transfers of files take longer to load than all of this program.

        Raises:
            AwsError: if the profile does not exist, or no region is known.
        """
        core = botocore.session.get_session()
        parsers = ResponseParserFactory()
        parsers.set_parser_defaults(timestamp_parser=parse_aws_time)
        core.register_component("response_parser_factory", parsers)
        if profile:
            core.set_config_variable("profile", profile)
        if region:
            core.set_config_variable("region", region)
        try:
            if credentials:
                core.set_credentials(
                    credentials["aws_access_key_id"],
                    credentials["aws_secret_access_key"],
                    credentials.get("aws_session_token"),
                )
            core.get_scoped_config()  # raises if there is no such profile
            self.region = core.get_config_variable("region") or fallback or ""
        except ProfileNotFound as error:
            profiles = ", ".join(botocore.session.get_session().available_profiles) or "none"
            msg = f"there is no profile {profile!r}; the AWS configuration has {profiles}"
            raise AwsError(msg) from error
        except BotoCoreError as error:
            raise AwsError(describe_error(error)) from error
        self._session = core
        if not self.region:
            msg = "no region: pass --region or set AWS_REGION"
            raise AwsError(msg)
        self._endpoint_url = endpoint_url
        self._answers = Counter[str]()
        #: AWS's time in its newest answer in unix seconds, and when that came by the monotonic clock.
        self.dated: tuple[float, float] | None = None
        self._clients: dict[str, Any] = {}
        self._deadline: Deadline | None = None

    @property
    def throttled(self) -> int:
        """Answers so far that asked for fewer calls, those among them that were tried again."""
        return self._answers["throttled"]

    @property
    def answers(self) -> int:
        """Answers so far, those among them that were tried again."""
        return self._answers["all"]

    def until(self, deadline: "Deadline") -> "Clients":
        """Return a copy of the clients whose calls raise ``LateError`` once the deadline has passed."""
        if deadline is NEVER:
            return self
        bounded = copy(self)
        bounded._deadline = deadline  # noqa: SLF001 - a copy of its own
        return bounded

    def __call__(self, service: str) -> Any:  # noqa: ANN401 - boto3 makes its classes at run time
        """The client of one service. Its calls raise one of ``AWS_ERRORS``."""
        if service not in self._clients:
            client = self._session.create_client(
                service, self.region, config=CLIENT_CONFIG, endpoint_url=self._endpoint_url
            )
            client.meta.events.register("needs-retry", self._note_answer)
            self._clients[service] = client
        client = self._clients[service]
        return client if self._deadline is None else _Bounded(client, self._deadline)

    def _note_answer(self, response: Any = None, **_: object) -> None:  # noqa: ANN401 - botocore's own pair
        """Count answers that say "slower", which botocore tries again by itself; and note AWS's time."""
        if not response:
            return
        http, parsed = response
        self._answers["all"] += 1
        self._answers["throttled"] += parsed.get("Error", {}).get("Code") in THROTTLED
        with suppress(KeyError, TypeError, ValueError):
            at = parsedate_to_datetime(http.headers["date"]).timestamp()
            self.dated = at, time.monotonic()

    def assume(
        self, role_arn: str, *, external_id: str, session_name: str, region: str
    ) -> "tuple[Clients, float]":
        """Clients in ``region`` with the rights of a role, and when those end.

        Raises:
            AwsError: if it may not be assumed.
        """
        condition = {"ExternalId": external_id} if external_id else {}
        try:
            answer = self("sts").assume_role(
                RoleArn=role_arn, RoleSessionName=session_name, **condition
            )
        except AWS_ERRORS as error:
            raise AwsError(describe_error(error)) from error
        role = answer["Credentials"]
        credentials = {
            "aws_access_key_id": role["AccessKeyId"],
            "aws_secret_access_key": role["SecretAccessKey"],
            "aws_session_token": role["SessionToken"],
        }
        clients = Clients(region, endpoint_url=self._endpoint_url, credentials=credentials)
        return clients, role["Expiration"].timestamp()

    def known_regions(self) -> list[str]:
        """The regions of every partition that this botocore knows."""
        return _regions(self._session)

    def unit(self) -> Unit:
        """The account and region that these clients reach.

        Raises:
            AwsError: without usable credentials.
        """
        try:
            account = self("sts").get_caller_identity()["Account"]
        except AWS_ERRORS as error:
            raise AwsError(describe_error(error)) from error
        return Unit(account=account, region=self.region)


def parse_aws_time(value: object) -> datetime:
    """A time in a response, in UTC. A look reads hundreds of thousands.

    botocore's own parser takes twenty times as long, and is asked where this one is at a loss.
    """
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, tz=UTC)
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        return parse_timestamp(value)  # type: ignore[no-any-return]  # botocore has no types
    return moment


def is_throttled(error: Exception) -> bool:
    """True if AWS asked for fewer calls."""
    return isinstance(error, ClientError) and error.response["Error"].get("Code") in THROTTLED


def is_denied(error: AwsError) -> bool:
    """True if the rights did not suffice."""
    cause = error.__cause__
    return isinstance(cause, ClientError) and cause.response["Error"].get("Code") == ACCESS_DENIED


def describe_error(error: Exception) -> str:
    """The error in one line, with its AWS code where it has one."""
    if isinstance(error, NoCredentialsError):
        return "no AWS credentials: choose a profile by --profile or AWS_PROFILE, or run `aws configure`"
    if isinstance(error, ClientError):
        details = error.response.get("Error", {})
        message = " ".join(str(details.get("Message") or "").split())
        return f"{error.operation_name}: {details.get('Code', '?')}: {message}"
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def problem_of(part: str, error: Exception) -> Problem:
    """What an error of AWS means for a part of a sweep."""
    text = describe_error(error)
    cause: Cause = "other"
    if isinstance(error, EndpointConnectionError):
        cause = "absent"
    elif isinstance(error, ClientError) and any(words in text for words in BY_POLICY):
        cause = "forbidden"
    return Problem(part=part, error=text, cause=cause)


class _Bounded:
    """A client or paginator, of which nobody waits for an answer after the deadline."""

    def __init__(self, inner: Any, deadline: "Deadline") -> None:  # noqa: ANN401 - as boto3 made it
        self._inner, self._deadline = inner, deadline

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """A call, which raises LateError if the time is up."""
        call = getattr(self._inner, name)
        return lambda **params: self._deadline.wait_for(partial(call, **params))

    def get_paginator(self, name: str) -> "_Bounded":
        """A paginator each of whose pages is such a call."""
        return _Bounded(self._inner.get_paginator(name), self._deadline)

    def paginate(self, **params: object) -> Iterator[Any]:
        """The pages."""
        pages = iter(self._inner.paginate(**params))
        while page := self._deadline.wait_for(partial(next, pages, None)):
            yield page


class Deadline:
    """The end of a sweep's time. ``clock`` returns seconds."""

    def __init__(self, clock: Callable[[], float], *, at: float) -> None:
        """``at`` is the instant, on that clock, after which nothing new is begun."""
        self._clock, self._at = clock, at

    def plus(self, seconds: float) -> "Deadline":
        """One that is so much later."""
        return Deadline(self._clock, at=self._at + seconds)

    def at_most(self, seconds: float) -> "Deadline":
        """One that is so long from now, or this one if that is sooner."""
        return Deadline(self._clock, at=min(self._at, self._clock() + seconds))

    def passed(self) -> bool:
        """True if the time is over."""
        return self.left_s() <= 0

    def left_s(self) -> float:
        """Seconds until then, none if it has passed."""
        return max(0.0, self._at - self._clock())

    def wait_for(self, job: Callable[[], T]) -> T:
        """Return the job's result, if it comes in time. A call that hangs is left to itself.

        Raises:
            LateError: if the time is up.
        """
        if self.passed():
            raise LateError
        pool = ThreadPoolExecutor(1)  # not a context, which would wait for a call that hangs
        try:
            return pool.submit(job).result(timeout=self.left_s())
        except TimeoutError as error:
            raise LateError from error
        finally:
            pool.shutdown(wait=False)


#: For what may take as long as it takes.
NEVER = Deadline(lambda: 0.0, at=math.inf)


def configured_names() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The regions of AWS and the profiles of this machine, without a call; no profile where their file cannot be read."""
    session = botocore.session.Session()
    regions = tuple(_regions(session))
    try:
        return regions, tuple(session.available_profiles)
    except BotoCoreError:
        return regions, ()


def _regions(session: botocore.session.Session) -> list[str]:
    """The regions of every partition."""
    return sorted(
        region
        for partition in session.get_available_partitions()
        for region in session.get_available_regions("ec2", partition_name=partition)
    )
