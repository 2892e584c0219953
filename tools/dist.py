"""Builds everything that a release has into ``dist/``. Run by `make dist`.

The same commit gives the same bytes: times are that of the commit, and nothing depends on the machine.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import uuid
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import burstwatch
from burstwatch.config import Config
from monitoring.dashboards.shared import shared
from tools.archives import files_below, pack_tar, pack_zip
from tools.host_packages import build_host_packages

ROOT = Path(__file__).parents[1]
#: The Python of the functions (cdk/lib/props.ts), whose bytecode is in their package if that Python builds it.
BYTECODE = "cpython-313"
DIST, WORK = ROOT / "dist", ROOT / ".cache" / "dist"
VERSION = burstwatch.__version__
UV = ROOT / ".cache" / "uv" / "bin" / "uv"
#: The Helm charts by their folders.
CHARTS = {"chart": "burstwatch-exporter", "fleet-chart": "burstwatch-fleet"}
#: What an exporter's image is built from, as its Dockerfile names it.
IMAGE_FILES = (
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "exporter/requirements.txt",
)
MONITORING = ("grafana", "prometheus", "runbooks")
#: What compiles the construct, and the oldest CDK that it is tried on: the newest for Python when that was tried.
JSII = ROOT / "cdk" / "jsii" / "node_modules" / ".bin"
PEERS = {"aws-cdk-lib": "^2.275.0", "constructs": "^10.8.1"}


def main() -> None:
    """Build all, and say what is for whom."""
    at = int(_output("git", "log", "-1", "--format=%ct") or 0)
    os.environ["SOURCE_DATE_EPOCH"] = str(at)
    os.umask(0o022)  # a wheel keeps the modes of its files
    os.environ["JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION"] = "20"
    for folder in (DIST, WORK):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    _python()
    function_and_template(DIST, at)
    _construct_library(at)
    _chart_image_and_monitoring(at)
    build_host_packages(DIST, WORK, version=VERSION, at=at)
    _bills_of_materials(at)
    (DIST / f"CHANGES-{VERSION}.md").write_text(changes(VERSION), encoding="utf-8")
    _checksums()
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size / 1024:9.0f} KiB  {path.relative_to(ROOT)}")


def _python() -> None:
    """The wheel and the source distribution."""
    _run(UV, "build", "--quiet", "--wheel", "--sdist", "--out-dir", DIST)
    (DIST / ".gitignore").unlink(missing_ok=True)


def function_and_template(target: Path, at: int) -> None:
    """The functions' package, and the template of plain CloudFormation that runs it."""
    # A folder of its own: tests take a template while another process makes a release.
    with TemporaryDirectory() as synthesised:
        environment = {**os.environ, "CDK_OUTDIR": synthesised}
        package = Path(_output("node", "--import", "tsx", "cdk/plain.ts", env=environment))
        text = plain_template(Path(synthesised))
    pack_zip(target / "burstwatch-lambda.zip", files_below(package, bytecode=BYTECODE), at=at)
    (target / "burstwatch-template.json").write_text(text, encoding="utf-8")


def plain_template_now(synthesised: Path) -> str:
    """The template of plain CloudFormation as this tree makes it, in a folder for what CDK writes."""
    environment = {**os.environ, "CDK_OUTDIR": str(synthesised)}
    _output("node", "--import", "tsx", "cdk/plain.ts", env=environment)
    return plain_template(synthesised)


def plain_template(synthesised: Path) -> str:
    """The template in a folder that ``cdk/plain.ts`` has written, without the paths of CDK."""
    template = json.loads((synthesised / "Burstwatch.template.json").read_text(encoding="utf-8"))
    for resource in template["Resources"].values():
        resource.pop("Metadata", None)
    return json.dumps(template, separators=(",", ":"))


def _construct_library(at: int) -> None:
    """The construct for TypeScript (an npm package) and Python (a wheel), with the functions' package in both.

    jsii compiles the class and its properties. It needs its own rules of TypeScript, so everything
    below the class is one file of JavaScript beside it.
    """
    if not JSII.exists():
        msg = "jsii is not installed: run make dist, which installs it"
        raise SystemExit(msg)
    tree = WORK / "construct"
    (tree / "lib").mkdir(parents=True)
    (tree / "package.json").write_text(
        json.dumps(construct_manifest(), indent=2) + "\n", encoding="utf-8"
    )
    sources = {"LICENSE": "LICENSE", "README.md": "docs/construct.md"}
    sources |= {"lib/index.ts": "cdk/jsii/index.ts", "lib/api.ts": "cdk/lib/api.ts"}
    for name, source in sources.items():
        shutil.copy(ROOT / source, tree / name)
    _run(
        JSII / "esbuild", "cdk/lib/index.ts", "--bundle", "--platform=node", "--target=node20", "--format=cjs",
        "--external:aws-cdk-lib", "--external:aws-cdk-lib/*", "--external:constructs", "--log-level=warning",
        "--define:import.meta.url=FILE_URL", f"--outfile={tree / 'lib' / 'parts.js'}",
        "--banner:js=const FILE_URL = require('node:url').pathToFileURL(__filename).href;",
    )  # fmt: skip
    (tree / "node_modules").symlink_to(ROOT / "node_modules")
    _run(JSII / "jsii", "--silence-warnings=metadata/missing-dev-dependency", cwd=tree)
    function = Path(_output("node", "--import", "tsx", "-e", PACKAGE_FOLDER))
    shutil.copytree(function, tree / "lambda")
    released = {
        name: path
        for name, path in files_below(tree, bytecode=BYTECODE).items()
        if name.startswith(("lambda/", "lib/")) and not name.endswith(("api.ts", "index.ts"))
    }
    released |= {name: tree / name for name in ("package.json", "LICENSE", "README.md", ".jsii")}
    named = {f"package/{name}": path for name, path in released.items()}
    pack_tar(DIST / f"burstwatch-{VERSION}.tgz", named, at=at)
    _bind_to_python(tree)


def _bind_to_python(tree: Path) -> None:
    """The wheel of the construct: classes for Python, and the npm package that they run."""
    _run(
        JSII / "jsii-pacmak",
        "--code-only",
        "--target=python",
        "--outdir",
        WORK / "bound",
        ".",
        cwd=tree,
    )
    limits = WORK / "cdk.txt"
    limits.write_text(
        _output(UV, "export", "--quiet", "--frozen", "--only-group=cdk", "--no-hashes", "--no-header"),
        encoding="utf-8",
    )  # fmt: skip
    _run(
        UV,
        "build",
        "--quiet",
        "--wheel",
        "--build-constraints",
        limits,
        "--out-dir",
        DIST,
        WORK / "bound" / "python",
    )
    (DIST / ".gitignore").unlink(missing_ok=True)


def construct_manifest() -> dict[str, Any]:
    """The ``package.json`` of the construct, with what jsii makes of it."""
    home = Config().runbooks_url.partition("/blob/")[0]
    own = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    return {
        "name": "burstwatch",
        "version": VERSION,
        "description": "A construct that says how long AWS burst credits last, and pages before they run out",
        "license": own["license"],
        "keywords": ["aws-cdk", "ebs", "burst-credits", "cloudwatch", "monitoring"],
        "author": {"name": "burstwatch", "url": home, "organization": True},
        "repository": {"type": "git", "url": f"{home}.git"},
        "engines": {"node": ">=20.19"},
        "main": "lib/index.js",
        "types": "lib/index.d.ts",
        "files": ["lib/*.js", "lib/*.d.ts", "lambda", ".jsii"],
        "stability": "experimental",
        "peerDependencies": PEERS,
        "devDependencies": {name: version.lstrip("^") for name, version in PEERS.items()},
        "jsii": {
            "outdir": "dist",
            "targets": {"python": {"distName": "burstwatch-cdk", "module": "burstwatch_cdk"}},
        },
    }


PACKAGE_FOLDER = "import('./cdk/lib/bundle.ts').then((own) => console.log(own.buildPackage()))"


def _chart_image_and_monitoring(at: int) -> None:
    """The Helm charts, what their image is built from, and dashboards, rules and mixin."""
    for folder, chart in CHARTS.items():
        below = tracked_below(ROOT / "exporter" / folder)
        named = {f"{chart}/{name}": path for name, path in below.items()}
        pack_tar(DIST / f"{chart}-{VERSION}.tgz", named, at=at)
    image = {name: ROOT / name for name in IMAGE_FILES}
    for folder in ("burstwatch", "exporter/burstwatch_exporter"):
        image |= {f"{folder}/{name}": path for name, path in tracked_below(ROOT / folder).items()}
    image["Dockerfile"] = ROOT / "exporter" / "Dockerfile"
    pack_tar(DIST / f"burstwatch-exporter-image-{VERSION}.tar.gz", image, at=at)
    top, monitoring = f"burstwatch-monitoring-{VERSION}", ROOT / "monitoring"
    files = {
        f"{folder}/{name}": path
        for folder in MONITORING
        for name, path in tracked_below(monitoring / folder).items()
        if not name.startswith("tests/")
    }
    files |= {path.name: path for path in monitoring.glob("*.*sonnet*")}
    files |= {"jsonnetfile.json": monitoring / "jsonnetfile.json", "LICENSE": ROOT / "LICENSE"}
    for name, text in shared().items():
        path = WORK / "grafana.com" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        files[f"grafana.com/{name}"] = path
    pack_tar(DIST / f"{top}.tar.gz", {f"{top}/{name}": path for name, path in files.items()}, at=at)


def _bills_of_materials(at: int) -> None:
    """What others' software is in it, in CycloneDX: of Python and of the CDK app."""
    python = _output(
        UV, "export", "--quiet", "--frozen", "--all-extras", "--no-dev", "--format", "cyclonedx1.5"
    )
    node = _output("npm", "sbom", "--sbom-format=cyclonedx", "--omit=dev", "--package-lock-only")
    for name, text in {"python": python, "cdk": node}.items():
        bill: dict[str, Any] = json.loads(text)
        bill["metadata"]["timestamp"] = datetime.fromtimestamp(at, tz=UTC).isoformat()
        bill["serialNumber"] = (
            f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{name}-{VERSION}-{at}')}"
        )
        target = DIST / f"burstwatch-{VERSION}-{name}.cdx.json"
        target.write_text(json.dumps(bill, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def changes(version: str) -> str:
    """The section of the changelog about one version.

    Raises:
        ValueError: if there is none.
    """
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    match = re.search(rf"^## {re.escape(version)}.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if match is None:
        msg = f"CHANGELOG.md has no section {version}"
        raise ValueError(msg)
    return match[0]


def _checksums() -> None:
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(DIST.iterdir())
    ]
    (DIST / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def _run(*command: str | Path, cwd: Path = ROOT) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=cwd, stdout=subprocess.DEVNULL)  # noqa: S603 - our own arguments


def tracked_below(folder: Path) -> dict[str, Path]:
    """Every file below a folder that is in the repository: what merely lies there is not released."""
    names = _output("git", "ls-files", "-z", folder).split("\0")
    return {str((ROOT / name).relative_to(folder)): ROOT / name for name in names if name}


def _output(*command: str | Path, env: dict[str, str] | None = None) -> str:
    found = subprocess.run(  # noqa: S603 - our own arguments
        [str(part) for part in command],
        check=True,
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        text=True,
    )
    return found.stdout.strip()


if __name__ == "__main__":
    main()
