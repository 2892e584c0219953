"""The entry point: finds the commands, parses, runs, and turns errors into one line.

Exit codes: 0 fine, 1 a partial result, 2 wrong input or configuration.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NoReturn, TextIO

import burstwatch
from burstwatch.cli import commands

OK, PARTIAL, WRONG_INPUT = 0, 1, 2


@dataclass(frozen=True, kw_only=True)
class Terminal:
    """The parts of the world that a command may touch: its streams, environment and clock.

    ``ask`` puts a question to whoever sits there; None where nobody does.
    """

    stdin: Callable[[], bytes]
    stdout: TextIO
    stderr: TextIO
    env: Mapping[str, str]
    clock: Callable[[], float]
    ask: Callable[[str], str] | None = None


class _Parser(argparse.ArgumentParser):
    """A parser that raises its errors as ValueError, prints no usage, and takes no abbreviated flag."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - as ArgumentParser
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def build_parser() -> argparse.ArgumentParser:
    """The parser with every command that lies in ``commands/``."""
    parser = _Parser(prog="burstwatch", description="How long until burst credits run out.")
    parser.add_argument("--version", action="version", version=burstwatch.__version__)
    subparsers = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)
    for module in sorted(info.name for info in iter_modules(commands.__path__)):
        command = import_module(f"{commands.__name__}.{module}")
        text = (command.__doc__ or "").strip()
        name = module.replace("_", "-")
        sub = subparsers.add_parser(name, help=text.partition("\n")[0], description=text)
        command.add_arguments(sub)
        sub.set_defaults(run=command.run)
    return parser


def run(
    args: Sequence[str],
    *,
    stdout: TextIO,
    stderr: TextIO,
    env: Mapping[str, str],
    clock: Callable[[], float],
    stdin: Callable[[], bytes] = bytes,
    ask: Callable[[str], str] | None = None,
) -> int:
    """The whole program, with its world as arguments. Returns the exit code."""
    terminal = Terminal(stdin=stdin, stdout=stdout, stderr=stderr, env=env, clock=clock, ask=ask)
    try:
        parser = build_parser()
        parsed = parser.parse_args(args)
        if not hasattr(parsed, "run"):
            parser.print_help(stderr)
            return WRONG_INPUT
        code: int = parsed.run(parsed, terminal)
    except BrokenPipeError:
        raise
    except (ValueError, OSError) as error:
        # Each of our own errors is a ValueError that already says what is allowed.
        print(f"burstwatch: {_with_flag(_one_line(error), args)}", file=stderr)
        return WRONG_INPUT
    return code


def main() -> NoReturn:
    """Run with this process's arguments, environment and clock."""
    if sys.stderr is None:  # closed by who started this
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as long as the process
    if sys.stdout is None:
        print("burstwatch: standard output is closed, so nothing can be printed", file=sys.stderr)
        sys.exit(WRONG_INPUT)
    for stream in (sys.stdout, sys.stderr):
        # A terminal without Unicode shows a question mark instead of a block.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = run(
            sys.argv[1:],
            stdin=_read_stdin,
            stdout=sys.stdout,
            stderr=sys.stderr,
            env=os.environ,
            clock=time.time,
            ask=_ask if _is_terminal() else None,
        )
        sys.stdout.flush()
    except BrokenPipeError:  # `burstwatch ... | head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = OK
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def _ask(question: str) -> str:
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def _read_stdin() -> bytes:
    if sys.stdin is None:
        msg = "standard input is closed, so there is nothing to read"
        raise ValueError(msg)
    return sys.stdin.buffer.read()


def _with_flag(text: str, args: Sequence[str]) -> str:
    """The text; if it begins with the name of a flag that was typed, with that as it was typed."""
    name, blank, remainder = text.partition(" ")
    flag = f"--{name.replace('_', '-')}"
    is_typed = any(arg.partition("=")[0] == flag for arg in args)
    return f"{flag}{blank}{remainder}" if is_typed else text


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}"
    return " ".join(str(error).split()) or type(error).__name__
