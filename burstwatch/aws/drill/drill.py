"""A fire drill: a synthetic episode through the real metric, alarm and topic, hop by hop.

The deployed function makes the metric, the alarm and the message with its own rights
(``steps.py``). The drill asks it, and watches what comes of it. At the end it takes away
what it made. If it is stopped while its alarm is in ALARM, the next sweeps end that, so that
whoever heard it hears its end. After a drill that was killed they do so an hour later, and the
next drill takes its queue.
"""

import json
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from burstwatch.aws.client.deployment import count_subscribers
from burstwatch.aws.client.names import ALARM_PERIOD_S
from burstwatch.aws.client.session import AWS_ERRORS, Clients, describe_error
from burstwatch.aws.drill.queue import clear_leftovers, has_received, open_queue
from burstwatch.history.observations import Verdict

#: CloudWatch looks at an alarm once a minute, and may take one more to see a new datapoint.
WAIT_S = 10.0 * ALARM_PERIOD_S
POLL_S = 2.0
#: An alarm that so many polls in a row do not find is gone.
GONE_AFTER = 3
#: Without these hops there is nothing to watch after them.
NEEDED = frozenset({"metric", "alarm", "raised", "metric ends", "resolved"})


@dataclass(frozen=True, kw_only=True)
class Hop:
    """One step of the way. ``seconds`` is its delay, None where it has none or did not end.

    ``ok`` is None for a hop that was not tried, because one before it failed.
    """

    name: str
    ok: bool | None
    seconds: float | None = None
    detail: str = ""


class HopError(Exception):
    """A hop that failed; the message says how."""


@dataclass(frozen=True, kw_only=True)
class Drill:
    """One fire drill: whose, which severity's way, its own id, and its clock.

    ``function`` is the name of the deployed function. ``clock`` returns seconds since the epoch,
    ``sleep`` waits for some. ``begun`` is called with the name of each hop before it is tried.
    """

    clients: Clients
    function: str
    severity: Verdict
    drill_id: str
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    with_queue: bool = True
    begun: Callable[[str], None] = lambda _: None

    def run(self) -> Generator[Hop]:
        """Each hop when it is known how it went. At the end it leaves nothing, or an alarm in ALARM to the sweeps."""
        ready: dict[str, str] = {}

        def ask_if_ready() -> str:
            ready.update(self._ask("ready"))
            return ready["detail"]

        function = self._try("function", ask_if_ready)
        yield function
        with ExitStack() as ending:
            queue, steps = None, list[Callable[[], object]]()
            ending.callback(_quietly, partial(_take_away, steps))
            if ready and self.with_queue:
                hop, queue = self._listen(ready["topic"], steps)
                yield hop
            failed = "" if ready else function.name
            for name, step in self._steps(ready, queue, ending):
                if "delivered" in name and ready and queue is None:
                    yield Hop(
                        name=name,
                        ok=None,
                        detail="not checked: there is no test queue to receive the message",
                    )
                elif failed and (name != "removed" or not ready):
                    yield Hop(name=name, ok=None, detail=f"not tried after {failed}")
                else:
                    hop = self._try(name, step)
                    yield hop
                    # Without a subscriber or a message, the alarm itself can still be watched.
                    if not hop.ok and name in NEEDED:
                        failed = name
            if ready and self.with_queue:
                yield self._try("queue removed", partial(_take_away, steps))

    def _steps(
        self, ready: Mapping[str, str], queue: str | None, ending: ExitStack
    ) -> list[tuple[str, Callable[[], str]]]:
        """List the steps in the order in which they are tried. ``ready`` has the names of the alarm and of its topic."""

        def make_alarm() -> str:
            ending.callback(_quietly, lambda: self._leave(ready["alarm"]))
            return self._do("alarm")

        return [
            ("subscribers", lambda: self._subscribers(ready["topic"])),
            ("metric", lambda: self._do("begin")),
            ("alarm", make_alarm),
            ("event", lambda: self._do("event")),
            ("raised", lambda: self._await_state(ready["alarm"], "ALARM")),
            ("delivered", lambda: self._await_message(queue, ready, "ALARM")),
            ("metric ends", lambda: self._do("end")),
            ("resolved", lambda: self._await_state(ready["alarm"], "OK")),
            ("recovery delivered", lambda: self._await_message(queue, ready, "OK")),
            ("removed", lambda: self._leave(ready["alarm"])),
        ]

    def _leave(self, alarm: str) -> str:
        """Delete the alarm, unless somebody who heard it would then never hear that it is over.

        Raises:
            HopError: if it is still in ALARM. Sweeps publish its end and delete it.
        """
        alarms = self.clients("cloudwatch").describe_alarms(AlarmNames=[alarm])["MetricAlarms"]
        if any(listed["StateValue"] == "ALARM" for listed in alarms):
            self._ask("end")
            msg = f"{alarm} is still in ALARM: sweeps end it and delete it, at the latest after an hour"
            raise HopError(msg)
        return self._do("remove")

    def _do(self, step: str) -> str:
        return self._ask(step)["detail"]

    def _ask(self, step: str) -> dict[str, str]:
        """Let the function do a step.

        Raises:
            HopError: with the function's own error.
        """
        event = {"drill": {"id": self.drill_id, "severity": self.severity, "step": step}}
        reply = self.clients("lambda").invoke(
            FunctionName=self.function, Payload=json.dumps(event).encode()
        )
        try:
            answer = json.loads(reply["Payload"].read())
            error = answer.get("error") or answer.get("errorMessage")
            if not error and "detail" in answer:
                return dict(answer)
        except (ValueError, AttributeError):
            error = None
        msg = f"{self.function}: {error or 'this version of the function has no drill, deploy burstwatch again'}"
        raise HopError(msg)

    def _try(self, name: str, step: Callable[[], str]) -> Hop:
        """Take one step of the drill and time it; a step that fails is a hop that failed."""
        self.begun(name)
        began = self.clock()
        try:
            detail = step()
        except HopError as error:
            return Hop(name=name, ok=False, detail=str(error))
        except AWS_ERRORS as error:
            return Hop(name=name, ok=False, detail=describe_error(error))
        return Hop(name=name, ok=True, seconds=self.clock() - began, detail=detail)

    def _until(self, check: Callable[[], str], failure: str) -> str:
        """Return what ``check`` finds, as soon as it finds something."""
        deadline = self.clock() + WAIT_S
        while not (outcome := check()):
            if self.clock() >= deadline:
                msg = f"{failure} within {WAIT_S:.0f} s"
                raise HopError(msg)
            self.sleep(POLL_S)
        return outcome

    def _await_state(self, name: str, state: str) -> str:
        """Wait for the drill's alarm to reach a state, with a datapoint a minute meanwhile."""
        reported, missing = self.clock(), 0

        def check() -> str:
            nonlocal reported, missing
            if self.clock() - reported >= ALARM_PERIOD_S:
                reported = self.clock()  # a datapoint a minute, as from a sweep
                self._do("end" if state == "OK" else "begin")
            reply = self.clients("cloudwatch").describe_alarms(AlarmNames=[name])
            if not reply["MetricAlarms"]:
                missing += 1
                if missing < GONE_AFTER:
                    return ""
                msg = f"{name} is gone: somebody deleted it while the drill went on"
                raise HopError(msg)
            missing = 0
            (alarm,) = reply["MetricAlarms"]
            return f"the alarm is {state}" if alarm["StateValue"] == state else ""

        return self._until(check, f"the alarm did not change to {state}")

    def _subscribers(self, topic: str) -> str:
        """Check who would hear it. An alarm without a subscriber is no alarm."""
        count, pending = count_subscribers(self.clients, topic)
        waiting = f", {pending} not confirmed" if pending else ""
        if count == 0:
            msg = f"nobody is subscribed to {topic}{waiting}"
            raise HopError(msg)
        return f"{count} confirmed{waiting}"

    def _listen(self, topic: str, steps: list[Callable[[], object]]) -> tuple[Hop, str | None]:
        """Subscribe a queue of the drill's own to the topic. Returns the hop, and the queue's URL if it is there.

        ``steps`` gets what takes it away again, the last step first.
        """
        urls: list[str] = []

        def listen() -> str:
            clear_leftovers(self.clients, topic, self.clock())
            name = f"burstwatch-{self.drill_id}"
            urls.append(open_queue(self.clients, topic, name, steps))
            return name

        hop = self._try("queue", listen)
        return hop, urls[0] if urls else None

    def _await_message(self, queue: str | None, ready: Mapping[str, str], state: str) -> str:
        """Wait for CloudWatch's own notification of the alarm's new state in the drill's queue."""

        def check() -> str:
            is_delivered = has_received(self.clients, queue, ready["alarm"], state)
            return f"the topic delivered {state}" if is_delivered else ""

        return self._until(check, f"{ready['topic']} did not deliver {state}")


def _take_away(steps: list[Callable[[], object]]) -> str:
    """Do the steps, the last first. One that fails keeps those before it: a topic must not send to no queue."""
    while steps:
        steps[-1]()
        steps.pop()
    return "everything that the drill made is deleted"


def _quietly(step: Callable[[], object]) -> None:
    """Do a step on the way out, and drop its error, which would hide how the drill went."""
    try:
        step()
    except (HopError, *AWS_ERRORS):
        return
