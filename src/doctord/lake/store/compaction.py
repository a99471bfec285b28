"""Puts what hosts shipped into the layout of `parts.py`: each row once, whatever is cut off where.

What is true stands in the files: each names the bundles whose rows are in it, and a bundle goes into one file of a
table at most. Only when each of its tables is in a file is it removed. A plan says which bundles go together, and is
written before anything else, under a number that nobody has, so that two who compact do not put one bundle into two
files: whoever finds a plan that is not carried out carries it out, and only then makes one of the rest. (A store that
knows no `If-None-Match`, and overwrites, must have one at a time.)

A bundle that is damaged or of another host is set aside; one of a later Doctor D stays until that compacts.
"""

import io
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from math import ceil, sqrt
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from doctord.dataset.tables import OLD_NAMES, TABLES
from doctord.lake.parquet_file import ZSTD_LEVEL
from doctord.lake.place import LakePaths
from doctord.lake.sealed import Interval, examined
from doctord.lake.store.bundle import INCOMING, Bundle, Later, NotABundle, is_same_host, named
from doctord.lake.store.parts import (
    BUNDLES,
    HOSTS,
    PLANS,
    Part,
    Plan,
    bucket_of,
    compacted_days,
    listed_parts,
    names_in,
    plain_schema,
    plans_of,
)
from doctord.lake.store.store import Store, Stored, StoreError

# What is written to one bucket of a day: a file of it, of the largest table, is some hundred megabytes.
BUCKET_BYTES: Final = 512 << 20
MOST_BUCKETS: Final = 4096
SET_ASIDE: Final = "set_aside"
# What a footer has of a column of a group without statistics, as Parquet writes it (measured).
COLUMN_BYTES: Final = 80
FEWEST_ROWS, MANY_ROWS = 1024, 256 * 1024
# No hour of a host has as many; who says so means to fill the memory of whoever reads it.
MOST_ROWS, MOST_UNPACKED_BYTES = 50_000_000, 8 << 30


@dataclass(slots=True)
class Compacted:
    """What a run did.

    Attributes:
        days: Of which days.
        bundles: How many bundles are in files now.
        rows: How many rows that is.
        files: How many files were written.
        file_bytes: How much they are.
        refused: Bundles that are in none, each with the reason: set aside, or left for a later Doctor D.
        left: Days that another one is at.
        expired: Days that were removed.
    """

    days: list[date] = field(default_factory=list)
    bundles: int = 0
    rows: int = 0
    files: int = 0
    file_bytes: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)
    left: list[date] = field(default_factory=list)
    expired: list[date] = field(default_factory=list)

    @property
    def healthy(self) -> bool | None:
        """Whether all is in files; null where something is not."""
        return None if self.refused or self.left else True


def compact(store: Store, before: date, done: Compacted | None = None) -> Iterator[Compacted]:
    """Compact the days before one; what is done by then after each bucket.

    Raises:
        StoreError: the store refuses; the next run goes on.
    """
    done = Compacted() if done is None else done
    by_day = dict[date, list[Stored]]()
    for stored in store.listed(f"{INCOMING}/"):
        told = named(stored.key)
        if told and told[1] < before:
            by_day.setdefault(told[1], []).append(stored)
    for day, bundles in sorted(by_day.items()):
        yield from _compact_day(store, day, bundles, done)
        done.days.append(day)


def _compact_day(store: Store, day: date, bundles: Sequence[Stored], done: Compacted) -> Iterator[Compacted]:
    plans, pending, waiting = plans_of(store, day)
    taken = set[str]()
    for plan in pending:
        yield from _Carrying(store, plan, done).out()
        taken |= set(plan.bundles)
    # Those that this version could not read last time are not tried again.
    left = {key for key, by in waiting.items() if by == version("doctord")}
    done.refused += [(key, "of a later Doctor D") for key in sorted(left & {one.key for one in bundles})]
    rest = [one for one in bundles if one.key not in taken | left]
    if not rest:
        return
    size = sum(one.size_bytes for one in rest)
    number = 1 + max((plan.number for plan in (*plans, *pending)), default=0)
    buckets = min(max(-(-size // BUCKET_BYTES), 1), MOST_BUCKETS)
    plan = Plan(day, number, buckets, tuple(sorted(one.key for one in rest)))
    if store.put_new(plan.key, io.BytesIO(plan.content())):
        yield from _Carrying(store, plan, done).out()
    else:
        done.left.append(day)


def expire(store: Store, before: date, done: Compacted) -> None:
    """Remove what was compacted of the days before one, and hosts of which nothing is left.

    Raises:
        StoreError: the store refuses.
    """
    days = set[date]()
    for folder in (*(f"table={table}/day=" for table in TABLES), f"{PLANS}/"):
        for stored in list(store.listed(folder)):
            day = _day_in(stored.key)
            if day and day < before:
                store.delete([stored.key])
                days.add(day)
    done.expired += sorted(days)
    if days and not any(compacted_days(store, table) for table in TABLES):
        store.delete([stored.key for stored in store.listed(f"{HOSTS}/")])


def _day_in(key: str) -> date | None:
    """The day of a part or a plan."""
    text = key.split("/")[1].removeprefix("day=")
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


@dataclass(slots=True)
class _Carrying:
    """A plan that is carried out."""

    store: Store
    plan: Plan
    done: Compacted
    later: list[str] = field(default_factory=list)

    def out(self) -> Iterator[Compacted]:
        """Write all files of the plan, then that it is done, then remove its bundles."""
        by_bucket = dict[int, list[str]]()
        for key in self.plan.bundles:
            if told := named(key):
                by_bucket.setdefault(bucket_of(told[0], self.plan.buckets), []).append(key)
        there = list[str]()
        for bucket, keys in sorted(by_bucket.items()):
            there += self._fill(bucket, keys)
            yield self.done
        outcome = json.dumps({"later": self.later, "doctord": version("doctord")})
        self.store.put_new(self.plan.done_key, io.BytesIO(outcome.encode()))
        for host in sorted({told[0] for key in there if (told := named(key))}):
            self.store.put_new(f"{HOSTS}/{host}", io.BytesIO())
        self.store.delete(there)
        self.done.bundles += len(there)
        yield self.done

    def _fill(self, bucket: int, keys: Sequence[str]) -> list[str]:
        """Write the files of a bucket; the bundles of which each table is in a file then."""
        with tempfile.TemporaryDirectory(prefix="doctord-compact-") as folder:
            tables, files = dict[str, list[str]](), dict[str, list[tuple[str, str, Path]]]()
            for number, key in enumerate(keys):
                try:
                    host, name, own = _unpacked(self.store, key, LakePaths(Path(folder) / f"{number}"))
                except FileNotFoundError:
                    continue  # removed since the plan was made
                except NotABundle as error:
                    self.done.refused.append((key, str(error)))
                    if isinstance(error, Later):
                        self.later.append(key)
                    else:
                        _set_aside(self.store, key)
                    continue
                tables[key] = sorted(own)
                for table, path in own.items():
                    files.setdefault(table, []).append((host, name, path))
            held = {table: self._written(bucket, table, sorted(files[table])) for table in sorted(files)}
            return [key for key, own in tables.items() if all(_mark(key) in held[table] for table in own)]

    def _written(self, bucket: int, table: str, files: Sequence[tuple[str, str, Path]]) -> set[str]:
        """Have the rows of some bundles in files of a table; the bundles that are in these then."""
        part = Part(table, self.plan.day, bucket, self.plan.buckets, self.plan.number)
        held = set[str]()
        for other in listed_parts(self.store, table, self.plan.day):
            if other.key != part.key:
                held |= names_in(self.store, other)
        new = [(host, name, path) for host, name, path in files if f"{host}/{name}" not in held]
        if not new:
            return held
        if self.store.size_bytes(part.key) is None:
            self._put(part, new)
        # What is there may be of another run, which could read more of them, or fewer.
        return held | names_in(self.store, part)

    def _put(self, part: Part, files: Sequence[tuple[str, str, Path]]) -> None:
        with tempfile.TemporaryFile() as file:
            rows = _write(part.table, files, file)
            size = file.seek(0, io.SEEK_END)
            file.seek(0)
            if self.store.put_new(part.key, file):
                self.done.files, self.done.rows = self.done.files + 1, self.done.rows + rows
                self.done.file_bytes += size
        if self.store.size_bytes(part.key) is None:
            told = f"{self.store.address}/{part.key}: the store took it, and has not got it"
            raise StoreError(told, "try again later")


def _mark(key: str) -> str:
    """How a file names a bundle."""
    told = named(key)
    return f"{told[0]}/{told[2]}" if told else key


def _set_aside(store: Store, key: str) -> None:
    """Move a bundle to where nobody reads it, for whoever wants to look."""
    try:
        with store.opened(key) as file:
            store.put_new(f"{SET_ASIDE}/{key}", file)
    except FileNotFoundError:
        return
    if store.size_bytes(f"{SET_ASIDE}/{key}") is not None:
        store.delete([key])


def _unpacked(store: Store, key: str, place: LakePaths) -> tuple[str, str, Mapping[str, Path]]:
    """Host, segment and the file of each table of a bundle.

    Raises:
        NotABundle: it is not what its key says, is of another host or of a later Doctor D.
    """
    with closing(Bundle(store, key)) as bundle:
        if bundle.unknown:
            raise Later(f"of a later Doctor D: it has {', '.join(bundle.unknown[:3])}")
        bundle.unpack(place, bundle.tables)
        day = bundle.day.isoformat()
        files = {table: place.sealed / table / day / f"{bundle.name}.parquet" for table in bundle.tables}
        for table, path in files.items():
            _check(table, path, bundle.host)
        return bundle.host, bundle.name, files


def _check(table: str, path: Path, host: str) -> None:
    """That a file is as it was written, its rows are of its host, and its columns are known.

    Raises:
        NotABundle: they are not.
    """
    sound = examined(path, table, Interval())
    if sound is None or not sound.is_whole:
        raise NotABundle(f"damaged: {table}: {'; '.join(sound.problems if sound else ())}")
    try:
        with pq.ParquetFile(path) as file:
            names, metadata = file.schema_arrow.names, file.metadata
            unpacked = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
            if metadata.num_rows > MOST_ROWS or unpacked > MOST_UNPACKED_BYTES:
                raise NotABundle(f"{table} has {metadata.num_rows:,} rows: no hour of a host has as many")
            known = {*plain_schema(table).names, *(old for (of, _), old in OLD_NAMES.items() if of == table)}
            if later := sorted(set(names) - known):
                raise Later(f"of a later Doctor D: {table} has {', '.join(later)}")
            if len(set(names)) < len(names):
                raise NotABundle(f"damaged: {table} has a column twice")
            hosts = pc.unique(file.read(["host"]).column("host")).to_pylist() if "host" in names else []
            _fitted(table, file.schema_arrow.empty_table(), plain_schema(table), host)
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of this machine; what is damaged has no number
        raise NotABundle(f"damaged: {table}: {error}") from error
    if others := sorted(str(one) for one in hosts if one is not None and not is_same_host(str(one), host)):
        raise NotABundle(f"its rows are of {', '.join(others[:3])}")


def _write(table: str, files: Sequence[tuple[str, str, Path]], into: io.IOBase) -> int:
    """Write the rows of some files, which come by host and time, as one; how many these are."""
    told = json.dumps([f"{host}/{name}" for host, name, _ in files]).encode()
    schema = plain_schema(table).with_metadata({BUNDLES: told})
    count: int = sum(pq.read_metadata(path).num_rows for _, _, path in files)
    size = rows_of_a_group(count, sum(path.stat().st_size for _, _, path in files), len(schema))
    waiting = schema.empty_table()
    # Others are of no use to who looks for a host and a time, and all of them would be read for it.
    looked_for = [name for name in ("host", "ts") if name in schema.names]
    with pq.ParquetWriter(
        into, schema, compression="zstd", compression_level=ZSTD_LEVEL, write_statistics=looked_for
    ) as writer:
        for host, _, path in files:
            rows = _fitted(table, pq.read_table(path, partitioning=None), schema, host)
            waiting = pa.concat_tables([waiting, rows.sort_by("ts")])
            whole = len(waiting) // size * size
            if whole:
                writer.write_table(waiting.slice(0, whole), size)
                waiting = waiting.slice(whole).combine_chunks()
        if len(waiting):
            writer.write_table(waiting, size)
    return count


def rows_of_a_group(rows: int, size_bytes: int, columns: int) -> int:
    """How many rows a group holds, so that least is read of a file for some minutes of a host: its footer, and a group.

    The footer grows with the number of groups, and a group shrinks: both are as large with the square root of the
    file's size over what the footer has of a group.

    >>> rows_of_a_group(6_000_000, 6 << 20, 11), rows_of_a_group(60_000_000, 128 << 20, 11)
    (70961, 153635)
    >>> rows_of_a_group(72_000, 300_000, 20)
    5259
    """
    groups = sqrt(size_bytes / (COLUMN_BYTES * columns))
    return min(max(ceil(rows / max(groups, 1.0)), FEWEST_ROWS), MANY_ROWS)


def _fitted(table: str, rows: pa.Table, schema: pa.Schema, host: str) -> pa.Table:
    """Rows of a host with the columns of today: those of before renamed, what they had not yet null."""
    new_names = {old: new for (of, new), old in OLD_NAMES.items() if of == table and new not in rows.schema.names}
    rows = rows.rename_columns([new_names.get(name, name) for name in rows.schema.names])
    columns = {
        field.name: rows.column(field.name).cast(field.type)
        if field.name in rows.schema.names
        else pa.nulls(len(rows), field.type)
        for field in schema
    }
    # With or without its domain, or not told: it is that of its bundle.
    columns["host"] = pa.repeat(pa.scalar(host, schema.field("host").type), len(rows))
    return pa.Table.from_arrays(list(columns.values()), schema=schema)
