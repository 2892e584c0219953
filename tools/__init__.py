"""Writers of generated files: run by make gen."""
