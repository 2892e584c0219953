"""Writes the generated parts of the README: the table of settings. Run by `make gen`."""

from __future__ import annotations

from pathlib import Path

from burstwatch.config import SETTINGS

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- settings -->\n", "<!-- /settings -->"
#: The stack itself fills these in.
OF_THE_STACK = {
    "deployment",
    "sweep_period_s",
    "page_topic_arn",
    "events_topic_arn",
}


def settings_table() -> str:
    """The settings that a deployment can be given, as a table of Markdown."""
    lines = ["| setting | default | meaning |", "| --- | --- | --- |"]
    for setting in SETTINGS:
        if setting.name not in OF_THE_STACK:
            default = (
                f"{setting.default:g}" if isinstance(setting.default, float) else setting.default
            )
            lines.append(f"| `{setting.name}` | {default or 'none'} | {setting.help} |")
    return "\n".join(lines) + "\n"


def with_settings(text: str) -> str:
    """``text`` with the table between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + settings_table() + END + after


if __name__ == "__main__":
    README.write_text(with_settings(README.read_text(encoding="utf-8")), encoding="utf-8")
