"""Writes the figures of README and docs from what the benchmarks measured: `python -m benchmarks.tables`, after they ran."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.record import record_of
from burstwatch.backtest.scores import draw_scores
from burstwatch.config import Config
from burstwatch.ebs.watching_prices import PRICES
from burstwatch.forecast.policy import Assessment
from burstwatch.forecast.projection import Projection
from burstwatch.formatting import span
from burstwatch.kinds import find_kinds
from burstwatch.kinds._by_hand import described_by_hand
from burstwatch.polling.bill import Extent, deployment_lines
from burstwatch.polling.cost import watching_cost
from tools.reference import DOCS, ROOT, markdown_table, with_parts

CENTS = 100
#: The rules that the README shows, by the name that people give them.
RULES = {
    "burstwatch": "**burstwatch**",
    "static 50 %": "alarm at `BurstBalance` < 50%",
    "static 20 %": "alarm at `BurstBalance` < 20%",
    "predict_linear 240 min": "straight line (Prometheus `predict_linear`), four hours ahead",
}
#: The rules of the pictures, as people call them.
DRAWN = {
    "oracle": "who knows the future", "burstwatch": "burstwatch", "guarantee": "whenever it could run out",
    "naive 30 min": "straight line, 30 min", "predict_linear 60 min": "predict_linear, 1 h ahead",
    "predict_linear 240 min": "predict_linear, 4 h ahead", "static 20 %": "alarm at 20%",
    "static 40 %": "alarm at 40%", "static 50 %": "alarm at 50%",
}  # fmt: skip
WATCHING = {
    "deadline": "by the worst case, each page at the margin (`page_on=worst`)",
    "deadline, balanced": "the same looks, paged when it is likely (`page_on=balanced`, the default)",
    "fixed 5 min": "fixed five minutes: balance, read and write operations",
}
FAMILIES, VIEWS = ("servers", "services", "vm", "made-up"), ("fresh", "stale")
#: Those on which the other rules were played.
FAMILIES_OF_RULES = ("servers", "vm", "made-up")
#: The ways to page, as the setting ``page_on`` has them; the last is the guarantee.
PAGE_ON = ("early", "balanced", "sure", "worst")
BINS = ("0 to 0.1", "0.1 to 0.25", "0.25 to 0.4", "0.4 to 0.6", "0.6 to 1")
#: The rules that are shown where balance and load disagree.
APART = ("burstwatch", "balance alone", "static 20 %", "static 50 %")
#: The lines of the bill that grow with the fleet.
OF_EACH_VOLUME = ("metric requests", "metrics of resources", "alarms of resources", "calls for resources")  # fmt: skip
#: The fleets of a day beside other programs, and how many volumes each has.
OF_A_DAY = 1_000
FLEETS_OF_A_DAY = {
    "quiet": "quiet: two of a hundred volumes are not full", "mixed": "mixed: twenty",
    "bursty": "bursty: twenty burst for twenty minutes every two hours",
    "in trouble": "in trouble: ten run out every eight hours, ten more burst",
}  # fmt: skip
#: Volumes that are full and do nothing, and leads.
QUIET_GIB, LEADS_S = (20, 100, 500), (300.0, 900.0, 1_800.0)
QUIET = Assessment(
    verdict="ok", reason="", projection=Projection(state="infinite", reason="", at=0.0, worst_s=1e9)
)
Record = Mapping[str, Any]


def _bill() -> Mapping[str, Sequence[Record]]:
    (month,) = (month for month in record_of("month") if month["policy"] == "deadline, balanced")
    bill: Mapping[str, Sequence[Record]] = month["bill"]
    return bill


def _cents(lines: Sequence[Record], size: str, price: str) -> float:
    usd: float = sum(line[price] for line in lines)
    return CENTS * usd / int(size)


#: Accounts of one region each: the first has the deployment, and the others are found in its organisation.
ACCOUNTS = (1, 10, 40, 200)


def bill_sentence() -> str:
    """What a deployment costs whatever it watches, by its accounts, and what each volume adds."""
    rows = []
    for accounts in ACCOUNTS:
        lines = deployment_lines(Config(), Extent(found_units=accounts - 1))
        usd, paid_usd = sum(line.usd for line in lines), sum(line.paid_usd for line in lines)
        rows.append([f"{accounts}", f"{usd:,.0f}", f"{paid_usd:,.0f}"])
    table = markdown_table("accounts | USD a month | after AWS's free tier", rows)
    size, records = max(_bill().items(), key=lambda item: int(item[0]))
    more = _cents([record for record in records if record["line"] in OF_EACH_VOLUME], size, "usd")
    return f"{table}\nEach volume that can burst adds {more:.1f} cents a month: requests, and alarms while it is in danger.\n"


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
    alone, named, two_found, found = (
        sum(line.usd for line in deployment_lines(Config(), extent))
        for extent in (
            Extent(), Extent(units=2, functions=2), Extent(found_units=1), Extent(found_units=2),
        )
    )  # fmt: skip
    more = (
        f"A further account and region that the organisation finds adds {found - two_found:.2f} USD a month, and one "
        f"that you name, with a function of its own, {named - alone:.2f}.\n"
    )
    return f"{markdown_table(f'line | {sizes}', rows)}\n{more}"


def month_table() -> str:
    """A month of a mixed fleet under each way of watching it."""
    rows = [
        (
            WATCHING[month["policy"]], f"{month['billed_metrics'] / month['volumes']:,.0f}",
            f"{CENTS * month['usd_per_volume_month']:.2f}", f"{month['share_of_fixed']:.2f}",
            str(month["dry"]), str(month["late"]),
        )
        for month in record_of("month")
    ]  # fmt: skip
    return markdown_table(
        "watched | metrics a volume-month | cents a volume-month | of fixed | ran out | late", rows
    )


def day_table() -> str:
    """A day of the sweep and of ``serve`` beside YACE, as multiples of it, at its five minutes; then at a minute of ours."""
    days = [day for day in record_of("day") if day["volumes"] == OF_A_DAY]
    rows = [
        [text, *(f"{_beside_yace(days, fleet, name, 300, of):.{digits}f}" for name, of, digits in (
            ("burstwatch", "cpu_s_per_volume_day", 1), ("burstwatch serve", "cpu_s_per_volume_day", 1),
            ("burstwatch", "billed_metrics_per_volume_day", 2),
        ))]
        for fleet, text in FLEETS_OF_A_DAY.items()
    ]  # fmt: skip
    cpu, metrics = (
        max(_beside_yace(days, fleet, "burstwatch", 60, of) for fleet in FLEETS_OF_A_DAY)
        for of in ("cpu_s_per_volume_day", "billed_metrics_per_volume_day")
    )
    table = markdown_table("fleet | CPU of the sweep | CPU of `serve` | metrics", rows)
    return f"{table}\nAt its default of one minute, beside YACE's of five, it takes up to {cpu:.0f} times the CPU and {metrics:.2f} of the metrics.\n"


def _beside_yace(days: Sequence[Record], fleet: str, name: str, period_s: int, of: str) -> float:
    """One figure of a program of ours, as a multiple of that of YACE each five minutes."""
    ours, yace = (
        next(
            day[of]
            for day in days
            if (day["fleet"], day["program"], day["asks_every_s"]) == (fleet, program, seconds)
        )
        for program, seconds in ((name, period_s), ("yace", 300))
    )
    return float(ours / yace)


def leads_table() -> str:
    """What asking for a quiet volume costs a month, by its size and the lead."""
    kind = find_kinds()["ebs_volume"]
    rows = []
    for size_gib in QUIET_GIB:
        (volume, *_) = described_by_hand(kind, {"type": "gp2", "size_gib": str(size_gib)})
        cells = []
        for lead_s in LEADS_S:
            cost = watching_cost(kind, volume, QUIET, Config(lead_s=lead_s))
            cents = CENTS * cost.full * PRICES["metric_request"].value
            cells.append("too short" if cost.out_of_reach else f"{cents:.1f}")
        rows.append([f"{size_gib} GiB", *cells])
    leads = " | ".join(f"lead {span(lead_s)}" for lead_s in LEADS_S)
    return markdown_table(f"gp2, full and without I/O: cents a month of requests | {leads}", rows)


def rules_table() -> str:
    """How well burstwatch pages beside what people alarm on, on servers and data that comes late."""
    policies = {
        **record_of("backtest-servers-stale")["policies"],
        "burstwatch": _ours("servers", "stale"),
    }
    rows = [
        (
            text,
            f"{policies[name]['announced']:.0%}",
            f"{policies[name]['precision']:.0%}",
            f"{policies[name]['needless_per_week']:.1f}",
        )
        for name, text in RULES.items()
    ]
    table = markdown_table("rule | announced | right | false pages a volume and week", rows)
    return f"{table}\n{policies['burstwatch']['events']} times a simulated volume ran out of credits.\n"


def _ours(family: str, view: str, *, left_out: str = "machine") -> Record:
    """Our own figures with the default way to page, by a model that has not seen the machine, or its family."""
    # What is made up is one family of one maker: only a model without it has not seen it.
    unseen = "family" if family == "made-up" else left_out
    ours: Record = record_of("chance")["pages"][unseen][f"{family} {view}"]["balanced"]
    return ours


def families_table() -> str:
    """Our own policy on families and on machines that it was not fitted on, beside R8."""
    rows = []
    for family, view in product(FAMILIES, VIEWS):
        ours = _ours(family, view)
        of_machine = "-" if family == "made-up" else _three(ours)
        rows.append(
            (
                _in_words(family), view, str(ours["events"]),
                _three(_ours(family, view, left_out="family")), of_machine,
            )
        )  # fmt: skip
    return markdown_table(
        "recordings | data | run-outs | family held out: announced, paged in time, false pages/week | machine held out",
        rows,
    )


def equal_share_table() -> str:
    """The false pages of each rule at the share announced of ours, or at the best that it reaches."""
    groups = ("static", "predict_linear", "R8", "R", "guarantee")
    rows = []
    for family, view in product(FAMILIES_OF_RULES, VIEWS):
        policies = record_of(f"backtest-{family}-{view}")["policies"]
        ours = _ours(family, view)
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


def page_on_table() -> str:
    """Each way to page on machines that were left out, by family and data."""
    pages = record_of("chance")["pages"]
    rows = []
    for family, view in product(FAMILIES, VIEWS):
        # What is made up is one family of one maker: only a model without it has not seen it.
        left_out = pages["family" if family == "made-up" else "machine"]
        ways = left_out[f"{family} {view}"]
        cells = (_four(ways[page_on]) for page_on in PAGE_ON)
        rows.append((_in_words(family), view, *cells))
    return markdown_table(f"recordings | data | {' | '.join(PAGE_ON)}", rows)


def _four(way: Record) -> str:
    if not way["events"]:
        return f"-, -, {way['needless_per_week']:.2f}, -"
    precision = "-" if way["precision"] is None else f"{way['precision']:.2f}"
    return f"{way['announced']:.2f}, {way['paged_in_time']:.2f}, {way['needless_per_week']:.2f}, {precision}"


def calibration_table() -> str:
    """What the chance said, and what came true, on families that it has not seen."""
    bins = record_of("chance")["calibration"]["family"]
    rows = [
        (
            _in_words(family),
            view,
            *(_said_and_true(bins[f"{family} {view}"], name) for name in BINS),
        )
        for family, view in product((*FAMILIES, "nab"), VIEWS)
    ]
    return markdown_table(f"recordings | data | {' | '.join(BINS)}", rows)


def _said_and_true(bins: Mapping[str, Record], name: str) -> str:
    return f"{bins[name]['said']:.2f}, {bins[name]['came_true']:.2f}" if name in bins else "-"


def apart_table() -> str:
    """Pages where the balance and the published load disagree, beside those by the balance alone."""
    rows = [
        (name, one["help"], *(_four(one["policies"][policy]) for policy in APART))
        for name, one in record_of("apart").items()
    ]
    return markdown_table(f"load | what is published | {' | '.join(map(_in_words, APART))}", rows)


def cpu_sentence() -> str:
    """What the policy does on CPU credits, beside the static threshold that announces as much."""
    policies = record_of("backtest-cpu")["policies"]
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
    policies = {
        **record_of(f"backtest-servers-{view}")["policies"],
        "burstwatch": _ours("servers", view),
    }
    positions = {
        said: (policies[name]["needless_per_week"], policies[name]["announced"])
        for name, said in DRAWN.items()
    }
    return draw_scores(positions, title=f"servers, {view} data, lead 15 min")


PARTS: dict[Path, dict[str, Callable[[], str]]] = {
    ROOT / "README.md": {"bill": bill_sentence, "rules": rules_table},
    DOCS / "fleets.md": {
        "month": month_table,
        "bill": bill_table,
        "leads": leads_table,
        "day": day_table,
    },
    DOCS / "backtest.md": {
        "families": families_table,
        "page-on": page_on_table,
        "equal-share": equal_share_table,
        "cpu": cpu_sentence,
    },
    DOCS / "contributing" / "backtest.md": {
        "calibration": calibration_table,
        "apart": apart_table,
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
