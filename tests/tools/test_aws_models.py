"""What AWS changed in the operations that are called is seen, and ticked by a person."""

from pathlib import Path

import botocore
import pytest

from burstwatch.kinds import find_kinds
from tools import aws_models
from tools.aws_models import Change, called, differences, main, read_changes, unticked


def test_the_extract_is_of_the_botocore_that_is_installed() -> None:
    first, *_ = aws_models.EXTRACT.read_text(encoding="utf-8").splitlines()
    assert first == f"botocore {botocore.__version__}", "run python -m tools.aws_models"
    assert differences() == []
    assert read_changes()


def test_every_operation_that_a_kind_calls_or_tells_is_in_it() -> None:
    calls = called()
    assert {("ec2", "ModifyVolume"), ("sts", "AssumeRole"), ("sqs", "CreateQueue")} <= calls
    for kind in find_kinds().values():
        assert {(listing.service, listing.operation) for listing in kind.listings} <= calls
    text = aws_models.EXTRACT.read_text(encoding="utf-8")
    for service, operation in calls:
        assert f"\n{service} {operation}()" in text


@pytest.fixture
def older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The extract of a botocore without a member, and with another value."""
    lines = aws_models.EXTRACT.read_text(encoding="utf-8").splitlines()
    missing = "ec2 DescribeVolumesRequest.IncludeManagedResources: Boolean"
    assert missing in lines
    before = [line for line in lines if line != missing] + ["ec2 VolumeType = gp1"]
    path = tmp_path / "aws_models.txt"
    path.write_text("\n".join(["botocore 1.0.0", *before[1:], ""]), encoding="utf-8")
    monkeypatch.setattr(aws_models, "EXTRACT", path)
    return path


def test_a_new_member_and_a_value_that_went_are_told_and_not_accepted_unticked(
    older: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = older.read_text(encoding="utf-8")
    assert main(["--accept"]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "+ ec2 DescribeVolumesRequest.IncludeManagedResources: Boolean",
        "- ec2 VolumeType = gp1",
    ]
    assert "2 differences, 2 of them not ticked" in err
    assert older.read_text(encoding="utf-8") == text


def test_ticked_differences_are_accepted(
    older: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = tmp_path / "aws_changes.toml"
    changes.write_text(
        f'[["{botocore.__version__}"]]\ntick = "used"\nwhy = "it is sent"\n'
        'lines = ["+ ec2 DescribeVolumesRequest...", "- ec2 VolumeType = gp1"]\n',
        encoding="utf-8",
    )
    monkeypatch.setattr(aws_models, "CHANGES", changes)
    assert main(["--accept"]) == 0
    assert differences() == []
    assert "IncludeManagedResources" in older.read_text(encoding="utf-8")


def test_what_the_code_calls_anew_is_accepted_without_a_tick(
    older: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = older.read_text(encoding="utf-8").partition("\n")[2]
    older.write_text(f"botocore {botocore.__version__}\n{text}", encoding="utf-8")
    assert main([]) == 0
    assert "2 differences, 0 of them not ticked" in capsys.readouterr().err
    assert main(["--accept"]) == 0
    assert differences() == []


def test_a_tick_of_another_version_counts_for_nothing() -> None:
    old = Change(version="1.0.0", line="+ ec2 A.B: C", tick="used", why="it is read")
    assert unticked(["+ ec2 A.B: C"], [old]) == ["+ ec2 A.B: C"]


def test_a_tick_without_a_reason_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = tmp_path / "aws_changes.toml"
    monkeypatch.setattr(aws_models, "CHANGES", changes)
    for tick, why in (("maybe", "who knows"), ("used", "")):
        changes.write_text(f'[["1.0"]]\ntick = "{tick}"\nwhy = "{why}"\nlines = []\n')
        with pytest.raises(ValueError, match="allowed as tick: used, irrelevant, to do"):
            read_changes()
