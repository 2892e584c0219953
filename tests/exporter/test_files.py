"""Files of our own: nothing planted in their place is followed, nothing of others is removed, nothing is torn."""

import contextlib
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from burstwatch.files import put_in_place
from burstwatch_exporter.credits.state import SavedState, read_state, write_state
from burstwatch_exporter.measure.scratch import (
    MARK,
    MARKER,
    PREFIX,
    remove_left_behind,
    scratch_folder,
)
from tests.exporter.states import some

VICTIM = "root:x:0:0\n"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "shadow"
    path.write_text(VICTIM)
    return path


def write(path: Path) -> None:
    put_in_place(path, lambda file: file.write("ours"))


PLANTS: dict[str, Callable[[Path, Path], None]] = {
    "a symlink": lambda draft, victim: draft.symlink_to(victim),
    "a hard link": lambda draft, victim: draft.hardlink_to(victim),
    "a pipe": lambda draft, _: os.mkfifo(draft),
    "a folder": lambda draft, _: draft.mkdir(),
}


@pytest.mark.parametrize("plant", PLANTS)
def test_what_is_planted_in_the_place_of_a_draft_is_refused_and_not_followed(
    tmp_path: Path, victim: Path, plant: str
) -> None:
    PLANTS[plant](tmp_path / ".state.json.new", victim)
    with pytest.raises(OSError, match=r"\.state\.json\.new"):
        write(tmp_path / "state.json")
    assert victim.read_text() == VICTIM
    assert not (tmp_path / "state.json").exists()


def test_a_draft_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".page.new").write_text("theirs")
    theirs = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: theirs)
    with pytest.raises(OSError, match="was not made by this program"):
        write(tmp_path / "page")
    assert (tmp_path / ".page.new").read_text() == "theirs"


def test_a_symlink_in_the_place_of_the_file_is_replaced_and_not_followed(
    tmp_path: Path, victim: Path
) -> None:
    (tmp_path / "page").symlink_to(victim)
    write(tmp_path / "page")
    assert victim.read_text() == VICTIM
    assert (tmp_path / "page").read_text() == "ours"
    assert not (tmp_path / "page").is_symlink()


def test_the_draft_of_a_killed_writer_is_written_over_and_its_mode_is_corrected(
    tmp_path: Path,
) -> None:
    draft = tmp_path / ".state.json.new"
    draft.write_text("x" * 10_000)
    draft.chmod(0o644)
    write_state(tmp_path / "state.json", SavedState(format=1, volumes=[some(1.0)]))
    assert read_state(tmp_path / "state.json").volumes
    assert stat.S_IMODE((tmp_path / "state.json").stat().st_mode) == 0o600
    assert sorted(tmp_path.iterdir()) == [tmp_path / "state.json"]


def test_a_second_writer_is_told_so_and_the_first_one_finishes(tmp_path: Path) -> None:
    path = tmp_path / "page"

    def write_twice(file: object) -> None:
        with pytest.raises(OSError, match="another process writes it"):
            put_in_place(path, lambda _: None)
        file.write("first")  # type: ignore[attr-defined]

    put_in_place(path, write_twice)
    assert path.read_text() == "first"


WRITER = """
import json, sys
from pathlib import Path
from burstwatch.files import put_in_place
written = 0
while written < 300:
    text = json.dumps([sys.argv[2]] * 1_000)
    try:
        put_in_place(Path(sys.argv[1]), lambda file: [file.write(text[i:i + 64]) for i in range(0, len(text), 64)])
        written += 1
    except OSError as error:
        assert "another process writes it" in str(error), error
"""


@pytest.mark.slow
def test_of_two_processes_that_write_all_the_time_every_file_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in ("one", "two")
    ]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        with contextlib.suppress(FileNotFoundError):
            found = json.loads(path.read_text())
            assert len(found) == 1_000
            (name,) = set(found)
            seen.add(name)
    assert [writer.returncode for writer in writers] == [0, 0]
    assert seen <= {"one", "two"}
    assert seen
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["/usr/bin/mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["/usr/bin/umount", str(folder)], check=True)


def test_on_a_full_disk_what_was_there_is_there_still(small_disk: Path) -> None:
    path = small_disk / "state.json"
    write_state(path, SavedState(format=1, volumes=[some(1.0)]))
    (small_disk / "hog").write_bytes(b"")
    with contextlib.suppress(OSError), (small_disk / "hog").open("ab") as hog:
        while True:
            hog.write(b"x" * 1_024)
            hog.flush()
    with pytest.raises(OSError, match="No space left"):
        put_in_place(path, lambda file: file.write("x" * 65_536))
    (found,) = read_state(path).volumes
    assert found.interval.low == 1.0
    assert sorted(one.name for one in small_disk.iterdir()) == ["hog", "state.json"]


# Folders for output


def left_behind(directory: Path, name: str = "dead") -> Path:
    """As a measurement that was killed leaves it."""
    folder = directory / f"{PREFIX}{name}"
    folder.mkdir()
    (folder / MARKER).write_bytes(MARK)
    (folder / "deep").mkdir()
    (folder / "deep" / "output").write_text("x")
    return folder


def test_what_a_killed_measurement_left_is_removed(tmp_path: Path) -> None:
    dead = left_behind(tmp_path)
    with scratch_folder(tmp_path) as living:
        assert remove_left_behind(tmp_path) == [dead]
        assert living.exists()
    assert list(tmp_path.iterdir()) == []


SPARED: dict[str, Callable[[Path, Path], object]] = {
    "results of a user": lambda *_: None,
    "a marker that says something else": lambda folder, _: (folder / MARKER).write_text("mine"),
    "a marker that is a link": lambda folder, victim: (folder / MARKER).symlink_to(victim),
    "a marker that is a pipe": lambda folder, _: os.mkfifo(folder / MARKER),
}


@pytest.mark.parametrize("what", SPARED)
def test_a_folder_without_our_own_marker_is_left_alone(
    tmp_path: Path, victim: Path, what: str
) -> None:
    folder = left_behind(tmp_path, "results")
    victim.write_bytes(MARK)
    (folder / MARKER).unlink()
    SPARED[what](folder, victim)
    assert remove_left_behind(tmp_path) == []
    assert (folder / "deep" / "output").read_text() == "x"


def test_a_folder_of_another_user_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = left_behind(tmp_path)
    theirs = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: theirs)
    assert remove_left_behind(tmp_path) == []
    assert (folder / "deep" / "output").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_with_our_marker_is_left_alone(tmp_path: Path) -> None:
    folder = left_behind(tmp_path)
    os.chown(folder, 12_345, -1)
    assert remove_left_behind(tmp_path) == []
    assert (folder / "deep" / "output").exists()


def test_a_link_by_the_name_of_a_folder_and_links_in_one_lead_nowhere(
    tmp_path: Path, victim: Path
) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / MARKER).write_bytes(MARK)
    (tmp_path / f"{PREFIX}link").symlink_to(precious)
    dead = left_behind(tmp_path)
    (dead / "link").symlink_to(precious)
    (dead / "deep" / "link").symlink_to(victim)
    assert remove_left_behind(tmp_path) == [dead]
    assert (precious / MARKER).exists()
    assert victim.read_text() == VICTIM


def test_what_takes_the_name_of_a_folder_meanwhile_is_not_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead, precious = left_behind(tmp_path), tmp_path / "precious"
    precious.mkdir()
    (precious / "data").write_text("x")
    rmtree = shutil.rmtree

    def swap_first(*args: object, **kwargs: object) -> None:
        dead.rename(tmp_path / "moved")
        precious.rename(dead)
        rmtree(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(shutil, "rmtree", swap_first)
    assert remove_left_behind(tmp_path) == []
    assert (dead / "data").read_text() == "x"
