"""Starts the exporter, or says which extra it needs: ``python -m burstwatch_exporter``."""

import sys
from typing import NoReturn

from burstwatch import installing


def main() -> NoReturn:
    """Run the program."""
    try:
        from burstwatch_exporter.main import main as run  # noqa: PLC0415 - its packages are an extra
    except ModuleNotFoundError as error:
        print(
            f"burstwatch-exporter: {error.name} is not installed, it needs: {installing('exporter')}",
            file=sys.stderr,
        )
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
