"""The entry point: finds the commands, parses, runs, and turns errors into one line.

Exit codes: 0 fine, 1 a partial result, 2 wrong input or configuration.
"""

import argparse
import ast
import codecs
import os
import re
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NoReturn, TextIO

import burstwatch
from burstwatch.cli import commands
from burstwatch.cli.output import columns_of
from burstwatch.formatting import SPARKS, InputError, cut, folded, folded_command, inert, printable

#: Signs with which a word of ours could run something. A quote alone cannot.
RUNS = re.compile(r"[$`;|&<>!]")
OK, PARTIAL, WRONG_INPUT = 0, 1, 2
#: The end of the help of each command that has no codes of its own.
EXIT_CODES = (
    "Exit codes: 0 success, 1 a part failed and the rest is done, 2 wrong input or configuration."
)
#: The groups of commands, in the order of the help.
GROUPS = {
    "look": "Look at resources",
    "deployment": "A deployment, and the alarms of an account",
    "silence": "Silence one resource",
    "recordings": "Recordings",
    "other": "Other",
}
#: What does the work of a command that there was.
SUCCESSORS = {
    "config": "catalog --settings",
    "delete-alarms": "cleanup",
    "digest": "episodes --digest",
    "leftovers": "cleanup",
    "replay": "explain --every-period",
}
PLAIN_SIGNS = "burstwatch-plain-signs"
SIGNS = {**dict(zip(SPARKS, "_.-:=+*#", strict=True)), "░": ".", "…": "~", "\N{EM DASH}": "-"}
#: The commands to begin with, for somebody who types none.
BEGIN = """\
burstwatch scan
  which resources of an account run out, and when; it only reads
burstwatch whatif --type gp2 --size-gib 100 --iops 3000
  how long a volume lasts under a load
burstwatch explain FILE.csv
  what happened to a volume that you recorded
burstwatch help
  every command"""


@dataclass(frozen=True, kw_only=True)
class Terminal:
    """The parts of the world that a command may touch: its streams, environment and clock. ``stdin`` reads at most so many bytes.

    ``ask`` puts a question to whoever sits there; None where nobody does. ``typed`` are the words of the command line.
    """

    stdin: Callable[[int], bytes]
    stdout: TextIO
    stderr: TextIO
    env: Mapping[str, str]
    clock: Callable[[], float]
    ask: Callable[[str], str] | None = None
    typed: Sequence[str] = ()

    @property
    def columns(self) -> int | None:
        """How many columns its output may have; None on a pipe."""
        return columns_of(self.stdout, self.env)

    def say(self, text: str) -> None:
        """Print sentences on stdout, folded to fit."""
        lines = "\n".join(map(printable, text.split("\n")))
        print(folded(lines, self.columns), file=self.stdout, flush=True)

    def show_step(self, text: str) -> None:
        """Name what is waited for in one line of a terminal, in place of the last; an empty text removes that."""
        columns = columns_of(self.stderr, self.env)
        # A line that the terminal folds would be left behind.
        line = text if columns is None else cut(text, columns - 1)
        print(f"\r{line}\033[K", end="", file=self.stderr, flush=True)

    def tell_error(self, error: Exception) -> None:
        """Print an error in one line, in which no shell runs what was typed."""
        self.tell(_defused(_as_typed(error, self.typed), self.typed))

    def tell(self, text: str) -> None:
        """Print a line for people on stderr. Words that others chose, of files or of AWS, move no cursor."""
        columns = columns_of(self.stderr, self.env)
        line = folded(f"burstwatch: {printable(text)}", columns)
        print(line, file=self.stderr, flush=True)


class _WholeWords(argparse.HelpFormatter):
    """Help in which no flag is broken at a hyphen."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = self._split_lines(text, width - len(indent))
        return "\n".join(f"{indent}{line}" for line in lines)


class CommandParser(argparse.ArgumentParser):
    """A parser that raises its errors as ValueError with the nearest that is allowed, prints no usage, and takes no abbreviated flag.

    Only the parser of the commands can suggest a command with a flag.
    """

    takes_commands = False
    #: A call that people begin with, below the options in the help.
    example = ""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - as ArgumentParser
        super().__init__(allow_abbrev=False, formatter_class=_WholeWords, **options)

    def format_usage(self) -> str:
        """The arguments without their options, which the help lists below."""
        columns = _help_columns()
        return folded(f"usage: {self.prog} {' '.join(self._words_of_usage())}\n", columns)

    def _words_of_usage(self) -> Iterator[str]:
        yield "[OPTION ...]"
        for action in self._get_optional_actions():
            if action.required:
                yield f"{action.option_strings[0]} {action.metavar or action.dest.upper()}"
        for action in self._get_positional_actions():
            name = str(action.metavar or action.dest.upper())
            yield (
                f"[{name} ...]"
                if action.nargs == "*"
                else f"[{name}]"
                if action.nargs == "?"
                else name
            )

    def format_help(self) -> str:
        """The usage, what it does, its options, and an example."""
        self.usage = self.format_usage().removeprefix("usage: ").rstrip()
        columns = _help_columns()
        example = folded_command(f"  {self.example}", columns)
        return f"{super().format_help()}\nexample:\n{example}\n"

    def error(self, message: str) -> NoReturn:
        """Raise the message as ValueError."""
        raise ValueError(message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 - as ArgumentParser
        if action.choices is not None and value not in action.choices:
            names = [str(choice) for choice in action.choices]
            allowed = ", ".join(map(repr, names))
            successor = SUCCESSORS.get(str(value).lower().replace("_", "-"), "")
            command = successor.partition(" ")[0]
            suggestion = successor if self.takes_commands else command
            nearest = _suggested([suggestion]) if command in names else _nearest(str(value), names)
            msg = f"invalid choice: {value!r}{nearest} (choose from {allowed})"
            raise argparse.ArgumentError(action, msg)

    def flags(self) -> list[str]:
        """Every flag that it takes."""
        return [*self._option_string_actions]

    def actions(self) -> list[argparse.Action]:
        """Every argument that it takes, flags and others."""
        return [*self._actions]


def _help_columns() -> int:
    """How wide the help may be, as argparse finds it."""
    import shutil  # noqa: PLC0415 - of help alone

    return shutil.get_terminal_size().columns


class _Commands(CommandParser):
    """The parser above the commands: its help lists them in groups. ``by_name`` has the parsers of the commands that were imported."""

    takes_commands = True

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - as ArgumentParser
        super().__init__(**options)
        self.by_name: dict[str, CommandParser] = {}

    def format_help(self) -> str:
        """The commands by what they are for, each with one sentence."""
        columns = _help_columns()
        lines = [f"usage: {self.prog} COMMAND ...", "", str(self.description), ""]
        width = max(map(len, command_names())) + 4
        outlines = {name: outline_of(name) for name in command_names()}
        for group, title in GROUPS.items():
            lines += textwrap.wrap(f"{title}:", width=columns)
            for name, outline in outlines.items():
                if group == outline.group:
                    lines += textwrap.wrap(
                        outline.text,
                        width=columns,
                        initial_indent=f"  {name}".ljust(width),
                        subsequent_indent=" " * width,
                    )
            lines.append("")
        end = f"{self.prog} help COMMAND prints the options of a command."
        return "\n".join([*lines, *textwrap.wrap(end, width=columns)]) + "\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Outline:
    """What the help of all commands says of one: its first line, and its group of ``GROUPS``."""

    text: str
    group: str


def command_names() -> list[str]:
    """The commands that lie in ``commands/``, as they are typed."""
    return sorted(info.name.replace("_", "-") for info in iter_modules(commands.__path__))


def outline_of(command: str) -> Outline:
    """The outline of a command, read from its source: to import all of them takes ten times as long."""
    (folder,) = commands.__path__
    module = ast.parse(Path(folder, f"{command.replace('-', '_')}.py").read_text(encoding="utf-8"))
    (group,) = (
        ast.literal_eval(node.value)
        for node in module.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "GROUP"
    )
    text = (ast.get_docstring(module) or "").partition("\n")[0]
    return Outline(text=text, group=group)


def build_parser(only: str | None = None) -> _Commands:
    """The parser with every command that lies in ``commands/``; with ``only``, the others have their names alone.

    To import all of them takes longer than most commands.
    """
    parser = _Commands(prog="burstwatch", description="How long until burst credits run out.")
    parser.add_argument("--version", action="version", version=burstwatch.__version__)
    subparsers = parser.add_subparsers(metavar="COMMAND", parser_class=CommandParser)
    for name in command_names():
        if only not in {None, name}:
            subparsers.add_parser(name, add_help=False)
            continue
        command = _module(name)
        sub = subparsers.add_parser(name, description=(command.__doc__ or "").strip())
        command.add_arguments(sub)
        sub.example = command.EXAMPLE
        codes = getattr(command, "EXIT_CODES", EXIT_CODES)
        sub.epilog = f"{sub.epilog.rstrip('.')}. {codes}" if sub.epilog else codes
        parser.by_name[name] = sub
        sub.set_defaults(run=command.run, command=name)
    return parser


def _module(command: str) -> Any:  # noqa: ANN401 - a module
    return import_module(f"{commands.__name__}.{command.replace('-', '_')}")


def _nearest(text: str, names: Sequence[str]) -> str:
    """``, did you mean 'scan'?`` where something that is allowed is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for a slip of the finger

    return _suggested(get_close_matches(text.lower(), names, n=2, cutoff=0.7))


def _suggested(names: Sequence[str]) -> str:
    return f", did you mean {' or '.join(map(repr, names))}?" if names else ""


def _refuse(unknown: Sequence[str], flags: Sequence[str]) -> NoReturn:
    """Raise for arguments that no command takes, with the flag that the first of them is near."""
    is_flag = unknown[0].startswith("-")
    suggestion = _nearest(unknown[0].partition("=")[0], flags) if is_flag else ""
    msg = f"unrecognized arguments: {' '.join(unknown)}{suggestion}"
    raise ValueError(msg)


def run(
    args: Sequence[str],
    *,
    stdout: TextIO,
    stderr: TextIO,
    env: Mapping[str, str],
    clock: Callable[[], float],
    stdin: Callable[[int], bytes] = lambda _: b"",
    ask: Callable[[str], str] | None = None,
) -> int:
    """The whole program, with its world as arguments. Returns the exit code."""
    terminal = Terminal(
        stdin=stdin, stdout=stdout, stderr=stderr, env=env, clock=clock, ask=ask, typed=args
    )
    try:
        if not args:
            terminal.say(BEGIN)
            return OK
        commands_there_are = command_names()
        chosen = next((word for word in args if word in commands_there_are), "")
        parser = build_parser(chosen)
        parsed, unknown = parser.parse_known_args(args)
        if unknown:
            owner = parser.by_name[parsed.command] if hasattr(parsed, "run") else parser
            _refuse(unknown, owner.flags())
        if not hasattr(parsed, "run"):
            parser.error("COMMAND is missing, see burstwatch help")
        code: int = parsed.run(parsed, terminal)
    except BrokenPipeError:
        raise
    except (ValueError, OSError) as error:
        # Each of our own errors is a ValueError that already says what is allowed.
        terminal.tell_error(error)
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
        # A terminal without Unicode shows signs that it has in place of blocks.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=PLAIN_SIGNS)
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
    if threading.active_count() > 1:  # a call of AWS that hangs must not keep the process
        import logging  # noqa: PLC0415 - nearly no command logs

        logging.shutdown()
        os._exit(code)
    sys.exit(code)


def _plain_signs(error: UnicodeError) -> tuple[str, int]:
    """Signs of ASCII for those of a bar or a line of blocks; a question mark for any other."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(SIGNS.get(sign, "?") for sign in text), error.end


codecs.register_error(PLAIN_SIGNS, _plain_signs)


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def _ask(question: str) -> str:
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def _read_stdin(most: int) -> bytes:
    if sys.stdin is None:
        msg = "standard input is closed, so there is nothing to read"
        raise ValueError(msg)
    return sys.stdin.buffer.read(most)


def _as_typed(error: Exception, args: Sequence[str]) -> str:
    """The error in one line. A value that was given by a flag is named as that was typed."""
    text = describe(error)
    if not isinstance(error, InputError):
        return text
    flag = f"--{error.name.replace('_', '-')}"
    is_typed = any(arg.partition("=")[0] == flag for arg in args)
    return f"{flag}{text.removeprefix(error.name)}" if is_typed else text


def _defused(text: str, args: Sequence[str]) -> str:
    """The text, of which no shell runs what was typed: that may have been copied from a name that somebody else chose."""
    # Of several values in one word each is answered by itself.
    words = {
        part
        for arg in args
        for part in (arg, str(Path(arg)), arg.partition("=")[2], *re.split(r"[=,\s]+", arg))
    }
    hostile = [word for word in words if RUNS.search(word)]
    forms = {form for word in hostile for form in (word, repr(word)[1:-1], " ".join(word.split()))}
    for form in sorted({*forms, *map(str.lower, forms)}, key=len, reverse=True):
        text = text.replace(form, inert(form))
    return text


def describe(error: Exception) -> str:
    """The error in one line; of a file, its name and what is wrong with it."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror.lower()}"
    return " ".join(str(error).split()) or type(error).__name__


if __name__ == "__main__":
    main()
