"""Puts what hosts shipped into the layout of `parts.py`: each row once, whatever is cut off where.

A plan says which bundles go together, and is written before anything else, under a number that nobody has. Whoever
finds one that is not carried out does the same again: the files have the names and the rows that they would have had.
Only when all of them are there is the plan done, and only then are its bundles removed. A bundle that is damaged or of
another host is set aside; one of a later Doctor D stays until that compacts.
"""

import io
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from doctord.dataset.tables import OLD_NAMES, TABLES
from doctord.lake.parquet_file import ZSTD_LEVEL
from doctord.lake.place import LakePaths
from doctord.lake.store.bundle import INCOMING, Bundle, NotABundle, named
from doctord.lake.store.parts import (
    BUNDLES,
    HOSTS,
    PLANS,
    Part,
    Plan,
    bucket_of,
    compacted_days,
    plain_schema,
    plans_of,
)
from doctord.lake.store.store import Store, Stored, StoreError

# What is written to one bucket of a day: a file of it, of the largest table, is some hundred megabytes.
BUCKET_BYTES: Final = 512 << 20
MOST_BUCKETS: Final = 4096
# Two minutes of a busy host's processes: who asks for five minutes of a host reads a few of these.
SET_ASIDE: Final = "set_aside"
ROWS_OF_A_GROUP: Final = 64 * 1024


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
        expired: Days that were removed.
    """

    days: list[date] = field(default_factory=list)
    bundles: int = 0
    rows: int = 0
    files: int = 0
    file_bytes: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)
    expired: list[date] = field(default_factory=list)

    @property
    def healthy(self) -> bool | None:
        """Whether all is in files; null where something is not."""
        return None if self.refused else True


class Later(NotABundle):
    """A bundle has what this Doctor D does not know."""


def compact(store: Store, before: date, done: Compacted | None = None) -> Iterator[Compacted]:
    """Compact the days before one; what is done by then after each bucket.

    Raises:
        StoreError: the store refuses; the next run goes on.
    """
    done = done or Compacted()
    by_day = dict[date, list[Stored]]()
    for stored in store.listed(f"{INCOMING}/"):
        told = named(stored.key)
        if told and told[1] < before:
            by_day.setdefault(told[1], []).append(stored)
    for day, bundles in sorted(by_day.items()):
        carried_out, pending, there = plans_of(store, day)
        store.delete([stored.key for stored in bundles if stored.key in there])
        for plan in pending:
            yield from _carry_out(store, plan, done)
            there |= set(plan.bundles)
        rest = [stored for stored in bundles if stored.key not in there]
        if rest:
            size = sum(stored.size_bytes for stored in rest)
            number = 1 + max((plan.number for plan in (*carried_out, *pending)), default=0)
            buckets = min(max(-(-size // BUCKET_BYTES), 1), MOST_BUCKETS)
            plan = Plan(day, number, buckets, tuple(sorted(stored.key for stored in rest)))
            if store.put_new(plan.key, io.BytesIO(plan.content())):  # else somebody else is at it
                yield from _carry_out(store, plan, done)
        done.days.append(day)


def expire(store: Store, before: date, done: Compacted) -> None:
    """Remove what was compacted of the days before one.

    Raises:
        StoreError: the store refuses.
    """
    days = set[date]()
    for table in TABLES:
        for day in compacted_days(store, table):
            if day < before:
                store.delete([stored.key for stored in store.listed(f"table={table}/day={day.isoformat()}/")])
                days.add(day)
    for day in sorted(days):
        store.delete([stored.key for stored in store.listed(f"{PLANS}/{day.isoformat()}/")])
    done.expired += sorted(days)


def _carry_out(store: Store, plan: Plan, done: Compacted) -> Iterator[Compacted]:
    """Write all files of a plan, then that it is done, then remove its bundles."""
    by_bucket = dict[int, list[str]]()
    for key in plan.bundles:
        if told := named(key):
            by_bucket.setdefault(bucket_of(told[0], plan.buckets), []).append(key)
    there = list[str]()
    for bucket, keys in sorted(by_bucket.items()):
        try:
            there += _fill(store, plan, bucket, keys, done)
        except FileNotFoundError:
            if store.size_bytes(plan.done_key) is None:
                raise
            return  # another one carried it out meanwhile
        yield done
    store.put_new(plan.done_key, io.BytesIO(json.dumps(sorted(there)).encode()))
    for host in sorted({told[0] for key in there if (told := named(key))}):
        store.put_new(f"{HOSTS}/{host}", io.BytesIO())
    store.delete(there)
    done.bundles += len(there)
    yield done


def _fill(store: Store, plan: Plan, bucket: int, keys: Sequence[str], done: Compacted) -> list[str]:
    """Write the files of a bucket; the bundles that are in them."""
    with tempfile.TemporaryDirectory(prefix="doctord-compact-") as folder:
        there, files = list[str](), dict[str, list[tuple[str, str, Path]]]()
        for number, key in enumerate(keys):
            place = LakePaths(Path(folder) / f"{number}")
            try:
                host, name, own = _unpacked(store, key, place)
            except NotABundle as error:
                done.refused.append((key, str(error)))
                if not isinstance(error, Later):
                    _set_aside(store, key)
                continue
            there.append(key)
            for table, path in own.items():
                files.setdefault(table, []).append((host, name, path))
        for table, of_table in sorted(files.items()):
            part = Part(table, plan.day, bucket, plan.buckets, plan.number)
            with tempfile.TemporaryFile() as file:
                done.rows += _write(table, sorted(of_table), file)
                size = file.seek(0, io.SEEK_END)
                file.seek(0)
                if store.put_new(part.key, file):
                    done.files, done.file_bytes = done.files + 1, done.file_bytes + size
            if store.size_bytes(part.key) is None:
                raise StoreError(
                    f"{store.address}/{part.key}: the store took it, and has not got it", "try again later"
                )
        return there


def _set_aside(store: Store, key: str) -> None:
    """Move a bundle to where nobody reads it, for whoever wants to look."""
    with store.opened(key) as file:
        store.put_new(f"{SET_ASIDE}/{key}", file)
    if store.size_bytes(f"{SET_ASIDE}/{key}") is not None:
        store.delete([key])


def _unpacked(store: Store, key: str, place: LakePaths) -> tuple[str, str, Mapping[str, Path]]:
    """Host, segment and the file of each table of a bundle.

    Raises:
        NotABundle: it is not what its key says, is of another host or of a later doctord.
    """
    with closing(Bundle(store, key)) as bundle:
        tables = bundle.tables
        bundle.unpack(place, tables)
        files = {table: place.sealed / table / bundle.day.isoformat() / f"{bundle.name}.parquet" for table in tables}
        for table, path in files.items():
            _check(table, path, bundle.host)
        return bundle.host, bundle.name, files


def _check(table: str, path: Path, host: str) -> None:
    """That the rows of a file are of its host, and have columns that are known.

    Raises:
        NotABundle: they are not.
    """
    try:
        with pq.ParquetFile(path) as file:
            known = {*plain_schema(table).names, *(old for (of, _), old in OLD_NAMES.items() if of == table)}
            later = sorted(set(file.schema_arrow.names) - known)
            told = file.read(["host"]) if "host" in file.schema_arrow.names else None
            hosts = [] if told is None else pc.unique(told.column("host")).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise NotABundle(f"damaged: {table}: {error}") from error
    if later:
        raise Later(f"of a later Doctor D: {table} has {', '.join(later)}")
    if others := sorted(str(one) for one in hosts if one not in (host, None)):
        raise NotABundle(f"its rows are of {', '.join(others[:3])}")


def _write(table: str, files: Sequence[tuple[str, str, Path]], into: io.IOBase) -> int:
    """Write the rows of some files, which come by host and time, as one; how many these are."""
    told = json.dumps([f"{host}/{name}" for host, name, _ in files]).encode()
    schema = plain_schema(table).with_metadata({BUNDLES: told})
    count, waiting = 0, list[pa.Table]()
    with pq.ParquetWriter(into, schema, compression="zstd", compression_level=ZSTD_LEVEL) as writer:
        for _, _, path in files:
            rows = _fitted(table, pq.read_table(path, partitioning=None), schema)
            waiting.append(rows.sort_by("ts"))
            count += len(rows)
            if sum(map(len, waiting)) >= ROWS_OF_A_GROUP:
                writer.write_table(pa.concat_tables(waiting), ROWS_OF_A_GROUP)
                waiting.clear()
        if waiting:
            writer.write_table(pa.concat_tables(waiting), ROWS_OF_A_GROUP)
    return count


def _fitted(table: str, rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows with the columns of today: those of before renamed, what they had not yet null."""
    new_names = {old: new for (of, new), old in OLD_NAMES.items() if of == table and new not in rows.schema.names}
    rows = rows.rename_columns([new_names.get(name, name) for name in rows.schema.names])
    columns = [
        rows.column(field.name).cast(field.type) if field.name in rows.schema.names else pa.nulls(len(rows), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)
