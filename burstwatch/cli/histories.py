"""Reads the past of every resource of a region: says the cost first, shows progress, and goes on after a stop."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from burstwatch.backtest.replay import Recorded
from burstwatch.bucket import DAY_S
from burstwatch.cli.main import Terminal
from burstwatch.cli.output import to_json
from burstwatch.cli.progress import track
from burstwatch.ebs.watching_prices import usd_of
from burstwatch.history.observations import Resource
from burstwatch.kinds.base import Kind

if TYPE_CHECKING:  # boto3 takes long to import
    from burstwatch.aws.client.session import Clients

#: One resource, as a command has judged it and keeps it.
KeptRecord: TypeAlias = dict[str, Any]

KEEP_HELP = "save the answers in this file; if it is interrupted, the same command goes on from there, for a day"


@dataclass(frozen=True, kw_only=True, slots=True)
class PastQuestion:
    """A question about ``days`` of the past.

    ``command`` names it in errors, ``terms`` are what a kept record must have been asked, ``fields`` what it must have.
    ``keep`` is the file of kept records, or None. ``asks_extras`` is whether AWS's checks of limits and its charges are asked for as well.
    """

    command: str
    days: float
    terms: Mapping[str, object]
    fields: frozenset[str]
    keep: str | None
    asks_extras: bool = True


def records_of_region(
    clients: "Clients",
    kinds: Sequence[Kind],
    question: PastQuestion,
    make_record: Callable[[Recorded], KeptRecord],
    terminal: Terminal,
    problems: list[str],
    *,
    tag: tuple[str, str] | None = None,
    is_wanted: Callable[[Resource], bool] = lambda _: True,
) -> list[KeptRecord]:
    """A record for each resource of one region; what fails goes into ``problems``, and what is kept is not requested.

    Raises:
        ValueError: if the file of kept records is none.
        AwsError: if nothing can be asked.
    """
    from burstwatch.aws.look.fleet_history import list_subjects, read_histories  # noqa: PLC0415

    unit, now = str(clients.unit()), terminal.clock()
    terms = {"days": question.days, **question.terms}
    fleet = list_subjects(clients, kinds, now=now, tag=tag, asks_extras=question.asks_extras)
    problems += [f"{unit}: {problem.part}: {problem.error}" for problem in fleet.problems]
    subjects = [subject for subject in fleet.subjects if is_wanted(subject.buckets[0])]
    keys = {subject.key for subject in subjects}
    kept = {
        record["key"]: record
        for record in read_kept(question)
        if record["key"] in keys
        and record["unit"] == unit
        and record["question"] == terms
        and now - record["at_s"] < DAY_S
    }
    todo = [subject for subject in subjects if subject.key not in kept]
    metrics = sum(len(subject.queries) for subject in todo)
    terminal.tell(
        f"{unit}: asks CloudWatch for {metrics:,} metrics of {len(todo):,} resources over {question.days:g} days, "
        f"{usd_of('metric_request', metrics):.2f} USD"
    )
    histories = read_histories(clients, todo, now=now, back_s=question.days * DAY_S)
    shown = track(histories, total=len(todo), label="resources", stderr=terminal.stderr)
    records = [*kept.values()]
    for subject, recorded in shown:
        if isinstance(recorded, str):
            problems.append(f"{unit}: {subject.key}: {recorded}")
            continue
        record = make_record(recorded)
        _keep(question.keep, {"key": subject.key, "question": terms, "at_s": now, **record})
        records.append(record)
    return records


def read_kept(question: PastQuestion) -> list[KeptRecord]:
    """The records that an earlier run kept.

    Raises:
        ValueError: if the file is no such file.
    """
    path = question.keep
    if path is None or not Path(path).exists():
        return []
    kept: list[KeptRecord] = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), start=1):
        try:
            record = json.loads(line)
            if not record.keys() >= {"key", "unit", "question", "at_s", *question.fields}:
                raise ValueError  # noqa: TRY301 - one message for both
        except (AttributeError, ValueError):
            msg = f"{path}:{number} is no record that {question.command} has kept: choose another file"
            raise ValueError(msg) from None
        kept.append(record)
    return kept


def _keep(path: str | None, record: KeptRecord) -> None:
    """Append one record in a single write: a stop between two leaves whole lines."""
    if path is not None:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{to_json(record)}\n")
