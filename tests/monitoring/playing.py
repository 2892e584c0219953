"""A demo that is under way, as the report finds it."""

from typing import Any

from demo.fleet import build_fleet
from demo.play import Feed, Volume

LIVE_AT = 1_790_000_000.0


def result(*, paged: dict[str, float], dry: dict[str, float]) -> dict[str, Any]:
    """Three volumes by name, the second of which comes close; instants in seconds of the demo."""
    names = ("drain-100", "wiki", "cache")
    return {
        "live_at": LIVE_AT,
        "volumes": [
            {
                "id": f"vol-{name}", "name": name, "type": "gp2", "size_gib": 100, "state": "finite",
                "exhausted_at": LIVE_AT + dry[name] if name in dry else None,
                "lowest_balance_ratio": {"drain-100": 0.0, "wiki": 0.4}.get(name, 1.0), "last_balance_ratio": 0.5,
            }
            for name in names
        ],
        "alarms": [
            {
                "name": f"burstwatch/{name}", "resource": f"vol-{name}",
                "changes": [
                    {"at": LIVE_AT + at, "state": "ALARM", "time_to_empty_s": 60.0, "true_time_to_empty_s": 60.0}
                ],
            }
            for name, at in paged.items()
        ],
        "messages": [],
    }  # fmt: skip


def playing() -> tuple[list[Volume], dict[str, Any]]:
    """Three volumes and what happened to them: one ran out after its page, one has no bucket."""
    specs = {spec.name: spec for spec in build_fleet()}
    ratios = [(LIVE_AT + 60 * minute, 1 - minute / 10) for minute in range(8)]
    volumes = [
        Volume(
            spec=specs[name],
            id=f"vol-{name}",
            instance_id="i-1",
            feed=Feed(iter(())),
            ratios=ratios,
        )
        for name in ("cache", "wiki", "drain-100")
    ]
    return volumes, result(paged={"drain-100": 100}, dry={"drain-100": 400})
