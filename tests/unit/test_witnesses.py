"""Who is asked as a witness when the resources that are due are silent."""

from dataclasses import replace

from burstwatch.backtest.replay import volume
from burstwatch.forecast.policy import Assessment
from burstwatch.forecast.projection import Projection
from burstwatch.history.observations import Reporting, Resource, State
from burstwatch.polling.order import witnesses
from burstwatch.polling.schedule import Judgement, LastLook, Schedule


def test_of_the_witnesses_those_last_seen_active_come_first() -> None:
    """An idle volume is silent too, and tells nothing."""
    idle, active, new = (replace(volume("gp2", 100), id=name) for name in ("idle", "active", "new"))
    schedule = Schedule()
    schedule.looks = {idle.key: looked(idle, "idle"), active.key: looked(active, "finite")}
    order = [resource.id for resource in witnesses([idle, new, active], [], schedule)]
    assert order[0] == "active"
    assert set(order) == {"idle", "active", "new"}


def test_what_is_due_or_cannot_spend_is_no_witness() -> None:
    due = replace(volume("gp2", 100), id="due")
    detached = replace(volume("gp2", 100), id="detached", reporting=Reporting(in_use=False))
    assert witnesses([due, detached], [due], Schedule()) == []


def looked(resource: Resource, state: State) -> LastLook:
    """A last look that found a state."""
    projection = Projection(state=state, reason="", at=0.0)
    assessment = Assessment(verdict="ok", reason="", projection=projection)
    judgement = Judgement(resource=resource, assessment=assessment)
    return LastLook(judgement=judgement, at=0.0, due_at=0.0, late_at=0.0)
