"""What the scripts of the deb and the rpm do: played with the arguments of dpkg and rpm, in a folder that stands for the root."""

import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "exporter" / "packages"
UNITS = "burstwatch-exporter.service"
#: A Python that says what it was called with, and whether it is of a version that can be used.
PYTHON = """#!/bin/sh
echo "$0 $* PYTHONPATH=$PYTHONPATH PATH=$PATH" >> {log}
case "$1" in
  -c) exit {code} ;;
  -m) if [ "$2" = venv ]; then
        mkdir -p "$3/bin"
        cp "$0" "$3/bin/python3"
        for name in burstwatch burstwatch-exporter burstwatch-nvme-helper; do echo "#!$3/bin/python3" > "$3/bin/$name"; done
      fi ;;
esac
"""


class Machine:
    """The folder, and what was called in it."""

    def __init__(self, root: Path) -> None:
        """A machine with systemd, and with the package's files."""
        self.root, self.log = root, root / "log"
        for folder in (
            "usr/bin",
            "usr/sbin",
            "usr/lib/burstwatch-exporter",
            "var/lib",
            "run/systemd/system",
            "bin",
            "sbin",
        ):
            (root / folder).mkdir(parents=True)
        for tool in ("cp", "ln", "mkdir", "mv", "rm", "sed", "touch"):
            (root / "usr/sbin" / tool).symlink_to(shutil.which(tool) or "")
        self.program("systemd-sysusers", "#!/bin/sh\n")
        self.program("systemctl", f'#!/bin/sh\necho "systemctl $*" >> {self.log}\n')

    def program(self, name: str, text: str) -> None:
        """Put a program where the scripts look."""
        path = self.root / "usr/bin" / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def python(self, name: str, *, is_fit: bool = True) -> None:
        """Put a Python there that can be used, or one that is too old or has no venv."""
        self.program(name, PYTHON.format(log=self.log, code=0 if is_fit else 1))

    def run(self, script: str, *args: str, **env: str) -> "subprocess.CompletedProcess[str]":
        """Run a script whose absolute paths are those below the folder."""
        text = (SCRIPTS / script).read_text()
        text = re.sub(r"(?<![\w.$}])/(usr|var|run|bin|sbin)(?=[/\s:])", rf"{self.root}/\1", text)
        path = self.root / script
        path.write_text(text)
        return subprocess.run(
            ["/bin/sh", path, *args], capture_output=True, text=True, check=False,
            env={"PATH": f"{self.root}/home:{self.root}/usr/sbin:{self.root}/usr/bin", **env},
        )  # fmt: skip

    def calls(self) -> list[str]:
        """The calls of systemctl since the last time, without what it is told each time."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.write_text("")
        return [
            line for line in lines if line.startswith("systemctl ") and "daemon-reload" not in line
        ]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path / "root")
    made.python("python3.13")
    made.run("make-environment")
    (made.root / "usr/lib/burstwatch-exporter/make-environment").write_text("#!/bin/sh\n")
    (made.root / "usr/lib/burstwatch-exporter/make-environment").chmod(0o755)
    made.calls()
    return made


def play(machine: Machine, *steps: str) -> list[str]:
    """Run the scripts of these steps, each its name and its arguments; what systemctl was told."""
    for step in steps:
        script, *args = step.split()
        ended = machine.run(script, *args)
        assert (ended.returncode, ended.stderr) == (0, ""), step
    return machine.calls()


INSTALLED = f"systemctl enable --now {UNITS}"
UPGRADED = "systemctl try-restart"
REMOVED = "systemctl disable --now"


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        # dpkg
        (["postinstall configure"], INSTALLED),
        (["preremove upgrade 0.2", "postremove upgrade 0.2", "postinstall configure 0.1"], UPGRADED),
        (["preremove remove", "postremove remove"], REMOVED),
        (["postremove purge"], ""),
        # rpm
        (["postinstall 1"], INSTALLED),
        (["postinstall 2", "preremove 1", "postremove 1"], UPGRADED),
        (["preremove 0", "postremove 0"], REMOVED),
    ],
)  # fmt: skip
def test_an_installation_starts_it_an_upgrade_restarts_what_runs_and_a_removal_ends_it(
    steps: list[str], told: str, machine: Machine
) -> None:
    calls = play(machine, *steps)
    assert [call.startswith(told) for call in calls] == ([True] if told else [])


def test_a_deb_that_was_removed_and_is_installed_again_is_started(machine: Machine) -> None:
    """dpkg calls this an upgrade, as it keeps the version of what it removed."""
    marker = machine.root / "var/lib/burstwatch-exporter.removed"
    play(machine, "preremove remove", "postremove remove")
    assert marker.exists()
    assert not (machine.root / "usr/lib/burstwatch-exporter").exists()
    (machine.root / "usr/lib/burstwatch-exporter").mkdir()
    make = machine.root / "usr/lib/burstwatch-exporter/make-environment"
    make.write_text("#!/bin/sh\n")
    make.chmod(0o755)
    assert play(machine, "postinstall configure 0.1") == [INSTALLED]
    assert not marker.exists()
    assert play(machine, "postinstall configure 0.1")[0].startswith(UPGRADED)


def test_a_purge_leaves_nothing_and_a_removal_leaves_what_was_saved(machine: Machine) -> None:
    saved = machine.root / "var/lib/burstwatch-exporter/state.json"
    saved.parent.mkdir()
    saved.write_text("{}")
    play(machine, "postremove remove")
    assert saved.exists()
    play(machine, "postremove purge")
    assert [path.name for path in (machine.root / "var/lib").iterdir()] == []


@pytest.mark.parametrize(
    ("fit", "unfit", "chosen"),
    [
        (["python3.11", "python3.13", "python3"], [], "python3.13"),
        (["python3.11"], ["python3.14", "python3"], "python3.11"),
        (["python3"], ["python3.13"], "python3"),
        (["python3.12", "python3.13", "python3.14"], [], "python3.14"),
    ],
)
def test_the_newest_python_that_can_be_used_makes_the_environment(
    fit: list[str], unfit: list[str], chosen: str, tmp_path: Path
) -> None:
    machine = Machine(tmp_path / "root")
    for name in (*fit, *unfit):
        machine.python(name, is_fit=name in fit)
    # Of whoever installs it.
    shutil.copytree(machine.root / "usr/bin", machine.root / "home")
    ended = machine.run("make-environment", PYTHONPATH="/home/somebody", PYTHONHOME="/x")
    assert (ended.returncode, ended.stderr) == (0, "")
    home = machine.root / "usr/lib/burstwatch-exporter"
    (made,) = [line for line in machine.log.read_text().splitlines() if " -m venv " in line]
    assert made.split()[0] == f"{machine.root}/usr/bin/{chosen}"
    assert " PYTHONPATH= " in made
    assert made.partition(" PATH=")[2].startswith(f"{machine.root}/usr/sbin:{machine.root}/usr/bin")
    program = machine.root / "usr/bin/burstwatch-exporter"
    assert program.readlink() == home / "venv/bin/burstwatch-exporter"
    assert program.read_text() == f"#!{home}/venv/bin/python3\n"


def test_without_a_python_that_can_be_used_it_says_so_and_the_old_environment_stays(
    machine: Machine,
) -> None:
    machine.python("python3.13", is_fit=False)
    ended = machine.run("make-environment")
    assert ended.returncode == 1
    assert (
        ended.stderr == "burstwatch-exporter: no Python from 3.11 to 3.14 with venv is installed\n"
    )
    assert (machine.root / "usr/lib/burstwatch-exporter/venv/bin/burstwatch-exporter").exists()
