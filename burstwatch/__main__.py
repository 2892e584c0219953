"""Runs the command line: ``python -m burstwatch``."""

from burstwatch.cli.main import main

main()
