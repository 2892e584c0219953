"""What it is installed by: units, image and chart, each held against its own checker."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from burstwatch.cli.main import build_parser
from burstwatch.config import config_from_env
from burstwatch.fleet.units_file import read_units
from burstwatch.web.address import parse_address
from burstwatch_exporter.config_file import read_config_file
from burstwatch_exporter.settings import SETTINGS, parse_options

ROOT = Path(__file__).parents[2]
EXPORTER = ROOT / "exporter"
UNITS = sorted(
    path
    for path in (EXPORTER / "systemd").iterdir()
    if path.suffix in {".service", ".socket", ".timer"}
)
SERVICES = [unit for unit in UNITS if unit.suffix == ".service"]


def test_systemd_understands_every_unit(program: Callable[[str], str], tmp_path: Path) -> None:
    for unit in UNITS:
        here = unit.read_text().replace("/usr/bin/", f"{Path(sys.executable).parent}/")
        (tmp_path / unit.name).write_text(here)
    verified = subprocess.run(
        [program("systemd-analyze"), "verify", *(tmp_path / unit.name for unit in UNITS)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (verified.returncode, verified.stderr) == (0, "")


#: Without a user namespace of its own, which some hosts do not allow, the exporter is at 1.4.
MOST = {"burstwatch-exporter": 14}


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.stem)
def test_systemd_finds_little_that_a_service_could_do(
    unit: Path, program: Callable[[str], str]
) -> None:
    """Its verdict is from 0 to 10, of which 1.4 is well within what it calls OK."""
    judged = subprocess.run(
        [
            program("systemd-analyze"),
            "security",
            "--offline=true",
            f"--threshold={MOST.get(unit.stem, 12)}",
            unit,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert judged.returncode == 0, judged.stdout[-2_000:]


def test_only_the_helper_holds_a_capability() -> None:
    exporter = (EXPORTER / "systemd" / "burstwatch-exporter.service").read_text()
    assert "CapabilityBoundingSet=\n" in exporter
    assert "PrivateDevices=yes" in exporter
    helper = (EXPORTER / "systemd" / "burstwatch-nvme-helper.service").read_text()
    assert re.findall(r"CAP_\w+", helper.partition("[Service]")[2]) == ["CAP_SYS_ADMIN"] * 2
    source = (EXPORTER / "burstwatch_exporter" / "kernel" / "nvme_helper.py").read_text()
    imported = set(re.findall(r"^(?:import|from) (\w+)", source, re.MULTILINE))
    assert imported <= {*sys.stdlib_module_names}


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    linted = subprocess.run(
        [Path(sys.executable).with_name("hadolint"), EXPORTER / "Dockerfile"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (linted.returncode, linted.stdout) == (0, "")


def test_every_file_that_the_dockerfile_copies_is_there() -> None:
    dockerfile = (EXPORTER / "Dockerfile").read_text()
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", dockerfile, re.MULTILINE)
    names = [name for line in copied for name in line.split()]
    assert len(names) > 5
    assert all((ROOT / name).exists() for name in names)


# The chart


@pytest.fixture(scope="module")
def helm() -> str:
    built = ROOT / ".cache" / "go" / "helm"
    found = str(built) if built.exists() else shutil.which("helm")
    if found is None:
        pytest.skip(
            "helm is not installed, and without go it cannot be built (make .cache/go/helm)"
        )
    return found


def render(
    helm: str, values: dict[str, Any], folder: Path, chart: str = "chart"
) -> list[dict[str, Any]]:
    path = folder / "values.yaml"
    path.write_text(yaml.safe_dump(values))
    rendered = subprocess.run(
        [helm, "template", "node", EXPORTER / chart, "--values", path, "--kube-version", "1.37"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert rendered.returncode == 0, rendered.stderr
    return [one for one in yaml.safe_load_all(rendered.stdout) if one]


VALUES: dict[str, dict[str, Any]] = {
    "default": {},
    "everything": {
        "config": {"volumes": {"*": {"type": "gp2"}}},
        "extraArgs": ["--aws=cloudwatch"],
        "webConfigSecret": "web",
        "nvmeHelper": {"enabled": True},
        "serviceAccount": {
            "annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/x"},
            "automountToken": True,
        },
        "priorityClassName": "system-node-critical",
        "podMonitor": {
            "enabled": True,
            "labels": {"release": "prometheus"},
            "scheme": "https",
            "tlsConfig": {"insecureSkipVerify": True},
            "basicAuth": {"username": {"name": "a", "key": "user"}},
        },
        "networkPolicy": {"enabled": True},
        "podLabels": {"team": "storage"},
        "podAnnotations": {"a": "b"},
        "imagePullSecrets": [{"name": "pull"}],
        "seLinuxOptions": {"type": "spc_t"},
        "stateHostPath": "",
        "hostNetwork": True,
    },
}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
def test_what_the_chart_renders_is_what_kubernetes_takes(
    helm: str, values: dict[str, Any], tmp_path: Path
) -> None:
    documents = render(helm, values, tmp_path)
    for document in documents:
        if document["kind"] != "PodMonitor":  # a custom resource, of which Kubernetes has no schema
            kubernetes_validate.validate(document, "1.37", strict=True)
    kinds = {document["kind"] for document in documents}
    assert {"DaemonSet", "ConfigMap", "ServiceAccount"} <= kinds
    for document in documents:
        if document["kind"] == "PodMonitor":  # the rules ask for up{job="burstwatch"}
            (endpoint,) = document["spec"]["podMetricsEndpoints"]
            assert {"targetLabel": "job", "replacement": "burstwatch"} in endpoint["relabelings"]
    assert ("PodMonitor" in kinds) == ("NetworkPolicy" in kinds) == bool(values)


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
def test_the_exporter_in_the_chart_takes_its_flags_and_its_configuration(
    helm: str, values: dict[str, Any], tmp_path: Path
) -> None:
    documents = {document["kind"]: document for document in render(helm, values, tmp_path)}
    pod = documents["DaemonSet"]["spec"]["template"]["spec"]
    exporter = pod["containers"][0]
    flags = dict(flag.removeprefix("--").split("=", 1) for flag in exporter["args"])
    assert set(flags) <= {setting.name for setting in SETTINGS}
    address = parse_options(flags, {}).address
    assert address is not None
    assert address.port == 10_047
    config = tmp_path / "config.yml"
    config.write_text(documents["ConfigMap"]["data"]["config.yml"])
    assert len(read_config_file(config).volumes) == len(values.get("config", {}).get("volumes", {}))
    mounted = {mount["mountPath"] for mount in exporter["volumeMounts"]}
    assert {"/host/proc", "/host/sys", "/state", "/etc/burstwatch"} <= mounted
    assert exporter["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert exporter["securityContext"]["readOnlyRootFilesystem"]
    assert pod["securityContext"]["runAsUser"] == 65_534  # nobody
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for beginner in pod.get("initContainers", []):
        assert beginner["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["CHOWN"]}
    # Only what gives a folder of the host to the exporter runs as root, and without one nothing does.
    assert [one["name"] for one in pod.get("initContainers", [])] == ([] if values else ["state"])
    (state,) = (volume for volume in pod["volumes"] if volume["name"] == "state")
    assert ("emptyDir" if values else "hostPath") in state
    assert pod["securityContext"].get("seLinuxOptions") == values.get("seLinuxOptions")
    privileged = [
        one["name"] for one in pod["containers"] if one["securityContext"].get("privileged")
    ]
    assert privileged == (["nvme-helper"] if values else [])


FLEET_VALUES: dict[str, dict[str, Any]] = {
    "default": {},
    "everything": {
        "region": "eu-west-1",
        "units": [
            {"region": "eu-west-1"},
            {
                "account": "022222222222",
                "region": "us-east-1",
                "role_arn": "arn:aws:iam::022222222222:role/burstwatch-member",
                "external_id": "watch-me",
            },
        ],
        "settings": {"lead_s": "1800"},
        "extraArgs": ["--tags=team,env"],
        **{
            name: VALUES["everything"][name]
            for name in (
                "webConfigSecret", "serviceAccount", "priorityClassName", "podMonitor", "networkPolicy",
                "podLabels", "podAnnotations", "imagePullSecrets",
            )
        },
    },
}  # fmt: skip


@pytest.mark.parametrize("values", FLEET_VALUES.values(), ids=FLEET_VALUES.keys())
def test_the_chart_of_a_fleet_runs_serve_with_its_units_and_settings(
    helm: str, values: dict[str, Any], tmp_path: Path
) -> None:
    documents = render(helm, values, tmp_path, "fleet-chart")
    by_kind = {document["kind"]: document for document in documents}
    for kind, document in by_kind.items():
        if kind != "PodMonitor":  # a custom resource, of which Kubernetes has no schema
            kubernetes_validate.validate(document, "1.37", strict=True)
    container = by_kind["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    assert container["command"][1:] == ["serve"]
    parsed = build_parser().parse_args(["serve", *container["args"]])
    assert parse_address("listen", parsed.address).port == 10_048
    env = {entry["name"]: entry["value"] for entry in container["env"]}
    settings = {name: text for name, text in env.items() if name.startswith("BURSTWATCH_")}
    assert config_from_env(settings).lead_s == (1_800 if values else 900)
    assert ("ConfigMap" in by_kind) == (parsed.units is not None) == bool(values)
    if values:
        units = tmp_path / "units.yml"
        units.write_text(by_kind["ConfigMap"]["data"]["units.yml"])
        assert [spec.account for spec in read_units(units)] == ["", "022222222222"]
        (endpoint,) = by_kind["PodMonitor"]["spec"]["podMetricsEndpoints"]
        assert {"targetLabel": "job", "replacement": "burstwatch-fleet"} in endpoint["relabelings"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_a_value_that_the_chart_does_not_have_is_refused(helm: str, tmp_path: Path) -> None:
    path = tmp_path / "values.yaml"
    path.write_text("nvmeHelpr: {enabled: true}\n")
    refused = subprocess.run(
        [helm, "template", "node", EXPORTER / "chart", "--values", path, "--kube-version", "1.37"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode != 0
    assert "nvmeHelpr" in refused.stderr
