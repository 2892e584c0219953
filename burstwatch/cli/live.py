"""The live view of `burstwatch top` in a terminal, by Textual.

Looks are made in a thread; the table is drawn anew each second, so that times count down.
"""

from collections.abc import Callable, Mapping
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import DataTable, Footer, Input, Static

from burstwatch.cli.board import Board, ShownResource, word_of
from burstwatch.drawing import palette
from burstwatch.formatting import cut
from burstwatch.history.observations import Verdict

#: The columns in the order in which they are shown, each with the width of the terminal from which it is.
COLUMNS = {
    "runs out in": 0,
    "worst case": 60,
    "verdict": 0,
    "balance": 72,
    "resource": 0,
    "type": 100,
    "last 3 h": 116,
}
#: The columns beside the name take so much at the least, with their padding.
BESIDE_NAME, LEAST_NAME, LONGEST_NAME = 57, 12, 40
BOLD: frozenset[Verdict] = frozenset({"critical", "exhausted"})
#: The view is dark on every terminal.
STYLES: dict[Verdict, str] = {
    verdict: f"{'bold ' if verdict in BOLD else ''}{colour.dark}"
    for verdict, colour in palette.VERDICTS.items()
}
#: Where the reader has asked for no colour: a colour would become a shade of grey that nobody can read.
PLAIN_STYLES: dict[Verdict, str] = {
    **dict.fromkeys(STYLES, ""),
    "warning": "bold",
    "critical": "bold reverse",
    "exhausted": "bold reverse",
}
REDRAW_EVERY_S = 1.0
#: From this width of the terminal on, a pane of so many columns tells of the resource under the cursor.
PANE_FROM, PANE_WIDTH = 120, 46
#: So wide is a picture in a window of its own.
CHART_WIDTH = 60
HELP = """Enter  everything about the resource under the cursor
/      only resources with these words in name, id, kind, region, type or tags
y      copy the command that helps it
r      poll now
Esc    all resources again
q      end

runs out in   at the present load; it counts down between two looks
worst case    at full burst
balance       the share of the credits that is left
last 3 h      the balance as AWS has published it, and of what is well as this session has seen it"""


class Explanation(ModalScreen[None]):
    """Everything about one resource."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q", "dismiss", "back")]
    CSS = "Explanation {align: center middle;} Explanation VerticalScroll {width: 90%; height: 80%; border: round $primary; padding: 1 2;}"

    def __init__(self, text: Text) -> None:
        """``text`` is shown as it is."""
        super().__init__()
        self.text = text

    def compose(self) -> ComposeResult:
        """The text, which scrolls."""
        with VerticalScroll():
            yield Static(self.text)


class Top(App[None]):
    """The table, the filter and the keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit"),
        Binding("enter", "explain", "explain"),
        Binding("slash", "filter", "filter"),
        Binding("y", "copy", "copy command"),
        Binding("r", "poll", "poll now"),
        Binding("escape", "no_filter", "all"),
        Binding("question_mark", "keys", "help"),
    ]
    CSS = (
        f"#pane {{display: none; width: {PANE_WIDTH}; border-left: solid {palette.EDGE.dark}; padding: 0 1;}} #pane.open {{display: block;}}"
        "#summary {height: auto;} #problems {height: auto; color: $error;} Input {display: none;} Input.open {display: block;}"
        f" DataTable > .datatable--cursor {{background: {palette.TEXT.dark}; color: {palette.PAGE.dark}; text-style: bold;}}"
    )
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self, look: Callable[[Board], None], *, clock: Callable[[], float], every_s: float
    ) -> None:
        """``look`` asks the account and puts what it saw onto a board; it may take long, and raise a ``ValueError``."""
        super().__init__()
        self.board, self.look, self._clock, self._every_s = Board(), look, clock, every_s
        self._wanted, self._failure, self._is_looking = "", "", False

    def compose(self) -> ComposeResult:
        """A line of figures, what failed, the table, the filter, the keys."""
        yield Static("", id="summary")
        yield Static("", id="problems")
        # The worst row is under the cursor at first: the colours of the cursor, and not those of its verdict, can be read there.
        with Horizontal():
            yield DataTable(cursor_type="row", zebra_stripes=True)
            with VerticalScroll(id="pane"):
                yield Static("", id="detail")
        yield Input(placeholder="words of a name, id, kind, region, type or tag")
        yield Footer()

    def on_mount(self) -> None:
        """Set the table up, poll for the first time, and start the timers for polling and drawing."""
        self.query_one(DataTable).focus()
        self.action_poll()
        self.set_interval(self._every_s, self.action_poll)
        self.set_interval(REDRAW_EVERY_S, self.redraw)

    def action_poll(self) -> None:
        """Ask the account, unless an earlier question is still open: a look may take longer than the period."""
        if not self._is_looking:
            self._is_looking = True
            self._ask()

    @work(thread=True, group="look")
    def _ask(self) -> None:
        """Poll in a thread; a failure stays on the screen beside the last good answer."""
        try:
            self.look(self.board)
            self._failure = ""
        except ValueError as error:  # what is shown stays, with its age
            self._failure = str(error)
        finally:
            self._is_looking = False
        self.call_from_thread(self.redraw)

    def redraw(self) -> None:
        """Draw what is known as of now. The cursor stays on its resource."""
        if not self.query("#summary"):
            return  # the view is being closed: its clock still ticks while its widgets are gone
        now = self._clock()
        self.query_one("#summary", Static).update(Text(self.board.summary(now)))
        failures = [self._failure] if self._failure else []
        table = self.query_one(DataTable)
        lines = self.board.lines(now, self._wanted)
        if self.board.assessed and not lines:
            failures.append(f"nothing matches {self._wanted!r}")
        problems = "\n".join([*failures, *self.board.problems][:3])
        self.query_one("#problems", Static).update(Text(problems))
        chosen = self._chosen()
        has_pane = self.size.width >= PANE_FROM
        self.query_one("#pane").set_class(has_pane, "open")
        width = self.size.width - (PANE_WIDTH if has_pane else 0)
        headings = columns_at(width)
        if [column.value for column in table.columns] != headings:
            table.clear(columns=True)
            for heading in headings:
                table.add_column(heading, key=heading)
        table.clear()
        for line in lines:
            cells = table_cells(
                line,
                PLAIN_STYLES if self.no_color else STYLES,
                name_width=max(LEAST_NAME, width - BESIDE_NAME),
            )
            table.add_row(*(cells[heading] for heading in headings), key=line.key)
        keys = [line.key for line in lines]
        if chosen in keys:
            table.move_cursor(row=keys.index(chosen))
        self._fill_pane()

    @on(DataTable.RowHighlighted)
    def _fill_pane(self) -> None:
        """Tell beside the table of the resource under the cursor."""
        chosen = self._chosen()
        told = self._told(chosen, PANE_WIDTH - 8) if chosen in self.board.assessed else Text()
        self.query_one("#detail", Static).update(told)

    def action_copy(self) -> None:
        """Copy the command that helps the resource under the cursor to the terminal's clipboard."""
        chosen = self._chosen()
        command = self.board.command(chosen) if chosen else ""
        if command:
            self.copy_to_clipboard(command)
        self.notify(command or "there is no command for it")

    def action_keys(self) -> None:
        """Say what the keys do, and the columns mean."""
        self.push_screen(Explanation(Text(HELP)))

    def action_filter(self) -> None:
        """Open the filter."""
        entry = self.query_one(Input)
        entry.add_class("open")
        entry.focus()

    def action_no_filter(self) -> None:
        """Show everything again."""
        entry = self.query_one(Input)
        entry.value = ""
        entry.remove_class("open")
        self.query_one(DataTable).focus()

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        self._wanted = event.value
        self.redraw()

    @on(Input.Submitted)
    def _close(self) -> None:
        self.query_one(DataTable).focus()

    @on(DataTable.RowSelected)
    def action_explain(self) -> None:
        """Explain the resource of the row under the cursor."""
        chosen = self._chosen()
        if chosen:
            self.push_screen(Explanation(self._told(chosen, CHART_WIDTH)))

    def _told(self, key: str, columns: int) -> Text:
        """The levels of a resource as a picture in the colour of its verdict, and everything about it in words."""
        _, assessment = self.board.assessed[key]
        chart = self.board.chart(key, self._clock(), columns)
        # A picture in reverse would be its own negative.
        picture = Text(f"{chart}\n\n", style="" if self.no_color else STYLES[assessment.verdict])
        return Text.assemble(picture if chart else "", self.board.detail(key))

    def _chosen(self) -> str:
        """The key of the row under the cursor, or nothing."""
        table = self.query_one(DataTable)
        if not table.row_count:
            return ""
        key = table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value
        return key or ""


def columns_at(width: int) -> list[str]:
    """The headings of the columns that a terminal of this width shows."""
    return [heading for heading, from_width in COLUMNS.items() if width >= from_width]


def table_cells(
    line: ShownResource, styles: Mapping[Verdict, str] = STYLES, *, name_width: int = LONGEST_NAME
) -> dict[str, Text]:
    """A line by heading, in the style of its verdict, which is a word as well."""
    style = styles[line.verdict]
    return {
        "runs out in": Text(line.time_left, justify="right", style=style),
        "worst case": Text(line.worst, justify="right"),
        "verdict": Text(word_of(line.verdict), style=style),
        "balance": Text(line.balance, style=style),
        "resource": Text(cut(line.name, min(name_width, LONGEST_NAME))),
        "type": Text(cut(line.type, 18)),
        "last 3 h": Text(line.spark),
    }
