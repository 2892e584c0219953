"""Writes the series that `burstwatch explain --example` plays. Run by `make gen`.

The I/O is a CloudWatch recording of a real EC2 instance (Numenta Anomaly Benchmark,
MIT, see demo/workloads), rescaled; the balance is what a gp2 volume of 100 GiB would
have had under it, because the recording has none.
"""

from pathlib import Path

from burstwatch.backtest.simulate import Simulation
from burstwatch.backtest.workloads import scaled_loads
from burstwatch.ebs.volumes import volume_spec
from demo.fleet import recorded_rates
from tests.recorded import write_series

STEP_S = 300
DAYS = 3
NOTE = (
    "# I/O: CloudWatch DiskWriteBytes of an EC2 instance, Numenta Anomaly Benchmark (MIT),\n"
    "# rescaled to a mean of 0.8 x baseline. Balance: a simulated gp2 volume of 100 GiB.\n"
)


def main() -> None:
    """Write the file."""
    volume = volume_spec("gp2", 100)
    if volume.bucket is None:
        raise AssertionError
    rates = recorded_rates("nab/nab_1ef3de")
    loads = scaled_loads(rates, step_s=STEP_S, mean_iops=0.8 * volume.baseline, reads=0.0)
    simulation = Simulation(spec=volume, bucket=volume.bucket, period_s=STEP_S)
    points = list(simulation.play(loads))
    dry = next(index for index, point in enumerate(points) if point.emptied_at is not None)
    steps = DAYS * 86_400 // STEP_S
    start = max(0, dry - steps // 2)
    window = points[start : start + steps]
    shift = window[0].start_s
    lines = write_series(window)
    body = [_shifted(line, shift) for line in lines[1:]]
    target = Path(__file__).parents[1] / "burstwatch" / "backtest" / "examples" / "gp2_100gib.csv"
    target.write_text(NOTE + lines[0] + "".join(body), encoding="utf-8")


def _shifted(line: str, seconds: float) -> str:
    time, rest = line.split(",", 1)
    return f"{float(time) - seconds:.0f},{rest}"


if __name__ == "__main__":
    main()
