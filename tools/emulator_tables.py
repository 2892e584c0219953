"""What each emulator cannot do, as the tables of CONTRIBUTING.md and docs/architecture.md."""

from demo.localcloud.emulators import EMULATORS, GAPS
from tools.markdown import markdown_table


def emulators_table() -> str:
    """One row for each emulator, in few words."""
    rows = [
        (f"{emulator.name} {emulator.version}", emulator.used_for, "; ".join(emulator.cannot))
        for emulator in EMULATORS
    ]
    return markdown_table("emulator | for | lacks", rows)


def gaps_table() -> str:
    """One row for each gap: who has it, and what stands in."""
    rows = [
        (
            gap.does,
            ", ".join(emulator.name for emulator in EMULATORS if name in emulator.cannot),
            gap.instead,
        )
        for name, gap in GAPS.items()
    ]
    for emulator in EMULATORS:
        for answer in dict.fromkeys(emulator.without.values()):
            kinds = [f"`{kind}`" for kind, why in emulator.without.items() if why == answer]
            rows.append((f"have {', '.join(kinds)}", emulator.name, f"it {answer}"))
    return markdown_table("it cannot | which | so", rows)
