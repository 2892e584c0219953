"""What programs print, whole, broken and made up."""

import json
import math
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from burstwatch_exporter.measure import fio
from burstwatch_exporter.measure.outputs import Outcome, OutputError, parse_dbench, parse_dd
from burstwatch_exporter.measure.picture import page
from burstwatch_exporter.measure.record import RecordError, read_result, result_json, write_record
from burstwatch_exporter.measure.report import minutes, record_markdown, record_text
from tests.exporter.pages import MEASURED

CORPUS = Path(__file__).parent / "fio_output"
GOOD = (CORPUS / "mix.json").read_text()
BROKEN = sorted(path for path in CORPUS.iterdir() if path.stem.startswith("broken-"))


def test_a_result_of_fio_is_read() -> None:
    found = fio.parse_output(GOOD)
    assert found.version == "fio-3.33"
    assert found.read is not None
    assert found.write is not None
    assert found.iops == pytest.approx(found.read.iops + found.write.iops)
    assert found.read.percentiles_s["95"] > found.read.percentiles_s["50"] > 0
    assert found.mean_s is not None
    assert found.read.mib_s == pytest.approx(found.read.iops * 4 / 1024, rel=0.01)


def test_words_before_and_after_the_json_do_not_matter() -> None:
    wrapped = f"\nfio: terminating on signal 2\n{GOOD}\nfio: {{done}}\n"
    assert fio.parse_output(wrapped).iops == fio.parse_output(GOOD).iops


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_what_is_broken_is_refused_with_what_is_wrong(path: Path) -> None:
    said = {
        "broken-empty": "printed no result",
        "broken-half": "not whole",
        "broken-text": "unable to open",
        "broken-error": "error 5",
        "broken-no-io": "did no I/O",
        "broken-two-groups": "length <= 1",
        "broken-nan": "not whole",
        "broken-infinite": "Number out of range",
        "broken-negative": "not whole",
    }
    with pytest.raises(OutputError, match=said[path.stem]):
        fio.parse_output(path.read_text())


def is_sane(found: Outcome) -> bool:
    json.dumps(found.raw, allow_nan=False)  # it is kept with the result
    numbers = [found.iops, found.mib_s, *([] if found.mean_s is None else [found.mean_s])]
    return all(math.isfinite(value) and value >= 0 for value in numbers)


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-10, 10**30), st.floats(), st.text(max_size=8),
    st.builds(dict), st.builds(list), st.builds(lambda: {"percentile": {"x": 1}}),
)  # fmt: skip


@given(data=st.data())
def test_a_result_with_anything_anywhere_is_read_or_refused(data: st.DataObject) -> None:
    whole = json.loads(GOOD)
    for _ in range(data.draw(st.integers(1, 3))):
        place = whole
        while True:
            names = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not names:
                break
            name = data.draw(st.sampled_from(names))
            child = place[name]
            if isinstance(child, dict | list) and data.draw(st.booleans()):
                place = child
                continue
            if isinstance(place, dict) and data.draw(st.booleans()):
                del place[name]
            else:
                place[name] = data.draw(SCALARS)
            break
    with suppress(OutputError):
        assert is_sane(fio.parse_output(json.dumps(whole)))


@given(start=st.integers(0, len(GOOD)), length=st.integers(0, 40), text=st.text(max_size=10))
def test_a_result_that_was_cut_or_written_over_is_read_or_refused(
    start: int, length: int, text: str
) -> None:
    for broken in (GOOD[:start], GOOD[:start] + text + GOOD[start + length :]):
        with suppress(OutputError):
            assert is_sane(fio.parse_output(broken))


@given(text=st.text())
@example("{" * 100_000)
@example('{"jobs": 1e999}')
def test_anything_at_all_is_refused_in_words(text: str) -> None:
    with pytest.raises(OutputError):
        fio.parse_output(text)
    with pytest.raises(OutputError):
        parse_dd(text, block_bytes=512, seconds=1)
    with pytest.raises(OutputError):
        parse_dbench(text)
    fio.parse_latency_log(text)


@pytest.mark.parametrize("text", ["fio-3.33\n", "fio-3.1", "fio-3.38-57-g1878"])
def test_a_version_that_will_do(text: str) -> None:
    assert fio.check_version(text) == text.strip()


@pytest.mark.parametrize(
    ("text", "said"),
    [("fio-2.21", "too old, needed is fio-3.1"), ("", "prints ''"), ("3.33", "expected")],
)
def test_a_version_that_will_not_do_is_named(text: str, said: str) -> None:
    with pytest.raises(OutputError, match=said):
        fio.check_version(text)


def test_latencies_are_means_of_a_second_without_the_last_and_what_is_cut_off() -> None:
    log = "1000, 200000, 0, 0, 0\n1000, 400000, 1, 0, 0\n2000, 500000, 0, 0, 0\n2100, 9000000, 0, 0\n21"
    first, second = fio.parse_latency_log(log)
    assert first == pytest.approx((1.0, 300e-6))
    assert second == pytest.approx((2.0, 500e-6))


def test_dbench_says_what_files_were_given() -> None:
    found = parse_dbench((CORPUS.with_name("dbench_output.txt")).read_text())
    assert found.version == "dbench-4.00"
    assert found.files_mib_s == pytest.approx(706.006 / 1.048576)
    assert len(found.latencies) == 4


def test_dbench_that_was_stopped_has_its_last_second() -> None:
    text = CORPUS.with_name("dbench_output.txt").read_text().partition("cleanup")[0]
    found = parse_dbench(text)
    assert found.files_mib_s == pytest.approx(706.01 / 1.048576)


def test_all_copies_of_dd_are_counted_together() -> None:
    text = "2000+0 records in\n2000+0 records out\n1024000 bytes (1.0 MB, 1000 KiB) copied, 0.5 s, 2 MB/s\n"
    small = "512 bytes copied, 0.0001 s, 5 MB/s\n1 byte copied, 1e-05 s, 1 MB/s\n"
    found = parse_dd(text * 2 + small, block_bytes=512, seconds=2)
    assert found.iops == pytest.approx((4_001 + 1 / 512) / 2)


RESULTS = sorted(MEASURED.glob("*.json"))


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_record_is_read_as_it_was_written(path: Path, tmp_path: Path) -> None:
    record = read_result(path)
    write_record(tmp_path / record.filename, record)
    assert read_result(tmp_path / record.filename) == record
    # These are older than its newest field.
    assert json.loads(result_json(record)) == {"overspent": 0.0, **json.loads(path.read_text())}


@given(data=st.data())
def test_a_record_with_anything_anywhere_is_read_or_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = json.loads((MEASURED / "fio-4k-qd4.json").read_text())
    place = whole
    for name in data.draw(
        st.sampled_from([["steps", 0], ["volumes", 0, "credit"], ["steps", 1, "read"], []])
    ):
        place = place[name]
    if place is None:
        return
    name = data.draw(st.sampled_from(sorted(place)))
    place[name] = data.draw(SCALARS)
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(whole))
    try:
        record = read_result(path)
    except RecordError:
        return
    assert json.loads(result_json(record)) is not None


def test_a_long_step_has_a_reading_a_minute() -> None:
    record = read_result(MEASURED / "drain.json")
    (first, *_) = record.steps
    samples = [
        (float(second), 3_000.0 if second <= 90 else 300.0, 46.9) for second in range(1, 181)
    ]
    long = replace(first, samples=samples)
    (line,) = minutes(long)
    assert line == "randread, IOPS minute by minute: 3,000; 1,650; 300"
    assert minutes(first) == []
    assert line in record_text(replace(record, steps=[long]))
    assert f"- {line}" in record_markdown(replace(record, steps=[long]))


def test_the_page_draws_the_knee_the_limits_and_the_curves() -> None:
    drain = page(read_result(MEASURED / "drain.json"))
    assert "knee at 40 s" in drain
    assert "burst 3,000" in drain
    assert "baseline 300" in drain
    scaling = page(read_result(MEASURED / "scaling.json"))
    assert "IOPS by number of jobs" in scaling
    assert all(f">{name}</text>" in scaling for name in ("randread", "seqwrite", "256"))
    (step, *_) = read_result(MEASURED / "drain.json").steps
    record = replace(read_result(MEASURED / "drain.json"), steps=[replace(step, tool="dbench")])
    assert "mean latency, ms" in drain
    assert "greatest latency, ms" in page(record)  # the only one that dbench prints
    for text in (drain, scaling):
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")  # nothing is fetched


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_every_record_is_shown_in_words_and_as_a_page(path: Path) -> None:
    record = read_result(path)
    for text in (record_text(record), record_markdown(record), page(record)):
        assert all(step.name in text for step in record.steps)
        assert "None" not in text
        assert "nan" not in text


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("began_s",), 10**400, "Number out of range"),
        (("steps", 0, "name"), "\ud800", "surrogate"),
        (("steps", 0, "samples"), [[1, 2]], r"`array` of length 3 - at `\$.steps\[0\].samples"),
        (("steps", 0, "iops"), "many", r"`float.*got `str` - at `\$.steps\[0\].iops"),
        (("format",), 2, r"enum value 2 - at `\$.format"),
    ],
)
def test_a_record_that_no_page_could_show_is_refused(
    place: tuple[str | int, ...], value: object, said: str, tmp_path: Path
) -> None:
    whole = json.loads((MEASURED / "probe.json").read_text())
    inner = whole
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    (tmp_path / "a.json").write_text(json.dumps(whole))
    with pytest.raises(RecordError, match=said):
        read_result(tmp_path / "a.json")
