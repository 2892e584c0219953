"""The version before this one, built from the history of the repository."""

import os
import shutil
import subprocess
import tarfile
from io import BytesIO
from pathlib import Path

from tools.archives import files_below, pack_zip
from tools.dist import plain_template

ROOT = Path(__file__).parents[2]
#: The newest commit before the release that is being made; a tag, when there is one.
BEFORE = "1f2a09c"


def build_before(folder: Path) -> tuple[Path, str] | None:
    """The package and the template of that version, or None where the history does not have it."""
    git, node = shutil.which("git"), shutil.which("node")
    if git is None or node is None:
        return None
    archived = subprocess.run(
        [git, "archive", "--format=tar", BEFORE], cwd=ROOT, capture_output=True, check=False
    )
    if archived.returncode != 0:
        return None
    tree, made = folder / "before", folder / "before.out"
    with tarfile.open(fileobj=BytesIO(archived.stdout)) as archive:
        archive.extractall(tree, filter="data")
    (tree / "node_modules").symlink_to(ROOT / "node_modules")
    package = subprocess.run(
        [node, "--import", "tsx", "cdk/plain.ts"],
        cwd=tree, env={**os.environ, "CDK_OUTDIR": str(made)}, capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    target = folder / "burstwatch-lambda-before.zip"
    pack_zip(target, files_below(Path(package)), at=0)
    return target, plain_template(made)
