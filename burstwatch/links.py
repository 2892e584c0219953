"""Where a message points to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Links:
    """Where to read on. ``runbooks`` is the folder's address, or empty for the repository's own."""

    dashboard: str = ""
    runbooks: str = ""

    def runbook(self, name: str) -> str:
        """The address of one runbook."""
        return f"{(self.runbooks or 'monitoring/runbooks').rstrip('/')}/{name}.md"
