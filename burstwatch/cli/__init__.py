"""The command line: ``burstwatch COMMAND``. One file per command."""
