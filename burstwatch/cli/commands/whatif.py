"""Say how long a volume, or a resource of another kind, would last under a load."""

import math
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
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
from burstwatch.forecast.whatif import Prediction, Question, answer
from burstwatch.forecast.whatif_kind import KindAnswer, answer_for
from burstwatch.formatting import number, span
from burstwatch.kinds import find_kinds
from burstwatch.kinds._disk import DEFAULT_IO_KIB
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
#: The kinds whose types begin so. Those of DocumentDB and Neptune are those of RDS, and need --kind.
#: Options that describe a volume and its load.
OF_VOLUMES = frozenset({"type", *(field.name for field in fields(Question))} - {"volume_type"})


GROUP = "look"


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
        parser.add_argument(_flag(name), help=text)
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
    if kind.name == EBS_VOLUME.name:
        text = _of_volume(stated, as_json=args.json, at=terminal.clock())
    else:
        text = _of_kind(kind, stated, as_json=args.json, at=terminal.clock())
    balance = float(stated.get("balance_percent", 100.0))
    if 0 < balance < 1:
        hint = f"the balance is {balance:g} %; for {100 * balance:g} % give --balance-percent {100 * balance:g}"
        print(f"burstwatch: {hint}", file=terminal.stderr)
    print(text, file=terminal.stdout)
    return 0


def _kind_by_type(stated: Mapping[str, object]) -> Kind:
    """The kind that has such a type and everything else that is stated; without one, EBS volumes."""
    names = stated.keys() - {"balance_percent"}
    type_name, kinds = str(stated.get("type", "")), find_kinds()
    if type_name in CATALOGUE:
        of_database = kinds["rds_storage"]
        is_volume = names <= OF_VOLUMES or not names <= _taken_by(of_database)
        return EBS_VOLUME if is_volume else of_database
    if "." not in type_name:
        return EBS_VOLUME
    # Where one option is wrong, the kind that takes the others names it.
    return max(kinds_of_type(type_name), key=lambda kind: len(names & _taken_by(kind)))


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


def _of_volume(stated: Mapping[str, object], *, as_json: bool, at: float) -> str:
    """Answer for an EBS volume of the stated type and size."""
    if not stated.keys() >= {"type", "size_gib"}:
        msg = "whatif needs --type and --size-gib, or --kind"
        raise ValueError(msg)
    _check_allowed(stated, OF_VOLUMES, "an EBS volume")
    said = {name: value for name, value in stated.items() if name in OF_VOLUMES - {"type"}}
    question = Question(volume_type=str(stated["type"]), **said)  # type: ignore[arg-type]
    result = answer(question)
    return _json(EBS_VOLUME, result, at=at) if as_json else _words(question, result)


def _json(kind: Kind, result: Prediction | KindAnswer, *, at: float) -> str:
    """Write the answer as a document: its worst case and its unit have the names that all documents use."""
    body = asdict(result)
    body["worst_s"] = body.pop("worst_time_to_empty_s")
    body["credit_unit"] = body.pop("unit")
    return as_document("whatif", {"kind": kind.name, **body}, at=at)


def _of_kind(kind: Kind, stated: Mapping[str, object], *, as_json: bool, at: float) -> str:
    """Answer for a resource of another kind, described in the terms of the kind's example."""
    example = kind.example
    _check_allowed(stated, {*example.spec, *example.load}, kind.name)
    spec = {name: str(stated[name]).removesuffix(".0") for name in example.spec if name in stated}
    load = {name: _number(name, stated[name]) for name in example.load if name in stated}
    balance = _number("balance_percent", stated["balance_percent"])
    result = answer_for(kind, spec, load, balance_percent=balance)
    if as_json:
        return _json(kind, result, at=at)
    lines = _kind_words(f"{kind.name} {' '.join(spec.values())}", result)
    if "io_kib" in example.load and "io_kib" not in load and len(load) == 1:
        lines.insert(2, f"assumed: {DEFAULT_IO_KIB:g} KiB per operation")
    assumed = [
        f"{default} {name} ({_flag(name)})"
        for name, default in example.defaults.items()
        if name not in spec
    ]
    if assumed and result.capacity is not None:
        lines.append(f"assumed: {', '.join(assumed)}")
    return "\n".join(lines)


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


def _words(question: Question, result: Prediction) -> str:
    """Write the prediction for a volume in sentences, with what was assumed."""
    unit = "IOPS" if result.unit == "io" else "MiB/s"
    served = f"{number(result.served_iops_when_empty)} IOPS, {number(result.served_mib_s_when_empty)} MiB/s"
    # Why a volume of a type with credits has none is a matter of its size, so that reason has both.
    is_named = result.capacity is None and find_type(question.volume_type).credits is not None
    subject = "" if is_named else f"{question.volume_type} of {question.size_gib:g} GiB: "
    lines = [
        *_beginning(subject, result, after=served),
        f"baseline {number(result.baseline)} {unit}, burst {number(result.burst)} {unit}",
        f"served {number(result.served_iops)} IOPS, {number(result.served_mib_s)} MiB/s{_limited_by(result.binding)}",
    ]
    assumed = []
    if not question.io_kib and not (question.mib_s and question.iops):
        assumed.append(f"{result.io_kib:g} KiB per operation")
    if not question.access:
        assumed.append(f"{result.access} access")
    if question.volume_type in {"io1", "io2"} and not question.provisioned_iops:
        assumed.append(f"{result.baseline:g} provisioned IOPS, the most for this size")
    if question.volume_type == "gp3" and not question.provisioned_iops:
        assumed.append(f"{result.baseline:g} provisioned IOPS, which every volume of this type has")
    if assumed:
        lines.append(f"assumed: {', '.join(assumed)}")
    if result.capacity is not None:
        lines.append(_refill(result))
    return "\n".join(lines)


def _kind_words(subject: str, result: KindAnswer) -> list[str]:
    """Write the prediction for another kind in sentences."""
    estimate = ", by estimate" if result.is_estimate else ""
    lines = _beginning(f"{subject}: ", result, after=result.at_zero)
    if result.capacity is not None:
        plural = {"io": "I/O credits", "MiB": "MiB"}.get(result.unit, "credits")
        lines += [
            f"the bucket holds {result.capacity:,.0f} {plural}{estimate}",
            _refill(result),
        ]
    return lines


def _beginning(subject: str, result: Prediction | KindAnswer, *, after: str) -> list[str]:
    """The answer, and of what it is one. Without a bucket that is known there is only the reason."""
    about = f"{subject}{result.reason}"
    return [about] if result.capacity is None else [_answer(result, after), about]


def _limited_by(binding: str) -> str:
    """Name the limit that is reached, as an end of a line; nothing where none is."""
    limit = EBS_VOLUME.limits.get(binding, "")
    return f" (limited by {limit})" if limit else ""


def _answer(result: Prediction | KindAnswer, after: str) -> str:
    """The time first: when it runs out, when at worst, and what is left after that."""
    if result.time_to_empty_s == 0:
        return f"has run out: {after}"
    worst_s = result.worst_time_to_empty_s
    if worst_s == 0:
        return "empty now, and it does not run out again at this load"
    if result.time_to_empty_s is None:
        at_most = "" if worst_s is None else f"; at the highest load it would in {span(worst_s)}"
        return f"does not run out at this load{at_most}"
    likely = span(result.time_to_empty_s)
    at_worst = (
        "" if worst_s is None or span(worst_s) == likely else f", at worst in {span(worst_s)}"
    )
    return f"runs out in {likely}{at_worst}; then {after}"


def _refill(result: Prediction | KindAnswer) -> str:
    """How long the bucket takes to be full again, under the load and without any."""
    empty = f"from empty, it is full after {_never(result.refill_from_empty_s)} without load"
    return f"{_when('full', result.time_to_full_s)}; {empty}"


def _when(state: str, seconds: float | None) -> str:
    if seconds == 0:
        return f"{state} now"
    return f"never {state} at this load" if seconds is None else f"{state} in {span(seconds)}"


def _never(seconds: float | None) -> str:
    return span(math.inf if seconds is None else seconds)
