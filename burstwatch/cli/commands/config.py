"""Show every setting with its value, its default and what it means."""

from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from burstwatch.cli.documents import as_document
from burstwatch.cli.main import Terminal
from burstwatch.config import ENV_PREFIX, SETTINGS, config_from_env
from burstwatch.formatting import table
from burstwatch.kinds import find_kinds

GROUP = "deployment"


def add_arguments(parser: ArgumentParser) -> None:
    """The form of output."""
    parser.add_argument("--json", action="store_true", help="one object for machines")


def run(args: Namespace, terminal: Terminal) -> int:
    """Check the environment's settings and print them all."""
    config = config_from_env(terminal.env)
    find_kinds(config.kinds)  # names the kinds that there are not
    if args.json:
        body = {"settings": asdict(config)}
        print(as_document("settings", body, at=terminal.clock()), file=terminal.stdout)
        return 0
    rows = [
        (
            ENV_PREFIX + setting.name.upper(),
            _text(getattr(config, setting.name)),
            _text(setting.default),
            setting.help,
        )
        for setting in SETTINGS
    ]
    print(table(("setting", "value", "default", "meaning"), rows), file=terminal.stdout)
    return 0


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value) or "-"
