"""Numbers in every language and times in every pattern are read as they are meant, or refused by name."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from burstwatch.recordings.reading import read_text

START_S = 1_794_949_200  # 2026-11-17 21:00Z
#: The decimal sign, and what separates thousands.
LANGUAGES = {
    "en": (".", ","), "de": (",", "."), "fr": (",", "\u00a0"), "fr narrow": (",", "\u202f"), "ch": (".", "'"), "ch2": (".", "\u2019"),
    "se": (",", " "), "iso": (".", " "), "de plain": (",", ""), "plain": (".", ""),
}  # fmt: skip
COUNTS = (900_000.0, 150_000.0, 1_234_567.0, 9_000.0, 12.0)
SIZES = (81_920_000.0, 3_584_403_229.0, 0.0, 1_048_576.0, 9_037_065_785.0)
BALANCES = (100.0, 98.25, 83.91, 1.5, 0.25)
#: How people and programs write a time, as strftime has it.
PATTERNS = (
    "%Y-%m-%dT%H:%M:%S+0000", "%Y-%m-%dT%H:%M:%S-00:00", "%Y-%m-%d %H:%M:%S Z", "%B %d %Y, %H:%M:%S.000", "%d.%m.%Y %H.%M",
    "%d-%m-%Y %H.%M", "%d/%m/%Y %H.%M", "%d/%m/%Y %H.%M.%S", "%Y-%m-%d %H.%M.%S", "%Y-%m-%dT%H.%M", "%Y-%m-%d %H.%M", "%Y/%m/%d %H.%M",
    "%Y-%m-%dT%H%M", "%Y-%m-%dT%H:%M:%S,%f", "%Y-%m-%d %H:%M:%S,000", "%d %b %Y %H:%M", "%A, %d %B %Y %H:%M:%S GMT", "%Y-%m-%d %H.%M.%S.123",
)  # fmt: skip
#: Those that may mean something else, or that nobody has asked for: they are refused with what is allowed.
REFUSED_PATTERNS = (
    "%Y-%m-%dT%H-%M-%S", "%Y-%m-%d %H-%M", "%Y-%m-%dT%H-%M", "%Y%m%d %H:%M", "%Y%m%d%H%M", "%Y%m%d %H%M", "%d.%m.%Y klo %H.%M", "%d.%m.%Y kl. %H.%M",
)  # fmt: skip


def written(value: float, language: str, places: int) -> str:
    decimal, thousands = LANGUAGES[language]
    return f"{value:,.{places}f}".translate({ord(","): thousands, ord("."): decimal})


@pytest.mark.parametrize("places", [0, 2])
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_number_of_any_language_is_read_as_it_is_meant(
    delimiter: str, language: str, places: int
) -> None:
    rows = [
        (
            datetime.fromtimestamp(START_S + 300 * n, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            *(written(value, language, places) for value in (balance, count)),
            written(size, language, 0),
        )
        for n, (balance, count, size) in enumerate(zip(BALANCES, COUNTS, SIZES, strict=True))
    ]
    lines = [("Time", "BurstBalance", "VolumeReadOps", "VolumeReadBytes"), *rows]
    text = "\n".join(delimiter.join(f'"{cell}"' for cell in line) for line in lines)
    contents = read_text(text, name="file")
    read = {series.names[-1]: [value for _, value in series.points] for series in contents.series}
    assert read["VolumeReadOps"] == [*COUNTS]
    assert read["VolumeReadBytes"] == [*SIZES]
    assert read["BurstBalance"] == [float(f"{balance:.{places}f}") for balance in BALANCES]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (("7,50,000", "9,00,000.5"), [750_000.0, 900_000.5]),
        (("81.920.000", "150.000"), [81_920_000.0, 150_000.0]),
        (("273.1 kBs", "1.5 MBs"), [273_100.0, 1_500_000.0]),
    ],
)
def test_groups_of_india_and_units_of_grafana_are_read(
    cells: tuple[str, ...], values: list[float]
) -> None:
    rows = "\n".join(f'{START_S + 300 * n},"{cell}"' for n, cell in enumerate(cells))
    (series,) = read_text(f"Time,VolumeReadBytes\n{rows}\n", name="file").series
    assert [value for _, value in series.points] == values


def listing(pattern: str, times: Sequence[int]) -> str:
    rows = (f'"{datetime.fromtimestamp(t, UTC).strftime(pattern)}",50' for t in times)
    return "\n".join(["Time,BurstBalance", *rows]) + "\n"


@pytest.mark.parametrize("count", [3, 60])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_time_of_any_pattern_is_read_as_it_is_meant(pattern: str, count: int) -> None:
    times = [START_S + 300 * n for n in range(count)]
    (series,) = read_text(listing(pattern, times), name="file").series
    assert [at for at, _ in series.points] == pytest.approx(times, abs=0.2)


@pytest.mark.parametrize("count", [3, 60])
@pytest.mark.parametrize("pattern", REFUSED_PATTERNS)
def test_a_time_that_may_mean_something_else_is_refused(pattern: str, count: int) -> None:
    times = [START_S + 300 * n for n in range(count)]
    with pytest.raises(ValueError, match=r"the time is '.*allowed"):
        read_text(listing(pattern, times), name="file")


def test_rows_with_the_hour_alone_are_at_its_beginning() -> None:
    times = [START_S + 3600 * n for n in range(5)]
    (series,) = read_text(listing("%Y-%m-%d %H", times), name="file").series
    assert [at for at, _ in series.points] == times
