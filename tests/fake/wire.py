"""Requests into dictionaries and answers into bytes, by botocore's service models."""

import json
import re
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from xml.sax.saxutils import escape

import botocore.session
from botocore.model import ListShape, OperationModel, ServiceModel, Shape, StructureShape
from botocore.validate import ParamValidator

_session = botocore.session.Session()
#: The service by the name in the request's signature, where the two differ.
SIGNING_NAMES = {
    "monitoring": "cloudwatch",
    "tagging": "resourcegroupstaggingapi",
    "elasticfilesystem": "efs",
}


class WireError(Exception):
    """A request that AWS would refuse."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status


@cache
def service_model(name: str) -> ServiceModel:
    return ServiceModel(_session.get_component("data_loader").load_service_model(name, "service-2"))


@cache
def paginators(name: str) -> dict[str, Any]:
    """How each operation of a service is paged, by the operation's name."""
    loader = _session.get_component("data_loader")
    found: dict[str, Any] = loader.load_service_model(name, "paginators-1")["pagination"]
    return found


class Wire:
    """One request's protocol: what it asks, and how the answer must look."""

    def __init__(
        self, service: str, headers: dict[str, str], body: bytes, *, method: str, url: str
    ) -> None:
        self.model = service_model(service)
        target = headers.get("x-amz-target", "")
        self.is_rest = self.model.metadata["protocol"] == "rest-json"
        self.is_json = bool(target) or self.is_rest
        if self.is_rest:
            self.operation, self.params = self._routed(method, url, body)
        elif self.is_json:
            self.operation = self._operation(target.rpartition(".")[2])
            self.params = self._checked(json.loads(body or b"{}"))
        elif headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            flat = dict(parse_qsl(body.decode(), keep_blank_values=True))
            self.operation = self._operation(flat.pop("Action"))
            flat.pop("Version")
            shape = self.operation.input_shape
            self.params = _decode(shape, "", flat, ec2=service == "ec2") if shape else {}
            if flat:
                raise WireError("UnknownParameter", f"The parameter {min(flat)} is not recognized")
            self._checked(self.params)
        else:
            raise WireError("UnsupportedProtocol", headers.get("content-type", ""))

    def _routed(self, method: str, url: str, body: bytes) -> tuple[OperationModel, dict[str, Any]]:
        """The operation of a path, with what the path, the query and the body say."""
        asked = urlsplit(url)
        for name in self.model.operation_names:
            operation = self.model.operation_model(name)
            path = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", operation.http["requestUri"])
            found = re.fullmatch(path, asked.path)
            if found is None or operation.http["method"] != method:
                continue
            params: dict[str, Any] = {key: unquote(one) for key, one in found.groupdict().items()}
            shape = operation.input_shape
            members = shape.members if isinstance(shape, StructureShape) else {}
            for key, member in members.items():
                if member.serialization.get("location") == "querystring":
                    label = member.serialization.get("name", key)
                    texts = [text for one, text in parse_qsl(asked.query) if one == label]
                    if texts:
                        text = texts[-1]
                        one = int(text) if member.type_name == "integer" else text
                        params[key] = texts if member.type_name == "list" else one
            payload = shape.serialization.get("payload") if shape else None
            params |= {payload: body} if payload else json.loads(body or b"{}")
            return operation, params
        raise WireError("UnknownOperationException", f"{method} {asked.path}", 404)

    def _operation(self, name: str) -> OperationModel:
        if name not in self.model.operation_names:
            raise WireError("InvalidAction", f"The action {name} is not valid")
        return self.model.operation_model(name)

    def _checked(self, params: dict[str, Any]) -> dict[str, Any]:
        shape = self.operation.input_shape
        report = ParamValidator().validate(params, shape) if shape else None
        if report is not None and report.has_errors():
            raise WireError("ValidationError", report.generate_report())
        return params

    def answer(self, result: dict[str, Any]) -> tuple[str, bytes]:
        """Content type and body. A member that AWS does not have is a KeyError here."""
        shape = self.operation.output_shape
        name = self.operation.name
        if self.is_rest and shape and (payload := shape.serialization.get("payload")):
            return "application/json", bytes(result[payload])
        if self.is_json:
            body = json.dumps(_plain(shape, result) if shape else {})
            return "application/x-amz-json-1.0", body.encode()
        inner = _members(shape, result) if isinstance(shape, StructureShape) else ""
        if self.model.service_name == "ec2":
            return (
                "text/xml",
                f"<{name}Response><requestId>r</requestId>{inner}</{name}Response>".encode(),
            )
        wrapped = f"<{name}Result>{inner}</{name}Result>"
        meta = "<ResponseMetadata><RequestId>r</RequestId></ResponseMetadata>"
        return "text/xml", f"<{name}Response>{wrapped}{meta}</{name}Response>".encode()

    def error(self, error: WireError) -> tuple[str, bytes]:
        if self.is_json:
            body = {"__type": f"com.amazonaws.fake#{error.code}", "message": error.message}
            return "application/x-amz-json-1.0", json.dumps(body).encode()
        return "text/xml", error_xml(self.model.service_name, error)


def error_xml(service: str, error: WireError) -> bytes:
    inner = f"<Error><Code>{error.code}</Code><Message>{escape(error.message)}</Message></Error>"
    if service == "ec2":
        return f"<Response><Errors>{inner}</Errors><RequestID>r</RequestID></Response>".encode()
    return f"<ErrorResponse>{inner}<RequestId>r</RequestId></ErrorResponse>".encode()


def _decode(shape: Shape, prefix: str, flat: dict[str, str], *, ec2: bool) -> Any:
    if isinstance(shape, StructureShape):
        found = {}
        for name, member in shape.members.items():
            key = _query_name(name, member, ec2=ec2)
            value = _decode(member, f"{prefix}.{key}" if prefix else key, flat, ec2=ec2)
            if value is not None:
                found[name] = value
        return found or (None if prefix else {})
    if isinstance(shape, ListShape):
        return _decode_list(shape, prefix, flat, ec2=ec2)
    if shape.type_name == "map":
        return _decode_map(shape, prefix, flat, ec2=ec2)
    text = flat.pop(prefix, None)
    if text is None:
        return None
    if shape.type_name in {"integer", "long"}:
        return int(text)
    if shape.type_name == "boolean":
        return text == "true"
    return datetime.fromisoformat(text) if shape.type_name == "timestamp" else text


def _decode_list(shape: ListShape, prefix: str, flat: dict[str, str], *, ec2: bool) -> Any:
    flattened = ec2 or shape.serialization.get("flattened")
    base = prefix if flattened else f"{prefix}.{shape.member.serialization.get('name', 'member')}"
    found: list[Any] = []
    while (item := _decode(shape.member, f"{base}.{len(found) + 1}", flat, ec2=ec2)) is not None:
        found.append(item)
    return found or None


def _decode_map(shape: Any, prefix: str, flat: dict[str, str], *, ec2: bool) -> Any:
    found: dict[str, Any] = {}
    while (key := flat.pop(f"{prefix}.entry.{len(found) + 1}.Name", None)) is not None:
        found[key] = _decode(shape.value, f"{prefix}.entry.{len(found) + 1}.Value", flat, ec2=ec2)
    return found or None


def _query_name(name: str, member: Shape, *, ec2: bool) -> str:
    if not ec2:
        return str(member.serialization.get("name", name))
    query_name = member.serialization.get("queryName")
    if query_name:
        return str(query_name)
    given = str(member.serialization.get("name", name))
    return given[0].upper() + given[1:]


def _members(shape: StructureShape, value: dict[str, Any]) -> str:
    unknown = value.keys() - shape.members.keys()
    if unknown:
        raise KeyError(f"{shape.name} has no {sorted(unknown)}")
    return "".join(
        _element(member, str(member.serialization.get("name", name)), value[name])
        for name, member in shape.members.items()
        if value.get(name) is not None
    )


def _element(shape: Shape, tag: str, value: Any) -> str:
    if isinstance(shape, StructureShape):
        inner = _members(shape, value)
    elif isinstance(shape, ListShape):
        item = str(shape.member.serialization.get("name", "member"))
        inner = "".join(_element(shape.member, item, entry) for entry in value)
    elif isinstance(value, dict):  # a map
        inner = "".join(
            f"<entry><key>{escape(key)}</key><value>{escape(one)}</value></entry>"
            for key, one in value.items()
        )
    elif isinstance(value, bool):
        inner = str(value).lower()
    elif shape.type_name == "timestamp":
        at = value if isinstance(value, datetime) else datetime.fromtimestamp(value, tz=UTC)
        inner = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    else:
        inner = escape(str(value))
    return f"<{tag}>{inner}</{tag}>"


def _plain(shape: Shape, value: Any) -> Any:
    if isinstance(shape, StructureShape):
        unknown = value.keys() - shape.members.keys()
        if unknown:
            raise KeyError(f"{shape.name} has no {sorted(unknown)}")
        return {
            name: _plain(shape.members[name], item)
            for name, item in value.items()
            if item is not None
        }
    if isinstance(shape, ListShape):
        if shape.member.type_name in {"double", "timestamp"} and isinstance(
            (*value, 0.0)[0], float
        ):
            return value  # datapoints: as they are, and by far the most there is
        return [_plain(shape.member, item) for item in value]
    return value.timestamp() if isinstance(value, datetime) else value
