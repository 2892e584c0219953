"""`burstwatch serve` and `burstwatch scan --openmetrics` as programs, with the programs that read what they say."""

import re
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import bcrypt
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from burstwatch.cli.commands.serve import make_fleet
from burstwatch.cli.main import build_parser
from tests.aws.commands import burstwatch
from tests.aws.looking import FULL_BURST, drain
from tests.conftest import NOW, Cloud
from tests.fake.herd import Herd
from tests.fleet.fleets import series_of
from tests.terminals import terminal_of

pytestmark = pytest.mark.slow

PATIENCE_S = 120.0


@contextmanager
def served(*args: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """The address that the program says it serves on, and the program."""
    child = subprocess.Popen(
        [sys.executable, "-m", "burstwatch", "serve", "--web.listen-address", "127.0.0.1:0", *args],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert child.stderr is not None
    try:
        for line in child.stderr:
            match = re.search(r"serving on (\S+)", line)
            if match:
                yield match[1], child
                break
        else:
            pytest.fail("it ended without serving")
    finally:
        child.kill()
        child.wait()
        child.stderr.close()


def answer_of(url: str, *, headers: dict[str, str] | None = None) -> tuple[int, str]:
    try:
        with urlopen(Request(url, headers=headers or {}), timeout=PATIENCE_S) as page:
            return page.status, page.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def await_ready(address: str) -> None:
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends:
        try:
            if answer_of(f"http://{address}/-/ready")[0] == 200:
                return
        except URLError:
            pass
        time.sleep(0.1)
    pytest.fail("it was not ready in time")


def test_prometheus_finds_nothing_to_say_of_the_page_and_a_signal_ends_it(
    cloud: Cloud, program: Callable[[str], str]
) -> None:
    promtool = program("promtool")
    cloud.aws.add_herd(Herd(50, NOW))
    with served("--tags", "Name,team") as (address, child):
        await_ready(address)
        assert answer_of(f"http://{address}/-/healthy") == (200, "healthy\n")
        _, page = answer_of(f"http://{address}/metrics")
        checked = subprocess.run(
            [promtool, "check", "metrics"], input=page, text=True, capture_output=True, check=False
        )
        assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
        names = {labels["tag_Name"] for labels, _ in series_of(page, "resource_info")}
        assert "disk 20" in names
        assert "process_cpu_seconds_total" in page
        _, landing = answer_of(f"http://{address}/")
        assert "Burst credits of this fleet" in landing
        assert "disk 20" in landing
        assert answer_of(f"http://{address}/nothing")[0] == 404
        child.send_signal(signal.SIGTERM)
        assert child.wait(PATIENCE_S) == 0


def test_it_is_not_ready_before_anything_has_answered(cloud: Cloud) -> None:
    cloud.aws.denied |= {"DescribeVolumes", "DescribeInstances"}
    with cloud.stalling("DescribeVolumes"), served() as (address, _):
        assert answer_of(f"http://{address}/-/ready")[0] == 503
        assert answer_of(f"http://{address}/metrics")[0] == 200


@pytest.mark.usefixtures("cloud")
def test_passwords_and_certificates_are_those_of_the_exporter(
    tmp_path: Path, program: Callable[[str], str]
) -> None:
    subprocess.run(
        [program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    its_hash = bcrypt.hashpw(b"secret", bcrypt.gensalt(4)).decode()
    config = tmp_path / "web.yml"
    config.write_text(
        f"tls_server_config: {{cert_file: cert.pem, key_file: key.pem}}\nbasic_auth_users: {{prom: '{its_hash}'}}\n"
    )
    with served("--web.config.file", str(config)) as (address, _):
        trusting = ssl.create_default_context(cafile=tmp_path / "cert.pem")
        with pytest.raises(HTTPError, match="401"):
            urlopen(f"https://{address}/metrics", context=trusting, timeout=PATIENCE_S)


@pytest.mark.usefixtures("cloud")
def test_a_port_that_is_taken_is_one_line_and_code_2() -> None:
    with served() as (address, _):
        second = subprocess.run(
            [sys.executable, "-m", "burstwatch", "serve", "--web.listen-address", address],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert second.returncode == 2
    assert f"web.listen-address {address}" in second.stderr.splitlines()[-1]


def test_a_list_of_units_is_polled_through_their_roles(cloud: Cloud, tmp_path: Path) -> None:
    role = "arn:aws:iam::222222222222:role/burstwatch-member"
    cloud.aws.roles[role] = "watch-me"
    path = tmp_path / "units.yml"
    path.write_text(
        "- region: eu-west-1\n"
        f"- {{account: '222222222222', region: us-east-1, role_arn: '{role}', external_id: watch-me}}\n"
    )
    args = build_parser().parse_args(["serve", "--units", str(path)])
    fleet, options = make_fleet(args, terminal_of(cloud))
    fleet.poll()
    assert [str(reading.unit) for reading in fleet.readings()] == [
        f"{cloud.unit.account}/eu-west-1",
        "222222222222/us-east-1",
    ]
    assert [reading.error for reading in fleet.readings()] == ["", ""]
    assert options.every_s == 60


def test_a_unit_that_is_named_twice_in_two_ways_is_refused(cloud: Cloud, tmp_path: Path) -> None:
    path = tmp_path / "units.yml"
    path.write_text(
        f"- region: us-east-1\n- {{account: '{cloud.unit.account}', region: us-east-1}}\n"
    )
    args = build_parser().parse_args(["serve", "--units", str(path)])
    with pytest.raises(ValueError, match="twice; allowed: each account and region once"):
        make_fleet(args, terminal_of(cloud))


def test_every_region_is_a_unit_of_its_own(cloud: Cloud) -> None:
    cloud.aws.enabled = ("us-east-1", "eu-west-1")
    args = build_parser().parse_args(["serve", "--all-regions", "--every", "5m"])
    fleet, options = make_fleet(args, terminal_of(cloud))
    fleet.poll()
    assert len(fleet.readings()) == 2
    assert all(reading.snapshot is not None for reading in fleet.readings())
    assert options.every_s == 300


def test_a_scan_as_metrics_is_read_by_both_parsers_and_by_node_exporter(
    cloud: Cloud, tmp_path: Path, program: Callable[[str], str]
) -> None:
    instance = cloud.aws.add_instance("m5.large")
    volume = cloud.aws.add_volume("gp2", 100, instance_id=instance, name="orders-db")
    drain(cloud, volume, to_percent=40, **FULL_BURST)
    code, out, err = burstwatch(cloud, "scan", "--openmetrics")
    assert (code, err) == (0, "")
    assert out.endswith("# EOF\n")
    families = {family.name for family in text_string_to_metric_families(out)}  # type: ignore[no-untyped-call]
    assert {"burstwatch_resource_time_to_exhaustion_seconds", "burstwatch_unit_up"} <= families
    checked = subprocess.run(
        [program("promtool"), "check", "metrics"], input=out, text=True, capture_output=True, check=False
    )  # fmt: skip
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
    (tmp_path / "burstwatch.prom").write_text(out)
    with collected(program("prometheus-node-exporter"), tmp_path) as page:
        assert f'resource_id="{volume}"' in page
        assert "node_textfile_scrape_error 0" in page


@contextmanager
def collected(node_exporter: str, folder: Path) -> Iterator[str]:
    """The page of node_exporter with the files of a folder."""
    child = subprocess.Popen(
        [node_exporter, "--collector.disable-defaults", "--collector.textfile",
         f"--collector.textfile.directory={folder}", "--web.listen-address=127.0.0.1:0"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stderr is not None
    try:
        for line in child.stderr:
            match = re.search(r"address=(127\.0\.0\.1:\d+)", line)
            if match and not match[1].endswith(":0"):
                yield answer_of(f"http://{match[1]}/metrics")[1]
                break
        else:
            pytest.fail("node_exporter did not say where it listens")
    finally:
        child.kill()
        child.wait()
        child.stderr.close()


def test_a_scan_as_metrics_has_only_what_was_asked_for_and_names_a_region_that_fails(
    cloud: Cloud,
) -> None:
    instance = cloud.aws.add_instance("m5.large")
    names = ("orders-db", "wiki")
    volumes = [cloud.aws.add_volume("gp2", 100, instance_id=instance, name=name) for name in names]
    cloud.aws.enabled = ("us-east-1", "eu-west-1")
    cloud.aws.closed_regions.add("eu-west-1")
    code, out, _ = burstwatch(cloud, "scan", "wiki", "--openmetrics", "--all-regions")
    assert code == 1
    shown = {labels["resource_id"] for labels, _ in series_of(out, "resource_info")}
    assert shown == {volumes[1]}
    up = {labels["region"]: value for labels, value in series_of(out, "unit_up")}
    assert up == {"us-east-1": 1, "eu-west-1": 0}
