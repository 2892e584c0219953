"""``--web.config.file``: TLS and passwords in the format of Prometheus' exporter toolkit.

An unknown key is an error: a server that ignores half of its security settings is worse than
one that does not start.
"""

import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from burstwatch.files import convert, read_yaml

HASH = re.compile(r"\$2[aby]\$(\d{2})\$[./A-Za-z0-9]{53}")
#: A hash of this cost takes about a second, and each step more twice as long. bcrypt has none below 4.
COSTS = range(4, 15)
VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}
#: Python's TLS can ask for no certificate without checking it.
CLIENT_AUTH = {
    "NoClientCert": ssl.CERT_NONE,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}


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
        paths = (self.cert_file, self.key_file, self.client_ca_file)
        return tuple(path for path in paths if path is not None)

    def context(self) -> ssl.SSLContext:
        """Make the server's TLS context.

        Raises:
            OSError: if a file cannot be read, or holds no certificate or key; with the file's name.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version, context.maximum_version = self.min_version, self.max_version
        with _named(self.cert_file, self.key_file):
            # Without a password at hand OpenSSL would ask the terminal for that of an encrypted key, and wait.
            context.load_cert_chain(self.cert_file, self.key_file, password=_no_password)
        if self.client_ca_file is not None:
            with _named(self.client_ca_file):
                context.load_verify_locations(self.client_ca_file)
        context.verify_mode = self.client_auth
        return context


@contextmanager
def _named(*paths: Path) -> Iterator[None]:
    """Name the files in an error of OpenSSL, which names none."""
    for path in paths:
        path.open("rb").close()  # says which one cannot be read
    try:
        yield
    except ssl.SSLError as error:
        msg = f"{' and '.join(map(str, paths))}: {error.reason or error}"
        raise OSError(msg) from error


def _no_password() -> str:
    msg = "the key is encrypted, which is not supported"
    raise OSError(msg)


@dataclass(frozen=True, kw_only=True, slots=True)
class WebConfig:
    """The way to serve: over TLS or not, and to whom. ``users`` are bcrypt hashes by name."""

    tls: Tls | None = None
    users: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class _Strict(Struct, kw_only=True, forbid_unknown_fields=True):
    """An entry of the file. What is not supported here is an error."""


class _TlsEntry(_Strict):
    cert_file: Annotated[str, Meta(min_length=1)]
    key_file: Annotated[str, Meta(min_length=1)]
    client_ca_file: str | None = None
    client_auth_type: Literal[
        "NoClientCert", "VerifyClientCertIfGiven", "RequireAndVerifyClientCert"
    ] = "NoClientCert"
    min_version: Literal["TLS12", "TLS13"] = "TLS12"
    max_version: Literal["TLS12", "TLS13"] = "TLS13"


class _File(_Strict):
    """The whole file. A part without content is an error: it would serve without TLS or passwords."""

    tls_server_config: _TlsEntry | UnsetType = UNSET
    basic_auth_users: Annotated[dict[str | int, object], Meta(min_length=1)] | UnsetType = UNSET


def read_web_config(path: Path) -> WebConfig:
    """The file, checked; its paths are relative to its own folder.

    Raises:
        ValueError: naming everything in it that is wrong.
    """
    content = read_yaml(path)
    problems: list[str] = []
    file = convert(content, _File, "", problems, shows_values=False) or _File()
    if content == {}:
        problems.append("the file is empty; leave it out to serve without TLS and passwords")
    tls = None
    if file.tls_server_config is not UNSET:
        tls = _tls(file.tls_server_config, path.parent, problems)
    entries = {} if file.basic_auth_users is UNSET else file.basic_auth_users
    users = {str(name): str(its_hash) for name, its_hash in entries.items()}
    for name, its_hash in users.items():
        problems += _problems_of(name, its_hash)
    if not problems and tls is not None:
        try:
            tls.context()
        except (OSError, ssl.SSLError) as error:
            problems.append(f"tls_server_config: {error}")
    if problems:
        msg = f"{path}: {'; '.join(problems)}"
        raise ValueError(msg)
    return WebConfig(tls=tls, users=users)


def _problems_of(name: str, its_hash: str) -> Iterator[str]:
    """What is wrong with a user, without the hash."""
    match = HASH.fullmatch(its_hash)
    if ":" in name:
        yield f"basic_auth_users.{name} has a colon, so it can't log in (RFC 7617)"
    if match is None:
        yield f"basic_auth_users.{name} is no bcrypt hash (htpasswd -nBC 10 {name} makes one)"
    elif int(match[1]) not in COSTS:
        yield f"basic_auth_users.{name} has a hash of cost {match[1]}; allowed: {COSTS[0]} to {COSTS[-1]}"


def _tls(entry: _TlsEntry, folder: Path, problems: list[str]) -> Tls:
    """Make the TLS settings of the file; each mistake is added to ``problems``."""
    auth, ca_file = CLIENT_AUTH[entry.client_auth_type], entry.client_ca_file
    if auth != ssl.CERT_NONE and not ca_file:
        problems.append(f"client_auth_type {entry.client_auth_type} needs client_ca_file")
    if auth == ssl.CERT_NONE and ca_file:
        problems.append("client_ca_file has no effect with client_auth_type NoClientCert")
    if entry.min_version > entry.max_version:
        problems.append(f"min_version {entry.min_version} is above max_version {entry.max_version}")
    return Tls(
        cert_file=folder / entry.cert_file,
        key_file=folder / entry.key_file,
        client_ca_file=folder / ca_file if ca_file else None,
        client_auth=auth,
        min_version=VERSIONS[entry.min_version],
        max_version=VERSIONS[entry.max_version],
    )
