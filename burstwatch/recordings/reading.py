"""Reads a file, or standard input, whatever program wrote it."""

import gzip
import re
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from burstwatch.recordings.formats.aws_text import (
    is_aws_table,
    is_aws_text,
    read_aws_table,
    read_aws_text,
)
from burstwatch.recordings.formats.documents import is_yaml, read_documents, read_yaml_documents
from burstwatch.recordings.formats.frames import unframed
from burstwatch.recordings.formats.layouts import FEWER
from burstwatch.recordings.formats.line_protocol import is_line_protocol, read_line_protocol
from burstwatch.recordings.formats.refused import is_refused, refuse
from burstwatch.recordings.formats.table import read_table
from burstwatch.recordings.formats.vertical import is_vertical, read_vertical
from burstwatch.recordings.raw import RawContents, read_cells
from burstwatch.recordings.samples import Contents
from burstwatch.recordings.times import Conventions

STDIN = "-"
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
#: How files begin that are no text.
BINARY_MARKS = {
    b"PK\x03\x04": "an Excel file, or another zip file",
    b"\xd0\xcf\x11\xe0": "an Excel file",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF file",
    b"\x28\xb5\x2f\xfd": "a file packed by zstd",
    b"BZh": "a file packed by bzip2",
    b"\xfd7zXZ\x00": "a file packed by xz",
    b"SQLite format 3\x00": "a database of SQLite",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"ORC": "a file of ORC",
    b"Obj\x01": "a file of Avro",
    b"ARROW1": "a Feather file",
    b"\x80\x04\x95": "a pickle of Python",
    b"\x80\x05\x95": "a pickle of Python",
    b"\x93NUMPY": "a file of NumPy",
    b"\x89HDF": "a file of HDF5",
}
#: Where the headers of tar say so.
TAR_AT, TAR_MARK = 257, b"ustar"
#: How the text begins that a program printed in place of data.
FAILURES = (
    "An error occurred (",
    "Unable to locate credentials",
    "<!DOCTYPE",
    "<html",
    "<?xml",
    "usage: aws",
    "The SSO session",
    "Error loading SSO Token",
    "Error when retrieving",
)
GZIP_MARK = b"\x1f\x8b"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
#: A year of minutes of five metrics takes 131 MB as the AWS CLI indents it, and 16 MB as CSV.
LARGEST_BYTES = 1 << 27
#: Signs that each begin an object in memory, whatever the form: lines, values, lists and objects.
MOST_OF = {**dict.fromkeys("\n\r,;\t", 8_000_000), "[": 1_000_000, "{": 1_000_000}
NOTHING_STATED = Conventions()


def read_file(
    path: str, *, stdin: Callable[[int], bytes], conventions: Conventions = NOTHING_STATED
) -> Contents:
    """The series of a file; ``-`` is standard input, of which ``stdin`` reads at most so many bytes.

    Raises:
        ValueError: if no program that is known wrote it, naming the place.
        OSError: if it cannot be read.
    """
    if not path:
        msg = "the file to read has no name"
        raise ValueError(msg)
    if ADDRESS.match(path):
        msg = f"{path} is an address: load it first, or give it to standard input"
        raise ValueError(msg)
    name = "standard input" if path == STDIN else path
    most = LARGEST_BYTES + 1
    raw = stdin(most) if path == STDIN else _read_bytes(path, most)
    if len(raw) > LARGEST_BYTES:
        msg = f"{name} has more than {LARGEST_BYTES >> 20} MiB: {FEWER}"
        raise ValueError(msg)
    return read_text(_decode(_inflate(raw, name), name), name=name, conventions=conventions)


def _read_bytes(path: str, most: int) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(most)


def read_text(text: str, *, name: str, conventions: Conventions = NOTHING_STATED) -> Contents:
    """The series of a text.

    Raises:
        ValueError: if no program that is known wrote it, naming the place.
    """
    for sign, most in MOST_OF.items():
        if text.count(sign) > most:
            msg = f"{name} has more than {most:,} times {sign!r}: {FEWER}"
            raise ValueError(msg)
    text = unframed(text, name=name)
    start = text.lstrip()
    if not start:
        msg = f"{name}: no rows, the file is empty"
        raise ValueError(msg)
    if start.startswith(FAILURES):
        line = " ".join(start.splitlines()[0].split())[:80]
        msg = f"{name} has no data: it begins with {line!r}"
        raise ValueError(msg)
    read = next((read for is_such, read in TEXT_FORMATS if is_such(start)), None)
    raw = read_table(text, name=name) if read is None else read(text, name=name)
    return read_cells(raw, conventions, name=name)


def _is_document(text: str) -> bool:
    return text.startswith(("{", "["))


#: The mark of a text of each form, and its reader.
TEXT_FORMATS: tuple[tuple[Callable[[str], bool], Callable[..., RawContents]], ...] = (
    (is_aws_text, read_aws_text),
    (is_aws_table, read_aws_table),
    (is_vertical, read_vertical),
    (is_refused, refuse),
    (_is_document, read_documents),
    (is_line_protocol, read_line_protocol),
    (is_yaml, read_yaml_documents),
)


def _inflate(raw: bytes, name: str) -> bytes:
    """Unpack gzip, up to a limit; raises ValueError for a broken or larger file."""
    if not raw.startswith(GZIP_MARK):
        return raw
    try:
        text = gzip.GzipFile(fileobj=BytesIO(raw)).read(LARGEST_BYTES + 1)
    except (EOFError, OSError, zlib.error) as error:
        msg = f"{name} is a broken gzip file: {error}"
        raise ValueError(msg) from None
    if len(text) > LARGEST_BYTES:
        msg = f"{name} is a gzip file of more than {LARGEST_BYTES >> 20} MiB"
        raise ValueError(msg)
    return text


def _decode(raw: bytes, name: str) -> str:
    program = next((text for mark, text in BINARY_MARKS.items() if raw.startswith(mark)), "")
    if raw[TAR_AT : TAR_AT + len(TAR_MARK)] == TAR_MARK:
        program = "an archive of tar"
    if program:
        msg = f"{name} is {program}: give the recording in it as text, such as CSV"
        raise ValueError(msg)
    try:
        return raw.decode(_encoding(raw))
    except UnicodeDecodeError as error:
        # A spreadsheet on Windows; its digits and signs are those of ASCII.
        if not any(byte < ord(" ") and byte not in b"\t\r\n" for byte in raw):
            return raw.decode("cp1252", "replace")
        msg = f"{name} is not UTF-8 or UTF-16 text: {error.reason} at byte {error.start}"
        raise ValueError(msg) from None


def _encoding(raw: bytes) -> str:
    """The encoding by the first bytes: Windows writes two for each character of ASCII, of which one is 0."""
    if raw.startswith(UTF_16_MARKS):
        return "utf-16"
    first, second = raw[0:64:2], raw[1:64:2]
    if second and not any(second) and all(first):
        return "utf-16-le"
    return "utf-16-be" if second and not any(first) and all(second) else "utf-8-sig"
