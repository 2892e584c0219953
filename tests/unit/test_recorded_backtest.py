"""`backtest` with recordings: in processes of their own, from standard input, and as described."""

import io
import json
from pathlib import Path

import pytest

from burstwatch.cli.main import run

pytestmark = pytest.mark.slow

OWN = Path(__file__).parents[1] / "recordings" / "own.csv"
#: The same half a day again and again: a week only warms up.
TIMES = 16
EXPORTED = "# burstwatch kind=ebs_volume spec=type=gp2,size_gib=100\n"


@pytest.fixture(scope="module")
def recording() -> str:
    head, *rows = OWN.read_text().splitlines()
    cells = [row.partition(",") for row in rows]
    times = [int(at) for at, _, _ in cells]
    lasts = times[-1] - times[0] + 300
    return "\n".join(
        [
            head,
            *(
                f"{int(at) + again * lasts},{values}"
                for again in range(TIMES)
                for at, _, values in cells
            ),
            "",
        ]
    )


@pytest.fixture
def path(recording: str, tmp_path: Path) -> Path:
    path = tmp_path / "disk.csv"
    path.write_text(recording)
    return path


def backtest(*args: str, stdin: bytes = b"") -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = run(
        ("backtest", *args, "--policy", "burstwatch", "--json"),
        stdin=lambda _: stdin, stdout=out, stderr=err, env={}, clock=lambda: 0.0,
    )  # fmt: skip
    return code, out.getvalue(), err.getvalue()


def trials(*args: str, stdin: bytes = b"") -> list[str]:
    code, out, err = backtest(*args, stdin=stdin)
    assert (code, err) == (0, "")
    return [trial["name"] for trial in json.loads(out)["trials"]]


def test_several_recordings_are_played_in_processes_of_their_own(path: Path) -> None:
    other = path.with_name("other.csv")
    other.write_bytes(path.read_bytes())
    assert trials(str(path), str(other), "--size-gib", "100") == ["disk", "other"]


def test_a_recording_is_read_from_standard_input(recording: str) -> None:
    assert trials("-", "--size-gib", "100", stdin=recording.encode()) == ["-"]


def test_the_kind_of_a_volume_may_be_said_as_well(path: Path) -> None:
    assert trials(str(path), "--kind", "ebs_volume", "--size-gib", "100") == ["disk"]


def test_a_stated_type_is_used_even_for_a_file_that_describes_itself(
    path: Path, recording: str
) -> None:
    path.write_text(EXPORTED + recording)
    assert trials(str(path)) == ["disk"]
    code, _, err = backtest(str(path), "--type", "nonsense", "--size-gib", "7")
    assert code == 2
    assert "unknown volume type 'nonsense'" in err


@pytest.mark.parametrize("sizes", [[], ["--size-gib", "100,200"]])
def test_a_recording_needs_one_size(path: Path, sizes: list[str]) -> None:
    code, _, err = backtest(str(path), *sizes)
    assert code == 2
    assert "is a recording of one volume: give its one size, for example --size-gib 100" in err
