"""The workflows of GitHub are valid, pin each action by its commit, and use none of a runtime that runners no longer have."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.release import test_dist
from tools.artefacts import ARTEFACTS, artefact_of
from tools.dist import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTIONLINT = ROOT / ".cache" / "go" / "actionlint"
#: Each action at its version, with what its action.yml says that it runs on (2026-11).
RUNTIMES = {
    "actions/checkout@v6.0.2": "node24",
    "actions/setup-python@v6.2.0": "node24",
    "actions/setup-node@v6.0.0": "node24",
    "actions/upload-artifact@v7.0.0": "node24",
    "actions/download-artifact@v8.0.1": "node24",
    "actions/upload-pages-artifact@v5.0.0": "composite, of upload-artifact",
    "actions/attest-build-provenance@v4.1.0": "composite, of attest (node24)",
    "actions/deploy-pages@v5.0.0": "node24",
}
USES = re.compile(r"uses: ([\w./-]+)@(\S+)(?: # (v[\d.]+))?$", re.MULTILINE)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_each_action_is_pinned_by_commit_and_its_runtime_is_known(path: Path) -> None:
    text = path.read_text()
    pinned = USES.findall(text)
    assert len(pinned) == text.count("uses: ")
    for name, commit, version in pinned:
        assert re.fullmatch(r"[0-9a-f]{40}", commit), name
        assert f"{name}@{version}" in RUNTIMES


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_job_may_write_more_than_it_says(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        writes = [right for right in job.get("permissions", {}).values() if right == "write"]
        is_for_tags = job.get("if") == "github.event_name == 'push'"
        # The image is pushed in a step that a run by hand leaves out.
        assert not writes or is_for_tags or name == "image"


@pytest.mark.real
@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actionlint_finds_nothing(path: Path) -> None:
    if not ACTIONLINT.exists():
        pytest.skip("actionlint was not built: make .cache/go/actionlint, which needs go")
    found = subprocess.run([ACTIONLINT, path], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout


def test_each_sort_of_file_names_a_test_that_is_there() -> None:
    for artefact in ARTEFACTS:
        assert hasattr(test_dist, artefact.test)


def test_a_file_that_nobody_has_tried_is_refused() -> None:
    with pytest.raises(ValueError, match="is in no row"):
        artefact_of(Path("dist/surprise.exe"))
