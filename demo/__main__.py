"""`make demo`: the whole chain on this machine, from `cdk deploy` to the message in an inbox."""

import argparse
import contextlib
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3

from burstwatch.aws.client.names import is_of
from burstwatch.config import Config
from burstwatch.formatting import HOUR
from demo.fleet import MINUTE_S, Spec, build_fleet
from demo.inbox import Inbox
from demo.localcloud.cloud import LocalCloud, LocalCloudError, free_port, local_cloud
from demo.localcloud.emulators import ROOT
from demo.pace import FULL, QUICK, Pace
from demo.page import report
from demo.play import (
    Player,
    Volume,
    create_fleet,
    publish_until,
    sweeps_too_late,
    take_until,
)
from demo.report import broken_promises, build_result, summary, write_json
from demo.stack import Stack, StackError
from demo.watch import say, watch

#: Where it is written which promises did not hold.
BROKEN = "broken.txt"
#: The event of the deployment's own account and region.
HOME = '{"unit": {}}'


def main() -> int:
    """Run it. 0 when every promise held, 1 when one did not, 2 when it could not run."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument(
        "--port", type=_port, default=0, help="of the local cloud (default: a free one)"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "demo" / "out")
    parser.add_argument(
        "--full", action="store_true", help="ten minutes: also volumes that come close and recover"
    )
    parser.add_argument(
        "--boards",
        help="a Python module that draws the dashboards into the folder that it is given",
    )
    arguments = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell may have had SIGINT ignored
        signal.signal(number, _interrupt)
    pace = FULL if arguments.full else QUICK
    print(opening(pace, arguments.out), flush=True)
    try:
        with local_cloud(
            port=arguments.port or free_port(), log=arguments.out / "cloud.log"
        ) as cloud:
            return run(cloud, arguments.out, pace, boards=arguments.boards)
    except (LocalCloudError, StackError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("demo: stopped, and everything with it", file=sys.stderr)
        return 130


def opening(pace: Pace, out: Path) -> str:
    """What the reader will see."""
    minutes = round(pace.live_s / MINUTE_S) + (2 if pace.deploys_first else 1)
    more = (
        ""
        if pace.recovers
        else "\n  `make demo-full` takes ten minutes: also volumes that come close and recover"
    )
    return (
        "burstwatch on a local cloud: the real `cdk deploy`, and sixteen volumes\n"
        "  soon: what `cdk deploy` makes, then the pages that on-call receives, as they arrive\n"
        f"  in about {minutes} minutes: six volumes have run out, each was paged before\n"
        f"  at the end: a table of all, and {out / 'report.html'}{more}"
    )


def run(cloud: LocalCloud, out: Path, pace: Pace, *, boards: str | None = None) -> int:
    """The demo on a running local cloud. ``boards`` is the module that draws the dashboards."""
    _remove_earlier(out)
    (out / "endpoint.txt").write_text(cloud.endpoint, encoding="utf-8")
    say(f"the local cloud is up at {cloud.endpoint}")
    specs = build_fleet(dry_earlier_s=pace.dry_earlier_s)
    session = boto3.Session("test", "test", region_name="us-east-1")

    def client(name: str) -> Any:  # noqa: ANN401 - boto3 makes its classes at run time
        return session.client(name, endpoint_url=cloud.endpoint)

    stack = Stack(cloud, settings=pace.settings, context={"dashboard": "true"})
    with contextlib.ExitStack() as ending:
        pool = ending.enter_context(ThreadPoolExecutor(1))
        ending.push(lambda failure, *_: stack.cancel() if failure else None)
        inbox = Inbox(client("sns"), client("sqs"), endpoint=cloud.endpoint)
        ending.callback(inbox.close)
        preparing = pool.submit(_prepare, stack, inbox)
        if pace.deploys_first:
            preparing.result()
        live_at = _next_minute(time.time() + pace.begins_after_s)
        volumes, player = _play(ending, client, specs, pace, live_at=live_at)
        outputs = preparing.result()
        say(f"`cdk deploy` is done; lead {pace.settings['lead_s']} s here, 15 minutes by default")

        def look() -> list[str]:
            return [] if boards is None else _draw(boards, cloud, out / "dashboards")

        if pace.sweeps_at_once:
            client("lambda").invoke(
                FunctionName=outputs["SweepFunctionName"], InvocationType="Event", Payload=HOME
            )
            say("the first sweep is started by hand; from now on the schedule does it each minute")
        until, look_at = live_at + pace.live_s, live_at + pace.look_s
        broken = watch(inbox, volumes, player, until=until, look=look, look_at=look_at)

        result = build_result(volumes, _scan(cloud), inbox.collect(), live_at=live_at)
        result |= {"too_slow": _too_slow(client("cloudwatch"), player, live_at)}
        broken += _show(out, volumes, result, recovers=pace.recovers)
    broken += _take_down(cloud, stack, client("cloudwatch"))
    return _end(out, broken)


def _too_slow(cloudwatch: Any, player: Player, live_at: float) -> str | None:  # noqa: ANN401 - boto3
    return player.too_slow() or sweeps_too_late(cloudwatch, live_at, time.time())


def _end(out: Path, broken: Sequence[str]) -> int:
    """Say how it went. Returns the exit code."""
    if broken:
        (out / BROKEN).write_text("\n".join([*broken, ""]), encoding="utf-8")
        print("".join(f"demo: {one}\n" for one in broken), end="", file=sys.stderr)
    say("done" if not broken else "done, and not as promised")
    return 1 if broken else 0


def _play(
    ending: contextlib.ExitStack,
    client: Callable[[str], Any],
    specs: Sequence[Spec],
    pace: Pace,
    *,
    live_at: float,
) -> tuple[list[Volume], Player]:
    """The fleet with its history, alive until the end."""
    volumes = create_fleet(client("ec2"), specs, live_at=live_at)
    for volume in volumes:  # what happened before is published by nobody
        take_until(volume, live_at - pace.history_s)
    count = publish_until(client("cloudwatch"), volumes, time.time())
    say(
        f"{len(volumes)} volumes with {pace.history_s / HOUR:.0f} hours of history: {count:,} datapoints"
    )
    player = Player(client("cloudwatch"), volumes)
    player.start()
    ending.callback(player.stop)
    return volumes, player


def _draw(module: str, cloud: LocalCloud, folder: Path) -> list[str]:
    """Let a module draw the dashboards as they are now. Returns what is missing in them."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-m", module, str(folder)],
        env=cloud.environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return [f"{module} failed: {done.stderr.strip()[-2_000:]}"]
    say(f"wrote the dashboards as they are now to {folder}")
    return done.stdout.splitlines()


def _remove_earlier(out: Path) -> None:
    """Pages of an earlier run, which are not of this one."""
    shutil.rmtree(out / "dashboards", ignore_errors=True)
    for name in ("report.html", BROKEN):
        (out / name).unlink(missing_ok=True)


def _take_down(cloud: LocalCloud, stack: Stack, cloudwatch: Any) -> list[str]:  # noqa: ANN401 - boto3
    """Delete everything. Returns what was left behind."""
    say("deleting the stack and the alarms that its sweeps made")
    stack.destroy()
    print(_burstwatch(cloud, "cleanup", "--yes"), end="")
    # Another deployment on the same cloud keeps its own.
    deployment = Config().deployment
    of_stack = f"burstwatch-{deployment}-"
    names = [one["AlarmName"] for one in cloudwatch.describe_alarms()["MetricAlarms"]]
    left = [name for name in names if name.startswith(of_stack) or is_of(name, deployment)]
    return [f"{len(left)} alarms were left behind"] if left else []


def _prepare(stack: Stack, inbox: Inbox) -> dict[str, str]:
    """Deploy, and subscribe before a sweep can page. Returns the stack's outputs."""
    stack.synth()
    stack.bootstrap()
    outputs = stack.deploy()
    for name, topic in (("page", "Page"), ("notice", "Notice"), ("events", "Events")):
        inbox.subscribe(name, outputs[f"{topic}TopicArn"], http=name == "page")
    return outputs


def _scan(cloud: LocalCloud) -> dict[str, Mapping[str, Any]]:
    """Ask the command line about the fleet at the end, by volume."""
    lines = _burstwatch(cloud, "scan", "--json").splitlines()
    return {entry["id"]: entry for entry in map(json.loads, lines)}


def _burstwatch(cloud: LocalCloud, *arguments: str) -> str:
    run = subprocess.run(  # noqa: S603 - our own command
        [Path(sys.executable).with_name("burstwatch"), *arguments],
        env=cloud.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    if run.returncode:
        print(f"demo: burstwatch {arguments[0]}: {run.stderr.strip()}", file=sys.stderr)
    return run.stdout


def _show(
    out: Path, volumes: Sequence[Volume], result: Mapping[str, Any], *, recovers: bool
) -> list[str]:
    """Write the result and print it. Returns the promises that did not hold."""
    (out / "result.json").write_text(write_json(result), encoding="utf-8")
    now_s = time.time()
    links = [
        (f"dashboard {path.stem}", f"dashboards/{path.name}")
        for path in sorted((out / "dashboards").glob("*.html"))
    ]
    (out / "report.html").write_text(
        report(volumes, result, now_s=now_s, links=links), encoding="utf-8"
    )
    print(f"\n{summary(result)}\n")
    broken = broken_promises(result, recovers=recovers)
    received = len(result["messages"])
    say(f"wrote result.json, with the {received} messages received, to {out}")
    say(f"open {out / 'report.html'}")
    return broken


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65_535:  # noqa: PLR2004 - TCP's own range
        msg = f"invalid port {port}; allowed: 0 to 65535"
        raise argparse.ArgumentTypeError(msg)
    return port


def _next_minute(at: float) -> float:
    return at - at % MINUTE_S + MINUTE_S


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
