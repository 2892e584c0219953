"""Draws docs/incident.svg for the README: a volume that is loaded to its limit, and what burstwatch says of it."""

from burstwatch.backtest.explain import Story
from burstwatch.backtest.replay import Recorded, volume
from burstwatch.backtest.scene import draw_scene, scene_of
from burstwatch.backtest.simulate import Phase, Simulation, to_sample
from burstwatch.charts import picture
from burstwatch.config import Config
from burstwatch.ebs.volumes import volume_spec
from burstwatch.kinds.ebs_volume import KIND
from burstwatch.recordings.samples import to_points

#: As wide as a phone, so that its words are read there.
WIDTH = 358.0
SIZE_GIB, RATIO, PERIOD_S, DELAY_S = 100, 0.75, 60.0, 60.0
#: At its baseline it neither gains nor loses credits.
BASELINE_IOPS, FULL_BURST_IOPS = 300.0, 3_000.0
CALM_S, BURST_S = 6 * 3_600.0, 3_000.0
#: The burst begins at 14:22Z, so that the picture shows the times of the message above it.
START_S = 1_790_000_520.0 - CALM_S


def draw() -> str:
    """The picture, with the page and the time that the model itself gives."""
    spec = volume_spec("gp2", SIZE_GIB)
    if spec.bucket is None:
        msg = f"gp2 of {SIZE_GIB} GiB has no bucket"
        raise ValueError(msg)
    phases = [
        Phase(seconds=CALM_S, read_iops=BASELINE_IOPS, write_iops=0.0),
        Phase(seconds=BURST_S, read_iops=0.0, write_iops=FULL_BURST_IOPS),
    ]
    played = Simulation(spec=spec, bucket=spec.bucket).play(phases, ratio=RATIO, start_s=START_S)
    samples = [to_sample(point) for point in played]
    resource = volume("gp2", SIZE_GIB)
    recorded = Recorded(
        name="orders-db", kind=KIND, resource=resource, samples=samples,
        points=to_points(samples, resource, PERIOD_S, KIND), period_s=PERIOD_S, delay_s=DELAY_S,
    )  # fmt: skip
    story = Story(
        name=recorded.name, resource=resource, samples=samples, points=recorded.points,
        moments=list(recorded.play(Config()).moments()), period_s=PERIOD_S, delay_s=DELAY_S,
    )  # fmt: skip
    scene = scene_of(story)
    if scene is None:
        msg = "the volume was not paged for, and did not run out"
        raise ValueError(msg)
    return picture([draw_scene(story, scene, width=WIDTH)])
