"""Writes the completion of a shell from the parsers: the commands, their flags, and the values of those that have a list."""

import re
from argparse import Action
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from zoneinfo import available_timezones

from burstwatch.cli.commands.scan import FAILING
from burstwatch.cli.main import CommandParser, build_parser, outline_of
from burstwatch.config import SETTINGS
from burstwatch.ebs.volume_types import CATALOGUE
from burstwatch.kinds import find_kinds

#: Metavars of arguments that are files.
FILE_MARKS = ("FILE", "PATH")
#: A longer list of values stands once in a script.
SHORT_LIST = 20
#: The name of a profile that no shell takes for something else.
PLAIN = re.compile(r"[\w.@+-]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Flag:
    """One flag: its spellings, its help, whether a value follows, and the values if they are known.

    ``is_list`` says that several of them may follow one another with commas between.
    """

    names: tuple[str, ...]
    text: str
    takes_value: bool
    values: tuple[str, ...]
    is_file: bool
    is_list: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Completed:
    """One command: its help, its flags, and the values of its positional argument."""

    text: str
    flags: tuple[Flag, ...]
    values: tuple[str, ...]


def completion_of(shell: str) -> str:
    """The script for ``bash``, ``zsh`` or ``fish``.

    Raises:
        KeyError: for another shell.
    """
    parser = build_parser()
    commands = {
        name: _completed(outline_of(name).text, command) for name, command in parser.by_name.items()
    }
    return SHELLS[shell](commands)


def _completed(text: str, parser: CommandParser) -> Completed:
    flags, values = [], tuple[str, ...]()
    for action in parser.actions():
        if action.option_strings:
            flags.append(_flag(action))
        elif action.choices:
            values = tuple(map(str, action.choices))
    return Completed(text=text, flags=tuple(flags), values=values)


def _flag(action: Action) -> Flag:
    text = (action.help or "").replace("%%", "%").split("(default")[0].strip(" ;,")
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    return Flag(
        names=tuple(action.option_strings),
        text=text,
        takes_value=action.nargs != 0,
        values=_values(action),
        is_file=metavar.startswith(FILE_MARKS),
        is_list=metavar.endswith(",..."),
    )


def _values(action: Action) -> tuple[str, ...]:
    if action.choices:
        return tuple(map(str, action.choices))
    names = NAMES.get(action.dest)
    return names() if names else ()


@cache
def _of_account() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The regions that boto3 knows and the profiles of this machine."""
    from burstwatch.aws.client.session import configured_names  # noqa: PLC0415 - boto3 takes long to import

    regions, profiles = configured_names()
    return regions, tuple(name for name in profiles if PLAIN.fullmatch(name))


#: The values of arguments that argparse does not know, each asked for once: the script is made as a shell starts.
NAMES: Mapping[str, Callable[[], tuple[str, ...]]] = {
    "kind": lambda: tuple(find_kinds()),
    "type": lambda: tuple(CATALOGUE),
    "fail_on": lambda: FAILING,
    "set": lambda: tuple(f"{setting.name}=" for setting in SETTINGS),
    "region": lambda: _of_account()[0],
    "profile": lambda: _of_account()[1],
    "timezone": cache(lambda: tuple(sorted(available_timezones()))),
}


def _bash(commands: Mapping[str, Completed]) -> str:
    """Bash takes words; where none is known it completes files. Also Bash 3.2, which macOS has."""
    return "\n".join(_bash_lines(commands)) + "\n"


def _bash_lines(commands: Mapping[str, Completed]) -> Iterator[str]:
    yield "_burstwatch() {"
    yield '  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"'
    yield '  local words="" flags="" first="" command="${COMP_WORDS[1]}"'
    lists = _long_lists(commands)
    for values, name in lists.items():
        yield f'  local {name}="{" ".join(values)}"'
    yield "  COMPREPLY=()"
    # Bash takes the sign in --type=gp2 for a word of its own.
    yield '  if [ "$current" = "=" ]; then current=""'
    yield '  elif [ "$before" = "=" ]; then before="${COMP_WORDS[COMP_CWORD-2]}"; fi'
    yield '  if [ "$COMP_CWORD" -eq 1 ]; then'
    yield f'    COMPREPLY=($(compgen -W "{" ".join(commands)}" -- "$current"))'
    yield "    return"
    yield "  fi"
    yield '  case "$command $before" in'
    for name, command in commands.items():
        for flag in command.flags:
            if not flag.takes_value:
                continue
            pattern = " | ".join(f'"{name} {spelling}"' for spelling in flag.names)
            yield f"    {pattern}) {_bash_words(flag, lists)} ;;"
    yield "    *) case $command in"
    for name, command in commands.items():
        flags = " ".join(spelling for flag in command.flags for spelling in flag.names)
        yield f'      {name}) flags="{flags}" words="{" ".join(command.values)}" ;;'
    yield "    esac ;;"
    yield "  esac"
    yield "  [[ $current == -* ]] && words=$flags"
    yield '  COMPREPLY=($(compgen -P "$first" -W "$words" -- "$current"))'
    yield "}"
    # Without a word that fits, the names of files.
    yield "complete -o default -F _burstwatch burstwatch"


def _long_lists(commands: Mapping[str, Completed]) -> dict[tuple[str, ...], str]:
    """Each long list of values, which several commands take, with the name of its variable."""
    values = (flag.values for command in commands.values() for flag in command.flags)
    long = dict.fromkeys(value for value in values if len(value) > SHORT_LIST)
    return {value: f"list{n}" for n, value in enumerate(long)}


def _bash_words(flag: Flag, lists: Mapping[tuple[str, ...], str]) -> str:
    """What completes the value of a flag; of a list, its last part."""
    if not flag.values:
        return "return"
    words = f"${lists[flag.values]}" if flag.values in lists else " ".join(flag.values)
    last = '; [[ $current == *,* ]] && first="${current%,*}," && current="${current##*,}"'
    return f'words="{words}"{last if flag.is_list else ""}'


def _zsh(commands: Mapping[str, Completed]) -> str:
    return "\n".join(_zsh_lines(commands)) + "\n"


def _zsh_lines(commands: Mapping[str, Completed]) -> Iterator[str]:
    yield "#compdef burstwatch"
    yield "_burstwatch() {"
    yield "  local -a commands"
    yield "  commands=("
    for name, command in commands.items():
        yield f"    {_quoted(f'{name}:{_zsh_text(command.text)}')}"
    yield "  )"
    yield "  if (( CURRENT == 2 )); then _describe command commands; return; fi"
    yield "  local command=$words[2]"
    yield "  shift words; (( CURRENT-- ))"
    yield "  case $command in"
    for name, command in commands.items():
        specs = [_quoted(spec) for flag in command.flags for spec in _zsh_specs(flag)]
        words = f"*:value:({' '.join(command.values)})" if command.values else "*:file:_files"
        yield f"    {name}) _arguments {' '.join([*specs, _quoted(words)])} ;;"
    yield "  esac"
    yield "}"
    yield 'if [ "$funcstack[1]" = "_burstwatch" ]; then _burstwatch "$@"; else compdef _burstwatch burstwatch; fi'


def _zsh_specs(flag: Flag) -> Iterator[str]:
    for spelling in flag.names:
        # With the sign, zsh takes both --type gp2 and --type=gp2.
        sign = "=" if flag.takes_value and spelling.startswith("--") else ""
        text = f"{spelling}{sign}[{_zsh_text(flag.text)}]"
        if not flag.takes_value:
            yield text
        elif flag.values:
            yield f"{text}:value:({' '.join(flag.values)})"
        else:
            yield f"{text}:value:{'_files' if flag.is_file else ' '}"


def _zsh_text(text: str) -> str:
    """The text without the signs that separate the parts of a specification."""
    return text.translate(str.maketrans("[]:\n", "(), "))


def _fish(commands: Mapping[str, Completed]) -> str:
    return "\n".join(_fish_lines(commands)) + "\n"


def _fish_lines(commands: Mapping[str, Completed]) -> Iterator[str]:
    for name, command in commands.items():
        text = _quoted(command.text)
        yield f"complete -c burstwatch -f -n __fish_use_subcommand -a {name} -d {text}"
    for name, command in commands.items():
        condition = f"complete -c burstwatch -n '__fish_seen_subcommand_from {name}'"
        if command.values:
            yield f"{condition} -f -a {_quoted(' '.join(command.values))}"
        for flag in command.flags:
            yield f"{condition} {_fish_flag(flag)}"


def _fish_flag(flag: Flag) -> str:
    names = " ".join(
        f"-l {spelling[2:]}" if spelling.startswith("--") else f"-s {spelling[1:]}"
        for spelling in flag.names
    )
    takes = ""
    if flag.values:
        takes = f" -x -a {_quoted(' '.join(flag.values))}"
    elif flag.takes_value:
        takes = " -r" if flag.is_file else " -x"
    return f"{names}{takes} -d {_quoted(flag.text)}"


def _quoted(text: str) -> str:
    """The text in single quotes, as bash, zsh and fish read them."""
    return "'" + text.replace("\\", "").replace("'", "’") + "'"  # noqa: RUF001 - an apostrophe ends no quote


SHELLS: Mapping[str, Callable[[Mapping[str, Completed]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
