"""Run the exporter: read, save and serve until told to stop."""

import ctypes
import logging
import os
import stat
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import TextIO

from prometheus_client import ProcessCollector

from burstwatch.web.app import App
from burstwatch.web.config import WebConfig, read_web_config
from burstwatch.web.passwords import Passwords
from burstwatch.web.refusals import Refusals
from burstwatch.web.server import open_server
from burstwatch_exporter.clock import Clock
from burstwatch_exporter.exporter import Exporter
from burstwatch_exporter.measure.source import MeasureSource
from burstwatch_exporter.page.collector import Extra
from burstwatch_exporter.page.nvme import NvmeSource
from burstwatch_exporter.settings import Options

#: How our own page begins: a text file of another program is not overwritten.
PAGE_MARK = b"# HELP burstwatch_"
LOG = logging.getLogger("burstwatch_exporter")
#: glibc's M_MMAP_THRESHOLD, and the size in bytes from which a block goes back to the system when it is freed.
MMAP_THRESHOLD, LARGE_BLOCK = -3, 2**20
#: glibc's M_TRIM_THRESHOLD, and how many free bytes it may hold: with its own 128 KiB, which it would not raise any more, each
#: scrape would ask the system for the same pages again, which is a tenth of its CPU.
TRIM_THRESHOLD, HELD_BYTES = -1, 2**22


def make_exporter(options: Options, clock: Clock, *more: Extra) -> Exporter:
    """An exporter with ``more`` and the other sources beside the kernel's files that the options ask for."""
    extras = [*more]
    nvme = None if options.nvme_socket is None else NvmeSource(options.nvme_socket)
    if nvme is not None:
        extras.append(nvme)
    if options.measure_results is not None:
        extras.append(MeasureSource(options.measure_results, wall=clock.wall))
    exporter = Exporter(options, clock, extras=extras)
    if nvme is not None:
        nvme.on_comparison = exporter.host.contradict
    return exporter


def serve(options: Options, *, clock: Clock, stop: Event, hang_up: Event) -> None:
    """Serve until ``stop`` is set, then save and end. When ``hang_up`` is set, read the configuration anew.

    Raises:
        ValueError: if a configuration cannot be used.
        OSError: if the address cannot be bound.
    """
    _check_outputs(options)
    _give_large_blocks_back()
    web = read_web_config(options.web_config_file) if options.web_config_file else WebConfig()
    server = None
    if options.address is None:
        exporter = make_exporter(options, clock)
    else:
        refusals = Refusals()
        exporter = make_exporter(options, clock, refusals)
        app = App(exporter, Passwords(web.users), refusals)
        server = open_server(app, options.address, web.tls, setting="web.listen-address")
        # Of this process: its CPU time, its memory and its open files. In a text file they would be node_exporter's.
        ProcessCollector(registry=exporter.registry)
    if options.aws != "off":
        arguments = (exporter, options.aws_period_s, stop)
        Thread(target=_keep_asking, args=arguments, name="aws", daemon=True).start()
    try:
        exporter.sample()
        exporter.save()
        for hint in exporter.hints():
            LOG.warning("%s", hint)
        while not stop.wait(options.sample_period_s):
            if hang_up.is_set():
                hang_up.clear()
                exporter.reload()
            if server is not None and web.tls is not None:
                with exporter.sources.attempt("certificate") as attempt:
                    attempt.problems += filter(None, [server.problem])
            exporter.sample()
    finally:
        if server is not None:
            server.stop()
        exporter.host.observe()
        exporter.save()
    LOG.info("stopped")


def _give_large_blocks_back() -> None:
    """Keep glibc from holding on to the blocks of megabytes that a scrape of a thousand volumes takes for a moment.

    Left alone it raises its threshold with the first that is freed. Other C libraries have no such call.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, LARGE_BLOCK)
        ctypes.CDLL(None).mallopt(TRIM_THRESHOLD, HELD_BYTES)


def _check_outputs(options: Options) -> None:
    """Refuse a text file that cannot be written now or that somebody else wrote, and a state file without a folder.

    Raises:
        ValueError: naming the flag and the file.
        OSError: naming the flag and the folder.
    """
    for name, path in (("state.file", options.state_file), ("textfile", options.textfile)):
        if path is not None and _is_missing(path.parent):
            msg = f"{name} is {path}, and the folder {path.parent} does not exist"
            raise OSError(msg)
        # Without a state there are metrics, and that it cannot be kept is told by its source.
        is_needed = name == "textfile"
        if path is not None and is_needed and not os.access(path.parent, os.W_OK | os.X_OK):
            msg = f"{name} is {path}, and the folder {path.parent} cannot be written"
            raise OSError(msg)
        if path is not None and _is_no_file(path):
            msg = f"{name} is {path}, which is no regular file"
            raise ValueError(msg)
    if options.textfile is not None and options.textfile.exists():
        with options.textfile.open("rb") as file:
            begins = file.read(len(PAGE_MARK))
        if begins and begins != PAGE_MARK:
            msg = f"textfile is {options.textfile}, which this program did not write and would overwrite: name another file"
            raise ValueError(msg)


def _is_missing(folder: Path) -> bool:
    """True if there is no such folder. One that may not or cannot be looked at is told when something is written."""
    try:
        return not stat.S_ISDIR(folder.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _is_no_file(path: Path) -> bool:
    """True if there is something else than a file; what may not be looked at is told when it is written."""
    with suppress(OSError):
        return path.exists() and not path.is_file()
    return False


def _keep_asking(exporter: Exporter, period_s: float, stop: Event) -> None:
    """Ask AWS periodically, in a thread of its own because calls can be slow."""
    while not stop.is_set():
        exporter.ask_aws()
        stop.wait(period_s)


def write_once(options: Options, *, clock: Clock, stdout: TextIO, stop: Event) -> None:
    """Take two readings a sample period apart, and write the metrics to ``stdout`` or the text file.

    Raises:
        ValueError: if a configuration cannot be used, or the text file is somebody else's.
        OSError: if the state or the text file cannot be written.
    """
    _check_outputs(options)
    exporter = make_exporter(options, clock)
    exporter.observe()
    for hint in exporter.hints():
        LOG.warning("%s", hint)
    if options.aws != "off":
        exporter.ask_aws()
        exporter.host.observe()
    LOG.info("reading for %g s", options.sample_period_s)
    stop.wait(options.sample_period_s)
    if options.textfile is not None:
        exporter.write_page(options.textfile)
    else:
        stdout.write(exporter.scrape()[1].decode())
    exporter.save()
