"""The source ``measure``: the newest result of each measurement, as metrics with its age."""

from collections.abc import Callable
from pathlib import Path

from burstwatch.ebs.load import MIB
from burstwatch.web.exposition import Page
from burstwatch_exporter.credits.snapshot import Snapshot
from burstwatch_exporter.measure.record import Record, RecordError, StepRecord, read_result
from burstwatch_exporter.page import metrics as m
from burstwatch_exporter.sources import Attempt


class MeasureSource:
    """Reads a folder of results; a file that has not changed is not read again."""

    name = "measure"

    def __init__(self, folder: Path, *, wall: Callable[[], float]) -> None:
        """``wall`` gives the time since the epoch."""
        self._folder, self._wall = folder, wall
        self._known: dict[Path, tuple[tuple[int, int], Record]] = {}

    def add_to(self, page: Page, snapshot: Snapshot, attempt: Attempt) -> None:
        """Results of volumes that are here. One that cannot be read is named, and hides no other.

        Raises:
            OSError: if the folder cannot be read.
        """
        here = {view.disk.key: view.disk.name for view in snapshot.views}
        records: dict[Path, tuple[tuple[int, int], Record]] = {}
        for path in sorted(self._folder.iterdir()):
            if path.suffix != ".json":
                continue
            try:
                status = path.stat()
                stamp = (status.st_mtime_ns, status.st_size)
                before = self._known.get(path)
                records[path] = (
                    before if before and before[0] == stamp else (stamp, read_result(path))
                )
            except (RecordError, OSError) as error:
                attempt.problems.append(str(error))
        self._known = records
        newest: dict[tuple[str, str], Record] = {}
        for _, record in sorted(records.values(), key=lambda entry: entry[1].ended_s):
            if record.volumes and record.volumes[0].key in here:
                newest[record.volumes[0].key, record.profile] = record
        for (key, _), record in sorted(newest.items()):
            add_record(page, record, here[key], now=self._wall())


def add_record(page: Page, record: Record, device: str, *, now: float) -> None:
    """One result. A step that found nothing has no figures."""
    run = (record.volumes[0].volume_id, device, record.profile)
    page.add(m.FIO_RUN_AT, run, record.ended_s)
    page.add(m.FIO_AGE, run, max(0.0, now - record.ended_s))
    page.add(m.FIO_SUCCESS, run, record.is_whole)
    page.add(m.FIO_SECONDS, run, max(0.0, record.ended_s - record.began_s))
    credit = record.volumes[0].credit
    if credit is not None:
        page.add(m.FIO_CREDITS, (*run, "least"), credit.spent_least)
        page.add(m.FIO_CREDITS, (*run, "most"), credit.spent_most)
    for step in record.steps:
        _add_step(page, (*run, step.name), step)


def _add_step(page: Page, labels: tuple[str, ...], step: StepRecord) -> None:
    """Add a measured step's metrics."""
    if step.verdict is not None:
        page.add(m.FIO_VERDICT, (*labels, step.verdict.word), 1)
        if step.verdict.promised_iops is not None:
            page.add(m.FIO_PROMISED, labels, step.verdict.promised_iops)
    for direction, way in (("read", step.read), ("write", step.write)):
        if way is None:
            continue
        page.add(m.FIO_IOPS, (*labels, direction), way.iops)
        page.add(m.FIO_BYTES, (*labels, direction), way.mib_s * MIB)
        if way.mean_s is not None:
            page.add(m.FIO_MEAN, (*labels, direction), way.mean_s)
        for percent, seconds in way.percentiles_s.items():
            page.add(m.FIO_LATENCY, (*labels, direction, percent), seconds)
