"""A file to measure on that never has a name, so that nothing is left of it whatever happens.

It is opened with ``O_TMPFILE``, and the programs reach it through ``/proc/self/fd``. When
the last of them ends, killed or not, the kernel takes the space back. dbench alone needs a
folder, and the output of programs needs one. A folder that a dead process has left is removed by
the next measurement, if it is surely such a folder: it has our marker and our user, and nobody
holds its lock.
"""

import errno
import fcntl
import math
import mmap
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from burstwatch.ebs.load import MIB

PREFIX = "burstwatch-measure-"
#: A file in the folder that nothing but this program makes. It is there once the folder is locked.
MARKER, MARK = ".burstwatch-scratch", b"burstwatch removes this folder with everything in it\n"


@contextmanager
def scratch_file(directory: Path) -> Iterator[int]:
    """A file without a name on the file system of ``directory``.

    Raises:
        OSError: if it cannot be made there.
    """
    fd = os.open(directory, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        yield fd
    finally:
        os.close(fd)


def lay_out(fd: int, size_mib: float, *, go_on: Callable[[float], bool]) -> bool:
    """Write the file full, past the cache, so that reads come from the disk.

    ``go_on`` is asked before each MiB with the share that is done. Returns whether all of it is.

    Raises:
        OSError: if there is no space, or the disk fails.
    """
    with mmap.mmap(-1, MIB) as block:  # begins on a page, as direct I/O wants it
        block.write(os.urandom(MIB))
        flags = fcntl.fcntl(fd, fcntl.F_GETFL)
        try:
            fcntl.fcntl(fd, fcntl.F_SETFL, flags | os.O_DIRECT)
        except OSError as error:  # not every file system has it
            if error.errno != errno.EINVAL:
                raise
        try:
            count = max(1, math.ceil(size_mib))
            for done in range(count):
                if not go_on(done / count):
                    return False
                if os.pwrite(fd, block, done * MIB) < MIB:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(fd)
        finally:
            fcntl.fcntl(fd, fcntl.F_SETFL, flags)
    return True


@contextmanager
def scratch_folder(directory: Path) -> Iterator[Path]:
    """A folder that is removed with all that is in it. While it is in use it is locked itself.

    Raises:
        OSError: if it cannot be made.
    """
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=directory))
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (folder / MARKER).write_bytes(MARK)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_left_behind(directory: Path) -> list[Path]:
    """Remove the folders of measurements that were killed. Returns which."""
    removed: list[Path] = []
    for folder in sorted(directory.glob(f"{PREFIX}*")):
        with suppress(OSError):
            if _remove(folder):
                removed.append(folder)
    return removed


def _remove(folder: Path) -> bool:
    """Remove what this program made, and nothing else. False where that is not sure.

    What was looked at is what is emptied, even if another folder gets its name meanwhile.

    Raises:
        OSError: if it cannot be opened, is in use or cannot be removed.
    """
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(held).st_uid != os.getuid() or not _is_marked(held):
            return False
        shutil.rmtree(".", ignore_errors=True, dir_fd=held)
        folder.rmdir()
    finally:
        os.close(held)
    return True


def _is_marked(folder: int) -> bool:
    """True if the folder, an open one, has the marker, and the marker is a file of this user."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    marker = os.open(MARKER, flags, dir_fd=folder)
    try:
        return os.fstat(marker).st_uid == os.getuid() and os.read(marker, len(MARK) + 1) == MARK
    finally:
        os.close(marker)
