"""Writes the series that `burstwatch explain --example` plays. Run by `make gen`.

The I/O is a CloudWatch recording of a real EC2 instance (Numenta Anomaly Benchmark,
MIT, see demo/workloads), rescaled; the balance is what a gp2 volume would have had under
it, because the recording has none.
"""

from datetime import UTC, datetime
from pathlib import Path

from burstwatch.backtest.simulate import Simulation
from burstwatch.backtest.workloads import scaled_loads
from burstwatch.cli.recorded import EXAMPLE, EXAMPLE_SPEC
from burstwatch.ebs.volumes import volume_spec
from demo.fleet import recorded_rates
from tests.recorded import write_series

STEP_S = 300
DAYS = 2
#: The first datapoint of the recording, by its source, and the part of it that is played.
RECORDED_FROM = datetime(2014, 4, 2, 14, 25, tzinfo=UTC)
FROM_DAY = 8.5
RHO = 0.8
NOTE = (
    "# I/O: CloudWatch DiskWriteBytes of an EC2 instance, Numenta Anomaly Benchmark (MIT),\n"
    "# rescaled to a mean of 0.8 x baseline. Balance: a simulated gp2 volume of 400 GiB.\n"
)


def main() -> None:
    """Write the file."""
    volume = volume_spec(EXAMPLE_SPEC["type"], float(EXAMPLE_SPEC["size_gib"]))
    if volume.bucket is None:
        raise AssertionError
    rates = recorded_rates("nab/nab_c0d644")
    loads = scaled_loads(rates, step_s=STEP_S, mean_iops=RHO * volume.baseline, reads=0.0)
    simulation = Simulation(spec=volume, bucket=volume.bucket, period_s=STEP_S)
    points = list(simulation.play(loads, start_s=RECORDED_FROM.timestamp()))
    begin, count = round(FROM_DAY * 86_400 / STEP_S), DAYS * 86_400 // STEP_S
    lines = write_series(points[begin : begin + count])
    target = Path(__file__).parents[1] / "burstwatch" / "backtest" / "examples" / EXAMPLE
    target.write_text(NOTE + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
