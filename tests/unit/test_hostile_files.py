"""Files that want all of the memory, the stack or the time: each is refused in one line, and quickly."""

import gzip
import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burstwatch.files import read_yaml
from burstwatch.recordings.formats.layouts import MOST_CELLS
from burstwatch.recordings.reading import LARGEST_BYTES, MOST_OF, read_text

pytestmark = pytest.mark.slow

MOST_BYTES, MOST_S = 3 << 30, 60
#: CPU for a cell of 20,000 characters. What tries each of its places again takes more than ten times as much.
LONGEST_CELL_S = 2.0
COMMAND = f"import resource, sys; resource.setrlimit(resource.RLIMIT_AS, ({MOST_BYTES}, {MOST_BYTES})); from burstwatch.cli.main import main; sys.argv[0] = 'burstwatch'; main()"
#: What opens something that may be opened again inside, by form, and how a text of that form begins.
OPENERS = {
    "json lists": ("", "["),
    "json objects": ("", '{"a":'),
    "json both": ("", '[{"Timestamps":'),
    "yaml lists": ("a: ", "["),
    "yaml objects": ("a: ", "{a: "),
    "yaml blocks": ("Datapoints:\n", "- "),
    "yaml keys": ("a: 1\n", "? "),
    "yaml both": ("Datapoints:\n- ", "[{"),
    "quotes": ("time,BurstBalance\n", '"'),
    "separators": ("time,BurstBalance\n", ","),
    "signs": ("time,BurstBalance\n", "+-"),
}


#: What no pattern may try to match from each of its places on.
TOKENS = (
    '"', "'", " ", "\t", "a", "A", "0", "1", ".", "-", "+", ":", ",", "=", "(", ")", "[", "]", "/", "\\", "%", "_", "{", "}", "#", "<", "*", "a ", "1,",
    "a=", "a.", "0:", "a,b=c", " a=b", 'a="', '\\"', "1'", "年", "- ", "a_", "Aa", " (", "()", "( )", "(a", "1:00 ", "am", "+0", "| ", "+-", "Minimum ",
)  # fmt: skip
#: Where a text of a recording may have it.
PLACES = (
    "time,{}\n1790000000,50\n1790000060,50\n",
    "{},BurstBalance\n1790000000,50\n",
    "time,BurstBalance\n{},50\n1790000060,50\n",
    "time,BurstBalance\n1790000000,{}\n1790000060,50\n",
    "time,series,BurstBalance\n1790000000,{},50\n1790000060,x,50\n",
    "{}\ntime,BurstBalance\n1790000000,50\n1790000060,50\n",
    "a b\n{}\n",
    '{"MetricDataResults":[{"Id":"m","Label":"{}","Timestamps":["{}"],"Values":["{}"]}]}',
    '[{"time":1790000000,"{}":50},{"time":1790000060,"{}":50}]',
    "MetricDataResults:\n- Id: {}\n  Label: {}\n  Timestamps:\n  - {}\n  Values:\n  - {}\n",
    "cw,a={} BurstBalance=5 1790000000000000000\n",
    "DATAPOINTS\t{}\t1790000000\tPercent\n",
)


def explain(path: str, stdin: int | bytes) -> "subprocess.CompletedProcess[bytes]":
    """Read a recording in a process that has little memory and time."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        COMMAND,
        "explain",
        path,
        "--type",
        "gp2",
        "--size-gib",
        "100",
    ]
    with subprocess.Popen(
        command, stdin=stdin if isinstance(stdin, int) else subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        out, err = process.communicate(None if isinstance(stdin, int) else stdin, timeout=MOST_S)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@settings(deadline=20_000, max_examples=60)
@given(
    form=st.sampled_from(sorted(OPENERS)),
    depth=st.sampled_from([1, 10, 60, 70, 1_000, 20_000, 200_000]),
    ending=st.sampled_from(["", "1", "]", "}", "\n", "]]]]]"]),
)
def test_however_deep_a_file_is_it_is_read_or_refused_within_seconds(
    form: str, depth: int, ending: str
) -> None:
    start, opener = OPENERS[form]
    with pytest.raises(ValueError, match=r"^file\b"):
        read_text(f"{start}{opener * depth}{ending}", name="file")


@pytest.mark.parametrize("place", PLACES)
def test_however_long_a_cell_is_it_is_read_or_refused_within_seconds(place: str) -> None:
    for token in TOKENS:
        began_s = time.process_time()
        with suppress(ValueError):
            read_text(place.replace("{}", token * (20_000 // len(token))), name="file")
        assert time.process_time() - began_s < LONGEST_CELL_S, token


@pytest.mark.parametrize("form", [form for form in OPENERS if form.startswith("yaml")])
def test_a_configuration_that_is_deep_or_large_is_refused(form: str, tmp_path: Path) -> None:
    start, opener = OPENERS[form]
    path = tmp_path / "config.yml"
    for text in (f"{start}{opener * 10_000}", "a: 1\n" * 300_000):
        path.write_text(text)
        with pytest.raises(ValueError, match=re.escape(str(path))):
            read_yaml(path)


FLOODS: dict[str, Callable[[], bytes]] = {
    "lines": lambda: b"y\n" * (MOST_OF["\n"] + 1),
    "rows without times": lambda: b"time,BurstBalance\n" + b"ab\n" * 1_400_000,
    "rows of an old Mac": lambda: b"time,BurstBalance\r" + b"ab\r" * 1_400_000,
    "tabs": lambda: b"time\tBurstBalance\n" + b"ab\t" * 5_000_000,
    "semicolons": lambda: b"time;BurstBalance\n" + b"ab;" * 5_000_000,
    "rows": lambda: b"time,BurstBalance\n" + b"1790000000,50\n" * (MOST_CELLS // 2 + 1),
    "columns": lambda: b"time" + b",a" * (MOST_OF[","] + 1) + b"\n1790000000\n",
    "lists": lambda: b"[" + b"[]," * (MOST_OF["["] + 1) + b"1]",
    "objects": lambda: b"[" + b"{}," * (MOST_OF["{"] + 1) + b"1]",
    "yaml items": lambda: b"Datapoints:\n" + b"- 1\n" * 1_500_000,
    "one line": lambda: b"time,BurstBalance\n1790000000," + b"5" * LARGEST_BYTES,
    "packed": lambda: gzip.compress(b"\0" * (LARGEST_BYTES + 1), compresslevel=1),
    "ten thousand columns": lambda: b"time" + b"".join(b",a%d" % n for n in range(10_000)) + b"\n"
    + b"".join(b"%d" % (1_790_000_000 + 60 * row) + b",5" * 10_000 + b"\n" for row in range(30)),
}  # fmt: skip


@pytest.mark.many
@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_is_refused_in_one_line(name: str) -> None:
    ended = explain("-", FLOODS[name]())
    said = ended.stderr.decode()
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert re.fullmatch(r"burstwatch: [^\n]{10,400}\n", said), said[-2_000:]


@pytest.mark.many
@pytest.mark.parametrize("path", ["-", "/dev/stdin"])
def test_input_without_an_end_is_refused(path: str) -> None:
    with subprocess.Popen(["/usr/bin/yes"], stdout=subprocess.PIPE) as flood:
        assert flood.stdout is not None
        ended = explain(path, flood.stdout.fileno())
        flood.kill()
    assert ended.returncode == 2
    assert re.fullmatch(rb"burstwatch: [^\n]{10,400}\n", ended.stderr), ended.stderr[-2_000:]


@pytest.mark.parametrize(
    "text",
    [
        "timestamp,\x1b]0;pwned\x07\x1b[2JBurstBalance\n1790000000,5\x080\n",
        "timestamp,\x9b2JBurstBalance\n\x1b[31m,50\n",
        '{"\x1b[2J": 1}',
        "a: \x1b[2J\n- b",
        "\x1b]0;pwned\x07",
    ],
)
def test_an_error_moves_no_cursor(text: str, tmp_path: Path) -> None:
    path = tmp_path / "\x1b]0;pwned\x07\x1b[31m.csv"
    path.write_text(text)
    for name, stdin in ((str(path), b""), ("-", text.encode())):
        ended = explain(name, stdin)
        assert ended.returncode == 2
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", ended.stderr.decode())
