"""One file per command: a docstring, ``add_arguments(parser)`` and ``run(args, terminal)``."""
