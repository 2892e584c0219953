"""The table of instance types: each line makes sense, and what AWS's pages say of some is in it."""

import pytest

from burstwatch_exporter.instance_types import Bandwidth, find_type, instance_types

#: Families for which AWS says nothing of their volumes: their bandwidth is one with that of the network.
WITHOUT_LIMITS = {"t1", "t2", "m1", "m2", "m3", "c1", "c3", "i2", "r3"}


def test_every_type_has_a_network_and_all_but_the_oldest_have_limits() -> None:
    types = list(instance_types())
    assert len({known.name for known in types}) == len(types) > 1_000
    for known in types:
        assert 0 < known.bandwidth.baseline <= known.bandwidth.peak, known
        family = known.name.partition(".")[0]
        assert (known.limits is not None) or family in WITHOUT_LIMITS, known
        assert known.limits is None or min(known.limits.iops, known.limits.mib_s) > 0, known


# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ebs-optimized.html and
# https://docs.aws.amazon.com/ec2/latest/instancetypes/gp.html (2026-11)
@pytest.mark.parametrize(
    ("name", "iops", "mib_s", "baseline_gbps", "peak_gbps"),
    [
        ("m5.large", 18_750, 566.24, 0.75, 10.0),
        ("t3.micro", 11_800, 248.55, 0.064, 5.0),
        ("c5n.large", 20_000, 566.24, 3.0, 25.0),
        ("m5.24xlarge", 80_000, 2264.98, 25.0, 25.0),
    ],
)
def test_what_the_pages_of_aws_say_of_a_type_is_in_the_table(
    name: str, iops: float, mib_s: float, baseline_gbps: float, peak_gbps: float
) -> None:
    known = find_type(name)
    assert known is not None
    assert known.limits is not None
    assert (known.limits.iops, round(known.limits.mib_s, 2)) == (iops, mib_s)
    octets = Bandwidth(baseline=baseline_gbps * 1e9 / 8, peak=peak_gbps * 1e9 / 8)
    assert known.bandwidth == octets
    assert octets.can_burst == (baseline_gbps < peak_gbps)


def test_a_type_that_is_not_in_the_table_is_not_known() -> None:
    assert (find_type("x9.huge"), find_type(""), find_type("# DescribeInstanceTypes")) == (
        None,
    ) * 3
