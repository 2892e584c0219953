"""The page for people: which volumes this host has, what is left of their credits, and what is wrong.

It is the page that somebody opens at night on a phone. So it begins with the answer, the table has the
most urgent first (run out, will run out, unknown), and it needs no script.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import burstwatch
from burstwatch.drawing.pages import document
from burstwatch.formatting import first_of, span
from burstwatch_exporter.credits.snapshot import Account, Snapshot, View
from burstwatch_exporter.page.cpu import CpuAccount
from burstwatch_exporter.page.network import NetworkAccount

HEADINGS = ("device", "volume", "mounted at", "type", "balance", "time left", "at full burst")
#: On a phone each row is a card, and its cells say what they are.
STYLE = """
td small{white-space:normal}
tr.out td:first-child,tr.soon td:first-child{border-left:4px solid var(--red)}
@media (max-width:640px){tr.remark{margin:0}}
""".strip()
LINKS = f"""<p><a href="/metrics">metrics</a> · <a href="/-/healthy">healthy</a> ·
<a href="/-/ready">ready</a></p><p>burstwatch exporter {burstwatch.__version__}</p>"""
NOTHING = ' class="nothing"'
#: The classes of rows, the most urgent first.
OUT, SOON, UNKNOWN, WELL, NO_CREDITS = "out", "soon", "unknown", "well", "none"
URGENCY = (OUT, SOON, UNKNOWN, WELL, NO_CREDITS)


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One volume or the CPU, as a row of the table. ``left_s`` orders the rows of one urgency.

    ``columns`` are what it is: its device, volume, mountpoint and type.
    """

    urgency: str
    left_s: float
    name: str
    columns: tuple[str, str, str, str]
    balance: str
    time_left: str
    at_full_burst: str
    remark: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands below each of the headings."""
        return (*self.columns, self.balance, self.time_left, self.at_full_burst)


def landing(
    snapshot: Snapshot,
    *,
    problems: Iterable[str],
    hints: Iterable[str],
    cpu: CpuAccount | None = None,
    network: Iterable[NetworkAccount] = (),
) -> str:
    """The whole page as HTML. ``cpu`` and ``network`` are the accounts of the instance itself, where it has them."""
    places = _mountpoints(snapshot)
    rows = [_volume_row(view, places.get(view.disk.name, [])) for view in snapshot.views]
    if cpu is not None:
        rows.append(_cpu_row(cpu))
    # Of a network whose credits nobody has learned there is nothing to say.
    rows += [
        _network_row(account)
        for account in network
        if account.credits.is_empty or account.credits.learned.sizes
    ]
    rows.sort(key=lambda row: (URGENCY.index(row.urgency), row.left_s))
    body = "".join(
        (
            f"<style>{STYLE}</style>",
            "".join(f"<p>{escape(sentence)}</p>" for sentence in _summary(rows)),
            _table(rows),
            _list("Problems", problems),
            _list("Hints", hints),
            LINKS,
        )
    )
    return document("Burst credits of this host", body, width=1_200)


def _mountpoints(snapshot: Snapshot) -> dict[str, list[str]]:
    """List where each disk is mounted, the shortest path first."""
    places: dict[str, list[str]] = {}
    for mount, _, disk in snapshot.mounted():
        mountpoints = places.setdefault(disk, [])
        if mount.mountpoint not in mountpoints:
            mountpoints.append(mount.mountpoint)
    return {
        disk: sorted(mountpoints, key=lambda place: (len(place), place))
        for disk, mountpoints in places.items()
    }


def _volume_row(view: View, mountpoints: Sequence[str]) -> Row:
    """Write a volume's row; while its counters are doubted it may warn, but gives no good news."""
    disk, spec, account = view.disk, view.spec, view.account
    volume_type = "unknown" if spec is None else spec.volume_spec.volume_type
    place = first_of(mountpoints) if mountpoints else "-"
    named = (disk.name, disk.volume_id or "-", place, volume_type)
    whose = ", ".join(filter(None, (disk.volume_id, *mountpoints[:1])))
    name = f"{disk.name} ({whose})" if whose else disk.name
    if spec is None:
        remark = "nobody says what type it is: let --aws=ec2 ask, or name it in --config.file"
        return Row(
            urgency=UNKNOWN, left_s=math.inf, name=name,
            columns=named, balance="unknown", time_left="unknown", at_full_burst="unknown", remark=remark,
        )  # fmt: skip
    if spec.bucket is None:
        return Row(
            urgency=NO_CREDITS, left_s=math.inf, name=name,
            columns=named, balance="no credits", time_left="-", at_full_burst="-", remark=_doubted(view),
        )  # fmt: skip
    if account is None:
        return Row(
            urgency=UNKNOWN, left_s=0.0, name=name,
            columns=named, balance="unknown", time_left="unknown", at_full_burst="unknown", remark=_doubted(view) or "it has not been read yet",
        )  # fmt: skip
    urgency, left_s, time_left = _left(view, account)
    interval, capacity = account.interval, account.bucket.capacity
    return Row(
        urgency=urgency,
        left_s=left_s,
        name=name,
        columns=named,
        balance=_balance(interval.low / capacity, interval.high / capacity),
        time_left=time_left,
        at_full_burst=span(account.projection.worst_s),
        remark=_remark(view, account),
    )


def _doubted(view: View) -> str:
    return view.doubt.reason if view.doubt is not None else ""


def _remark(view: View, account: Account) -> str:
    """Why the row of a volume is not certain, or nothing; an empty bucket has its own word in the row."""
    if view.doubt is not None:
        return view.doubt.reason
    if account.is_served_at_baseline and account.projection.state != "exhausted":
        return "it gets only its baseline and asks for more, so its credits may have run out"
    if account.projection.state == "unknown":
        return account.projection.reason
    return ""


def _left(view: View, account: Account) -> tuple[str, float, str]:
    """Return how urgent it is, the seconds to order it by, and the time left in words."""
    projection = account.projection
    # Counters that are not believed may warn, but they are no good news.
    is_unknown = projection.state == "unknown" or (
        view.doubt is not None and projection.state != "finite"
    )
    soonest_s = projection.low_s if projection.low_s is not None else math.inf
    if projection.state == "exhausted":
        return OUT, 0.0, "has run out"
    if account.is_served_at_baseline:
        # An empty bucket looks like this, and so does a limit elsewhere.
        return UNKNOWN, 0.0, "unknown"
    if is_unknown:
        words = "unknown" if math.isinf(soonest_s) else f"unknown, {span(soonest_s)} at the soonest"
        return UNKNOWN, soonest_s, words
    if projection.state == "idle":
        return WELL, math.inf, "never (no I/O)"
    likely_s = projection.time_to_empty_s
    if likely_s is None or math.isinf(likely_s):
        return WELL, soonest_s, "never at this load"
    return SOON, likely_s, span(likely_s)


def _cpu_row(cpu: CpuAccount) -> Row:
    """Write the CPU's row."""
    low, high = cpu.interval.low / cpu.capacity, cpu.interval.high / cpu.capacity
    urgency, left_s, time_left = UNKNOWN, math.inf, "unknown"
    if cpu.likely == 0.0 and cpu.is_held_back:
        urgency, left_s, time_left = OUT, 0.0, "has run out"
    elif cpu.likely_s is not None:
        is_finite = math.isfinite(cpu.likely_s)
        urgency, left_s = (SOON if is_finite else WELL), cpu.likely_s
        time_left = span(cpu.likely_s) if is_finite else "never at this load"
    elif cpu.low_s is not None:
        left_s, time_left = cpu.low_s, f"unknown, {span(cpu.low_s)} at the soonest"
    return Row(
        urgency=urgency,
        left_s=left_s,
        name=f"the CPU ({cpu.instance_type})",
        columns=("CPU", "-", "-", cpu.instance_type),
        balance=_balance(low, high),
        time_left=time_left,
        at_full_burst=span(cpu.worst_s),
    )


def _network_row(account: NetworkAccount) -> Row:
    """Write the row of the network in one direction."""
    lasts_s, level = account.lasts_s, account.credits.learned.level
    urgency, left_s, time_left = UNKNOWN, math.inf, "unknown"
    if account.credits.is_empty:
        urgency, left_s, time_left = OUT, 0.0, "has run out"
    elif lasts_s is not None:
        is_finite = math.isfinite(lasts_s)
        urgency, left_s = (SOON if is_finite else WELL), lasts_s
        time_left = f"about {span(lasts_s)}" if is_finite else "never at this load"
    elif level is not None and account.credits.rate is not None:
        urgency, time_left = WELL, "it is near its baseline"
    balance = "unknown" if level is None else f"about {level:.0%}"
    return Row(
        urgency=urgency,
        left_s=left_s,
        name=f"the {account.direction}bound network ({account.instance_type})",
        columns=(f"network {account.direction}", "-", "-", account.instance_type),
        balance=balance,
        time_left=time_left,
        at_full_burst="-",
    )


def _balance(low: float, high: float) -> str:
    """A range in whole percent, never narrower than it is."""
    floor, ceiling = math.floor(100 * low), math.ceil(100 * high)
    if (floor, ceiling) == (0, 100):
        return "unknown"
    return f"{floor}%" if floor == ceiling else f"{floor}% to {ceiling}%"


def _summary(rows: Sequence[Row]) -> list[str]:
    """The answer first: what has run out, what runs out next, and what nobody can say."""
    if not rows:
        return []
    sentences: list[str] = []
    out = [row.name for row in rows if row.urgency == OUT]
    soon = [row for row in rows if row.urgency == SOON]
    unknown = [row.name for row in rows if row.urgency == UNKNOWN]
    if out:
        sentences.append(f"{first_of(out)} {'have' if len(out) > 1 else 'has'} run out of credits.")
    if soon:
        also = f", and {len(soon) - 1} more after it" if len(soon) > 1 else ""
        sentences.append(f"{soon[0].name} runs out in {soon[0].time_left} at this load{also}.")
    if unknown:
        sentences.append(f"How long {first_of(unknown)} will last is unknown.")
    # The name of a device stays as it is, a word does not begin a sentence so.
    begun = [re.sub("^the ", "The ", sentence) for sentence in sentences]
    return begun or ["Nothing runs out at this load."]


def _table(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{heading}</th>" for heading in HEADINGS)
    return (
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{''.join(map(_row, rows))}</tbody></table></div>\n"
    )


def _row(row: Row) -> str:
    """Write a row as HTML, with its remark below it."""
    cells = [
        f'<td data-of="{heading}"{NOTHING if cell == "-" else ""}>{escape(cell)}</td>'
        for heading, cell in zip(HEADINGS, row.cells, strict=True)
    ]
    lines = [f'<tr class="{row.urgency}">{"".join(cells)}</tr>\n']
    if row.remark:
        lines.append(
            f'<tr class="{row.urgency} remark"><td colspan="{len(HEADINGS)}"><small>{escape(row.remark)}</small></td></tr>\n'
        )
    return "".join(lines)


def _list(heading: str, texts: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(text)}</li>\n" for text in texts)
    return f"<h2>{heading}</h2><ul>\n{items}</ul>\n" if items else ""
