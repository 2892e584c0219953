"""``--web.config.file``: TLS and passwords in the format of Prometheus' exporter toolkit.

Every key that is not heeded here is an error: a server that ignores half of what it is
told about security is worse than one that does not start.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import yaml

if TYPE_CHECKING:
    from pathlib import Path

Value = TypeVar("Value")
HASH = re.compile(r"\$2[aby]\$\d{2}\$[./A-Za-z0-9]{53}")
VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}
#: Python's TLS can ask for no certificate without checking it.
CLIENT_AUTH = {
    "NoClientCert": ssl.CERT_NONE,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}
TLS_KEYS = (
    "cert_file",
    "key_file",
    "client_ca_file",
    "client_auth_type",
    "min_version",
    "max_version",
)


class WebConfigError(ValueError):
    """A web configuration that cannot be used; the message names every mistake."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tls:
    """Files and demands of a TLS server."""

    cert_file: Path
    key_file: Path
    client_ca_file: Path | None = None
    client_auth: ssl.VerifyMode = ssl.CERT_NONE
    min_version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2
    max_version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3

    @property
    def files(self) -> tuple[Path, ...]:
        """Everything that is read, and may be exchanged while the server runs."""
        some = (self.cert_file, self.key_file, self.client_ca_file)
        return tuple(path for path in some if path is not None)

    def context(self) -> ssl.SSLContext:
        """What the server speaks.

        Raises:
            OSError, ssl.SSLError: if a file cannot be read, or holds no certificate or key.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version, context.maximum_version = self.min_version, self.max_version
        context.load_cert_chain(self.cert_file, self.key_file)
        if self.client_ca_file is not None:
            context.load_verify_locations(self.client_ca_file)
        context.verify_mode = self.client_auth
        return context


@dataclass(frozen=True, kw_only=True, slots=True)
class WebConfig:
    """How to serve: over TLS or not, and to whom. ``users`` are bcrypt hashes by name."""

    tls: Tls | None = None
    users: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def read_web_config(path: Path) -> WebConfig:
    """The file, checked; its paths are relative to its own folder.

    Raises:
        WebConfigError: naming everything in it that is wrong.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        msg = f"{path}: {' '.join(str(error).split())}"
        raise WebConfigError(msg) from error
    problems: list[str] = []
    parts = _keys(content, "the file", ("tls_server_config", "basic_auth_users"), problems)
    if not parts and not problems:
        problems.append("the file says nothing; leave it out to serve without TLS and passwords")
    tls = None
    if "tls_server_config" in parts:
        tls = _tls(parts["tls_server_config"], path.parent, problems)
    users = {}
    if "basic_auth_users" in parts:
        users = _users(parts["basic_auth_users"], problems)
    if not problems and tls is not None:
        try:
            tls.context()
        except (OSError, ssl.SSLError) as error:
            problems.append(f"tls_server_config: {error}")
    if problems:
        msg = f"{path}: {'; '.join(problems)}"
        raise WebConfigError(msg)
    return WebConfig(tls=tls, users=users)


def _tls(entry: object, folder: Path, problems: list[str]) -> Tls | None:
    keys = _keys(entry, "tls_server_config", TLS_KEYS, problems)
    if not keys.get("cert_file") or not keys.get("key_file"):
        problems.append("tls_server_config needs cert_file and key_file")
        return None
    ca_file = keys.get("client_ca_file")
    auth = _one_of(keys, "client_auth_type", "NoClientCert", CLIENT_AUTH, problems)
    if auth != ssl.CERT_NONE and not ca_file:
        problems.append(f"client_auth_type {keys['client_auth_type']} needs client_ca_file")
    if auth == ssl.CERT_NONE and ca_file:
        problems.append("client_ca_file is of no use with client_auth_type NoClientCert")
    return Tls(
        cert_file=folder / str(keys["cert_file"]),
        key_file=folder / str(keys["key_file"]),
        client_ca_file=folder / str(ca_file) if ca_file else None,
        client_auth=auth,
        min_version=_one_of(keys, "min_version", "TLS12", VERSIONS, problems),
        max_version=_one_of(keys, "max_version", "TLS13", VERSIONS, problems),
    )


def _users(entry: object, problems: list[str]) -> dict[str, str]:
    if not isinstance(entry, Mapping) or not entry:
        problems.append("basic_auth_users must be names with bcrypt hashes")
        return {}
    users = {str(name): str(its_hash) for name, its_hash in entry.items()}
    problems += [
        f"basic_auth_users.{name} is no bcrypt hash (htpasswd -nBC 10 {name} makes one)"
        for name, its_hash in users.items()
        if HASH.fullmatch(its_hash) is None
    ]
    return users


def _one_of(
    keys: Mapping[str, Any],
    name: str,
    default: str,
    allowed: Mapping[str, Value],
    problems: list[str],
) -> Value:
    said = keys.get(name) or default
    if said not in allowed:
        problems.append(f"{name} is {said!r}, allowed are {', '.join(allowed)}")
        return allowed[default]
    return allowed[said]


def _keys(
    entry: object, at: str, allowed: tuple[str, ...], problems: list[str]
) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        problems.append(f"{at} must be a mapping of {', '.join(allowed)}")
        return {}
    problems += [
        f"{at} has {name!r}, which is not heeded here; allowed are {', '.join(allowed)}"
        for name in entry
        if name not in allowed
    ]
    return entry
