"""Packs files so that the same files are the same bytes: sorted, without owners, at one time."""

import gzip
import io
import os
import tarfile
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

#: A program keeps its mode; everything else is only read.
PROGRAM, PLAIN = 0o755, 0o644
#: A zip has no date before 1980.
FIRST_DATE = 315_532_800


def files_below(folder: Path, *, bytecode: str = "") -> dict[str, Path]:
    """Every file below a folder by its path in it, without what Python compiled, but for a version such as ``cpython-313``."""
    return {
        str(path.relative_to(folder)): path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and ("__pycache__" not in path.parts or (bytecode and f".{bytecode}." in path.name))
    }


def pack_tar(target: Path, files: Mapping[str, Path], *, at: int) -> None:
    """A ``.tar.gz`` of files by their names in it."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, path in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            data = path.read_bytes()
            entry.size, entry.mtime, entry.mode = len(data), at, _mode(path)
            tar.addfile(entry, io.BytesIO(data))
    target.write_bytes(gzip.compress(raw.getvalue(), mtime=at))


def pack_zip(target: Path, files: Mapping[str, Path], *, at: int) -> None:
    """A ``.zip`` of files by their names in it."""
    time = datetime.fromtimestamp(max(at, FIRST_DATE), tz=UTC).timetuple()[:6]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, path in sorted(files.items()):
            entry = zipfile.ZipInfo(name, date_time=time)
            entry.external_attr, entry.compress_type = _mode(path) << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())


def _mode(path: Path) -> int:
    return PROGRAM if os.access(path, os.X_OK) else PLAIN
