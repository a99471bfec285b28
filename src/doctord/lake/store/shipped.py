"""A host's recordings in a store, as a lake: what is asked for is fetched into a folder, and read from there."""

from collections.abc import Collection, Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

from doctord.dataset.tables import LASTING, TABLES
from doctord.lake.place import LakePaths, begun
from doctord.lake.sealed import Interval
from doctord.lake.store.bundle import INCOMING, Bundle, NotABundle, key_of, named
from doctord.lake.store.store import Store

# A segment is named by its first row, and ends an hour later at most.
_LONGEST: Final = timedelta(hours=2)
# How far back is looked for what holds until something else is told: settings, what could not be seen.
LASTS: Final = timedelta(days=8)


class Shipped:
    """What is there of one host. It is fetched table by table, each once."""

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
        for name in self.segments(interval, is_lasting=not set(LASTING).isdisjoint(tables)):
            moment = begun(name)
            is_inside = moment is not None and _may_meet(moment, interval)
            wanted = {
                table for table in tables if (is_inside or table in LASTING) and (table, name) not in self._fetched
            }
            if not wanted:
                continue
            key = key_of(self._host, name)
            try:
                with closing(Bundle(self._store, key)) as bundle:
                    bundle.unpack(self._lake, wanted)
            except FileNotFoundError:
                continue  # gone since it was listed
            except NotABundle as error:
                yield f"{self._store.address}/{key}: {error}; skipped"
            self._fetched |= {(table, name) for table in wanted}

    def segments(self, interval: Interval, *, is_lasting: bool) -> list[str]:
        """Names of the segments that may hold rows of a time, and where `is_lasting`, of days before it; in order."""
        since = interval.since - (LASTS if is_lasting else _LONGEST) if interval.since else None
        return [
            told[2]
            for day in self._days()
            if (since is None or day >= since.astimezone(UTC).date())
            and (interval.until is None or day <= interval.until.astimezone(UTC).date())
            for stored in self._store.listed(f"{INCOMING}/{self._host}/{day.isoformat()}/")
            if (told := named(stored.key)) is not None
        ]

    def fetch_ends(self) -> Iterator[str]:
        """Have the segments that the first and the last rows are in; what cannot be read is told.

        Raises:
            StoreError: the store refuses.
        """
        days = self._days()
        for day in {*days[:1], *days[-1:]}:
            names = self.segments(_day(day), is_lasting=False)
            for moment in {begun(name) for name in (*names[:1], *names[-1:])}:
                yield from self.fetch(TABLES, Interval(moment, moment))

    def _days(self) -> list[date]:
        return sorted(
            date.fromisoformat(name) for name in self._store.below(f"{INCOMING}/{self._host}/") if _is_day(name)
        )


def hosts_in(store: Store) -> list[str]:
    """The hosts of which something was shipped.

    Raises:
        StoreError: the store refuses.
    """
    return store.below(f"{INCOMING}/")


def _may_meet(begin: datetime, interval: Interval) -> bool:
    is_late = interval.until is not None and begin > interval.until
    return not is_late and (interval.since is None or begin > interval.since - _LONGEST)


def _day(day: date) -> Interval:
    begin = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return Interval(begin, begin)


def _is_day(name: str) -> bool:
    try:
        date.fromisoformat(name)
    except ValueError:
        return False
    return len(name) == len("2026-11-28")
