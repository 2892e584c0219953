"""Tells how long until the burst credits of an AWS resource run out."""

__version__ = "0.1.0"


def installing(extras: str) -> str:
    """The command that adds optional packages, such as ``aws,terminal``, to this installation.

    An installation from a folder, a file or a repository is named by that: an index may not have
    the project, or may have another of its name.
    """
    import sys  # noqa: PLC0415 - the functions start with this module and never get here

    return f"{sys.executable} -m pip install 'burstwatch[{extras}]{_origin()}'"


def _origin() -> str:
    """Where it was installed from, as a requirement says it; nothing for an index."""
    import json  # noqa: PLC0415
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415
    from urllib.parse import unquote, urlparse  # noqa: PLC0415

    try:
        text = distribution("burstwatch").read_text("direct_url.json")
    except PackageNotFoundError:  # it runs from a folder
        return f" @ {Path(__file__).parents[1].as_uri()}"
    if text is None:
        return ""
    record = json.loads(text)
    url, vcs = record.get("url", ""), record.get("vcs_info", {}).get("vcs")
    if url.startswith("file:") and not Path(unquote(urlparse(url).path)).exists():
        return " @ WHERE-YOU-GOT-IT"
    return f" @ {vcs}+{url}" if vcs else f" @ {url}"
