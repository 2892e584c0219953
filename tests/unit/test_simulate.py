import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstwatch.backtest.simulate import Phase, Simulation
from burstwatch.ebs.volumes import volume_spec

PROMISE = volume_spec("gp2", 100)


def simulation(**more: object) -> Simulation:
    assert PROMISE.bucket is not None
    return Simulation(spec=PROMISE, bucket=PROMISE.bucket, **more)  # type: ignore[arg-type]


def load(iops: float, seconds: float) -> Phase:
    return Phase(seconds=seconds, read_iops=iops / 4, write_iops=iops * 3 / 4)


def test_the_instant_of_emptying_is_exact_and_inside_its_period() -> None:
    points = list(simulation().play([load(3_000, 3_600)]))
    (dry,) = [point for point in points if point.emptied_at is not None]
    assert dry.emptied_at == pytest.approx(2_000)
    assert dry.start_s <= 2_000 < dry.start_s + 60


def test_an_empty_volume_serves_its_baseline() -> None:
    last = list(simulation().play([load(3_000, 3_600)]))[-1]
    assert (last.read_ops + last.write_ops) / 60 == pytest.approx(300)
    assert last.balance_minimum == 0


def test_reads_and_writes_keep_their_share() -> None:
    (point,) = simulation().play([load(1_000, 60)])
    assert point.read_ops == pytest.approx(15_000)
    assert point.write_ops == pytest.approx(45_000)
    assert point.write_bytes == pytest.approx(45_000 * 16_384)


@given(
    st.lists(
        st.tuples(st.floats(min_value=0, max_value=5_000), st.floats(min_value=1, max_value=900)),
        min_size=1,
        max_size=20,
    ),
    st.floats(min_value=0, max_value=1),
)
def test_the_balance_changes_by_what_was_spent_and_what_came_in(
    segments: list[tuple[float, float]], ratio: float
) -> None:
    level = ratio
    for point in simulation().play([load(iops, s) for iops, s in segments], ratio=ratio):
        spent = (point.read_ops + point.write_ops) / 5_400_000
        came_in = 300 * 60 / 5_400_000
        assert 0 <= point.balance_minimum <= point.level_ratio
        assert point.level_ratio <= level + came_in - spent + 1e-9  # less what ran over the rim
        level = point.level_ratio


@given(st.floats(min_value=1, max_value=3_600), st.floats(min_value=0, max_value=4_000))
def test_cutting_a_load_into_pieces_changes_nothing(cut: float, iops: float) -> None:
    whole = list(simulation().play([load(iops, 3_600)]))
    pieces = list(simulation().play([load(iops, cut), load(iops, 3_600 - cut + 1)]))[: len(whole)]
    for one, other in zip(whole, pieces, strict=False):
        assert one.level_ratio == pytest.approx(other.level_ratio, abs=1e-6)
        assert one.read_ops == pytest.approx(other.read_ops, rel=1e-6, abs=1e-3)
