"""A file to measure on that never has a name, so that nothing is left of it whatever happens.

It is opened with ``O_TMPFILE``, and the programs reach it through ``/proc/self/fd``. When
the last of them ends, killed or not, the kernel takes the space back. dbench alone needs a
folder; one that a dead process has left is removed by the next measurement.
"""

import errno
import fcntl
import math
import mmap
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from burstwatch.ebs.load import MIB

PREFIX = "burstwatch-measure-"


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
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_left_behind(directory: Path) -> list[Path]:
    """Remove the folders of measurements that were killed: nobody holds their lock any more."""
    removed: list[Path] = []
    for folder in sorted(directory.glob(f"{PREFIX}*")):
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        else:
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
        finally:
            os.close(lock)
    return removed
