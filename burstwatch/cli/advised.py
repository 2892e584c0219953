"""Shows advice: as a table, as Markdown, and as a page of HTML with a picture for each of the first.

It reads the records of ``--json``, so that what an earlier run kept is shown as well.
"""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any

from burstwatch.bucket import DAY_S, HOUR_S
from burstwatch.drawing.charts import BLUE, GREEN, GREY, PURPLE, TOP, Chart, picture
from burstwatch.drawing.pages import document, prose, table_of
from burstwatch.formatting import (
    balance,
    day_and_time,
    folded,
    folded_command,
    inert,
    is_dated,
    number,
    plain_name,
    printable,
    span,
    table,
    usd,
)
from burstwatch.history.observations import Verdict

#: One advice as ``--json`` prints it.
AdviceRecord = dict[str, Any]
HEADINGS = ("resource", "type", "needed", "ran out", "finding", "advice", "USD a month")
#: Resources that a page has pictures of.
PICTURES = 20
#: The automation of AWS itself.
AUTOMATION_URL = "https://docs.aws.amazon.com/compute-optimizer/latest/ug/automation.html"
AUTOMATION = (
    "AWS Compute Optimizer can change gp2 volumes to gp3 by itself, by rules that you set: "
    f"{AUTOMATION_URL}"
)


def as_report(
    records: Sequence[AdviceRecord], *, paint: Callable[[str], str], columns: int | None = None
) -> str:
    """A table of what to change, the worst first, then the commands and the totals."""
    changes = [record for record in records if record["best_fix"]]
    parts = []
    if changes:
        rows = [(inert(_who(record)), *_cells(record)[1:]) for record in changes]
        parts.append(table(HEADINGS, rows, paint=paint, columns=columns))
    commands = [record for record in changes if record["best_fix"]["command"]]
    if commands:
        effects = [f"{inert(_who(record))}: {record['best_fix']['effect']}" for record in commands]
        parts.append(folded("\n".join(effects), columns))
        # What people paste has no name in it: a shell would read what somebody else has written.
        lines = "\n".join(record["best_fix"]["command"] for record in commands).split("\n")
        parts.append("\n".join(folded_command(line, columns) for line in lines))
    surplus = surplus_lines(records)
    parts += [folded("\n".join(surplus), columns)] if surplus else []
    parts.append(folded(totals(records), columns))
    return "\n\n".join(parts)


def as_markdown(records: Sequence[AdviceRecord], *, place: str) -> str:
    """Write the report for a ticket or a pull request."""
    changes = [record for record in records if record["best_fix"]]
    lines = [f"# Burst credits of {place}", "", totals(records), ""]
    if changes:
        lines += ["| " + " | ".join(HEADINGS) + " |", "| " + "--- | " * len(HEADINGS)]
        lines += ["| " + " | ".join(map(_cell, _cells(record))) + " |" for record in changes]
    if surplus := surplus_lines(records):
        lines += ["", *(f"{_cell(line)}  " for line in surplus)]
    for record in changes:
        lines += ["", f"## {_cell(_who(record))}", "", _sentence(record)]
        for language, text in _code(record):
            if language == "yaml":
                lines += ["", "If a template made it, change it there too:"]
            lines += ["", f"```{language}", text, "```"]
    return "\n".join(lines) + "\n"


#: What each block of code is.
LANGUAGES = {"sh": "AWS CLI", "yaml": "CloudFormation", "hcl": "Terraform"}


def as_page(records: Sequence[AdviceRecord], *, place: str) -> str:
    """A page of HTML, with pictures of the highest rates of each hour."""
    changes = [record for record in records if record["best_fix"]]
    link = f'<a href="{AUTOMATION_URL}">{AUTOMATION_URL}</a>'
    body = [f"<p>{escape(totals(records)).replace(AUTOMATION_URL, link)}</p>"]
    if changes:
        rows = [tuple(map(printable, _cells(record))) for record in changes]
        body.append(
            table_of(HEADINGS, rows, sentences={"resource", "type", "needed", "ran out", "advice"})
        )
    body += [f"<p>{escape(line)}</p>" for line in surplus_lines(records)]
    for record in changes[:PICTURES]:
        body.append(f"<h2>{escape(_who(record))}</h2><p>{prose(_sentence(record))}</p>")
        if record["hourly"]:
            body.append(f"<figure>{picture([_load_panel(record, record['hourly'])])}</figure>")
        body += [
            f"<h3>{LANGUAGES[language]}</h3><pre>{escape(text)}</pre>"
            for language, text in _code(record)
        ]
    figure, verdict = _figure(records)
    return document(
        _title(records, place), "".join(body), figure=figure, verdict=verdict, width=1_200
    )


def _figure(records: Sequence[AdviceRecord]) -> tuple[str, Verdict]:
    """The number that matters, with a verdict for its colour: what ran out, or else how many changes are advised."""
    dry = [record for record in records if record["run_out_count"]]
    if len(dry) == 1:
        return f"{span(dry[0]['run_out_s'])} empty", "exhausted"
    if dry:
        return f"{len(dry)} ran out", "exhausted"
    changes = sum(record["best_fix"] is not None for record in records)
    return f"{changes} {'change' if changes == 1 else 'changes'}" if changes else "", "watch"


def _title(records: Sequence[AdviceRecord], place: str) -> str:
    """What ran out and when, and what is advised."""
    changes = [record for record in records if record["best_fix"]]
    if len(records) == 1 and changes:
        (record,) = records
        ran_out = (
            f"credits ran out {_times(record['run_out_count'])}{_when(record)}; "
            if record["run_out_count"]
            else ""
        )
        return f"{_who(record)}: {ran_out}{record['best_fix']['action']}"
    title = f"Burst credits of {place}"
    dated = [record for record in records if record.get("run_out_last_at") is not None]
    if dated:
        last = max(dated, key=lambda record: record["run_out_last_at"])
        title += f": {_who(last)} ran out last, {day_and_time(last['run_out_last_at'])}"
    return f"{title}; changes advised: {len(changes)}" if changes else title


def totals(records: Sequence[AdviceRecord]) -> str:
    """Say how many need a change, what the changes save and cost, and of how many nothing can be said."""
    dry = [record for record in records if record["finding"] == "runs out"]
    short = sum(record["finding"] == "too short" for record in records)
    prices = [record["best_fix"]["usd_month"] for record in records if record["best_fix"]]
    saved = -sum(usd for usd in prices if usd is not None and usd < 0)
    cost = sum(usd for usd in prices if usd is not None and usd > 0)
    unknown = sum(usd is None for usd in prices)
    text = f"Resources: {len(records)}. Ran out: {len(dry)}. Advised a change: {len(prices)}"
    sums = [f"save {saved:,.2f}"] if saved else []
    sums += [f"cost {cost:,.2f}"] if cost else []
    if sums:
        text += f". Together the changes {' and '.join(sums)} USD a month at list prices"
    if unknown:
        text += f"; the price of {unknown} is not known here"
    if short:
        text += (
            f". The history of {short} is shorter than a week, so nothing is advised to save there"
        )
    has_gp2 = any(
        record["best_fix"] and record["kind"] == "ebs_volume" and record["type"].split()[0] == "gp2"
        for record in records
    )
    return f"{text}. {AUTOMATION}" if has_gp2 else f"{text}."


def surplus_lines(records: Sequence[AdviceRecord]) -> list[str]:
    """Say what AWS has charged for surplus credits, of each resource and in all, and what would end it; nothing where it has not."""
    charged = [record for record in records if record["charged_credits"]]
    if not charged:
        return []
    known = [record["charged_usd"] for record in charged if record["charged_usd"] is not None]
    unknown = len(charged) - len(known)
    sums = [f"{usd(sum(known))} USD"] if known else []
    sums += [f"{unknown} at a price that is not known here"] if unknown else []
    by_usd = sorted(charged, key=lambda record: -(record["charged_usd"] or 0.0))
    heading = f"Surplus CPU credits that AWS has charged for, of what is in Unlimited mode now: {' and '.join(sums)}."
    return [heading, *map(_surplus_line, by_usd)]


def _surplus_line(record: AdviceRecord) -> str:
    """One resource: the charge, as much for a month, and the change that ends it."""
    fix, charged, a_month = record["best_fix"], record["charged_usd"], record["charged_usd_month"]
    price = "price not known here"
    if charged is not None:
        price = f"{usd(charged)} USD in {span(record['charged_s'])}"
        price += "" if a_month is None else f", {usd(a_month)} a month"
    ended_by = "no change is advised"
    if record["finding"] == "too short":
        ended_by = "its history is too short to advise a change"
    if fix is not None:
        more = "" if fix["usd_month"] is None else f" ({fix['usd_month']:+,.2f} USD a month in all)"
        ended_by = f"ends with: {fix['action']}{more}"
    return (
        f"{printable(_who(record))}: {record['charged_credits']:,.0f} credits, {price}; {ended_by}"
    )


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count} times")


def _when(record: AdviceRecord) -> str:
    """When its credits last ran out, behind how often."""
    at = record.get("run_out_last_at")  # a record of an earlier run may not have it
    if at is None:
        return ""
    return f", {'last ' if record['run_out_count'] > 1 else ''}{day_and_time(at)}"


def _who(record: AdviceRecord) -> str:
    name = plain_name(record["name"])
    return f"{name} ({record['id']})" if name else record["id"]


def _cells(record: AdviceRecord) -> tuple[str, ...]:
    """One row of the table."""
    fix = record["best_fix"]
    at_least = "at least " if record["is_censored"] else ""
    dry = (
        f"{_times(record['run_out_count'])}, {span(record['run_out_s'])}{_when(record)}"
        if record["run_out_count"]
        else "no"
    )
    usd = "not known" if fix["usd_month"] is None else f"{fix['usd_month']:+,.2f}"
    return (
        _who(record),
        record["type"],
        f"{at_least}{number(record['needed'])} {record['rate_unit']}",
        dry,
        record["finding"],
        fix["action"],
        usd,
    )


def _sentence(record: AdviceRecord) -> str:
    """Say what it did, what it should become, and what that costs and risks."""
    fix = record["best_fix"]
    text = (
        f"In {span(record['history_s'])} it needed {'at least ' if record['is_censored'] else ''}{number(record['needed'])} "
        f"{record['rate_unit']} (mean {number(record['mean'])})"
    )
    text += ", because a limit held it back," if record["is_censored"] else ""
    if record["run_out_count"]:
        text += f" and ran out {_times(record['run_out_count'])}, {span(record['run_out_s'])} in all{_when(record)}"
    for limit, share in record["exceeded"].items():
        text += f"; AWS says that it exceeded {limit} in {share:.0%} of the time" if share else ""
    action = fix["action"]
    text += f". {action[:1].upper()}{action[1:]}: {fix['effect']} ({fix['takes']})."
    if record["run_out_count_afterwards"] is not None:
        dry = record["run_out_count_afterwards"]
        runs = f"runs out {_times(dry)}" if dry else "never runs out"
        text += f" In a replay with that setting, the same load {runs}"
        lowest = record["balance_lowest_afterwards"]
        text += f", never under {balance(lowest)}." if lowest is not None else "."
    usd, usd_afterwards = record["usd_month"], record["usd_month_afterwards"]
    if usd is not None and usd_afterwards is not None:
        before = "as now" if round(usd_afterwards - usd, 2) == 0 else f"instead of {usd:,.2f}"
        text += f" The price of what changes is {usd_afterwards:,.2f} USD a month, {before}."
    if record["alternatives"]:
        text += f" Or: {'; or: '.join(map(_alternative, record['alternatives']))}."
    if record["time_to_empty_s"] is not None:
        text += f" Its lowest levels fall, and reach zero in {span(record['time_to_empty_s'])}."
    return text


def _alternative(fix: AdviceRecord) -> str:
    """Another change, with its price where that is known."""
    if fix["usd_month"] is None:
        return str(fix["action"])
    return f"{fix['action']} ({fix['usd_month']:+,.2f} USD a month)"


def _code(record: AdviceRecord) -> list[tuple[str, str]]:
    """The command, and the lines of both template languages, each with its language."""
    texts = [
        ("sh", record["best_fix"]["command"]),
        ("yaml", "\n".join(record["cloudformation"])),
        ("hcl", "\n".join(record["terraform"])),
    ]
    return [(language, text) for language, text in texts if text]


#: What makes a link, a picture, a mention or a quotation of a text in Markdown, with look-alikes.
MARKUP = str.maketrans("[]@*~", "\uff3b\uff3d\uff20\u2217\u223c")


def _cell(text: str) -> str:
    """A text for a cell of a Markdown table or a heading: whoever chose a name writes nothing with it."""
    return inert(text).translate(MARKUP).replace("://", ":\u2215\u2215")


def _tick(from_s: float, days: float) -> str:
    """A time on the axis: the day, with the hour where that is not midnight; or how many days after the beginning."""
    if not is_dated(from_s):
        return f"day {days:.3g}"
    instant = datetime.fromtimestamp(from_s + days * DAY_S, tz=UTC)
    return f"{instant:%d %b %H:%MZ}" if instant.hour else f"{instant:%d %b}"


def _load_panel(record: AdviceRecord, rates: Sequence[float]) -> Chart:
    """Draw the highest rate of each hour beside what is sustained today, and what is served after the change."""
    lines = [(record["baseline"], GREY), (record["rate_afterwards"], GREEN)]
    top = max(1.0, 1.1 * max([*rates, *(rate for rate, _ in lines if rate is not None)]))
    chart = Chart(
        title=f"Highest {record['rate_unit']} of each hour; sustained today (grey), after the change (green)",
        x_range=(0.0, len(rates) * HOUR_S / DAY_S),
        y_range=(0.0, top),
    )
    chart.axes(
        x_text=lambda days: _tick(record.get("hourly_from_s", 0.0), days),
        y_text=number,
    )
    chart.line([((hour + 0.5) * HOUR_S / DAY_S, rate) for hour, rate in enumerate(rates)], BLUE)
    for rate, colour in lines:
        if rate is not None and math.isfinite(rate):
            chart.line([(0.0, rate), (chart.x_range[1], rate)], colour, dashes="6 4")
    _mark_run_out(chart, record)
    return chart


def _mark_run_out(chart: Chart, record: AdviceRecord) -> None:
    """A line where the credits last ran out, if the picture has that time."""
    at, from_s = record.get("run_out_last_at"), record.get("hourly_from_s")
    if at is None or from_s is None:
        return
    began = (at - from_s) / DAY_S
    # The times of several are not known, only of the last when it began.
    ended = began + record["run_out_s"] / DAY_S if record["run_out_count"] == 1 else began
    low, high = chart.x_range
    if ended < low or began > high:
        return
    chart.line([(began, 0.0), (began, chart.y_range[1])], PURPLE, dashes="2 3")
    chart.box((began, ended), chart.y_range, PURPLE, opacity=0.25)
    gap, anchor = (-6.0, "end") if began > (low + high) / 2 else (6.0, "start")
    text = f"out of credits, {day_and_time(at)}"
    chart.text(chart.x(began) + gap, TOP + 8, text, anchor=anchor, small=True, color=PURPLE)
