"""The only package that imports boto3, which the extra ``aws`` installs."""


class ExtraMissingError(ValueError):
    """The ``aws`` extra is not installed."""
