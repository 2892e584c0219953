"""Files that the exporter reads, written by the programs and the kernel that write them on a host, and not by hand.

``python -m tests.exporter.writers`` writes ``tests/exporter/written`` anew, with each program's version. It needs root, and
works in a mount namespace of its own: systemd-udevd on loop devices, mounts of ext4, xfs and btrfs, lxcfs. The identity
document of an instance is that of AWS's own mock. The log page of EBS's NVMe disks has no writer but EBS.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

WRITTEN = Path(__file__).parent / "written"
UDEVD = Path("/lib/systemd/systemd-udevd")
RULES = Path("/lib/udev/rules.d")
#: systemd's own rules for disks; those of other packages say nothing that is read here.
OF_DISKS = ("50-udev-default.rules", "60-block.rules", "60-persistent-storage.rules")
NEEDED = ("unshare", "losetup", "sfdisk", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "udevadm", "lxcfs")
#: Of amazon-ec2-metadata-mock; `make test-real` builds it.
METADATA_MOCK = Path(".cache/go/ec2-metadata-mock")
MIB = 1 << 20
IMAGE_MIB = 320
#: How long to wait for a program, at most.
PATIENCE_S = 30.0
ATTRIBUTES = (
    "dev", "size", "hidden", "diskseq", "queue/iostats", "queue/max_sectors_kb", "queue/max_hw_sectors_kb",
)  # fmt: skip


def missing() -> list[str]:
    """The programs that are not on this machine; ``root`` where this is not run by root."""
    names = [name for name in NEEDED if shutil.which(name) is None]
    names += [] if UDEVD.exists() else ["systemd-udevd"]
    return names + ([] if os.geteuid() == 0 else ["root"])


def written() -> dict[str, Any]:
    """What is written now, by the name of the file: ``writers`` with versions, and ``files``."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["unshare", "--mount", "--propagation", "private", sys.executable, "-m", "tests.exporter.writers", "--inside", folder]  # fmt: skip
        subprocess.run(command, check=True, timeout=10 * PATIENCE_S)
        return {path.stem: yaml.safe_load(path.read_text()) for path in Path(folder).glob("*.yml")}


@contextmanager
def metadata_mock() -> Iterator[str]:
    """The address of AWS's own mock of the instance metadata service, as long as it runs; OSError where it was not built."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--imdsv2", "--hostname", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(
        [METADATA_MOCK, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as mock:
        try:
            until = time.monotonic() + PATIENCE_S
            while not _listens(port):
                if time.monotonic() > until:
                    msg = f"{METADATA_MOCK} does not listen"
                    raise RuntimeError(msg)
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            mock.kill()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def identity_document(endpoint: str) -> str:
    """The identity document of an instance, asked for with a token as AWS documents it."""
    token_request = urllib.request.Request(
        f"{endpoint}/latest/api/token",
        method="PUT",
        headers={"X-aws-ec2-metadata-token-ttl-seconds": "60"},
    )
    with urllib.request.urlopen(token_request, timeout=PATIENCE_S) as answer:
        token = answer.read().decode()
    request = urllib.request.Request(
        f"{endpoint}/latest/dynamic/instance-identity/document",
        headers={"X-aws-ec2-metadata-token": token},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        text: str = answer.read().decode()
    return text


def write_identity() -> None:
    """Write the identity document as AWS's mock writes it, with its version."""
    with metadata_mock() as endpoint:
        document = identity_document(endpoint)
    about = {
        "writers": {"ec2-metadata-mock": _run(str(METADATA_MOCK), "--version").split()[-1]},
        "document": document,
    }
    (WRITTEN / "identity.yml").write_text(yaml.dump(about, Dumper=_Blocks, width=10_000))


def _inside(folder: Path) -> None:
    """Write everything, in a namespace whose mounts end with it."""
    images = folder / "images"
    images.mkdir()
    loops = [_loop(images / f"{name}.img") for name in ("plain", "parts", "pool_1", "pool_2")]
    try:
        _run("sfdisk", "--quiet", f"/dev/{loops[1]}", text="label: gpt\nsize=310M\n")
        _run("losetup", "--set-capacity", f"/dev/{loops[1]}")
        _run("partx", "--update", f"/dev/{loops[1]}")
        disks = [*loops, f"{loops[1]}p1"]
        mounts = folder / "mounts"
        _make_file_systems(loops, mounts)
        files = dict(_kernel_files(disks, mounts))
        files |= _lxcfs_files(folder)
        files |= _udev_records(disks, folder / "rules")
        _write(
            folder / "host.yml",
            files,
            names={name: f"loop{n}" for n, name in enumerate(loops)},
            root=str(folder),
        )
    finally:
        for name in loops:  # each is free when the last of its mounts ends, with the namespace
            _run("losetup", "--detach", f"/dev/{name}")


def _loop(image: Path) -> str:
    """A loop device over a file; its name."""
    with image.open("wb") as file:
        file.truncate(IMAGE_MIB * MIB)
    return (
        _run("losetup", "--find", "--show", "--partscan", str(image)).strip().removeprefix("/dev/")
    )


def _make_file_systems(loops: list[str], mounts: Path) -> None:
    """Mount each kind of file system where it may stand in a host's list, under names with a space and a hash."""
    plain, parts, *pool = (f"/dev/{name}" for name in loops)
    _run("mkfs.ext4", "-q", plain)
    _run("mkfs.xfs", "-q", f"{parts}p1")
    _run("mkfs.btrfs", "-q", *pool)
    for source, name in ((plain, "a backup # of it"), (f"{parts}p1", "data"), (pool[0], "pool")):
        (mounts / name).mkdir(parents=True)
        _run("mount", source, str(mounts / name))
    _run("btrfs", "subvolume", "create", str(mounts / "pool" / "@home"))
    (mounts / "home").mkdir()
    _run("mount", "-o", "subvol=@home", pool[1], str(mounts / "home"))
    (mounts / "a backup # of it" / "inner").mkdir()
    (mounts / "bound").mkdir()
    _run("mount", "--bind", str(mounts / "a backup # of it" / "inner"), str(mounts / "bound"))
    (mounts / "data" / "file").write_bytes(b"x" * MIB)
    os.sync()


def _kernel_files(disks: list[str], mounts: Path) -> Iterator[tuple[str, str]]:
    """The kernel's own files on these disks, each as a path and a content."""
    diskstats = Path("/proc/diskstats").read_text().splitlines(keepends=True)
    yield "proc/diskstats", "".join(line for line in diskstats if line.split()[2] in disks)
    mountinfo = Path("/proc/self/mountinfo").read_text().splitlines(keepends=True)
    yield "proc/self/mountinfo", "".join(line for line in mountinfo if str(mounts) in line)
    yield "proc/stat", Path("/proc/stat").read_text().partition("intr")[0]
    yield "proc/sys/kernel/random/boot_id", Path("/proc/sys/kernel/random/boot_id").read_text()
    for name in disks:
        block = Path("/sys/class/block") / name
        is_whole = Path("/sys/block", name).exists()
        folder = f"sys/block/{name}" if is_whole else f"sys/block/{name.rpartition('p')[0]}/{name}"
        for attribute in (*ATTRIBUTES, "partition"):
            path = block / attribute
            if path.is_file():
                yield f"{folder}/{attribute}", path.read_text()
    for devices in Path("/sys/fs/btrfs").glob("*/devices"):
        names = {device.name for device in devices.iterdir()}
        if names & {*disks}:
            yield from (
                (f"sys/fs/btrfs/{devices.parent.name}/devices/{name}", "") for name in names
            )


def _udev_records(disks: list[str], rules: Path) -> dict[str, str]:
    """udev's record of each disk, from a daemon with an empty database and a ``/dev`` of its own."""
    numbers = {name: Path("/sys/class/block", name, "dev").read_text().strip() for name in disks}
    rules.mkdir()
    for name in OF_DISKS:
        shutil.copy(RULES / name, rules)
    # Linked to the same folder on every Debian since 12.
    _run("mount", "--bind", str(rules), str(RULES))
    for folder in ("/run/udev", "/dev"):
        Path(folder).mkdir(exist_ok=True)
        _run("mount", "-t", "tmpfs", "none", folder)
    for name, kind, number in (
        ("null", "c", "1:3"),
        ("kmsg", "c", "1:11"),
        ("urandom", "c", "1:9"),
        *((n, "b", at) for n, at in numbers.items()),
    ):
        _run("mknod", f"/dev/{name}", kind, *number.split(":"))
    daemon = subprocess.Popen([UDEVD], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    records = {name: Path("/run/udev/data", f"b{number}") for name, number in numbers.items()}
    try:
        _wait_for(Path("/run/udev/control"))
        for name, record in records.items():
            Path("/sys/class/block", name, "uevent").write_text("add")
            _wait_for(record)
        _run("udevadm", "settle", f"--timeout={PATIENCE_S:.0f}")
        return {f"udev/b{numbers[name]}": record.read_text() for name, record in records.items()}
    finally:
        daemon.terminate()
        daemon.wait(PATIENCE_S)


def _lxcfs_files(folder: Path) -> dict[str, str]:
    """What a container sees whose files of ``/proc`` are those of lxcfs."""
    point = folder / "lxcfs"
    point.mkdir()
    daemon = subprocess.Popen(
        [_path_of("lxcfs"), "-f", str(point)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for(point / "proc" / "diskstats")
        names = ("diskstats", "stat")
        for name in names:
            _run("mount", "--bind", str(point / "proc" / name), f"/proc/{name}")
        mountinfo = Path("/proc/self/mountinfo").read_text().splitlines(keepends=True)
        for name in names:
            _run("umount", f"/proc/{name}")
        return {
            "lxcfs/mountinfo": "".join(
                line for line in mountinfo if " /proc/" in line and "lxcfs" in line
            )
        }
    finally:
        daemon.terminate()
        daemon.wait(PATIENCE_S)


def _path_of(program: str) -> str:
    return shutil.which(program) or program


def _wait_for(path: Path) -> None:
    end = time.monotonic() + PATIENCE_S
    while not path.exists():
        if time.monotonic() > end:
            msg = f"{path} did not come within {PATIENCE_S:.0f} s"
            raise TimeoutError(msg)
        time.sleep(0.05)


def _write(path: Path, files: dict[str, str], *, names: dict[str, str], root: str) -> None:
    """Write the files as YAML, with the names that devices and folders have on every run."""
    lxcfs = subprocess.run(
        [_path_of("lxcfs"), "--version"], capture_output=True, text=True, check=True
    )
    host = {
        "writers": {
            "kernel": ".".join(os.uname().release.split(".")[:2]),
            "systemd-udevd": _run("udevadm", "--version").strip(),
            "lxcfs": f"{lxcfs.stdout}{lxcfs.stderr}".strip().strip('"'),
        },
        "of_nvme": _of_nvme(),
        "files": {
            _named(name, names, root): _named(text, names, root)
            for name, text in sorted(files.items())
        },
    }
    path.write_text(yaml.dump(host, Dumper=_Blocks, width=10_000))


def _of_nvme() -> list[str]:
    """Beginnings of lines that systemd's rules add to the record of an NVMe disk, of which there is none here."""
    rules = (RULES / "60-persistent-storage.rules").read_text().replace("\\\n", "")
    lines = [
        line for line in rules.splitlines() if 'KERNEL=="' not in line or 'KERNEL=="nvme' in line
    ]
    entries = {f"E:{name}=" for line in lines for name in re.findall(r"ENV\{(\w+)\}=\"", line)}
    links = {
        f"S:{link}" for line in lines for link in re.findall(r'SYMLINK\+="(disk/[\w-]+/)', line)
    }
    return sorted(entries | links)


class _Blocks(yaml.SafeDumper):
    """Writes a text of several lines as the block that it is."""


def _as_block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    )


_Blocks.add_representer(str, _as_block)


def _named(text: str, names: dict[str, str], root: str) -> str:
    own_names = re.compile(rf"\b({'|'.join(names)})(?=\b|p\d)")
    return own_names.sub(lambda match: names[match[0]], text).replace(root, "/srv")


def _run(*command: str, text: str = "") -> str:
    result = subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    if result.returncode:
        msg = f"{' '.join(command)}: {result.stderr.strip()}"
        raise RuntimeError(msg)
    return result.stdout


def main() -> None:
    """Write the files, or say what is missing for it."""
    if sys.argv[1:2] == ["--inside"]:
        _inside(Path(sys.argv[2]))
        return
    if METADATA_MOCK.exists():
        write_identity()
    if names := missing():
        raise SystemExit(f"not here: {', '.join(names)}")
    WRITTEN.mkdir(exist_ok=True)
    for name, content in written().items():
        (WRITTEN / f"{name}.yml").write_text(yaml.dump(content, Dumper=_Blocks, width=10_000))


if __name__ == "__main__":
    main()
