"""A host's recordings in a store, as a lake: what is asked for is fetched into a folder, and read from there."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Final

from doctord.dataset.rows import micros
from doctord.dataset.tables import LASTING
from doctord.lake.place import FOLDER_MODE, LakePaths, begun
from doctord.lake.sealed import Interval
from doctord.lake.store.bundle import INCOMING, Bundle, NotABundle, key_of, named
from doctord.lake.store.store import Store

# A segment is named by its first row, and ends an hour later at most.
_LONGEST: Final = timedelta(hours=2)
# How far back is looked for what holds until something else is told: settings, what could not be seen.
LASTS: Final = timedelta(days=8)
# Of what a recorder always tells, and which is small: it shows when there is anything.
_FIRST: Final = "cpu"


class Shipped:
    """What is there of one host. It is fetched table by table, each part of it once."""

    def __init__(self, store: Store, host: str, folder: Path) -> None:
        """Of this host; the folder becomes a lake, and is the caller's to remove."""
        self.folder = folder
        self._store, self._host = store, host
        self._lake = LakePaths(folder)
        self._lake.sealed.mkdir(parents=True, exist_ok=True)
        self._fetched = set[tuple[str, str]]()

    def fetch(self, tables: Collection[str], interval: Interval) -> Iterator[str]:
        """Have the rows of some tables and a time in the folder; what of it cannot be read is told.

        Raises:
            StoreError: the store refuses.
        """
        # Before the files of a table: what is moved into these meanwhile is there, and left out here.
        segments = list(self._segments(interval, is_lasting=not set(LASTING).isdisjoint(tables)))
        compacted = {table: self._fetch_compacted(table, interval) for table in tables}
        for name in segments:
            moment = begun(name)
            is_inside = moment is not None and _may_meet(moment, interval)
            wanted = {
                table
                for table in tables
                if (is_inside or table in LASTING)
                and (table, name) not in self._fetched
                and name not in compacted[table]
            }
            if wanted:
                yield from self._fetch_bundle(name, wanted)

    def _fetch_bundle(self, name: str, tables: Collection[str]) -> Iterator[str]:
        key = key_of(self._host, name)
        try:
            with closing(Bundle(self._store, key)) as bundle:
                bundle.unpack(self._lake, tables)
        except FileNotFoundError:
            return  # gone since it was listed
        except NotABundle as error:
            yield f"{self._store.address}/{key}: {error}; skipped"
        self._fetched |= {(table, name) for table in tables}

    def _fetch_compacted(self, table: str, interval: Interval) -> set[str]:
        """Have what was compacted of a table and a time; the segments that are in these files."""
        import pyarrow as pa  # noqa: PLC0415 - who ships needs none of it
        import pyarrow.compute as pc  # noqa: PLC0415 - as above
        import pyarrow.parquet as pq  # noqa: PLC0415 - as above

        from doctord.lake.parquet_file import write_checked  # noqa: PLC0415 - as above
        from doctord.lake.store.parts import bundles_in, parts_of, row_groups_of  # noqa: PLC0415 - as above

        held = set[str]()
        since = interval.since - LASTS if interval.since and table in LASTING else interval.since
        span_us = (micros(since) if since else None, micros(interval.until) if interval.until else None)
        for day in self._compacted_days(table, since, interval.until):
            for part in parts_of(self._store, self._host, table, day):
                with self._store.opened(part.key) as opened, pq.ParquetFile(opened) as file:
                    held |= bundles_in(file, self._host)
                    for number in row_groups_of(file, self._host, span_us):
                        mark = f"{part.plan:04x}{number:04x}"
                        path = self._lake.sealed / table / day.isoformat() / f"{day:%Y%m%d}T000000Z-{mark}.parquet"
                        if (table, path.name) in self._fetched:
                            continue
                        self._fetched.add((table, path.name))
                        rows = file.read_row_group(number)
                        own = rows.filter(pc.equal(rows.column("host"), pa.scalar(self._host)))
                        if len(own):
                            path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
                            write_checked(path, own.replace_schema_metadata(None))
        return held

    def fetch_ends(self) -> Iterator[str]:
        """Have the first and the last rows of what is always told; what cannot be read is told.

        Raises:
            StoreError: the store refuses.
        """
        days = self._days()
        for order in (days, list(reversed(days))):
            for day in order:
                yield from self.fetch((_FIRST,), _whole(day))
                if any((self._lake.sealed / _FIRST / day.isoformat()).glob("*.parquet")):
                    break

    def _segments(self, interval: Interval, *, is_lasting: bool) -> Iterator[str]:
        """Names of the segments that may hold rows of a time, and where `is_lasting`, of days before it; in order."""
        since = interval.since - (LASTS if is_lasting else _LONGEST) if interval.since else None
        for day in _between(self._incoming_days(), since, interval.until):
            for stored in self._store.listed(f"{INCOMING}/{self._host}/{day.isoformat()}/"):
                if told := named(stored.key):
                    yield told[2]

    def _incoming_days(self) -> list[date]:
        names = self._store.below(f"{INCOMING}/{self._host}/")
        return sorted(day for name in names if (day := _day(name)))

    def _compacted_days(self, table: str, since: datetime | None, until: datetime | None) -> Iterator[date]:
        from doctord.lake.store.parts import compacted_days  # noqa: PLC0415 - who ships needs none of it

        yield from _between(compacted_days(self._store, table), since, until)

    def _days(self) -> list[date]:
        return sorted({*self._incoming_days(), *self._compacted_days(_FIRST, None, None)})


def hosts_in(store: Store) -> list[str]:
    """The hosts of which something was shipped.

    Raises:
        StoreError: the store refuses.
    """
    from doctord.lake.store.parts import compacted_hosts  # noqa: PLC0415 - who ships needs none of it

    return sorted({*store.below(f"{INCOMING}/"), *compacted_hosts(store)})


def _between(days: Iterable[date], since: datetime | None, until: datetime | None) -> Iterator[date]:
    for day in days:
        if (since is None or day >= since.astimezone(UTC).date()) and (
            until is None or day <= until.astimezone(UTC).date()
        ):
            yield day


def _may_meet(begin: datetime, interval: Interval) -> bool:
    is_late = interval.until is not None and begin > interval.until
    return not is_late and (interval.since is None or begin > interval.since - _LONGEST)


def _whole(day: date) -> Interval:
    begin = datetime.combine(day, time(tzinfo=UTC))
    return Interval(begin - timedelta(microseconds=1), begin + timedelta(days=1) - timedelta(microseconds=1))


def _day(name: str) -> date | None:
    try:
        return date.fromisoformat(name) if len(name) == len("2026-11-28") else None
    except ValueError:
        return None
