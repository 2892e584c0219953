"""What somebody sees who has just installed the exporter."""

import io
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from burstwatch import installing
from burstwatch.web.config import Tls
from burstwatch_exporter.clock import World, system_clock
from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.main import run
from burstwatch_exporter.serve import LOG
from burstwatch_exporter.settings import parse_options
from tests.exporter.pages import plant


def exporter_of(root: Path) -> Exporter:
    flags = {
        "path.procfs": root / "proc",
        "path.sysfs": root / "sys",
        "path.udev.data": root / "udev",
    }
    options = parse_options({name: str(path) for name, path in flags.items()}, {})
    return Exporter(options, system_clock())


def test_a_host_without_ebs_volumes_says_so_once_and_is_not_unwell(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plant({"proc/diskstats": "", "proc/1/mountinfo": "", "sys/block/.keep": ""}, tmp_path)
    exporter = exporter_of(tmp_path)
    exporter.sample()
    (hint,) = exporter.hints()
    assert "no EBS volume that the exporter can see" in hint
    assert not any("diskstats" in one for one in exporter.problems())
    stop, out = threading.Event(), io.StringIO()
    world = World(stdout=out, stderr=out, env={}, clock=system_clock(), stop=stop)
    threading.Timer(1.0, stop.set).start()
    flags = [f"--path.procfs={tmp_path}/proc", f"--path.sysfs={tmp_path}/sys"]
    with caplog.at_level("WARNING", logger=LOG.name):
        code = run([*flags, "--web.listen-address=127.0.0.1:0", "--sample.period=0.2"], world)
    assert code == 0
    assert [one.message for one in caplog.records].count(hint) == 1


@pytest.mark.parametrize("missing", ["a.crt", "a.key"])
def test_an_error_of_tls_names_its_file(missing: str, tmp_path: Path) -> None:
    tls = Tls(cert_file=tmp_path / "a.crt", key_file=tmp_path / "a.key")
    for name in {"a.crt", "a.key"} - {missing}:
        (tmp_path / name).write_text("no certificate and no key")
    with pytest.raises(OSError, match=missing):
        tls.context()
    (tmp_path / missing).write_text("no certificate and no key")
    with pytest.raises(OSError, match=r"a\.crt and .*a\.key: "):
        tls.context()


def test_without_its_packages_the_program_names_the_extra(tmp_path: Path) -> None:
    hidden = "import sys; sys.modules['yaml'] = None; from burstwatch_exporter.__main__ import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", hidden], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={"PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert found.returncode == 2
    assert found.stderr == (
        f"burstwatch-exporter: yaml is not installed, it needs: {installing('exporter')}\n"
    )
    # Where it came from, and not a name on an index, which may be somebody else's.
    assert "'burstwatch[exporter] @ " in found.stderr
