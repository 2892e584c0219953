"""The program: what each command line does, and errors as one line.

Exit codes: 0 fine, 1 a measurement that did not go to its end, 2 wrong input or configuration.
"""

import argparse
import logging
import os
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import burstwatch
from burstwatch.config import Setting
from burstwatch.formatting import printable
from burstwatch.web.server import stop_on_signals
from burstwatch_exporter.clock import World, system_clock
from burstwatch_exporter.kernel.capture import capture
from burstwatch_exporter.measure.settings import SETTINGS as MEASURE_SETTINGS
from burstwatch_exporter.measure.settings import SWITCHES, parse_measure_options
from burstwatch_exporter.serve import serve, write_once
from burstwatch_exporter.settings import OF_HOST, SETTINGS, parse_options, variable_of

OK, WRONG_INPUT = 0, 2


class _Parser(argparse.ArgumentParser):
    """A parser that raises its errors as one line, and takes no shortened flags."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - as ArgumentParser
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def build_parser() -> argparse.ArgumentParser:
    """Every flag of ``SETTINGS``, and what else there is to do."""
    parser = _Parser(
        prog="burstwatch-exporter",
        description="Export for Prometheus how long the burst credits of this host's volumes last.",
    )
    parser.add_argument("--version", action="version", version=burstwatch.__version__)
    parser.add_argument(
        "command",
        nargs="?",
        choices=("serve", "capture", "measure"),
        default="serve",
        help="serve: serve metrics (default); capture: print the host's files that the metrics come from, for a "
        "bug report, with names replaced; measure: measure a disk (measure --help)",
    )
    parser.add_argument("--once", action="store_true", help="print the metrics once and exit")
    parser.add_argument(
        "--keep-names",
        action="store_true",
        help="print volume ids, serial numbers and mount points as they are; only with capture",
    )
    for setting in SETTINGS:
        _add_flag(parser, setting, f"; variable: {variable_of(setting.name)}")
    return parser


def build_measure_parser() -> argparse.ArgumentParser:
    """The flags of ``measure``, and those that say what the host is."""
    parser = _Parser(
        prog="burstwatch-exporter measure",
        description="Measure a disk within a budget of credits, and check that it does what its type promises.",
    )
    for name, text in SWITCHES.items():
        parser.add_argument(f"--{name}", action="store_true", help=text)
    for setting in MEASURE_SETTINGS:
        _add_flag(parser, setting)
    for setting in SETTINGS:
        if setting.name in OF_HOST:
            _add_flag(parser, setting, f"; variable: {variable_of(setting.name)}")
    return parser


def _add_flag(parser: argparse.ArgumentParser, setting: Setting, beside: str = "") -> None:
    shown = f"{setting.default:g}" if isinstance(setting.default, float) else setting.default
    default = f" (default {shown})" if shown else ""
    text = f"{setting.help}{default}{beside}"
    parser.add_argument(
        f"--{setting.name}", dest=setting.name, metavar="VALUE", help=text.replace("%", "%%")
    )


def run(args: Sequence[str], world: World) -> int:
    """The whole program, with its world as an argument. Returns the exit code."""
    try:
        if args[:1] == ["measure"]:
            return _measure(args[1:], world)
        parsed = vars(build_parser().parse_args(args))
        options = parse_options(_given(parsed, SETTINGS), world.env)
        # Of this program alone: the libraries' own debugging has secrets in it.
        for name in ("burstwatch", "burstwatch_exporter"):
            logging.getLogger(name).setLevel(options.log_level.upper())
        if parsed["command"] == "capture":
            world.stdout.write(capture(options.roots, keeps_names=parsed["keep_names"]))
        elif parsed["once"]:
            write_once(options, clock=world.clock, stdout=world.stdout, stop=world.stop)
        else:
            serve(options, clock=world.clock, stop=world.stop, hang_up=world.hang_up)
    except BrokenPipeError:
        raise
    except (ValueError, OSError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, OSError) and error.filename and error.strerror:
            text = f"{error.filename}: {error.strerror.lower()}"
        print(f"burstwatch-exporter: {printable(text)}", file=world.stderr)
        return WRONG_INPUT
    return OK


def _measure(args: Sequence[str], world: World) -> int:
    """Run ``measure`` with its own flags and the host's settings."""
    from burstwatch_exporter.measure.command import measure  # noqa: PLC0415 - nothing for who serves

    parsed = vars(build_measure_parser().parse_args(args))
    flags = parse_measure_options(_given(parsed, MEASURE_SETTINGS))
    of_host = [setting for setting in SETTINGS if setting.name in OF_HOST]
    options = parse_options(_given(parsed, of_host), world.env)
    switches = {name for name in SWITCHES if parsed[name.replace("-", "_")]}
    return measure(flags, switches, options, world)


def _given(parsed: Mapping[str, str | None], settings: Iterable[Setting]) -> dict[str, str]:
    """The settings of the command line, by name."""
    return {
        setting.name: text for setting in settings if (text := parsed[setting.name]) is not None
    }


def main() -> NoReturn:
    """Run with this process's arguments, environment and clocks, until told to stop."""
    if sys.stderr is None:  # closed by who started this
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as long as the process
    if sys.stdout is None:
        print("burstwatch-exporter: standard output is closed: use /dev/null", file=sys.stderr)
        sys.exit(WRONG_INPUT)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(message)s")
    stop = threading.Event()
    hang_up = threading.Event()
    # A measurement, and what prints once, end with their terminal.
    serves = not {"measure", "capture", "--once"} & {*sys.argv[1:]}
    stop_on_signals(stop, hang_up if serves else None)
    world = World(
        stdout=sys.stdout,
        stderr=sys.stderr,
        env=os.environ,
        clock=system_clock(),
        stop=stop,
        hang_up=hang_up,
    )
    try:
        code = run(sys.argv[1:], world)
        sys.stdout.flush()
    except BrokenPipeError:  # `burstwatch-exporter --once | head` has seen enough
        code = OK
    logging.shutdown()
    # A scrape that hangs on a dead disk, in a thread, must not keep the process.
    os._exit(code)
