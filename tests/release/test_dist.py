"""Each file of a release does its main job where it is alone, and the same commit gives the same bytes."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

import burstwatch
from tools.dist import BYTECODE, DIST, ROOT, UV, changes, main

VERSION = burstwatch.__version__
pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def dist() -> Path:
    main()
    return DIST


def run(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    found = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def unpacked(archive: Path, target: Path) -> Path:
    with tarfile.open(archive) as tar:
        tar.extractall(target, filter="data")
    return target


def environment(folder: Path, *packages: str | Path) -> Path:
    """An empty environment with only these."""
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "pip", "install", "--quiet", "--no-deps", *packages, cwd=folder)
    return folder / "bin"


def test_the_same_commit_gives_the_same_bytes(dist: Path) -> None:
    before = (dist / "SHA256SUMS").read_text()
    earlier = os.umask(0o002)  # many users have it, and a file's mode is a part of a wheel
    try:
        main()
    finally:
        os.umask(earlier)
    assert (dist / "SHA256SUMS").read_text() == before


def test_the_checksums_are_those_of_the_files(dist: Path) -> None:
    lines = (dist / "SHA256SUMS").read_text().splitlines()
    found = {path.name for path in dist.iterdir()} - {"SHA256SUMS"}
    assert {line.split()[1] for line in lines} == found
    for line in lines:
        digest, name = line.split()
        assert hashlib.sha256((dist / name).read_bytes()).hexdigest() == digest


@pytest.mark.parametrize("pattern", ["burstwatch-*.whl", f"burstwatch-{VERSION}.tar.gz"])
def test_wheel_and_source_answer_and_replay_in_an_empty_environment(
    pattern: str, dist: Path, tmp_path: Path
) -> None:
    (package,) = dist.glob(pattern)
    programs = environment(tmp_path / "venv", package)
    asked = ("whatif", "--type", "gp2", "--size-gib", "100", "--iops", "3000", "--json")
    assert (
        json.loads(run(programs / "burstwatch", *asked, cwd=tmp_path))["time_to_empty_s"] == 2_000
    )
    assert "exhausted" in run(
        programs / "burstwatch", "explain", "--example", "--every-period", cwd=tmp_path
    )


APP = """
const app = new App();
const stack = new Stack(app, 'Theirs', { env: { account: '111122223333', region: 'eu-central-1' } });
const watch = new BurstWatch(stack, 'BurstWatch', {
  alarmEmail: 'a@example.org', settings: { lead_s: '600' }, schedule: Duration.minutes(2),
});
new CfnOutput(stack, 'Page', { value: watch.pageTopic.topicArn });
app.synth();
"""


def test_the_page_of_the_wheel_has_no_link_that_an_index_cannot_follow(dist: Path) -> None:
    with zipfile.ZipFile(dist / f"burstwatch-{VERSION}-py3-none-any.whl") as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
        page = wheel.read(name).decode()
    links = re.findall(r"""(?:\]\(|src="|srcset=")([^)"\s]+)""", page)
    assert len(links) > 20
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    here = f"/v{VERSION}/"
    kept = [link.partition(here)[2].partition("#")[0] for link in links if here in link]
    assert [path for path in kept if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("chart", ["burstwatch-exporter", "burstwatch-fleet"])
def test_a_chart_says_what_artifact_hub_shows(chart: str, dist: Path) -> None:
    with tarfile.open(dist / f"{chart}-{VERSION}.tgz") as tar:
        text = tar.extractfile(f"{chart}/Chart.yaml")
        assert text is not None
        about = yaml.safe_load(text)
        assert f"{chart}/values.schema.json" in tar.getnames()
    assert about["version"] == about["appVersion"] == VERSION
    (image,) = yaml.safe_load(about["annotations"]["artifacthub.io/images"])
    assert image["image"] == f"ghcr.io/burstwatch/burstwatch:{VERSION}"
    assert about["annotations"]["artifacthub.io/license"] == "Apache-2.0"


@pytest.mark.parametrize(
    ("name", "imports"),
    [
        ("app.mjs", "import { App, CfnOutput, Duration, Stack } from 'aws-cdk-lib'; import { BurstWatch } from 'burstwatch';"),
        ("app.cjs", "const { App, CfnOutput, Duration, Stack } = require('aws-cdk-lib'); const { BurstWatch } = require('burstwatch');"),
    ],
)  # fmt: skip
def test_a_strangers_app_synthesises_with_the_construct_and_without_python(
    name: str, imports: str, dist: Path, tmp_path: Path
) -> None:
    modules = tmp_path / "node_modules"
    modules.mkdir()
    for of_app in ("aws-cdk-lib", "constructs"):
        (modules / of_app).symlink_to(ROOT / "node_modules" / of_app)
    unpacked(dist / f"burstwatch-{VERSION}.tgz", tmp_path / "npm")
    (tmp_path / "npm" / "package").rename(modules / "burstwatch")
    (tmp_path / name).write_text(imports + APP)
    node = shutil.which("node")
    assert node is not None
    env = {"PATH": "/nowhere", "CDK_OUTDIR": str(tmp_path / "out"), "HOME": str(tmp_path)}
    run(node, "--no-warnings", name, cwd=tmp_path, env=env)
    template = json.loads((tmp_path / "out" / "Theirs.template.json").read_text())
    functions = [
        one["Properties"] for one in template["Resources"].values() if one["Type"] == "AWS::Lambda::Function"
    ]  # fmt: skip
    variables = [one.get("Environment", {}).get("Variables", {}) for one in functions]
    assert any(one.get("BURSTWATCH_LEAD_S") == "600" for one in variables)
    (asset,) = (tmp_path / "out").glob("asset.*")
    assert (asset / "lambdas" / "sweep.py").exists()
    (tmp_path / name).write_text(imports + APP.replace("600", "soon"))
    failed = subprocess.run([node, "--no-warnings", name], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)  # fmt: skip
    assert failed.returncode != 0
    assert 'settings lead_s is "soon"; allowed: a number of seconds from 60' in failed.stderr


PYTHON_APP = """
from aws_cdk import App, CfnOutput, Duration, Stack
from burstwatch_cdk import BurstWatch, WatchedUnit

app = App()
stack = Stack(app, "Theirs", env={"account": "111122223333", "region": "eu-central-1"})
watch = BurstWatch(
    stack, "BurstWatch", alarm_email="a@example.org", settings={"lead_s": "600"},
    schedule=Duration.minutes(2), units=[WatchedUnit(region="us-east-1")],
)
CfnOutput(stack, "Page", value=watch.page_topic.topic_arn)
app.synth()
"""


@pytest.fixture(scope="module")
def strangers_python(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has the construct and nothing else of ours."""
    folder = tmp_path_factory.mktemp("python-app")
    (package,) = dist.glob("burstwatch_cdk-*.whl")
    limits = folder / "limits.txt"
    limits.write_text(run(UV, "export", "--quiet", "--frozen", "--only-group=cdk", "--no-hashes", "--no-header", cwd=ROOT))  # fmt: skip
    python = folder / "venv" / "bin" / "python"
    run(UV, "venv", "--quiet", "--python", sys.executable, folder / "venv", cwd=folder)
    run(UV, "pip", "install", "--quiet", "--python", python, "-c", limits, package, cwd=folder)
    return python


def with_jsii(folder: Path) -> dict[str, str]:
    """The environment of an app that writes to a folder."""
    return {
        **os.environ,
        "CDK_OUTDIR": str(folder / "out"),
        "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(folder / "jsii"),
    }


def test_a_strangers_python_app_synthesises_with_the_construct(
    strangers_python: Path, tmp_path: Path
) -> None:
    app = tmp_path / "app.py"
    app.write_text(PYTHON_APP)
    env = with_jsii(tmp_path)
    run(strangers_python, app, cwd=tmp_path, env=env)
    template = (tmp_path / "out" / "Theirs.template.json").read_text()
    assert '"BURSTWATCH_LEAD_S": "600"' in template
    assert "us-east-1" in template
    (asset,) = (tmp_path / "out").glob("asset.*")
    assert (asset / "lambdas" / "sweep.py").exists()
    app.write_text(PYTHON_APP.replace("600", "soon"))
    failed = subprocess.run([strangers_python, app], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)  # fmt: skip
    assert failed.returncode != 0
    assert 'settings lead_s is "soon"; allowed: a number of seconds from 60' in failed.stderr


def test_the_types_of_the_construct_are_those_that_its_page_shows(
    dist: Path, tmp_path: Path
) -> None:
    package = unpacked(dist / f"burstwatch-{VERSION}.tgz", tmp_path) / "package"
    types = (package / "lib" / "api.d.ts").read_text()
    properties = set(
        re.findall(
            r"^    readonly (\w+)\?:", types.split("export interface WatchedUnit")[0], re.MULTILINE
        )
    )
    page = (package / "README.md").read_text()
    named = set(
        re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE)))
    )
    assert properties == named


def test_the_plain_template_is_small_enough_to_be_passed_whole_and_names_its_package(
    dist: Path,
) -> None:
    path = dist / "burstwatch-template.json"
    assert path.stat().st_size <= 51_200  # what CloudFormation takes without a bucket for it
    template = json.loads(path.read_text())
    run(Path(sys.executable).parent / "cfn-lint", "--ignore-checks", "W3005", "--", path, cwd=ROOT)
    assert "cdk-hnb659fds" not in path.read_text()
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Lambda::Function":
            assert resource["Properties"]["Code"] == {
                "S3Bucket": {"Ref": "CodeBucket"},
                "S3Key": {"Ref": "CodeKey"},
            }
    with zipfile.ZipFile(dist / "burstwatch-lambda.zip") as package:
        assert {"lambdas/sweep.py", "lambdas/cleanup.py", "burstwatch/aws/sweep/sweep.py"} <= set(
            package.namelist()
        )


def test_the_package_of_the_functions_starts_where_it_is_alone(dist: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(dist / "burstwatch-lambda.zip") as package:
        package.extractall(tmp_path)  # noqa: S202 - made by this test
    env = {
        "PYTHONPATH": str(tmp_path),
        "AWS_DEFAULT_REGION": "us-east-1",
        "PATH": os.environ["PATH"],
    }
    env |= {"POWERTOOLS_SERVICE_NAME": "x", "AWS_REGION": "us-east-1"}
    code = "import lambdas.sweep, lambdas.cleanup, boto3; print(boto3.__file__)"
    assert str(tmp_path) in run(sys.executable, "-S", "-c", code, cwd=tmp_path, env=env)


def test_the_archive_has_dashboards_rules_and_a_mixin_that_are_whole(
    dist: Path, tmp_path: Path
) -> None:
    top = (
        unpacked(dist / f"burstwatch-monitoring-{VERSION}.tar.gz", tmp_path)
        / f"burstwatch-monitoring-{VERSION}"
    )
    boards = list((top / "grafana").glob("*.json"))
    assert len(boards) >= 3
    assert all(json.loads(path.read_text())["panels"] for path in boards)
    rules = list((top / "prometheus").glob("*.rules.yml")) + list(
        (top / "prometheus").glob("*.alerts.yml")
    )
    assert all(yaml.safe_load(path.read_text())["groups"] for path in rules)
    assert (top / "runbooks" / "resource-critical.md").exists()
    assert (top / "mixin.libsonnet").exists()
    rjsonnet = pytest.importorskip("rjsonnet")
    made = json.loads(
        rjsonnet.evaluate_snippet("x", f"(import '{top / 'mixin.libsonnet'}').prometheusAlerts")
    )
    assert made["groups"]


def test_the_chart_and_the_image_have_all_that_they_name(dist: Path, tmp_path: Path) -> None:
    helm = shutil.which("helm") or ROOT / ".cache" / "go" / "helm"
    for name, workload in (
        ("burstwatch-exporter", "DaemonSet"),
        ("burstwatch-fleet", "Deployment"),
    ):
        package = dist / f"{name}-{VERSION}.tgz"
        chart = unpacked(package, tmp_path / name) / name
        assert yaml.safe_load((chart / "Chart.yaml").read_text())["version"] == VERSION
        if Path(helm).exists():
            rendered = run(helm, "template", package, "--kube-version", "1.37", cwd=tmp_path)
            assert workload in rendered
    image = unpacked(dist / f"burstwatch-exporter-image-{VERSION}.tar.gz", tmp_path / "image")
    for line in (image / "Dockerfile").read_text().splitlines():
        if line.startswith("COPY ") and "--from" not in line:
            assert all((image / name).exists() for name in line.split()[1:-1]), line


def test_the_bills_of_materials_have_what_is_pinned(dist: Path) -> None:
    for name, needed in (("python", {"boto3", "tornado"}), ("cdk", {"aws-cdk-lib"})):
        bill = json.loads((dist / f"burstwatch-{VERSION}-{name}.cdx.json").read_text())
        assert bill["bomFormat"] == "CycloneDX"
        assert needed <= {one["name"] for one in bill["components"]}


def test_the_changes_are_those_of_the_version() -> None:
    assert changes(VERSION).startswith(f"## {VERSION}")
    with pytest.raises(ValueError, match=r"no section 9\.9\.9"):
        changes("9.9.9")


#: The packages for hosts by architecture, and the program of each format.
HOST_PACKAGES = {
    ("deb", "amd64"): f"burstwatch-exporter_{VERSION}_amd64.deb",
    ("deb", "arm64"): f"burstwatch-exporter_{VERSION}_arm64.deb",
    ("rpm", "amd64"): f"burstwatch-exporter-{VERSION}-1.x86_64.rpm",
    ("rpm", "arm64"): f"burstwatch-exporter-{VERSION}-1.aarch64.rpm",
}
PACKAGERS = {"deb": "dpkg", "rpm": "rpm"}
PROGRAMS = ("burstwatch", "burstwatch-exporter", "burstwatch-nvme-helper")


def packager(kind: str) -> str:
    """The program that installs a format."""
    name = PACKAGERS[kind]
    if not shutil.which(name) or os.geteuid() != 0 or not os.environ.get("REQUIRE_PROGRAMS"):
        pytest.skip(f"installs a package for real: needs root, {name} and REQUIRE_PROGRAMS=1")
    return name


@dataclass(frozen=True, kw_only=True)
class Installed:
    """A package that is installed on this host, with the words that install it again."""

    again: tuple[str | Path, ...]


@pytest.fixture(params=PACKAGERS)
def installed(request: pytest.FixtureRequest, dist: Path, tmp_path: Path) -> Iterator[Installed]:
    """The package of each format, really installed on this host, and taken away again."""
    kind = request.param
    package = dist / HOST_PACKAGES[kind, "amd64"]
    words: tuple[str | Path, ...]
    if packager(kind) == "dpkg":
        words = ("dpkg", "--install", "--force-depends", package)
        remove: tuple[str | Path, ...] = ("dpkg", "--purge", "burstwatch-exporter")
        run(*words, cwd=dist)
    else:
        rpm = ("rpm", "--dbpath", tmp_path / "rpm", "--nodeps")
        words = (*rpm, "--upgrade", "--replacepkgs", package)
        remove = (*rpm, "--erase", "burstwatch-exporter")
        run(*rpm, "--install", package, cwd=dist)
    yield Installed(again=words)
    run(*remove, cwd=dist)
    assert not [name for name in PROGRAMS if Path("/usr/bin", name).is_symlink()]
    assert not Path("/usr/lib/burstwatch-exporter").exists()


def test_a_package_for_hosts_installs_without_a_network_and_again_as_an_upgrade_does(
    installed: Installed,
) -> None:
    page = run("/usr/bin/burstwatch-exporter", "--once", "--sample.period=0.2", cwd=Path("/"))
    assert f'burstwatch_exporter_build_info{{version="{VERSION}"}}' in page
    for name in PROGRAMS:
        assert run(f"/usr/bin/{name}", "--help", cwd=Path("/"))
    run(*installed.again, cwd=Path("/"))
    assert run("/usr/bin/burstwatch-exporter", "--version", cwd=Path("/")) == f"{VERSION}\n"
    unit = Path("/usr/lib/systemd/system/burstwatch-exporter.service")
    if shutil.which("systemd-analyze"):
        run("systemd-analyze", "verify", unit, cwd=Path("/"))
    if Path("/run/systemd/system").exists():
        assert (
            run("systemctl", "is-active", "burstwatch-exporter.service", cwd=Path("/"))
            == "active\n"
        )


@pytest.fixture
def unpacked_packages(dist: Path, tmp_path: Path) -> dict[tuple[str, str], Path]:
    """A root for each package, into which its own format's program has unpacked it, without its scripts."""
    roots: dict[tuple[str, str], Path] = {}
    for (kind, arch), name in HOST_PACKAGES.items():
        root = roots[kind, arch] = tmp_path / f"{kind}-{arch}"
        if packager(kind) == "dpkg":
            for folder in ("info", "updates"):
                (root / "var/lib/dpkg" / folder).mkdir(parents=True)
            (root / "var/lib/dpkg/status").touch()
            run(
                "dpkg", f"--root={root}", "--force-architecture", "--force-depends", "--unpack", dist / name,
                cwd=dist,
            )  # fmt: skip
        else:
            root.mkdir()
            run("rpm", "--root", root, "--nodeps", "--noscripts", "--ignorearch", "--install", dist / name, cwd=dist)  # fmt: skip
    return roots


def test_every_package_has_the_same_units_and_the_wheels_of_its_own_architecture(
    unpacked_packages: dict[tuple[str, str], Path],
) -> None:
    contents = {
        key: {
            str(path.relative_to(root)): path.read_bytes()
            for folder in ("etc/default", "usr/lib")
            for path in (root / folder).rglob("*")
            if path.is_file() and "/rpm/" not in str(path)
        }
        for key, root in unpacked_packages.items()
    }
    for (_, arch), files in contents.items():
        native = [name for name in files if name.endswith((".whl",)) and "manylinux" in name]
        machine = {"amd64": "x86_64", "arm64": "aarch64"}[arch]
        assert native
        assert all(machine in name for name in native)
    shared = [
        {
            name.removesuffix(".dpkg-new"): text
            for name, text in files.items()
            if "manylinux" not in name
        }
        for files in contents.values()
    ]
    assert all(files == shared[0] for files in shared)
    assert "usr/lib/systemd/system/burstwatch-exporter.service" in shared[0]


def test_the_units_of_every_package_are_whole(
    unpacked_packages: dict[tuple[str, str], Path],
) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    for root in unpacked_packages.values():
        for name in (*(f"usr/bin/{program}" for program in PROGRAMS), "bin/kill"):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("#!/bin/sh\n")
            path.chmod(0o755)
        for unit in sorted((root / "usr/lib/systemd/system").iterdir()):
            run(
                "systemd-analyze", "verify", f"--root={root}", "--recursive-errors=no",
                f"/{unit.relative_to(root)}", cwd=root,
            )  # fmt: skip


def test_the_example_uses_parameters_that_the_template_has(dist: Path) -> None:
    parameters = json.loads((dist / "burstwatch-template.json").read_text())["Parameters"]
    text = (ROOT / "docs" / "examples" / "sam" / "template.yaml").read_text()
    used = set(re.findall(r"^\s+(CodeBucket|CodeKey|[A-Z]\w+)\s*[=:]\s", text, re.MULTILINE))
    used -= {
        "Burstwatch",
        "Resources",
        "Type",
        "Properties",
        "TemplateURL",
        "Parameters",
        "Transform",
        "PackageBucket",
        "Metadata",
        "Name",
        "Description",
        "Author",
        "SpdxLicenseId",
        "ReadmeUrl",
        "LicenseUrl",
        "Labels",
        "HomePageUrl",
        "SourceCodeUrl",
        "SemanticVersion",
    }
    assert {"CodeBucket", "CodeKey", "AlarmEmail", "LeadS"} <= used <= set(parameters)


def test_the_application_of_sam_has_what_its_repository_asks_for() -> None:
    path = ROOT / "docs" / "examples" / "sam" / "template.yaml"
    text = path.read_text().replace("!Ref ", "")
    about = yaml.safe_load(text)["Metadata"]["AWS::ServerlessRepo::Application"]
    assert about["SemanticVersion"] == VERSION
    # https://docs.aws.amazon.com/serverlessrepo/latest/devguide/serverlessrepo-publishing-applications.html (2026-11)
    assert {"Name", "Description", "Author", "SpdxLicenseId", "LicenseUrl", "ReadmeUrl", "SemanticVersion"} <= about.keys()  # fmt: skip
    assert all((path.parent / about[name]).resolve().exists() for name in ("ReadmeUrl", "LicenseUrl"))  # fmt: skip


def test_the_bytecode_of_a_release_is_of_the_python_of_the_functions() -> None:
    (version,) = re.findall(
        r"PYTHON = 'python(\d)\.(\d+)'", (ROOT / "cdk/lib/props.ts").read_text()
    )
    assert f"cpython-{''.join(version)}" == BYTECODE
