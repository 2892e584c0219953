"""One target under atheris, which guides its inputs by the code that they reach."""

import logging
import sys

import atheris  # type: ignore[import-untyped, import-not-found, unused-ignore]

with atheris.instrument_imports(include=["burstwatch", "burstwatch_exporter"]):
    from tests.fuzz.targets import TARGETS


def main() -> None:
    """``name`` and the flags of libFuzzer."""
    logging.disable()
    name = sys.argv.pop(1)
    atheris.Setup(sys.argv, TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
