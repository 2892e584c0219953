"""An error that names the value that was given."""

import pickle

from burstwatch.formatting import InputError


def test_it_is_the_same_after_it_has_come_from_another_process() -> None:
    problem = "must be 0 or more, got -1"
    error = pickle.loads(pickle.dumps(InputError(problem, name="size_gib")))  # noqa: S301 - our own
    assert (str(error), error.name) == ("size_gib must be 0 or more, got -1", "size_gib")
