"""A host's recordings in a store, as a lake: what is asked for is fetched into a folder, and read from there."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from doctord.dataset.rows import micros
from doctord.dataset.tables import LASTING
from doctord.lake.place import FOLDER_MODE, LakePaths, begun
from doctord.lake.sealed import Interval
from doctord.lake.store.bundle import INCOMING, Bundle, NotABundle, is_host_name, key_of, named
from doctord.lake.store.store import Store, StoreError

if TYPE_CHECKING:
    import pyarrow.parquet as pq

    from doctord.lake.store.parts import Part

# A segment is named by its first row, and ends an hour later at most.
_LONGEST: Final = timedelta(hours=2)
# How far back is looked for what holds until something else is told (settings, what could not be seen), where no
# recorder began since.
LASTS: Final = timedelta(days=40)
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
        self._damaged = set[str]()
        self._footers: dict[str, pq.FileMetaData] = {}

    def fetch(self, tables: Collection[str], interval: Interval) -> Iterator[str]:
        """Have the rows of some tables and a time in the folder; what of it cannot be read is told.

        Raises:
            StoreError: the store refuses.
        """
        # Before the files of a table: what is moved into these meanwhile is there, and left out here.
        segments = list(self._segments(interval))
        try:
            yield from self._fetch(sorted(set(tables) - set(LASTING)), interval, segments)
            if lasting := sorted(set(tables) & set(LASTING)):
                yield from self._fetch_lasting(lasting, interval)
        except OSError as error:
            raise StoreError(f"{self.folder}: {error.strerror or error}", "make room in $TMPDIR") from error

    def _fetch_lasting(self, tables: Collection[str], interval: Interval) -> Iterator[str]:
        """The same of what holds until something else is told, back to when a recorder began, which told all of it."""
        begin = interval.since or datetime.min.replace(tzinfo=UTC)
        days = list(_between(self._days(tables), None, interval.until))
        for day in reversed(days):
            whole = _whole(day)
            yield from self._fetch(tables, whole, list(self._segments(whole)))
            if datetime.combine(day, time(tzinfo=UTC)) <= begin and self._began(day, begin):
                return
            if interval.since and day < (interval.since - LASTS).astimezone(UTC).date():
                yield f"{self._store.address}: {self._host}: settings of {LASTS.days} days before are not looked for"
                return

    def _began(self, day: date, before: datetime) -> bool:
        """Whether a recorder began on a day, no later than a moment, as far as its events are in the folder."""
        import pyarrow as pa  # noqa: PLC0415 - who ships needs none of it
        import pyarrow.compute as pc  # noqa: PLC0415 - as above
        import pyarrow.parquet as pq  # noqa: PLC0415 - as above

        for path in (self._lake.sealed / "event" / day.isoformat()).glob("*.parquet"):
            told = pq.read_table(path, columns=["kind", "ts"], partitioning=None)
            began = told.filter(pc.equal(told.column("kind"), "recording")).column("ts").cast(pa.int64())
            if len(began) and pc.min(began).as_py() <= micros(before):
                return True
        return False

    def _fetch(self, tables: Collection[str], interval: Interval, segments: Sequence[str]) -> Iterator[str]:
        held = dict[str, set[str]]()
        for table in tables:
            held[table], problems = self._fetch_compacted(table, interval)
            yield from problems
        for name in segments:
            moment = begun(name)
            wanted = [one for one in tables if name not in held[one] and (one, name) not in self._fetched]
            if not wanted or moment is None or not _may_meet(moment, interval):
                continue
            self._fetched |= {(table, name) for table in wanted}
            key = key_of(self._host, name)
            try:
                with closing(Bundle(self._store, key)) as bundle:
                    bundle.unpack(self._lake, wanted)
            except FileNotFoundError:  # compacted since it was listed: it is in files by now
                now_held = [self._fetch_compacted(table, interval)[0] for table in wanted]
                if not any(name in names for names in now_held):
                    yield f"{self._store.address}/{key}: removed while it was read"
            except NotABundle as error:
                if name not in self._damaged:
                    self._damaged.add(name)
                    yield f"{self._store.address}/{key}: {error}; skipped"

    def _fetch_compacted(self, table: str, interval: Interval) -> tuple[set[str], list[str]]:
        """Have what was compacted of a table and a time; the segments that are in these files, and what is damaged."""
        import pyarrow as pa  # noqa: PLC0415 - who ships needs none of it
        import pyarrow.parquet as pq  # noqa: PLC0415 - as above

        from doctord.lake.store.parts import bundles_in, compacted_days, parts_of  # noqa: PLC0415 - as above

        held, problems = set[str](), list[str]()
        since = interval.since - _LONGEST if interval.since else None  # as far back as segments are looked for
        for day in _between(compacted_days(self._store, table), since, interval.until):
            for part in parts_of(self._store, self._host, table, day):
                try:
                    footer = self._footers.get(part.key)
                    with self._store.opened(part.key) as opened, pq.ParquetFile(opened, metadata=footer) as file:
                        footer = self._footers[part.key] = file.metadata
                        names = {name for whose, _, name in map(_parted, bundles_in(footer)) if whose == self._host}
                        if names:
                            self._take(file, part, interval)
                except FileNotFoundError:
                    continue  # expired since it was listed
                except (pa.ArrowException, OSError, ValueError) as error:
                    if isinstance(error, OSError) and error.errno is not None:
                        raise  # of the folder that is written to; what is damaged has no number
                    problems.append(f"{self._store.address}/{part.key}: damaged: {error}; skipped")
                    continue
                held |= names
                for name in names:  # what an earlier look took of them is in the file's rows now
                    (self._lake.sealed / table / day.isoformat() / f"{name}.parquet").unlink(missing_ok=True)
        return held, problems

    def _take(self, file: "pq.ParquetFile", part: "Part", interval: Interval) -> None:
        """Put the rows of a host and a time out of a file into the folder."""
        import pyarrow as pa  # noqa: PLC0415 - who ships needs none of it
        import pyarrow.compute as pc  # noqa: PLC0415 - as above

        from doctord.lake.parquet_file import write_checked  # noqa: PLC0415 - as above
        from doctord.lake.store.parts import row_groups_of  # noqa: PLC0415 - as above

        span_us = tuple(micros(moment) if moment else None for moment in (interval.since, interval.until))
        for number in row_groups_of(file.metadata, self._host, (span_us[0], span_us[1])):
            name = f"{part.day:%Y%m%d}T000000Z-{part.plan % 0x10000:04x}{number % 0x10000:04x}"
            if (part.table, name) in self._fetched:
                continue
            rows = file.read_row_group(number)
            own = rows.filter(pc.equal(rows.column("host"), pa.scalar(self._host)))
            if len(own):
                path = self._lake.sealed / part.table / part.day.isoformat() / f"{name}.parquet"
                path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
                write_checked(path, own.replace_schema_metadata(None))
            self._fetched.add((part.table, name))

    def fetch_ends(self) -> Iterator[str]:
        """Have the first and the last rows of what is always told; what cannot be read is told.

        Raises:
            StoreError: the store refuses.
        """
        days = self._days((_FIRST,))
        for order in (days, list(reversed(days))):
            for day in order:
                yield from self.fetch((_FIRST,), _whole(day))
                if any((self._lake.sealed / _FIRST / day.isoformat()).glob("*.parquet")):
                    break

    def _segments(self, interval: Interval) -> Iterator[str]:
        """Names of the segments that may hold rows of a time, in order."""
        since = interval.since - _LONGEST if interval.since else None
        for day in _between(self._incoming_days(), since, interval.until):
            for stored in self._store.listed(f"{INCOMING}/{self._host}/{day.isoformat()}/"):
                if told := named(stored.key):
                    yield told[2]

    def _incoming_days(self) -> list[date]:
        names = self._store.below(f"{INCOMING}/{self._host}/")
        return sorted(day for name in names if (day := _day(name)))

    def _days(self, tables: Collection[str]) -> list[date]:
        """The days of which there is something, in order."""
        from doctord.lake.store.parts import compacted_days  # noqa: PLC0415 - who ships needs none of it

        compacted = (day for table in tables for day in compacted_days(self._store, table))
        return sorted({*self._incoming_days(), *compacted})


def hosts_in(store: Store) -> list[str]:
    """The hosts of which something was shipped.

    Raises:
        StoreError: the store refuses.
    """
    from doctord.lake.store.parts import compacted_hosts  # noqa: PLC0415 - who ships needs none of it

    return sorted(name for name in {*store.below(f"{INCOMING}/"), *compacted_hosts(store)} if is_host_name(name))


def _between(days: Iterable[date], since: datetime | None, until: datetime | None) -> Iterator[date]:
    for day in days:
        if (since is None or day >= since.astimezone(UTC).date()) and (
            until is None or day <= until.astimezone(UTC).date()
        ):
            yield day


def _parted(bundle: str) -> tuple[str, str, str]:
    return bundle.partition("/")


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
