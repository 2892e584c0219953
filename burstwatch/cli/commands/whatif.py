"""Say how long a volume, or a resource of another kind, would last under a load."""

import math
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import asdict, fields

from burstwatch.cli.documents import as_document
from burstwatch.cli.main import Terminal
from burstwatch.cli.values import (
    add_kind_argument,
    kinds_of_type,
    percent,
    reader_of,
    size_gib,
)
from burstwatch.ebs.volume_types import CATALOGUE, find_type
from burstwatch.forecast.whatif import Answer, answer_for
from burstwatch.forecast.whatif_volume import Question, answer_for_volume
from burstwatch.formatting import InputError, number, span
from burstwatch.kinds import find_kinds
from burstwatch.kinds._disk import DEFAULT_IO_KIB, RATE_UNITS
from burstwatch.kinds.base import Kind
from burstwatch.kinds.ebs_volume import KIND as EBS_VOLUME

NUMBERS = {
    "iops": "operations per second",
    "io_kib": "KiB per operation (default 16 on SSD, 1024 on HDD)",
    "mib_s": "MiB per second",
    "instance_iops": "the most IOPS that the instance allows",
    "instance_mib_s": "the most MiB/s that the instance allows",
    "provisioned_iops": "gp3, io1, io2: provisioned IOPS",
    "provisioned_mib_s": "gp3: provisioned MiB/s",
}
TYPE_HELP = "gp2, st1, sc1, gp3, io1, io2 or standard; with --kind, an instance or storage type"
#: Options that describe a volume and its load.
OF_VOLUMES = frozenset({"type", *(field.name for field in fields(Question))} - {"volume_type"})


GROUP = "look"
EXAMPLE = "burstwatch whatif --type gp2 --size-gib 100 --iops 3000"


def add_arguments(parser: ArgumentParser) -> None:
    """The resource, its balance, and the load."""
    kinds = find_kinds()
    add_kind_argument(parser, "without it, an EBS volume")
    parser.add_argument("--type", type=str.lower, help=TYPE_HELP)
    parser.add_argument(
        "--size-gib",
        type=size_gib,
        metavar="SIZE",
        help="the size of the storage, such as 100 or 1TiB",
    )
    for name, text in NUMBERS.items():
        parser.add_argument(_flag(name), type=reader_of(name), metavar="NUMBER", help=text)
    for name, text in _of_other_kinds(kinds).items():
        parser.add_argument(_flag(name), metavar="VALUE", help=text)
    parser.add_argument(
        "--balance-percent",
        type=percent,
        default=100.0,
        metavar="PERCENT",
        help="how full the bucket is, default 100",
    )
    parser.add_argument(
        "--access",
        choices=["random", "sequential"],
        help="sequential I/O is merged (default: random on SSD, sequential on HDD)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: Namespace, terminal: Terminal) -> int:
    """Print the answer.

    Raises:
        ValueError: naming what is missing, not allowed or out of range.
    """
    allowed = {*OF_VOLUMES, *_of_other_kinds(find_kinds()), "balance_percent"}
    stated = {
        name: value for name, value in vars(args).items() if name in allowed and value is not None
    }
    kind = find_kinds()[args.kind] if args.kind else _kind_by_type(stated)
    answer, text = _of_volume(stated) if kind is EBS_VOLUME else _of_kind(kind, stated)
    balance = float(stated.get("balance_percent", 100.0))
    if 0 < balance < 1:
        hint = f"the balance is {balance:g} %; for {100 * balance:g} % give --balance-percent {100 * balance:g}"
        terminal.tell(hint)
    if args.json:
        body = {"kind": kind.name, **asdict(answer)}
        print(as_document("whatif", body, at=terminal.clock()), file=terminal.stdout)
    else:
        terminal.say(text)
    return 0


def _kind_by_type(stated: Mapping[str, object]) -> Kind:
    """The kind that has such a type and takes most of what else is stated; EBS volumes without a type."""
    names = stated.keys() - {"balance_percent"}  # which every kind takes
    type_name = str(stated.get("type", ""))
    if "." in type_name:  # an instance type
        # Where one option is wrong, the kind that takes the others names it.
        return max(kinds_of_type(type_name), key=lambda kind: len(names & _taken_by(kind)))
    of_database = find_kinds()["rds_storage"]
    if type_name in CATALOGUE and not names <= OF_VOLUMES and names <= _taken_by(of_database):
        return of_database
    return EBS_VOLUME


def _taken_by(kind: Kind) -> set[str]:
    return {*kind.example.spec, *kind.example.load}


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _of_other_kinds(kinds: Mapping[str, Kind]) -> dict[str, str]:
    """Map the options that only other kinds than EBS volumes have to their help."""
    common = {*NUMBERS, "type", "size_gib"}
    texts: dict[str, str] = {}
    having: dict[str, list[str]] = {}
    for kind in kinds.values():
        for name, text in {**kind.example.spec, **kind.example.load}.items():
            if name not in common:
                texts.setdefault(name, text)
                having.setdefault(name, []).append(kind.name)
    return {name: f"{text} ({', '.join(having[name])})" for name, text in texts.items()}


def _of_volume(stated: Mapping[str, object]) -> tuple[Answer, str]:
    """Answer for an EBS volume of the stated type and size, also in words."""
    if not stated.keys() >= {"type", "size_gib"}:
        msg = "whatif needs --type and --size-gib, or --kind"
        raise ValueError(msg)
    _check_allowed(stated, OF_VOLUMES, "an EBS volume")
    said = {name: value for name, value in stated.items() if name in OF_VOLUMES - {"type"}}
    question = Question(volume_type=str(stated["type"]), **said)  # type: ignore[arg-type]
    answer = answer_for_volume(question)
    return answer, "\n".join(_volume_words(question, answer))


def _of_kind(kind: Kind, stated: Mapping[str, object]) -> tuple[Answer, str]:
    """Answer for a resource of another kind, described in the terms of the kind's example, also in words."""
    example = kind.example
    _check_allowed(stated, {*example.spec, *example.load}, kind.name)
    spec = {name: str(stated[name]).removesuffix(".0") for name in example.spec if name in stated}
    load = {name: _number(name, stated[name]) for name in example.load if name in stated}
    balance = _number("balance_percent", stated["balance_percent"])
    try:
        answer = answer_for(kind, spec, load, balance_percent=balance)
    except InputError as error:
        msg = f"{_flag(error.name)} {error.problem}"
        raise ValueError(msg) from None
    return answer, "\n".join(_kind_words(kind, spec, load, answer))


def _check_allowed(stated: Mapping[str, object], allowed: AbstractSet[str], subject: str) -> None:
    for name in stated.keys() - allowed - {"balance_percent"}:
        flags = ", ".join(map(_flag, sorted(allowed)))
        msg = f"{_flag(name)} is not for {subject}; allowed: {flags}"
        raise ValueError(msg)


def _number(name: str, value: object) -> float:
    try:
        return reader_of(name)(str(value))
    except ArgumentTypeError as error:
        msg = f"{_flag(name)}: {error}"
        raise ValueError(msg) from None


def _volume_words(question: Question, answer: Answer) -> Iterator[str]:
    """Write the answer for a volume in sentences, with what was assumed."""
    unit = RATE_UNITS[find_type(question.volume_type).unit]
    # Why a volume of a type with credits has none is a matter of its size, so that reason has both.
    is_named = answer.capacity is None and find_type(question.volume_type).credits is not None
    subject = "" if is_named else f"{question.volume_type} of {question.size_gib:g} GiB: "
    yield from _beginning(subject, answer)
    yield f"baseline {_rate(answer.baseline)} {unit}, burst {_rate(answer.burst)} {unit}"
    yield (
        f"served {_rate(answer.served_iops)} IOPS, {_rate(answer.served_mib_s)} MiB/s"
        f"{_limited_by(answer.binding)}"
    )
    assumed = list(_assumed(question, answer))
    if assumed:
        yield f"assumed: {', '.join(assumed)}"
    if answer.capacity is not None:
        yield _refill(answer)


def _assumed(question: Question, answer: Answer) -> Iterator[str]:
    """What a question about a volume left open, as it was answered."""
    if not question.io_kib and not (question.mib_s and question.iops):
        yield f"{answer.io_kib:g} KiB per operation"
    if not question.access:
        yield f"{answer.access} access"
    if question.volume_type in {"io1", "io2"} and not question.provisioned_iops:
        yield f"{answer.baseline:g} provisioned IOPS, the most for this size"
    if question.volume_type == "gp3" and not question.provisioned_iops:
        yield f"{answer.baseline:g} provisioned IOPS, which every volume of this type has"


def _kind_words(
    kind: Kind, spec: Mapping[str, str], load: Mapping[str, float], answer: Answer
) -> Iterator[str]:
    """Write the answer for another kind in sentences, with what was assumed."""
    yield from _beginning(f"{kind.name} {' '.join(spec.values())}: ", answer)
    if "io_kib" in kind.example.load and "io_kib" not in load and len(load) == 1:
        yield f"assumed: {DEFAULT_IO_KIB:g} KiB per operation"
    if answer.capacity is None:
        return
    plural = {"io": "I/O credits", "MiB": "MiB"}.get(answer.credit_unit, "credits")
    estimate = ", by estimate" if answer.is_estimate else ""
    yield f"the bucket holds {answer.capacity:,.0f} {plural}{estimate}"
    yield _refill(answer)
    defaults = {name: value for name, value in kind.example.defaults.items() if name not in spec}
    if defaults:
        texts = (f"{value} {name} ({_flag(name)})" for name, value in defaults.items())
        yield f"assumed: {', '.join(texts)}"


def _beginning(subject: str, answer: Answer) -> list[str]:
    """The answer, and of what it is one. Without a bucket that is known there is only the reason."""
    about = f"{subject}{answer.reason}"
    return [about] if answer.capacity is None else [_answer_words(answer), about]


def _rate(value: float | None) -> str:
    return "unknown" if value is None else number(value)


def _limited_by(binding: str) -> str:
    """Name the limit that is reached, as an end of a line; nothing where none is."""
    limit = EBS_VOLUME.limits.get(binding, "")
    return f" (limited by {limit})" if limit else ""


def _answer_words(answer: Answer) -> str:
    """The time first: when it runs out, when at worst, and what is left after that."""
    if answer.time_to_empty_s == 0:
        return f"has run out: {answer.at_zero}"
    if answer.worst_s == 0:
        return "empty now, and it does not run out again at this load"
    if answer.time_to_empty_s is None:
        at_most = (
            ""
            if answer.worst_s is None
            else f"; at the highest load it would in {span(answer.worst_s)}"
        )
        return f"does not run out at this load{at_most}"
    likely = span(answer.time_to_empty_s)
    is_worse = answer.worst_s is not None and span(answer.worst_s) != likely
    at_worst = f", at worst in {span(answer.worst_s)}" if is_worse else ""
    return f"runs out in {likely}{at_worst}; then {answer.at_zero}"


def _refill(answer: Answer) -> str:
    """How long the bucket takes to be full again, under the load and without any."""
    empty = f"from empty, it is full after {_never(answer.refill_from_empty_s)} without load"
    return f"{_when('full', answer.time_to_full_s)}; {empty}"


def _when(state: str, seconds: float | None) -> str:
    if seconds == 0:
        return f"{state} now"
    return f"never {state} at this load" if seconds is None else f"{state} in {span(seconds)}"


def _never(seconds: float | None) -> str:
    return span(math.inf if seconds is None else seconds)
