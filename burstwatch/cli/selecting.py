"""Selects resources by what people type: an id, a name, a tag, and each of them with ``*`` and ``?``."""

from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from burstwatch.formatting import inert
from burstwatch.history.observations import Resource
from burstwatch.shards import thing_id


def add_selection_argument(parser: ArgumentParser) -> None:
    """The words that select resources."""
    parser.add_argument(
        "wanted",
        nargs="*",
        metavar="WHICH",
        help="ids, names or tags such as team=payments; * and ? stand for any characters (default: all)",
    )


def is_selected(resource: Resource, word: str) -> bool:
    """True if a word is the id, the name or a tag of a resource, in any case."""
    pattern = word.lower()
    key, has_value, value = pattern.partition("=")
    if has_value:
        return any(
            fnmatchcase(name.lower(), key) and fnmatchcase(text.lower(), value)
            for name, text in resource.tags.items()
        )
    called = {resource.id, thing_id(resource.id), resource.name}
    return any(fnmatchcase(text.lower(), pattern) for text in called if text)


def check_words(words: Sequence[str], resources: Iterable[Resource], *, place: str) -> None:
    """Refuse a word that nothing answers to, with the names that are near.

    Raises:
        ValueError: naming the word and the place that was looked at.
    """
    listed = list(resources)
    for word in words:
        if any(is_selected(resource, word) for resource in listed):
            continue
        names = {text for resource in listed for text in (resource.id, resource.name) if text}
        suggestions = get_close_matches(word, sorted(names), n=2, cutoff=0.6)
        hint = (
            f", did you mean {' or '.join(repr(inert(name)) for name in suggestions)}?"
            if suggestions
            else ""
        )
        msg = f"no resource {word!r} with credits in {place}{hint}"
        raise ValueError(msg)
