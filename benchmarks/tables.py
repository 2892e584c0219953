"""Writes the figures of README and docs from what the benchmarks measured: `python -m benchmarks.tables`, after they ran."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.record import RESULTS
from burstwatch.backtest.scores import draw_scores
from tools.reference import DOCS, ROOT, markdown_table, with_parts

CENTS = 100
#: The row of the backtest in which a whole family of recordings was held out of the fit.
UNSEEN = "burstwatch, family left out"
#: The rules that the README shows, by the name that people give them.
RULES = {
    "burstwatch": "**burstwatch**",
    "static 50 %": "alarm at `BurstBalance` < 50%",
    "static 20 %": "alarm at `BurstBalance` < 20%",
    "predict_linear 240 min": "straight line (Prometheus `predict_linear`), four hours ahead",
}
#: The rules of the pictures.
DRAWN = (
    "oracle", "burstwatch", "guarantee", "R8", "R", "naive 30 min",
    "predict_linear 60 min", "predict_linear 240 min", "static 20 %", "static 40 %", "static 50 %",
)  # fmt: skip
WATCHING = {
    "deadline": "by the worst case, each page at the margin (`page_on=worst`)",
    "deadline, likely": "the same looks, paged when it is likely (`page_on=likely`, the default)",
    "fixed 5 min": "fixed five minutes: balance, read and write operations",
}
FAMILIES, VIEWS = ("servers", "vm", "made-up"), ("fresh", "stale")
Record = Mapping[str, Any]


def _record(name: str) -> Any:  # noqa: ANN401 - as the benchmark wrote it
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def _bill() -> Mapping[str, Sequence[Record]]:
    (month,) = (month for month in _record("month") if month["policy"] == "deadline, likely")
    bill: Mapping[str, Sequence[Record]] = month["bill"]
    return bill


def _cents(lines: Sequence[Record], size: str, price: str) -> float:
    usd: float = sum(line[price] for line in lines)
    return CENTS * usd / int(size)


def bill_sentence() -> str:
    """The whole of a month's bill in one sentence."""
    totals = [
        f"{_cents(lines, size, 'usd'):.1f} cents in a fleet of {int(size):,} volumes "
        f"({_cents(lines, size, 'paid_usd'):.1f} with AWS's free tier)"
        for size, lines in _bill().items()
    ]
    return f"The full cost for each volume and month is {', and '.join(totals)}.\n"


def bill_table() -> str:
    """Every line of a month's bill, with its share, for fleets of several sizes."""
    bill = _bill()
    rows: list[list[str]] = [[line["line"]] for line in next(iter(bill.values()))]
    rows += [["**all, a volume-month**"], ["**after AWS's free tier**"]]
    for size, lines in bill.items():
        cents = [CENTS * line["usd"] / int(size) for line in lines]
        cents += [_cents(lines, size, "usd"), _cents(lines, size, "paid_usd")]
        for row, value in zip(rows, cents, strict=True):
            row += [f"{value:.2f}", f"{value / cents[-2]:.0%}"]
    sizes = " | ".join(f"cents at {int(size):,} volumes | share" for size in bill)
    return markdown_table(f"line | {sizes}", rows)


def month_table() -> str:
    """A month of a mixed fleet under each way of watching it."""
    rows = [
        (
            WATCHING[month["policy"]], f"{month['billed_metrics'] / month['volumes']:,.0f}",
            f"{CENTS * month['usd_per_volume_month']:.2f}", f"{month['share_of_fixed']:.2f}",
            str(month["dry"]), str(month["late"]),
        )
        for month in _record("month")
    ]  # fmt: skip
    return markdown_table(
        "watched | metrics a volume-month | cents a volume-month | of fixed | ran out | late", rows
    )


def rules_table() -> str:
    """How well burstwatch pages beside what people alarm on, on servers and data that comes late."""
    policies = _record("backtest-servers-stale")["policies"]
    rows = [
        (
            text,
            f"{policies[name]['announced']:.0%}",
            f"{policies[name]['precision']:.0%}",
            f"{policies[name]['needless_per_week']:.1f}",
        )
        for name, text in RULES.items()
    ]
    table = markdown_table("rule | announced | right | false pages a week and volume", rows)
    return f"{table}\n{policies['burstwatch']['events']} buckets ran out in these recordings.\n"


def families_table() -> str:
    """Our own policy on families and on machines that it was not fitted on, beside R8."""
    rows = []
    for family, view in product(FAMILIES, VIEWS):
        policies = _record(f"backtest-{family}-{view}")["policies"]
        of_machine = "-" if family == "made-up" else _three(policies["burstwatch"])
        rows.append(
            (
                _in_words(family), view, str(policies["R8"]["events"]),
                _three(policies[UNSEEN]), of_machine, _three(policies["R8"]),
            )
        )  # fmt: skip
    return markdown_table(
        "recordings | data | run-outs | family held out: announced, paged in time, false pages/week | machine held out | R8",
        rows,
    )


def equal_share_table() -> str:
    """The false pages of each rule at the share announced of ours, or at the best that it reaches."""
    groups = ("static", "predict_linear", "R8", "R", "guarantee")
    rows = []
    for family, view in product(FAMILIES, VIEWS):
        policies = _record(f"backtest-{family}-{view}")["policies"]
        ours = policies[UNSEEN if family == "made-up" else "burstwatch"]
        cells = [_in_words(family), view, _two(ours)]
        for group in groups:
            chosen = _at_share(policies, group, ours["announced"])
            prefix = "" if chosen == group else f"{_in_words(chosen)}: "
            cells.append(f"{prefix}{_two(policies[chosen])}")
        rows.append(cells)
    return markdown_table(
        f"recordings | data | burstwatch: announced, false pages/week | {' | '.join(groups)}", rows
    )


def _at_share(policies: Mapping[str, Record], group: str, announced: float) -> str:
    """The member of a group that announces as many and has the fewest false pages, or the nearest to it."""
    members = [name for name in policies if name == group or name.startswith(f"{group} ")]
    reached = [name for name in members if policies[name]["announced"] >= announced]
    if reached:
        return min(reached, key=lambda name: policies[name]["needless_per_week"])
    return max(members, key=lambda name: policies[name]["announced"])


def _two(policy: Record) -> str:
    return f"{policy['announced']:.2f}, {policy['needless_per_week']:.2f}"


def _three(policy: Record) -> str:
    return f"{policy['announced']:.2f}, {policy['paged_in_time']:.2f}, {policy['needless_per_week']:.2f}"


def _in_words(name: str) -> str:
    """A name of the records as people write it."""
    return name.replace("made-up", "synthetic").replace(" %", "%")


def cpu_sentence() -> str:
    """What the policy does on CPU credits, beside the static threshold that announces as much."""
    policies = _record("backtest-cpu")["policies"]
    ours = policies["burstwatch"]
    equal = _at_share(policies, "static", ours["announced"])
    static = policies[equal]
    share = ours["needless_per_week"] / static["needless_per_week"]
    return (
        f"Of {ours['events']} run-outs burstwatch announces {ours['announced']:.2f} at the kind's lead, with "
        f"{ours['needless_per_week']:.2f} false pages a week of one instance. The static threshold that announces as "
        f"many or more is {_in_words(equal).removeprefix('static ')}. It announces {static['announced']:.2f}, with "
        f"{static['needless_per_week']:.2f} false pages. So burstwatch makes {share:.0%} of the false pages of this "
        "threshold.\n"
    )


def draw_policies(view: str) -> str:
    """The policies on server disks: announced against false pages."""
    policies = _record(f"backtest-servers-{view}")["policies"]
    positions = {
        name: (policies[name]["needless_per_week"], policies[name]["announced"]) for name in DRAWN
    }
    return draw_scores(positions, title=f"servers, {view} data, lead 15 min")


PARTS: dict[Path, dict[str, Callable[[], str]]] = {
    ROOT / "README.md": {"bill": bill_sentence, "rules": rules_table},
    DOCS / "fleets.md": {"month": month_table, "bill": bill_table},
    DOCS / "backtest.md": {
        "families": families_table,
        "equal-share": equal_share_table,
        "cpu": cpu_sentence,
    },
}
PICTURES: dict[Path, Callable[[], str]] = {
    DOCS / f"backtest-{view}.svg": partial(draw_policies, view) for view in VIEWS
}

if __name__ == "__main__":
    for path, tables in PARTS.items():
        path.write_text(with_parts(path, tables), encoding="utf-8")
    for path, draw in PICTURES.items():
        path.write_text(draw(), encoding="utf-8")
